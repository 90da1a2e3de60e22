//! Counting semaphores.

use crate::{Condvar, Mutex, Scope, ThreadId};
use rt::{Error, Wait, Words};

/// Permits, which threads take and give back. Those that wait are woken in the order of asking. A
/// permit is not handed over: a thread that asks while one is being given may take it, and the one
/// that was woken then waits again, behind all others.
#[derive(Clone, Copy)]
pub struct Semaphore {
    mutex: Mutex,
    given: Condvar,
}

impl Semaphore {
    /// Words that it takes.
    pub const WORDS: usize = 4;
    /// The word that counts permits, behind the mutex.
    const PERMITS: usize = 2;

    /// The semaphore in the first of these words, which are 0 while there are no permits.
    ///
    /// # Panics
    ///
    /// If there are not [`Semaphore::WORDS`].
    pub fn new(words: Words, scope: Scope) -> Semaphore {
        let words = words.part(0, Semaphore::WORDS);
        Semaphore { mutex: Mutex::new(words, scope), given: Condvar::new(words, 1, scope) }
    }

    /// Takes a permit, or waits until there is one.
    ///
    /// # Errors
    ///
    /// [`Error::Timeout`] and those of [`Mutex::lock`].
    pub fn take(&self, me: ThreadId, wait: Wait) -> Result<(), Error> {
        let mut guard = self.mutex.lock(me)?;
        self.given.wait_while(&mut guard, wait, |words| words.get(Semaphore::PERMITS) == 0)?;
        guard.set(Semaphore::PERMITS, guard.get(Semaphore::PERMITS) - 1);
        guard.unlock()
    }

    /// Adds a permit.
    ///
    /// # Errors
    ///
    /// Those of [`Mutex::lock`].
    pub fn give(&self, me: ThreadId) -> Result<(), Error> {
        let guard = self.mutex.lock(me)?;
        guard.set(Semaphore::PERMITS, guard.get(Semaphore::PERMITS) + 1);
        self.given.notify_one(&guard)?;
        guard.unlock()
    }
}
