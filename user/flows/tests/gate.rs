//! A gate and the server's words about it, over a channel whose ends are started again, and with
//! a server that lies.
#![forbid(unsafe_code)]

#[path = "../../ring/tests/support/mod.rs"]
mod support;

use flows::{Badge, End, Flow, Gate, Receive, Refusal, Unit, Units, WORDS};
use proptest::prelude::*;
use ring::{Layout, Memory, Receiver, Sender};
use std::collections::VecDeque;
use support::Plain;

const LAYOUT: Layout = Layout::new(16, 64);
const ANY: Badge = Badge(0);
const LIMITED: Flow = Flow { protocol: 17, port: 9 };

/// The first bytes of a datagram to a port.
fn datagram(port: u8) -> [u8; 42] {
    let mut frame = [0; 42];
    (frame[12], frame[14], frame[23], frame[37]) = (8, 0x45, 17, port);
    frame
}

struct Driver {
    sender: Sender<Plain>,
    gate: Gate<Plain>,
}

struct Server {
    receiver: Receiver<Plain>,
    units: Units<Plain>,
    unread: VecDeque<Unit>,
}

struct Link {
    channel: Plain,
    words: Plain,
    driver: Driver,
    server: Server,
}

impl Link {
    fn new(text: &str) -> Link {
        let (channel, words) = (Plain::new(LAYOUT), Plain::new(Layout::new(1, 8 * WORDS)));
        let driver = Link::driver(&channel, &words, text);
        let server = Link::server(&channel, &words);
        let mut link = Link { channel, words, driver, server };
        link.meet();
        link
    }

    fn driver(channel: &Plain, words: &Plain, text: &str) -> Driver {
        let gate = Gate::new(words.clone(), text).expect("the text has reservations");
        Driver { sender: Sender::new(channel.clone(), LAYOUT), gate }
    }

    fn server(channel: &Plain, words: &Plain) -> Server {
        let receiver = Receiver::new(channel.clone(), LAYOUT);
        Server { receiver, units: Units::new(words.clone()), unread: VecDeque::new() }
    }

    /// The two ends find each other.
    fn meet(&mut self) {
        for _ in 0..3 {
            self.take();
            let _ = self.server.receiver.publish();
            while let Ok(Some(_)) = self.driver.sender.returned() {}
            let _ = self.driver.sender.publish();
        }
    }

    /// Whether a datagram to a port passes.
    fn send(&mut self, port: u8) -> bool {
        let bytes = datagram(port);
        let Driver { sender, gate } = &mut self.driver;
        let Some(owned) = sender.acquire() else { return false };
        sender.write(&owned, 0, &bytes);
        match gate.admit(sender, &owned, bytes.len()) {
            Some(mark) => {
                sender.fill(owned, bytes.len(), mark);
                let _ = sender.publish();
                true
            }
            None => {
                sender.release(owned);
                false
            }
        }
    }

    /// The server takes what has come.
    fn take(&mut self) {
        let Server { receiver, units, unread } = &mut self.server;
        while let Ok(Some(held)) = receiver.receive() {
            let session = receiver.session().expect("it has a frame of it");
            unread.push_back(units.begin(session, held.mark()));
            receiver.give_back(held, 0);
        }
    }

    fn end(&mut self, end: End) {
        if let Some(unit) = self.server.unread.pop_front() {
            self.server.units.end(unit, end);
        }
    }

    /// Limit, unread, strays.
    fn of(&mut self, flow: Flow) -> [u32; 3] {
        self.driver.gate.look(&self.driver.sender);
        for place in 0.. {
            let one = self.driver.gate.list(ANY, place).unwrap().expect("it is there");
            if one.flow == flow {
                return [one.limit, one.unread, one.strays];
            }
        }
        unreachable!()
    }
}

#[test]
fn a_unit_comes_back_when_a_packet_was_read_and_not_when_it_had_no_receiver() {
    let mut link = Link::new("17/9:3 *:0");
    assert_eq!([9; 5].map(|port| link.send(port)), [true, true, true, false, false]);
    link.meet();
    // Buffers went back, units did not.
    assert!(!link.send(9));
    link.end(End::Read);
    assert_eq!((link.send(9), link.send(9)), (true, false));
    link.meet();
    assert_eq!(link.driver.gate.remove(ANY, LIMITED), Err(Refusal::InUse));
    (0..3).for_each(|_| link.end(End::Stray));
    assert_eq!(link.of(LIMITED), [3, 0, 3]);
    assert!(!link.send(9), "stray packets use up their own reservation");
    link.driver.gate.reset(ANY, LIMITED).unwrap();
    assert!(link.send(9));
    assert!(!link.send(8), "what nothing is reserved for is dropped");
}

