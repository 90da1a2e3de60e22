//! Transactions, as a processor has them: the lines that a section has read and written are
//! followed, and another CPU that touches them undoes it.
//!
//! A processor goes back to where the transaction began. Here the section runs on a stack of its
//! own, which is thrown away; it begins anew, and `begin` comes back with the aborts so far.

use crate::hardware::Hardware;
use crate::lines::LINE;
use crate::meter;
use cells::{Access, Kind};
use kernel::cost::CostEvent;
use kernel::locks::{Abort, Attempt, Transactions};
use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU64, Ordering};

/// Lines that a transaction can write.
const WRITES: usize = 512;
/// Lines that a transaction can read.
const READS: usize = 4096;

/// What no transaction survives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refused {
    /// The timer was armed.
    Arm,
    /// An IRQ was unmasked or masked.
    Line,
    /// Pending interrupts were asked for.
    Pending,
    /// The console was read or written.
    Console,
    /// Another CPU was interrupted.
    Ipi,
    /// A page table was changed or loaded.
    Tables,
    /// A coroutine of a thread was given up.
    Forget,
    /// The run was ended.
    Shutdown,
    /// Another CPU was waited for.
    Wait,
}

impl Refused {
    /// All of them.
    pub const ALL: [Refused; 9] = [
        Refused::Arm,
        Refused::Line,
        Refused::Pending,
        Refused::Console,
        Refused::Ipi,
        Refused::Tables,
        Refused::Forget,
        Refused::Shutdown,
        Refused::Wait,
    ];
}

/// A CPU's transaction.
#[derive(Default)]
pub struct Transaction {
    active: Cell<bool>,
    reads: RefCell<BTreeSet<usize>>,
    writes: RefCell<BTreeSet<usize>>,
    /// What was where before it was written, oldest first.
    before: RefCell<Vec<(*mut u8, Vec<u8>)>>,
    /// Steps that were taken if it commits, and the CPU for which each counts.
    steps: RefCell<Vec<(u32, CostEvent)>>,
    /// Another CPU has undone it.
    doomed: Cell<Option<Abort>>,
    /// Why this section's attempts were undone, and how many of them `begin` has told.
    history: RefCell<Vec<Abort>>,
    told: Cell<usize>,
    /// How many of them it has told at least once.
    known: Cell<usize>,
    /// Whether the last that it has told was among those before.
    again: Cell<bool>,
}

impl Transaction {
    /// A section begins.
    pub fn begin_section(&self) {
        self.history.borrow_mut().clear();
        self.known.set(0);
    }

    /// A section begins for the first time, or anew.
    pub fn begin_attempt(&self) {
        self.told.set(0);
    }

    /// Whether the CPU is in a transaction.
    pub fn is_active(&self) -> bool {
        self.active.get()
    }

    /// A step that was taken for a CPU if the transaction commits.
    pub fn note(&self, cpu: u32, step: CostEvent) {
        self.steps.borrow_mut().push((cpu, step));
    }

    fn end(&self) {
        self.active.set(false);
        self.reads.borrow_mut().clear();
        self.writes.borrow_mut().clear();
        self.before.borrow_mut().clear();
        self.steps.borrow_mut().clear();
    }

    fn undo(&self) {
        for (at, bytes) in self.before.borrow().iter().rev() {
            // SAFETY: a cell or an atomic of kernel state, which lives for ever; these were its
            // bytes, and one host thread runs all CPUs.
            unsafe { at.copy_from_nonoverlapping(bytes.as_ptr(), bytes.len()) };
        }
        self.end();
    }

    fn is_hit_by(&self, line: usize, writes: bool) -> bool {
        let written = self.writes.borrow().contains(&line);
        written || writes && self.reads.borrow().contains(&line)
    }

    /// Follows an access; why the transaction ends, if it does.
    fn follow(&self, access: Access) -> Option<Abort> {
        let lines = lines(access);
        match access.kind {
            Kind::Read => self.reads.borrow_mut().extend(lines),
            Kind::Write | Kind::Exchange => {
                self.writes.borrow_mut().extend(lines);
                let mut bytes = vec![0; access.bytes];
                // SAFETY: the cell is there, and nothing writes it meanwhile.
                unsafe { access.at.copy_to_nonoverlapping(bytes.as_mut_ptr(), access.bytes) };
                self.before.borrow_mut().push((access.at.cast_mut(), bytes));
            }
        }
        let fits = self.writes.borrow().len() <= WRITES && self.reads.borrow().len() <= READS;
        (!fits).then_some(Abort::Capacity)
    }
}

