//! Condition variables (S2H-16).

use crate::Guard;
use crate::futex::{Futex, first};
use rt::futex::{self, Scope};
use rt::{Error, Wait, Words};

/// A condition variable: threads wait for it and wake others while they own its mutex, which is the
/// same for all.
#[derive(Clone, Copy)]
pub struct Condvar {
    futex: Futex,
    words: Words,
}

/// The word that counts the threads between the beginning and the end of a wait, which the mutex
/// protects: without any, no system call is made for a wake-up.
const WAITING: usize = 1;

impl Condvar {
    /// Words that it takes.
    pub const WORDS: usize = 2;

    /// The condition in words `index` and `index + 1` of these. Those of a new one are 0.
    ///
    /// # Panics
    ///
    /// If there are not so many words.
    pub fn new(words: Words, index: usize, scope: Scope) -> Condvar {
        let words = words.part(index, Condvar::WORDS);
        Condvar { futex: Futex::new(words, 0, scope), words }
    }

    /// Gives up the mutex, waits for a wake-up, and owns the mutex again. It may come back without
    /// one, so callers look again.
    ///
    /// # Errors
    ///
    /// As for [`Condvar::wait_within`].
    pub fn wait(&self, guard: &mut Guard<'_>) -> Result<(), Error> {
        self.wait_within(guard, Wait::NEVER)
    }

    /// [`Condvar::wait`] with a limit, that of a message's send half. The mutex is waited for
    /// without one.
    ///
    /// # Errors
    ///
    /// [`Error::Timeout`] or [`Error::Cancelled`]: the mutex is owned again, and a wake-up that
    /// came meanwhile is used up. [`Error::InvalidArgument`], [`Error::OtherMutex`]: mutex and
    /// condition have two scopes, or other threads wait with another mutex.
    /// [`Error::BrokenQueue`], [`Error::BadAddress`]: a program has written over the words; the
    /// mutex may be lost.
    pub fn wait_within(&self, guard: &mut Guard<'_>, wait: Wait) -> Result<(), Error> {
        let (mutex, Futex { address, scope, .. }) = (guard.mutex, self.futex);
        if mutex.futex.scope != scope {
            return Err(Error::InvalidArgument);
        }
        let seen = first(self.futex.load());
        self.words.add(WAITING, 1);
        mutex.unlock(guard.me)?;
        guard.owned = false;
        let ended = futex::cond_wait(address, scope, seen, mutex.futex.address, wait);
        if ended.is_err() {
            mutex.lock_again(guard.me)?;
        }
        guard.owned = true;
        self.words.add(WAITING, 1u64.wrapping_neg());
        match ended {
            // A wake-up came before the wait.
            Err(Error::Changed) => Ok(()),
            ended => ended,
        }
    }

    /// Waits as long as `so` holds of what the mutex protects.
    ///
    /// # Errors
    ///
    /// As for [`Condvar::wait_within`]; but if `so` does not hold any more when a limit ends the
    /// wait, that is no error: the wake-up is not lost.
    pub fn wait_while(
        &self,
        guard: &mut Guard<'_>,
        wait: Wait,
        so: impl Fn(&Words) -> bool,
    ) -> Result<(), Error> {
        while so(guard) {
            match self.wait_within(guard, wait) {
                Err(Error::Timeout | Error::Cancelled) if !so(guard) => return Ok(()),
                ended => ended?,
            }
        }
        Ok(())
    }

    /// Wakes the thread that has waited longest, if there is one: it is next to own the mutex,
    /// behind those that wait for that already.
    ///
    /// # Errors
    ///
    /// [`Error::WrongState`]: the guard is of another mutex than the waiting threads use;
    /// [`Error::BrokenQueue`], [`Error::BadAddress`].
    pub fn notify_one(&self, guard: &Guard<'_>) -> Result<(), Error> {
        self.notify(guard, false)
    }

    /// Wakes all threads that wait: they own the mutex one after the other. The kernel moves them
    /// in a time that does not depend on how many there are.
    ///
    /// # Errors
    ///
    /// Those of [`Condvar::notify_one`].
    pub fn notify_all(&self, guard: &Guard<'_>) -> Result<(), Error> {
        self.notify(guard, true)
    }

    /// Counts a wake-up and has the kernel do it. The guard says that no other thread counts.
    fn notify(&self, _guard: &Guard<'_>, all: bool) -> Result<(), Error> {
        if self.words.get(WAITING) == 0 {
            return Ok(());
        }
        self.futex.count();
        futex::cond_requeue(self.futex.address, self.futex.scope, all).map(|_| ())
    }
}
