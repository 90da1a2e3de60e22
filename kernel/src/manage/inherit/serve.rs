//! Which threads serve an endpoint: at most [`HELPERS`](abi::futex::HELPERS). They say so
//! themselves, and have the right to receive there. O(1) for each link of a chain, with preemption
//! points.

use crate::access::Ref;
use crate::manage::Manager;
use crate::manage::futex::{Caller, Outcome};
use crate::object::inherit::ByEdge;
use crate::object::thread::flag;
use crate::object::{Endpoint, Thread};
use crate::port::Port;
use abi::{Error, Rights};

impl<P: Port> Manager<'_, P> {
    /// The calling thread serves the endpoint in a slot from now on, or no longer.
    ///
    /// # Errors
    ///
    /// [`Error::WrongState`]: the thread is inside another domain. [`Error::HelpsAlready`],
    /// [`Error::NoHelper`]: it serves it already, or does not. [`Error::TooManyHelpers`]: as many
    /// others serve it as can.
    pub(super) fn serve(
        &self,
        caller: Caller<P>,
        (slot, serves): (u64, u64),
    ) -> Result<Outcome<P>, Error> {
        let me = caller.thread;
        if self.home_of(me) != caller.domain {
            return Err(Error::WrongState);
        }
        if serves > 1 {
            return Err(Error::InvalidArgument);
        }
        let slot = u32::try_from(slot).map_err(|_| Error::NoCapability)?;
        let domain = self.all.open(caller.domain);
        let at = domain.named::<Endpoint<P>>(slot, Rights::RECEIVE)?.at;
        let endpoint = self.all.open(at);
        let place = |of| ByEdge::all().find(|which| endpoint.server(*which) == of);
        let known = place(Some(me));
        let which = match (serves, known) {
            (0, known) => known.ok_or(Error::NoHelper)?,
            (_, None) => place(None).ok_or(Error::TooManyHelpers)?,
            (_, Some(_)) => return Err(Error::HelpsAlready),
        };
        if self.makes_room() {
            return Ok(Outcome::Preempted);
        }
        match serves {
            0 => self.stop_serving(at, which),
            _ => self.begin_serving(at, which, me),
        }
        Ok(Outcome::Done(0))
    }

    fn begin_serving(&self, at: Ref<Endpoint<P>>, which: ByEdge, me: Ref<Thread<P>>) {
        let (thread, endpoint) = (self.all.open(me), self.all.open(at));
        endpoint.set_server(which, Some(me));
        thread.inherit.serves.set(thread.inherit.serves.get() + 1);
        // Where a tree lends no leaves, a server runs on the time of its caller anyway.
        if self.kernel.variant.tree && !self.kernel.trees.may_lend() {
            return;
        }
        thread.set(flag::SERVES);
        // It waits for nothing, so no ring can close. A server that is ending may still be in this
        // place: then others lend to it when none of those that are queued is left.
        if let Some(queue) = endpoint.turnstile.get()
            && self.turnstile(queue).edge(which).to.get().is_none()
        {
            self.begin_helping(queue, (which, me), true);
        }
    }

    /// A thread that lives serves an endpoint no longer. Callers that it has yet to answer lend to
    /// it until then.
    fn stop_serving(&self, at: Ref<Endpoint<P>>, which: ByEdge) {
        let endpoint = self.all.open(at);
        let server = endpoint.server(which);
        endpoint.set_server(which, None);
        let Some(server) = server else { return };
        let thread = self.all.open(server);
        thread.inherit.serves.set(thread.inherit.serves.get() - 1);
        if thread.inherit.serves.get() == 0 {
            thread.clear(flag::SERVES);
        }
        if let Some(queue) = endpoint.turnstile.get()
            && self.turnstile(queue).edge(which).to.get() == Some(server)
        {
            self.stop_helping(queue, which);
        }
    }

    /// An endpoint is served by none any more: it ends, or the right to receive there was revoked.
    /// False: not yet, an interrupt is pending.
    pub(in crate::manage) fn dismiss_servers(&self, at: Ref<Endpoint<P>>) -> bool {
        let endpoint = self.all.open(at);
        ByEdge::all().all(|which| {
            let served = endpoint.server(which).is_some();
            self.stop_serving(at, which);
            !served || !self.preempted()
        })
    }
}
