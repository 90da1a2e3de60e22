//! Several kernels in lockstep.

use crate::support::board::{Board, body};
use crate::support::effort::cases;
use crate::support::host::Host;
use crate::support::programs::{Action, Mix, apply, choose};
use crate::support::rng::Rng;
use crate::support::state::{Fact, buffer, facts, outcome};
use crate::support::town::{self, Plan};
use abi::call::Call;
use kernel::access::{Life, Ref};
use kernel::events::Machine;
use kernel::object::Thread;
use kernel::object::capability::Capability;
use kernel::object::thread::State;
use kernel::system::System;
use proptest::prelude::ProptestConfig;
use proptest::test_runner::RngSeed;
use std::cell::Cell;
use std::collections::BTreeSet;

/// Evaluates an expression with a type for the kernel of this name.
macro_rules! with_kernel {
    ($name:expr, $kernel:ident => $body:expr) => {
        with_kernel!(@ $name, $kernel => $body, Fastpath Slowpath DirectLazy DirectEager
            StrictLazy StrictEager IpcScan IpcOrdered IpcHeap)
    };
    (@ $name:expr, $kernel:ident => $body:expr, $($type:ident)*) => {
        match $name {
            $(name if name == <kernel::system::$type<Host> as System>::NAME => {
                type $kernel = kernel::system::$type<Host>;
                $body
            })*
            name => panic!("there is no kernel {name}"),
        }
    };
}
pub(crate) use with_kernel;

/// So many [`cases`], the same ones each time.
pub fn repeatable(usual: u32) -> ProptestConfig {
    let rng_seed = RngSeed::Fixed(usual.into());
    ProptestConfig { cases: cases(usual), rng_seed, ..ProptestConfig::default() }
}

/// A town under some kernel.
pub trait Runner {
    /// Its kernel's name.
    fn name(&self) -> &'static str;
    /// Everything about it that does not depend on which kernel it is.
    fn machine(&self) -> Machine<Host>;
    /// The hardware.
    fn host(&self) -> &'static Host;
    /// The running thread.
    fn running(&self) -> Option<u32>;
    /// Whether the run has ended.
    fn ended(&self) -> bool;
    /// Chooses what happens next.
    fn choose(&self, rng: &Rng, mix: &Mix) -> Action;
    /// Lets an action happen, and what follows from it.
    fn act(&self, action: &Action);
    /// What can be observed; with `all` also of the ready queue and the timer.
    fn observe(&self, all: bool) -> Vec<Fact>;
    /// A digest of a thread's message buffer.
    fn buffer(&self, thread: u32) -> u64;
    /// Checks the core's invariants.
    fn check(&self);
}

impl<S: System<Port = Host>> Runner for Board<S> {
    fn name(&self) -> &'static str {
        S::NAME
    }

    fn machine(&self) -> Machine<Host> {
        self.machine
    }

    fn host(&self) -> &'static Host {
        self.host
    }

    fn running(&self) -> Option<u32> {
        Board::running(self)
    }

    fn ended(&self) -> bool {
        self.ended.get().is_some()
    }

    fn choose(&self, rng: &Rng, mix: &Mix) -> Action {
        choose(self, rng, mix)
    }

    fn act(&self, action: &Action) {
        apply(self, action);
        self.settle();
    }

    fn observe(&self, all: bool) -> Vec<Fact> {
        let mut facts_now = Vec::with_capacity(1024);
        let observe = if all { facts::<S> } else { outcome::<S> };
        observe(self, &mut facts_now);
        facts_now
    }

    fn buffer(&self, thread: u32) -> u64 {
        buffer(self, thread)
    }

    fn check(&self) {
        self.check_core();
    }
}

/// Boots a town under the kernel of this name.
pub fn boot(name: &str, plan: &Plan) -> Box<dyn Runner> {
    with_kernel!(name, Kernel => Box::new(town::boot::<Kernel>(plan)))
}

