//! Mutexes whose owner has the priority of the threads that wait (S2G-01, S2G-03).

use crate::ThreadId;
use crate::futex::{Futex, first};
use core::ops::Deref;
use rt::futex::{self, Scope, WAITERS};
use rt::{Error, Wait, Words, arch};

/// A mutex of one domain, and the words that it protects. While threads wait, its owner runs with
/// the highest of their priorities, and they own it in the order of these. If its owner ends, the
/// next one learns it.
#[derive(Clone, Copy)]
pub struct InheritMutex {
    futex: Futex,
    words: Words,
    /// Those that it protects.
    protected: Words,
}

/// The word behind the two of the mutex: in the high half of which domain it is, once it has been
/// locked, and what an owner that ended has left behind. The owner alone writes it.
const LEFT: usize = 1;
/// The bits of [`LEFT`] that say of which domain.
const OF: u64 = !0 << 32;
/// [`LEFT`]: all is well.
const WHOLE: u64 = 0;
/// [`LEFT`]: no owner since then has said that the words are right again.
const BROKEN: u64 = 1;
/// [`LEFT`]: one has given the mutex up without saying so.
const GIVEN_UP: u64 = 2;

impl InheritMutex {
    /// Words that it takes beside those that it protects.
    pub const WORDS: usize = 2;

    /// The mutex in the first of these words, and what it protects in the others. All words of a
    /// new one are 0.
    ///
    /// # Panics
    ///
    /// If there are fewer than [`InheritMutex::WORDS`] words.
    pub fn new(words: Words) -> InheritMutex {
        assert!(words.len() >= InheritMutex::WORDS, "an inheriting mutex takes two words");
        let own = InheritMutex::WORDS;
        let protected = words.part(own, words.len() - own);
        InheritMutex { futex: Futex::new(words, 0, Scope::Domain), words, protected }
    }

    /// Waits until the calling thread owns the mutex.
    ///
    /// # Errors
    ///
    /// [`Error::AlreadyOwner`]; [`Error::Deadlock`]: a thread that waits for it, also through
    /// others, owns the mutex, and it would wait for ever. [`Error::OtherDomain`]: the first to
    /// lock the mutex was of another domain.
    /// [`Error::WrongState`]: an owner has ended, and the next one has not called
    /// [`InheritGuard::make_consistent`]. [`Error::Cancelled`]; and if a program has written over
    /// the words [`Error::BrokenQueue`] or [`Error::BadAddress`].
    pub fn lock(&self, me: ThreadId) -> Result<InheritGuard<'_>, Error> {
        self.lock_within(me, Wait::NEVER)
    }

    /// [`InheritMutex::lock`] with a limit, that of a message's send half.
    ///
    /// # Errors
    ///
    /// Those of [`InheritMutex::lock`]; [`Error::Timeout`].
    pub fn lock_within(&self, me: ThreadId, wait: Wait) -> Result<InheritGuard<'_>, Error> {
        // The usual way is the short one: a flag would be tested on it.
        if !self.futex.swap(0, me.of(Scope::Domain)) {
            let died = self.lock_slowly(me, wait)?;
            self.has_come(me, died)?;
        } else if self.words.get(LEFT) != me.domain() | WHOLE {
            self.has_come(me, false)?;
        }
        Ok(InheritGuard { mutex: self, me, owned: true })
    }

    /// Waits until the thread owns the mutex, unless it is free. Whether its last owner has ended.
    #[inline(always)]
    fn acquire(&self, me: ThreadId, wait: Wait) -> Result<bool, Error> {
        Ok(!self.futex.swap(0, me.of(Scope::Domain)) && self.lock_slowly(me, wait)?)
    }

    /// The calling thread has come to own the mutex. If that can never be right again, it is given
    /// up.
    #[cold]
    #[inline(never)]
    fn has_come(&self, me: ThreadId, died: bool) -> Result<(), Error> {
        if let Err(error) = self.is_of(me) {
            // What its domain has left there stays.
            let _ = self.release(me);
            return Err(error);
        }
        let left = if died { BROKEN } else { self.left() };
        self.words.set(LEFT, me.domain() | left);
        if left == GIVEN_UP {
            self.unlock(me)?;
            return Err(Error::WrongState);
        }
        Ok(())
    }

    /// What an owner that ended has left behind.
    fn left(&self) -> u64 {
        self.words.get(LEFT) & !OF
    }

    /// Refuses a mutex of another domain than the thread's: what an id means in it, no other knows,
    /// and the kernel would take its owner for one that has ended.
    fn is_of(&self, me: ThreadId) -> Result<(), Error> {
        match self.words.get(LEFT) & OF {
            0 => Ok(()),
            of if of == me.domain() => Ok(()),
            _ => Err(Error::OtherDomain),
        }
    }

    /// Waits until the thread owns the mutex. Whether its last owner has ended.
    #[cold]
    #[inline(never)]
    fn lock_slowly(&self, me: ThreadId, wait: Wait) -> Result<bool, Error> {
        let own = me.of(Scope::Domain);
        loop {
            let seen = self.futex.load();
            let state = first(seen);
            if state == 0 {
                if self.futex.replace(seen, own) {
                    return Ok(false);
                }
                continue;
            }
            if state & !WAITERS == own {
                return Err(Error::AlreadyOwner);
            }
            self.is_of(me)?;
            let marked = state | WAITERS;
            if state != marked && !self.futex.replace(seen, marked) {
                continue;
            }
            match futex::inherit_wait(self.futex.address, marked, wait) {
                Err(Error::Changed) => {}
                ended => return ended,
            }
        }
    }

    fn unlock(&self, me: ThreadId) -> Result<(), Error> {
        if self.left() == BROKEN {
            self.words.set(LEFT, me.domain() | GIVEN_UP);
        }
        self.release(me)
    }

    fn release(&self, me: ThreadId) -> Result<(), Error> {
        match self.futex.swap(me.of(Scope::Domain), 0) {
            true => Ok(()),
            false => futex::inherit_wake(self.futex.address),
        }
    }
}

