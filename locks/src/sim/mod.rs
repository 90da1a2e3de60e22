//! Simulated CPUs for tests: every access to an atomic is a step, one CPU steps at a time, and a
//! seed or a rule decides which. The simulation follows cache lines, so that tests can count what
//! an operation moves, and transactions, which it undoes as a processor would.
//!
//! Outside a simulation the atomics here are plain ones.

mod atomics;
mod lines;
mod transactions;

mod kernel_tests;
mod line_tests;
mod queue_tests;

pub use atomics::{AtomicU32, AtomicU64};
use lines::Access;
pub use lines::Event;
pub use transactions::{Hardware, section};

use crate::relax::Relax;
use lines::Lines;
use std::cell::RefCell;
use std::panic::resume_unwind;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use transactions::Undo;

/// Steps after which a run is taken to hang.
const PATIENCE: u32 = 200_000;

/// Who steps next.
#[derive(Clone, Copy, Debug)]
pub enum Order {
    /// A CPU goes on until it waits, then the next one by number.
    Turns,
    /// By chance, from a seed.
    Chance(u64),
}

/// A simulation that runs.
pub struct Sim {
    state: Mutex<State>,
    wake: Vec<Condvar>,
}

struct State {
    order: Order,
    turn: usize,
    done: Vec<bool>,
    failed: bool,
    steps: u32,
    lines: Lines,
    undo: Undo,
}

thread_local! {
    static HERE: RefCell<Option<(Arc<Sim>, usize)>> = const { RefCell::new(None) };
}

/// The simulation and the CPU that this code is on.
fn here() -> Option<(Arc<Sim>, usize)> {
    HERE.with(|here| here.borrow().clone())
}

impl State {
    fn chance(seed: &mut u64) -> usize {
        *seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (*seed >> 33) as usize
    }

    /// The next to step, behind a step of `me`; `waits` if that has to wait.
    fn choose(&mut self, me: usize, waits: bool) -> usize {
        let count = self.done.len();
        let others = (1..count).map(|way| (me + way) % count).filter(|&cpu| !self.done[cpu]);
        match &mut self.order {
            Order::Turns if !waits && !self.done[me] => me,
            Order::Turns => others.clone().next().unwrap_or(me),
            Order::Chance(seed) => {
                let others: Vec<usize> = others.collect();
                let stays = !waits && !self.done[me] && Self::chance(seed).is_multiple_of(2);
                if stays || others.is_empty() {
                    return me;
                }
                others[Self::chance(seed) % others.len()]
            }
        }
    }
}

impl Sim {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets another CPU step, perhaps, and comes back with the turn.
    fn switch(&self, me: usize, waits: bool) -> MutexGuard<'_, State> {
        let mut state = self.state();
        state.steps += 1;
        if state.steps > PATIENCE {
            drop(state);
            panic!("no CPU gets on any more: a lock was lost");
        }
        let next = state.choose(me, waits);
        if next != me {
            state.turn = next;
            self.wake[next].notify_one();
        }
        self.wait(state, me)
    }

    fn wait<'s>(&'s self, mut state: MutexGuard<'s, State>, me: usize) -> MutexGuard<'s, State> {
        while state.turn != me && !state.failed {
            state = self.wake[me].wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        if state.failed {
            drop(state);
            resume_unwind(Box::new("another CPU failed"));
        }
        state
    }

    fn finish(&self, me: usize) {
        let mut state = self.state();
        state.done[me] = true;
        if thread::panicking() {
            state.failed = true;
            self.wake.iter().for_each(Condvar::notify_all);
        }
        let next = state.choose(me, true);
        state.turn = next;
        self.wake[next].notify_one();
    }
}

/// Ends a CPU, however its work ends.
struct Finish(Arc<Sim>, usize);

impl Drop for Finish {
    fn drop(&mut self) {
        self.0.finish(self.1);
    }
}

/// Runs `work` on `cpus` CPUs and returns what happened.
pub fn run(cpus: usize, order: Order, work: impl Fn(usize) + Sync) -> Vec<Event> {
    let state = State {
        order,
        turn: 0,
        done: vec![false; cpus],
        failed: false,
        steps: 0,
        lines: Lines::new(),
        undo: Undo::new(cpus),
    };
    let wake = (0..cpus).map(|_| Condvar::new()).collect();
    let sim = Arc::new(Sim { state: Mutex::new(state), wake });
    thread::scope(|scope| {
        let cpu = |me| {
            let (sim, work) = (sim.clone(), &work);
            scope.spawn(move || {
                let _finish = Finish(sim.clone(), me);
                drop(sim.wait(sim.state(), me));
                HERE.set(Some((sim, me)));
                work(me);
            })
        };
        let cpus: Vec<_> = (0..cpus).map(cpu).collect();
        let mut failures = cpus.into_iter().filter_map(|cpu| cpu.join().err());
        let secondary = |failure: &Box<dyn std::any::Any + Send>| {
            failure.downcast_ref::<&str>() == Some(&"another CPU failed")
        };
        if let Some(first) = failures.find(|failure| !secondary(failure)) {
            eprintln!("under {order:?}");
            resume_unwind(first);
        }
    });
    sim.state().lines.take_events()
}

/// Writes a mark into the list of events.
pub fn note(text: &'static str) {
    if let Some((sim, cpu)) = here() {
        sim.state().lines.note(cpu, text);
    }
}

/// A step of this CPU's; the turn stays here until the next one.
fn step(line: usize, access: Access) {
    if let Some((sim, cpu)) = here() {
        let mut state = sim.switch(cpu, false);
        state.lines.access(cpu, line, access);
        let doomed = state.undo.access(cpu, line, access);
        drop(state);
        if let Some(abort) = doomed {
            transactions::go_back(abort);
        }
    }
}

/// Lets other CPUs step.
pub struct Yield;

impl Relax for Yield {
    fn relax() {
        let (sim, cpu) = here().expect("waiting makes sense in a simulation");
        drop(sim.switch(cpu, true));
    }
}
