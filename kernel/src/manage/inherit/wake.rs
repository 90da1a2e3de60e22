//! Handing an inheriting mutex over: to the waiter with the highest priority, by its owner or at
//! the owner's end. O(1) for each link of a chain, with preemption points, and O(log n) more if
//! that one has a deadline.

use crate::access::Ref;
use crate::manage::Manager;
use crate::manage::futex::words::Words;
use crate::manage::futex::{Caller, Outcome};
use crate::object::inherit::{ByEdge, Kind};
use crate::object::thread::flag;
use crate::object::{Activation, Thread};
use crate::port::{Context, Port};
use abi::futex::{OWNER_DIED, Scope, WAITERS};
use abi::{Error, Info, Status};

impl<P: Port> Manager<'_, P> {
    /// The caller gives up the mutex at an address.
    pub(super) fn wake_inheriting(&self, caller: Caller<P>, at: u64) -> Result<Outcome<P>, Error> {
        let (_, words) = self.find(caller.domain, Scope::Domain, at)?;
        let me = caller.thread;
        let Some(mutex) = self.described(caller, (at, false), words)? else {
            // A thread may be between its mark and its call, and finds the word changed.
            if words.first() & !WAITERS != self.local_id(me) {
                return Err(Error::WrongState);
            }
            words.release(0);
            return Ok(Outcome::Done(0));
        };
        if !self.owns(me, mutex) {
            return Err(Error::WrongState);
        }
        if self.makes_room() || !self.follow_to(mutex) {
            return Ok(Outcome::Preempted);
        }
        match self.hand_over(mutex, me, (Some(words), 0)) {
            Some(owner) => Ok(Outcome::Woke(owner)),
            None => Ok(Outcome::Done(0)),
        }
    }

    /// A mutex goes from its owner to the first thread that waits for it, which is ready then, with
    /// this result; and the old owner loses what it has inherited through the mutex.
    fn hand_over(
        &self,
        mutex: Ref<Thread<P>>,
        old: Ref<Thread<P>>,
        (words, result): (Option<Words>, u64),
    ) -> Option<Ref<Thread<P>>> {
        let turnstile = self.turnstile(mutex);
        let heir = self.first_waiter(turnstile)?;
        let thread = self.all.open(heir);
        self.disown(mutex);
        self.waiters().remove(&turnstile.waiters, heir);
        thread.inherit.waits.set(None);
        self.take_along(heir, mutex);
        let next = self.waiters().first(&turnstile.waiters);
        if let Some(next) = next {
            self.own(mutex, self.here(heir), self.waiters().key(next));
        }
        if turnstile.named.get() == Some(heir) {
            turnstile.named.set(next);
        }
        if let Some(words) = words {
            words.set_queue(self.id_of(turnstile.named.get()));
            let waiters = if next.is_some() { WAITERS } else { 0 };
            words.release(self.id_of(Some(heir)) | waiters);
        }
        if self.kernel.trees.may_lend() {
            self.follow_handover(old);
            self.decide_lent(heir);
        } else {
            self.propagate_next(old);
        }
        if thread.has(flag::DEADLINE) {
            self.end_timeout(heir);
        }
        thread.context.set_results(Status::OK, result, Info(0));
        thread.become_ready();
        Some(heir)
    }

    /// A thread ends: the mutexes that it owns, and others wait for, go to those. It helps no
    /// condition any more (S2G-02), and no sender or caller lends to it. False: not all yet.
    pub(crate) fn bequeath(&self, at: Ref<Thread<P>>) -> bool {
        let inherit = &self.all.open(at).inherit;
        let next = |which| Some((which, self.lenders(which).first(inherit.lenders(which))?));
        while let Some((which, lender)) = ByEdge::all().find_map(next) {
            if !self.follow_to(lender) {
                return false;
            }
            match self.turnstile(lender).branches() {
                true => self.stop_helping(lender, which),
                false => self.pass_on(lender, at),
            }
            if self.preempted() {
                return false;
            }
        }
        true
    }

    /// A thread leaves the domain of an activation, and all that it has entered from there: mutexes
    /// that it owns there, and others wait for, go to those, since nothing there runs on this
    /// thread any more. False: not all yet.
    #[cold]
    #[inline(never)]
    pub(in crate::manage) fn bequeath_inside(
        &self,
        at: Ref<Thread<P>>,
        stack: Ref<Activation<P>>,
    ) -> bool {
        for visit in self.activations_of(at) {
            while let Some(mutex) = self.all.open(visit).owned.head() {
                if !self.follow_to(mutex) {
                    return false;
                }
                self.pass_on(mutex, at);
                if self.preempted() {
                    return false;
                }
            }
            if visit == stack {
                break;
            }
        }
        true
    }

    /// A mutex goes from an owner that does not give it up to the first thread that waits for it. A
    /// caller that is still to be answered lends nothing any more.
    fn pass_on(&self, mutex: Ref<Thread<P>>, owner: Ref<Thread<P>>) {
        let turnstile = self.turnstile(mutex);
        if let (Kind::Reply, Some(caller)) = (turnstile.kind.get(), turnstile.waiters.get()) {
            return self.stop_lending(caller);
        }
        let words = self.words_that_name(mutex);
        if let Some(heir) = self.hand_over(mutex, owner, (words, OWNER_DIED)) {
            self.make_ready(heir);
        }
    }

    /// The words of a mutex, if they are there still and name the waiter that they should name:
    /// else a program has changed them, and they may be another mutex's.
    pub(super) fn words_that_name(&self, mutex: Ref<Thread<P>>) -> Option<Words> {
        let turnstile = self.turnstile(mutex);
        let named = turnstile.named.get()?;
        let domain = self.domain_of(named);
        let (_, words) = self.find(domain, Scope::Domain, turnstile.address.get()).ok()?;
        (words.queue() == self.id_of(Some(named))).then_some(words)
    }
}
