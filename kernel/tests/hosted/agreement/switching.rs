//! Direct and strict switching: where they differ, and that they come together again.

use super::runner::{
    Runner, Told, boot_all, highest, keep_unique, priority, repeatable, same, with_kernel,
    without_servers,
};
use crate::support::archive::TICK;
use crate::support::board::Board;
use crate::support::context::Regs;
use crate::support::effort::{INTERPRETED, seeds, steps};
use crate::support::host::Host;
use crate::support::programs::{Action, MANAGE, Mix, TALK};
use crate::support::rng::Rng;
use crate::support::scene::{self, ENDPOINT, call, receive, system};
use crate::support::state::tells_who_runs;
use crate::support::town::Plan;
use abi::Info;
use abi::call::{Call, NOTHING, Timeout, ipc, partners};
use kernel::object::deadlines::TimerEntry;
use kernel::port::Port;
use kernel::system::System;
use proptest::prelude::*;
use std::collections::BTreeSet;
use std::ops::AddAssign;

/// A direct kernel and a strict one that keeps its ready queue in the same way.
const PAIRS: [[&str; 2]; 2] = [["direct-lazy", "strict-lazy"], ["direct-eager", "strict-eager"]];

/// What a run came across.
#[derive(Debug, Default)]
struct Reach {
    /// Actions after which both ran the same thread.
    agreed: u64,
    /// Direct switches past a higher thread.
    inversions: u64,
    /// Actions after which both ran a thread that another had named in a `Yield`, past a higher
    /// one.
    donated: u64,
    /// Runs that ended with a deadline that only one of them deferred.
    deferred: u64,
}

impl AddAssign for Reach {
    fn add_assign(&mut self, other: Reach) {
        self.agreed += other.agreed;
        self.inversions += other.inversions;
        self.donated += other.donated;
        self.deferred += other.deferred;
    }
}

fn run(names: [&str; 2], seed: u64, actions: u64, mix: &Mix) -> Reach {
    let told = Told::new(seed);
    let rng = Rng::new(seed);
    let plan = Plan { unique: true, handlers: rng.once_in(2), seed };
    let runners = boot_all(&names, &plan, 0);
    let [direct, strict] = [runners[0].as_ref(), runners[1].as_ref()];
    let mut reach = Reach::default();
    let mut donated = None;
    for at in 0..actions {
        told.action.set(at);
        let action = without_servers(direct.choose(&rng, mix));
        let action = keep_unique(direct.machine(), action);
        let before = direct.host().now();
        runners.iter().for_each(|runner| runner.act(&action));
        if direct.ended() {
            break;
        }
        if direct.host().now() / TICK > before / TICK {
            donated = None;
        }
        donated = expect_strict_order(strict, &action, donated);
        if differ_by_deferral(direct, strict) {
            reach.deferred += 1;
            break;
        }
        agree_but_for_who_runs([direct, strict]);
        if direct.running() == strict.running() {
            reach.agreed += 1;
            reach.donated += u64::from(donated.is_some());
        } else {
            expect_inversion(direct, strict);
            reach.inversions += 1;
            donated = None;
            if !meet([direct, strict], rng.once_in(20)) {
                break;
            }
            if differ_by_deferral(direct, strict) {
                reach.deferred += 1;
                break;
            }
        }
        let whole = runners.iter().map(|runner| runner.observe(false)).collect::<Vec<_>>();
        same(direct, strict, [&whole[0], &whole[1]]);
        runners.iter().for_each(|runner| runner.check());
    }
    reach
}

/// A strict kernel runs the highest thread, unless it was given the CPU by name: returns it.
fn expect_strict_order(strict: &dyn Runner, action: &Action, donated: Option<u32>) -> Option<u32> {
    let running = strict.running();
    let highest = highest(strict.machine());
    if running == highest {
        return None;
    }
    let named = |action: &Action| match action {
        Action::Call { regs, .. } => {
            Call::from_number(regs.number) == Some(Call::Yield) && regs.args[0] as u32 != 0
        }
        _ => false,
    };
    let given = running.is_some() && (running == donated || named(action));
    assert!(given, "{running:?} runs, not {highest:?}, under {}", strict.name());
    running
}

/// Nanoseconds by which a tick may be early.
const NEAR: u64 = 1_000;

/// The kernels differ: then the direct one runs a thread past a higher one, and the strict one
/// runs the highest.
fn expect_inversion(direct: &dyn Runner, strict: &dyn Runner) {
    let machine = direct.machine();
    let highest = highest(machine);
    assert!(strict.running() == highest, "the kernels differ, and the strict one is wrong");
    let [runs, waits] = [direct.running(), highest].map(|thread| priority(machine, thread));
    assert!(runs >= 0 && runs < waits, "the kernels differ without an inversion");
}

/// The deadlines that have passed and are deferred: instant, priority and whose.
fn deferred(runner: &dyn Runner) -> BTreeSet<(u64, i16, bool, u32)> {
    let mut due = BTreeSet::new();
    runner.machine().cpu.deadlines.each(|sleeper, at, priority| {
        if at <= runner.host().now() {
            let (timer, index) = match sleeper {
                TimerEntry::Thread(thread) => (false, thread.index()),
                TimerEntry::Timer(timer) => (true, timer.index()),
            };
            due.insert((at, priority, timer, index));
        }
    });
    due
}

