//! Inheriting mutexes: chains, and all ways in which an inheritance ends.

use super::{MUTEX, effective, id, lock, lock_until, mark, sleep, wait, wake};
use crate::support::board::Board;
use crate::support::context::Regs;
use crate::support::host::{Event, Host};
use crate::support::scene::{
    DOMAIN, ENDPOINT, FREE, SYSTEM_SLOT, THREAD, boot, call, receive, system,
};
use abi::call::{Call, Table, ThreadState, Timeout, exchange};
use abi::futex::{OWNER_DIED, Scope, WAITERS, number};
use abi::message::FaultKind;
use abi::reservation::Inheritance;
use abi::{Error, Info};
use kernel::fault::Fault;
use kernel::object::thread::{State, flag};
use kernel::port::Port;
use kernel::system::{DirectLazy, Tree};

const FAULT: Fault = Fault { kind: FaultKind::Memory, detail: 0xbad0, code: 6 };

type Machine = Board<DirectLazy<Host>>;

#[track_caller]
fn fails(board: &Machine, thread: u32, mutex: usize, error: Error) {
    let expected = mark(board, thread, mutex).expect("it is owned");
    board.fails(thread, wait(mutex, expected, None), error);
}

fn set_priority(thread: u64, priority: u64) -> Regs {
    system(Call::ThreadPriority, &[THREAD + thread, priority])
}

/// What the system call that looks at the kernel's tables tells the running thread of its own
/// priority and of the one that it has.
fn priorities(board: &Machine, thread: u64) -> u64 {
    let row = [SYSTEM_SLOT, Table::Thread as u64, thread];
    board.succeeds(thread as u32, system(Call::Inspect, &row));
    board.regs.get().info().0
}

/// One domain with threads of priorities 10, 20, 30, ...
fn threads(count: u8) -> Machine {
    let threads: Vec<(u32, u8)> = (1..=count).map(|n| (1, 10 * n)).collect();
    boot(&threads)
}

/// What a manifest says of lent leaves is nothing to a kernel that has none.
#[test]
fn without_a_tree_priorities_are_lent() {
    let board = threads(3);
    board.machine.kernel.trees.set_inheritance(Inheritance::Charged);
    lock(&board, 1, 0);
    lock(&board, 3, 0);
    assert_eq!(effective(&board, 1), 30);
    board.check();
}

/// Low 1 owns what high 3 waits for: middle 2 does not run before 3 does (S2G-01, Fig. 1). With a
/// mutex of the other kind it does.
#[test]
fn the_middle_waits() {
    let board = threads(3);
    lock(&board, 1, 0);
    lock(&board, 3, 0);
    assert_eq!((board.running(), effective(&board, 1)), (Some(1), 30));
    assert_eq!(priorities(&board, 1), 10 | 30 << 32);
    board.does(1, wake(0));
    board.sees(3, Ok(()));
    assert_eq!(effective(&board, 1), 10);
    assert_eq!(priorities(&board, 3), 30 | 30 << 32);
    assert_eq!(board.read(1, MUTEX), id(&board, 3).into());

    let board = threads(3);
    lock(&board, 1, 0);
    let expected = mark(&board, 3, 0).expect("it is owned");
    let plain = number(Call::MutexWait, Scope::Domain, Timeout::Never);
    board.does(3, Regs::call(plain, &[super::address(0), expected.into()]));
    assert_eq!(board.running(), Some(2), "inversion");
}

/// A chain that grows at its end, and one that grows at its beginning.
#[test]
fn chains() {
    let board = threads(4);
    lock(&board, 1, 0);
    lock(&board, 2, 1);
    lock(&board, 3, 2);
    lock(&board, 4, 2);
    lock(&board, 3, 1);
    lock(&board, 2, 0);
    assert_eq!([1, 2, 3, 4].map(|thread| effective(&board, thread)), [40; 4]);
    for (thread, next, mutex) in [(1, 2, 0), (2, 3, 1), (3, 4, 2)] {
        board.does(thread, wake(mutex));
        board.sees(next, Ok(()));
        assert_eq!(effective(&board, thread), 10 * thread as i16, "what it was given");
    }

    let board = threads(4);
    lock(&board, 1, 0);
    lock(&board, 2, 1);
    lock(&board, 3, 2);
    board.does(4, sleep(2_000_000));
    board.does(3, sleep(1_000_000));
    lock(&board, 2, 0);
    assert_eq!(effective(&board, 1), 20);
    board.wait(1_000_000);
    lock(&board, 3, 1);
    assert_eq!(effective(&board, 1), 30);
    board.wait(1_000_000);
    lock(&board, 4, 2);
    assert_eq!([1, 2, 3, 4].map(|thread| effective(&board, thread)), [40; 4]);
}

