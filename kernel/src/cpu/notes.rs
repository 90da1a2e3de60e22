//! Trace points: events at the boundaries of the kernel's work (S2C-10).
//!
//! A kernel's paths exist twice where a port has a trace: entry code looks at [`Cpu::traced`] once
//! and picks the instance with or without trace points ([`Notes`]), so that points cost nothing
//! while the trace is off. Code that all kernels share, away from the message path, looks at the
//! same flag again. A port whose speed matters less than its size has the instance with trace
//! points alone, and points ask it whether they record ([`Port::records`]).

use super::Cpu;
use crate::access::Ref;
use crate::object::Thread;
use crate::port::Port;
use abi::trace::{
    Event, Keep, MAGIC, NO_THREAD, PAGE_RECORDS, RECORD_WORDS, Record, Undone, WORD_CAPACITY,
    WORD_COST, WORD_CPU, WORD_CPUS, WORD_EVENTS, WORD_HZ, WORD_KEEP, WORD_KERNEL, WORD_MAGIC,
    WORD_START, WORD_TURN,
};
use core::sync::atomic::Ordering::Relaxed;
use locks::{Cause, Counts};

/// Records written at boot to learn what one costs, and again with the last of a page among them.
const TRIALS: usize = 16;

/// A thread as records name it: by the low half of its index.
#[inline(always)]
pub fn number<P: Port>(thread: Ref<Thread<P>>) -> u16 {
    thread.index() as u16
}

/// Whether a path has trace points.
pub trait Notes: 'static {
    /// Whether it has.
    const ON: bool;
}

/// A path without trace points.
pub struct Quiet;

impl Notes for Quiet {
    const ON: bool = false;
}

/// The same path with its trace points.
pub struct Recorded;

impl Notes for Recorded {
    const ON: bool = true;
}

impl<P: Port> Cpu<P> {
    /// Begins this CPU's trace in a memory of this many pages at a physical address, which all CPUs
    /// share evenly.
    pub fn begin_trace(
        &self,
        name: [u64; 2],
        cpus: u64,
        [memory, all]: [u64; 2],
        keep: Keep,
        events: u64,
    ) {
        let pages = all / cpus;
        assert!(pages > 1, "the trace's memory has no room for records of each CPU");
        let at = memory + u64::from(self.number) * pages * P::PAGE;
        let (ring, port) = (&self.ring, self.port());
        let header = port.frame(at);
        ring.at.set(at);
        ring.pages.set(pages);
        ring.keep.set(keep);
        ring.wanted.set(events);
        let [cost, turn] = self.costs_of_records();
        let (hz, start) = port.counter();
        let [low, high] = name;
        for (index, value) in [
            (WORD_KERNEL, low),
            (WORD_KERNEL + 1, high),
            (WORD_CAPACITY, (pages - 1) * PAGE_RECORDS as u64),
            (WORD_EVENTS, 0),
            (WORD_HZ, hz),
            (WORD_START, start),
            (WORD_CPU, self.number.into()),
            (WORD_CPUS, cpus),
            (WORD_KEEP, keep as u64),
            (WORD_COST, cost),
            (WORD_TURN, turn),
            (WORD_MAGIC, MAGIC),
        ] {
            header[index].store(value, Relaxed);
        }
        ring.turn_to(port, 1);
        self.trace(true);
    }

    /// Writes some records to see what one costs, and what more if it fills a page; they do not
    /// count.
    fn costs_of_records(&self) -> [u64; 2] {
        self.ring.mask.set(Event::EVERY);
        let [plain, turning] = [0, PAGE_RECORDS - TRIALS].map(|first| {
            self.ring.turn_to(self.port(), 1);
            self.ring.next.set(first * RECORD_WORDS);
            let before = self.port().stamp();
            for _ in 0..TRIALS {
                self.write(NO_THREAD, second(Event::Mark, 0, 0));
            }
            self.port().stamp() - before
        });
        [plain / TRIALS as u64, turning.saturating_sub(plain)]
    }

    /// Starts the trace, or stops it; from the next entry on, or at once.
    pub fn trace(&self, on: bool) {
        self.traced.set(on);
        self.ring.mask.set(if on { self.ring.wanted.get() } else { 0 });
    }

