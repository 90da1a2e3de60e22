//! Locks of the crate `lock_api`, for what lies in a program's own memory: `lock_api::Mutex` and
//! `lock_api::RwLock` around any type, among the threads of one domain.
//!
//! A free one is locked, and given up while no thread waits, by one compare-and-swap; a waiting
//! thread is handed it in the order of arrival. They neither inherit priorities nor check for
//! errors: a thread that locks one again waits for ever.

use crate::Wait;
use crate::futex::{Scope, WAITERS, mutex_wait, mutex_wake};
use crate::time::Instant;
use abi::Error;
use core::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed};
use core::sync::atomic::{AtomicU32, AtomicU64};
use core::time::Duration;
use lock_api::GuardSend;

pub use lock_api;

/// A mutex around a value.
pub type Mutex<T> = lock_api::Mutex<RawMutex, T>;
/// What owns a [`Mutex`].
pub type MutexGuard<'m, T> = lock_api::MutexGuard<'m, RawMutex, T>;
/// A reader-writer lock around a value.
pub type RwLock<T> = lock_api::RwLock<RawRwLock, T>;

/// In place of its owner's id, which nothing asks for. The kernel hands a mutex over by the id of
/// the next owner.
const TAKEN: u64 = 1;
/// Bits of the word that says who owns it.
const STATE: u64 = u32::MAX as u64;

/// The words of a mutex.
pub struct RawMutex(AtomicU64);

impl RawMutex {
    const fn new() -> RawMutex {
        RawMutex(AtomicU64::new(0))
    }

    fn address(&self) -> u64 {
        self.0.as_ptr() as u64
    }

    #[inline(always)]
    fn swap(&self, from: u64, to: u64) -> bool {
        self.0.compare_exchange(from, to, AcqRel, Relaxed).is_ok()
    }

    /// Whether the mutex is the caller's, which it is not behind a deadline.
    #[inline(always)]
    fn lock_within(&self, wait: Wait) -> bool {
        self.swap(0, TAKEN) || self.lock_slowly(wait)
    }

    #[cold]
    #[inline(never)]
    fn lock_slowly(&self, wait: Wait) -> bool {
        loop {
            let seen = self.0.load(Acquire);
            if seen & STATE == 0 {
                if self.swap(seen, seen | TAKEN) {
                    return true;
                }
                continue;
            }
            let marked = seen | u64::from(WAITERS);
            if seen != marked && !self.swap(seen, marked) {
                continue;
            }
            match mutex_wait(self.address(), Scope::Domain, (marked & STATE) as u32, wait) {
                Ok(()) => return true,
                Err(Error::Timeout) => return false,
                // One that is cancelled has no one to tell.
                Err(Error::Changed | Error::Cancelled) => {}
                Err(error) => broken(error),
            }
        }
    }

    #[inline(always)]
    fn give_up(&self) {
        let seen = self.0.load(Relaxed);
        // Without the mark no thread waits, and the second word is 0.
        if seen > STATE >> 1 || !self.swap(seen, 0) {
            self.hand_over();
        }
    }

    #[cold]
    #[inline(never)]
    fn hand_over(&self) {
        if let Err(error) = mutex_wake(self.address(), Scope::Domain) {
            broken(error);
        }
    }

    fn is_taken(&self) -> bool {
        self.0.load(Relaxed) & STATE != 0
    }
}

#[cold]
#[inline(never)]
fn broken(error: Error) -> ! {
    panic!("the words of a mutex were written over: {error:?}");
}

// SAFETY: the first word is 0 while no thread owns the mutex. It is set from 0 by one thread's
// compare-and-swap, with acquire semantics, and from then on by the kernel alone, which makes one
// thread its next owner, or by the owner, which releases it.
unsafe impl lock_api::RawMutex for RawMutex {
    const INIT: RawMutex = RawMutex::new();
    type Guard = GuardSend;

    #[inline(always)]
    fn lock(&self) -> GuardSend {
        while !self.lock_within(Wait::NEVER) {}
        GuardSend::new()
    }

