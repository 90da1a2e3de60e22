//! Virtual time, and the log of steps. One for each host thread: a step has no `self`.

use crate::costs::{Costs, EntryCost};
use kernel::cost::CostEvent;
use kernel::statistics::Statistics;
use std::cell::{Cell, RefCell};
use std::thread_local;

/// What a host thread's machine has done.
pub struct Meter {
    time: Cell<u64>,
    /// When the last interrupt came.
    arrival: Cell<u64>,
    events: Cell<u64>,
    entries: [Cell<u32>; EntryCost::KINDS],
    steps: [Cell<u32>; CostEvent::KINDS],
    /// How often each kind of entry and step occurred.
    counts: [Cell<u64>; EntryCost::KINDS + CostEvent::KINDS],
    /// Of each CPU.
    statistics: RefCell<Vec<Statistics>>,
    /// The CPU that runs.
    cpu: Cell<u32>,
    logging: Cell<bool>,
    log: RefCell<Vec<CostEvent>>,
}

thread_local! {
    /// The host thread's meter.
    static METER: Meter = const {
        Meter {
            time: Cell::new(0),
            arrival: Cell::new(0),
            events: Cell::new(0),
            entries: [const { Cell::new(0) }; EntryCost::KINDS],
            steps: [const { Cell::new(0) }; CostEvent::KINDS],
            counts: [const { Cell::new(0) }; EntryCost::KINDS + CostEvent::KINDS],
            statistics: RefCell::new(Vec::new()),
            cpu: Cell::new(0),
            logging: Cell::new(false),
            log: RefCell::new(Vec::new()),
        }
    };
}

/// Starts at instant 0 with so many CPUs and these costs.
pub fn reset(cpus: u32, costs: &Costs, logging: bool) {
    METER.with(|meter| {
        meter.time.set(0);
        meter.events.set(0);
        meter.entries.iter().zip(costs.entries).for_each(|(cell, cost)| cell.set(cost));
        meter.steps.iter().zip(costs.steps).for_each(|(cell, cost)| cell.set(cost));
        meter.counts.iter().for_each(|count| count.set(0));
        meter.statistics.replace((0..cpus).map(|_| Statistics::new()).collect());
        meter.cpu.set(0);
        meter.logging.set(logging);
        meter.log.borrow_mut().clear();
    });
}

/// The instant on the CPU that runs.
#[inline]
pub fn now() -> u64 {
    METER.with(|meter| meter.time.get())
}

/// This CPU goes on, at this instant.
#[inline]
pub fn go_on(cpu: u32, instant: u64) {
    METER.with(|meter| {
        meter.time.set(instant);
        meter.cpu.set(cpu);
    });
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

/// Charges an interrupt, which comes now.
pub fn interrupt() {
    METER.with(|meter| meter.arrival.set(meter.time.get()));
    enter(EntryCost::Interrupt);
}

/// When the last interrupt came.
pub fn arrival() -> u64 {
    METER.with(|meter| meter.arrival.get())
}

/// Charges an entry into the kernel.
#[inline]
pub fn enter(entry: EntryCost) {
    METER.with(|meter| {
        let kind = entry as usize;
        meter.time.set(meter.time.get() + u64::from(meter.entries[kind].get()));
        meter.events.set(meter.events.get() + 1);
        meter.counts[kind].set(meter.counts[kind].get() + 1);
    });
}

/// A step is taken, and counts for a CPU. What is known of it where it is taken is known here, too.
#[inline(always)]
pub fn cost_at(cpu: u32, step: CostEvent) {
    let meter = here();
    meter.charge(step);
    meter.count(cpu, step);
}

/// The host thread's meter.
#[inline(always)]
fn here() -> &'static Meter {
    // SAFETY: the thread's own meter, which outlives the functions of this file.
    METER.with(|meter| unsafe { &*std::ptr::from_ref(meter) })
}

/// Charges a step that may be undone.
pub fn charge(step: CostEvent) {
    METER.with(|meter| meter.charge(step));
}

/// Counts a step that was charged.
pub fn count(cpu: u32, step: CostEvent) {
    METER.with(|meter| meter.count(cpu, step));
}

/// The CPU that takes steps.
#[inline(always)]
pub fn cpu() -> u32 {
    here().cpu.get()
}

#[inline(always)]
fn times(step: CostEvent) -> u64 {
    if let CostEvent::Copy(words) = step { u64::from(words) } else { 1 }
}

impl Meter {
    #[inline(always)]
    fn charge(&self, step: CostEvent) {
        let cost = u64::from(self.steps[step.kind()].get());
        self.time.set(self.time.get() + times(step) * cost);
    }

    /// Counts a step for a CPU, and writes it down.
    #[inline(always)]
    fn count(&self, cpu: u32, step: CostEvent) {
        let count = &self.counts[EntryCost::KINDS + step.kind()];
        count.set(count.get() + times(step));
        self.statistics.borrow()[cpu as usize].step(cpu, step, || self.time.get());
        if !step.is_remark() {
            self.events.set(self.events.get() + 1);
        }
        if self.logging.get() {
            write(self, step);
        }
    }
}

#[cold]
fn write(meter: &Meter, step: CostEvent) {
    meter.log.borrow_mut().push(step);
}

/// Kernel events so far: entries, switches, look-ups, queue operations, comparisons, messages and
/// results.
pub fn events() -> u64 {
    METER.with(|meter| meter.events.get())
}

/// Looks at the statistics of a CPU.
pub fn statistics<R>(cpu: u32, look: impl FnOnce(&Statistics) -> R) -> R {
    METER.with(|meter| look(&meter.statistics.borrow()[cpu as usize]))
}

/// How often each kind of entry occurred, then each kind of step.
pub fn counts() -> [u64; EntryCost::KINDS + CostEvent::KINDS] {
    METER.with(|meter| std::array::from_fn(|kind| meter.counts[kind].get()))
}

/// Takes the log.
pub fn log() -> Vec<CostEvent> {
    METER.with(|meter| meter.log.take())
}
