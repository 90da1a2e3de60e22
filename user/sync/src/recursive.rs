//! Mutexes that their owner may lock again.

use crate::{Guard, Mutex, Scope, ThreadId};
use core::mem;
use core::ops::Deref;
use rt::{Error, Wait, Words, arch};

/// A mutex that its owner may lock again; it is free when each guard is dropped. What it protects
/// is shared by its owner's guards, so a function may find it halfway through a change by its own
/// caller. Without that need use a [`Mutex`], which tells of it.
#[derive(Clone, Copy)]
pub struct RecursiveMutex {
    mutex: Mutex,
    words: Words,
}

/// The word behind the mutex that counts how often its owner has locked it again.
const AGAIN: usize = 0;

impl RecursiveMutex {
    /// Words that it takes beside those that it protects.
    pub const WORDS: usize = 2;

    /// The mutex in the first of these words, and what it protects in the others. All words of a
    /// new one are 0.
    ///
    /// # Panics
    ///
    /// If there are fewer than [`RecursiveMutex::WORDS`] words.
    pub fn new(words: Words, scope: Scope) -> RecursiveMutex {
        let own = RecursiveMutex::WORDS;
        let protected = words.part(own, words.len() - own);
        RecursiveMutex { mutex: Mutex::new(words.part(0, own), scope), words: protected }
    }

    /// Waits until the calling thread owns the mutex, unless it owns it already.
    ///
    /// # Errors
    ///
    /// Those of [`Mutex::lock`] but [`Error::AlreadyOwner`].
    pub fn lock(&self, me: ThreadId) -> Result<RecursiveGuard<'_>, Error> {
        self.lock_within(me, Wait::NEVER)
    }

    /// [`RecursiveMutex::lock`] with a limit, that of a message's send half.
    ///
    /// # Errors
    ///
    /// Those of [`RecursiveMutex::lock`]; [`Error::Timeout`].
    pub fn lock_within(&self, me: ThreadId, wait: Wait) -> Result<RecursiveGuard<'_>, Error> {
        let guard = match self.mutex.lock_within(me, wait) {
            Err(Error::AlreadyOwner) => {
                self.mutex.words().add(AGAIN, 1);
                self.mutex.owned_by(me)
            }
            locked => locked?,
        };
        Ok(RecursiveGuard { mutex: self, guard: Some(guard) })
    }
}

/// The calling thread owns a mutex until this, and each other guard of it, is dropped.
#[must_use = "the mutex is given up at once"]
pub struct RecursiveGuard<'m> {
    mutex: &'m RecursiveMutex,
    guard: Option<Guard<'m>>,
}

impl Deref for RecursiveGuard<'_> {
    type Target = Words;
    fn deref(&self) -> &Words {
        &self.mutex.words
    }
}

impl Drop for RecursiveGuard<'_> {
    fn drop(&mut self) {
        let words = self.mutex.mutex.words();
        if words.get(AGAIN) > 0 && !arch::panics() {
            words.add(AGAIN, 1u64.wrapping_neg());
            // Another guard gives the mutex up.
            mem::forget(self.guard.take());
        }
    }
}
