//! Mutexes of a domain, and the threads that enter and leave it.

use super::{TRAIN, back, create, enter, grant, position, sleep};
use crate::support::board::Board;
use crate::support::context::Regs;
use crate::support::host::Host;
use crate::support::scene::{DOMAIN, THREAD, boot, buffer, system};
use abi::call::{Call, Timeout, exchange};
use abi::futex::{NO_CEILING, OWNER_DIED, Scope, WAITERS, helpers, number};
use abi::message::FaultKind;
use abi::{Error, Rights};
use kernel::fault::Fault;
use kernel::object::thread::State;
use kernel::port::Port as _;
use kernel::system::{DirectLazy, Fastpath, System};

type Machine = Board<DirectLazy<Host>>;

/// The first word of thread 1's message buffer that is a mutex.
const MUTEX: usize = 300;

/// The id of a thread where it is.
fn id<S: System<Port = Host>>(board: &Board<S>, thread: u32) -> u32 {
    board.id(Scope::Domain, thread)
}

fn mutex(call: Call, expected: u32) -> Regs {
    let at = buffer(1) + 8 * MUTEX as u64;
    Regs::call(number(call, Scope::Domain, Timeout::Never), &[at, expected.into()])
}

/// A wait for the mutex at an address.
fn mutex_at(at: u64, expected: u32) -> Regs {
    let call = number(Call::InheritWait, Scope::Domain, Timeout::Never);
    Regs::call(call, &[at, expected.into()])
}

/// Takes a free mutex, or waits for it.
fn lock<S: System<Port = Host>>(board: &Board<S>, thread: u32) {
    let pair = board.read(1, MUTEX);
    if pair == 0 {
        return board.write(1, MUTEX, id(board, thread).into());
    }
    board.write(1, MUTEX, pair | u64::from(WAITERS));
    board.does(thread, mutex(Call::InheritWait, pair as u32 | WAITERS));
    assert_eq!(board.thread(thread).state.get(), State::Waiting);
}

fn urgency(board: &Machine, thread: u32) -> i16 {
    board.thread(thread).priority.get()
}

/// Threads 1 and 3 of a domain that thread 2 of another one can enter; thread 2 runs, and thread 3
/// does a millisecond later.
fn visited<S: System<Port = Host>>() -> Board<S> {
    let board: Board<S> = boot(&[(1, 10), (2, 20), (1, 30)]);
    board.does(3, sleep(2_000_000));
    board.does(2, sleep(1_000_000));
    board.succeeds(1, create(1, 2));
    board.succeeds(1, grant(DOMAIN + 1, 1, Rights::ALL));
    board.does(1, sleep(u64::MAX));
    board.wait(1_000_000);
    board
}

/// A visitor waits by an id of its visit, at home by the one that it has there: the invariants know
/// both.
#[test]
fn a_visitor_waits_by_another_id() {
    for scope in [Scope::Domain, Scope::Shared] {
        waits_by_another_id(scope);
    }
}

fn waits_by_another_id(scope: Scope) {
    let board: Machine = visited();
    let waits = |holder: u32| {
        let until = board.host.now() + 100_000;
        let at = buffer(u64::from(holder)) + 8 * MUTEX as u64;
        let taken = u64::from(WAITERS | 5);
        board.write(holder, MUTEX, taken);
        let call = number(Call::MutexWait, scope, Timeout::At);
        board.does(2, Regs::call(call, &[at, taken, until]));
        assert_eq!(board.thread(2).state.get(), State::Waiting);
        let named = board.read(holder, MUTEX) >> 32;
        assert_eq!(named, board.id(scope, 2).into(), "the words name it");
        board.check();
        board.wait(100_000);
        board.sees(2, Err(Error::Timeout));
        named
    };
    let home = waits(2);
    board.succeeds(2, enter(1, [0; 4]));
    let inside = waits(1);
    assert!(inside != home && waits(1) == inside);
    board.succeeds(2, back(0, [0; 4]));
    assert_eq!(waits(2), home);
    board.succeeds(2, enter(1, [0; 4]));
    let again = waits(1);
    assert!(again != home && again != inside);
}