#[test]
fn a_limit_that_changes_counts_for_the_next_packet() {
    let mut link = Link::new("17/9:3");
    assert!(link.send(9) && link.send(9));
    link.driver.gate.set(ANY, LIMITED, 1).unwrap();
    assert!(!link.send(9));
    link.meet();
    link.end(End::Read);
    link.end(End::Read);
    assert!(link.send(9) && !link.send(9));
    link.meet();
    link.end(End::Read);
    assert_eq!(link.driver.gate.remove(ANY, LIMITED), Ok(()));
    assert!(link.send(9), "it belongs to all packets now");
    assert_eq!(link.of(Flow::ALL)[1], 1);
}

#[test]
fn units_come_back_with_a_server_that_is_started_again() {
    let mut link = Link::new("17/9:3");
    assert!(link.send(9) && link.send(9));
    link.meet();
    link.send(9);
    link.end(End::Stray);
    assert_eq!(link.of(LIMITED), [3, 2, 1]);
    let former = std::mem::replace(&mut link.server, Link::server(&link.channel, &link.words));
    link.meet();
    assert_eq!(link.of(LIMITED), [3, 0, 1], "stray ones stay");
    // What the former one still says is not heard.
    assert!(link.send(9) && link.send(9) && !link.send(9));
    let Server { mut units, unread, .. } = former;
    unread.into_iter().for_each(|unit| units.end(unit, End::Read));
    assert!(!link.send(9));
}

#[test]
fn a_driver_that_is_started_again_hears_nothing_of_what_went_before() {
    let mut link = Link::new("17/9:3");
    assert!(link.send(9) && link.send(9));
    link.meet();
    link.driver = Link::driver(&link.channel, &link.words, "17/9:3");
    link.meet();
    assert!(link.send(9));
    link.meet();
    // The first two are of the former driver.
    link.end(End::Read);
    link.end(End::Read);
    assert_eq!(link.of(LIMITED), [3, 1, 0]);
    link.end(End::Read);
    assert_eq!(link.of(LIMITED), [3, 0, 0]);
}

#[derive(Clone, Debug)]
enum Step {
    Send(u8),
    Take,
    End(bool),
    NewServer,
    NewDriver,
    Lie(usize, u64),
}

fn step(lies: u32) -> impl Strategy<Value = Step> {
    prop_oneof![
        8 => (8..11u8).prop_map(Step::Send),
        4 => Just(Step::Take),
        6 => any::<bool>().prop_map(Step::End),
        1 => Just(Step::NewServer),
        1 => Just(Step::NewDriver),
        lies => (0..4usize, any::<u64>()).prop_map(|(word, value)| Step::Lie(word, value)),
    ]
}

const TEXT: &str = "17/9:3 17/10:2 *:1";

fn play(steps: Vec<Step>, is_honest: bool) {
    let mut link = Link::new(TEXT);
    for step in steps {
        match step {
            Step::Send(port) => {
                link.send(port);
            }
            Step::Take => link.meet(),
            Step::End(read) => link.end(if read { End::Read } else { End::Stray }),
            Step::NewServer => {
                link.server = Link::server(&link.channel, &link.words);
                link.meet();
            }
            Step::NewDriver => {
                link.driver = Link::driver(&link.channel, &link.words, TEXT);
                link.meet();
                // What the former one has sent is not counted by this one.
                link.server.unread.clear();
            }
            // As a server that writes what it likes, but for the session.
            Step::Lie(word, value) => {
                let own = link.driver.sender.session().unwrap_or(0);
                link.words.store(word, u64::from(own) << 32 | value & 0xffff_ffff);
            }
        }
        for flow in [LIMITED, Flow { protocol: 17, port: 10 }, Flow::ALL] {
            let [limit, unread, strays] = link.of(flow);
            assert!(unread + strays <= limit, "{flow}: {unread} and {strays} of {limit}");
        }
        if is_honest {
            let flows = [LIMITED, Flow { protocol: 17, port: 10 }, Flow::ALL];
            let counted: u32 = flows.map(|flow| link.of(flow)[1]).iter().sum();
            let there = link.server.unread.len() + link.driver.sender.away();
            assert_eq!(counted as usize, there);
        }
    }
}

proptest! {
    #[test]
    fn what_is_unread_has_a_unit_each(steps in prop::collection::vec(step(0), 0..120)) {
        play(steps, true);
    }

    #[test]
    fn a_server_that_lies_makes_no_more_units(steps in prop::collection::vec(step(6), 0..120)) {
        play(steps, false);
    }
}
