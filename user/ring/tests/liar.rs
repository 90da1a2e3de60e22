//! A peer that writes anything anywhere into the shared memory, between any two steps of an end.
#![forbid(unsafe_code)]

mod support;

use proptest::prelude::*;
use ring::{Held, Layout, Memory, Owned, Receiver, Sender};
use std::collections::HashSet;
use support::Plain;

const LAYOUT: Layout = Layout::new(8, 16);

/// A word and what the liar writes there.
type Lied = (usize, u64);

#[derive(Clone, Debug)]
enum Step {
    Lie(Lied),
    /// The liar says what an honest peer would say that is connected, but for the count.
    Claim(u32),
    Look,
    Acquire,
    GiveAway,
    Publish,
    Wait,
}

/// Values as they occur, and any others.
fn value() -> impl Strategy<Value = u64> {
    let near = (0..3u64, 0..3u64, 0..12u64)
        .prop_map(|(generation, partner, count)| generation << 48 | partner << 32 | count);
    let descriptor = (0..10u64, 0..20u64).prop_map(|(buffer, length)| length << 16 | buffer);
    prop_oneof![3 => near, 3 => descriptor, 1 => any::<u64>()]
}

fn step() -> impl Strategy<Value = Step> {
    // The words of the ends and the rings.
    let lie = (0..32usize, value());
    let count = prop_oneof![4 => 0..10u32, 1 => any::<u32>()];
    prop_oneof![
        4 => lie.prop_map(Step::Lie),
        4 => count.prop_map(Step::Claim),
        6 => Just(Step::Look),
        3 => Just(Step::Acquire),
        3 => Just(Step::GiveAway),
        2 => Just(Step::Publish),
        1 => Just(Step::Wait),
    ]
}

/// Writes into `peer` what connects it with the end that has published in `own`.
fn claim(memory: &Plain, own: usize, peer: usize, count: u32) {
    let (generation, partner) = (memory.load(own) >> 48, memory.load(own) >> 32 & 0xffff);
    let generation_of_peer = partner.max(1);
    memory.store(peer, generation_of_peer << 48 | generation << 32 | u64::from(count));
}

fn a_sender_survives(steps: &[Step]) {
    let memory = Plain::new(LAYOUT);
    let mut sender = Sender::new(memory.clone(), LAYOUT);
    let mut owned: Vec<Owned> = Vec::new();
    for step in steps {
        match step {
            Step::Lie((word, value)) => memory.store(*word, *value),
            Step::Claim(count) => claim(&memory, 0, 8, *count),
            Step::Look => drop(sender.returned()),
            Step::Acquire => owned.extend(sender.acquire()),
            Step::GiveAway => {
                if let Some(one) = owned.pop() {
                    sender.write(&one, 0, &[1; 16]);
                    sender.fill(one, 16, 0);
                }
            }
            Step::Publish => drop(sender.publish()),
            Step::Wait => drop(sender.may_wait()),
        }
        let buffers: HashSet<usize> = owned.iter().map(Owned::index).collect();
        assert_eq!(buffers.len(), owned.len(), "a buffer has two owners");
        assert!(owned.len() + sender.away() <= LAYOUT.buffers());
    }
    owned.into_iter().for_each(|one| sender.release(one));
    // Two honest ones at most until all works again.
    let works = (0..2).any(|_| {
        let mut receiver = Receiver::new(memory.clone(), LAYOUT);
        flows(&mut sender, &mut receiver)
    });
    assert!(works, "the channel stays broken");
}

fn a_receiver_survives(steps: &[Step]) {
    let memory = Plain::new(LAYOUT);
    let mut receiver = Receiver::new(memory.clone(), LAYOUT);
    let mut held: Vec<Held> = Vec::new();
    for step in steps {
        match step {
            Step::Lie((word, value)) => memory.store(*word, *value),
            Step::Claim(count) => claim(&memory, 8, 0, *count),
            Step::Look | Step::Acquire => {
                if let Ok(Some(one)) = receiver.receive() {
                    assert!(one.len() <= LAYOUT.size());
                    assert_eq!(receiver.read(&one, &mut [0; 20]).len(), one.len());
                    held.push(one);
                }
            }
            Step::GiveAway => {
                if let Some(one) = held.pop() {
                    receiver.give_back(one, 0);
                }
            }
            Step::Publish => drop(receiver.publish()),
            Step::Wait => drop(receiver.may_wait()),
        }
        let there = held.iter().filter(|one| !receiver.read(one, &mut [0; 16]).is_empty());
        assert!(there.count() <= LAYOUT.buffers(), "a buffer is held twice");
    }
    let works = (0..2).any(|_| {
        let mut sender = Sender::new(memory.clone(), LAYOUT);
        flows(&mut sender, &mut receiver)
    });
    assert!(works, "the channel stays broken");
}

/// Whether every buffer goes over and comes back.
fn flows(sender: &mut Sender<Plain>, receiver: &mut Receiver<Plain>) -> bool {
    let mut came = 0;
    for _ in 0..6 * LAYOUT.buffers() {
        let _ = (sender.returned(), sender.publish());
        let _ = (receiver.receive().map(|held| held.map(|one| receiver.give_back(one, 0))),);
        let _ = receiver.publish();
    }
    for _ in 0..LAYOUT.buffers() {
        if !sender.send(b"whole", 7) {
            return false;
        }
    }
    let _ = sender.publish();
    while let Ok(Some(held)) = receiver.receive() {
        assert_eq!(receiver.read(&held, &mut [0; 16]), b"whole");
        receiver.give_back(held, 9);
        let _ = receiver.publish();
        came += 1;
    }
    let back = |sender: &mut Sender<Plain>| sender.returned().ok().flatten();
    let back = std::iter::from_fn(|| back(sender)).filter(|one| one.mark == Some(9)).count();
    (came, back) == (LAYOUT.buffers(), LAYOUT.buffers())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]
    #[test]
    fn a_lie_costs_the_liar_alone(steps in prop::collection::vec(step(), 0..120)) {
        a_sender_survives(&steps);
        a_receiver_survives(&steps);
    }
}

/// Each kind of lie is found, as it is.
#[test]
fn each_lie_has_its_name() {
    use ring::Lie;
    let lied = |count: u32, descriptor: u64| {
        let memory = Plain::new(LAYOUT);
        let mut receiver = Receiver::new(memory.clone(), LAYOUT);
        let _ = receiver.publish();
        claim(&memory, 8, 0, 0);
        assert_eq!(receiver.receive(), Ok(None));
        let _ = receiver.publish();
        claim(&memory, 8, 0, count);
        memory.store(16, descriptor);
        let first = receiver.receive().map(|held| held.is_some());
        (first, receiver.receive().map(|held| held.is_some()))
    };
    assert_eq!(lied(1, 16 << 16), (Ok(true), Ok(false)));
    assert_eq!(lied(9, 0), (Err(Lie::Count), Ok(false)));
    assert_eq!(lied(u32::MAX, 0), (Err(Lie::Count), Ok(false)));
    assert_eq!(lied(1, 8), (Err(Lie::Buffer), Ok(false)));
    assert_eq!(lied(1, 0xffff), (Err(Lie::Buffer), Ok(false)));
    assert_eq!(lied(2, 0), (Ok(true), Err(Lie::Buffer)));
    assert_eq!(lied(1, 17 << 16), (Err(Lie::Length), Ok(false)));
}