/// Whether one kernel has served a deadline that the other one defers: they go different ways then.
/// The strict one defers only what is lower than the thread that it runs. The direct one may defer
/// what is not, behind a direct switch to a lower thread, but serves that at the next tick.
fn differ_by_deferral(direct: &dyn Runner, strict: &dyn Runner) -> bool {
    let [one, other] = [direct, strict].map(deferred);
    let runs = |runner: &dyn Runner| priority(runner.machine(), runner.running());
    let urgent = other.difference(&one).any(|(_, priority, ..)| *priority >= runs(strict));
    assert!(!urgent, "a strict kernel defers an urgent deadline");
    let passed: BTreeSet<_> = one.difference(&other).copied().collect();
    let lower = passed.iter().any(|(_, priority, ..)| *priority < runs(direct));
    assert!(!lower, "a strict kernel has served a deadline below the thread that runs");
    if !passed.is_empty() {
        direct.act(&Action::Advance(to_tick(direct)));
        let urgent = deferred(direct).iter().any(|(_, priority, ..)| *priority >= runs(direct));
        assert!(!urgent, "an urgent deadline is deferred past a tick");
    }
    one != other
}

/// How long it takes until a tick has come. One that is near a deadline comes with it: early, so
/// the next one counts, or late.
fn to_tick(runner: &dyn Runner) -> u64 {
    let left = TICK - runner.host().now() % TICK;
    NEAR + if left <= NEAR { left + TICK } else { left }
}

fn agree_but_for_who_runs([one, other]: [&dyn Runner; 2]) {
    let [a, b] = [one, other].map(|runner| {
        let mut facts = runner.observe(false);
        facts.retain(|fact| !tells_who_runs(fact));
        facts
    });
    same(one, other, [&a, &b]);
}

/// A full decision ends the difference. False: it was one that only one of them made.
fn meet([direct, strict]: [&dyn Runner; 2], by_yield: bool) -> bool {
    let expected = highest(direct.machine());
    if by_yield {
        let regs = Regs::call(Call::Yield as u64, &[0]);
        direct.act(&Action::Call { writes: [(0, 0); 4], regs });
        assert!(direct.running() == expected, "an inversion outlives a full decision");
        return false;
    }
    for runner in [direct, strict] {
        runner.act(&Action::Advance(to_tick(runner)));
        let running = runner.running();
        assert!(running == highest(runner.machine()), "an inversion outlives a tick");
    }
    true
}

#[test]
fn they_differ_while_a_direct_switch_keeps_a_higher_thread_waiting() {
    let mut reach = Reach::default();
    for seed in seeds(0..20) {
        let mix = [TALK, MANAGE][seed as usize / 2 % 2];
        reach += run(PAIRS[seed as usize % 2], 0x8500_0000 + seed, steps(3_000), &mix);
    }
    assert!(
        INTERPRETED
            || reach.inversions > 100
                && reach.agreed > 10_000
                && reach.donated > 10
                && reach.deferred > 0,
        "{reach:?}"
    );
}

/// The priority that runs after a high thread has called a low one past a medium one. The first
/// two became ready outside the message path, when the last look-up had found only the lowest.
fn who_runs<S: System<Port = Host>>(by_timeout: bool) -> Option<i16> {
    let [lowest, medium, high, callee] = [1, 2, 3, 4];
    let board: Board<S> = scene::boot(&[(1, 10), (1, 40), (1, 50), (1, 30)]);
    let until = 3 * TICK + 1;
    let sleep = ipc(Timeout::Never, Timeout::At);
    let sleep = Regs::call(sleep, &[partners(NOTHING, NOTHING), 0, until]);
    let slot = |thread: u32| scene::THREAD + u64::from(thread);
    for thread in [high, medium] {
        let stop = system(Call::ThreadSuspend, &[slot(thread)]);
        board.does(thread, if by_timeout { sleep } else { stop });
    }
    board.does(callee, receive(ENDPOINT));
    assert_eq!(board.running(), Some(lowest));
    if by_timeout {
        board.host.advance(until);
        board.settle();
    } else {
        board.does(lowest, system(Call::ThreadResume, &[slot(medium)]));
        board.does(medium, system(Call::ThreadResume, &[slot(high)]));
    }
    board.does(high, call(ENDPOINT, Info::new(0, 0)));
    board.running().map(|runs| board.thread(runs).priority.get())
}

#[test]
fn a_call_past_a_medium_thread() {
    for [direct, strict] in PAIRS {
        for by_timeout in [false, true] {
            for (name, expected) in [(direct, 30), (strict, 40)] {
                let priority = with_kernel!(name, Kernel => who_runs::<Kernel>(by_timeout));
                assert_eq!(priority, Some(expected), "{name}");
            }
        }
    }
}

proptest! {
    #![proptest_config(repeatable(8))]
    #[test]
    fn any_seed(seed: u64, actions in 1..steps(300), talk: bool) {
        for pair in PAIRS {
            run(pair, seed, actions, if talk { &TALK } else { &MANAGE });
        }
    }
}
