//! What each CPU has of its own.

use crate::context::{Regs, Trap};
use crate::hardware::Hardware;
use crate::paging::Tlb;
use crate::transactions::Transaction;
use corosensei::Yielder;
use corosensei::stack::DefaultStack;
use std::cell::{Cell, OnceCell};

/// Interrupts that go before one that waits, at most: more are a loop of the kernel's own.
const PASSED: u32 = 1_000;

/// What a CPU does while others go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stance {
    /// It has something to do at its instant.
    Goes,
    /// It computes or idles until its instant: an interrupt may come earlier.
    Free,
    /// It waits until a word is written.
    Spins {
        /// The word's address.
        word: usize,
        /// Since when it waits.
        since: u64,
    },
}

/// A CPU.
pub struct Processor {
    /// Which one.
    pub number: u32,
    /// The instant at which its timer interrupts.
    pub armed: Cell<Option<u64>>,
    /// The IRQs that come to it, a bit each.
    pub irqs: Cell<u32>,
    /// An interrupt that means nothing waits.
    pub spurious: Cell<bool>,
    /// Interrupts that went before it.
    passed: Cell<u32>,
    /// The instant at which another CPU's interrupt arrives.
    pub ipi_at: Cell<Option<u64>>,
    /// How often another CPU, or it itself, has interrupted it.
    pub ipis: Cell<u64>,
    /// The instant at which the console interrupts, if it does, and this is the first CPU.
    pub sent_at: Cell<Option<u64>>,
    /// The instant at which a device may interrupt, if any may, and this is the first CPU.
    pub device_at: Cell<Option<u64>>,
    /// How long that is waited for where nothing else comes.
    pub heeds_until: Cell<u64>,
    /// Translations of pages that programs have used.
    pub tlb: Tlb,
    /// Root of the page tables in use.
    pub root: Cell<u64>,
    /// The register file.
    pub regs: Cell<Regs>,
    /// Where the running thread stands: instruction and stack pointer.
    pub at: Cell<(u64, u64)>,
    /// What the running thread has stopped with.
    pub trap: Cell<Trap>,
    /// Whether a probe that resumes was refused.
    pub refused: Cell<bool>,
    /// The running coroutine's way out.
    pub yielder: Cell<*const Yielder<(), ()>>,
    /// Vector state of the running thread.
    pub vector: Cell<u64>,
    /// The thread pointer of the running thread.
    pub pointer: Cell<u64>,
    /// Accesses and counter reads, or units of the host's time, since the running thread went on or
    /// computed.
    pub patience: Cell<u32>,
    /// Whether the running thread has called `work` since it went on.
    pub worked: Cell<bool>,
    /// Whether it is in the kernel: its accesses are followed.
    pub inside: Cell<bool>,
    /// Whether the trace was on when it came in: its trace points record.
    pub records: Cell<bool>,
    /// The instant at which it goes on, while others do; the greatest: never.
    pub stand: Cell<u64>,
    /// Why it stands.
    pub stance: Cell<Stance>,
    /// The CPU's own way out, to where the next CPU is chosen.
    pub way_out: Cell<*const Yielder<(), ()>>,
    /// Its transaction.
    pub transaction: Transaction,
    /// Its section is to begin anew.
    pub gone_back: Cell<bool>,
    /// For sections that may be undone.
    pub stack: OnceCell<DefaultStack>,
    /// The address of its last access, if that was the read of an atomic.
    pub looked_at: Cell<usize>,
    /// When its section began, and whether this CPU had the lock before.
    pub section: Cell<(u64, bool)>,
}

impl Processor {
    /// A CPU that has done nothing.
    pub fn new(number: u32) -> Processor {
        Processor {
            number,
            armed: Cell::new(None),
            irqs: Cell::new(if number == 0 { u32::MAX } else { 0 }),
            spurious: Cell::new(false),
            passed: Cell::new(0),
            ipi_at: Cell::new(None),
            ipis: Cell::new(0),
            sent_at: Cell::new(None),
            device_at: Cell::new(None),
            heeds_until: Cell::new(0),
            tlb: Tlb::new(),
            root: Cell::new(0),
            regs: Cell::default(),
            at: Cell::default(),
            trap: Cell::default(),
            refused: Cell::new(false),
            yielder: Cell::new(std::ptr::null()),
            vector: Cell::new(0),
            pointer: Cell::new(0),
            patience: Cell::new(0),
            worked: Cell::new(false),
            inside: Cell::new(false),
            records: Cell::new(false),
            stand: Cell::new(0),
            stance: Cell::new(Stance::Goes),
            way_out: Cell::new(std::ptr::null()),
            transaction: Transaction::default(),
            gone_back: Cell::new(false),
            stack: OnceCell::new(),
            looked_at: Cell::new(0),
            section: Cell::default(),
        }
    }

    /// Loads page tables, which flushes the TLB.
    pub fn use_tables(&self, root: u64) {
        self.root.set(root);
        self.tlb.flush();
        if let Some(window) = &Hardware::current().window {
            window.flush(self.number);
        }
    }

    /// An interrupt is taken: the `last` one that this CPU takes if several wait, or another.
    ///
    /// # Panics
    /// The last one waits for ever.
    pub fn count_passed(&self, last: bool) {
        let passes = self.spurious.get() && !last;
        self.passed.set(if passes { self.passed.get() + 1 } else { 0 });
        let number = self.number;
        assert!(self.passed.get() < PASSED, "CPU {number} takes ever new interrupts before one");
    }

    /// The first instant at which an interrupt of its own is due.
    pub fn due(&self) -> Option<u64> {
        self.due_beside_devices().into_iter().chain(self.device_at.get()).min()
    }

    /// The same while it idles: where nothing else is due, devices are not waited for for ever.
    pub fn due_idle(&self) -> Option<u64> {
        let other = self.due_beside_devices();
        let heeds = |at: &u64| other.is_some() || *at <= self.heeds_until.get();
        other.into_iter().chain(self.device_at.get().filter(heeds)).min()
    }

    fn due_beside_devices(&self) -> Option<u64> {
        let instants = [self.armed.get(), self.ipi_at.get(), self.sent_at.get()];
        instants.into_iter().flatten().min()
    }
}
