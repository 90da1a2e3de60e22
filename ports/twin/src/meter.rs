//! Virtual time, and the log of steps. One for each host thread: a step has no `self`.

use crate::costs::{Costs, Entry};
use kernel::statistics::Statistics;
use kernel::step::Step;
use std::cell::{Cell, RefCell};
use std::thread_local;

/// What a host thread's machine has done.
pub struct Meter {
    time: Cell<u64>,
    events: Cell<u64>,
    entries: [Cell<u32>; Entry::KINDS],
    steps: [Cell<u32>; Step::KINDS],
    /// How often each kind of entry and step occurred.
    counts: [Cell<u64>; Entry::KINDS + Step::KINDS],
    statistics: RefCell<Statistics>,
    logging: Cell<bool>,
    log: RefCell<Vec<Step>>,
}

thread_local! {
    /// The host thread's meter.
    static METER: Meter = const {
        Meter {
            time: Cell::new(0),
            events: Cell::new(0),
            entries: [const { Cell::new(0) }; Entry::KINDS],
            steps: [const { Cell::new(0) }; Step::KINDS],
            counts: [const { Cell::new(0) }; Entry::KINDS + Step::KINDS],
            statistics: RefCell::new(Statistics::new()),
            logging: Cell::new(false),
            log: RefCell::new(Vec::new()),
        }
    };
}

/// Starts at instant 0 with these costs.
pub fn reset(costs: &Costs, logging: bool) {
    METER.with(|meter| {
        meter.time.set(0);
        meter.events.set(0);
        meter.entries.iter().zip(costs.entries).for_each(|(cell, cost)| cell.set(cost));
        meter.steps.iter().zip(costs.steps).for_each(|(cell, cost)| cell.set(cost));
        meter.counts.iter().for_each(|count| count.set(0));
        meter.statistics.replace(Statistics::new());
        meter.logging.set(logging);
        meter.log.borrow_mut().clear();
    });
}

/// The instant on the CPU that runs.
#[inline]
pub fn now() -> u64 {
    METER.with(|meter| meter.time.get())
}

/// Another CPU goes on, at this instant.
#[inline]
pub fn set(instant: u64) {
    METER.with(|meter| meter.time.set(instant));
}

/// Lets time pass.
#[inline]
pub fn pass(by: u64) {
    METER.with(|meter| meter.time.set(meter.time.get() + by));
}

/// Lets time pass up to an instant, if it is not past.
pub fn pass_to(instant: u64) {
    METER.with(|meter| meter.time.set(meter.time.get().max(instant)));
}

/// Charges an entry into the kernel.
#[inline]
pub fn enter(entry: Entry) {
    METER.with(|meter| {
        let kind = entry as usize;
        meter.time.set(meter.time.get() + u64::from(meter.entries[kind].get()));
        meter.events.set(meter.events.get() + 1);
        meter.counts[kind].set(meter.counts[kind].get() + 1);
    });
}

/// A step is taken. What is known of it where it is taken is known here, too.
#[inline(always)]
pub fn step(step: Step) {
    // SAFETY: the thread's own meter, which outlives this function.
    let meter = METER.with(|meter| unsafe { &*std::ptr::from_ref(meter) });
    meter.charge(step);
    meter.count(step);
}

/// Charges a step that may be undone.
pub fn charge(step: Step) {
    METER.with(|meter| meter.charge(step));
}

/// Counts a step that was charged.
pub fn count(step: Step) {
    METER.with(|meter| meter.count(step));
}

#[inline(always)]
fn times(step: Step) -> u64 {
    if let Step::Copy(words) = step { u64::from(words) } else { 1 }
}

impl Meter {
    #[inline(always)]
    fn charge(&self, step: Step) {
        let cost = u64::from(self.steps[step.kind()].get());
        self.time.set(self.time.get() + times(step) * cost);
    }

    /// Counts a step, and writes it down.
    #[inline(always)]
    fn count(&self, step: Step) {
        let count = &self.counts[Entry::KINDS + step.kind()];
        count.set(count.get() + times(step));
        self.statistics.borrow().step(step);
        if !step.is_remark() {
            self.events.set(self.events.get() + 1);
        }
        if self.logging.get() {
            write(self, step);
        }
    }
}

#[cold]
fn write(meter: &Meter, step: Step) {
    meter.log.borrow_mut().push(step);
}

/// Kernel events so far: entries, switches, look-ups, queue operations, comparisons, messages and
/// results.
pub fn events() -> u64 {
    METER.with(|meter| meter.events.get())
}

/// Looks at the statistics.
pub fn statistics<R>(look: impl FnOnce(&Statistics) -> R) -> R {
    METER.with(|meter| look(&meter.statistics.borrow()))
}

/// How often each kind of entry occurred, then each kind of step.
pub fn counts() -> [u64; Entry::KINDS + Step::KINDS] {
    METER.with(|meter| std::array::from_fn(|kind| meter.counts[kind].get()))
}

/// Takes the log.
pub fn log() -> Vec<Step> {
    METER.with(|meter| meter.log.take())
}
