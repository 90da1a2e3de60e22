//! Reservations: who may make them, what they limit, and what happens when they end.

use crate::support::archive::TICK;
use crate::support::board::Board;
use crate::support::context::Regs;
use crate::support::host::Host;
use crate::support::scene::{
    DOMAIN, FREE, LEAF, NOTIFICATION, ROOT, SYSTEM_SLOT, THREAD, boot, receive, system,
};
use abi::call::{Call, Setting, Table};
use abi::object::Resource;
use abi::reservation::{
    Budget, Curve, LEAST_BUDGET, Policy, Server, Share, Timing, UNSERVED, WHOLE, Words,
};
use abi::{Error, Rights};
use kernel::port::Port;
use kernel::system::Tree;

pub(super) type Tested = Board<Tree<Host>>;

const MS: u64 = 1_000_000;

pub(super) fn create(slot: u64, class: u64, policy: Option<Policy>, share: Share) -> Regs {
    let (code, words) = share.encode();
    let policy = policy.map_or(0, |policy| policy as u64);
    system(Call::ReservationCreate, &[slot, class, policy, code]).with_words(words)
}

pub(super) fn set(slot: u64, setting: Setting, words: Words) -> Regs {
    system(Call::ReservationSet, &[slot, setting as u64, 0]).with_words(words)
}

pub(super) fn set_share(slot: u64, share: Share) -> Regs {
    let (code, words) = share.encode();
    system(Call::ReservationSet, &[slot, Setting::Share as u64, code]).with_words(words)
}

pub(super) fn limit(slot: u64, budget: u64, period: u64) -> Regs {
    let budget = Budget::new(Server::Periodic, budget, period);
    set(slot, Setting::Budget, Budget::encode(Some(budget)))
}

pub(super) fn reserve(thread: u64, slot: u64) -> Regs {
    system(Call::Reserve, &[thread, slot])
}

/// How long each thread runs from now on, in steps of 100 us.
fn runs(board: &Tested, steps: u64) -> Vec<u64> {
    let mut ran = vec![0; 8];
    for _ in 0..steps {
        if let Some(thread) = board.running() {
            ran[thread as usize] += 1;
        }
        board.wait(100_000);
    }
    ran
}

#[test]
fn a_thread_that_never_waits_has_its_budget_and_no_more() {
    let board: Tested = boot(&[(1, 200), (1, 10)]);
    board.succeeds(1, limit(LEAF, 2 * MS, 10 * MS));
    board.succeeds(1, reserve(THREAD + 1, LEAF));
    let ran = runs(&board, 1_000);
    // In a hundred milliseconds, a step more or less for the timer.
    assert!((195..=205).contains(&ran[1]), "{ran:?}");
    assert_eq!(ran[1] + ran[2], 1_000, "and the other thread has the rest");
}

#[test]
fn the_least_budget_progresses_and_a_whole_one_is_no_limit() {
    let board: Tested = boot(&[(1, 200), (1, 10)]);
    for too_small in [0, 2, LEAST_BUDGET - 1] {
        board.fails(1, limit(LEAF, too_small, 10 * MS), Error::BudgetTooSmall);
        board.fails(1, limit(LEAF, too_small, 1), Error::BudgetTooSmall);
    }
    board.succeeds(1, create(FREE, ROOT, Some(Policy::FixedPriority), Share::Priority(100)));
    board.fails(1, limit(FREE, LEAST_BUDGET - 1, 10 * MS), Error::BudgetTooSmall);
    board.succeeds(1, limit(FREE, LEAST_BUDGET, 10 * MS));
    board.fails(1, limit(LEAF, 50_000, 99_999), Error::InvalidArgument);
    board.succeeds(1, limit(LEAF, 10 * MS, 10 * MS));
    board.succeeds(1, reserve(THREAD + 1, LEAF));
    assert_eq!(runs(&board, 300)[1], 300);
    // It has run without a limit: its first budget comes a period later.
    board.does(1, limit(LEAF, LEAST_BUDGET, MS));
    let before = board.host.now();
    let mut ran = 0;
    while board.host.now() < before + 100 * MS {
        let at = board.host.armed().expect("a period ends") - board.host.now();
        ran += if board.running() == Some(1) { at } else { 0 };
        board.wait(at);
    }
    let all = 100 * LEAST_BUDGET;
    assert!((all - all / 100..=all + all / 100).contains(&ran), "{ran} ns in 100 periods");
}

