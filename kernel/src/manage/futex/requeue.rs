//! Waking from a condition: `COND_REQUEUE` lets waiters wait for their mutex (S2H-16). No thread
//! becomes ready. O(1), for one waiter as for all of them.

use super::queue::Queue;
use super::{Caller, Outcome, WAITERS};
use crate::manage::Manager;
use crate::object::waiter::Kind;
use crate::port::Port;
use abi::Error;

impl<P: Port> Manager<'_, P> {
    /// The first waiter of the condition at `at`, or with `all` = 1 each, waits for its mutex from
    /// now on. The caller owns that, so no program changes its words meanwhile.
    #[inline(always)]
    pub(super) fn requeue_waiters(
        &self,
        caller: Caller<P>,
        at: u64,
        all: u64,
    ) -> Result<Outcome<P>, Error> {
        if all > 1 {
            return Err(Error::InvalidArgument);
        }
        let physical = self.physical(caller.domain, at).ok_or(Error::BadAddress)?;
        let (condition, words) = self.pair(caller.scope, at, physical);
        let Some(first) = self.head(caller, Kind::Condition, (condition.key, words))? else {
            return Ok(Outcome::Done(0));
        };
        let body = self.all.open(first);
        let (place, domain) = (body.futex.target.get().mutex, body.domain.get());
        let found = match domain == caller.domain {
            true => self.physical_beside(domain, place.at, (at, physical)),
            false => self.physical(domain, place.at),
        };
        let (now, mutex) = self.pair(caller.scope, place.at, found.ok_or(Error::BadAddress)?);
        if now != place {
            return Err(Error::BadAddress);
        }
        let owner = mutex.first();
        if owner & !WAITERS != self.own_id(caller) {
            return Err(Error::WrongState);
        }
        let head = self.head(caller, Kind::Mutex, (place.key, mutex))?;
        if self.makes_room() {
            return Ok(Outcome::Preempted);
        }

        let left = if all == 1 { None } else { Queue::leave(first) };
        self.succeed(first, left, Kind::Condition);
        words.set_queue(self.id_of(left));
        if all == 0 {
            Queue::form(first);
        }
        match head {
            Some(head) => Queue::splice(head, first),
            None => {
                body.futex.heads.set(Some(Kind::Mutex));
                mutex.set_queue(self.id_of(Some(first)));
            }
        }
        mutex.set_first(owner | WAITERS);
        Ok(Outcome::Done(1))
    }
}
