//! Which waiter of a condition moves to its mutex, where a change that puts another one first is
//! still to be followed.

use super::{cond_wait, follows, id, lock, mark, notify, wait, wake};
use crate::support::archive::TICK;
use crate::support::board::Board;
use crate::support::host::{Event, Host};
use crate::support::scene::{NOTIFICATION, boot, receive};
use abi::reservation::Inheritance;
use kernel::object::thread::State;
use kernel::system::{DirectLazy, System, Tree};

/// The mutex of the condition, two others, and the condition.
const MUTEX: usize = 0;
const OTHERS: [usize; 2] = [1, 2];
const CONDITION: usize = 10;

/// Thread 1 waits for the condition behind thread 2, and owns what thread 5 waits for. Thread 3
/// waits for what that owns, which puts thread 1 first; an interrupt at any poll of it has thread 4
/// run, above all, which wakes one waiter. It is the one that is first by then.
fn moves<S: System<Port = Host>>() {
    let mut behind = 0;
    for polls in 0..40 {
        let board: Board<S> = boot(&[(1, 10), (1, 20), (1, 30), (1, 40), (1, 15)]);
        board.machine.kernel.trees.set_inheritance(Inheritance::Charged);
        assert!(mark(&board, 4, MUTEX).is_none());
        board.does(4, receive(NOTIFICATION));
        board.does(3, super::sleep(TICK));
        board.does(2, cond_wait(CONDITION, 0, MUTEX, None, [0; 4]));
        let [first, second] = OTHERS;
        assert!(mark(&board, 1, first).is_none() && mark(&board, 5, second).is_none());
        lock(&board, 5, first);
        board.does(1, cond_wait(CONDITION, 0, MUTEX, None, [0; 4]));
        board.wait(TICK);
        let expected = mark(&board, 3, second).expect("it is owned");
        board.host.interrupt_after(polls);
        board.call(wait(second, expected, None));
        board.host.raise(Event::Irq(3));
        board.interrupts();
        assert_eq!(board.running(), Some(4));
        behind += u32::from(follows(&board));
        let waits = board.thread(3).state.get() == State::Waiting;
        board.does(4, notify(CONDITION, false));
        board.does(4, wake(MUTEX));
        let owner = board.read(1, super::MUTEX + MUTEX) as u32;
        let first = if waits { 1 } else { 2 };
        assert_eq!(owner, id(&board, first), "after {polls} polls");
        board.check_all();
    }
    assert!(behind > 0, "no change was left to be followed");
}

#[test]
fn the_first_waiter_moves_whatever_is_followed_before() {
    moves::<DirectLazy<Host>>();
    moves::<Tree<Host>>();
}
