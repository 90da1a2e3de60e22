//! Deadlines of threads on reservations: as urgent as the child of the CPU's root that these are
//! in. What makes that more urgent does so for them first.

use super::sleep;
use crate::support::archive::TICK;
use crate::support::board::Board;
use crate::support::context::Regs;
use crate::support::host::{Event, Host};
use crate::support::scene::{FREE, NOTIFICATION, ROOT, THREAD, TIMER, boot, receive, system};
use abi::Error;
use abi::call::{Call, Setting};
use abi::reservation::{Budget, Policy, Server, Share, Timing};
use kernel::port::Port;
use kernel::system::Tree;

type Machine = Board<Tree<Host>>;

/// A thread on a leaf of a class, and one above that class.
const SLEEPER: u32 = 1;
const RUNS: u32 = 2;
const TWO: [(u32, u8); 2] = [(1, 10), (1, 20)];
/// One that is ready all the time.
const BESIDE: u32 = 3;
/// The class, and the leaves in it.
const CLASS: u64 = FREE;
const LEAF: u64 = FREE + 1;
const BESIDE_LEAF: u64 = FREE + 2;
const ABOVE_LEAF: u64 = FREE + 3;

fn create(slot: u64, class: u64, policy: Option<Policy>, share: Share) -> Regs {
    let (code, words) = share.encode();
    let policy = policy.map_or(0, |policy| policy as u64);
    system(Call::ReservationCreate, &[slot, class, policy, code]).with_words(words)
}

fn set(at: u64, setting: Setting, (code, words): (u64, [u64; 4])) -> Regs {
    system(Call::ReservationSet, &[at, setting as u64, code]).with_words(words)
}

/// The sleeper is on the leaf.
fn reserved(threads: &[(u32, u8)]) -> Machine {
    let board: Machine = boot(threads);
    reserve(&board);
    board
}

fn reserve(board: &Machine) {
    board.succeeds(RUNS, create(CLASS, ROOT, Some(Policy::FixedPriority), Share::Priority(15)));
    board.succeeds(RUNS, create(LEAF, CLASS, None, Share::Priority(400)));
    let timing = Timing::encode(Some(Timing { deadline: 10 * TICK, period: TICK }));
    board.succeeds(RUNS, set(LEAF, Setting::Timing, (0, timing)));
    board.succeeds(RUNS, system(Call::Reserve, &[THREAD + u64::from(SLEEPER), LEAF]));
}

/// The sleeper's deadline has come half a tick ago, and waits for the thread above it.
fn deferred() -> Machine {
    defer(reserved(&TWO))
}

fn defer(board: Machine) -> Machine {
    board.does(RUNS, sleep(TICK));
    board.does(SLEEPER, sleep(2 * TICK));
    board.wait(TICK - board.host.now());
    board.wait(TICK + TICK / 2);
    assert!(is_due(&board), "a low deadline interrupts a high thread");
    assert_eq!(board.running(), Some(RUNS));
    board.check();
    board
}

/// Whether a deadline is due that is not served.
fn is_due(board: &Machine) -> bool {
    board.machine.cpu.deadlines.first() <= board.host.now()
}

/// After this call nothing is due any more, and the sleeper runs.
#[track_caller]
fn wakes_by(regs: Regs) {
    let board = deferred();
    board.does(RUNS, regs);
    assert!(!is_due(&board), "a deadline that became urgent is deferred");
    assert_eq!(board.running(), Some(SLEEPER));
    board.check();
}

#[test]
fn a_class_becomes_more_urgent() {
    wakes_by(set(CLASS, Setting::Share, Share::Priority(25).encode()));
}

#[test]
fn a_leaf_joins_a_class_that_is_more_urgent() {
    let (code, words) = Share::Priority(25).encode();
    wakes_by(system(Call::ReservationJoin, &[LEAF, ROOT, code]).with_words(words));
}

/// A deadline that was deferred still is, where a leaf goes before others of its class alone.
#[test]
fn a_leaf_becomes_more_urgent_in_its_class() {
    let board = deferred();
    board.succeeds(RUNS, set(LEAF, Setting::Share, Share::Priority(500).encode()));
    assert!(is_due(&board));
    assert_eq!(board.running(), Some(RUNS));
}

/// A miss is told of while the thread waits for its CPU: so its job is released in time.
#[test]
fn a_leaf_is_watched() {
    let board = deferred();
    board.succeeds(RUNS, set(LEAF, Setting::Monitor, (NOTIFICATION, [1, 0, 0, 0])));
    assert!(!is_due(&board), "a job is not released in time");
    assert_eq!(board.running(), Some(RUNS));
    board.check();
}

/// How urgent the sleeper is.
fn urgency(board: &Machine) -> i16 {
    let at = board.machine.kernel.threads.get(SLEEPER).expect("it exists");
    board.open(|all| board.machine.kernel.trees.urgency_of_sleeper(all, at))
}

/// A change that makes the sleeper more urgent is interrupted behind the first thread that it has
/// looked at. The most urgent thread runs.
fn begun() -> Machine {
    (1..10).find_map(interrupted_after).expect("the change begins with a thread")
}