/// Thread 3, which waits, owns the mutex now, and knows that its owner has left.
fn inherits(board: &Machine) {
    board.sees(3, Ok(()));
    assert_eq!(board.regs.get().args[0], OWNER_DIED);
    assert_eq!(board.read(1, MUTEX), id(board, 3).into());
    assert_eq!(urgency(board, 2), 20, "what it has lent it");
}

/// Thread 2 is inside, owns the mutex, and thread 3 waits for it.
fn holding() -> Machine {
    let board: Machine = visited();
    board.succeeds(2, enter(1, [0; 4]));
    lock(&board, 2);
    board.wait(1_000_000);
    lock(&board, 3);
    assert_eq!((board.running(), urgency(&board, 2)), (Some(2), 30));
    board
}

/// Thread 2 is inside and owns the mutex. Thread 4 sleeps for 2 ms from now on, 3 and those behind
/// 4 for 1 ms.
fn locked(threads: &[(u32, u8)]) -> Machine {
    let board: Machine = boot(threads);
    board.does(4, sleep(3_000_000));
    board.does(3, sleep(2_000_000));
    (5..=threads.len() as u32).for_each(|thread| board.does(thread, sleep(2_000_000)));
    board.does(2, sleep(1_000_000));
    board.succeeds(1, create(1, 2));
    board.succeeds(1, grant(DOMAIN + 1, 1, Rights::ALL));
    board.does(1, sleep(u64::MAX));
    board.wait(1_000_000);
    board.succeeds(2, enter(1, [0; 4]));
    lock(&board, 2);
    board
}

/// A visitor goes home with a mutex that others wait for.
#[test]
fn a_visitor_returns_with_a_mutex() {
    for polls in 0..3 {
        let board = holding();
        board.host.interrupt_after(polls);
        board.does(2, back(7, [0; 4]));
        inherits(&board);
        board.does(3, sleep(u64::MAX));
        board.sees(2, Ok(()));
        assert_eq!((board.regs.get().args[0], board.thread(2).inside.get().is_none()), (7, true));
    }
}

/// A return that is issued again loads all registers in the domain that was entered. Those that the
/// call has not saved hold what was saved of the thread in another domain.
#[test]
fn a_return_that_is_issued_again_shows_nothing() {
    let board: Board<Fastpath<Host>> = visited();
    board.succeeds(2, enter(1, [0; 4]));
    lock(&board, 2);
    board.wait(1_000_000);
    lock(&board, 3);
    board.host.interrupt_after(0);
    board.call(back(7, [0; 4]));
    let regs = board.regs.get();
    assert!(regs.again, "the call was not preempted");
    assert_eq!(regs.args, [7, 0, 0, 0, 0, 0]);
}

/// It is taken out by a fault.
#[test]
fn a_visitor_faults_with_a_mutex() {
    for polls in 0..3 {
        let board = holding();
        board.host.interrupt_after(polls);
        let fault = Fault { kind: FaultKind::Memory, detail: 0x123, code: 4 };
        board.fault(fault);
        board.settle();
        board.check_all();
        inherits(&board);
        board.does(3, sleep(u64::MAX));
        board.sees(2, Err(Error::Faulted));
        assert!(board.thread(2).inside.get().is_none(), "its own instruction could go well by now");
        let told = String::from_utf8(board.host.output.borrow().clone()).expect("text");
        assert_eq!((told.lines().count(), told.contains("0123,")), (1, true), "{told}");
    }
}

/// It is taken out by a trap, which is behind its instruction: what follows that is not executed
/// meanwhile.
#[test]
fn a_visitor_traps_with_a_mutex() {
    let board = holding();
    board.host.interrupt_after(0);
    board.fault(Fault { kind: FaultKind::Debug, detail: 3, code: 0 });
    board.settle();
    board.check_all();
    inherits(&board);
    board.does(3, sleep(u64::MAX));
    board.sees(2, Err(Error::Faulted));
    assert!(board.thread(2).inside.get().is_none(), "the code behind the trap goes on");
}