#[test]
fn rights_divide_reserve_and_control() {
    let board: Tested = boot(&[(1, 200), (2, 10)]);
    let fixed = Some(Policy::FixedPriority);
    board.succeeds(1, create(FREE, ROOT, fixed, Share::Priority(100)));
    // A class to divide, but not to change; a leaf to run on, and no more.
    let rights = |rights: Rights| u64::from(rights.0);
    let divide = rights(Rights::DIVIDE | Rights::COPY);
    board.succeeds(1, system(Call::DomainGrant, &[DOMAIN + 1, FREE, FREE, divide]));
    let run = rights(Rights::RESERVE);
    board.succeeds(1, system(Call::DomainGrant, &[DOMAIN + 1, LEAF, FREE + 1, run]));
    board.does(1, receive(NOTIFICATION));
    board.fails(2, limit(FREE, MS, 2 * MS), Error::MissingRight);
    board.fails(2, set_share(FREE, Share::Priority(511)), Error::MissingRight);
    board.fails(2, limit(FREE + 1, MS, 2 * MS), Error::MissingRight);
    board.fails(2, create(FREE + 2, FREE + 1, None, Share::Priority(1)), Error::MissingRight);
    board.succeeds(2, reserve(THREAD + 2, FREE + 1));
    board.succeeds(2, create(FREE + 2, FREE, None, Share::Priority(511)));
    board.succeeds(2, reserve(THREAD + 2, FREE + 2));
    board.fails(2, reserve(THREAD + 2, FREE), Error::MissingRight);
    board.fails(2, create(FREE + 3, FREE + 2, None, Share::Priority(1)), Error::WrongState);
    board.fails(2, create(FREE + 3, FREE, None, Share::Deadline), Error::InvalidArgument);
    board.fails(2, reserve(THREAD + 2, NOTIFICATION), Error::WrongKind);
    board.fails(2, limit(ROOT, MS, 2 * MS), Error::WrongState);
    board.succeeds(2, reserve(THREAD + 2, 0));
}

/// A domain that runs on a leaf has no way out of it: not by another priority, a new thread, a
/// domain of its own, nor by giving its reservation up.
#[test]
fn a_domain_stays_in_its_reservation() {
    let board: Tested = boot(&[(1, 200), (1, 10)]);
    board.succeeds(1, set_share(LEAF, Share::Priority(150)));
    board.succeeds(1, limit(LEAF, MS, 10 * MS));
    let quotas = [0x0004_0001, 0, 0x0028_0000_0000, 0];
    let domain = system(Call::DomainCreate, &[FREE, 20, 250]).with_words(quotas);
    board.succeeds(1, domain);
    board.succeeds(1, reserve(FREE, LEAF));
    let thread = |slot: u64| system(Call::ThreadCreate, &[slot, FREE, 250, 0, 0]);
    board.succeeds(1, thread(FREE + 1));
    board.fails(1, reserve(FREE, 0), Error::WrongState);
    board.succeeds(1, thread(FREE + 2));
    board.succeeds(1, system(Call::DomainGrant, &[FREE, FREE + 2, 3, Rights::ALL.0.into()]));
    board.succeeds(1, system(Call::DomainGrant, &[FREE, FREE, 4, Rights::ALL.0.into()]));
    for slot in [FREE + 1, FREE + 2] {
        board.succeeds(1, system(Call::ThreadExchange, &[slot, 0x1000, 0x2000, 0, 0, 3]));
        board.succeeds(1, system(Call::ThreadResume, &[slot]));
    }
    board.does(1, receive(NOTIFICATION));
    assert!(matches!(board.running(), Some(3 | 4)), "the domain has priority in the root class");
    let inside = board.running().expect("one of its threads");
    board.succeeds(inside, reserve(3, 0));
    board.succeeds(inside, system(Call::DomainCreate, &[5, 4, 250]).with_words([1 << 16, 0, 0, 0]));
    board.succeeds(inside, reserve(5, 0));
    board.succeeds(inside, system(Call::ThreadCreate, &[6, 5, 250, 0, 0]));
    board.succeeds(inside, system(Call::ThreadExchange, &[6, 0x1000, 0x2000, 0, 0, 3]));
    board.succeeds(inside, system(Call::ThreadResume, &[6]));
    let ran = runs(&board, 1_000);
    let domain: u64 = ran[3..].iter().sum();
    assert!((95..=105).contains(&domain), "{ran:?}");
}