/// The highest priority is first, and in one priority the longest wait; a change of priority moves
/// a waiter.
#[test]
fn order() {
    let board: Machine = boot(&[(1, 10), (1, 20), (1, 20), (1, 30), (1, 5)]);
    lock(&board, 1, 0);
    board.does(4, sleep(1_000_000));
    lock(&board, 2, 0);
    lock(&board, 3, 0);
    board.does(1, sleep(2_000_000));
    board.succeeds(5, set_priority(2, 21));
    board.succeeds(5, set_priority(2, 20));
    board.wait(1_000_000);
    lock(&board, 4, 0);
    board.wait(1_000_000);
    for (thread, next) in [(1, 4), (4, 3), (3, 2)] {
        board.does(thread, wake(0));
        assert_eq!(board.read(1, MUTEX) as u32 & !WAITERS, id(&board, next));
        if board.running() != Some(next) {
            let now = board.host.now();
            board.does(board.running().expect("one runs"), sleep(now + 50_000_000));
        }
    }
}

/// A timeout and a cancellation withdraw what was lent.
#[test]
fn a_wait_ends_early() {
    let board = threads(3);
    lock(&board, 1, 0);
    lock_until(&board, 3, 0, Some(1_000_000));
    assert_eq!(effective(&board, 1), 30);
    board.wait(2_000_000);
    board.sees(3, Err(Error::Timeout));
    assert_eq!(effective(&board, 1), 10);
    assert_eq!(board.read(1, MUTEX), id(&board, 1).into(), "none waits");
    lock(&board, 3, 0);
    board.succeeds(1, system(Call::ThreadSuspend, &[THREAD + 3]));
    assert_eq!(effective(&board, 1), 30, "a stopped thread waits still");
    let cancel = [THREAD + 3, 0, 0, 0, 0, exchange::CANCEL];
    board.does(1, system(Call::ThreadExchange, &cancel));
    assert_eq!((board.running(), effective(&board, 1)), (Some(2), 10));
}

/// An owner of two mutexes keeps what it has through the other one, whichever it gives up first.
#[test]
fn two_mutexes() {
    for (first, then) in [([0, 1], [30, 10]), ([1, 0], [20, 10])] {
        let board = threads(3);
        lock(&board, 1, 0);
        lock(&board, 1, 1);
        lock(&board, 3, 1);
        board.does(1, sleep(1_000_000));
        lock(&board, 2, 0);
        board.wait(1_000_000);
        board.does(1, wake(first[0]));
        assert_eq!(effective(&board, 1), then[0]);
        while board.running() != Some(1) {
            let now = board.host.now();
            board.does(board.running().expect("one runs"), sleep(now + 50_000_000));
        }
        board.does(1, wake(first[1]));
        assert_eq!(effective(&board, 1), then[1]);
    }
}

/// Own priorities change under an inheritance, of waiter and owner.
#[test]
fn own_priorities_change() {
    let board = threads(3);
    lock(&board, 1, 0);
    lock(&board, 3, 0);
    for (thread, priority, expected) in [(3, 40, 40), (1, 35, 40), (3, 22, 35), (1, 15, 22)] {
        board.succeeds(1, set_priority(thread, priority));
        assert_eq!(effective(&board, 1), expected);
    }
    board.does(1, wake(0));
    assert_eq!([1, 3].map(|thread| effective(&board, thread)), [15, 22]);
}

/// An owner ends: the next one learns it, whether it waited before or comes later.
#[test]
fn an_owner_ends() {
    let board = threads(4);
    lock(&board, 2, 0);
    lock(&board, 2, 1);
    lock(&board, 4, 0);
    assert_eq!(effective(&board, 2), 40);
    board.does(2, system(Call::Destroy, &[THREAD + 2]));
    board.sees(4, Ok(()));
    assert_eq!(board.regs.get().badge(), OWNER_DIED);
    assert_eq!(board.read(1, MUTEX), id(&board, 4).into());
    let expected = mark(&board, 4, 1).expect("its owner has ended");
    board.succeeds(4, wait(1, expected, None));
    assert_eq!(board.regs.get().badge(), OWNER_DIED);
    assert_eq!(board.read(1, MUTEX + 1), id(&board, 4).into());
    board.succeeds(4, wake(1));
    assert_eq!(board.read(1, MUTEX + 1), 0);
}