/// It is taken out by the end of the train, and by who holds the thread.
#[test]
fn a_visitor_is_taken_out_with_a_mutex() {
    let slot = THREAD + 2;
    let cancel = system(Call::ThreadExchange, &[slot, 0, 0, 0, 0, exchange::CANCEL]);
    for (polls, last) in
        (0..3).flat_map(|n| [(n, system(Call::Destroy, &[TRAIN + 1])), (n, cancel)])
    {
        let board = locked(&[(1, 10), (2, 20), (1, 30), (1, 40)]);
        board.wait(1_000_000);
        lock(&board, 3);
        board.wait(1_000_000);
        board.succeeds(4, system(Call::ThreadSuspend, &[slot]));
        board.host.interrupt_after(polls);
        board.does(4, last);
        board.sees(4, Ok(()));
        board.does(4, sleep(u64::MAX));
        inherits(&board);
        assert!(board.thread(2).inside.get().is_none());
    }
}

/// A visit of thread 2 ends in some way, while thread 4 runs, which sleeps behind that.
type End = fn(&Machine);

fn returns(board: &Machine) {
    board.does(4, sleep(u64::MAX));
    board.succeeds(2, back(0, [0; 4]));
}

fn faults(board: &Machine) {
    board.does(4, sleep(u64::MAX));
    board.fault(Fault { kind: FaultKind::Memory, detail: 0x123, code: 4 });
    board.settle();
    board.sees(2, Err(Error::Faulted));
}

fn is_cancelled(board: &Machine) {
    let slot = THREAD + 2;
    board.succeeds(4, system(Call::ThreadSuspend, &[slot]));
    board.succeeds(4, system(Call::ThreadExchange, &[slot, 0, 0, 0, 0, exchange::CANCEL]));
    board.succeeds(4, system(Call::ThreadResume, &[slot]));
    board.does(4, sleep(u64::MAX));
    board.sees(2, Err(Error::Cancelled));
}

/// Takes the mutex, whose owner is gone, as a library does.
fn locks_what_is_left(board: &Machine, thread: u32) {
    let pair = board.read(1, MUTEX) | u64::from(WAITERS);
    assert!(pair as u32 & !WAITERS != id(board, thread), "thread {thread} owns it already");
    board.write(1, MUTEX, pair);
    board.does(thread, mutex(Call::InheritWait, pair as u32));
    board.sees(thread, Ok(()));
    assert_eq!(board.regs.get().args[0], OWNER_DIED);
    assert_eq!(board.read(1, MUTEX), id(board, thread).into());
}

/// A visit ends with a mutex that no thread waits for. The thread enters again on the same stack:
/// on that visit it does not own the mutex, and whichever thread locks it next learns what has
/// happened.
#[test]
fn a_visit_that_is_over_owns_nothing() {
    let ends = [returns as End, faults, is_cancelled];
    for (end, next) in ends.into_iter().flat_map(|end| [2, 3].map(|next| (end, next))) {
        let board = locked(&[(1, 10), (2, 20), (1, 30), (1, 40)]);
        let stack = board.thread(2).inside.get();
        board.wait(1_000_000);
        board.does(3, sleep(5_000_000));
        board.wait(1_000_000);
        end(&board);
        board.succeeds(2, enter(1, [0; 4]));
        assert!(board.thread(2).inside.get() == stack, "another stack");
        if next == 3 {
            board.wait(2_000_000);
        }
        locks_what_is_left(&board, next);
        board.check_all();
    }
}

/// Threads 1 and 3 of a domain. Thread 1 owns a mutex of that at home, is inside another domain,
/// and from there inside its own again, where another visit may own the second mutex.
fn goes_round() -> Machine {
    let board: Machine = boot(&[(1, 10), (2, 20), (1, 30)]);
    board.does(3, sleep(1_000_000));
    board.succeeds(2, create(2, 2));
    board.succeeds(2, grant(DOMAIN, 2, Rights::ALL));
    board.does(2, sleep(u64::MAX));
    board.succeeds(1, create(1, 2));
    board.succeeds(1, grant(DOMAIN + 1, 1, Rights::ALL));
    lock(&board, 1);
    board.succeeds(1, enter(2, [0; 4]));
    board.succeeds(1, enter(1, [0; 4]));
    board
}

