//! Waiting in messages (S2G-03): for a server to receive, in the queue of an endpoint, and for its
//! answer. None of this fails a message: a thread whose wait would close a ring, or make a chain
//! too long, is *passed over*. It waits all the same, and lends nothing until that wait ends.
//! O([`STEPS`](super::chain::STEPS)) for each server of the endpoint.

use super::{CALL_LINKS, LINKS};
use crate::access::Ref;
use crate::manage::Manager;
use crate::object::inherit::{ByEdge, Kind, NO_HEIGHT};
use crate::object::thread::{Continuation, flag};
use crate::object::{Endpoint, Thread};
use crate::port::Port;
use abi::futex::HELPERS;
use abi::trace::point;

impl<P: Port> Manager<'_, P> {
    /// Before a thread joins the queue of an endpoint that is served, by a message: whether an
    /// interrupt is pending, or else it lends its priority.
    #[cold]
    #[inline(never)]
    pub(crate) fn lends_queued(self, me: Ref<Thread<P>>, at: Ref<Endpoint<P>>) -> bool {
        let pending = self.cpu.poll(point::HALVES);
        if !pending {
            self.lend_queued(me, at);
        }
        pending
    }

    /// A thread joins the queue of an endpoint, and lends its priority to the servers of that.
    #[cold]
    #[inline(never)]
    pub(crate) fn lend_queued(self, me: Ref<Thread<P>>, at: Ref<Endpoint<P>>) {
        let (endpoint, height) = (self.all.open(at), self.height(me));
        if !self.may_lend(Some(me), at, height) {
            return;
        }
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
        self.change_height(queue, NO_HEIGHT, height);
        self.lend_to(if found.is_none() { servers } else { self.reorder(queue) }, key);
    }

    /// Whether senders of this height, or `me` as one, may lend to the servers of an endpoint.
    #[inline(never)]
    pub(super) fn may_lend(
        &self,
        me: Option<Ref<Thread<P>>>,
        at: Ref<Endpoint<P>>,
        height: u8,
    ) -> bool {
        let endpoint = self.all.open(at);
        // A new server is one more, also beside those that are ending: these are led to still.
        let weight = endpoint.turnstile.get().map_or(0, |queue| {
            let queue = self.turnstile(queue);
            if me.is_some() { queue.weight() } else { queue.leading.get().count_ones() as u8 + 1 }
        });
        let count = endpoint.servers().count() as u8;
        let used = height + weight.max(count);
        let goes_on = |server| {
            let beyond = self.links_from(server, (me, None), (used, false), None);
            beyond.is_some_and(|beyond| used + beyond <= LINKS)
        };
        count > 0 && used <= CALL_LINKS && endpoint.servers().all(goes_on)
    }

    /// A call is received by a server, to which its caller lends its priority from now on.
    #[cold]
    #[inline(never)]
    pub(crate) fn lend_call(&self, me: Ref<Thread<P>>, server: Ref<Thread<P>>) {
        if let Some(key) = self.begin_lending(me, server) {
            self.lend_to([Some(server), None, None, None], key);
        }
    }

    /// The same, before any priority is another one; the key of what it lends, if it does. The
    /// server has received something and waits for nothing, so no ring can close.
    fn begin_lending(&self, me: Ref<Thread<P>>, server: Ref<Thread<P>>) -> Option<u8> {
        let height = self.height(me);
        debug_assert!(self.all.open(server).inherit.waits.get().is_none(), "a receiver waits");
        if height >= CALL_LINKS {
            return None;
        }
        let key = self.key_of(me);
        let reply = self.bring(me, None);
        self.turnstile(reply).kind.set(Kind::Reply);
        self.stand_in((me, key), reply);
        self.own(reply, server, self.domain_of(server), key);
        self.change_height(reply, NO_HEIGHT, height);
        Some(key)
    }

    /// A thread with this key is one of the waiters in a turnstile for messages.
    fn stand_in(&self, (me, key): (Ref<Thread<P>>, u8), at: Ref<Thread<P>>) {
        let thread = self.all.open(me);
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
