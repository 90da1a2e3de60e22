//! The driver of a network card.

mod support;

use ring::{Layout, Owned, Receiver, Sender};
use std::rc::Rc;
use support::{Board, Bus, Ram, Request};
use virtio::Part;
use virtio::driver::{Admission, Driver, Link, NetworkDriver};
use virtio::mmio::kind;

const LAYOUT: Layout = Layout::new(4, 128);
const N: usize = 2 * LAYOUT.buffers();
/// The longest frame.
const FRAME: usize = 120;
/// What is in front of a frame.
const HEADER: usize = 12;
/// The queues.
const INPUT: usize = 0;
const OUTPUT: usize = 1;

/// Begins a frame that does not pass.
const UNWANTED: u8 = 99;

type Card = NetworkDriver<Bus, Ram, Ram, Marked, N>;

/// Marks each frame with its first byte and its length.
struct Marked;

impl Marked {
    fn mark(first: u8, length: usize) -> u32 {
        u32::from(first) << 16 | length as u32
    }
}

impl Admission<Ram> for Marked {
    fn admit(&mut self, to: &Sender<Ram>, frame: &Owned, length: usize) -> Option<u32> {
        let mut first = [0];
        to.read(frame, &mut first);
        (first[0] != UNWANTED).then(|| Marked::mark(first[0], length))
    }
}

/// A driver, its device, and the ends of its server.
struct World {
    driver: Card,
    board: Rc<Board>,
    sender: Sender<Ram>,
    receiver: Receiver<Ram>,
}

impl World {
    /// All of it, connected.
    fn new() -> World {
        let words = |bytes: u64| bytes as usize / 8;
        let (headers, queue) = (words(Card::HEADERS), words(Card::QUEUE));
        let link = headers + 2 * queue;
        let ram = Ram::new(link + 2 * LAYOUT.words());
        let part = |from: usize| Part { address: ram.part(from).address(), words: ram.part(from) };
        let [first, second] = [link, link + LAYOUT.words()].map(|from| ram.part(from));
        let ends = (Sender::new(second.clone(), LAYOUT), Receiver::new(first.clone(), LAYOUT));
        let bus = Bus::new(&ram, kind::NETWORK, 0);
        let board = bus.0.clone();
        let link = (Link::new(ends, LAYOUT, first.address()), LAYOUT);
        let queues = [headers, headers + queue].map(part);
        let driver = Card::new(bus, part(0).address, queues, link, Marked, FRAME);
        let (sender, receiver) = (Sender::new(first, LAYOUT), Receiver::new(second, LAYOUT));
        let mut world = World { driver, board, sender, receiver };
        for _ in 0..4 {
            world.work();
            assert_eq!(world.receiver.receive(), Ok(None));
        }
        assert!(world.sender.can_send());
        world
    }

    /// Both sides once.
    fn work(&mut self) {
        while self.sender.returned().expect("an honest driver").is_some() {}
        let _ = (self.sender.publish(), self.receiver.publish());
        let _ = self.driver.work();
    }

    fn requests(&self, queue: usize) -> Vec<Request> {
        std::iter::from_fn(|| self.board.next(queue)).collect()
    }

    /// Each frame that is sent arrives.
    fn works(&mut self) {
        let came = self.requests(INPUT);
        for (number, request) in came.iter().enumerate() {
            self.board.write(request.buffers[1].0, number as u8);
            self.board.give(INPUT, request, HEADER + 20);
        }
        assert_eq!(came.len(), LAYOUT.buffers(), "all buffers are for what comes");
        self.work();
        for number in 0..LAYOUT.buffers() {
            let held = self.receiver.receive().expect("no lie").expect("a frame");
            let mut frame = [0; FRAME];
            let frame = self.receiver.read(&held, &mut frame);
            assert_eq!((frame.len(), frame[0]), (20, number as u8));
            assert_eq!(held.mark(), Marked::mark(number as u8, 20));
            self.receiver.give_back(held, 0);
        }
        assert!(self.sender.send(&[7; 20], 0));
        self.work();
        let sent = self.requests(OUTPUT);
        let [(_, HEADER, false), (at, 20, false)] = sent[0].buffers[..] else { panic!("{sent:?}") };
        assert_eq!(self.board.read(at, 20), [7; 20]);
        self.board.give(OUTPUT, &sent[0], 0);
        self.work();
    }
}

/// An empty one has QEMU's card do nothing any more.
#[test]
fn a_device_gets_nothing_that_is_no_frame() {
    let mut world = World::new();
    for length in [0, 1, 13, FRAME + 1, LAYOUT.size()] {
        assert!(world.sender.send(&vec![1; length], 0));
        world.work();
        assert_eq!(world.requests(OUTPUT), [], "{length} bytes");
        world.work();
        assert_eq!(world.sender.away(), 0, "the buffer is back");
    }
    for length in [14, FRAME] {
        assert!(world.sender.send(&vec![1; length], 0));
        world.work();
        let sent = world.requests(OUTPUT);
        assert_eq!(sent.len(), 1, "{length} bytes");
        world.board.give(OUTPUT, &sent[0], 0);
        world.work();
    }
    world.works();
}

/// Its buffer is for the next frame at once, and the server hears nothing of it.
#[test]
fn a_frame_that_does_not_pass_is_dropped() {
    let mut world = World::new();
    for request in world.requests(INPUT) {
        assert!(world.receiver.may_wait());
        world.board.write(request.buffers[1].0, UNWANTED);
        world.board.give(INPUT, &request, HEADER + 20);
        assert!(!world.driver.work(), "no signal");
        assert_eq!(world.receiver.receive(), Ok(None));
    }
    world.works();
}

/// What the server sends meanwhile is lost.
#[test]
fn a_device_that_says_that_it_is_broken_is_begun_anew() {
    let mut world = World::new();
    world.works();
    assert!(world.sender.send(&[1; 20], 0));
    world.work();
    world.board.status.set(world.board.status.get() | 64);
    world.board.reasons.set(3);
    world.driver.interrupted();
    assert_eq!((world.board.resets.get(), world.board.status.get()), (2, 15));
    world.work();
    world.work();
    assert_eq!(world.sender.away(), 0, "the buffer is back");
    world.works();
}
