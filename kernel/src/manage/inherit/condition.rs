//! Waiting for an inheriting condition. O(1) for each link of its chains, with preemption points,
//! and O(log n) with a deadline.

use super::follow::to_do;
use crate::access::Ref;
use crate::manage::Manager;
use crate::manage::futex::words::Words;
use crate::manage::futex::{Caller, Outcome, Until};
use crate::object::Thread;
use crate::object::inherit::{ByEdge, Kind};
use crate::port::Port;
use abi::Error;
use abi::futex::{HELPERS, Scope};
use abi::trace::{Awaited, Event};

/// The helpers of a condition, and whether those that wait lend them their priorities.
type Helpers<P> = [Option<(Ref<Thread<P>>, bool)>; HELPERS];

impl<P: Port> Manager<'_, P> {
    /// The caller waits for the condition at an address, unless its first word is another one than
    /// `expected`, and then for the mutex at another one. With success it owns that.
    pub(super) fn wait_for_condition(
        &self,
        caller: Caller<P>,
        (at, mutex): (u64, u64),
        (expected, help): (u64, [u32; HELPERS]),
        until: Until,
    ) -> Result<Outcome<P>, Error> {
        let (_, words) = self.find(caller.domain, Scope::Domain, at)?;
        self.find(caller.domain, Scope::Domain, mutex)?;
        if mutex == at || expected > u64::from(u32::MAX) {
            return Err(Error::InvalidArgument);
        }
        if u64::from(words.first()) != expected {
            return Err(Error::Changed);
        }
        let found = self.described(caller, (at, true), words)?;
        if found.is_some_and(|found| !self.leads_to_mutex(found, mutex)) {
            return Err(Error::OtherMutex);
        }
        if until.is_some_and(|until| until <= self.kernel.port.now()) {
            return Err(Error::Timeout);
        }
        let Some(helpers) = self.helpers(caller, found, help).filter(|_| !self.makes_room()) else {
            return Ok(Outcome::Preempted);
        };
        if !self.limits_wait(caller.thread, until) {
            return Ok(Outcome::Preempted);
        }
        self.join_condition(caller.thread, (found, helpers), (at, mutex), words);
        Ok(Outcome::Blocked)
    }

    /// The thread with this id that may help conditions in the caller's domain: it belongs there,
    /// wherever it is.
    pub(super) fn helper(&self, caller: Caller<P>, id: u32) -> Option<Ref<Thread<P>>> {
        let (thread, visit) = self.named(caller, id)?;
        visit.is_none().then_some(thread)
    }

    /// Whom the caller is to lend its priority to: the helpers that the kernel knows while others
    /// wait, or those that the caller names. One that waits for the caller, or for one of the
    /// others, is passed over: so there is no ring of waits through helpers. `None`: not known yet,
    /// an interrupt is pending.
    fn helpers(
        &self,
        caller: Caller<P>,
        found: Option<Ref<Thread<P>>>,
        help: [u32; HELPERS],
    ) -> Option<Helpers<P>> {
        let mut helpers: Helpers<P> = [None; HELPERS];
        for (index, which) in ByEdge::all().enumerate() {
            helpers[index] = match found.map(|found| self.turnstile(found).edge(which)) {
                Some(edge) => edge.to.get().map(|to| (to, edge.lends.get())),
                None => {
                    let helper = self.helper(caller, help[index]).map(|to| (to, true));
                    helper.filter(|_| !helpers[..index].contains(&helper))
                }
            };
        }
        let me = caller.thread;
        let awaited = self.all.open(me).inherit.is_awaited();
        let starts = helpers.map(|helper| {
            helper.filter(|(to, lends)| awaited || !lends || *to == me).map(|(to, _)| to)
        });
        if starts.iter().all(Option::is_none) {
            return Some(helpers);
        }
        let rings = self.rings(me, (starts, (Some(me), found)), true)?;
        for (index, helper) in helpers.iter_mut().enumerate() {
            if let (Some((_, lends)), Some(_)) = (helper, starts[index]) {
                *lends = rings >> index & 1 == 0;
            }
        }
        Some(helpers)
    }

    /// A thread joins the waiters of a condition, or is the first one, and blocks.
    fn join_condition(
        &self,
        me: Ref<Thread<P>>,
        (found, helpers): (Option<Ref<Thread<P>>>, Helpers<P>),
        (address, mutex): (u64, u64),
        words: Words,
    ) {
        let (condition, key) = (self.bring(me, found), self.key_of(me));
        if found.is_none() {
            self.turnstile(condition).kind.set(Kind::Condition(mutex));
        }
        // Before the thread waits: no edge may lead back to it then.
        let mut lent_to = [None; HELPERS];
        for (which, helper) in ByEdge::all().zip(helpers) {
            let Some((to, lends)) = helper else { continue };
            match found {
                Some(_) => self.lend(condition, which, lends),
                None => self.lead(condition, (which, to), lends.then_some(key)),
            }
            lent_to[which.index()] = Some(to).filter(|_| lends);
        }
        self.note_helpers(me, (condition, address));
        self.begin_wait(me);
        self.queue_up((me, key), condition, (address, words));
        match found {
            Some(_) => self.propagate_to(self.reorder(condition)),
            None => self.lend_to(lent_to, key),
        }
    }

    /// Writes down that a thread waits for a condition, for each of the helpers that it lends to.
    #[inline(always)]
    fn note_helpers(&self, me: Ref<Thread<P>>, (condition, address): (Ref<Thread<P>>, u64)) {
        if !self.cpu.notes(Event::Wait) {
            return;
        }
        let what = (Awaited::InheritCondition, address);
        let mut lent_to = self.turnstile(condition).lent_to().peekable();
        if lent_to.peek().is_none() {
            self.note_wait(me, what, None);
        }
        lent_to.for_each(|helper| self.note_wait(me, what, Some(helper)));
    }

    /// The waiters for a condition lend a helper their priorities from now on, or no longer.
    fn lend(&self, condition: Ref<Thread<P>>, which: ByEdge, lends: bool) {
        let turnstile = self.turnstile(condition);
        let edge = turnstile.edge(which);
        if edge.lends.get() != lends {
            self.kernel.waits.change();
            turnstile.set_edge(which, edge.to.get(), lends);
        }
    }

    /// A waiter has left a condition of which helpers were passed over, perhaps because of that
    /// one: it is looked for rings through them again, in a step, once it is reordered.
    pub(super) fn looks_again(&self, at: Ref<Thread<P>>) {
        let turnstile = self.turnstile(at);
        if turnstile.leads().any(|(which, _)| !turnstile.edge(which).lends.get()) {
            let to_do = &self.all.open(at).inherit.to_do;
            to_do.set(to_do.get() | to_do::RINGS);
        }
    }

    /// This step, if it is to be taken, is at least as urgent as this from now on.
    #[inline(always)]
    pub(super) fn looks_again_for(&self, at: Ref<Thread<P>>, key: u8) {
        if self.all.open(at).inherit.to_do.get() & to_do::RINGS != 0 {
            self.follow_later(at, to_do::RINGS, key);
        }
    }

    /// Helpers of a condition that were passed over, and wait for none of its waiters any more, are
    /// to be lent to when it is reordered. False: not known yet, an interrupt is pending.
    pub(super) fn look_again(&self, at: Ref<Thread<P>>) -> bool {
        let turnstile = self.turnstile(at);
        let mut starts = [None; HELPERS];
        for (which, to) in turnstile.leads() {
            starts[which.index()] = Some(to).filter(|_| !turnstile.edge(which).lends.get());
        }
        let Some(rings) = self.rings(at, (starts, (None, Some(at))), false) else { return false };
        for which in ByEdge::all().filter(|which| starts[which.index()].is_some()) {
            self.lend(at, which, rings >> which.index() & 1 == 0);
        }
        true
    }

    /// Whether a condition's waiters own the mutex at this address next.
    fn leads_to_mutex(&self, condition: Ref<Thread<P>>, mutex: u64) -> bool {
        matches!(self.turnstile(condition).kind.get(), Kind::Condition(at) if at == mutex)
    }
}
