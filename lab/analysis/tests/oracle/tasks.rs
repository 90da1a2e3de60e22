//! Small task sets and supplies, whose schedules can be played.

use analysis::{Supply, Task, Window};
use proptest::prelude::*;

prop_compose! {
    /// A task with small numbers.
    pub fn task(jitter: u64)(
        period in 2..9u64, share in 1..5u64, deadline in 1..20u64, jitter in 0..=jitter,
        blocking in 0..3u64, priority in 0..4u32,
    ) -> Task {
        let execution = (period / share).clamp(1, period - 1);
        let task = Task::new("task", execution, period).deadline(deadline);
        task.jitter(jitter).blocking(blocking).priority(priority)
    }
}

/// A supply and the patterns of ticks that are its worst.
#[derive(Clone, Debug)]
pub struct Pattern {
    pub supply: Supply,
    /// Each a lead of ticks and a cycle of ticks.
    pub ticks: Vec<(Vec<bool>, Vec<bool>)>,
}

impl Pattern {
    /// Whether a pattern supplies a tick.
    pub fn on((lead, cycle): &(Vec<bool>, Vec<bool>), now: u64) -> bool {
        let now = now as usize;
        lead.get(now).copied().unwrap_or_else(|| cycle[(now - lead.len()) % cycle.len()])
    }
}

fn whole() -> Pattern {
    Pattern { supply: Supply::whole(), ticks: vec![(vec![], vec![true])] }
}

/// A server whose budget came at once and then comes as late as it can.
fn server(period: u64, budget: u64, response: u64) -> Pattern {
    let ticks = |count: u64, on| vec![on; count as usize];
    let lead = ticks(period - budget + response - budget, false);
    let cycle = [ticks(budget, true), ticks(period - budget, false)].concat();
    let supply = Supply::periodic_within(period, budget, response).unwrap();
    Pattern { supply, ticks: vec![(lead, cycle)] }
}

/// A frame of ticks, from each of its instants.
fn windows(frame: Vec<bool>) -> Pattern {
    let mut table: Vec<Window> = Vec::new();
    for (offset, _) in (0..).zip(&frame).filter(|(_, on)| **on) {
        match table.last_mut() {
            Some(last) if last.offset + last.duration == offset => last.duration += 1,
            _ => table.push(Window { offset, duration: 1 }),
        }
    }
    let supply = Supply::windows(frame.len() as u64, &table).unwrap();
    let from = |begin: usize| (vec![], [&frame[begin..], &frame[..begin]].concat());
    Pattern { supply, ticks: (0..frame.len()).map(from).collect() }
}

/// Whole CPUs, servers and windows.
pub fn pattern() -> impl Strategy<Value = Pattern> {
    let server = (2..7u64)
        .prop_flat_map(|period| (Just(period), 1..=period))
        .prop_flat_map(|(period, budget)| (Just(period), Just(budget), budget..=period))
        .prop_map(|(period, budget, response)| server(period, budget, response));
    let frame = prop::collection::vec(any::<bool>(), 1..8)
        .prop_filter("a window", |frame| frame.contains(&true));
    prop_oneof![Just(whole()), server, frame.prop_map(windows)]
}
