//! Bounded queues.

use crate::{Condvar, Mutex, Scope, ThreadId};
use rt::{Error, Wait, Words};

/// Values of 64 bits from threads to threads, first in, first out, at most as many at once as there
/// are places.
#[derive(Clone, Copy)]
pub struct Queue {
    mutex: Mutex,
    filled: Condvar,
    emptied: Condvar,
    places: u64,
}

impl Queue {
    /// Words that it takes beside one for each place.
    pub const WORDS: usize = 7;
    /// Where the first value is, and how many there are, behind the mutex.
    const FIRST: usize = 4;
    const LENGTH: usize = 5;
    const PLACES: usize = 6;

    /// The queue in these words, which are 0 at first; those behind the first [`Queue::WORDS`] are
    /// its places.
    ///
    /// # Panics
    ///
    /// If there is no place.
    pub fn new(words: Words, scope: Scope) -> Queue {
        assert!(words.len() > Queue::WORDS, "a queue of {} words has no place", words.len());
        Queue {
            mutex: Mutex::new(words, scope),
            filled: Condvar::new(words, 1, scope),
            emptied: Condvar::new(words, 3, scope),
            places: (words.len() - Queue::WORDS) as u64,
        }
    }

    /// Appends a value, or waits until there is room.
    ///
    /// # Errors
    ///
    /// [`Error::Timeout`] and those of [`Mutex::lock`].
    pub fn push(&self, me: ThreadId, value: u64, wait: Wait) -> Result<(), Error> {
        let mut guard = self.mutex.lock(me)?;
        let full = |words: &Words| words.get(Queue::LENGTH) >= self.places;
        self.emptied.wait_while(&mut guard, wait, full)?;
        let (at, length) = (guard.get(Queue::FIRST), guard.get(Queue::LENGTH));
        guard.set(self.place(at.wrapping_add(length)), value);
        guard.set(Queue::LENGTH, length + 1);
        self.filled.notify_one(&guard)?;
        guard.unlock()
    }

    /// Takes the first value, or waits until there is one.
    ///
    /// # Errors
    ///
    /// [`Error::Timeout`] and those of [`Mutex::lock`].
    pub fn pop(&self, me: ThreadId, wait: Wait) -> Result<u64, Error> {
        let mut guard = self.mutex.lock(me)?;
        self.filled.wait_while(&mut guard, wait, |words| words.get(Queue::LENGTH) == 0)?;
        let at = guard.get(Queue::FIRST);
        let value = guard.get(self.place(at));
        guard.set(Queue::FIRST, at.wrapping_add(1) % self.places);
        guard.set(Queue::LENGTH, guard.get(Queue::LENGTH) - 1);
        self.emptied.notify_one(&guard)?;
        guard.unlock().map(|()| value)
    }

    fn place(&self, at: u64) -> usize {
        Queue::PLACES + (at % self.places) as usize
    }
}
