//! Waiting for an inheriting condition. O([`STEPS`](super::chain::STEPS)) for each helper, and
//! O(log n) with a deadline.

use super::LINKS;
use crate::access::Ref;
use crate::manage::Manager;
use crate::manage::futex::words::Words;
use crate::manage::futex::{Caller, Outcome, Until, identity};
use crate::object::Thread;
use crate::object::inherit::{ByEdge, Kind, NO_HEIGHT};
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
        let helpers = self.helpers(caller, found, help)?;
        if until.is_some_and(|until| until <= self.kernel.port.now()) {
            return Err(Error::Timeout);
        }
        if self.makes_room() {
            return Ok(Outcome::Preempted);
        }
        self.join_condition(caller.thread, (found, helpers), (at, mutex), words);
        self.wait_until(caller.thread, until);
        Ok(Outcome::Blocked)
    }

    /// The thread with this id that may help conditions in the caller's domain: it belongs there,
    /// wherever it is.
    pub(super) fn helper(&self, caller: Caller<P>, id: u32) -> Option<Ref<Thread<P>>> {
        if id == 0 {
            return None;
        }
        let found = identity::named(self.kernel, Scope::Domain, caller.domain, id);
        found.filter(|at| self.home_of(*at) == caller.domain)
    }

    /// Whom the caller is to lend its priority to: the helpers that the kernel knows while others
    /// wait, or those that the caller names. One that waits for the caller, or for one of the
    /// others, is passed over: so there is no ring of waits through helpers.
    ///
    /// # Errors
    ///
    /// [`Error::TooDeep`]: a chain would have more than [`LINKS`] links.
    fn helpers(
        &self,
        caller: Caller<P>,
        found: Option<Ref<Thread<P>>>,
        help: [u32; HELPERS],
    ) -> Result<Helpers<P>, Error> {
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
        let weight = (helpers.iter().flatten().count() as u8).max(1);
        let height = self.height(caller.thread);
        let highest = found.map_or(height, |found| self.highest(found).max(height));
        if height + weight > LINKS || self.is_too_high(caller.thread) {
            return Err(Error::TooDeep);
        }
        let (me, goal) = (Some(caller.thread), (Some(caller.thread), found));
        // One that was passed over may wait in a message by now, which ends shorter chains.
        let fits_all = |to| {
            let beyond = self.links_from(to, goal, (highest + weight, false), me);
            beyond.is_some_and(|beyond| highest + weight + beyond <= LINKS)
        };
        for (to, lends) in helpers.iter_mut().flatten() {
            *lends = match self.links_from(*to, goal, (height + weight, true), me) {
                None => false,
                Some(links) if height + weight + links > LINKS => return Err(Error::TooDeep),
                Some(_) => *lends || fits_all(*to),
            };
        }
        Ok(helpers)
    }

    /// The greatest height of those that wait in a turnstile.
    pub(super) fn highest(&self, at: Ref<Thread<P>>) -> u8 {
        self.turnstile(at).heights.top().saturating_sub(1)
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
        self.change_height(condition, NO_HEIGHT, self.height(me));
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
    pub(super) fn lend(&self, condition: Ref<Thread<P>>, which: ByEdge, lends: bool) {
        let turnstile = self.turnstile(condition);
        let edge = turnstile.edge(which);
        let (Some(to), higher) = (edge.to.get(), turnstile.weight() - 1) else { return };
        if edge.lends.get() == lends {
            return;
        }
        turnstile.set_edge(which, Some(to), lends);
        self.change_behind(to, |behind| match lends {
            true => behind.add(&turnstile.heights, higher),
            false => behind.subtract(&turnstile.heights, higher),
        });
    }

    /// Helpers of a condition that were passed over, and wait for none of its waiters any more, are
    /// lent to, unless a chain would be too long: at each change of its waiters or helpers.
    pub(super) fn lend_again(&self, condition: Ref<Thread<P>>) {
        let turnstile = self.turnstile(condition);
        let used = self.highest(condition) + turnstile.weight();
        let waiter = turnstile.waiters.get();
        for (which, to) in turnstile.leads() {
            if turnstile.edge(which).lends.get() {
                continue;
            }
            let beyond = self.links_from(to, (None, Some(condition)), (used, false), waiter);
            if beyond.is_some_and(|beyond| used + beyond <= LINKS) {
                self.lend(condition, which, true);
            }
        }
    }

    /// Whether a condition's waiters own the mutex at this address next.
    fn leads_to_mutex(&self, condition: Ref<Thread<P>>, mutex: u64) -> bool {
        matches!(self.turnstile(condition).kind.get(), Kind::Condition(at) if at == mutex)
    }
}
