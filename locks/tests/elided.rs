//! What an elided lock does for each outcome of a transaction, by script.
#![cfg(not(feature = "loom"))]
#![forbid(unsafe_code)]

use locks::{
    ATTEMPTS, Abort, Attempt, Cause, Elided, ElidedSeat, Elision, Kind, LOCK_HELD, LockPolicy,
    NoTransactions, Relax, Transactions,
};
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;

thread_local! {
    /// What the next transactions come to; when there is no more, they start.
    static SCRIPT: RefCell<VecDeque<Abort>> = const { RefCell::new(VecDeque::new()) };
    static ACTIVE: Cell<bool> = const { Cell::new(false) };
    static BEGUN: Cell<u32> = const { Cell::new(0) };
    static WAITED: Cell<u32> = const { Cell::new(0) };
    static LAST_CODE: Cell<Option<u8>> = const { Cell::new(None) };
    /// What happens while the CPU waits.
    static MEANWHILE: RefCell<Option<Box<dyn FnOnce()>>> = const { RefCell::new(None) };
}

/// Transactions by script.
struct Scripted;

impl Transactions for Scripted {
    const AVAILABLE: bool = true;
    fn is_usable() -> bool {
        true
    }
    fn begin() -> Attempt {
        assert!(!ACTIVE.get(), "a transaction begins within another one");
        BEGUN.set(BEGUN.get() + 1);
        match SCRIPT.with_borrow_mut(VecDeque::pop_front) {
            Some(abort) => Attempt::Aborted(abort),
            None => {
                ACTIVE.set(true);
                Attempt::Started
            }
        }
    }
    fn commit() {
        assert!(ACTIVE.replace(false), "a commit without a transaction");
    }
    fn abort<const CODE: u8>() -> Abort {
        assert!(ACTIVE.replace(false), "an abort without a transaction");
        LAST_CODE.set(Some(CODE));
        Abort::Explicit(CODE)
    }
    fn is_active() -> bool {
        ACTIVE.get()
    }
}

struct Wait;

impl Relax for Wait {
    fn relax() {
        WAITED.set(WAITED.get() + 1);
        let meanwhile = MEANWHILE.take().expect("the CPU waits and nothing will happen");
        meanwhile();
    }
}

type Lock = Elided<Scripted, 4>;

fn script(aborts: impl IntoIterator<Item = Abort>) {
    SCRIPT.set(aborts.into_iter().collect());
    BEGUN.set(0);
}

/// Runs a section and says whether it was a transaction.
fn section(lock: &Lock, seat: &ElidedSeat) -> bool {
    lock.begin::<Wait>(seat);
    let active = ACTIVE.get();
    assert_eq!(lock.is_held(), !active);
    lock.end(seat);
    assert!(!ACTIVE.get() && !lock.is_held());
    active
}

fn aborts(seat: &ElidedSeat) -> [u64; 5] {
    Cause::ALL.map(|cause| seat.counts().aborts(cause))
}

#[test]
fn a_transaction_that_commits_leaves_the_lock_alone() {
    let (lock, seat) = (Lock::new(), Lock::seat(0));
    assert!(section(&lock, &seat));
    let counts = seat.counts();
    assert_eq!((counts.commits(), counts.fall_backs(), aborts(&seat)), (1, 0, [0; 5]));
}

#[test]
fn aborts_are_counted_by_cause_and_tried_again() {
    let (lock, seat) = (Lock::new(), Lock::seat(0));
    script([
        Abort::Conflict,
        Abort::Conflict,
        Abort::Capacity,
        Abort::Explicit(LOCK_HELD),
        Abort::Unexplained,
        Abort::Explicit(LOCK_HELD + 1),
        Abort::Other,
    ]);
    assert!(section(&lock, &seat));
    assert_eq!(aborts(&seat), [2, 1, 1, 1, 2]);
    assert_eq!((seat.counts().commits(), seat.counts().fall_backs()), (1, 0));
}

#[test]
fn after_so_many_attempts_the_lock_is_taken() {
    let (lock, seat) = (Lock::new(), Lock::seat(0));
    assert_eq!((lock.attempts(), ATTEMPTS, LOCK_HELD), (8, 8, b'L'));
    script([Abort::Conflict; 9]);
    assert!(!section(&lock, &seat));
    assert_eq!((BEGUN.get(), aborts(&seat)), (8, [8, 0, 0, 0, 0]));
    script([Abort::Conflict; 7]);
    assert!(section(&lock, &seat));
    lock.set_attempts(1);
    script([Abort::Capacity]);
    assert!(!section(&lock, &seat));
    assert_eq!((seat.counts().commits(), seat.counts().fall_backs()), (1, 2));
}

#[test]
fn attempts_of_none_take_the_lock_at_once() {
    let (lock, seat) = (Lock::new(), Lock::seat(0));
    assert!(lock.speculates());
    lock.set_attempts(0);
    script([]);
    assert!(!lock.speculates() && !section(&lock, &seat));
    assert_eq!((BEGUN.get(), seat.counts().fall_backs()), (0, 0));
}

