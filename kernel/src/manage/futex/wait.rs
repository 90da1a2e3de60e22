//! Waiting: `MUTEX_WAIT` and `COND_WAIT` (S2H-15, S2H-16). O(1), and O(log n) with a deadline.

use super::{Caller, Outcome, Until, WAITERS};
use crate::manage::Manager;
use crate::object::thread::flag;
use crate::object::waiter::{Kind, Target};
use crate::port::Port;
use abi::Error;
use abi::trace::{Awaited, Event};

impl<P: Port> Manager<'_, P> {
    /// The caller waits for the mutex or condition at `at`, unless its first word is another one
    /// than `expected`; for a condition, then for the mutex at another address. With success it
    /// owns the mutex.
    #[inline(always)]
    pub(super) fn wait_for(
        &self,
        caller: Caller<P>,
        (kind, at, mutex): (Kind, u64, u64),
        expected: u64,
        until: Until,
    ) -> Result<Outcome<P>, Error> {
        let physical = self.physical(caller.domain, at).ok_or(Error::BadAddress)?;
        let (place, words) = self.pair(caller.scope, at, physical);
        let mut target = Target { scope: caller.scope, condition: None, mutex: place };
        let misused = match kind {
            // Programs may change the word while the kernel stores it.
            Kind::Mutex => expected & u64::from(WAITERS) == 0,
            Kind::Condition => {
                target.condition = Some(place);
                let beside = self.physical_beside(caller.domain, mutex, (at, physical));
                let behind = beside.ok_or(Error::BadAddress)?;
                target.mutex = self.pair(caller.scope, mutex, behind).0;
                target.mutex.key == place.key
            }
        };
        if misused || expected > u64::from(u32::MAX) {
            return Err(Error::InvalidArgument);
        }
        if u64::from(words.first()) != expected {
            return Err(Error::Changed);
        }
        let head = self.head(caller, kind, (place.key, words))?;
        if let Some(head) = head
            && self.all.open(head).futex.target.get().mutex.key != target.mutex.key
        {
            return Err(Error::OtherMutex);
        }
        if until.is_some_and(|until| until <= self.kernel.port.now()) {
            return Err(Error::Timeout);
        }
        // Two places take long to find, and a deadline to add.
        if (kind == Kind::Condition || until.is_some()) && self.makes_room() {
            return Ok(Outcome::Preempted);
        }
        if self.cpu.notes(Event::Wait) {
            self.note_wait_for(caller, (kind, at), expected as u32 & !WAITERS);
        }
        self.join(caller, (kind, target), head, words);
        if let Some(until) = until {
            self.all.open(caller.thread).set(flag::DEADLINE);
            self.sleep(until, caller.thread);
        }
        Ok(Outcome::Blocked)
    }

    /// Writes down what the caller waits for, and which thread has this id, if it is a mutex.
    #[cold]
    fn note_wait_for(&self, caller: Caller<P>, (kind, at): (Kind, u64), owner: u32) {
        let (what, owner) = match kind {
            Kind::Condition => (Awaited::Condition, None),
            Kind::Mutex => (Awaited::Mutex, self.named(caller, owner).map(|(thread, _)| thread)),
        };
        self.note_wait(caller.thread, (what, at), owner);
    }
}