/// What a thread owns at home is not its own on a visit there: it neither gives it up nor waits for
/// itself.
#[test]
fn a_visit_at_home_is_another_owner() {
    let board = goes_round();
    let home = board.read(1, MUTEX) as u32;
    assert_ne!(id(&board, 1), home);
    board.fails(1, mutex(Call::InheritWake, 0), Error::WrongState);
    board.write(1, MUTEX, (home | WAITERS).into());
    board.fails(1, mutex(Call::InheritWait, home | WAITERS), Error::Deadlock);
    board.wait(1_000_000);
    board.does(3, mutex(Call::InheritWait, home | WAITERS));
    assert_eq!((board.running(), urgency(&board, 1)), (Some(1), 30));
    board.fails(1, mutex(Call::InheritWake, 0), Error::WrongState);
    board.succeeds(1, back(0, [0; 4]));
    board.succeeds(1, back(0, [0; 4]));
    board.does(1, mutex(Call::InheritWake, 0));
    board.sees(3, Ok(()));
    assert_eq!(board.regs.get().args[0], 0);
}

/// What a thread has locked on a visit to its own domain goes to the one that waits when the visit
/// ends, though the thread is in that domain still.
#[test]
fn a_visit_at_home_ends_with_a_mutex() {
    let board = goes_round();
    let at = buffer(1) + 8 * (MUTEX + 1) as u64;
    board.write(1, MUTEX + 1, id(&board, 1).into());
    board.wait(1_000_000);
    let marked = board.read(1, MUTEX + 1) as u32 | WAITERS;
    board.write(1, MUTEX + 1, marked.into());
    board.does(3, mutex_at(at, marked));
    assert_eq!((board.running(), urgency(&board, 1)), (Some(1), 30));
    board.does(1, back(0, [0; 4]));
    board.sees(3, Ok(()));
    assert_eq!(board.regs.get().args[0], OWNER_DIED);
    assert_eq!(urgency(&board, 1), 10);
}

/// It is resumed between two steps of that: it runs nothing of the domain any more, in which its
/// mutex has another owner, and none there waits for it.
#[test]
fn a_visitor_that_is_resumed_meanwhile_goes_home() {
    let cancel = system(Call::ThreadExchange, &[THREAD + 2, 0, 0, 0, 0, exchange::CANCEL]);
    let mut resumed = 0;
    for polls in 0..4 {
        let board = locked(&[(1, 10), (2, 20), (1, 30), (1, 40), (1, 25)]);
        board.wait(1_000_000);
        lock(&board, 3);
        assert_eq!((board.running(), urgency(&board, 2)), (Some(2), 30));
        board.does(2, sleep(u64::MAX));
        board.succeeds(5, system(Call::ThreadSuspend, &[THREAD + 2]));
        board.host.interrupt_after(polls);
        board.call(cancel);
        board.settle();
        if board.thread(2).inside.get().is_none() {
            continue;
        }
        assert_eq!(board.running(), Some(3), "it owns the mutex now");
        resumed += 1;
        let marked = id(&board, 2) | WAITERS;
        board.write(1, MUTEX + 1, marked.into());
        let at = buffer(1) + 8 * (MUTEX + 1) as u64;
        board.succeeds(3, system(Call::ThreadResume, &[THREAD + 2]));
        board.does(3, mutex_at(at, marked));
        board.sees(3, Ok(()));
        assert_eq!(board.regs.get().args[0], OWNER_DIED, "it owns something there still");
        board.check_all();
        board.does(3, sleep(u64::MAX));
        board.does(5, sleep(u64::MAX));
        board.sees(2, Err(Error::Faulted));
        assert!(board.thread(2).inside.get().is_none(), "it goes on inside");
    }
    assert!(resumed > 0, "no step was between");
}

/// Thread 2 is inside, owns the mutex, and sleeps there for a microsecond; thread 5, below it, ends
/// the train then, and is interrupted at a poll. Thread 3 sleeps for a millisecond.
fn ended(polls: u64, late: u64) -> Machine {
    let board: Machine = boot(&[(1, 10), (2, 20), (1, 30), (1, 40), (1, 15)]);
    for (thread, until) in [(4, u64::MAX), (3, 2_000_000), (2, 1_000_000), (5, 1_000_000)] {
        board.does(thread, sleep(until));
    }
    board.succeeds(1, create(1, 2));
    board.succeeds(1, grant(DOMAIN + 1, 1, Rights::ALL));
    board.does(1, sleep(u64::MAX));
    board.wait(1_000_000);
    board.succeeds(2, enter(1, [0; 4]));
    lock(&board, 2);
    board.wait(1_000_000);
    assert_eq!(board.running(), Some(3));
    if late > 0 {
        board.does(3, sleep(board.host.now() + 1_000_000));
    } else {
        lock(&board, 3);
    }
    board.does(2, sleep(board.host.now() + 1_000));
    assert_eq!(board.running(), Some(5));
    board.host.interrupt_after(polls);
    board.host.advance(late);
    board.call(system(Call::Destroy, &[TRAIN + 1]));
    board.settle();
    board
}