/// An owner stops at a fault that none handles: to those that wait for it, it has ended, also if
/// interrupts come between the steps of that; it stays to be looked at. Cancelled, it goes on.
#[test]
fn an_owner_faults() {
    for after in [None, Some(0), Some(1)] {
        let board = threads(4);
        lock(&board, 2, 0);
        lock(&board, 2, 1);
        // Where faults are reported is gone.
        board.does(4, system(Call::Destroy, &[ENDPOINT]));
        lock(&board, 4, 0);
        assert_eq!(board.running(), Some(2));
        after.into_iter().for_each(|polls| board.host.interrupt_after(polls));
        // Where an interrupt goes before its end, it faults again when it runs, whatever is mapped
        // at its own instruction then.
        let at = board.thread(2).context.at.get();
        let faults = || {
            let mut first = true;
            while board.running() == Some(2) {
                assert!(first || board.thread(2).context.at.get().0 == 0);
                first = false;
                board.fault(FAULT);
                board.settle();
            }
            board.sees(4, Ok(()));
        };
        faults();
        assert_eq!(board.regs.get().badge(), OWNER_DIED);
        if !board.thread(2).has(flag::SUSPENDED) {
            // It is not stopped yet, so there is nothing to resume.
            board.succeeds(4, system(Call::ThreadResume, &[THREAD + 2]));
        }
        let expected = mark(&board, 4, 1).expect("its owner has ended");
        board.does(4, wait(1, expected, None));
        faults();
        assert_eq!(board.regs.get().badge(), OWNER_DIED);
        let soon = board.host.now() + 1_000_000;
        board.does(4, sleep(soon));
        board.does(3, sleep(1_000_000_000));
        while board.running() == Some(2) {
            board.fault(FAULT);
            board.settle();
        }
        board.wait(1_000_000);
        assert_eq!(board.thread(2).context.at.get(), at, "it stays as it was when it faulted");
        board.succeeds(4, system(Call::ThreadInspect, &[THREAD + 2]));
        assert_eq!(board.regs.get().badge(), ThreadState::Suspended as u64);
        let again = [THREAD + 2, 0x40_0000, 0, 0, 0, exchange::CANCEL | exchange::INSTRUCTION];
        board.succeeds(4, system(Call::ThreadExchange, &again));
        board.succeeds(4, system(Call::ThreadResume, &[THREAD + 2]));
        board.does(4, sleep(1_000_000_000));
        assert_eq!(board.running(), Some(2));
        lock(&board, 2, 2);
        board.check();
    }
}

/// A caller of a server that stops at such a fault learns it.
#[test]
fn a_server_faults() {
    let board = threads(2);
    board.does(2, system(Call::Destroy, &[ENDPOINT]));
    board.does(2, receive(ENDPOINT + 1));
    board.does(1, call(ENDPOINT + 1, Info(0)));
    assert_eq!(board.running(), Some(2));
    // What is told of it interrupts the steps of its end: it faults again.
    while board.running() == Some(2) {
        board.fault(FAULT);
        board.settle();
    }
    board.sees_in_receive(1, Error::Destroyed);
}

/// A thread destroys the domain that is charged for it, and ends with that: an interrupt between
/// two of its mutexes does not leave the other one.
#[test]
fn an_owner_ends_with_what_is_charged() {
    let board: Machine = boot(&[(1, 10), (2, 5), (1, 40), (1, 41)]);
    board.does(4, sleep(1_000_000));
    board.does(3, sleep(1_000_000));
    let quotas = [0x0001_0001_0002_0001, 0, 0x0010_0008_0000, 0];
    board.succeeds(1, system(Call::DomainCreate, &[FREE, 8, 100]).with_words(quotas));
    board.succeeds(1, system(Call::DomainGrant, &[FREE, DOMAIN, 1, 63]));
    board.succeeds(1, system(Call::ThreadCreate, &[FREE + 1, FREE, 90, 0, 0]));
    board.does(1, system(Call::ThreadResume, &[FREE + 1]));
    board.succeeds(5, system(Call::ThreadCreate, &[2, 1, 95, 0, 0]));
    board.does(5, system(Call::ThreadResume, &[2]));
    lock(&board, 6, 0);
    lock(&board, 6, 1);
    board.does(6, sleep(5_000_000));
    board.does(5, sleep(50_000_000));
    board.wait(2_000_000);
    lock(&board, 4, 0);
    lock(&board, 3, 1);
    board.wait(5_000_000);
    assert_eq!(board.running(), Some(6));
    board.host.raise(Event::Spurious);
    board.call(system(Call::Destroy, &[FREE]));
    board.interrupts();
    while board.running() == Some(6) {
        board.host.raise(Event::Spurious);
        board.reissue();
        board.interrupts();
    }
    assert_eq!([3, 4].map(|thread| board.thread(thread).state.get()), [State::Ready; 2]);
    board.sees(4, Ok(()));
    assert_eq!(board.regs.get().badge(), OWNER_DIED);
    assert_eq!(board.read(1, MUTEX + 1), id(&board, 3).into());
}