#[test]
fn what_is_destroyed_is_free_at_once() {
    let board: Tested = boot(&[(1, 200), (1, 10)]);
    let curves = Some(Policy::ServiceCurves);
    board.succeeds(1, create(FREE, ROOT, curves, Share::Priority(100)));
    for _ in 0..50 {
        let all = Share::curve(Curve::linear(WHOLE));
        board.succeeds(1, create(FREE + 1, FREE, None, all));
        board.fails(1, create(FREE + 2, FREE, None, all), Error::Overcommitted);
        board.succeeds(1, system(Call::Destroy, &[FREE + 1]));
    }
}

/// A class goes with all that is in it; threads that ran there have the lowest priority then.
#[test]
fn a_class_goes_with_all_that_is_in_it() {
    let board: Tested = boot(&[(1, 50), (1, 10), (1, 40)]);
    let fixed = Some(Policy::FixedPriority);
    board.succeeds(1, create(FREE, ROOT, fixed, Share::Priority(400)));
    board.succeeds(1, create(FREE + 1, FREE, fixed, Share::Priority(1)));
    board.succeeds(1, create(FREE + 2, FREE + 1, None, Share::Priority(1)));
    board.succeeds(1, create(FREE + 3, FREE + 1, None, Share::Priority(1)));
    board.does(1, reserve(THREAD + 3, FREE + 2));
    assert_eq!(board.running(), Some(3), "its class is above all priorities");
    board.succeeds(3, reserve(THREAD + 1, FREE + 3));
    board.does(3, system(Call::Destroy, &[FREE]));
    // Thread 2 alone has a priority of its own.
    assert_eq!(board.running(), Some(2));
    board.fails(2, reserve(THREAD + 1, FREE + 2), Error::Stale);
    board.fails(2, system(Call::ReservationInspect, &[FREE + 3]), Error::Stale);
    board.does(2, reserve(THREAD + 3, 0));
    assert_eq!(board.running(), Some(3), "by its priority again");
}

#[test]
fn a_reservation_is_moved_and_never_into_itself() {
    let board: Tested = boot(&[(1, 200)]);
    let fixed = Some(Policy::FixedPriority);
    let mut class = ROOT;
    for slot in FREE..FREE + 6 {
        board.succeeds(1, create(slot, class, fixed, Share::Priority(1)));
        class = slot;
    }
    board.succeeds(1, create(FREE + 6, class, fixed, Share::Priority(1)));
    let deep = create(FREE + 7, FREE + 6, None, Share::Priority(1));
    board.fails(1, deep, Error::TooDeep);
    let join = |at: u64, class: u64| {
        let (code, words) = Share::Priority(5).encode();
        system(Call::ReservationJoin, &[at, class, code]).with_words(words)
    };
    board.fails(1, join(FREE, FREE + 3), Error::Cycle);
    board.fails(1, join(FREE, FREE), Error::Cycle);
    board.succeeds(1, join(FREE + 6, FREE));
    board.succeeds(1, deep);
    board.fails(1, join(LEAF, FREE + 7), Error::WrongState);
    board.succeeds(1, join(LEAF, FREE + 6));
}

