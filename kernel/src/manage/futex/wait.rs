//! Waiting: `MUTEX_WAIT` and `COND_WAIT` (S2H-15, S2H-16). O(1), and O(log n) with a deadline.

use super::{Caller, Outcome, Until, WAITERS};
use crate::access::Ref;
use crate::manage::Manager;
use crate::object::Thread;
use crate::object::thread::flag;
use crate::object::waiter::{Kind, Target};
use crate::port::Port;
use abi::Error;

impl<P: Port> Manager<'_, P> {
    /// The caller waits until it owns the mutex at `at`, unless its first word is another one than
    /// `expected`.
    pub(super) fn wait_for_mutex(
        &self,
        caller: Caller<P>,
        at: u64,
        expected: u64,
        until: Until,
    ) -> Result<Outcome<P>, Error> {
        let expected = u32::try_from(expected).map_err(|_| Error::InvalidArgument)?;
        if expected & WAITERS == 0 {
            // Programs may change the word while the kernel stores it.
            return Err(Error::InvalidArgument);
        }
        let (place, words) = self.find(caller.domain, caller.scope, at)?;
        if words.first() != expected {
            return Err(Error::Changed);
        }
        let head = self.head(caller, Kind::Mutex, (place, words))?;
        if self.goes_first(until)? {
            return Ok(Outcome::Preempted);
        }
        let target = Target { scope: caller.scope, condition: None, mutex: place };
        self.join(caller, (Kind::Mutex, target), head, words);
        self.limit(caller.thread, until);
        Ok(Outcome::Blocked)
    }

    /// The caller waits for a wake-up of the condition at the first of these addresses, and then
    /// until it owns the mutex at the second one.
    pub(super) fn wait_for_condition(
        &self,
        caller: Caller<P>,
        (condition, mutex): (u64, u64),
        expected: u64,
        until: Until,
    ) -> Result<Outcome<P>, Error> {
        let expected = u32::try_from(expected).map_err(|_| Error::InvalidArgument)?;
        let (place, words) = self.find(caller.domain, caller.scope, condition)?;
        let (mutex, _) = self.find(caller.domain, caller.scope, mutex)?;
        if place.key == mutex.key {
            return Err(Error::InvalidArgument);
        }
        if words.first() != expected {
            return Err(Error::Changed);
        }
        let head = self.head(caller, Kind::Condition, (place, words))?;
        if let Some(head) = head
            && self.all.open(head).futex.target.get().mutex.key != mutex.key
        {
            return Err(Error::OtherMutex);
        }
        if self.goes_first(until)? {
            return Ok(Outcome::Preempted);
        }
        let target = Target { scope: caller.scope, condition: Some(place), mutex };
        self.join(caller, (Kind::Condition, target), head, words);
        self.limit(caller.thread, until);
        Ok(Outcome::Blocked)
    }

    /// Whether an interrupt goes before a deadline is added. A call whose deadline has passed ends.
    fn goes_first(&self, until: Until) -> Result<bool, Error> {
        match until {
            None => Ok(false),
            Some(until) if until <= self.kernel.port.now() => Err(Error::Timeout),
            Some(_) => Ok(self.makes_room()),
        }
    }

    /// Starts the timeout of a thread that has blocked.
    fn limit(&self, thread: Ref<Thread<P>>, until: Until) {
        if let Some(until) = until {
            self.all.open(thread).set(flag::DEADLINE);
            self.sleep(until, thread);
        }
    }
}
