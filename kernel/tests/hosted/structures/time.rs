//! The queue of deadlines.

use super::{objects, threads};
use crate::support::board::body;
use crate::support::host::Host;
use kernel::object::Timer;
use kernel::object::deadlines::{Deadlines, TimerEntry};
use proptest::prelude::*;
use std::cmp::Reverse;

const THREADS: usize = 12;
const SLEEPERS: usize = 20;

/// A step: what to do, which sleeper, at what instant, at what priority.
type Step = (u8, usize, u64, i16);

/// Priorities are few and far apart, or any.
fn priority() -> impl Strategy<Value = i16> {
    prop_oneof![prop::sample::select(vec![0, 1, 127, 128, 254, 255]), 0..256_i16]
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    prop::collection::vec((0..6_u8, 0..SLEEPERS, 0..60_u64, priority()), 0..300)
}

/// What waits, in a plain list.
#[derive(Default)]
struct Model(Vec<(u64, i16, usize)>);

impl Model {
    fn first_from(&self, floor: i16) -> u64 {
        let urgent = self.0.iter().filter(|(_, priority, _)| *priority >= floor);
        urgent.map(|(at, ..)| *at).min().unwrap_or(u64::MAX)
    }

    /// The instant and the priority of what is served next.
    fn most_urgent(&self, now: u64, floor: i16) -> Option<(u64, i16)> {
        let due = self.0.iter().filter(|(at, ..)| *at <= now).copied();
        let first = due.min_by_key(|(at, priority, _)| (Reverse(*priority), *at));
        first.map(|(at, priority, _)| (at, priority)).filter(|(_, priority)| *priority >= floor)
    }

    fn remove(&mut self, which: usize) -> Option<u64> {
        let index = self.0.iter().position(|(.., other)| *other == which)?;
        Some(self.0.swap_remove(index).0)
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(ProptestConfig::default().cases * 4))]
    #[test]
    fn deadlines_are_served_by_urgency(steps in steps()) {
        let (threads, timers) = (threads(THREADS as u32), objects(8, Timer::<Host>::new));
        let sleeper = |which: usize| match which.checked_sub(THREADS) {
            None => TimerEntry::Thread(threads[which]),
            Some(timer) => TimerEntry::Timer(timers[timer]),
        };
        let number = |sleeper: TimerEntry<Host>| match sleeper {
            TimerEntry::Thread(thread) => thread.index() as usize,
            TimerEntry::Timer(timer) => THREADS + timer.index() as usize,
        };
        let queued = |which: usize| match sleeper(which) {
            TimerEntry::Thread(thread) => body(thread).deadline.queued(),
            TimerEntry::Timer(timer) => body(timer).deadline.queued(),
        };
        let (queue, mut model) = (Deadlines::<Host>::new(), Model::default());
        for (step, which, at, priority) in steps {
            match step {
                0..3 if !queued(which) => {
                    queue.insert(at, sleeper(which), priority);
                    model.0.push((at, priority, which));
                }
                3 => prop_assert_eq!(queue.remove(sleeper(which)), model.remove(which)),
                _ => {
                    let first = model.most_urgent(at, priority);
                    prop_assert_eq!(queue.is_due(at, priority), first.is_some());
                    let popped = queue.most_urgent(at, priority).map(|due| {
                        let node = due.node();
                        queue.take(due);
                        node
                    });
                    prop_assert_eq!(popped.map(|due| (due.at(), due.priority())), first);
                    if let Some(popped) = popped {
                        let at = popped.sleeper().and_then(|sleeper| model.remove(number(sleeper)));
                        prop_assert_eq!(at, Some(popped.at()));
                    }
                }
            }
            for floor in [-1, 0, 1, 64, 127, 128, 254, 255, priority] {
                prop_assert_eq!(queue.first_from(floor), model.first_from(floor));
            }
            prop_assert_eq!(queue.first(), model.first_from(-1));
            prop_assert_eq!(queue.is_empty(), model.0.is_empty());
            let mut found = Vec::new();
            queue.each(|sleeper, at, priority| found.push((at, priority, number(sleeper))));
            found.sort_unstable();
            model.0.sort_unstable();
            prop_assert_eq!(&found, &model.0);
            let placed: Vec<usize> = (0..SLEEPERS).filter(|which| queued(*which)).collect();
            prop_assert_eq!(placed.len(), found.len());
        }
    }
}