/// An earlier deadline is served first, and what is counted of jobs is told.
#[test]
fn jobs_are_served_by_deadline_and_counted() {
    let board: Tested = boot(&[(1, 200), (1, 100), (1, 90)]);
    let class = create(FREE, ROOT, Some(Policy::EarliestDeadline), Share::Priority(400));
    board.succeeds(1, class);
    for (slot, thread, deadline) in [(FREE + 1, THREAD + 2, 9 * MS), (FREE + 2, THREAD + 3, 5 * MS)]
    {
        board.succeeds(1, create(slot, FREE, None, Share::Deadline));
        let timing = Timing { deadline, period: MS };
        board.succeeds(1, set(slot, Setting::Timing, Timing::encode(Some(timing))));
        board.does(1, reserve(thread, slot));
        board.does(if slot == FREE + 1 { 2 } else { 3 }, receive(NOTIFICATION));
    }
    board.wait(2 * MS);
    board.does(1, system(Call::Signal, &[NOTIFICATION]));
    // The second that waits is released by the first, and due earlier.
    assert_eq!(board.running(), Some(2));
    board.does(2, system(Call::Signal, &[NOTIFICATION]));
    assert_eq!(board.running(), Some(3));
    board.wait(6 * MS);
    board.does(3, receive(NOTIFICATION));
    assert_eq!(board.running(), Some(2));
    board.wait(TICK);
    board.does(2, receive(NOTIFICATION));
    board.succeeds(1, system(Call::ReservationInspect, &[FREE + 2]));
    let [ended, missed, worst, latest] = board.regs.get().words;
    // What the thread did before it waited was no job.
    assert_eq!((ended, missed), (1, 1));
    assert!(worst >= 6 * MS && latest >= MS && worst - latest == 5 * MS, "{worst} {latest}");
    board.succeeds(1, system(Call::ReservationInspect, &[FREE + 1]));
    let [ended, missed, ..] = board.regs.get().words;
    assert_eq!((ended, missed), (1, 0));
    // The job that has not ended, or else the last one.
    let job = |of: u64| {
        board.succeeds(1, system(Call::ReservationInspect, &[of, 1]));
        let regs = board.regs.get();
        let [response, late, ..] = regs.words;
        (regs.badge(), regs.info().0, response, late)
    };
    let (number, is_over, response, late) = job(FREE + 2);
    assert_eq!((number, is_over, response - late), (1, 1, 5 * MS));
    assert_eq!(late, latest);
    board.succeeds(1, system(Call::ReservationInspect, &[FREE, UNSERVED]));
    assert_eq!(board.regs.get().badge(), 0, "a class without a budget lacks none");
    board.fails(1, system(Call::ReservationInspect, &[FREE + 2, 3]), Error::InvalidArgument);
    board.fails(1, system(Call::ReservationInspect, &[FREE, 1]), Error::WrongState);
}

/// What a domain has made ends with it, with what others have made in it.
#[test]
fn the_end_of_a_domain_ends_its_reservations() {
    let board: Tested = boot(&[(1, 200), (2, 100), (1, 10)]);
    let fixed = Some(Policy::FixedPriority);
    board.does(1, receive(NOTIFICATION));
    board.succeeds(2, create(FREE, ROOT, fixed, Share::Priority(400)));
    board.succeeds(2, system(Call::DomainGrant, &[DOMAIN, FREE, FREE, Rights::ALL.0.into()]));
    board.does(2, system(Call::Signal, &[NOTIFICATION]));
    assert_eq!(board.running(), Some(1));
    board.succeeds(1, create(FREE + 1, FREE, None, Share::Priority(4)));
    board.does(1, reserve(THREAD + 3, FREE + 1));
    board.does(3, receive(NOTIFICATION + 1));
    let used = || board.machine.kernel.usage(Resource::Reservations).0;
    let before = used();
    board.succeeds(1, system(Call::Destroy, &[DOMAIN + 1]));
    assert_eq!(used(), before - 2);
    board.fails(1, reserve(THREAD + 3, FREE + 1), Error::Stale);
}

/// The tree decides what runs, and no thread is lent a priority.
#[test]
fn a_thread_has_its_own_priority_alone() {
    let board: Tested = boot(&[(1, 10), (1, 20)]);
    for (thread, priority) in [(1, 10), (2, 20)] {
        let call = system(Call::Inspect, &[SYSTEM_SLOT, Table::Thread as u64, thread]);
        board.succeeds(2, call);
        assert_eq!(board.regs.get().info().0, priority | priority << 32);
    }
}
