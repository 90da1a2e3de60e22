//! Against lists that are searched from end to end.
#![forbid(unsafe_code)]

use flows::{Flow, Key, Refusal, Reservations, UNLIMITED};
use proptest::prelude::*;

#[derive(Clone, Debug)]
enum Step {
    Set(Flow, u32),
    Remove(Flow),
    Reset(Flow),
    Packet(Flow),
    End(Flow, u32, u32),
    Forget,
}

/// Few flows, so that they meet; many ports, so that hashes collide.
fn flow() -> impl Strategy<Value = Flow> {
    let port = prop_oneof![2 => Just(0), 4 => 8000..8004u16, 3 => 0..100u16];
    let flow = (prop::sample::select(vec![6, 17]), port);
    let flow = flow.prop_map(|(protocol, port)| Flow { protocol, port });
    prop_oneof![8 => flow, 1 => Just(Flow::ALL), 1 => Just(Flow::ARP)]
}

fn step() -> impl Strategy<Value = Step> {
    let limit = prop_oneof![4 => 0..4u32, 1 => Just(UNLIMITED)];
    prop_oneof![
        4 => (flow(), limit).prop_map(|(flow, limit)| Step::Set(flow, limit)),
        2 => flow().prop_map(Step::Remove),
        1 => flow().prop_map(Step::Reset),
        8 => flow().prop_map(Step::Packet),
        6 => (flow(), 0..4u32, 0..3u32)
            .prop_map(|(flow, read, strays)| Step::End(flow, read, strays)),
        1 => Just(Step::Forget),
    ]
}

/// A reservation: units, and the packets that have them.
struct Plain {
    flow: Flow,
    limit: u32,
    unread: u32,
    strays: u32,
    dropped: u64,
}

struct Oracle(Vec<Plain>);

impl Oracle {
    fn new() -> Oracle {
        let mut new = Oracle(Vec::new());
        new.set(Flow::ALL, UNLIMITED).unwrap();
        new
    }

    fn of(&mut self, flow: Flow) -> Option<&mut Plain> {
        self.0.iter_mut().find(|one| one.flow == flow)
    }

    /// The most specific one.
    fn find(&mut self, flow: Flow) -> Option<&mut Plain> {
        let wider = [flow, Flow { port: 0, ..flow }, Flow::ALL];
        let wider = if flow == Flow::ARP { &wider[..1] } else { &wider[..] };
        let found = wider.iter().find(|one| self.of(**one).is_some())?;
        self.of(*found)
    }

    fn set(&mut self, flow: Flow, limit: u32) -> Result<(), Refusal> {
        if self.of(flow).is_none() {
            if self.0.len() == 33 {
                return Err(Refusal::TooMany);
            }
            self.0.push(Plain { flow, limit, unread: 0, strays: 0, dropped: 0 });
        }
        self.of(flow).unwrap().limit = limit;
        Ok(())
    }

    fn remove(&mut self, flow: Flow) -> Result<(), Refusal> {
        if flow == Flow::ALL {
            return Err(Refusal::Unknown);
        }
        if self.of(flow).ok_or(Refusal::Unknown)?.unread > 0 {
            return Err(Refusal::InUse);
        }
        self.0.retain(|one| one.flow != flow);
        Ok(())
    }

    /// Whether it passes, and whether it has a unit.
    fn packet(&mut self, flow: Flow) -> (bool, Option<Flow>) {
        let Some(one) = self.find(flow) else { return (true, None) };
        let passes = one.unread + one.strays < one.limit;
        if passes {
            one.unread += 1;
        } else {
            one.dropped += 1;
        }
        (passes, Some(one.flow))
    }

    fn end(&mut self, flow: Flow, read: u32, strays: u32) {
        let Some(one) = self.of(flow) else { return };
        for _ in 0..read.min(one.unread) {
            one.unread -= 1;
        }
        for _ in 0..strays.min(one.unread) {
            one.unread -= 1;
            one.strays += 1;
        }
    }
}

fn play(steps: Vec<Step>) {
    let mut table = Reservations::new();
    let mut oracle = Oracle::new();
    for step in steps {
        match step {
            Step::Set(flow, limit) => assert_eq!(table.set(flow, limit), oracle.set(flow, limit)),
            Step::Remove(flow) => assert_eq!(table.remove(flow), oracle.remove(flow)),
            Step::Reset(flow) => {
                let there = oracle.of(flow).map(|one| one.strays = 0).ok_or(Refusal::Unknown);
                assert_eq!(table.reset(flow), there);
            }
            Step::Packet(flow) => {
                let found = table.find(Key::to(flow));
                let passes = found.is_none_or(|id| table.take(id));
                let of = found.and_then(|id| table.get_mut(id)).map(|one| one.flow);
                assert_eq!((passes, of), oracle.packet(flow));
            }
            Step::End(flow, read, strays) => {
                if let Some(id) = table.of(flow) {
                    table.end(id, read, strays);
                }
                oracle.end(flow, read, strays);
            }
            Step::Forget => {
                table.forget();
                oracle.0.iter_mut().for_each(|one| one.unread = 0);
            }
        }
        assert_eq!(table.iter().count(), oracle.0.len());
        for one in table.iter() {
            let plain = oracle.of(one.flow).expect("no other one exists");
            assert_eq!(
                (one.limit, one.unread, one.strays, one.dropped),
                (plain.limit, plain.unread, plain.strays, plain.dropped,)
            );
        }
    }
}

proptest! {
    #[test]
    fn units_are_counted_as_by_hand(steps in prop::collection::vec(step(), 0..150)) {
        play(steps);
    }
}

#[test]
fn there_is_room_for_32_reservations_beside_that_of_all_packets() {
    let mut table = Reservations::new();
    let flows = |ports| std::iter::Iterator::map(ports, |port| Flow { protocol: 17, port });
    assert!(flows(1..33).all(|flow| table.set(flow, 1).is_ok()));
    assert_eq!(table.set(Flow { protocol: 17, port: 33 }, 1), Err(Refusal::TooMany));
    assert!(flows(1..33).all(|flow| table.of(flow).is_some()));
    assert_eq!(table.remove(Flow::ALL), Err(Refusal::Unknown));
}