/// Waiters end, the one that the words name first; and the turnstile of an ended thread serves on.
#[test]
fn waiters_end() {
    let board = threads(4);
    lock(&board, 1, 0);
    lock(&board, 4, 0);
    board.does(1, sleep(1_000_000));
    lock(&board, 3, 0);
    board.wait(1_000_000);
    assert_eq!(board.read(1, MUTEX) >> 32, id(&board, 4).into());
    board.succeeds(1, system(Call::Destroy, &[THREAD + 4]));
    assert_eq!(board.read(1, MUTEX) >> 32, id(&board, 3).into());
    assert_eq!((board.running(), effective(&board, 1)), (Some(1), 30));
    board.does(1, system(Call::Destroy, &[THREAD + 3]));
    assert_eq!((board.running(), effective(&board, 1)), (Some(2), 10));
    assert_eq!(board.read(1, MUTEX), id(&board, 1).into());
}

/// A wait that would close a ring of waits fails.
#[test]
fn rings() {
    let board = threads(3);
    for thread in 1..=3 {
        lock(&board, thread, thread as usize);
    }
    fails(&board, 3, 3, Error::Deadlock);
    lock(&board, 3, 2);
    lock(&board, 2, 1);
    fails(&board, 1, 3, Error::Deadlock);
    fails(&board, 1, 2, Error::Deadlock);
    fails(&board, 1, 1, Error::Deadlock);
}

/// What is refused: another scope, a word without the mark, one that has changed, a mutex of
/// another thread, words that name a thread that does not wait here.
#[test]
fn refusals() {
    let board = threads(2);
    lock(&board, 1, 0);
    let state = id(&board, 1);
    board.fails(2, wake(0), Error::WrongState);
    board.fails(2, wait(0, state, None), Error::InvalidArgument);
    board.fails(2, wait(0, state | WAITERS, None), Error::Changed);
    for call in [Call::InheritWait, Call::InheritWake] {
        let shared = number(call, Scope::Shared, Timeout::Never);
        let args = [super::address(0), u64::from(state | WAITERS)];
        board.fails(2, Regs::call(shared, &args), Error::InvalidArgument);
    }
    let pair = board.read(1, MUTEX) | u64::from(WAITERS);
    board.write(1, MUTEX, pair | u64::from(state) << 32);
    board.fails(2, wait(0, state | WAITERS, None), Error::BrokenQueue);
    board.fails(2, wake(0), Error::BrokenQueue);
    board.write(1, MUTEX, pair);
    board.fails(2, wait(0, state | WAITERS, Some(0)), Error::Timeout);
    board.does(2, wait(0, state | WAITERS, None));
    board.write(1, MUTEX, 0);
    board.fails(1, wake(0), Error::WrongState);
    assert_eq!(effective(&board, 1), 20, "what the words say later does not matter");
    board.does(1, system(Call::Destroy, &[THREAD + 1]));
    board.sees(2, Ok(()));
}

/// An owner in another domain is none: a thread lends its priority within its domain alone.
#[test]
fn no_other_domain() {
    let board: Machine = boot(&[(1, 30), (2, 10)]);
    for owner in [id(&board, 2), 1, WAITERS - 1] {
        board.write(1, MUTEX, u64::from(owner | WAITERS));
        board.succeeds(1, wait(0, owner | WAITERS, None));
        assert_eq!(board.regs.get().badge(), OWNER_DIED, "the domain's own words lie");
        assert_eq!(effective(&board, 2), 10);
    }
}

/// Where a tree orders threads, waiters are in the order of priorities all the same.
#[test]
fn under_the_tree() {
    let board: Board<Tree<Host>> = boot(&[(1, 10), (1, 20), (1, 30)]);
    mark(&board, 1, 0);
    board.does(3, sleep(1_000_000));
    for thread in [2, 3] {
        let expected = mark(&board, thread, 0).expect("it is owned");
        board.does(thread, wait(0, expected, None));
        board.wait(1_000_000);
    }
    board.does(1, wake(0));
    board.sees(3, Ok(()));
}
