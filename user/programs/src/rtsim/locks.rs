//! Mutexes and conditions of a task set: plain ones, which domains share, or those that lend
//! priorities within a domain.

use rt::{Error, Words};
use sync::{Condvar, Guard, InheritGuard, InheritMutex, Mutex, Scope, ThreadId};

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
}

/// Two objects of different kinds: a mutex that lends, and a condition that does not.
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
    pub fn new(words: Words, _inherits: bool) -> Condition {
        Condition::Plain(Condvar::new(words, 0, Scope::Shared))
    }

    /// Gives the mutex up, waits, and owns it again.
    pub fn wait(&self, held: &mut Held) -> Result<(), Error> {
        match (self, held) {
            (Condition::Plain(condition), Held::Plain(guard)) => condition.wait(guard),
            _ => Err(MIXED),
        }
    }

    /// Wakes a task that waits.
    pub fn notify_one(&self, held: &Held) -> Result<(), Error> {
        match (self, held) {
            (Condition::Plain(condition), Held::Plain(guard)) => condition.notify_one(guard),
            _ => Err(MIXED),
        }
    }
}

/// What an error of the kernel means for a job.
pub fn meaning(error: Error) -> &'static str {
    match error {
        Error::SelfSend => "a task waits for itself: it owns the mutex, or a ring of waits closes",
        Error::TooDeep => "more than eight tasks wait in a row, which inheritance does not follow",
        Error::WrongState | Error::OtherMutex => "a condition is used with two mutexes",
        _ => "the kernel refuses an operation on a mutex or a condition",
    }
}
