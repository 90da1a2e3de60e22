//! Two stacks, and a wire between them that loses, repeats, changes and makes up frames.
#![forbid(unsafe_code)]

#[path = "../../ring/tests/support/mod.rs"]
mod support;

use flows::{Units, WORDS};
use network::{Buffers, FRAME, LAYOUT, Link, Slots, Stack};
use proptest::prelude::*;
use ring::{Layout, Receiver, Sender};
use sockets::{Address, Datagram, MOST, Refusal};
use std::cell::Cell;
use std::net::Ipv4Addr;
use std::rc::Rc;
use support::Plain;

const LEFT: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 1);
const RIGHT: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 2);
const CLIENT: u64 = 3;
/// Behind all that a stack remembers: neighbours for a minute.
const LATER: u64 = 100_000_000;

/// What happens to a frame.
#[derive(Clone, Debug)]
enum Fate {
    Passes,
    Lost,
    Twice,
    Flipped(usize),
    Cut(usize),
    Before(Vec<u8>),
}

fn fate() -> impl Strategy<Value = Fate> {
    prop_oneof![
        8 => Just(Fate::Passes),
        1 => Just(Fate::Lost),
        1 => Just(Fate::Twice),
        3 => (0..8 * 600usize).prop_map(Fate::Flipped),
        1 => (0..600usize).prop_map(Fate::Cut),
        1 => prop::collection::vec(any::<u8>(), 0..FRAME).prop_map(Fate::Before),
    ]
}

type Net<'a> = Stack<'a, Plain, Rc<Cell<u32>>>;

/// The driver's ends of a link.
struct End(Sender<Plain>, Receiver<Plain>);

/// A link: the server's ends and the driver's.
fn link() -> (Link<Plain>, End) {
    let (out, back) = (Plain::new(LAYOUT), Plain::new(LAYOUT));
    let units = Units::new(Plain::new(Layout::new(1, 8 * WORDS)));
    let (sender, receiver) =
        (Sender::new(out.clone(), LAYOUT), Receiver::new(back.clone(), LAYOUT));
    let server = Link::new(sender, receiver, units);
    (server, End(Sender::new(back, LAYOUT), Receiver::new(out, LAYOUT)))
}

fn carry(from: &mut End, to: &mut End, fates: &mut dyn Iterator<Item = Fate>) {
    while let Some(held) = from.1.receive().expect("the stack is honest") {
        let mut frame = [0; FRAME];
        let frame = from.1.read(&held, &mut frame);
        let mut send = |bytes: &[u8]| to.0.send(bytes, 0);
        match fates.next().unwrap_or(Fate::Passes) {
            Fate::Passes => drop(send(frame)),
            Fate::Lost => {}
            Fate::Twice => drop((send(frame), send(frame))),
            Fate::Flipped(bit) => {
                let bit = bit % (8 * frame.len());
                frame[bit / 8] ^= 1 << (bit % 8);
                send(frame);
            }
            Fate::Cut(length) => drop(send(&frame[..length.min(frame.len())])),
            Fate::Before(other) => drop((send(&other), send(frame))),
        }
        from.1.give_back(held, 0);
    }
    while from.0.returned().expect("the stack is honest").is_some() {}
    let _ = (from.0.publish(), from.1.publish());
}

/// Both stacks and the wire until nothing moves any more.
fn settle(
    left: &mut Net,
    right: &mut Net,
    ends: &mut [End; 2],
    at: u64,
    fates: &mut dyn Iterator<Item = Fate>,
) {
    let tell = |ready: &Rc<Cell<u32>>| ready.set(ready.get() + 1);
    for _ in 0..20 {
        left.work(at, tell);
        right.work(at, tell);
        let _ = (left.link().publish(), right.link().publish());
        let [first, second] = &mut *ends;
        carry(first, second, fates);
        carry(second, first, fates);
    }
    assert!(left.link().may_wait() && right.link().may_wait());
    assert_eq!(left.link().lies() + right.link().lies(), 0);
}

