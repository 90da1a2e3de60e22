//! Words that are written over at any moment, calls that are interrupted between their checks and
//! their work, and whatever happens before they are issued again: all invariants hold.

use super::ceilings::ceiling;
use super::{MUTEX, cond_wait, id, notify, tell, wait, wake};
use crate::support::board::Board;
use crate::support::context::Regs;
use crate::support::effort::{seeds, steps};
use crate::support::host::Host;
use crate::support::rng::Rng;
use crate::support::scene::{FREE, THREAD, boot, system, timed};
use crate::support::seed::Seed;
use abi::Info;
use abi::call::{Call, NOTHING, Timeout, exchange};
use abi::futex::{NO_CEILING, WAITERS};
use kernel::port::Port;
use kernel::system::{DirectLazy, StrictEager, System, Tree};

/// Pairs of words, each of them a mutex and a condition; the conditions that programs mostly use.
const PAIRS: u64 = 7;
const CONDITIONS: u64 = 3;
/// The thread that never waits and is never ended.
const KEEPER: u32 = 1;
const THREADS: u32 = 11;

#[derive(Default, Debug)]
struct Reach {
    again: u64,
    conditions: u64,
    lent: u64,
}

fn run<S: System<Port = Host>>(seed: u64, count: u64, reach: &mut Reach) {
    let told = Seed::of(seed);
    let rng = Rng::new(!seed);
    let priority = |thread| if thread == KEEPER { 1 } else { 20 + rng.below(8) as u8 };
    let threads: Vec<(u32, u8)> = (1..=THREADS).map(|thread| (1, priority(thread))).collect();
    let board: Board<S> = boot(&threads);
    board.host.noise_once_in.set(rng.pick(&[2, 3, 4, 16, 0]));
    let calm = rng.pick(&[4, 20, 200]);
    for action in 0..count {
        told.at(action);
        // Others may come between a call that was preempted and its next issue.
        if rng.once_in(2) {
            while board.step() {
                board.check_core();
            }
        } else if board.host.waiting().is_some() || rng.once_in(2) {
            board.step();
        }
        board.check_core();
        if rng.once_in(calm) {
            corrupt(&board, &rng);
        }
        match board.running() {
            Some(_) if board.regs.get().again && !rng.once_in(6) => {
                reach.again += 1;
                board.call(board.regs.get());
            }
            Some(me) => {
                let regs = act(&board, &rng, me);
                board.call(regs);
            }
            None => board.host.advance(200_000),
        }
        board.check_core();
        for thread in 1..=THREADS {
            let waits = board.thread(thread).inherit.waits.get();
            if let Some(at) = waits {
                let turnstile = &board.thread(at.index()).inherit.turnstile;
                reach.conditions += u64::from(turnstile.is_condition());
                let more = turnstile.is_condition() && turnstile.lent_to().count() > 1;
                reach.lent += u64::from(more);
            }
        }
    }
}

fn corrupt<S: System<Port = Host>>(board: &Board<S>, rng: &Rng) {
    let any = || id(board, 1 + rng.below(THREADS.into()) as u32);
    let pair = rng.below(PAIRS) as usize;
    let owner = any();
    let word = rng.pick(&[0, u64::from(owner), u64::from(owner | WAITERS), rng.next()]);
    board.write(1, MUTEX + pair, word | rng.pick(&[0, u64::from(any()) << 32]));
}

fn act<S: System<Port = Host>>(board: &Board<S>, rng: &Rng, me: u32) -> Regs {
    let pair = rng.below(PAIRS) as usize;
    let condition = (PAIRS - 1 - rng.below(CONDITIONS)) as usize;
    let mutex = condition - CONDITIONS as usize;
    let any = || id(board, 1 + rng.below(THREADS.into()) as u32);
    let until = board.host.now() + 1 + rng.below(4_000_000);
    let limit = (!rng.once_in(3)).then_some(until);
    let seen = |pair: usize| board.read(1, MUTEX + pair) as u32;
    let slot = THREAD + 1 + rng.below(THREADS.into());
    let may = slot != THREAD + 1;
    let sleep = timed(NOTHING.into(), NOTHING.into(), Info(0), Timeout::At, until);
    match rng.below(30) {
        0..6 if me != KEEPER => {
            let at = MUTEX + pair;
            if board.read(1, at) == 0 {
                board.write(1, at, id(board, me).into());
                return system(Call::Null, &[]);
            }
            board.write(1, at, board.read(1, at) | u64::from(WAITERS));
            wait(pair, seen(pair), limit)
        }
        6..13 if me != KEEPER => {
            let helpers = std::array::from_fn(|_| if rng.once_in(3) { 0 } else { any() });
            let mutex = if rng.once_in(12) { pair } else { mutex };
            cond_wait(condition, seen(condition), mutex, limit, helpers)
        }
        13..15 => wake(pair),
        15..19 => {
            let at = MUTEX + mutex;
            if board.read(1, at) >> 32 == 0 {
                board.write(1, at, id(board, me).into());
            }
            notify(condition, rng.once_in(2))
        }
        19..22 => tell(condition, any(), !rng.once_in(3)),
        22 => system(Call::ThreadPriority, &[slot, 15 + rng.below(20)]),
        23 if may && rng.once_in(6) => system(Call::Destroy, &[slot]),
        24 if may => system(Call::ThreadSuspend, &[slot]),
        25..27 => system(Call::ThreadResume, &[slot]),
        27 if may => system(Call::ThreadExchange, &[slot, 0, 0, 0, 0, exchange::CANCEL]),
        28 => ceiling(rng.pick(&[NO_CEILING, NO_CEILING, 18, 24, 40])),
        _ if me == KEEPER => {
            board.host.advance(300_000);
            system(Call::ThreadResume, &[slot])
        }
        _ if rng.once_in(2) => sleep,
        _ => system(Call::CapDelete, &[FREE]),
    }
}

#[test]
fn attacked_words() {
    let mut reach = Reach::default();
    for seed in seeds(0..60) {
        run::<DirectLazy<Host>>(0xa100_0000 + seed, steps(1200), &mut reach);
        run::<StrictEager<Host>>(0xa200_0000 + seed, steps(600), &mut reach);
        run::<Tree<Host>>(0xa300_0000 + seed, steps(600), &mut reach);
    }
    assert!(reach.again > 100 && reach.conditions > 1000 && reach.lent > 1000, "{reach:?}");
}