/// Thread 2 runs, and is home.
fn goes_home(board: &Machine) {
    board.sees(2, Err(Error::Destroyed));
    assert!(board.thread(2).inside.get().is_none(), "it goes on inside");
    board.check_all();
}

/// The end of the train has given its mutex away, and the visitor gets the CPU before the next step
/// of that.
#[test]
fn a_visitor_of_an_ending_train_goes_home() {
    let mut between = 0;
    for polls in 0..8 {
        let board = ended(polls, 0);
        if board.running() != Some(3) {
            continue;
        }
        between += u32::from(board.thread(2).inside.get().is_some());
        inherits(&board);
        board.host.advance(1_000);
        board.settle();
        board.does(3, sleep(u64::MAX));
        goes_home(&board);
    }
    assert!(between > 0, "it was never inside between two steps");
}

/// Until the end of the train has begun with the visitor, that owns what it has: another thread
/// waits for it.
#[test]
fn a_visitor_of_an_ending_train_owns_what_it_can_use() {
    let mut inside = 0;
    for polls in 0..8 {
        let board = ended(polls, 1_000);
        let runs = board.running() == Some(2) && position(&board, 2).0 != 0;
        if !runs || board.thread(2).inside.get().is_none() {
            continue;
        }
        inside += 1;
        board.wait(1_000_000);
        assert_eq!(board.running(), Some(3));
        lock(&board, 3);
        assert_eq!((board.running(), urgency(&board, 2)), (Some(2), 30));
        board.does(2, sleep(u64::MAX));
        inherits(&board);
        board.does(3, sleep(u64::MAX));
        goes_home(&board);
    }
    assert!(inside > 0, "it never ran inside");
}

/// It waits for another mutex there when the train ends, and two threads wait behind it: one owns
/// what it has owned, the other waits for that one, and neither is any more in a chain that goes on
/// to the other mutex.
#[test]
fn a_visitor_that_waits_is_taken_out_with_a_mutex() {
    for polls in 0..3 {
        let board = locked(&[(1, 10), (2, 20), (1, 30), (1, 40), (1, 25)]);
        let marked = id(&board, 4) | WAITERS;
        board.write(1, MUTEX + 1, marked.into());
        board.does(2, mutex_at(buffer(1) + 8 * (MUTEX + 1) as u64, marked));
        assert_eq!(board.thread(2).state.get(), State::Waiting);
        board.wait(1_000_000);
        lock(&board, 3);
        lock(&board, 5);
        assert_eq!((urgency(&board, 2), board.thread(4).inherit.is_awaited()), (30, true));
        board.wait(1_000_000);
        board.host.interrupt_after(polls);
        board.does(4, system(Call::Destroy, &[TRAIN + 1]));
        board.sees(4, Ok(()));
        assert!(!board.thread(4).inherit.is_awaited());
        board.does(4, sleep(u64::MAX));
        board.sees(3, Ok(()));
        assert_eq!(board.read(1, MUTEX) as u32, id(&board, 3) | WAITERS);
        assert!(board.thread(2).inside.get().is_none());
    }
}

/// A thread owns a mutex of its own domain while it is inside another one: it does so still.
#[test]
fn an_owner_is_elsewhere() {
    let board: Machine = boot(&[(1, 10), (2, 20), (1, 30)]);
    board.does(3, sleep(1_000_000));
    board.succeeds(2, create(2, 2));
    board.succeeds(2, grant(DOMAIN, 2, Rights::ALL));
    board.does(2, sleep(u64::MAX));
    lock(&board, 1);
    board.succeeds(1, enter(2, [0; 4]));
    board.wait(1_000_000);
    lock(&board, 3);
    board.check_all();
    assert_eq!((board.running(), urgency(&board, 1)), (Some(1), 30));
    board.succeeds(1, back(0, [0; 4]));
    assert_eq!(urgency(&board, 1), 30);
    board.does(1, mutex(Call::InheritWake, 0));
    board.sees(3, Ok(()));
    assert_eq!(board.regs.get().args[0], 0);
}