    #[inline(always)]
    fn try_lock(&self) -> Option<GuardSend> {
        self.swap(0, TAKEN).then(GuardSend::new)
    }

    #[inline(always)]
    unsafe fn unlock(&self, _: GuardSend) {
        self.give_up();
    }

    fn is_locked(&self) -> bool {
        self.is_taken()
    }
}

// SAFETY: as above; the owner hands it to the thread that has waited longest, always.
unsafe impl lock_api::RawMutexFair for RawMutex {
    #[inline(always)]
    unsafe fn unlock_fair(&self, _: GuardSend) {
        self.give_up();
    }
}

// SAFETY: as above; without it nothing is changed but the mark of waiting threads.
unsafe impl lock_api::RawMutexTimed for RawMutex {
    type Duration = Duration;
    type Instant = Instant;

    fn try_lock_for(&self, timeout: Duration) -> Option<GuardSend> {
        self.lock_within(Wait::within(timeout)).then(GuardSend::new)
    }

    fn try_lock_until(&self, timeout: Instant) -> Option<GuardSend> {
        self.lock_within(Wait::by(timeout)).then(GuardSend::new)
    }
}

/// A reader-writer lock: readers share it that no writer waits in front of.
pub struct RawRwLock {
    /// Those that come, in order.
    gate: RawMutex,
    /// A writer's, or that of all readers that are inside together.
    room: RawMutex,
    /// Guards the number of readers that are inside.
    count: RawMutex,
    readers: AtomicU32,
}

impl RawRwLock {
    /// A reader comes in, if the room is, or becomes, that of readers.
    fn enter(&self, take_room: impl FnOnce() -> bool) -> bool {
        self.count.lock_within(Wait::NEVER);
        let inside = self.readers.load(Relaxed);
        let enters = inside > 0 || take_room();
        if enters {
            self.readers.store(inside + 1, Relaxed);
        }
        self.count.give_up();
        enters
    }
}

// SAFETY: the room is a mutex: either a writer owns it, or the first reader has taken it for all
// that are inside, whose number is changed under another mutex, and the last one gives it up. Who
// gives a mutex up need not be who has taken it.
unsafe impl lock_api::RawRwLock for RawRwLock {
    const INIT: RawRwLock = RawRwLock {
        gate: RawMutex::new(),
        room: RawMutex::new(),
        count: RawMutex::new(),
        readers: AtomicU32::new(0),
    };
    type SharedGuard = GuardSend;
    type ExclusiveGuard = GuardSend;

    fn lock_shared(&self) -> GuardSend {
        self.gate.lock_within(Wait::NEVER);
        self.enter(|| self.room.lock_within(Wait::NEVER));
        self.gate.give_up();
        GuardSend::new()
    }

    fn try_lock_shared(&self) -> Option<GuardSend> {
        if !self.gate.swap(0, TAKEN) {
            return None;
        }
        let enters = self.enter(|| self.room.swap(0, TAKEN));
        self.gate.give_up();
        enters.then(GuardSend::new)
    }

    unsafe fn unlock_shared(&self, _: GuardSend) {
        self.count.lock_within(Wait::NEVER);
        let left = self.readers.load(Relaxed) - 1;
        self.readers.store(left, Relaxed);
        if left == 0 {
            self.room.give_up();
        }
        self.count.give_up();
    }

    fn lock_exclusive(&self) -> GuardSend {
        self.gate.lock_within(Wait::NEVER);
        self.room.lock_within(Wait::NEVER);
        self.gate.give_up();
        GuardSend::new()
    }

    fn try_lock_exclusive(&self) -> Option<GuardSend> {
        if !self.gate.swap(0, TAKEN) {
            return None;
        }
        let taken = self.room.swap(0, TAKEN);
        self.gate.give_up();
        taken.then(GuardSend::new)
    }

    unsafe fn unlock_exclusive(&self, _: GuardSend) {
        self.room.give_up();
    }

    fn is_locked(&self) -> bool {
        self.room.is_taken()
    }

    fn is_locked_exclusive(&self) -> bool {
        self.room.is_taken() && self.readers.load(Relaxed) == 0
    }
}
