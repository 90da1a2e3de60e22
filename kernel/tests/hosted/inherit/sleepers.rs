//! Deadlines of threads below the one that runs, where a tree orders threads: what gives a thread
//! more than its priority makes its deadline more urgent as well.

use super::leaves::{lending, reserve, set};
use super::{lock, sleep};
use crate::support::archive::TICK;
use crate::support::board::Board;
use crate::support::host::Host;
use crate::support::scene::{ENDPOINT, LEAF, THREAD, boot, call, receive, system};
use abi::Info;
use abi::call::{Call, Setting};
use abi::reservation::Share;
use kernel::port::Port;
use kernel::system::Tree;

type Machine = Board<Tree<Host>>;

/// The threads: one that sleeps, one above it that runs, and one above both.
const SLEEPER: u32 = 1;
const RUNS: u32 = 2;
const ABOVE: u32 = 3;

/// The sleeper waits until two ticks, the second thread runs from one, the third one from three.
fn sleeps(board: &Machine) {
    board.does(ABOVE, sleep(3 * TICK));
    board.does(RUNS, sleep(TICK));
    board.does(SLEEPER, sleep(2 * TICK));
    board.wait(TICK - board.host.now());
}

/// Whether a deadline is due that is not served.
fn is_deferred(board: &Machine) -> bool {
    board.machine.cpu.deadlines.first() <= board.host.now()
}

#[track_caller]
fn is_above(board: &Machine) {
    assert!(!is_deferred(board), "a deadline that became urgent is deferred");
    assert_eq!(board.running(), Some(SLEEPER));
    board.check();
}

#[test]
fn a_sleeper_is_given_a_reservation() {
    let board: Machine = boot(&[(1, 10), (1, 20), (1, 30)]);
    set(&board, ABOVE, Setting::Share, Share::Priority(300).encode());
    sleeps(&board);
    board.wait(TICK);
    assert!(is_deferred(&board), "a low deadline interrupts a high thread");
    board.does(RUNS, system(Call::Reserve, &[THREAD + u64::from(SLEEPER), LEAF]));
    is_above(&board);
}

#[test]
fn a_sleeper_is_given_a_priority() {
    let board: Machine = boot(&[(1, 10), (1, 20), (1, 30)]);
    sleeps(&board);
    board.wait(TICK);
    board.does(RUNS, system(Call::ThreadPriority, &[THREAD + u64::from(SLEEPER), 25]));
    is_above(&board);
}

#[test]
fn a_sleeper_is_lent_a_leaf() {
    // That of a priority, or a reservation.
    for reserved in [false, true] {
        let board = lending(&[(1, 10), (1, 20), (1, 30)]);
        set(&board, ABOVE, Setting::Share, Share::Priority(300).encode());
        if reserved {
            reserve(&board, ABOVE, ABOVE);
        }
        board.does(ABOVE, sleep(3 * TICK));
        board.does(RUNS, sleep(TICK));
        lock(&board, SLEEPER, 0);
        board.does(SLEEPER, sleep(2 * TICK));
        board.wait(TICK - board.host.now());
        board.wait(TICK);
        assert!(is_deferred(&board), "a low deadline interrupts a high thread");
        board.wait(TICK);
        lock(&board, ABOVE, 0);
        is_above(&board);
    }
}

#[test]
fn a_server_sleeps_while_a_call_waits_for_it() {
    let board: Machine = boot(&[(1, 10), (1, 20), (1, 30)]);
    board.does(ABOVE, sleep(TICK));
    board.does(RUNS, sleep(2 * TICK));
    board.does(SLEEPER, receive(ENDPOINT));
    board.wait(TICK - board.host.now());
    board.does(ABOVE, call(ENDPOINT, Info::new(0, 0)));
    board.does(SLEEPER, sleep(3 * TICK));
    board.wait(TICK);
    assert_eq!(board.running(), Some(RUNS));
    board.wait(TICK);
    is_above(&board);
}