/// The same, interrupted at so many polls, if that was behind the first thread.
fn interrupted_after(polls: u64) -> Option<Machine> {
    let board: Machine = boot(&[(1, 10), (1, 20), (1, 25)]);
    board.does(BESIDE, sleep(TICK));
    reserve(&board);
    assert_eq!(urgency(&board), 15);
    board.host.interrupt_after(polls);
    board.call(set(LEAF, Setting::Monitor, (NOTIFICATION, [1, 0, 0, 0])));
    let is_begun = board.regs.get().again && urgency(&board) == 20;
    is_begun.then(|| board.wait(TICK))?;
    Some(board)
}

/// A change that was begun, and is not gone on with, leaves no thread as urgent as it would have.
#[test]
fn a_change_that_never_comes_makes_nothing_urgent() {
    let board = begun();
    board.succeeds(BESIDE, system(Call::ThreadSuspend, &[THREAD + u64::from(RUNS)]));
    assert_eq!(urgency(&board), 15);
    board.succeeds(BESIDE, system(Call::ThreadResume, &[THREAD + u64::from(RUNS)]));
    board.does(BESIDE, sleep(10 * TICK));
    board.sees(RUNS, Ok(()));
    assert_eq!(urgency(&board), 20);
}

#[test]
fn a_change_that_fails_makes_nothing_urgent() {
    let board = begun();
    board.succeeds(BESIDE, system(Call::CapDelete, &[NOTIFICATION]));
    board.does(BESIDE, sleep(10 * TICK));
    board.sees(RUNS, Err(Error::NoCapability));
    assert_eq!(urgency(&board), 15);
    board.check();
}

#[test]
fn a_change_of_a_thread_that_is_sent_elsewhere_makes_nothing_urgent() {
    let board = begun();
    let thread = THREAD + u64::from(RUNS);
    board.succeeds(BESIDE, system(Call::ThreadSuspend, &[thread]));
    board.succeeds(BESIDE, system(Call::ThreadExchange, &[thread, 0, 0, 0, 0, 0]));
    board.succeeds(BESIDE, system(Call::ThreadResume, &[thread]));
    assert_eq!(urgency(&board), 15);
    board.check();
}

/// So is a timer that a thread on a leaf has set; and whom it signals has a job released by it.
#[test]
fn a_timer_is_set_by_a_thread_on_a_leaf() {
    let board = reserved(&TWO);
    board.does(RUNS, sleep(TICK));
    board.succeeds(SLEEPER, system(Call::TimerSet, &[TIMER, 2 * TICK]));
    board.does(SLEEPER, receive(NOTIFICATION));
    board.wait(TICK - board.host.now());
    board.wait(TICK + TICK / 2);
    assert!(is_due(&board), "a timer does not wait for the thread that has set it");
    assert_eq!(board.running(), Some(RUNS));
    assert_eq!(released(&board), 2 * TICK);
}

/// A monitor of a class is told of no misses, and hides none of what sleeps there.
#[test]
fn a_class_with_a_monitor_becomes_more_urgent() {
    let board = deferred();
    board.succeeds(RUNS, set(CLASS, Setting::Monitor, (NOTIFICATION, [1, 0, 0, 0])));
    assert!(is_due(&board));
    board.does(RUNS, set(CLASS, Setting::Share, Share::Priority(25).encode()));
    assert!(!is_due(&board), "a deadline that became urgent is deferred");
    assert_eq!(board.running(), Some(SLEEPER));
    board.check();
}

/// When the job was released that the sleeper has when the one above sleeps.
fn released(board: &Machine) -> u64 {
    board.does(RUNS, sleep(20 * TICK));
    released_now(board)
}

fn released_now(board: &Machine) -> u64 {
    assert_eq!(board.running(), Some(SLEEPER));
    board.succeeds(SLEEPER, system(Call::ReservationInspect, &[LEAF, 1]));
    board.host.now() - board.regs.get().words[0]
}

#[test]
fn a_job_is_released_at_its_deadline() {
    assert_eq!(released(&deferred()), 2 * TICK);
}

/// Another thread of the class is ready all the time.
fn beside() -> Machine {
    let board = reserved(&[(1, 10), (1, 20), (1, 10)]);
    board.succeeds(RUNS, create(BESIDE_LEAF, CLASS, None, Share::Priority(300)));
    board.succeeds(RUNS, system(Call::Reserve, &[THREAD + u64::from(BESIDE), BESIDE_LEAF]));
    board
}

/// It does not run before the deadline is served, so the job is as old as that.
#[test]
fn a_deadline_is_served_before_its_class_runs() {
    assert_eq!(released(&defer(beside())), 2 * TICK);
}

/// Nor where another interrupt comes before that of the timer.
#[test]
fn a_deadline_is_served_behind_another_interrupt() {
    let board = defer(beside());
    board.host.irqs[3].enabled.set(true);
    board.host.raise(Event::Irq(3));
    assert_eq!(released(&board), 2 * TICK);
}

/// The same where the one above does not block, but has no budget any more.
#[test]
fn a_deadline_is_served_where_a_budget_ends() {
    let board = beside();
    board.succeeds(RUNS, create(ABOVE_LEAF, ROOT, None, Share::Priority(20)));
    let budget = Budget::encode(Some(Budget::new(Server::Constant, 3 * TICK, 100 * TICK)));
    board.succeeds(RUNS, set(ABOVE_LEAF, Setting::Budget, (0, budget)));
    board.succeeds(RUNS, system(Call::Reserve, &[THREAD + u64::from(RUNS), ABOVE_LEAF]));
    let board = defer(board);
    board.wait(3 * TICK);
    assert_eq!(released_now(&board), 2 * TICK);
}
