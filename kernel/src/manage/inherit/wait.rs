//! Waiting for an inheriting mutex. O(1) for each link of its chain, with preemption points, and
//! O(log n) with a deadline.

use crate::access::Ref;
use crate::manage::Manager;
use crate::manage::futex::words::Words;
use crate::manage::futex::{Caller, Outcome, Until};
use crate::object::Thread;
use crate::object::inherit::Named;
use crate::object::thread::{State, flag};
use crate::port::Port;
use abi::Error;
use abi::futex::{OWNER_DIED, Scope, WAITERS};
use abi::trace::{Awaited, Event, NO_THREAD};

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
        let found = self.described(caller, (at, false), words)?;
        let owner = match found {
            Some(mutex) => self.turnstile(mutex).owner(),
            None => self.named(caller, state & !WAITERS),
        };
        let Some(owner) = owner else {
            // It has ended with the mutex, before any thread waited for that.
            if P::SMP && self.runs_on_still(caller, state & !WAITERS) {
                return Ok(Outcome::Preempted);
            }
            words.release(self.local_id(me));
            return Ok(Outcome::Done(OWNER_DIED));
        };
        let may_wait = self.may_wait(me, owner.0)?;
        if until.is_some_and(|until| until <= self.kernel.port.now()) {
            return Err(Error::Timeout);
        }
        if !may_wait || self.makes_room() || !self.limits_wait(me, until) {
            return Ok(Outcome::Preempted);
        }
        self.note_wait(me, (Awaited::InheritMutex, at), Some(owner.0));
        self.begin_wait(me);
        let key = self.key_of(me);
        self.join_mutex((me, key), (found, owner), (at, words));
        self.lend_to([Some(owner.0), None, None, None], key);
        Ok(Outcome::Blocked)
    }

    /// A thread waits from now on, by its id in its domain.
    pub(super) fn begin_wait(&self, me: Ref<Thread<P>>) {
        self.make_local_id(me);
        self.all.open(me).wait_in(State::Waiting);
    }

    /// Writes down that a thread waits for what lies at an address, and the thread that it waits
    /// for.
    #[inline(always)]
    pub(in crate::manage) fn note_wait(
        &self,
        me: Ref<Thread<P>>,
        (what, address): (Awaited, u64),
        on: Option<Ref<Thread<P>>>,
    ) {
        let on = on.map_or(NO_THREAD, |on| on.index() as u16);
        self.cpu.note(Event::Wait, me, what.at(address), on);
    }

    /// A thread that waits does so until an instant, or for ever.
    pub(super) fn wait_until(&self, me: Ref<Thread<P>>, until: Until) {
        if let Some(until) = until {
            self.all.open(me).set(flag::DEADLINE);
            self.sleep(until, me);
        }
    }

    /// The same before anything else of a wait, with a preemption point behind it. False: the wait
    /// has no limit, since an interrupt is pending.
    pub(super) fn limits_wait(&self, me: Ref<Thread<P>>, until: Until) -> bool {
        self.wait_until(me, until);
        if until.is_none() || !self.makes_room() {
            return true;
        }
        self.end_timeout(me);
        false
    }

    /// The turnstile of the mutex or condition at an address, by what its words say.
    ///
    /// # Errors
    ///
    /// [`Error::BrokenQueue`]: they name a thread that is not the one that they should name.
    pub(super) fn described(
        &self,
        caller: Caller<P>,
        (at, condition): (u64, bool),
        words: Words,
    ) -> Result<Option<Ref<Thread<P>>>, Error> {
        let id = words.queue();
        if id == 0 {
            return Ok(None);
        }
        let named = self.waiter(caller.key, id).ok_or(Error::BrokenQueue)?;
        let found = self.all.open(named).inherit.waits.get().ok_or(Error::BrokenQueue)?;
        let turnstile = self.turnstile(found);
        let meant = turnstile.named.get() == Some(named)
            && self.domain_of(named) == caller.domain
            && turnstile.address.get() == at
            && turnstile.is_condition() == condition;
        meant.then_some(Some(found)).ok_or(Error::BrokenQueue)
    }

    /// A thread with this key joins the waiters of a mutex, or is the first one. The owner is to
    /// follow what it lends.
    pub(super) fn join_mutex(
        &self,
        (me, key): (Ref<Thread<P>>, u8),
        (found, owner): (Option<Ref<Thread<P>>>, Named<P>),
        (address, words): (u64, Words),
    ) {
        let mutex = self.bring(me, found);
        self.queue_up((me, key), mutex, (address, words));
        match found {
            None => self.own(mutex, owner, key),
            Some(_) => _ = self.reorder(mutex),
        }
    }

    /// The turnstile that a thread is to wait in: that which was found, where the one that it
    /// brings is spare, or that one.
    pub(super) fn bring(
        &self,
        me: Ref<Thread<P>>,
        found: Option<Ref<Thread<P>>>,
    ) -> Ref<Thread<P>> {
        let brought = self.all.open(me).inherit.brings.take().unwrap_or(me);
        let Some(found) = found else { return brought };
        let spare = self.turnstile(found).spare.replace(Some(brought));
        self.turnstile(brought).spare.set(spare);
        found
    }

    /// A thread with this key is one of the waiters in a turnstile; of the first one the words say
    /// so.
    pub(super) fn queue_up(
        &self,
        (me, key): (Ref<Thread<P>>, u8),
        at: Ref<Thread<P>>,
        (address, words): (u64, Words),
    ) {
        let (thread, turnstile) = (self.all.open(me), self.turnstile(at));
        let first = turnstile.waiters.get().is_none();
        self.kernel.waits.change();
        self.waiters().insert(&turnstile.waiters, me, key);
        thread.inherit.waits.set(Some(at));
        if first {
            turnstile.address.set(address);
            turnstile.named.set(Some(me));
            words.set_queue(thread.futex.id.get());
        }
    }

    /// A thread that has stopped waiting in a turnstile takes one along.
    pub(super) fn take_along(&self, thread: Ref<Thread<P>>, at: Ref<Thread<P>>) {
        let turnstile = self.turnstile(at);
        let taken = match turnstile.spare.get() {
            Some(spare) => {
                turnstile.spare.set(self.turnstile(spare).spare.take());
                spare
            }
            None => at,
        };
        self.all.open(thread).inherit.brings.set(Some(taken));
    }
}
