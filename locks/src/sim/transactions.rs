//! Transactions: read and write sets of lines, undone at once when another CPU touches them.
//!
//! A processor goes back to where the transaction began. Here the CPU unwinds to [`section`],
//! which runs the section again and lets `begin` come back with the aborts so far.

use super::{Access, here};
use crate::transactions::{Abort, Attempt, Transactions};
use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

/// What every CPU's transaction has touched.
pub struct Undo {
    transactions: Vec<Option<Touched>>,
    doomed: Vec<Option<Abort>>,
}

#[derive(Default)]
struct Touched {
    reads: BTreeSet<usize>,
    writes: BTreeSet<usize>,
    /// How to undo the writes, oldest first.
    before: Vec<Box<dyn FnOnce() + Send>>,
}

impl Touched {
    fn is_hit_by(&self, line: usize, access: Access) -> bool {
        self.writes.contains(&line) || access != Access::Load && self.reads.contains(&line)
    }

    fn undo(self) {
        self.before.into_iter().rev().for_each(|undo| undo());
    }
}

/// Lines that a transaction may write.
const CAPACITY: usize = 8;

impl Undo {
    /// No CPU is in a transaction.
    pub fn new(cpus: usize) -> Undo {
        Undo {
            transactions: (0..cpus).map(|_| None).collect(),
            doomed: (0..cpus).map(|_| None).collect(),
        }
    }

    /// An access of a CPU. Aborts the others that it hits; returns why the own transaction ended.
    pub fn access(&mut self, cpu: usize, line: usize, access: Access) -> Option<Abort> {
        if let Some(abort) = self.doomed[cpu].take() {
            return Some(abort);
        }
        for other in (0..self.transactions.len()).filter(|&other| other != cpu) {
            let hit = |touched: &mut Touched| touched.is_hit_by(line, access);
            if let Some(touched) = self.transactions[other].take_if(hit) {
                touched.undo();
                self.doomed[other] = Some(Abort::Conflict);
            }
        }
        let touched = self.transactions[cpu].as_mut()?;
        let set = match access {
            Access::Load => &mut touched.reads,
            Access::Store | Access::Swap => &mut touched.writes,
        };
        set.insert(line);
        if touched.writes.len() > CAPACITY {
            self.transactions[cpu].take()?.undo();
            return Some(Abort::Capacity);
        }
        None
    }
}

/// Keeps what undoes a write, if this CPU is in a transaction.
pub fn remember(undo: impl FnOnce() + Send + 'static) {
    let Some((sim, cpu)) = here() else { return };
    if let Some(touched) = &mut sim.state().undo.transactions[cpu] {
        touched.before.push(Box::new(undo));
    }
}

/// What unwinds when a transaction was undone.
struct Undone(Abort);

/// Goes back to where the transaction began.
pub fn go_back(abort: Abort) -> ! {
    resume_unwind(Box::new(Undone(abort)))
}

thread_local! {
    /// The aborts of this section so far, and how many of them `begin` has come back with.
    static HISTORY: RefCell<Vec<Abort>> = const { RefCell::new(Vec::new()) };
    static TOLD: Cell<usize> = const { Cell::new(0) };
}

/// Runs a section, again after each abort.
pub fn section<Out>(work: impl Fn() -> Out) -> Out {
    HISTORY.with_borrow_mut(Vec::clear);
    loop {
        TOLD.set(0);
        match catch_unwind(AssertUnwindSafe(&work)) {
            Ok(out) => return out,
            Err(why) => match why.downcast::<Undone>() {
                Ok(undone) => HISTORY.with_borrow_mut(|history| history.push(undone.0)),
                Err(why) => resume_unwind(why),
            },
        }
    }
}

/// The simulated CPUs' transactions.
pub struct Hardware;

impl Transactions for Hardware {
    const AVAILABLE: bool = true;

    fn is_usable() -> bool {
        true
    }

    fn begin() -> Attempt {
        let told = TOLD.replace(TOLD.get() + 1);
        if let Some(abort) = HISTORY.with_borrow(|history| history.get(told).copied()) {
            return Attempt::Aborted(abort);
        }
        let (sim, cpu) = here().expect("transactions are simulated ones");
        sim.state().undo.transactions[cpu] = Some(Touched::default());
        Attempt::Started
    }

    fn commit() {
        let (sim, cpu) = here().expect("transactions are simulated ones");
        let mut state = sim.state();
        if let Some(abort) = state.undo.doomed[cpu].take() {
            drop(state);
            go_back(abort);
        }
        state.undo.transactions[cpu] = None;
    }

    fn abort<const CODE: u8>() -> Abort {
        let (sim, cpu) = here().expect("transactions are simulated ones");
        let mut state = sim.state();
        let doomed = state.undo.doomed[cpu].take();
        if let Some(touched) = state.undo.transactions[cpu].take() {
            touched.undo();
        }
        drop(state);
        go_back(doomed.unwrap_or(Abort::Explicit(CODE)))
    }

    fn is_active() -> bool {
        let (sim, cpu) = here().expect("transactions are simulated ones");
        let state = sim.state();
        state.undo.transactions[cpu].is_some() || state.undo.doomed[cpu].is_some()
    }
}