    /// Writes an event down, if it is wanted. `second` is the record's second word.
    #[inline(never)]
    pub fn write(&self, thread: u16, second: u64) {
        self.write_at(|| self.port().stamp(), thread, second);
    }

    /// [`Cpu::write`] at a point of a path that has some, if these record. It asks here, away from
    /// the path, whose size decides what the compiler makes of the instance without points.
    #[inline(never)]
    fn write_if_on(&self, thread: u16, second: u64) {
        if self.port().records() {
            self.write_at(|| self.port().stamp(), thread, second);
        }
    }

    #[inline(always)]
    fn write_at(&self, time: impl FnOnce() -> u64, thread: u16, second: u64) {
        // Bits of the second word from 8 on are the event's number, which is below 64.
        if self.ring.mask.get() >> (second >> 8 & 63) & 1 != 0 {
            let second = if P::SMP { second | u64::from(self.number) } else { second };
            self.ring.write(self.port(), [time() << 16 | u64::from(thread), second]);
        }
    }

    /// Writes down the aborts that no record tells of yet, by cause.
    pub(crate) fn tell_undone(&self, counts: &Counts) {
        for (cause, told) in Cause::ALL.into_iter().zip(&self.ring.told) {
            let times = counts.aborts(cause);
            let more = times - told.load(Relaxed);
            if more > 0 {
                told.store(times, Relaxed);
                let more = u32::try_from(more).unwrap_or(u32::MAX);
                self.write(NO_THREAD, second(Event::Undone, more, reason(cause) as u16));
            }
        }
    }

    /// [`Cpu::write`] of what was at an earlier instant.
    #[inline(never)]
    pub(crate) fn write_late(&self, time: u64, thread: u16, second: u64) {
        self.write_at(|| time, thread, second);
    }

    /// This CPU as records about its ready queue name it.
    #[inline(always)]
    pub(crate) fn queue_number(&self) -> u32 {
        if P::SMP { self.number } else { 0 }
    }

    /// A trace point on a path of its own in each kernel.
    #[inline(always)]
    pub fn note_if<N: Notes>(
        &self,
        event: Event,
        thread: Ref<Thread<P>>,
        argument: u32,
        extra: u16,
    ) {
        if N::ON && P::TRACE & event.bit() != 0 {
            self.write_if_on(number(thread), second(event, argument, extra));
        }
    }

    /// Whether [`Cpu::note`] does anything: where finding out what it says takes time.
    #[inline(always)]
    pub fn notes(&self, event: Event) -> bool {
        P::TRACE & event.bit() != 0 && self.traced.get()
    }

    /// A trace point in code that all kernels share.
    #[inline(always)]
    pub fn note(&self, event: Event, thread: Ref<Thread<P>>, argument: u32, extra: u16) {
        if self.notes(event) {
            self.write(number(thread), second(event, argument, extra));
        }
    }

    /// [`Cpu::note`] of an event without a thread.
    #[inline(always)]
    pub fn note_event(&self, event: Event, argument: u32, extra: u16) {
        self.note_of(NO_THREAD, event, argument, extra);
    }

    /// [`Cpu::note`] of what has this index.
    #[inline(always)]
    pub fn note_of(&self, index: u16, event: Event, argument: u32, extra: u16) {
        if P::TRACE & event.bit() != 0 && self.traced.get() {
            self.write(index, second(event, argument, extra));
        }
    }
}

/// A cause, as records name it.
fn reason(cause: Cause) -> Undone {
    match cause {
        Cause::Conflict => Undone::Conflict,
        Cause::Capacity => Undone::Capacity,
        Cause::LockHeld => Undone::LockHeld,
        Cause::Unexplained => Undone::Unexplained,
        Cause::Other => Undone::Other,
    }
}

/// The second word of a record, but for the CPU.
#[inline(always)]
pub(crate) const fn second(event: Event, argument: u32, extra: u16) -> u64 {
    Record { time: 0, thread: 0, argument, extra, event, cpu: 0 }.words()[1]
}
