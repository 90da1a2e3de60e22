//! Waking: `MUTEX_WAKE` hands a mutex to the thread that has waited longest (S2H-15). O(1), and
//! O(log n) if that has a deadline.

use super::queue::Queue;
use super::{Caller, Outcome, WAITERS};
use crate::manage::Manager;
use crate::object::thread::flag;
use crate::object::waiter::Kind;
use crate::port::Port;
use abi::{Error, Status};

impl<P: Port> Manager<'_, P> {
    /// Hands over the mutex at an address. Without a waiter it is free: one may be between its mark
    /// and its call, and finds the word changed.
    #[inline(always)]
    pub(super) fn wake_for_mutex(&self, caller: Caller<P>, at: u64) -> Result<Outcome<P>, Error> {
        let physical = self.physical(caller.domain, at).ok_or(Error::BadAddress)?;
        let (place, words) = self.pair(caller.scope, at, physical);
        let Some(owner) = self.head(caller, Kind::Mutex, (place.key, words))? else {
            words.release(0);
            return Ok(Outcome::Done(0));
        };
        let thread = self.all.open(owner);
        let timed = thread.has(flag::DEADLINE);
        if timed && self.makes_room() {
            return Ok(Outcome::Preempted);
        }
        let next = Queue::leave(owner);
        self.succeed(owner, next, Kind::Mutex);
        words.set_queue(self.id_of(next));
        let waiters = if next.is_some() { WAITERS } else { 0 };
        words.release(self.id_of(Some(owner)) | waiters);
        if timed {
            self.end_timeout(owner);
        }
        thread.finish(Status::OK);
        thread.become_ready();
        Ok(Outcome::Woke(owner))
    }
}
