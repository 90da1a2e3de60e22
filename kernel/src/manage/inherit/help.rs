//! Helpers of a condition that threads wait for come and go (S2G-02). O(
//! [`STEPS`](super::chain::STEPS)) for each helper.

use super::LINKS;
use crate::access::Ref;
use crate::manage::Manager;
use crate::manage::futex::{Caller, Outcome};
use crate::object::Thread;
use crate::object::inherit::ByEdge;
use crate::port::Port;
use abi::Error;
use abi::futex::Scope;

impl<P: Port> Manager<'_, P> {
    /// A thread helps the condition at an address from now on, or no longer. Without a waiter the
    /// kernel knows no condition, and only says whether there is such a thread.
    pub(super) fn change_helpers(
        &self,
        caller: Caller<P>,
        (at, id, helps): (u64, u64, u64),
    ) -> Result<Outcome<P>, Error> {
        let (_, words) = self.find(caller.domain, Scope::Domain, at)?;
        let Some(id) = u32::try_from(id).ok().filter(|_| helps <= 1) else {
            return Err(Error::InvalidArgument);
        };
        let helper = self.helper(caller, id).ok_or(Error::Stale)?;
        let Some(condition) = self.described(caller, (at, true), words)? else {
            return Ok(Outcome::Done(0));
        };
        let leads = |to| {
            let turnstile = self.turnstile(condition);
            ByEdge::all().find(|which| turnstile.edge(*which).to.get() == to)
        };
        let known = leads(Some(helper));
        if helps == 0 {
            let which = known.ok_or(Error::NoHelper)?;
            if self.makes_room() {
                return Ok(Outcome::Preempted);
            }
            self.stop_helping(condition, which);
            return Ok(Outcome::Done(0));
        }
        if known.is_some() {
            return Err(Error::HelpsAlready);
        }
        let which = leads(None).ok_or(Error::TooManyHelpers)?;
        self.may_be_helped(condition)?;
        if self.makes_room() {
            return Ok(Outcome::Preempted);
        }
        self.begin_helping(condition, which, helper);
        Ok(Outcome::Done(0))
    }

    /// Checks that a condition may have one more helper.
    ///
    /// # Errors
    ///
    /// [`Error::TooDeep`]: a chain would have more than [`LINKS`] links.
    fn may_be_helped(&self, condition: Ref<Thread<P>>) -> Result<(), Error> {
        let turnstile = self.turnstile(condition);
        let helpers = ByEdge::all().filter(|which| turnstile.edge(*which).to.get().is_some());
        let used = self.highest(condition) + helpers.count() as u8 + 1;
        let waiter = turnstile.waiters.get();
        let beyond = |to| self.links_from(to, (None, None), (used, true), waiter);
        let deep = used + turnstile.lent_to().filter_map(beyond).max().unwrap_or(0) > LINKS;
        if deep { Err(Error::TooDeep) } else { Ok(()) }
    }

    /// A thread helps a condition, or serves an endpoint, from now on.
    #[inline(never)]
    pub(super) fn begin_helping(&self, at: Ref<Thread<P>>, which: ByEdge, helper: Ref<Thread<P>>) {
        self.change_weight(at, || self.lead(at, (which, helper), None));
        self.lend_again(at);
        self.propagate_to(self.reorder(at));
    }

    /// A thread no longer helps a condition, or serves an endpoint.
    pub(super) fn stop_helping(&self, condition: Ref<Thread<P>>, which: ByEdge) {
        self.lend(condition, which, false);
        let mut helper = None;
        self.change_weight(condition, || helper = self.lead_off(condition, which));
        self.lend_again(condition);
        self.propagate_to(self.reorder(condition));
        helper.into_iter().for_each(|helper| self.propagate(helper));
    }

    /// Changes the number of a condition's helpers, and with it as how many links a wait counts.
    fn change_weight(&self, condition: Ref<Thread<P>>, change: impl FnOnce()) {
        let turnstile = self.turnstile(condition);
        let before = turnstile.weight() - 1;
        change();
        let after = turnstile.weight() - 1;
        for to in turnstile.lent_to().filter(|_| before != after) {
            self.change_behind(to, |behind| {
                behind.subtract(&turnstile.heights, before);
                behind.add(&turnstile.heights, after);
            });
        }
    }
}
