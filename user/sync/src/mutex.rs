//! Mutexes (S2H-15).

use crate::ThreadId;
use crate::futex::{Futex, first};
use core::ops::Deref;
use rt::futex::{self, Scope, WAITERS};
use rt::{Error, Wait, Words, arch};

/// A mutex, and the words that it protects: the first word is the mutex, the others are behind it.
/// It checks for errors: its owner cannot lock it again, and no other thread can unlock it.
#[derive(Clone, Copy)]
pub struct Mutex {
    pub(crate) futex: Futex,
    words: Words,
}

impl Mutex {
    /// The mutex in the first of these words, and what it protects in the others. A new one is 0.
    ///
    /// # Panics
    ///
    /// If there are no words.
    pub fn new(words: Words, scope: Scope) -> Mutex {
        Mutex { futex: Futex::new(words, 0, scope), words: words.part(1, words.len() - 1) }
    }

    /// Waits until the calling thread owns the mutex.
    ///
    /// # Errors
    ///
    /// [`Error::Cancelled`]; [`Error::AlreadyOwner`]; and if a program has written
    /// over the words [`Error::BrokenQueue`] or [`Error::BadAddress`].
    #[inline(always)]
    pub fn lock(&self, me: ThreadId) -> Result<Guard<'_>, Error> {
        self.lock_within(me, Wait::NEVER)
    }

    /// [`Mutex::lock`] with a limit, that of a message's send half.
    ///
    /// # Errors
    ///
    /// Those of [`Mutex::lock`]; [`Error::Timeout`].
    #[inline(always)]
    pub fn lock_within(&self, me: ThreadId, wait: Wait) -> Result<Guard<'_>, Error> {
        if !self.futex.swap(0, me.of(self.futex.scope)) {
            self.lock_slowly(me, wait)?;
        }
        Ok(Guard { mutex: self, me, owned: true })
    }

    /// The mutex, if it is free now.
    #[inline(always)]
    pub fn try_lock(&self, me: ThreadId) -> Option<Guard<'_>> {
        let free = self.futex.swap(0, me.of(self.futex.scope));
        // Made only then: dropping a guard unlocks.
        free.then(|| Guard { mutex: self, me, owned: true })
    }

    /// A further guard of a mutex that the thread owns.
    pub(crate) fn owned_by(&self, me: ThreadId) -> Guard<'_> {
        Guard { mutex: self, me, owned: true }
    }

    /// What it protects, which its owner alone uses.
    pub(crate) fn words(&self) -> &Words {
        &self.words
    }

    /// [`Mutex::lock`], for a guard that there is.
    pub(crate) fn lock_again(&self, me: ThreadId) -> Result<(), Error> {
        match self.futex.swap(0, me.of(self.futex.scope)) {
            true => Ok(()),
            false => self.lock_slowly(me, Wait::NEVER),
        }
    }

    /// Waits until the thread owns the mutex.
    #[cold]
    #[inline(never)]
    pub(crate) fn lock_slowly(&self, me: ThreadId, wait: Wait) -> Result<(), Error> {
        let own = me.of(self.futex.scope);
        loop {
            let seen = self.futex.load();
            let state = first(seen);
            if state == 0 {
                if self.futex.replace(seen, own) {
                    return Ok(());
                }
                continue;
            }
            if state & !WAITERS == own {
                return Err(Error::AlreadyOwner);
            }
            let marked = state | WAITERS;
            if state != marked && !self.futex.replace(seen, marked) {
                continue;
            }
            match futex::mutex_wait(self.futex.address, self.futex.scope, marked, wait) {
                Err(Error::Changed) => {}
                ended => return ended,
            }
        }
    }

    /// The thread gives the mutex up.
    #[inline(always)]
    pub(crate) fn unlock(&self, me: ThreadId) -> Result<(), Error> {
        match self.futex.swap(me.of(self.futex.scope), 0) {
            true => Ok(()),
            false => self.unlock_slowly(me),
        }
    }

    #[cold]
    #[inline(never)]
    fn unlock_slowly(&self, me: ThreadId) -> Result<(), Error> {
        loop {
            let seen = self.futex.load();
            // Without the mark the second word should be 0, and somebody has written over it.
            if first(seen) != me.of(self.futex.scope) {
                return futex::mutex_wake(self.futex.address, self.futex.scope);
            }
            if self.futex.replace(seen, 0) {
                return Ok(());
            }
        }
    }
}

/// The calling thread owns a mutex until this is dropped. It is what the mutex protects.
#[must_use = "the mutex is given up at once"]
pub struct Guard<'m> {
    pub(crate) mutex: &'m Mutex,
    pub(crate) me: ThreadId,
    /// Not if a wait for a condition has ended without the mutex.
    pub(crate) owned: bool,
}

impl Guard<'_> {
    /// Gives the mutex up, as dropping the guard does, and says whether that went well.
    ///
    /// # Errors
    ///
    /// [`Error::BrokenQueue`] or [`Error::BadAddress`]: a program has written over the words, and
    /// the mutex stays locked.
    pub fn unlock(mut self) -> Result<(), Error> {
        self.owned = false;
        self.mutex.unlock(self.me)
    }
}

impl Deref for Guard<'_> {
    type Target = Words;
    #[inline(always)]
    fn deref(&self) -> &Words {
        &self.mutex.words
    }
}

impl Drop for Guard<'_> {
    #[inline(always)]
    fn drop(&mut self) {
        if self.owned
            && !arch::panics()
            && let Err(error) = self.mutex.unlock(self.me)
        {
            broken(error);
        }
    }
}

#[cold]
#[inline(never)]
fn broken(error: Error) {
    panic!("a mutex cannot be unlocked, its words were written over: {error:?}");
}
