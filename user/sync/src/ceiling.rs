//! Mutexes with a priority ceiling: the immediate ceiling protocol.

use crate::{Guard, Mutex, Scope, ThreadId};
use core::cell::Cell;
use core::ops::Deref;
use rt::futex;
use rt::{Error, Wait, Words, arch};

/// A mutex whose owner has at least its ceiling: the priority of the highest thread that uses it.
/// So no thread that might ask for it runs meanwhile on the same CPU: each thread is delayed at
/// most once, by one critical section, and threads of one CPU that lock several never wait for each
/// other in a ring. Locking and unlocking are a system call each, also while the mutex is free.
#[derive(Clone, Copy)]
pub struct CeilingMutex {
    mutex: Mutex,
    ceiling: u8,
}

/// The ceilings of the mutexes that a thread owns: each has one such value, on its stack.
pub struct Ceilings {
    held: [Cell<Option<u8>>; Ceilings::MOST],
    /// It is the calling thread's.
    me: ThreadId,
}

impl Ceilings {
    /// How many mutexes with ceilings a thread may own at a time.
    pub const MOST: usize = 8;

    /// Of the calling thread, which owns no mutex with a ceiling.
    pub fn of(me: ThreadId) -> Ceilings {
        Ceilings { held: Default::default(), me }
    }

    /// A further one; its place.
    fn add(&self, ceiling: u8) -> Result<&Cell<Option<u8>>, Error> {
        let free = self.held.iter().find(|held| held.get().is_none()).ok_or(Error::TooDeep)?;
        free.set(Some(ceiling));
        Ok(free)
    }

    /// Has the kernel go by the highest one. The thread's own priority.
    fn apply(&self) -> Result<u8, Error> {
        futex::set_ceiling(self.held.iter().filter_map(Cell::get).max())
    }

    /// One that is not held any more.
    fn remove(&self, place: &Cell<Option<u8>>) {
        place.set(None);
        if let Err(error) = self.apply() {
            panic!("a ceiling cannot be given up: {error:?}");
        }
    }
}

impl CeilingMutex {
    /// The mutex in the first of these words, and what it protects in the others. A new one is 0.
    ///
    /// # Panics
    ///
    /// If there are no words.
    pub fn new(words: Words, ceiling: u8, scope: Scope) -> CeilingMutex {
        CeilingMutex { mutex: Mutex::new(words, scope), ceiling }
    }

    /// Waits until the calling thread owns the mutex, at its ceiling.
    ///
    /// # Errors
    ///
    /// Those of [`Mutex::lock`]; [`Error::PriorityTooHigh`]: the thread's own priority is above the
    /// ceiling, or the ceiling is above what its domain may have. [`Error::TooDeep`]: it owns
    /// [`Ceilings::MOST`] such mutexes. [`Error::WrongState`]: it is inside another domain.
    /// [`Error::OnReservation`]: it has a reservation of its own, also one that is gone: a ceiling
    /// has no effect there. An [`InheritMutex`](crate::InheritMutex) has.
    pub fn lock<'c>(&self, ceilings: &'c Ceilings) -> Result<CeilingGuard<'_, 'c>, Error> {
        self.lock_within(ceilings, Wait::NEVER)
    }

    /// [`CeilingMutex::lock`] with a limit, that of a message's send half.
    ///
    /// # Errors
    ///
    /// Those of [`CeilingMutex::lock`]; [`Error::Timeout`].
    pub fn lock_within<'c>(
        &self,
        ceilings: &'c Ceilings,
        wait: Wait,
    ) -> Result<CeilingGuard<'_, 'c>, Error> {
        let place = ceilings.add(self.ceiling)?;
        let raised = match ceilings.apply() {
            Ok(own) if own > self.ceiling => Err(Error::PriorityTooHigh),
            Ok(_) => self.mutex.lock_within(ceilings.me, wait),
            Err(error) => {
                // Nothing was raised, so nothing is to be given up.
                place.set(None);
                return Err(error);
            }
        };
        match raised {
            Ok(guard) => Ok(CeilingGuard { guard: Some(guard), ceilings, place }),
            Err(error) => {
                ceilings.remove(place);
                Err(error)
            }
        }
    }
}

/// The calling thread owns a mutex, and has its ceiling, until this is dropped. Guards may be
/// dropped in any order.
#[must_use = "the mutex is given up at once"]
pub struct CeilingGuard<'m, 'c> {
    /// Taken when it is dropped: the mutex goes first, then the ceiling.
    guard: Option<Guard<'m>>,
    ceilings: &'c Ceilings,
    place: &'c Cell<Option<u8>>,
}

impl Deref for CeilingGuard<'_, '_> {
    type Target = Words;
    fn deref(&self) -> &Words {
        self.guard.as_ref().expect("it is taken when this is dropped")
    }
}

impl Drop for CeilingGuard<'_, '_> {
    fn drop(&mut self) {
        drop(self.guard.take());
        if !arch::panics() {
            self.ceilings.remove(self.place);
        }
    }
}
