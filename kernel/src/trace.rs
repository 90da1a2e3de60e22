//! The trace: events at the boundaries of the kernel's work, written into a ring that the
//! manifest names ([`abi::trace`], S2C-10). Writing never waits and never allocates.
//!
//! A kernel's paths exist twice where a port has a trace: entry code looks at [`Cpu::traced`]
//! once and picks the instance with or without trace points ([`Traced`]), so that points cost
//! nothing while the trace is off. Code that all kernels share, away from the message path, looks
//! at the same flag again.

use crate::access::Ref;
use crate::cpu::Cpu;
use crate::entry::{Entry, Guards};
use crate::kernel::Kernel;
use crate::object::Thread;
use crate::port::{Frame, Port};
use crate::system::System;
use abi::PAGE;
use abi::trace::{
    Event, HEADER_WORDS, Keep, NO_THREAD, PAGE_RECORDS, RECORD_WORDS, Record, Undone, Way,
};
use abi::trace::{
    MAGIC, WORD_CAPACITY, WORD_COST, WORD_CPU, WORD_CPUS, WORD_EVENTS, WORD_HZ, WORD_KEEP,
    WORD_KERNEL, WORD_MAGIC, WORD_START, WORD_TURN,
};
use cells::Cell;
use core::marker::PhantomData;
use core::sync::atomic::AtomicU64;
use core::sync::atomic::Ordering::{Relaxed, Release};
use locks::{Cause, Counts, Handoff, Kind, LockPolicy};

/// Words in a page.
const WORDS: usize = (PAGE / 8) as usize;
/// Records written at boot to learn what one costs, and again with the last of a page among them.
const TRIALS: usize = 16;

/// Where one CPU's records go.
pub struct Ring {
    /// Physical address of the memory; 0: there is none.
    at: Cell<u64>,
    pages: Cell<u64>,
    keep: Cell<Keep>,
    /// The header, and the page that is being filled; `None`: there is no room left.
    open: Cell<Option<[&'static Frame; 2]>>,
    /// Its number, from 1, since the header is the memory's first.
    number: Cell<u64>,
    /// The word of it that comes next.
    next: Cell<usize>,
    /// The events that are wanted.
    wanted: Cell<u64>,
    /// The same while the trace is on, else 0.
    mask: Cell<u64>,
    /// Aborts by cause that records tell of; this CPU's alone.
    told: [AtomicU64; Cause::ALL.len()],
}

impl Ring {
    /// No ring.
    pub const fn new() -> Ring {
        Ring {
            at: Cell::new(0),
            pages: Cell::new(0),
            keep: Cell::new(Keep::First),
            open: Cell::new(None),
            number: Cell::new(0),
            next: Cell::new(0),
            wanted: Cell::new(0),
            mask: Cell::new(0),
            told: [const { AtomicU64::new(0) }; Cause::ALL.len()],
        }
    }

    /// Whether there is one.
    pub fn exists(&self) -> bool {
        self.at.get() != 0
    }

    /// Whether events of a kind are written now.
    pub fn wants(&self, event: Event) -> bool {
        self.mask.get() & event.bit() != 0
    }

    /// Begins to fill a page, or the first again, or none.
    #[cold]
    #[inline(never)]
    fn turn_to<P: Port>(&self, port: &P, number: u64) {
        let number = match self.keep.get() {
            Keep::Last if number == self.pages.get() => 1,
            _ => number,
        };
        self.number.set(number);
        self.next.set(0);
        let exists = number < self.pages.get();
        let frame = |number| port.frame(self.at.get() + number * PAGE);
        self.open.set(exists.then(|| [frame(0), frame(number)]));
    }

    /// Counts an event for which there is no room.
    #[cold]
    #[inline(never)]
    fn lose<P: Port>(&self, port: &P) {
        count(port, port.frame(self.at.get()));
    }

