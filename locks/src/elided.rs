//! The kernel's one lock, left out by transactions where they succeed (S1-10).
//!
//! A section runs as a transaction that begins by looking whether the lock is free. The look puts
//! the lock into the transaction's read set, so a CPU that takes the lock aborts all that
//! speculate: a section that commits and one that holds the lock never overlap. After a number of
//! aborts a section takes the lock, since no transaction is ever sure to commit.

use crate::clh::{Clh, Seat};
use crate::handoff::Handoff;
use crate::line::Line;
use crate::relax::Relax;
use crate::sync::Ordering::Relaxed;
use crate::sync::{AtomicU32, AtomicU64};
use crate::transactions::{Abort, Attempt, Transactions};
use core::array;
use core::marker::PhantomData;

/// The code with which a transaction gives up because the lock is held.
pub const LOCK_HELD: u8 = b'L';

/// How often a section tries before it takes the lock, unless told otherwise.
pub const ATTEMPTS: u32 = 8;

/// The lock, for at most `NODES - 1` CPUs with the transactions of `T`.
pub struct Elided<T, const NODES: usize> {
    lock: Clh<NODES>,
    /// Changed to tune it, and 0 where the processor has no transactions.
    attempts: Line<AtomicU32>,
    /// CPUs that wait in front of a further attempt, outside the lock's queue.
    waiting: Line<AtomicU32>,
    usable: bool,
    transactions: PhantomData<fn() -> T>,
}

/// A CPU's place at an elided lock, with its counters.
pub struct ElidedSeat {
    seat: Seat,
    counts: Counts,
}

impl ElidedSeat {
    /// Whether this CPU owns the lock.
    #[inline(always)]
    pub fn holds_lock(&self) -> bool {
        self.seat.holds()
    }

    /// The counters, which any CPU may read.
    pub fn counts(&self) -> &Counts {
        &self.counts
    }
}

impl<T: Transactions, const NODES: usize> Elided<T, NODES> {
    /// Whether this lock can ever be left out; if not, it is a [`Clh`] and nothing else.
    pub const SPECULATES: bool = T::AVAILABLE;

    /// A lock that is free.
    #[expect(clippy::new_without_default, reason = "locks are made on purpose, one by one")]
    pub fn new() -> Elided<T, NODES> {
        let usable = T::AVAILABLE && T::is_usable();
        let attempts = if usable { ATTEMPTS } else { 0 };
        Elided {
            lock: Clh::new(),
            attempts: Line::new(AtomicU32::new(attempts)),
            waiting: Line::new(AtomicU32::new(0)),
            usable,
            transactions: PhantomData,
        }
    }

    /// The place of `cpu` at a new lock. Asking twice for one CPU breaks the lock.
    pub fn seat(cpu: usize) -> ElidedSeat {
        ElidedSeat { seat: Clh::<NODES>::seat(cpu), counts: Counts::new() }
    }

    /// Whether sections speculate on this processor, as it is tuned.
    pub fn speculates(&self) -> bool {
        self.attempts() > 0
    }

    /// Whether a CPU owns the lock or waits for it; no transaction does.
    pub fn is_held(&self) -> bool {
        self.lock.is_held()
    }

    /// Whether another CPU waits for the lock, which this CPU owns, in its queue or beside it.
    #[inline]
    pub fn is_waited_for(&self, seat: &ElidedSeat) -> bool {
        self.lock.is_queued_behind(&seat.seat) || self.waiting.load(Relaxed) > 0
    }

    /// How often a section tries before it takes the lock.
    pub fn attempts(&self) -> u32 {
        self.attempts.load(Relaxed)
    }

    /// Changes how often a section tries; 0 turns speculation off. Without transactions it stays.
    pub fn set_attempts(&self, attempts: u32) {
        if self.usable {
            self.attempts.store(attempts, Relaxed);
        }
    }

    /// Begins a section: as a transaction, or with the lock.
    #[inline(always)]
    pub fn begin<R: Relax>(&self, seat: &ElidedSeat) -> Handoff {
        if T::AVAILABLE {
            let attempts = self.attempts();
            if attempts > 0 {
                return match Self::attempt(&self.lock) {
                    None => Handoff::NONE,
                    Some(abort) => self.go_on::<R>(seat, attempts, abort),
                };
            }
        }
        self.lock.acquire::<R>(&seat.seat)
    }