/// Plays with a stack at each end of a wire.
fn with_two(play: impl FnOnce(&mut Net, &mut Net, &mut [End; 2], &Rc<Cell<u32>>)) {
    let told = Rc::new(Cell::new(0));
    let (mut left_buffers, mut right_buffers) = (Buffers::EMPTY, Buffers::EMPTY);
    let (mut left_slots, mut right_slots) = (Slots::EMPTY, Slots::EMPTY);
    let ((left, first), (right, second)) = (link(), link());
    let station = |last: u8| [2, 0, 0, 0, 0, last];
    let mut left = Stack::new(left, LEFT, station(1), &mut left_buffers, &mut left_slots);
    let mut right = Stack::new(right, RIGHT, station(2), &mut right_buffers, &mut right_slots);
    play(&mut left, &mut right, &mut [first, second], &told);
}

fn bytes(datagram: &Datagram) -> Vec<u8> {
    datagram.bytes().to_vec()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]
    #[test]
    fn a_datagram_comes_as_it_went_or_not_at_all(
        sent in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..MOST), 1..12),
        fates in prop::collection::vec(fate(), 0..40),
    ) {
        with_two(|left, right, ends, told| {
            let (mut fates, mut at) = (fates.into_iter(), 0);
            let (from, to) = (Address::new(LEFT, 5000), Address::new(RIGHT, 7));
            let out = left.open(CLIENT, 5000, told.clone()).unwrap();
            let into = right.open(CLIENT, 7, told.clone()).unwrap();
            for payload in &sent {
                // One that waits for its neighbour fills the queue.
                let _ = left.send(CLIENT, out, to, payload);
                settle(left, right, ends, at, &mut fates);
                while let Ok(datagram) = right.receive(CLIENT, into) {
                    assert!(sent.contains(&bytes(&datagram)), "it was changed");
                    assert_eq!(datagram.from, from);
                }
                at += 2_000_000;
            }
            // Afterwards all is well again.
            let mut none = std::iter::empty();
            settle(left, right, ends, at + LATER, &mut none);
            while right.receive(CLIENT, into).is_ok() {}
            let before = told.get();
            left.send(CLIENT, out, to, b"whole").unwrap();
            settle(left, right, ends, at + 2 * LATER, &mut none);
            assert_eq!(right.receive(CLIENT, into).map(|one| bytes(&one)), Ok(b"whole".to_vec()));
            assert_eq!(told.get(), before + 1, "the client was told once");
        });
    }
}

#[test]
fn a_socket_is_its_clients_alone() {
    with_two(|left, right, ends, told| {
        let socket = left.open(CLIENT, 9, told.clone()).unwrap();
        assert_eq!(left.open(4, 9, told.clone()), Err(Refusal::PortTaken));
        assert_eq!(left.receive(4, socket), Err(Refusal::NotOpen));
        assert_eq!(left.close(4, socket), Err(Refusal::NotOpen));
        assert_eq!(left.send(CLIENT, 200, Address::new(RIGHT, 7), b""), Err(Refusal::NotOpen));
        // Started again, the client gets it again.
        assert_eq!(left.open(CLIENT, 9, told.clone()), Ok(socket));
        let ports = 10..10 + network::SOCKETS as u16 - 1;
        assert!(ports.clone().all(|port| left.open(CLIENT, port, told.clone()).is_ok()));
        assert_eq!(left.open(CLIENT, 99, told.clone()), Err(Refusal::NoSocket));
        assert_eq!(left.open(CLIENT, 0, told.clone()), Err(Refusal::NoSocket));
        left.close(CLIENT, socket).unwrap();
        assert_eq!(left.open(CLIENT, 0, told.clone()), Err(Refusal::PortTaken));
        assert_eq!(left.open(4, 9, told.clone()), Ok(socket));
        settle(left, right, ends, 0, &mut std::iter::empty());
    });
}

#[test]
fn more_than_a_message_carries_is_cut() {
    let long = Datagram::new(Address::new(LEFT, 7), &[5; 1000]);
    assert_eq!((long.length, bytes(&long)), (1000, vec![5; MOST]));
}
