//! Several mutexes of one owner, unlocked in each order: what it inherits is always that of those
//! that it still owns (S2G-03).

use super::{effective, mark, wait, wake};
use crate::support::board::Board;
use crate::support::context::Regs;
use crate::support::host::Host;
use crate::support::scene::{THREAD, boot, system, timed};
use abi::Info;
use abi::call::{Call, NOTHING, Timeout};
use kernel::port::Port;
use kernel::system::DirectLazy;

type Machine = Board<DirectLazy<Host>>;

/// The priority of the owner; what waits for its mutex `n` has `10 * n` more, from 1.
const OWN: i16 = 10;
const MUTEXES: usize = 3;

/// All orders of three.
const ORDERS: [[usize; MUTEXES]; 6] =
    [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]];

fn sleep(until: u64) -> Regs {
    timed(NOTHING.into(), NOTHING.into(), Info(0), Timeout::At, until)
}

/// The threads that own something now rest, until the first one runs.
fn rest(board: &Machine) {
    while let Some(thread) = board.running().filter(|thread| *thread != 1) {
        board.does(thread, sleep(u64::MAX));
    }
}

/// Thread 1 owns all mutexes, each of which one more urgent thread waits for.
fn owning() -> Machine {
    let board: Machine = boot(&[(1, 10), (1, 20), (1, 30), (1, 40)]);
    for mutex in 0..MUTEXES {
        assert_eq!(mark(&board, 1, mutex), None, "it is free");
    }
    for mutex in (0..MUTEXES).rev() {
        let thread = mutex as u32 + 2;
        let expected = mark(&board, thread, mutex).expect("it is owned");
        board.does(thread, wait(mutex, expected, None));
        if board.running() == Some(1) && mutex > 0 {
            // It has inherited, and would go before the others.
            board.does(1, sleep(board.host.now() + 1_000_000));
        }
    }
    board.wait(2_000_000);
    assert_eq!(board.running(), Some(1));
    board
}

#[test]
fn in_each_order() {
    for order in ORDERS {
        let board = owning();
        assert_eq!(effective(&board, 1), 40);
        let mut owned = [true; MUTEXES];
        for mutex in order {
            board.does(1, wake(mutex));
            owned[mutex] = false;
            rest(&board);
            let lent =
                (0..MUTEXES).filter(|mutex| owned[*mutex]).map(|mutex| 20 + 10 * mutex as i16);
            assert_eq!(effective(&board, 1), lent.fold(OWN, i16::max), "{order:?} at {mutex}");
        }
    }
}

/// The same where what waits ends.
#[test]
fn in_each_order_by_the_end_of_waits() {
    for order in ORDERS {
        let board = owning();
        let mut waiting = [true; MUTEXES];
        for mutex in order {
            board.does(1, system(Call::Destroy, &[THREAD + mutex as u64 + 2]));
            waiting[mutex] = false;
            let lent =
                (0..MUTEXES).filter(|mutex| waiting[*mutex]).map(|mutex| 20 + 10 * mutex as i16);
            assert_eq!(effective(&board, 1), lent.fold(OWN, i16::max), "{order:?} at {mutex}");
        }
    }
}
