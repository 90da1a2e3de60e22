//! Reader-writer locks.

use crate::{Condvar, Guard, Mutex, Scope, ThreadId};
use core::ops::Deref;
use rt::{Error, Wait, Words, arch};

/// One writer or any number of readers at a time. A reader that comes while a writer waits waits
/// behind it, so that writers are not kept out for ever; readers that wait go on together when a
/// writer is done, before the next one. Once the last of the writers that wait gives its wait up,
/// readers wait no longer.
#[derive(Clone, Copy)]
pub struct RwLock {
    mutex: Mutex,
    readable: Condvar,
    writable: Condvar,
    words: Words,
}

/// In [`RwLock::STATE`] beside the id of the thread that writes; else it is the number of readers.
const WRITES: u64 = 1 << 63;

impl RwLock {
    /// Words that it takes beside what it protects.
    pub const WORDS: usize = 7;
    /// The state, and how many writers wait, behind the mutex.
    const STATE: usize = 4;
    const WAITING: usize = 5;

    /// The lock in the first of these words, and what it protects in the others. A new one is 0.
    ///
    /// # Panics
    ///
    /// If there are not [`RwLock::WORDS`].
    pub fn new(words: Words, scope: Scope) -> RwLock {
        let own = words.part(0, RwLock::WORDS);
        RwLock {
            mutex: Mutex::new(own, scope),
            readable: Condvar::new(own, 1, scope),
            writable: Condvar::new(own, 3, scope),
            words: words.part(RwLock::WORDS, words.len() - RwLock::WORDS),
        }
    }

    /// Waits until the thread may read.
    ///
    /// # Errors
    ///
    /// [`Error::Timeout`] and those of [`Mutex::lock`]; [`Error::AlreadyOwner`]: it writes.
    pub fn read(&self, me: ThreadId, wait: Wait) -> Result<ReadGuard<'_>, Error> {
        let mut guard = self.lock_if_not_writer(me)?;
        if guard.get(RwLock::WAITING) > 0 && guard.get(RwLock::STATE) & WRITES == 0 {
            self.readable.wait_within(&mut guard, wait)?;
        }
        let written = |words: &Words| words.get(RwLock::STATE) & WRITES != 0;
        self.readable.wait_while(&mut guard, wait, written)?;
        guard.set(RwLock::STATE, guard.get(RwLock::STATE) + 1);
        guard.unlock().map(|()| ReadGuard { lock: self, me })
    }

    /// Waits until the thread may write.
    ///
    /// # Errors
    ///
    /// [`Error::Timeout`] and those of [`Mutex::lock`]; [`Error::AlreadyOwner`]: it writes. A
    /// thread that reads waits for itself, as it is not known who reads.
    pub fn write(&self, me: ThreadId, wait: Wait) -> Result<WriteGuard<'_>, Error> {
        let mut guard = self.lock_if_not_writer(me)?;
        guard.set(RwLock::WAITING, guard.get(RwLock::WAITING) + 1);
        let used = |words: &Words| words.get(RwLock::STATE) != 0;
        let ended = self.writable.wait_while(&mut guard, wait, used);
        guard.set(RwLock::WAITING, guard.get(RwLock::WAITING) - 1);
        if let Err(error) = ended {
            // Readers that have waited for this writer wait for the next one, if there is one.
            if guard.get(RwLock::WAITING) == 0 {
                self.readable.notify_all(&guard)?;
            }
            return Err(error);
        }
        guard.set(RwLock::STATE, self.written_by(me));
        guard.unlock().map(|()| WriteGuard { lock: self, me })
    }

    /// The state while this thread writes.
    fn written_by(&self, me: ThreadId) -> u64 {
        WRITES | u64::from(me.of(self.mutex.futex.scope))
    }

    /// The mutex before a wait, which the thread that writes would never end.
    fn lock_if_not_writer(&self, me: ThreadId) -> Result<Guard<'_>, Error> {
        let guard = self.mutex.lock(me)?;
        if guard.get(RwLock::STATE) == self.written_by(me) {
            guard.unlock()?;
            return Err(Error::AlreadyOwner);
        }
        Ok(guard)
    }

    fn done_reading(&self, me: ThreadId) -> Result<(), Error> {
        let guard = self.mutex.lock(me)?;
        let readers = guard.get(RwLock::STATE) - 1;
        guard.set(RwLock::STATE, readers);
        if readers == 0 {
            self.writable.notify_one(&guard)?;
        }
        guard.unlock()
    }

    fn done_writing(&self, me: ThreadId) -> Result<(), Error> {
        let guard = self.mutex.lock(me)?;
        guard.set(RwLock::STATE, 0);
        self.readable.notify_all(&guard)?;
        self.writable.notify_one(&guard)?;
        guard.unlock()
    }
}

/// The calling thread may read what a lock protects until this is dropped.
#[must_use = "the lock is given up at once"]
pub struct ReadGuard<'l> {
    lock: &'l RwLock,
    me: ThreadId,
}

/// The calling thread may write what a lock protects until this is dropped.
#[must_use = "the lock is given up at once"]
pub struct WriteGuard<'l> {
    lock: &'l RwLock,
    me: ThreadId,
}

impl ReadGuard<'_> {
    /// One word.
    ///
    /// # Panics
    ///
    /// If there are not so many.
    pub fn get(&self, index: usize) -> u64 {
        self.lock.words.get(index)
    }
}

impl Deref for WriteGuard<'_> {
    type Target = Words;
    fn deref(&self) -> &Words {
        &self.lock.words
    }
}

impl Drop for ReadGuard<'_> {
    fn drop(&mut self) {
        if !arch::panics()
            && let Err(error) = self.lock.done_reading(self.me)
        {
            panic!("a reader-writer lock cannot be given up: {error:?}");
        }
    }
}

impl Drop for WriteGuard<'_> {
    fn drop(&mut self) {
        if !arch::panics()
            && let Err(error) = self.lock.done_writing(self.me)
        {
            panic!("a reader-writer lock cannot be given up: {error:?}");
        }
    }
}
