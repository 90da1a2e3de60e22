//! Mutexes and conditions of a task set: plain ones, which domains share, or those that lend
//! priorities within a domain.

use rt::{Error, Words};
use sync::{Condvar, Guard, InheritCondition, InheritGuard, InheritMutex, Mutex, Scope, ThreadId};

/// A mutex.
pub enum Lock {
    /// One that serves in order of arrival.
    Plain(Mutex),
    /// One that lends and serves by priority (S2G-01).
    Inheriting(InheritMutex),
}

/// A task owns a mutex.
pub enum Held<'l> {
    Plain(Guard<'l>),
    Inheriting(InheritGuard<'l>),
}

/// A condition.
pub enum Condition {
    /// One that serves in order of arrival.
    Plain(Condvar),
    /// One that lends to its helpers, if it has some, and serves by priority (S2G-02), with the
    /// mutex that protects the set of these.
    Inheriting(InheritCondition, InheritMutex),
}

/// Where the mutex of an inheriting condition is in its words.
const HELPERS_MUTEX: usize = InheritCondition::WORDS;

/// A mutex and a condition of different kinds, which no run has.
const MIXED: Error = Error::OtherMutex;

impl Lock {
    /// The mutex in these words.
    pub fn new(words: Words, inherits: bool) -> Lock {
        match inherits {
            true => Lock::Inheriting(InheritMutex::new(words)),
            false => Lock::Plain(Mutex::new(words, Scope::Shared)),
        }
    }

    pub fn lock(&self, me: ThreadId) -> Result<Held<'_>, Error> {
        match self {
            Lock::Plain(mutex) => mutex.lock(me).map(Held::Plain),
            Lock::Inheriting(mutex) => mutex.lock(me).map(Held::Inheriting),
        }
    }
}

impl Held<'_> {
    pub fn unlock(self) -> Result<(), Error> {
        match self {
            Held::Plain(guard) => guard.unlock(),
            Held::Inheriting(guard) => guard.unlock(),
        }
    }
}

impl Condition {
    /// The condition in these words.
    pub fn new(words: Words, inherits: bool) -> Condition {
        if !inherits {
            return Condition::Plain(Condvar::new(words, 0, Scope::Shared));
        }
        let mutex = InheritMutex::new(words.part(HELPERS_MUTEX, InheritMutex::WORDS));
        Condition::Inheriting(InheritCondition::new(words, 0), mutex)
    }

    /// The calling thread helps it from now on.
    pub fn help(&self, me: ThreadId) -> Result<(), Error> {
        match self {
            Condition::Plain(_) => Err(MIXED),
            Condition::Inheriting(condition, mutex) => {
                condition.helpers_add(&mutex.lock(me)?, me.helper())
            }
        }
    }

    /// Gives the mutex up, waits, and owns it again.
    pub fn wait(&self, held: &mut Held) -> Result<(), Error> {
        match (self, held) {
            (Condition::Plain(condition), Held::Plain(guard)) => condition.wait(guard),
            (Condition::Inheriting(condition, _), Held::Inheriting(guard)) => condition.wait(guard),
            _ => Err(MIXED),
        }
    }

    /// Wakes a task that waits.
    pub fn notify_one(&self, held: &Held) -> Result<(), Error> {
        match (self, held) {
            (Condition::Plain(condition), Held::Plain(guard)) => condition.notify_one(guard),
            (Condition::Inheriting(condition, _), Held::Inheriting(guard)) => {
                condition.notify_one(guard)
            }
            _ => Err(MIXED),
        }
    }
}

/// What an error of the kernel means for a job.
pub fn meaning(error: Error) -> &'static str {
    match error {
        Error::AlreadyOwner => "a task waits for itself: it owns the mutex",
        Error::Deadlock => "a task waits for itself: a ring of waits closes",
        Error::WrongState | Error::OtherMutex => "a condition is used with two mutexes",
        _ => "the kernel refuses an operation on a mutex or a condition",
    }
}
