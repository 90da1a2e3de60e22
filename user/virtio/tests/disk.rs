//! The driver of a disk between a client and a device that takes its time.

mod support;

use ring::{Receiver, Returned, Sender};
use std::cell::Cell;
use std::collections::HashMap;
use std::rc::Rc;
use support::{Board, Bus, Ram, Request};
use virtio::block::{BLOCK, DONE, LAYOUT, REFUSED};
use virtio::driver::{BlockDriver, Driver, Link};
use virtio::mmio::kind;
use virtio::{Part, Shared};

/// How many blocks there are.
const BLOCKS: u32 = 16;
/// What a driver does at most until it may wait.
const ROUNDS: usize = 10;

type Disk = BlockDriver<Bus, Ram, Ram>;

/// A driver, its device, and the memory of its link.
struct World {
    driver: Disk,
    board: Rc<Board>,
    link: Ram,
    /// What the driver receives from.
    received: Ram,
    /// What is on the disk, by block.
    blocks: HashMap<u64, Vec<u8>>,
}

impl World {
    fn new() -> World {
        let words = |bytes: u64| bytes as usize / 8;
        let at = words(Disk::HEADERS + Disk::QUEUE);
        let ram = Ram::new(at + 2 * LAYOUT.words());
        let part = |from: usize| Part { address: ram.part(from).address(), words: ram.part(from) };
        let (queue, link) = (part(words(Disk::HEADERS)), ram.part(at));
        let (received, sent) = (link.part(0), link.part(LAYOUT.words()));
        let ends = (Sender::new(sent, LAYOUT), Receiver::new(received.clone(), LAYOUT));
        let bus = Bus::new(&ram, kind::BLOCK, u64::from(BLOCKS) * 8);
        let (board, address) = (bus.0.clone(), link.address());
        let driver = Disk::new(bus, part(0), queue, Link::new(ends, LAYOUT, address));
        World { driver, board, link, received, blocks: HashMap::new() }
    }

    /// Lets the driver work until it may wait.
    fn work(&mut self) {
        let waits = (0..ROUNDS).any(|_| {
            let _ = self.driver.work();
            self.driver.may_wait()
        });
        assert!(waits, "the driver goes on by itself");
    }

    /// A client that has found the driver.
    fn client(&mut self) -> Client {
        let mut client = Client::new(self);
        self.connect(&mut client);
        assert!(client.sender.can_send());
        client
    }

    fn connect(&mut self, client: &mut Client) {
        for _ in 0..3 {
            client.publish();
            self.work();
        }
        client.publish();
    }

    /// All requests that the device has not seen.
    fn requests(&self) -> Vec<Request> {
        std::iter::from_fn(|| self.board.next(0)).collect()
    }

    /// The device carries a request out, and interrupts.
    fn carry_out(&mut self, request: &Request) {
        let [(header, 16, false), (data, BLOCK, reads), (status, 1, true)] = request.buffers[..]
        else {
            panic!("the buffers are {:?}", request.buffers)
        };
        let header = self.board.read(header, 16);
        let word = |at: usize| u64::from_le_bytes(header[at..at + 8].try_into().expect("8 bytes"));
        assert_eq!(word(0) == 0, reads);
        let block = word(8) / 8;
        if reads {
            let content = self.blocks.get(&block).cloned().unwrap_or(vec![0; BLOCK]);
            (data..).zip(content).for_each(|(at, byte)| self.board.write(at, byte));
        } else {
            self.blocks.insert(block, self.board.read(data, BLOCK));
        }
        self.board.write(status, 0);
        self.board.give(0, request, if reads { BLOCK + 1 } else { 1 });
        self.driver.interrupted();
        self.work();
    }
}

/// The client's ends.
struct Client {
    sender: Sender<Ram>,
    receiver: Receiver<Ram>,
}

impl Client {
    fn new(world: &World) -> Client {
        let (out, back) = (world.link.part(0), world.link.part(LAYOUT.words()));
        Client { sender: Sender::new(out, LAYOUT), receiver: Receiver::new(back, LAYOUT) }
    }

    fn publish(&mut self) {
        while self.sender.returned().expect("an honest driver").is_some() {}
        while let Some(held) = self.receiver.receive().expect("an honest driver") {
            self.receiver.give_back(held, DONE);
        }
        let _ = (self.sender.publish(), self.receiver.publish());
    }

    fn write(&mut self, block: u32, byte: u8) {
        assert!(self.sender.send(&[byte; BLOCK], block));
        let _ = self.sender.publish();
    }

    fn read(&mut self, block: u32) {
        assert!(self.sender.send(&[], block));
        let _ = self.sender.publish();
    }

