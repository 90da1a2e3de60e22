//! Waiting in messages (S2G-03): for a server to receive, in the queue of an endpoint, and for its
//! answer. None of this fails a message: a thread whose wait would close a ring is *passed over*.
//! It waits all the same, and lends nothing until that wait ends. O(1) for each link of a chain,
//! with preemption points.

use crate::access::Ref;
use crate::manage::Manager;
use crate::object::inherit::{ByEdge, Kind};
use crate::object::thread::{Continuation, flag};
use crate::object::{Endpoint, Thread};
use crate::port::Port;
use abi::futex::HELPERS;
use abi::trace::point;

impl<P: Port> Manager<'_, P> {
    /// Before a thread joins the queue of an endpoint that is served, by a message or a fault:
    /// whether an interrupt is pending, or else it lends its priority to the servers of that.
    #[cold]
    #[inline(never)]
    pub(crate) fn lends_queued(self, me: Ref<Thread<P>>, at: Ref<Endpoint<P>>) -> bool {
        if self.cpu.poll(point::HALVES) {
            return true;
        }
        let Some(may_lend) = self.may_lend(me, at) else { return true };
        if may_lend {
            self.lend_queued(me, at);
        }
        false
    }

    fn lend_queued(&self, me: Ref<Thread<P>>, at: Ref<Endpoint<P>>) {
        let endpoint = self.all.open(at);
        let (found, key) = (endpoint.turnstile.get(), self.key_of(me));
        let queue = self.bring(me, found);
        let mut servers = [None; HELPERS];
        if found.is_none() {
            self.turnstile(queue).kind.set(Kind::Endpoint(at));
            endpoint.turnstile.set(Some(queue));
            for (which, to) in ByEdge::all().zip(&mut servers) {
                *to = endpoint.server(which);
                to.iter().for_each(|to| self.lead(queue, (which, *to), Some(key)));
            }
        }
        self.stand_in((me, key), queue);
        self.lend_to(if found.is_none() { servers } else { self.reorder(queue) }, key);
    }

    /// Whether `me` may lend to the servers of an endpoint: none of them waits for it. `None`: not
    /// known yet, an interrupt is pending.
    fn may_lend(&self, me: Ref<Thread<P>>, at: Ref<Endpoint<P>>) -> Option<bool> {
        let endpoint = self.all.open(at);
        let mut servers = [None; HELPERS];
        for (which, to) in ByEdge::all().zip(&mut servers) {
            *to = endpoint.server(which);
        }
        if servers.iter().all(Option::is_none) {
            return Some(false);
        }
        if !self.all.open(me).inherit.is_awaited() && !servers.contains(&Some(me)) {
            return Some(true);
        }
        self.rings(me, (servers, (Some(me), None)), false).map(|rings| rings == 0)
    }

    /// A call is received by a server, to which its caller lends its priority from now on.
    #[cold]
    #[inline(never)]
    pub(crate) fn lend_call(&self, me: Ref<Thread<P>>, server: Ref<Thread<P>>) {
        let key = self.begin_lending(me, server);
        self.lend_to([Some(server), None, None, None], key);
    }

    /// The same, before any priority is another one: the key of what it lends. The server has
    /// received something and waits for nothing, so no ring can close.
    fn begin_lending(&self, me: Ref<Thread<P>>, server: Ref<Thread<P>>) -> u8 {
        debug_assert!(self.all.open(server).inherit.waits.get().is_none(), "a receiver waits");
        let key = self.key_of(me);
        let reply = self.bring(me, None);
        self.turnstile(reply).kind.set(Kind::Reply);
        self.stand_in((me, key), reply);
        self.own(reply, self.here(server), key);
        key
    }

    /// A thread with this key is one of the waiters in a turnstile for messages.
    fn stand_in(&self, (me, key): (Ref<Thread<P>>, u8), at: Ref<Thread<P>>) {
        let thread = self.all.open(me);
        self.kernel.waits.change();
        self.waiters().insert(&self.turnstile(at).waiters, me, key);
        thread.inherit.waits.set(Some(at));
        thread.set(flag::LENDS);
    }

    /// A queued message is received: its sender lends nothing to the servers of the endpoint any
    /// more, but to the receiver, if that is a server that is to answer it. No effective priority
    /// is in between that of before and of after.
    #[cold]
    #[inline(never)]
    pub(crate) fn taken(self, sender: Ref<Thread<P>>, receiver: Ref<Thread<P>>) {
        let (thread, mut ends) = (self.all.open(sender), [None; HELPERS]);
        if let Some(queue) = thread.inherit.waits.get() {
            thread.clear(flag::LENDS);
            self.leave_turnstile(sender, queue, None);
            ends = self.settle(queue);
        }
        let calls = matches!(thread.outgoing.get().then, Continuation::Reply);
        if calls && self.all.open(receiver).has(flag::SERVES) {
            self.begin_lending(sender, receiver);
        }
        self.propagate(receiver);
        self.propagate_to(ends);
    }

    /// A thread that sends or calls lends its priority no longer: its wait ends, or it is passed
    /// over from now on.
    #[cold]
    #[inline(never)]
    pub(crate) fn stop_lending(&self, at: Ref<Thread<P>>) {
        let thread = self.all.open(at);
        thread.clear(flag::LENDS);
        thread.inherit.waits.get().into_iter().for_each(|next| self.leave_inheriting(at, next));
    }
}
