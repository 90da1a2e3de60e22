//! Statistics of the interaction with programs (S0-34), counted from the kernel's cost
//! [events](CostEvent).
//!
//! A port that wants them hands each step to [`Statistics::step`]; one that does not has none of
//! this in its image.

use crate::cost::{CostEvent, Queue};
use abi::statistics::{Counter, LENGTHS, TIMED};
use core::cell::Cell;
use locks::{Cause, Counts, Handoff};

/// The counters of one CPU.
pub struct Statistics {
    counters: [Cell<u64>; Counter::ALL.len()],
    lengths: [Cell<u64>; LENGTHS],
    /// Threads in the ready queue now.
    length: Cell<u32>,
    /// The thread that the CPU went over to last.
    current: Cell<u32>,
    /// The same, until it blocks; 0: none.
    running: Cell<u32>,
    /// The running thread has left the ready queue within this entry: it may change its place.
    moves: Cell<bool>,
    /// When the counters began.
    since: Cell<u64>,
    /// Steps of the counter that programs read, by the thread that the CPU had gone over to.
    times: [Cell<u64>; TIMED],
    /// What the counter was when the CPU went over to the current one.
    switched: Cell<u64>,
}

impl Default for Statistics {
    fn default() -> Self {
        Statistics::new()
    }
}

impl Statistics {
    /// Counters at zero, before the first step of a kernel.
    pub const fn new() -> Statistics {
        Statistics {
            counters: [const { Cell::new(0) }; Counter::ALL.len()],
            lengths: [const { Cell::new(0) }; LENGTHS],
            length: Cell::new(0),
            current: Cell::new(0),
            running: Cell::new(0),
            moves: Cell::new(false),
            since: Cell::new(0),
            times: [const { Cell::new(0) }; TIMED],
            switched: Cell::new(0),
        }
    }

    /// Counts from now on, also what the CPU's lock counts; `stamp` is the counter now.
    pub fn reset(&self, now: u64, stamp: u64, lock: Option<&Counts>) {
        let counters = self.counters.iter().chain(&self.lengths).chain(&self.times);
        counters.for_each(|counter| counter.set(0));
        self.switched.set(stamp);
        self.since.set(now);
        for counter in Counter::ALL {
            self.counters[counter as usize].set(of_lock(counter, lock).unwrap_or(0));
        }
    }

    /// A counter at an instant, some of which the CPU's lock keeps.
    pub fn counter(&self, counter: Counter, now: u64, lock: Option<&Counts>) -> u64 {
        let counted = self.counters[counter as usize].get();
        match of_lock(counter, lock) {
            _ if counter == Counter::Time => now - self.since.get(),
            // Before the counters began it was as much.
            Some(all) => all - counted,
            None => counted,
        }
    }

    /// How often the ready queue had this length; `None`: such lengths are not told apart.
    pub fn length(&self, length: usize) -> Option<u64> {
        self.lengths.get(length).map(Cell::get)
    }

    /// How long this CPU has run a thread, also the present stretch; `None`: it is not counted.
    pub fn time(&self, thread: u32, stamp: u64) -> Option<u64> {
        // What a CPU did before its first switch is charged to no thread.
        let runs = self.current.get() == thread && self.switched.get() != 0;
        let now = if runs { stamp.saturating_sub(self.switched.get()) } else { 0 };
        Some(self.times.get(thread as usize)?.get() + now)
    }

    /// A thread is created: its place has another one's time.
    pub fn begin_thread(&self, thread: u32) {
        if let Some(time) = self.times.get(thread as usize) {
            time.set(0);
        }
    }

    /// The CPU goes over from a thread to another.
    fn charge(&self, thread: u32, stamp: u64) {
        let since = match self.switched.replace(stamp) {
            // Boot is charged to no thread.
            0 => stamp,
            since => since,
        };
        if let Some(time) = self.times.get(thread as usize) {
            time.set(time.get() + stamp.saturating_sub(since));
        }
    }

    fn count(&self, counter: Counter) {
        let cell = &self.counters[counter as usize];
        cell.set(cell.get() + 1);
    }

    fn lock(&self, cpu: u32, handoff: Handoff) {
        self.count(Counter::Locked);
        if handoff.waited() {
            self.count(Counter::LockWaits);
        }
        match handoff.last_owner() {
            None => {}
            Some(last) if last == cpu as usize => self.count(Counter::LockAgain),
            Some(_) => self.count(Counter::LockHanded),
        }
    }

    /// The ready queue is about to be used.
    fn sample(&self) {
        let place = &self.lengths[(self.length.get() as usize).min(LENGTHS - 1)];
        place.set(place.get() + 1);
    }

    /// Counts a step of this CPU; `stamp` reads the counter.
    #[inline]
    pub fn step(&self, cpu: u32, step: CostEvent, stamp: impl FnOnce() -> u64) {
        match step {
            CostEvent::Enter => self.moves.set(false),
            CostEvent::Search => {
                self.sample();
                self.count(Counter::LookUps);
            }
            CostEvent::Unlink(Queue::Ready, thread) => {
                self.sample();
                self.length.set(self.length.get() - 1);
                self.moves.set(self.moves.get() || thread == self.running.get());
            }
            CostEvent::Link(Queue::Ready, thread) => {
                self.sample();
                self.count(Counter::Actual);
                self.length.set(self.length.get() + 1);
                if thread == self.running.get() && !self.moves.get() {
                    self.count(Counter::DeferredEnqueues);
                }
            }
            CostEvent::Block(thread) => {
                self.count(Counter::Eager);
                if thread == self.running.get() {
                    self.running.set(0);
                }
            }
            CostEvent::Lock(handoff) => self.lock(cpu, handoff),
            CostEvent::LazyDequeue => self.count(Counter::DeferredDequeues),
            CostEvent::Message(..) => self.count(Counter::Messages),
            CostEvent::Queued(length) => {
                self.count(Counter::QueuedMessages);
                let longest = &self.counters[Counter::LongestQueue as usize];
                longest.set(longest.get().max(u64::from(length)));
            }
            CostEvent::Switch(thread) => {
                self.running.set(thread);
                self.charge(self.current.get(), stamp());
                if self.current.replace(thread) != 0 && thread != 0 {
                    self.count(Counter::Switches);
                }
            }
            _ => {}
        }
    }
}

/// A counter that the lock keeps.
fn of_lock(counter: Counter, lock: Option<&Counts>) -> Option<u64> {
    let lock = lock?;
    Some(match counter {
        Counter::Commits => lock.commits(),
        Counter::FallBacks => lock.fall_backs(),
        Counter::UndoneConflict => lock.aborts(Cause::Conflict),
        Counter::UndoneCapacity => lock.aborts(Cause::Capacity),
        Counter::UndoneLockHeld => lock.aborts(Cause::LockHeld),
        Counter::UndoneUnexplained => lock.aborts(Cause::Unexplained),
        Counter::UndoneOther => lock.aborts(Cause::Other),
        _ => return None,
    })
}
