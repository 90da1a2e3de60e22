//! Bounded queues whose threads lend their priority to each other (S2G-07).

use crate::{InheritCondition, InheritGuard, InheritMutex, ThreadId, Value};
use core::marker::PhantomData;
use rt::{Error, Wait, Words};

/// Values of threads of one domain for threads of that domain, first in, first out, at most as many
/// at once as there are places. A thread that waits for a value lends its priority to those that
/// append, and one that waits for room to those that take.
///
/// If a thread that was woken ends before it owns the queue, the next thread that appends or takes
/// wakes another one. If one ends while it changes the queue, the next thread that uses it, or
/// whose limit passes, is told, and so are all that wait: until then they wait.
pub struct InheritQueue<T> {
    mutex: InheritMutex,
    filled: InheritCondition,
    emptied: InheritCondition,
    places: usize,
    of: PhantomData<fn(T) -> T>,
}

/// Where the conditions are in the words, and the place of the first value, how many there are, and
/// the places behind the mutex.
const FILLED: usize = InheritMutex::WORDS;
const EMPTIED: usize = FILLED + InheritCondition::WORDS;
const FIRST: usize = 2 * InheritCondition::WORDS;
const LENGTH: usize = FIRST + 1;
const PLACES: usize = LENGTH + 1;

impl<T: Value> InheritQueue<T> {
    /// Words that it takes beside [`Value::WORDS`] for each place.
    pub const WORDS: usize = InheritMutex::WORDS + PLACES;

    /// The queue in these words, which are 0 at first; those behind the first
    /// [`InheritQueue::WORDS`] are its places.
    ///
    /// # Panics
    ///
    /// If there is no place.
    pub fn new(words: Words) -> InheritQueue<T> {
        let places = words.len().saturating_sub(InheritQueue::<T>::WORDS) / T::WORDS.max(1);
        assert!(places > 0, "a queue of {} words has no place", words.len());
        InheritQueue {
            mutex: InheritMutex::new(words),
            filled: InheritCondition::new(words, FILLED),
            emptied: InheritCondition::new(words, EMPTIED),
            places,
            of: PhantomData,
        }
    }

    /// The calling thread appends values from now on: it helps those that wait for one, until it
    /// ends or [leaves](Sender::leave).
    ///
    /// # Errors
    ///
    /// [`Error::TooManyHelpers`]: [`InheritCondition::HELPERS`] threads do already;
    /// [`Error::HelpsAlready`]; and those of [`InheritMutex::lock`].
    pub fn sender(&self, me: ThreadId) -> Result<Sender<'_, T>, Error> {
        let guard = self.enter(me)?;
        self.filled.helpers_add(&guard, me.helper())?;
        guard.unlock()?;
        Ok(Sender { queue: self, me })
    }

    /// The calling thread takes values from now on: it helps those that wait for room, until it
    /// ends or [leaves](Receiver::leave).
    ///
    /// # Errors
    ///
    /// Those of [`InheritQueue::sender`].
    pub fn receiver(&self, me: ThreadId) -> Result<Receiver<'_, T>, Error> {
        let guard = self.enter(me)?;
        self.emptied.helpers_add(&guard, me.helper())?;
        guard.unlock()?;
        Ok(Receiver { queue: self, me })
    }

    fn enter(&self, me: ThreadId) -> Result<InheritGuard<'_>, Error> {
        let guard = self.mutex.lock(me)?;
        self.is_whole(&guard)?;
        Ok(guard)
    }

    /// Refuses a queue whose owner has ended: all that wait are woken, to be told so as well.
    fn is_whole(&self, guard: &InheritGuard<'_>) -> Result<(), Error> {
        if !guard.owner_died() {
            return Ok(());
        }
        self.filled.notify_all(guard)?;
        self.emptied.notify_all(guard)?;
        Err(Error::WrongState)
    }

    /// Owns the queue when it has not so many values.
    fn enter_unless(
        &self,
        me: ThreadId,
        length: usize,
        changes: &InheritCondition,
        wait: Wait,
    ) -> Result<InheritGuard<'_>, Error> {
        let mut guard = self.enter(me)?;
        let so = |words: &Words| words.get(LENGTH) == length as u64;
        let ended = changes.wait_while(&mut guard, wait, so);
        if ended == Err(Error::WrongState) {
            self.is_whole(&guard)?;
        }
        ended.map(|()| guard)
    }

    /// The words of a place, counted from the first one.
    fn place(&self, words: &Words, at: u64) -> Words {
        words.part(PLACES + at as usize % self.places * T::WORDS, T::WORDS)
    }
}

/// A thread that appends values to a queue.
pub struct Sender<'q, T> {
    queue: &'q InheritQueue<T>,
    me: ThreadId,
}

impl<T: Value> Sender<'_, T> {
    /// Appends a value, or waits until there is room.
    ///
    /// # Errors
    ///
    /// [`Error::Timeout`]; [`Error::WrongState`]: a thread has ended while it changed the queue,
    /// which is lost; and those of [`InheritMutex::lock`].
    pub fn push(&self, value: T, wait: Wait) -> Result<(), Error> {
        let queue = self.queue;
        let guard = queue.enter_unless(self.me, queue.places, &queue.emptied, wait)?;
        let length = guard.get(LENGTH);
        value.store(queue.place(&guard, guard.get(FIRST) + length));
        guard.set(LENGTH, length + 1);
        queue.filled.notify_one(&guard)?;
        // A thread that was woken for another place may have ended.
        if length + 1 < queue.places as u64 {
            queue.emptied.notify_one(&guard)?;
        }
        guard.unlock()
    }

    /// The thread helps no longer.
    ///
    /// # Errors
    ///
    /// Those of [`InheritMutex::lock`].
    pub fn leave(self) -> Result<(), Error> {
        let guard = self.queue.enter(self.me)?;
        self.queue.filled.helpers_del(&guard, self.me.helper())?;
        guard.unlock()
    }
}

/// A thread that takes values from a queue.
pub struct Receiver<'q, T> {
    queue: &'q InheritQueue<T>,
    me: ThreadId,
}

impl<T: Value> Receiver<'_, T> {
    /// Takes the first value, or waits until there is one.
    ///
    /// # Errors
    ///
    /// Those of [`Sender::push`].
    pub fn pop(&self, wait: Wait) -> Result<T, Error> {
        let queue = self.queue;
        let guard = queue.enter_unless(self.me, 0, &queue.filled, wait)?;
        let at = guard.get(FIRST);
        let value = T::load(queue.place(&guard, at));
        guard.set(FIRST, (at + 1) % queue.places as u64);
        let left = guard.get(LENGTH) - 1;
        guard.set(LENGTH, left);
        queue.emptied.notify_one(&guard)?;
        // A thread that was woken for another value may have ended.
        if left > 0 {
            queue.filled.notify_one(&guard)?;
        }
        guard.unlock().map(|()| value)
    }

    /// The thread helps no longer.
    ///
    /// # Errors
    ///
    /// Those of [`InheritMutex::lock`].
    pub fn leave(self) -> Result<(), Error> {
        let guard = self.queue.enter(self.me)?;
        self.queue.emptied.helpers_del(&guard, self.me.helper())?;
        guard.unlock()
    }
}
