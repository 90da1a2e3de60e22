//! Bandwidth that is free and was used ahead, as time passes.

use super::*;
use crate::tree::freed::Freed;
use abi::bandwidth::CPU;
use proptest::prelude::*;

/// What happens to it.
#[derive(Clone, Copy, Debug)]
enum Event {
    Add { bandwidth: u64, lag: u64 },
    Take { more: u64, free: u64 },
}

/// A part of a CPU, from less than a nanosecond of each second up.
fn bandwidth() -> impl Strategy<Value = u64> {
    prop_oneof![0..CPU / 1_000_000_000, 0..=CPU]
}

fn event() -> impl Strategy<Value = Event> {
    prop_oneof![
        (bandwidth(), 0..100 * MS).prop_map(|(bandwidth, lag)| Event::Add { bandwidth, lag }),
        (bandwidth(), bandwidth()).prop_map(|(more, free)| Event::Take { more, free }),
    ]
}

/// Short and long, and as long as none is.
fn time() -> impl Strategy<Value = u64> {
    prop_oneof![8 => 0u64..20, 8 => 0..100 * MS, 1 => any::<u64>()]
}

impl Event {
    /// From when on something may be used, if that is asked.
    fn happen(self, freed: &mut Freed, now: u64) -> u64 {
        match self {
            Event::Add { bandwidth, lag } => {
                freed.add(bandwidth, lag, now);
                now
            }
            Event::Take { more, free } => freed.take(more, free, now).0,
        }
    }
}

proptest! {
    /// How often it is looked at changes nothing, whatever is added and taken.
    #[test]
    fn two_steps_of_time_are_one(
        events in prop::collection::vec((event(), time(), any::<[u64; 4]>()), 1..40),
    ) {
        let (mut once, mut often, mut now) = (Freed::NONE, Freed::NONE, 0u64);
        for (event, time, looks) in events {
            let end = now.saturating_add(time);
            let mut looks = looks.map(|look| now + look % (end - now).max(1));
            looks.sort_unstable();
            looks.into_iter().for_each(|look| often.pass(look));
            now = end;
            prop_assert_eq!(event.happen(&mut often, now), event.happen(&mut once, now));
            prop_assert_eq!(often, once);
        }
    }

    /// While nothing is taken it ends at the exact instant, however often more is added.
    #[test]
    fn no_nanosecond_is_lost(
        events in prop::collection::vec((1..CPU / 8, 1..MS, 0..100 * US), 1..40),
    ) {
        let (mut freed, mut exact, mut sum, mut now) = (Freed::NONE, 0i128, 0i128, 0);
        let cpu = i128::from(CPU);
        let pass = |exact: &mut i128, sum: &mut i128, time: u64| {
            *exact -= i128::from(time) * *sum;
            if *exact <= 0 {
                (*exact, *sum) = (0, 0);
            }
        };
        for (bandwidth, lag, time) in events {
            freed.add(bandwidth, lag, now);
            (exact, sum) = (exact + i128::from(lag) * cpu, sum + i128::from(bandwidth));
            pass(&mut exact, &mut sum, time);
            now += time;
        }
        freed.pass(now);
        let end = if sum == 0 { 0 } else { (exact + sum - 1) / sum };
        let end = now + u64::try_from(end).expect("fits");
        if end > now {
            let mut before = freed;
            before.pass(end - 1);
            prop_assert_ne!(before, ended(end - 1));
        }
        freed.pass(end);
        prop_assert_eq!(freed, ended(end));
    }
}

/// None since an instant.
fn ended(now: u64) -> Freed {
    let mut none = Freed::NONE;
    none.pass(now);
    none
}