/// The calling thread owns a mutex until this is dropped. It is what the mutex protects.
#[must_use = "the mutex is given up at once"]
pub struct InheritGuard<'m> {
    mutex: &'m InheritMutex,
    me: ThreadId,
    owned: bool,
}

impl InheritGuard<'_> {
    /// Whether an owner has ended with the mutex, so that the words may be halfway through a
    /// change, and none since has said that they are right again.
    pub fn owner_died(&self) -> bool {
        self.mutex.left() == BROKEN
    }

    /// The words are right again. Without this, the mutex can never be locked again once it is
    /// given up.
    pub fn make_consistent(&self) {
        self.mutex.words.set(LEFT, self.me.domain() | WHOLE);
    }

    /// Gives the mutex up, waits for a condition by a call with the mutex's address, and owns the
    /// mutex again: by that call, which says whether the last owner has ended, or if it fails
    /// without it. How the call came out.
    ///
    /// # Errors
    ///
    /// The mutex is not owned any more: those of [`InheritMutex::lock`].
    pub(crate) fn wait_with(
        &mut self,
        wait: impl FnOnce(u64) -> Result<bool, Error>,
    ) -> Result<Result<(), Error>, Error> {
        let (mutex, me) = (self.mutex, self.me);
        self.owned = false;
        mutex.unlock(me)?;
        let ended = wait(mutex.futex.address);
        let died = match ended {
            Ok(died) => died,
            Err(_) => mutex.acquire(me, Wait::NEVER)?,
        };
        mutex.has_come(me, died)?;
        self.owned = true;
        Ok(ended.map(|_| ()))
    }

    /// Gives the mutex up, as dropping the guard does, and says whether that went well.
    ///
    /// # Errors
    ///
    /// [`Error::BrokenQueue`], [`Error::BadAddress`] or [`Error::WrongState`]: a program has
    /// written over the words, and the mutex may stay locked.
    pub fn unlock(mut self) -> Result<(), Error> {
        self.owned = false;
        self.mutex.unlock(self.me)
    }
}

impl Deref for InheritGuard<'_> {
    type Target = Words;
    fn deref(&self) -> &Words {
        &self.mutex.protected
    }
}

impl Drop for InheritGuard<'_> {
    fn drop(&mut self) {
        if self.owned
            && !arch::panics()
            && let Err(error) = self.mutex.unlock(self.me)
        {
            panic!("a mutex cannot be unlocked, its words were written over: {error:?}");
        }
    }
}
