//! Jobs of a reservation, where a scheduling tree orders threads: each is one, also where its
//! thread is late for it, and a start-up is none.

use crate::support::archive::TICK;
use crate::support::board::Board;
use crate::support::context::Regs;
use crate::support::host::Host;
use crate::support::scene::{
    ENDPOINT, LEAF, NOTIFICATION, THREAD, TIMER, boot, receive, reply_wait, send, system, timed,
};
use abi::Info;
use abi::call::{Call, NOTHING, Setting, Timeout, ipc, partners};
use abi::reservation::{Jobs, Timing};
use kernel::port::Port;
use kernel::system::Tree;
use policies::tree::NodeId;

const MESSAGE: Info = Info::new(0, 0);
/// The node of the scene's leaf: behind both roots.
const LEAF_NODE: NodeId = NodeId(2);
/// The thread whose reservation it is, and one below it.
const TASK: u32 = 1;
const OTHER: u32 = 2;

fn sleep(until: u64) -> Regs {
    timed(NOTHING.into(), NOTHING.into(), MESSAGE, Timeout::At, until)
}

fn jobs(board: &Board<Tree<Host>>) -> Jobs {
    let state = board.machine.kernel.trees.with(|tree| tree.inspect(LEAF_NODE)).flatten();
    state.expect("a leaf").jobs
}

/// A task with jobs of this kind on a leaf of its own. What it has run until now is its start-up.
fn task(deadline: u64, period: u64) -> Board<Tree<Host>> {
    let board: Board<Tree<Host>> = boot(&[(1, 200), (1, 20)]);
    let timing = Timing::encode(Some(Timing { deadline, period }));
    let set = system(Call::ReservationSet, &[LEAF, Setting::Timing as u64, 0]).with_words(timing);
    board.succeeds(TASK, set);
    board.succeeds(TASK, system(Call::Reserve, &[THREAD + u64::from(TASK), LEAF]));
    board
}

#[test]
fn a_start_up_is_no_job() {
    let board = task(TICK, 10 * TICK);
    board.wait(5 * TICK);
    board.does(TASK, sleep(board.host.now() + TICK));
    assert_eq!(jobs(&board), Jobs { ended: 0, missed: 0, worst: 0, latest: 0 });
    board.wait(TICK);
    board.wait(TICK / 2);
    board.does(TASK, receive(ENDPOINT));
    let Jobs { ended, missed, worst, .. } = jobs(&board);
    assert_eq!((ended, missed), (1, 0), "{worst} ns");
}

/// Jobs of three ticks each, released every two, due within five: late from the third one on.
#[test]
fn a_job_that_is_late_for_its_release_is_one() {
    let board = task(5 * TICK, 2 * TICK);
    let first = board.host.now() + TICK;
    board.does(TASK, sleep(first));
    board.wait(TICK);
    for job in 1..=4 {
        board.wait(3 * TICK);
        board.does(TASK, sleep(first + job * 2 * TICK));
        let late = board.host.now() - (first + job * 2 * TICK);
        assert_eq!(board.running(), Some(TASK), "its release was {late} ns ago");
        let Jobs { ended, missed, worst, .. } = jobs(&board);
        assert_eq!((ended, missed), (job, job.saturating_sub(3)), "{worst} ns");
        let response = (2 + job) * TICK;
        assert!(worst >= response && worst < response + TICK / 2, "{worst} ns");
    }
}

/// A request that waits, and a signal that is pending, begin jobs like those that are waited for;
/// the answer that is owed comes first.
#[test]
fn what_has_come_meanwhile_begins_a_job() {
    let board = task(4 * TICK, 4 * TICK);
    board.does(TASK, receive(ENDPOINT));
    for _ in 0..2 {
        board.does(OTHER, send(ENDPOINT, MESSAGE));
        assert_eq!(board.running(), Some(TASK));
        board.succeeds(TASK, system(Call::Signal, &[NOTIFICATION]));
        board.wait(TICK);
        let before = jobs(&board).ended;
        board.does(TASK, receive(NOTIFICATION));
        assert_eq!((board.running(), jobs(&board).ended), (Some(TASK), before + 1));
        board.does(TASK, reply_wait(ENDPOINT, MESSAGE));
        assert_eq!((board.running(), jobs(&board).ended), (Some(OTHER), before + 2));
    }
}

/// An interrupt that goes before what has come is no release: a round is one job, wherever that is.
#[test]
fn a_wait_that_is_issued_again_is_no_job() {
    let board = task(4 * TICK, 4 * TICK);
    for round in 0..8 {
        let until = board.host.now() + 50 * TICK;
        board.does(TASK, timed(NOTHING.into(), NOTIFICATION, MESSAGE, Timeout::At, until));
        assert_eq!((board.running(), jobs(&board).ended), (Some(OTHER), round));
        board.host.interrupt_after(round);
        board.does(OTHER, system(Call::Signal, &[NOTIFICATION]));
        board.wait(TICK / 10);
        assert_eq!((board.running(), jobs(&board).ended), (Some(TASK), round));
        board.wait(3 * TICK);
    }
    assert_eq!(jobs(&board).missed, 0);
}

/// A signal wakes the task, an interrupt goes first, and the task gets the CPU late: its job is as
/// old as the signal, and late.
#[test]
fn a_job_that_is_looked_for_again_is_as_old_as_its_signal() {
    let mut again = 0;
    for polls in 0..6 {
        let board = task(4 * TICK, 4 * TICK);
        let now = board.host.now();
        board.succeeds(TASK, system(Call::TimerSet, &[TIMER, now + TICK]));
        let until = now + 50 * TICK;
        board.does(TASK, timed(NOTHING.into(), NOTIFICATION, MESSAGE, Timeout::At, until));
        board.host.interrupt_after(polls);
        board.host.advance(TICK);
        while board.running() != Some(TASK) {
            assert!(board.step(), "it is not woken");
        }
        again += u32::from(board.regs.get().again);
        // Whatever keeps the task from the CPU.
        board.host.advance(6 * TICK);
        board.settle();
        board.does(TASK, sleep(board.host.now() + 8 * TICK));
        let Jobs { ended, missed, worst, .. } = jobs(&board);
        assert_eq!((ended, missed), (1, 1), "{worst} ns, {polls} polls");
        assert!(worst >= 6 * TICK, "{worst} ns, {polls} polls");
    }
    assert!(again > 0, "it never looked again");
}

/// A release that has passed when a sender's message is taken, and it goes on to its wait: its
/// job is as old as that release.
#[test]
fn a_release_that_a_sender_says_is_kept() {
    let board = task(TICK, TICK);
    board.does(TASK, sleep(board.host.now() + TICK));
    board.wait(TICK);
    let pair = partners(ENDPOINT as u32, NOTIFICATION as u32);
    let call = ipc(Timeout::Never, Timeout::At);
    let due = board.host.now() + 2 * TICK;
    board.does(TASK, Regs::call(call, &[pair, MESSAGE.0, due]));
    board.wait(7 * TICK);
    board.does(OTHER, receive(ENDPOINT));
    let counts = || [jobs(&board).ended, jobs(&board).missed];
    assert_eq!((board.running(), counts()), (Some(TASK), [1, 2]));
    board.does(TASK, sleep(board.host.now() + TICK));
    assert_eq!(counts(), [2, 2]);
}
