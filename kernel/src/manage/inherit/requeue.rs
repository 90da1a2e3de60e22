//! Waking from an inheriting condition: waiters wait for their mutex from now on, and lend its
//! owner what they have lent the helpers. No thread becomes ready, and no effective priority is in
//! between that of before and of after. O(1) for each link of a chain, with preemption points, and
//! O(log n) for a deadline.

use crate::access::Ref;
use crate::manage::Manager;
use crate::manage::futex::words::Words;
use crate::manage::futex::{Caller, Outcome};
use crate::object::Thread;
use crate::object::inherit::Kind;
use crate::object::thread::flag;
use crate::port::Port;
use abi::Error;
use abi::futex::{Scope, WAITERS};
use abi::trace::Awaited;

/// A waiter, the condition that it waits for, and the mutex that it is to wait for.
struct Move<P: Port> {
    waiter: Ref<Thread<P>>,
    condition: (Ref<Thread<P>>, Words),
    /// `None`: no thread waits for it yet.
    mutex: Option<Ref<Thread<P>>>,
    /// Where the mutex is.
    place: (u64, Words),
    /// The owner's id.
    owner: u32,
}

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
        while let Some(mut first) = self.first_to_move(caller, at)? {
            let condition = first.condition.0;
            let follow = self.kernel.waits.has_followers();
            if self.makes_room() || !self.follow_to(condition) {
                return Ok(Outcome::Preempted);
            }
            if follow && let Some(waiter) = self.first_waiter(self.turnstile(condition)) {
                first.waiter = waiter;
            }
            if !self.ends_limit(first.waiter) {
                return Ok(Outcome::Preempted);
            }
            let others = self.move_to_mutex(caller.thread, &first);
            if all == 0 || !others {
                break;
            }
            if self.preempted() {
                return Ok(Outcome::Preempted);
            }
        }
        Ok(Outcome::Done(0))
    }

    /// The first waiter of the condition at an address, and what its move takes. `None`: there is
    /// none.
    fn first_to_move(&self, caller: Caller<P>, at: u64) -> Result<Option<Move<P>>, Error> {
        let (_, words) = self.find(caller.domain, Scope::Domain, at)?;
        let Some(condition) = self.described(caller, (at, true), words)? else { return Ok(None) };
        let turnstile = self.turnstile(condition);
        let waiter = self.first_waiter(turnstile);
        let (Some(waiter), Kind::Condition(address)) = (waiter, turnstile.kind.get()) else {
            return Ok(None);
        };
        let condition = (condition, words);
        let (_, words) = self.find(caller.domain, Scope::Domain, address)?;
        let mutex = self.described(caller, (address, false), words)?;
        let owner = self.local_id(caller.thread);
        let owns = match mutex {
            Some(mutex) => self.owns(caller.thread, mutex),
            None => words.first() & !WAITERS == owner,
        };
        match owns {
            true => Ok(Some(Move { waiter, condition, mutex, place: (address, words), owner })),
            false => Err(Error::WrongState),
        }
    }

    /// Before a waiter is woken, its wait has no limit any more, with a preemption point behind
    /// that. False: it has its limit still, since an interrupt is pending.
    fn ends_limit(&self, waiter: Ref<Thread<P>>) -> bool {
        if !self.all.open(waiter).has(flag::DEADLINE) {
            return true;
        }
        self.end_timeout(waiter);
        let pending = self.makes_room();
        if pending {
            self.wait_until(waiter, Some(waiter.deadline.at()));
        }
        !pending
    }

    /// A waiter waits for its mutex from now on. Whether others wait for the condition still.
    fn move_to_mutex(&self, me: Ref<Thread<P>>, first: &Move<P>) -> bool {
        let (waiter, (condition, words)) = (first.waiter, first.condition);
        let key = self.waiters().key(waiter);
        self.note_wait(waiter, (Awaited::InheritMutex, first.place.0), Some(me));
        self.leave_turnstile(waiter, condition, Some(words));
        let others = self.turnstile(condition).waiters.get().is_some();
        // The last one takes the condition's turnstile along.
        let ended = (!others).then(|| self.settle(condition));
        self.join_mutex((waiter, key), (first.mutex, self.here(me)), first.place);
        let helpers = ended.unwrap_or_else(|| self.settle(condition));
        first.place.1.set_first(first.owner | WAITERS);
        // The owner before the helpers, of which it is mostly one.
        self.propagate_next(me);
        self.propagate_to(helpers.map(|helper| helper.filter(|helper| *helper != me)));
        others
    }
}
