//! Words that are written over at any moment: all invariants hold.

use super::ceilings::ceiling;
use super::{MUTEX, cond_wait, id, notify, tell, wait, wake};
use crate::support::board::Board;
use crate::support::effort::{seeds, steps};
use crate::support::host::Host;
use crate::support::rng::Rng;
use crate::support::scene::{THREAD, boot, system, timed};
use abi::Info;
use abi::call::{Call, NOTHING, Timeout};
use abi::futex::{NO_CEILING, WAITERS};
use kernel::port::Port;
use kernel::system::DirectLazy;

/// Pairs of words, each of them a mutex and a condition.
const PAIRS: u64 = 6;
/// The thread that never waits and is never ended.
const KEEPER: u32 = 1;
const THREADS: u32 = 10;

#[test]
fn hostile_words() {
    for seed in seeds(0..40) {
        let rng = Rng::new(!seed);
        let priority = |thread| if thread == KEEPER { 1 } else { 20 + rng.below(8) as u8 };
        let threads: Vec<(u32, u8)> = (1..=THREADS).map(|thread| (1, priority(thread))).collect();
        let board: Board<DirectLazy<Host>> = boot(&threads);
        for _ in 0..steps(800) {
            while let Some(event) = board.host.waiting() {
                board.take(event);
                board.check_core();
            }
            match board.running() {
                Some(me) => act(&board, &rng, me),
                None => board.host.advance(500_000),
            }
        }
    }
}

fn act(board: &Board<DirectLazy<Host>>, rng: &Rng, me: u32) {
    let (pair, other) = (rng.below(PAIRS) as usize, rng.below(PAIRS) as usize);
    let any = || id(board, 1 + rng.below(THREADS.into()) as u32);
    if rng.once_in(6) {
        let owner = any();
        let word = rng.pick(&[0, u64::from(owner), u64::from(owner | WAITERS), rng.next()]);
        board.write(1, MUTEX + pair, word | rng.pick(&[0, u64::from(owner) << 32]));
    }
    let until = board.host.now() + 1 + rng.below(4_000_000);
    let seen = board.read(1, MUTEX + pair) as u32;
    let slot = THREAD + 1 + rng.below(THREADS.into());
    let regs = match rng.below(20) {
        0..4 if me != KEEPER => wait(pair, seen | WAITERS, Some(until)),
        4..9 if me != KEEPER => {
            let helpers = std::array::from_fn(|_| if rng.once_in(4) { 0 } else { any() });
            cond_wait(pair, seen, other, Some(until), helpers)
        }
        9..11 => wake(pair),
        11..13 => {
            if rng.once_in(2) {
                let queue = board.read(1, MUTEX + other) >> 32 << 32;
                board.write(1, MUTEX + other, queue | u64::from(id(board, me)));
            }
            notify(pair, rng.once_in(2))
        }
        13..15 => tell(pair, any(), rng.once_in(2)),
        15 => system(Call::ThreadPriority, &[slot, 15 + rng.below(20)]),
        16 if slot != THREAD + 1 && rng.once_in(8) => system(Call::Destroy, &[slot]),
        17 => ceiling(rng.pick(&[NO_CEILING, NO_CEILING, 18, 24, 40])),
        _ if me == KEEPER => {
            board.host.advance(300_000);
            wake(pair)
        }
        _ => timed(NOTHING.into(), NOTHING.into(), Info(0), Timeout::At, until),
    };
    board.call(regs);
    board.check_core();
}
