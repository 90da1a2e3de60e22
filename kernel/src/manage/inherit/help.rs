//! Helpers of a condition that threads wait for come and go (S2G-02). O(1) for each link of a
//! chain, with preemption points.

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
        // One that waits for one of the waiters is passed over.
        let asks = ([Some(helper), None, None, None], (None, Some(condition)));
        let Some(rings) = self.rings(caller.thread, asks, true) else {
            return Ok(Outcome::Preempted);
        };
        if self.makes_room() {
            return Ok(Outcome::Preempted);
        }
        self.begin_helping(condition, (which, helper), rings == 0);
        Ok(Outcome::Done(0))
    }

    /// A thread helps a condition, or serves an endpoint, from now on, and is lent to or not yet.
    #[inline(never)]
    pub(super) fn begin_helping(
        &self,
        at: Ref<Thread<P>>,
        (which, helper): (ByEdge, Ref<Thread<P>>),
        lends: bool,
    ) {
        self.lead(at, (which, helper), lends.then_some(0));
        self.propagate_to(self.reorder(at));
    }

    /// A thread no longer helps a condition, or serves an endpoint.
    pub(super) fn stop_helping(&self, condition: Ref<Thread<P>>, which: ByEdge) {
        self.lead_off(condition, which).into_iter().for_each(|helper| self.propagate(helper));
    }
}
