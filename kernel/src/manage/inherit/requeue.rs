//! Waking from an inheriting condition: waiters wait for their mutex from now on, and lend its
//! owner what they have lent the helpers. No thread becomes ready, and no effective priority is in
//! between that of before and of after. O([`STEPS`](super::chain::STEPS)) for each helper and
//! waiter, with a preemption point between waiters, and O(log n) for a deadline.

use crate::manage::Manager;
use crate::manage::futex::{Caller, Outcome};
use crate::object::inherit::Kind;
use crate::object::thread::flag;
use crate::port::Port;
use abi::Error;
use abi::futex::{Scope, WAITERS};

impl<P: Port> Manager<'_, P> {
    /// The first waiter of the condition at an address, or with `all` = 1 each, waits for its mutex
    /// from now on. The caller owns that.
    pub(super) fn requeue_inheriting(
        &self,
        caller: Caller<P>,
        at: u64,
        all: u64,
    ) -> Result<Outcome<P>, Error> {
        if all > 1 {
            return Err(Error::InvalidArgument);
        }
        if self.makes_room() {
            return Ok(Outcome::Preempted);
        }
        loop {
            let others = self.requeue_first(caller, at)?;
            if all == 0 || !others {
                return Ok(Outcome::Done(0));
            }
            if self.preempted() {
                return Ok(Outcome::Preempted);
            }
        }
    }

    /// The same for one waiter. Whether others wait still.
    fn requeue_first(&self, caller: Caller<P>, at: u64) -> Result<bool, Error> {
        let (_, words) = self.find(caller.domain, Scope::Domain, at)?;
        let Some(condition) = self.described(caller, (at, true), words)? else { return Ok(false) };
        let turnstile = self.turnstile(condition);
        let waiter = self.waiters().first(&turnstile.waiters);
        let (Some(waiter), Kind::Condition(address)) = (waiter, turnstile.kind.get()) else {
            return Ok(false);
        };
        let (_, words) = self.find(caller.domain, Scope::Domain, address)?;
        let found = self.described(caller, (address, false), words)?;
        let (me, id) = (caller.thread, self.local_id(caller.thread));
        let owns = match found {
            Some(mutex) => self.turnstile(mutex).owner() == Some(me),
            None => words.first() & !WAITERS == id,
        };
        if !owns {
            return Err(Error::WrongState);
        }
        self.leave_turnstile(waiter, condition);
        let others = turnstile.waiters.get().is_some();
        // The last one takes the condition's turnstile along. Behind another one helpers are lent
        // to again, if no chain is too long with the wait for the mutex.
        let ended = (!others).then(|| self.settle(condition));
        let owner = self.join_mutex(waiter, (found, me), (address, words));
        let helpers = ended.unwrap_or_else(|| self.settle(condition));
        words.set_first(id | WAITERS);
        // It is woken: only the wait for that had a limit.
        if self.all.open(waiter).has(flag::DEADLINE) {
            self.end_timeout(waiter);
        }
        self.propagate_to(owner);
        self.propagate_to(helpers);
        Ok(others)
    }
}