fn lines(access: Access) -> impl Iterator<Item = usize> {
    let first = access.at.addr();
    first / LINE..=(first + access.bytes.max(1) - 1) / LINE
}

impl Hardware {
    /// An access of the running CPU, which happens unless it goes back.
    pub fn speculate(&self, access: Access) {
        let me = self.here();
        if let Some(abort) = me.transaction.doomed.take() {
            self.go_back(abort);
        }
        let writes = access.kind != Kind::Read;
        for other in self.processors.iter().filter(|other| other.number != me.number) {
            let transaction = &other.transaction;
            let hit = |line| transaction.is_hit_by(line, writes);
            if transaction.is_active() && lines(access).any(hit) {
                transaction.undo();
                transaction.doomed.set(Some(Abort::Conflict));
            }
        }
        if me.transaction.is_active()
            && let Some(abort) = me.transaction.follow(access)
        {
            me.transaction.undo();
            self.go_back(abort);
        }
    }

    /// The running CPU changes a word of memory that is no cell.
    pub fn remember(&self, word: &AtomicU64) {
        if self.here().inside.get() {
            let (at, bytes) = (std::ptr::from_ref(word).cast(), size_of_val(word));
            let (kind, order, shared) = (Kind::Write, Some(Ordering::Relaxed), false);
            self.speculate(Access { at, bytes, kind, order, shared });
        }
    }

    /// Leaves a section whose transaction is undone, to begin it anew.
    fn go_back(&self, abort: Abort) -> ! {
        let me = self.here();
        me.transaction.history.borrow_mut().push(abort);
        me.gone_back.set(true);
        loop {
            // SAFETY: a section that speculates leaves its way out, and this runs on its stack,
            // which is thrown away.
            unsafe { (*me.way_out.get()).suspend(()) };
        }
    }

    /// The kernel asks for what no transaction survives.
    #[inline]
    pub fn refuse(&self, what: Refused) {
        if self.speculates && self.here().inside.get() {
            self.refuse_slowly(what);
        }
    }

    #[cold]
    fn refuse_slowly(&self, what: Refused) {
        let transaction = &self.here().transaction;
        if let Some(abort) = transaction.doomed.take() {
            self.go_back(abort);
        }
        if transaction.is_active() {
            let count = &self.refused[what as usize];
            count.set(count.get() + 1);
            transaction.undo();
            self.go_back(Abort::Unexplained);
        }
    }
}

/// The transactions of the machine's CPUs.
pub struct Modelled;

impl Transactions for Modelled {
    const AVAILABLE: bool = true;

    fn is_usable() -> bool {
        true
    }

    fn begin() -> Attempt {
        let transaction = &Hardware::current().here().transaction;
        let told = transaction.told.replace(transaction.told.get() + 1);
        if let Some(abort) = transaction.history.borrow().get(told) {
            transaction.again.set(told < transaction.known.get());
            transaction.known.set(transaction.known.get().max(told + 1));
            return Attempt::Aborted(*abort);
        }
        meter::pass(u64::from(Hardware::current().costs.transaction));
        transaction.active.set(true);
        Attempt::Started
    }

    fn commit() {
        let hardware = Hardware::current();
        let transaction = &hardware.here().transaction;
        if let Some(abort) = transaction.doomed.take() {
            hardware.go_back(abort);
        }
        transaction.steps.borrow().iter().for_each(|(cpu, step)| meter::count(*cpu, *step));
        transaction.end();
    }

    fn abort<const CODE: u8>() -> Abort {
        let hardware = Hardware::current();
        let transaction = &hardware.here().transaction;
        let doomed = transaction.doomed.take();
        if doomed.is_none() {
            transaction.undo();
        }
        hardware.go_back(doomed.unwrap_or(Abort::Explicit(CODE)))
    }

    fn is_active() -> bool {
        let transaction = &Hardware::current().here().transaction;
        transaction.is_active() || transaction.doomed.get().is_some()
    }

    fn is_told_again() -> bool {
        Hardware::current().here().transaction.again.get()
    }
}

#[cfg(test)]
mod tests;
