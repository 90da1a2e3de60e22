//! While waits are searched and followed interrupts wait for a few links, however waits were
//! arranged, and whatever interrupts come one after another; and nothing is chosen by what it had.

use super::{cond_wait, effective, follows, helpers_of, id, lock, mark, sleep, wait};
use crate::support::archive::TICK;
use crate::support::board::Board;
use crate::support::context::Regs;
use crate::support::host::Host;
use crate::support::scene::{ENDPOINT, THREAD, boot, call, receive, send, system};
use abi::Info;
use abi::call::{Call, exchange};
use abi::reservation::Inheritance;
use kernel::object::thread::{State, flag};
use kernel::system::{
    DirectLazy, Fastpath, IpcHeap, IpcOrdered, IpcScan, StrictEager, StrictLazy, System, Tree,
};

/// Threads from 1 on, the higher the more urgent.
fn threads<S: System<Port = Host>>(count: u32) -> Board<S> {
    boot(&(1..=count).map(|thread| (1, 2 * thread as u8)).collect::<Vec<_>>())
}

fn runs<S: System<Port = Host>>(board: &Board<S>) -> u32 {
    board.running().expect("a thread is ready")
}

/// A wait for a condition that these threads help, in place of those that have a higher index.
fn wait_for<S: System<Port = Host>>(board: &Board<S>, helpers: [u32; 4]) -> Regs {
    cond_wait(100, 0, 101, None, helpers.map(|at| if at == 0 { 0 } else { id(board, at) }))
}

/// Helpers of a condition that all wait for the end of the same row: a search looks at each thread
/// of that once.
#[test]
fn ways_that_meet_are_followed_once() {
    let row = 40;
    let [owner, awaits, searches] = [row + 5, row + 6, row + 7];
    let board: Board<StrictEager<Host>> = threads(searches);
    (1..=row).for_each(|thread| assert!(mark(&board, thread, thread as usize).is_none()));
    lock(&board, searches, 51);
    lock(&board, owner, 50);
    board.does(searches, sleep(TICK));
    lock(&board, awaits, 51);
    board.does(owner, wait_for(&board, [row + 1, row + 2, row + 3, row + 4]));
    // They all have the priority of the owner.
    (row + 1..owner).for_each(|_| lock(&board, runs(&board), row as usize));
    (2..=row).rev().for_each(|thread| lock(&board, thread, thread as usize - 1));
    assert_eq!(board.running(), Some(1));
    board.wait(TICK);
    let polls = board.host.polls.get();
    lock(&board, searches, 50);
    let polls = board.host.polls.get() - polls;
    // Those of the raise, of the call and of the decision, one for 8 links, and two for each
    // helper: where its way ends, and before the next one.
    assert!(polls < u64::from(row) + 24, "the row was searched more than once: {polls}");
    board.check_all();
}

/// Callers of the thread that searches, each on a way of its own: interrupts are polled behind each
/// that is passed over.
#[test]
fn one_caller_is_passed_over_in_a_section() {
    let (helpers, owner, searches) = ([2, 3, 4, 5], 6, 7);
    let board: Board<StrictEager<Host>> = threads(searches);
    board.succeeds(searches, system(Call::Serve, &[ENDPOINT, 1]));
    board.does(searches, sleep(TICK));
    lock(&board, owner, 50);
    board.does(owner, wait_for(&board, helpers));
    helpers.iter().for_each(|_| board.does(runs(&board), call(ENDPOINT, Info(0))));
    board.wait(TICK);
    let lend = || helpers.iter().filter(|at| board.thread(**at).has(flag::LENDS)).count();
    assert_eq!((board.running(), lend()), (Some(searches), 4));
    let expected = mark(&board, searches, 50).expect("it is owned");
    board.host.noise_once_in.set(1);
    let (mut left, mut next) = (4, wait(50, expected, None));
    for _ in 0..32 {
        board.call(next);
        assert!(left - lend() <= 1, "several were passed over in one section");
        left = lend();
        board.interrupts();
        board.check_all();
        if left == 0 {
            break;
        }
        next = board.regs.get();
    }
    assert_eq!(left, 0);
    board.host.noise_once_in.set(0);
    board.settle();
    assert_eq!(board.thread(searches).state.get(), State::Waiting);
    board.check_all();
}