    /// Begins a transaction, and says why if it is undone.
    #[inline(always)]
    fn attempt(lock: &Clh<NODES>) -> Option<Abort> {
        match T::begin() {
            Attempt::Started if !lock.is_held() => None,
            Attempt::Started => Some(T::abort::<LOCK_HELD>()),
            Attempt::Aborted(abort) => Some(abort),
        }
    }

    /// Begins a section whose first attempt was undone. A transaction that begins here may
    /// outlive this call: when it is undone, so is the return from it.
    #[cold]
    #[inline(never)]
    fn go_on<R: Relax>(&self, seat: &ElidedSeat, attempts: u32, abort: Abort) -> Handoff {
        seat.counts.aborted::<T>(abort);
        for _ in 1..attempts {
            // Not until it is free: others could keep it for ever, and interrupts are off here.
            self.waiting.fetch_add(1, Relaxed);
            self.lock.wait_for_queue::<R>();
            self.waiting.fetch_add(1u32.wrapping_neg(), Relaxed);
            let abort = match Self::attempt(&self.lock) {
                None => return Handoff::NONE,
                Some(abort) => abort,
            };
            seat.counts.aborted::<T>(abort);
        }
        seat.counts.fall_backs.add();
        self.lock.acquire::<R>(&seat.seat)
    }

    /// Begins a section with the lock, for work that no transaction holds.
    #[inline]
    pub fn acquire<R: Relax>(&self, seat: &ElidedSeat) -> Handoff {
        self.lock.acquire::<R>(&seat.seat)
    }

    /// Ends a section, whichever way it began.
    #[inline(always)]
    pub fn end(&self, seat: &ElidedSeat) {
        // Asked of the seat, since a processor without transactions cannot be asked.
        if T::AVAILABLE && !seat.seat.holds() {
            debug_assert!(T::is_active(), "a section ends that has not begun");
            T::commit();
            seat.counts.commits.add();
        } else {
            self.lock.release(&seat.seat);
        }
    }
}

/// Causes of aborts, as they are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// [`Abort::Conflict`].
    Conflict,
    /// [`Abort::Capacity`].
    Capacity,
    /// The lock was held when the transaction looked.
    LockHeld,
    /// [`Abort::Unexplained`].
    Unexplained,
    /// Any other, explicit ones with another code included.
    Other,
}

impl Cause {
    /// All of them.
    pub const ALL: [Cause; 5] =
        [Cause::Conflict, Cause::Capacity, Cause::LockHeld, Cause::Unexplained, Cause::Other];

    fn of(abort: Abort) -> Cause {
        match abort {
            Abort::Conflict => Cause::Conflict,
            Abort::Capacity => Cause::Capacity,
            Abort::Explicit(LOCK_HELD) => Cause::LockHeld,
            Abort::Unexplained => Cause::Unexplained,
            Abort::Explicit(_) | Abort::Other => Cause::Other,
        }
    }
}

/// What became of a CPU's sections. Written by that CPU alone, outside transactions.
pub struct Counts {
    commits: Count,
    fall_backs: Count,
    aborts: [Count; Cause::ALL.len()],
}

impl Counts {
    fn new() -> Counts {
        Counts {
            commits: Count::new(),
            fall_backs: Count::new(),
            aborts: array::from_fn(|_| Count::new()),
        }
    }

    fn aborted<T: Transactions>(&self, abort: Abort) {
        if !T::is_told_again() {
            self.aborts[Cause::of(abort) as usize].add();
        }
    }

    /// Sections that committed as transactions.
    pub fn commits(&self) -> u64 {
        self.commits.get()
    }

    /// Sections that tried and then took the lock.
    pub fn fall_backs(&self) -> u64 {
        self.fall_backs.get()
    }

    /// Aborts for one cause.
    pub fn aborts(&self, cause: Cause) -> u64 {
        self.aborts[cause as usize].get()
    }
}

/// A counter with one writer.
struct Count(AtomicU64);

impl Count {
    fn new() -> Count {
        Count(AtomicU64::new(0))
    }

    #[inline(always)]
    fn add(&self) {
        self.0.store(self.0.load(Relaxed).wrapping_add(1), Relaxed);
    }

    fn get(&self) -> u64 {
        self.0.load(Relaxed)
    }
}