/// The wait of a thread inside for a condition behind the mutex, with these helpers.
fn condition(board: &Machine, named: [u32; 2]) -> Regs {
    let at = buffer(1) + 8 * MUTEX as u64;
    let [first, second] = helpers([id(board, named[0]), id(board, named[1]), 0, 0]);
    let number = number(Call::InheritCondWait, Scope::Domain, Timeout::Never);
    Regs::call(number, &[at + 8, 0, at, 0, first, second])
}

/// A visitor, who may leave, does not help conditions; one that waits lends its priority to those
/// at home, until it is taken out.
#[test]
fn visitors_and_conditions() {
    let board = visited();
    board.succeeds(2, enter(1, [0; 4]));
    board.wait(1_000_000);
    board.does(3, condition(&board, [1, 2]));
    assert_eq!([1, 2].map(|thread| urgency(&board, thread)), [30, 20]);

    let board = visited();
    board.succeeds(2, enter(1, [0; 4]));
    board.does(2, condition(&board, [1, 3]));
    assert_eq!([1, 3].map(|thread| urgency(&board, thread)), [20, 30]);
    board.wait(1_000_000);
    board.does(3, system(Call::Destroy, &[THREAD + 2]));
    assert_eq!([1, 3].map(|thread| urgency(&board, thread)), [10, 30]);
    assert_eq!(board.read(1, MUTEX + 1), 0, "none waits");
}

/// A thread takes its ceiling along into another domain, whose code neither raises nor ends it.
#[test]
fn visitors_and_ceilings() {
    let ceiling = |word| Regs::call(number(Call::Ceiling, Scope::Domain, Timeout::Never), &[word]);
    let board = visited();
    board.succeeds(2, ceiling(25));
    board.succeeds(2, enter(1, [0; 4]));
    for word in [20, 40, NO_CEILING] {
        board.fails(2, ceiling(word), Error::WrongState);
        assert_eq!(urgency(&board, 2), 25);
    }
    board.succeeds(2, back(0, [0; 4]));
    assert_eq!(urgency(&board, 2), 25);
    board.does(2, ceiling(NO_CEILING));
    assert_eq!(urgency(&board, 2), 20);
    board.check_all();
}

/// A visitor waits for a mutex of the domain that it is in; at home seven threads wait in a row for
/// what it owns there, or would. What that makes fail is theirs: a thread of the domain may wait
/// for others of that still.
#[test]
fn visitors_fail_no_wait_of_the_domain() {
    let priorities = [50, 5, 20, 19, 18, 17, 16, 15, 14, 13];
    let threads: Vec<(u32, u8)> =
        (1..).zip(priorities).map(|(thread, own)| (if thread < 3 { 1 } else { 2 }, own)).collect();
    let board: Machine = boot(&threads);
    let words = |holder: u64, which: u64| buffer(holder) + 8 * (MUTEX as u64 + which);
    let wait = |holder: u64, which: u64| {
        let word = board.read(holder as u32, MUTEX + which as usize) | u64::from(WAITERS);
        board.write(holder as u32, MUTEX + which as usize, word);
        let call = number(Call::InheritWait, Scope::Domain, Timeout::Never);
        Regs::call(call, &[words(holder, which), word & 0xffff_ffff])
    };
    let owns = |thread: u32, holder: u32, which: usize| {
        board.write(holder, MUTEX + which, id(&board, thread).into());
    };
    board.succeeds(1, create(1, 2));
    board.succeeds(1, grant(DOMAIN + 1, 1, Rights::ALL));
    owns(1, 1, 0);
    board.does(1, sleep(3_000_000));
    owns(3, 3, 0);
    board.succeeds(3, enter(1, [0; 4]));
    board.does(3, wait(1, 0));
    for thread in 4..=10u32 {
        let mutex = u64::from(thread) - 4;
        owns(thread, 3, mutex as usize + 1);
        board.does(thread, wait(3, mutex));
    }
    owns(2, 1, 1);
    board.does(2, sleep(u64::MAX));
    board.wait(3_000_000);
    board.does(1, wait(1, 1));
    assert_eq!(board.thread(1).state.get(), State::Waiting, "a client has made the wait fail");
    board.check_all();
}