#[test]
fn a_transaction_that_finds_the_lock_held_aborts_and_waits() {
    let lock: &'static Lock = Box::leak(Box::new(Lock::new()));
    let owner: &'static ElidedSeat = Box::leak(Box::new(Lock::seat(1)));
    let seat = Lock::seat(0);
    script([]);
    lock.acquire::<Wait>(owner);
    WAITED.set(0);
    MEANWHILE.set(Some(Box::new(|| lock.end(owner))));
    assert!(section(lock, &seat));
    assert_eq!((LAST_CODE.get(), WAITED.get(), BEGUN.get()), (Some(b'L'), 1, 2));
    assert_eq!(aborts(&seat), [0, 0, 1, 0, 0]);
    assert_eq!(owner.counts().commits(), 0);
}

#[test]
fn after_the_last_attempt_the_lock_is_queued_for() {
    let lock: &'static Lock = Box::leak(Box::new(Lock::new()));
    let owner: &'static ElidedSeat = Box::leak(Box::new(Lock::seat(1)));
    let seat = Lock::seat(0);
    lock.set_attempts(1);
    lock.acquire::<Wait>(owner);
    MEANWHILE.set(Some(Box::new(|| lock.end(owner))));
    let handoff = lock.begin::<Wait>(&seat);
    assert!(handoff.waited() && handoff.is_from(1) && handoff.last_owner() == Some(1));
    lock.end(&seat);
    assert_eq!((seat.counts().fall_backs(), aborts(&seat)), (1, [0, 0, 1, 0, 0]));
}

/// The owner hands the lock on to another CPU, which does the same as soon as anybody waits, until
/// there are no more attempts.
fn hand_on(lock: &'static Lock, from: &'static ElidedSeat, to: &'static ElidedSeat) {
    assert!(WAITED.get() < 100, "a CPU waits for ever for others, who come later");
    assert!(lock.is_waited_for(from), "the owner knows of no one who waits");
    lock.end(from);
    if BEGUN.get() < ATTEMPTS {
        lock.acquire::<Wait>(to);
        MEANWHILE.set(Some(Box::new(move || hand_on(lock, to, from))));
    }
}

#[test]
fn a_lock_that_is_never_free_is_queued_for() {
    let lock: &'static Lock = Box::leak(Box::new(Lock::new()));
    let [one, other]: [&'static ElidedSeat; 2] =
        [1, 2].map(|cpu| &*Box::leak(Box::new(Lock::seat(cpu))));
    let seat = Lock::seat(0);
    script([]);
    WAITED.set(0);
    lock.acquire::<Wait>(one);
    MEANWHILE.set(Some(Box::new(move || hand_on(lock, one, other))));
    assert!(!section(lock, &seat));
    // For one owner in front of each further attempt, and for the last one in the queue.
    assert_eq!((BEGUN.get(), WAITED.get()), (ATTEMPTS, ATTEMPTS));
    assert_eq!((seat.counts().fall_backs(), aborts(&seat)), (1, [0, 0, 8, 0, 0]));
}

#[test]
fn writers_take_the_lock_at_once() {
    type Kernel = Elision<Scripted, Wait, 4>;
    const { assert!(Kernel::SPECULATIVE && Kernel::EXCLUSIVE) };
    let (shared, local) = (Kernel::shared(2), Kernel::local(0));
    script([]);
    Kernel::begin(&shared, &local, Kind::Writer);
    assert!(shared.is_held() && !ACTIVE.get());
    Kernel::end(&shared, &local, Kind::Writer);
    Kernel::begin(&shared, &local, Kind::Reader);
    assert!(!shared.is_held() && ACTIVE.get());
    Kernel::end(&shared, &local, Kind::Reader);
    assert_eq!((BEGUN.get(), local.counts().commits(), local.counts().fall_backs()), (1, 1, 0));
}

#[test]
fn without_transactions_the_lock_says_so() {
    type Plain = Elided<NoTransactions, 4>;
    const { assert!(!Plain::SPECULATES && Lock::SPECULATES) };
    let (lock, seat) = (Plain::new(), Plain::seat(0));
    lock.set_attempts(8);
    assert!(!lock.speculates());
    lock.begin::<Wait>(&seat);
    assert!(lock.is_held());
    lock.end(&seat);
    assert!(!lock.is_held());
}

/// A processor that lacks what its port could use; asking it would be refused.
struct Lacking;

impl Transactions for Lacking {
    const AVAILABLE: bool = true;
    fn is_usable() -> bool {
        false
    }
    fn begin() -> Attempt {
        unreachable!("the processor refuses this");
    }
    fn commit() {
        unreachable!("the processor refuses this");
    }
    fn abort<const CODE: u8>() -> Abort {
        unreachable!("the processor refuses this");
    }
    fn is_active() -> bool {
        unreachable!("the processor refuses this");
    }
}

#[test]
fn a_processor_that_lacks_transactions_is_never_asked() {
    let (lock, seat) = (Elided::<Lacking, 4>::new(), Elided::<Lacking, 4>::seat(0));
    lock.set_attempts(8);
    assert!(!lock.speculates());
    lock.begin::<Wait>(&seat);
    lock.end(&seat);
    lock.acquire::<Wait>(&seat);
    lock.end(&seat);
    assert_eq!((seat.counts().commits(), seat.counts().fall_backs()), (0, 0));
}
