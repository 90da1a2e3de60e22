//! Waiting for an inheriting mutex. O([`LINKS`](super::LINKS)), and O(log n) with a deadline.

use crate::access::Ref;
use crate::manage::Manager;
use crate::manage::futex::words::Words;
use crate::manage::futex::{Caller, Outcome, Until, identity};
use crate::object::Thread;
use crate::object::thread::{State, flag};
use crate::port::Port;
use abi::Error;
use abi::futex::{OWNER_DIED, Scope, WAITERS};

impl<P: Port> Manager<'_, P> {
    /// The caller waits for the mutex at an address, unless its first word is another one than
    /// `expected`. With success it owns the mutex.
    pub(super) fn wait_inheriting(
        &self,
        caller: Caller<P>,
        at: u64,
        expected: u64,
        until: Until,
    ) -> Result<Outcome<P>, Error> {
        let (_, words) = self.find(caller.domain, Scope::Domain, at)?;
        let Some(state) = u32::try_from(expected).ok().filter(|state| state & WAITERS != 0) else {
            return Err(Error::InvalidArgument);
        };
        if words.first() != state {
            return Err(Error::Changed);
        }
        let me = caller.thread;
        let found = self.described(caller, at, words)?;
        let owner = match found {
            Some(mutex) => self.turnstile(mutex).owner.get(),
            None => self.owner_of(caller, state & !WAITERS),
        };
        let Some(owner) = owner else {
            // It has ended with the mutex, before any thread waited for that.
            words.release(self.local_id(me));
            return Ok(Outcome::Done(OWNER_DIED));
        };
        self.may_wait(me, owner)?;
        if until.is_some_and(|until| until <= self.kernel.port.now()) {
            return Err(Error::Timeout);
        }
        if self.makes_room() {
            return Ok(Outcome::Preempted);
        }
        self.queue_up(me, found, owner, (at, words));
        if let Some(until) = until {
            self.all.open(me).set(flag::DEADLINE);
            self.sleep(until, me);
        }
        Ok(Outcome::Blocked)
    }

    /// The thread with this id that is in the caller's domain, or that comes back to it.
    fn owner_of(&self, caller: Caller<P>, id: u32) -> Option<Ref<Thread<P>>> {
        let found = identity::named(self.kernel, Scope::Domain, caller.domain, id);
        let is_here = |at: &_| self.domains_of(*at).any(|domain| domain == caller.domain);
        found.filter(|at| id != 0 && is_here(at))
    }

    /// The thread in the caller's domain that has this id.
    fn waiter_in(&self, caller: Caller<P>, id: u32) -> Option<Ref<Thread<P>>> {
        let found = identity::thread(self.kernel, Scope::Domain, caller.domain, id);
        found.filter(|_| id != 0)
    }

    /// The turnstile of the mutex at an address, by what its words say.
    ///
    /// # Errors
    ///
    /// [`Error::BrokenQueue`]: they name a thread that is not the one that they should name.
    pub(super) fn described(
        &self,
        caller: Caller<P>,
        at: u64,
        words: Words,
    ) -> Result<Option<Ref<Thread<P>>>, Error> {
        let id = words.queue();
        if id == 0 {
            return Ok(None);
        }
        let named = self.waiter_in(caller, id).ok_or(Error::BrokenQueue)?;
        let mutex = self.all.open(named).inherit.waits.get().ok_or(Error::BrokenQueue)?;
        let turnstile = self.turnstile(mutex);
        let meant = turnstile.named.get() == Some(named) && turnstile.address.get() == at;
        meant.then_some(Some(mutex)).ok_or(Error::BrokenQueue)
    }

    /// A thread joins the waiters of a mutex, or is the first one, and blocks.
    fn queue_up(
        &self,
        me: Ref<Thread<P>>,
        found: Option<Ref<Thread<P>>>,
        owner: Ref<Thread<P>>,
        (address, words): (u64, Words),
    ) {
        let (thread, key) = (self.all.open(me), self.key_of(me));
        let brought = thread.inherit.brings.take().unwrap_or(me);
        let mutex = found.unwrap_or(brought);
        thread.futex.id.set(self.local_id(me));
        let turnstile = self.turnstile(mutex);
        self.waiters().insert(&turnstile.waiters, me, key);
        thread.inherit.waits.set(Some(mutex));
        if found.is_some() {
            self.turnstile(brought).spare.set(turnstile.spare.replace(Some(brought)));
            self.reorder(mutex);
        } else {
            turnstile.address.set(address);
            turnstile.named.set(Some(me));
            words.set_queue(thread.futex.id.get());
            self.own(mutex, owner, key);
        }
        thread.wait_in(State::Waiting);
        self.change_height(mutex, None, Some(self.height(me)));
        self.propagate(owner);
    }

    /// A thread that waits for a mutex no longer takes a turnstile along.
    pub(super) fn take_along(&self, thread: Ref<Thread<P>>, mutex: Ref<Thread<P>>) {
        let turnstile = self.turnstile(mutex);
        let taken = match turnstile.spare.get() {
            Some(spare) => {
                turnstile.spare.set(self.turnstile(spare).spare.take());
                spare
            }
            None => mutex,
        };
        self.all.open(thread).inherit.brings.set(Some(taken));
    }
}