    /// The marks of what came back.
    fn returned(&mut self) -> Vec<Option<u32>> {
        let next = || self.sender.returned().expect("an honest driver");
        std::iter::from_fn(next).map(|Returned { mark, .. }| mark).collect()
    }

    /// Blocks that came: number, and the first byte.
    fn received(&mut self) -> Vec<(u32, Option<u8>)> {
        let mut all = Vec::new();
        while let Some(held) = self.receiver.receive().expect("an honest driver") {
            let mut bytes = [0; BLOCK];
            all.push((held.mark(), self.receiver.read(&held, &mut bytes).first().copied()));
            self.receiver.give_back(held, DONE);
        }
        let _ = self.receiver.publish();
        all
    }
}

#[test]
fn what_was_written_is_read() {
    let mut world = World::new();
    let mut client = world.client();
    for block in 0..2 * BLOCKS {
        client.write(block % BLOCKS, block as u8);
        client.read(block % BLOCKS);
        world.work();
        for request in world.requests() {
            world.carry_out(&request);
        }
        assert_eq!(client.returned(), [Some(DONE); 2]);
        assert_eq!(client.received(), [(block % BLOCKS, Some(block as u8))]);
    }
    client.read(BLOCKS);
    world.work();
    assert_eq!((client.returned(), world.requests()), (vec![Some(REFUSED)], vec![]));
}

/// However many requests a silent device has: a client that begins anew does not keep the driver
/// busy.
#[test]
fn a_silent_device_is_waited_for_whatever_its_client_does() {
    for writes in 1..=LAYOUT.buffers() {
        let mut world = World::new();
        let mut first = world.client();
        (0..writes).for_each(|block| first.write(block as u32, 1));
        world.work();
        assert_eq!(world.requests().len(), writes);
        for _ in 0..3 {
            let mut next = Client::new(&world);
            for _ in 0..3 {
                next.publish();
                world.work();
            }
            assert!(!next.sender.can_send(), "the device may read all buffers");
        }
    }
}

/// A write of a client that has ended is what that client wrote, and comes before those of the
/// next.
#[test]
fn a_client_does_not_write_into_what_the_former_one_has_sent() {
    for writes in [1, 3, LAYOUT.buffers()] {
        let mut world = World::new();
        let mut first = world.client();
        (0..writes).for_each(|_| first.write(5, 1));
        world.work();
        let pending = world.requests();
        assert_eq!(pending.len(), writes);
        let mut second = Client::new(&world);
        for request in &pending {
            world.connect(&mut second);
            if second.sender.can_send() {
                second.write(5, 2);
                world.work();
            }
            assert_eq!(world.requests(), [], "the device has both");
            world.carry_out(request);
            assert_eq!(
                world.blocks[&5][..],
                [1; BLOCK],
                "it took what the next client has written"
            );
        }
        world.connect(&mut second);
        second.write(5, 2);
        world.work();
        for request in world.requests() {
            world.carry_out(&request);
        }
        assert_eq!(world.blocks[&5][..], [2; BLOCK]);
        assert_eq!(second.returned(), [Some(DONE)]);
    }
}

#[test]
fn what_a_client_that_has_ended_wanted_to_read_is_not_given_to_the_next() {
    let mut world = World::new();
    let mut first = world.client();
    first.read(5);
    world.work();
    let pending = world.requests();
    let mut second = Client::new(&world);
    second.publish();
    world.carry_out(&pending[0]);
    assert_eq!(second.received(), []);
    world.connect(&mut second);
    second.read(6);
    world.work();
    for request in world.requests() {
        world.carry_out(&request);
    }
    assert_eq!((second.returned(), second.received()), (vec![Some(DONE)], vec![(6, Some(0))]));
}

/// A client on another CPU can send a request that is refused as fast as the driver refuses it.
#[test]
fn requests_without_end_do_not_keep_the_driver() {
    let mut world = World::new();
    let mut client = world.client();
    // The word that a sender publishes, and its descriptors, of which it writes the next one each
    // time that the driver reads one.
    let (published, filled) = (0, 16..16 + LAYOUT.buffers());
    let (link, sent) = (world.link.part(0), Rc::new(Cell::new(0)));
    let count = sent.clone();
    world.received.at_each_load(move |word| {
        if !filled.contains(&word) {
            return;
        }
        count.set(count.get() + 1);
        assert!(count.get() < 1000, "the driver takes all that the client sends");
        let next = Shared::load(&link, published) + 1;
        let slot = filled.start + (next - 1) as usize % LAYOUT.buffers();
        Shared::store(&link, slot, u64::from(BLOCKS) << 32);
        Shared::store(&link, published, next);
    });
    client.read(BLOCKS);
    let _ = world.driver.work();
    assert_eq!(sent.get(), LAYOUT.buffers());
    assert!(!world.driver.may_wait(), "there are more");
}