/// Boots a town under each of these kernels.
pub fn boot_all(names: &[&str], plan: &Plan, noise_once_in: u64) -> Vec<Box<dyn Runner>> {
    let runners: Vec<_> = names.iter().map(|name| boot(name, plan)).collect();
    for runner in &runners {
        runner.host().noise_once_in.set(noise_once_in);
    }
    runners
}

/// Says which seed fails, and at which action.
pub struct Told {
    seed: u64,
    /// The action.
    pub action: Cell<u64>,
}

impl Told {
    /// For this seed.
    pub fn new(seed: u64) -> Told {
        Told { seed, action: Cell::new(0) }
    }
}

impl Drop for Told {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("seed {:#x} fails at action {}", self.seed, self.action.get());
        }
    }
}

/// Fails with the first fact that differs.
pub fn same(one: &dyn Runner, other: &dyn Runner, [a, b]: [&[Fact]; 2]) {
    if a != b {
        let first = a.iter().zip(b).find(|(a, b)| a != b);
        let names = (one.name(), other.name());
        panic!("{names:?} differ: {first:x?}; {} and {} facts", a.len(), b.len());
    }
}

/// The threads that exist.
pub fn threads(machine: Machine<Host>) -> impl Iterator<Item = (Ref<Thread<Host>>, u32)> {
    let pool = &machine.kernel.threads;
    (1..pool.size())
        .filter_map(|index| pool.get(index))
        .filter(|at| at.life() != Life::Vacant)
        .map(|at| (at, at.index()))
}

/// The highest thread that can run.
pub fn highest(machine: Machine<Host>) -> Option<u32> {
    threads(machine)
        .filter(|(at, _)| body(*at).runnable())
        .max_by_key(|(at, _)| body(*at).priority.get())
        .map(|(_, index)| index)
}

/// The priority of a thread; that of an idle CPU is below all.
pub fn priority(machine: Machine<Host>, thread: Option<u32>) -> i16 {
    let thread = thread.and_then(|index| machine.kernel.threads.get(index));
    thread.map_or(-1, |at| body(at).priority.get())
}

/// The same action, but so that no two threads have one priority afterwards.
pub fn keep_unique(machine: Machine<Host>, action: Action) -> Action {
    let Action::Call { writes, mut regs } = action else { return action };
    let argument = match Call::from_number(regs.number) {
        Some(Call::ThreadPriority) => &mut regs.args[1],
        Some(Call::ThreadCreate) => &mut regs.args[2],
        Some(Call::Ceiling) => &mut regs.args[0],
        _ => return action,
    };
    let taken: BTreeSet<u64> = threads(machine)
        .flat_map(|(at, _)| [&body(at).priority, &body(at).base_priority].map(|at| at.get() as u64))
        .collect();
    if *argument < 256 {
        let mut free = (0..256).map(|more| (*argument + more) % 256);
        *argument = free.find(|priority| !taken.contains(priority)).expect("one is free");
    }
    Action::Call { writes, regs }
}

/// The same action, unless it makes a thread a server: then messages would change priorities; or
/// waits for a condition, whose helpers would be equals.
pub fn without_servers(mut action: Action) -> Action {
    if let Action::Call { regs, .. } = &mut action
        && let Some(Call::Serve | Call::InheritCondWait) = Call::from_number(regs.number)
    {
        regs.number = Call::Null as u64;
    }
    action
}

/// The same action, unless it changes the priority of a thread that is queued to send, or may let a
/// message do that.
pub fn leave_senders(runner: &dyn Runner, action: Action) -> Action {
    let Action::Call { writes, mut regs } = without_servers(action) else { return action };
    if let Some(Call::ThreadPriority) = Call::from_number(regs.number)
        && let Some(me) = runner.running()
        && let Some(me) = runner.machine().kernel.threads.get(me)
        && let Some(cell) = body(body(me).domain.get()).slots.get(regs.args[0] as usize)
        && let Capability::Thread(cap) = cell.get()
        && body(cap.at).state.get() == State::Sending
    {
        regs.number = Call::Null as u64;
    }
    Action::Call { writes, regs }
}
