//! Programs that call anything with anything, with interrupts at random preemption points: no
//! panic, and every invariant holds after each step.

use crate::support::board::{Board, ENDLESS};
use crate::support::effort::{INTERPRETED, seeds, steps};
use crate::support::host::Host;
use crate::support::programs::{Action, MANAGE, Mix, TALK, apply, choose};
use crate::support::rng::Rng;
use crate::support::seed::Seed;
use crate::support::town::{self, Plan};
use abi::Error;
use abi::call::Call;
use abi::reservation::Inheritance;
use kernel::system::{DirectLazy, Fastpath, System, Tree};
use std::collections::BTreeMap;

/// Calls that a kernel without a scheduling tree does not know.
const RESERVATIONS: [Call; 5] = [
    Call::ReservationCreate,
    Call::ReservationSet,
    Call::ReservationJoin,
    Call::Reserve,
    Call::ReservationInspect,
];
/// Errors that only they return.
const OF_RESERVATIONS: [Error; 5] = [
    Error::Overcommitted,
    Error::TooDeep,
    Error::Cycle,
    Error::OnReservation,
    Error::BudgetTooSmall,
];
/// What takes two threads that agree on a mutex: `futexes` and `inherit` test that.
const OF_FUTEXES: [Call; 2] = [Call::CondWait, Call::InheritCondWait];
/// Errors that no call has made alone: `futexes`, `inherit` and `trains` test them.
const OF_OTHERS: [Error; 7] = [
    Error::OtherMutex,
    Error::Faulted,
    Error::HelpsAlready,
    Error::NoHelper,
    Error::TooManyHelpers,
    Error::AlreadyOwner,
    Error::OtherDomain,
];

/// What a run came across.
#[derive(Default)]
struct Reach {
    steps: u64,
    calls: u64,
    succeeded: u64,
    errors: BTreeMap<u64, u64>,
    successes: BTreeMap<u64, u64>,
    issued_again: u64,
    shutdowns: u64,
}

impl Reach {
    /// Counts the result that the running thread sees, if it is one of the call just made.
    fn count(&mut self, call: u64, result: u64) {
        if result == 0 {
            self.succeeded += 1;
            *self.successes.entry(call & 0xff).or_default() += 1;
        } else {
            *self.errors.entry(result & 0xff).or_default() += 1;
        }
    }
}

/// What the threads of a board last called.
type Calls = BTreeMap<u32, u64>;

fn note<S: System<Port = Host>>(board: &Board<S>, calls: &mut Calls, reach: &mut Reach) {
    if let Some(thread) = board.running()
        && !board.regs.get().again
        && let Some(call) = calls.remove(&thread)
    {
        reach.count(call, board.regs.get().number);
    }
}

fn run<S: System<Port = Host>>(seed: u64, actions: u64, mix: &Mix, reach: &mut Reach) {
    run_by::<S>(seed, actions, mix, reach, 0);
}

/// The same with decisions by chance of a scheduling tree, if `chaos` is not zero.
fn run_by<S: System<Port = Host>>(
    seed: u64,
    actions: u64,
    mix: &Mix,
    reach: &mut Reach,
    chaos: u64,
) {
    let _told = Seed::of(seed);
    let rng = Rng::new(seed);
    let plan = Plan { unique: rng.once_in(2), handlers: rng.once_in(2), seed };
    let board: Board<S> = town::boot(&plan);
    board.machine.cpu.trees.set_inheritance(rng.pick(&Inheritance::ALL));
    board.machine.cpu.trees.with(|tree| tree.set_chaos(chaos));
    board.host.noise_once_in.set(rng.pick(&[2, 4, 16, 0]));
    board.host.input.borrow_mut().extend(b"input");
    let mut calls = Calls::new();
    for _ in 0..actions {
        let action = choose(&board, &rng, mix);
        if let (Action::Call { regs, .. }, Some(thread)) = (&action, board.running()) {
            calls.insert(thread, regs.number);
            reach.calls += 1;
        }
        apply(&board, &action);
        for steps in 0.. {
            assert!(steps < ENDLESS, "interrupts and calls go on for ever");
            reach.steps += 1;
            reach.issued_again += u64::from(board.regs.get().again);
            note(&board, &mut calls, reach);
            if reach.steps.is_multiple_of(8) {
                board.check()
            } else {
                board.check_core()
            }
            if !board.step() {
                break;
            }
        }
        if board.ended.take().is_some() {
            reach.shutdowns += 1;
            break;
        }
    }
}

