//! The queue of deadlines.

use super::{objects, threads};
use crate::support::board::body;
use crate::support::host::Host;
use kernel::object::Timer;
use kernel::time::{Deadlines, Sleeper};
use proptest::prelude::*;
use std::collections::BTreeSet;

const THREADS: usize = 12;
const SLEEPERS: usize = 20;

fn deadlines() -> Deadlines<Host> {
    let (_, mut arena) = Host::new(2, 0);
    Deadlines::carve(&mut arena, SLEEPERS).expect("fits")
}

/// A step: what to do, which sleeper, at what instant.
fn steps() -> impl Strategy<Value = Vec<(u8, usize, u64)>> {
    prop::collection::vec((0..5_u8, 0..SLEEPERS, 0..60_u64), 0..300)
}

proptest! {
    #[test]
    fn deadlines_are_an_ordered_set(steps in steps()) {
        let (threads, timers) = (threads(THREADS as u32), objects(8, Timer::<Host>::new));
        let sleeper = |which: usize| match which.checked_sub(THREADS) {
            None => Sleeper::Thread(threads[which]),
            Some(timer) => Sleeper::Timer(timers[timer]),
        };
        let number = |sleeper: Sleeper<Host>| match sleeper {
            Sleeper::Thread(thread) => thread.index() as usize,
            Sleeper::Timer(timer) => THREADS + timer.index() as usize,
        };
        let queue = deadlines();
        let mut model: BTreeSet<(u64, usize)> = BTreeSet::new();
        for (step, which, at) in steps {
            let waits = model.iter().find(|(_, other)| *other == which).copied();
            match step {
                0..3 if waits.is_none() => {
                    queue.insert(at, sleeper(which));
                    model.insert((at, which));
                }
                3 => {
                    queue.remove(sleeper(which));
                    waits.map(|entry| model.remove(&entry));
                }
                _ => {
                    // Of equal instants any may come first, but only one of those.
                    let first = model.first().map(|(at, _)| *at).filter(|first| *first <= at);
                    let popped = queue.pop(at).map(|(_, sleeper)| number(sleeper));
                    prop_assert_eq!(popped.is_some(), first.is_some());
                    if let (Some(popped), Some(first)) = (popped, first) {
                        prop_assert!(model.remove(&(first, popped)), "not the earliest");
                    }
                }
            }
            prop_assert_eq!(queue.first(), model.first().map(|(at, _)| *at));
            let placed = (0..SLEEPERS).filter(|which| match sleeper(*which) {
                Sleeper::Thread(thread) => body(thread).place.is_set(),
                Sleeper::Timer(timer) => body(timer).place.is_set(),
            });
            let expected: BTreeSet<usize> = model.iter().map(|(_, which)| *which).collect();
            prop_assert_eq!(placed.collect::<BTreeSet<_>>(), expected);
        }
        let mut drained = Vec::new();
        while let Some(first) = queue.first() {
            drained.push((first, number(queue.pop(u64::MAX).expect("there is a first").1)));
        }
        prop_assert!(drained.is_sorted_by_key(|(at, _)| *at));
        prop_assert_eq!(drained.into_iter().collect::<BTreeSet<_>>(), model);
    }
}