/// A decision is left to one interrupt, not to each of those that come one after another: also
/// while threads are to follow that are below all that may run.
fn is_decided<S: System<Port = Host>>() {
    let (waits, ready, above) = (3, 4, 5);
    let priority = |thread: u32, priority| {
        system(Call::ThreadPriority, &[THREAD + u64::from(thread), priority])
    };
    let mut left = 0;
    for polls in 0..6 {
        let board: Board<S> = threads(above);
        board.does(above, sleep(2 * TICK));
        board.does(ready, sleep(TICK));
        board.does(waits, wait_for(&board, [1, 2, 0, 0]));
        (0..2).for_each(|_| board.does(runs(&board), sleep(100 * TICK)));
        (0..2).for_each(|_| board.wait(TICK));
        board.succeeds(above, priority(waits, 5));
        assert!(board.machine.kernel.waits.has_followers(), "a helper is to follow");
        board.host.interrupt_after(polls);
        board.call(priority(above, 1));
        if board.regs.get().again {
            continue;
        }
        for _ in 0..4 {
            let Some(event) = board.host.waiting() else { break };
            left += 1;
            board.host.interrupt_after(0);
            board.take(event);
            board.check_all();
        }
        assert_eq!(board.running(), Some(ready), "the decision was left again and again");
    }
    assert!(left > 0, "no interrupt came before the decision");
}

#[test]
fn a_decision_is_left_once() {
    is_decided::<StrictEager<Host>>();
    is_decided::<StrictLazy<Host>>();
    is_decided::<DirectLazy<Host>>();
    is_decided::<Fastpath<Host>>();
}

/// A receiver above two helpers of a condition, one of which is to follow a change, that send it
/// messages behind a less urgent thread.
fn receiver<S: System<Port = Host>>() -> (Board<S>, u32, u32) {
    let (waits, sends, receives) = (3, 4, 6);
    let board: Board<S> = threads(receives);
    board.machine.kernel.trees.set_inheritance(Inheritance::Charged);
    board.does(receives, sleep(TICK));
    board.does(5, sleep(100 * TICK));
    board.does(sends, send(ENDPOINT, Info(0)));
    board.does(waits, wait_for(&board, [1, 2, 0, 0]));
    (0..2).for_each(|_| board.does(runs(&board), send(ENDPOINT, Info(0))));
    board.wait(TICK);
    let raise = system(Call::ThreadPriority, &[THREAD + u64::from(waits), 11]);
    board.succeeds(receives, raise);
    assert!(board.machine.kernel.waits.has_followers(), "a helper is to follow");
    (board, sends, receives)
}

/// A receiver above all that changes takes the message of the most urgent sender, also if that has
/// become it by a change that is to be followed yet.
fn takes_the_most_urgent<S: System<Port = Host>>() {
    let (board, sends, receives) = receiver::<S>();
    for polls in [None, Some(1)] {
        polls.into_iter().for_each(|polls| board.host.interrupt_after(polls));
        board.does(receives, receive(ENDPOINT));
        board.sees(receives, Ok(()));
        board.check_all();
    }
    assert_eq!(board.thread(sends).state.get(), State::Sending, "it is less urgent than both");
    board.succeeds(receives, receive(ENDPOINT));
    assert_eq!(board.thread(sends).state.get(), State::Ready);
}

#[test]
fn the_most_urgent_sender_is_received_from() {
    takes_the_most_urgent::<IpcScan<Host>>();
    takes_the_most_urgent::<IpcOrdered<Host>>();
    takes_the_most_urgent::<IpcHeap<Host>>();
}