/// A call that has not succeeded, though it can here.
fn never_succeeds(reach: &Reach) -> Option<Call> {
    Call::ALL.into_iter().find(|call| {
        let succeeds = reach.successes.contains_key(&(*call as u64));
        let alone = *call != Call::Shutdown && !OF_FUTEXES.contains(call);
        !succeeds && alone && !RESERVATIONS.contains(call)
    })
}

/// An error that no call has returned, though one can here.
fn never_returned(reach: &Reach) -> Option<Error> {
    Error::ALL.into_iter().find(|error| {
        let returned = reach.errors.contains_key(&(*error as u64));
        !returned && !OF_RESERVATIONS.contains(error) && !OF_OTHERS.contains(error)
    })
}

#[test]
fn hostile_programs() {
    let mut reach = Reach::default();
    let wild = Mix { messages: 20, orderly: 50, nonsense: 40, destroy_once_in: 8, trains: 0 };
    for seed in seeds(0..u64::MAX) {
        let mix = Mix { trains: 6, ..[MANAGE, wild, TALK][seed as usize % 3] };
        run::<DirectLazy<Host>>(0x7100_0000 + seed, steps(4_000), &mix, &mut reach);
        run::<Fastpath<Host>>(0x7200_0000 + seed, steps(4_000), &mix, &mut reach);
        // Some calls succeed rarely, and some errors are rare.
        let seen = never_succeeds(&reach).is_none() && never_returned(&reach).is_none();
        if seen && reach.steps >= 300_000 || reach.steps >= 2_000_000 {
            break;
        }
    }
    if INTERPRETED {
        return;
    }
    assert!(reach.succeeded * 3 >= reach.calls, "too few calls succeed: {}", reach.succeeded);
    assert!(reach.issued_again > 1_000, "too few calls are preempted: {}", reach.issued_again);
    assert_eq!(never_succeeds(&reach), None, "a call never succeeds");
    assert_eq!(never_returned(&reach), None, "an error is never returned");
    assert!(reach.shutdowns > 0, "no run is ended by a program");
}

/// The same where a scheduling tree orders threads.
#[test]
fn hostile_programs_on_reservations() {
    let mut reach = Reach::default();
    for seed in seeds(0..u64::MAX) {
        let mix = [MANAGE, TALK][seed as usize % 2];
        run::<Tree<Host>>(0x7300_0000 + seed, steps(4_000), &mix, &mut reach);
        if reach.steps >= 100_000 {
            break;
        }
    }
    if INTERPRETED {
        return;
    }
    for call in RESERVATIONS.into_iter().chain([Call::ReplyWait, Call::Destroy]) {
        assert!(reach.successes.contains_key(&(call as u64)), "{call:?} never succeeds");
    }
    let overcommitted = reach.errors.contains_key(&(Error::Overcommitted as u64));
    assert!(overcommitted, "no class is asked for too much");
}

/// The same where the tree decides by chance: the kernel holds under any policy.
#[test]
fn hostile_programs_under_a_hostile_policy() {
    let mut reach = Reach::default();
    for seed in seeds(0..u64::MAX) {
        let (mix, chaos) = ([MANAGE, TALK][seed as usize % 2], 1 + seed);
        run_by::<Tree<Host>>(0x7400_0000 + seed, steps(4_000), &mix, &mut reach, chaos);
        if reach.steps >= 100_000 {
            break;
        }
    }
    if INTERPRETED {
        return;
    }
    for call in [Call::Reserve, Call::ReplyWait, Call::Destroy, Call::ReservationSet] {
        assert!(reach.successes.contains_key(&(call as u64)), "{call:?} never succeeds");
    }
}