    /// Counts an event and writes its record, if there is room or the oldest may go.
    #[inline(always)]
    fn write<P: Port>(&self, port: &P, [low, high]: [u64; RECORD_WORDS]) {
        let Some([header, page]) = self.open.get() else { return self.lose(port) };
        // Never beyond the page: the mask saves the check.
        let at = self.next.get() & (WORDS - RECORD_WORDS);
        let words = [&page[at], &page[at + 1]];
        words.into_iter().for_each(|word| port.overwrites(word));
        words[0].store(low, Relaxed);
        words[1].store(high, Relaxed);
        self.next.set(at + RECORD_WORDS);
        count(port, header);
        if at == WORDS - RECORD_WORDS {
            // The last thing, so that the usual way needs no stack.
            self.turn_to(port, self.number.get() + 1);
        }
    }
}

impl Default for Ring {
    fn default() -> Self {
        Ring::new()
    }
}

/// Counts an event, after its record: whoever sees the count sees the record.
#[inline(always)]
fn count<P: Port>(port: &P, header: &Frame) {
    port.overwrites(&header[WORD_EVENTS]);
    let events = header[WORD_EVENTS].load(Relaxed);
    header[WORD_EVENTS].store(events.wrapping_add(1), Release);
}

/// A thread as records name it: by the low half of its index.
#[inline(always)]
pub fn number<P: Port>(thread: Ref<Thread<P>>) -> u16 {
    thread.index() as u16
}

impl<P: Port> Cpu<P> {
    /// Begins this CPU's trace in a memory of this many pages at a physical address, which all CPUs
    /// share evenly.
    pub fn begin_trace(
        &self,
        kernel: &Kernel<P>,
        [memory, all]: [u64; 2],
        keep: Keep,
        events: u64,
    ) {
        let cpus = kernel.cpus.get().len() as u64;
        let pages = all / cpus;
        assert!(pages > 1, "the trace's memory has no room for records of each CPU");
        let at = memory + u64::from(self.number) * pages * PAGE;
        let (ring, port) = (&self.ring, self.port());
        let header = port.frame(at);
        ring.at.set(at);
        ring.pages.set(pages);
        ring.keep.set(keep);
        ring.wanted.set(events);
        let [cost, turn] = self.costs_of_records();
        let (hz, start) = port.counter();
        let [low, high] = kernel.variant.name;
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

    #[inline(always)]
    fn write_at(&self, time: impl FnOnce() -> u64, thread: u16, second: u64) {
        // Bits of the second word from 8 on are the event's number, which is below 64.
        if self.ring.mask.get() >> (second >> 8 & 63) & 1 != 0 {
            let second = if P::SMP { second | u64::from(self.number) } else { second };
            self.ring.write(self.port(), [time() << 16 | u64::from(thread), second]);
        }
    }

    /// Writes down the aborts that no record tells of yet, by cause.
    fn tell_undone(&self, counts: &Counts) {
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
    fn write_late(&self, time: u64, thread: u16, second: u64) {
        self.write_at(|| time, thread, second);
    }

    /// This CPU as records about its ready queue name it.
    #[inline(always)]
    pub(crate) fn queue_number(&self) -> u32 {
        if P::SMP { self.number } else { 0 }
    }

    /// A trace point in code that all kernels share.
    #[inline(always)]
    pub fn note(&self, event: Event, thread: Ref<Thread<P>>, argument: u32, extra: u16) {
        if P::TRACE & event.bit() != 0 && self.traced.get() {
            self.write(number(thread), second(event, argument, extra));
        }
    }

    /// [`Cpu::note`] of an event without a thread.
    #[inline(always)]
    pub fn note_nobody(&self, event: Event, argument: u32, extra: u16) {
        if P::TRACE & event.bit() != 0 && self.traced.get() {
            self.write(NO_THREAD, second(event, argument, extra));
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
const fn second(event: Event, argument: u32, extra: u16) -> u64 {
    Record { time: 0, thread: 0, argument, extra, event, cpu: 0 }.words()[1]
}

impl<S: System> Entry<S> {
    /// A trace point on a path of its own in each kernel.
    #[inline(always)]
    pub fn note(&self, event: Event, thread: Ref<Thread<S::Port>>, argument: u32, extra: u16) {
        if S::TRACED && S::Port::TRACE & event.bit() != 0 {
            self.cpu.write(number(thread), second(event, argument, extra));
        }
    }

    /// When the kernel's lock is asked for, for [`Entry::locked`].
    #[inline(always)]
    pub(crate) fn asks(port: &S::Port) -> u64 {
        if S::TRACED && S::Port::SMP { port.stamp() } else { 0 }
    }

    /// The lock, which was asked for at this instant, is this CPU's.
    #[inline(always)]
    pub(crate) fn locked(&self, asked: u64, handoff: Handoff, kind: Kind) {
        if S::TRACED && S::Port::SMP && S::Port::TRACE & Event::Lock.bit() != 0 {
            let now = self.kernel.port.stamp();
            let waited = if handoff.waited() { now - asked } else { 0 };
            let waited = u32::try_from(waited).unwrap_or(u32::MAX);
            let extra = self.way(kind).extra(handoff.last_owner().map(|cpu| cpu as u8));
            self.cpu.write_late(now, NO_THREAD, second(Event::Lock, waited, extra));
        }
    }

    /// How a section of this kind has the lock now.
    fn way(&self, kind: Kind) -> Way {
        let speculates = Guards::<S>::SPECULATIVE;
        match kind {
            _ if speculates && Guards::<S>::is_speculating(&self.cpu.guards) => Way::Transaction,
            Kind::Writer => Way::Alone,
            Kind::Reader if speculates => Way::FallBack,
            Kind::Reader if Guards::<S>::EXCLUSIVE => Way::Alone,
            Kind::Reader => Way::Reader,
        }
    }

    /// The lock is going to be released.
    #[inline(always)]
    pub(crate) fn unlocks(&self) {
        if S::TRACED && S::Port::SMP && S::Port::TRACE & Event::Unlock.bit() != 0 {
            self.cpu.write(NO_THREAD, second(Event::Unlock, 0, 0));
        }
    }

    /// The section is over: tells what was undone before it came to that.
    #[inline(always)]
    pub(crate) fn was_undone(&self) {
        if S::TRACED && Guards::<S>::SPECULATIVE && S::Port::TRACE & Event::Undone.bit() != 0 {
            Guards::<S>::counts(&self.cpu.guards)
                .into_iter()
                .for_each(|counts| self.cpu.tell_undone(counts));
        }
    }

    /// When a fast path is tried, for [`Entry::entered_at`].
    #[inline(always)]
    pub fn attempt(&self) -> u64 {
        if S::TRACED { self.kernel.port.stamp() } else { 0 }
    }

    /// A fast path that was tried at this instant does the call `code` of `me`.
    #[inline(always)]
    pub fn entered_at(&self, time: u64, me: Ref<Thread<S::Port>>, code: u8) {
        if S::TRACED && S::Port::TRACE & Event::Enter.bit() != 0 {
            self.cpu.write_late(time, number(me), second(Event::Enter, u32::from(code), 0));
        }
    }
}

/// The kernel `S` with its trace points.
pub struct Traced<S>(PhantomData<S>);

impl<S: System> System for Traced<S> {
    const NAME: &'static str = S::NAME;
    const FAST_PATH: bool = S::FAST_PATH;
    const TRACED: bool = true;
    type Port = S::Port;
    type Scheduling = S::Scheduling;
    type Switching = S::Switching;
    type Queueing = S::Queueing;
    type SendQueue = S::SendQueue;
    type Observed = Traced<S>;
}

// The header takes one page, on which `turn_to` relies, and numbers of events fit into a mask.
const _: () = assert!(HEADER_WORDS == WORDS && Event::ALL.len() < 64);