/// A receiver above all that changes takes no message of a sender that has become less urgent than
/// another one by a change that is to be followed yet.
fn takes_none_that_has_fallen<S: System<Port = Host>>() {
    for polls in [None, Some(1)] {
        let (waits, sends, receives) = (3, 4, 6);
        let board: Board<S> = threads(receives);
        let priority = |priority| {
            let slot = THREAD + u64::from(waits);
            board.succeeds(receives, system(Call::ThreadPriority, &[slot, priority]));
        };
        priority(11);
        board.does(receives, sleep(TICK));
        board.does(waits, wait_for(&board, [1, 2, 0, 0]));
        (0..2).for_each(|_| board.does(runs(&board), send(ENDPOINT, Info(0))));
        board.does(5, sleep(100 * TICK));
        board.does(sends, send(ENDPOINT, Info(0)));
        board.wait(TICK);
        priority(6);
        assert!(board.machine.kernel.waits.has_followers(), "a helper is to follow");
        polls.into_iter().for_each(|polls| board.host.interrupt_after(polls));
        board.does(receives, receive(ENDPOINT));
        board.sees(receives, Ok(()));
        let states = [1, 2, sends].map(|thread| board.thread(thread).state.get());
        assert_eq!(states, [State::Sending, State::Sending, State::Ready]);
        board.check_all();
    }
}

#[test]
fn a_sender_that_has_fallen_is_not_received_from() {
    takes_none_that_has_fallen::<IpcScan<Host>>();
    takes_none_that_has_fallen::<IpcOrdered<Host>>();
    takes_none_that_has_fallen::<IpcHeap<Host>>();
}

/// Where senders are served as they come, a receiver above all that changes waits for no step.
fn takes_the_first<S: System<Port = Host>>() {
    let (board, sends, receives) = receiver::<S>();
    board.succeeds(receives, receive(ENDPOINT));
    assert_eq!(board.thread(sends).state.get(), State::Ready, "it came first");
    assert!(board.machine.kernel.waits.has_followers(), "the receiver took a step");
    board.check_all();
}

#[test]
fn a_receiver_from_a_plain_queue_takes_no_steps() {
    takes_the_first::<StrictEager<Host>>();
    takes_the_first::<StrictLazy<Host>>();
    takes_the_first::<DirectLazy<Host>>();
    takes_the_first::<Fastpath<Host>>();
    takes_the_first::<Tree<Host>>();
}

/// A helper that was passed over is looked at again, in a step, and its waiter becomes more urgent
/// before that: the step does not stay behind a thread that was above it.
fn is_looked_at_in_time<S: System<Port = Host>>(raised_first: bool) {
    let (helper, waits, middle, above) = (1, 2, 3, 4);
    let board: Board<S> = boot(&[(1, 10), (1, 20), (1, 30), (1, 40)]);
    board.machine.kernel.trees.set_inheritance(Inheritance::Charged);
    board.does(above, sleep(2 * TICK));
    board.does(middle, sleep(2 * TICK));
    board.does(waits, sleep(TICK));
    board.does(helper, wait_for(&board, [helper, 0, 0, 0]));
    board.wait(TICK);
    board.does(waits, wait_for(&board, [helper, 0, 0, 0]));
    assert_eq!(helpers_of(&board, waits), [(helper, false)], "it waits itself");
    board.wait(TICK);
    let slot = THREAD + u64::from(helper);
    let raise = system(Call::ThreadPriority, &[THREAD + u64::from(waits), 35]);
    if raised_first {
        board.succeeds(above, raise);
    }
    board.succeeds(above, system(Call::ThreadSuspend, &[slot]));
    board.does(above, system(Call::ThreadExchange, &[slot, 0, 0, 0, 0, exchange::CANCEL]));
    board.succeeds(above, system(Call::ThreadResume, &[slot]));
    assert!(follows(&board), "the helper is to be looked at");
    if !raised_first {
        board.succeeds(above, raise);
    }
    board.does(above, sleep(100 * TICK));
    assert_eq!(helpers_of(&board, waits), [(helper, true)]);
    assert_eq!((board.running(), effective(&board, helper)), (Some(helper), 35));
    board.check_all();
}

#[test]
fn a_helper_is_looked_at_by_what_its_waiter_has_now() {
    for raised_first in [false, true] {
        is_looked_at_in_time::<StrictEager<Host>>(raised_first);
        is_looked_at_in_time::<StrictLazy<Host>>(raised_first);
        is_looked_at_in_time::<Tree<Host>>(raised_first);
    }
}
