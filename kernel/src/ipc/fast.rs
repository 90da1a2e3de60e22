//! The fast path (S0-16): a message to a thread that waits for it, from one that waits then.
//!
//! It looks, decides, and either does exactly what the general path would do or does nothing
//! and leaves the message, with what it found, to the general path
//! ([`left`](super::left)). Words stay in registers
//! throughout, and no queue of ready threads is touched: it belongs to direct switching and lazy
//! queueing. Long messages and timeouts are not for it: entry code sorts them out by the call's
//! registers.

use super::decode::halves;
use super::kind;
use crate::access::Ref;
use crate::cost::CostEvent;
use crate::entry::Entry;
use crate::object::thread::{State, Wait};
use crate::object::{Endpoint, Thread};
use crate::port::Port;
use crate::system::System;
use abi::trace::Event;
use abi::{Info, Rights};

/// A thread that a fast path went over to, and the badge that it sees.
pub type Passed<P> = (Ref<Thread<P>>, u64);

/// What the look at a call found.
pub struct FoundCall<P: Port> {
    /// The endpoint, to which the caller may send.
    pub to: Ref<Endpoint<P>>,
    /// The badge of its capability.
    pub badge: u64,
    /// The first thread that waits there to receive.
    pub receiver: Option<Ref<Thread<P>>>,
}

/// What the look at a reply-and-wait found.
pub struct FoundReplyWait<P: Port> {
    /// The caller.
    pub to: Ref<Thread<P>>,
    /// The endpoint, from which the server may receive.
    pub from: Ref<Endpoint<P>>,
}

/// What the look at a send and receive found.
pub struct FoundExchange<P: Port> {
    /// The endpoint, to which the sender may send.
    pub to: Ref<Endpoint<P>>,
    /// The badge of its capability.
    pub badge: u64,
    /// Another endpoint, from which it may receive.
    pub from: Ref<Endpoint<P>>,
}

/// The thread that a fast path went over to; or what it found before it left the message. `None`:
/// nothing that stands. With several CPUs others may change it.
pub type Outcome<P, Found> = Result<Passed<P>, Option<Found>>;

impl<S: System> Entry<S> {
    /// A call without timeout on `slot`.
    #[inline(always)]
    pub fn fast_call(&self, slot: u32, info: Info) -> Outcome<S::Port, FoundCall<S::Port>> {
        let began = self.attempt();
        let me = self.own(self.cpu.current.get());
        let domain = me.domain.get();
        let cap = domain.named::<Endpoint<S::Port>>(slot, Rights::SEND).map_err(|_| None)?;
        let found = |receiver| {
            let found = FoundCall { to: cap.at, badge: cap.badge, receiver };
            (!S::Port::SMP).then_some(found)
        };
        let receivers = &cap.at.receivers;
        let first = receivers.head().ok_or_else(|| found(None))?;
        let stands = || receivers.head() == Some(first);
        if !self.hold_for_fast([me.name(), first], [cap.at], stands) {
            return Err(None);
        }
        let (endpoint, receiver) = (self.hold(cap.at), self.hold(first));
        let common = me.flags() | receiver.flags() == 0
            && receiver.caller.get().is_none()
            && !self.is_elsewhere(receiver.name());
        if !common {
            return Err(found(Some(first)));
        }
        assert!(receiver.state.get() == State::Receiving, "a receiver that does not receive");
        endpoint.receivers().remove(receiver.name());
        receiver.set_caller(Some(me.name()));
        me.server.set(Some(receiver.name()));
        self.wait_in(me.name(), State::Calling);
        receiver.become_ready();
        self.entered_at(began, me.name(), kind::CALL);
        self.pass((me.name(), State::Calling), receiver.name(), info);
        Ok((receiver.name(), cap.badge))
    }

    /// A reply, then an open receive without timeout on `slot`, where no sender waits.
    /// Goes over to the thread that was answered.
    #[inline(always)]
    pub fn fast_reply_wait(
        &self,
        slot: u32,
        info: Info,
    ) -> Outcome<S::Port, FoundReplyWait<S::Port>> {
        let began = self.attempt();
        let me = self.own(self.cpu.current.get());
        let first = me.caller.get().ok_or(None)?;
        let domain = me.domain.get();
        let cap = domain.named::<Endpoint<S::Port>>(slot, Rights::RECEIVE).map_err(|_| None)?;
        let found = (!S::Port::SMP).then_some(FoundReplyWait { to: first, from: cap.at });
        let stands = || me.caller.get() == Some(first);
        if !self.hold_for_fast([me.name(), first], [cap.at], stands) {
            return Err(None);
        }
        let (endpoint, caller) = (self.hold(cap.at), self.hold(first));
        let common = me.flags() | caller.flags() == 0
            && self.is_quiet(cap.at)
            && !self.is_elsewhere(caller.name());
        if !common {
            return Err(found);
        }
        assert!(caller.state.get() == State::Calling, "a caller that does not call");
        me.set_caller(None);
        caller.server.set(None);
        me.wait.set(Wait::Endpoint(cap.at));
        endpoint.receivers().push_back(me.name());
        self.wait_in(me.name(), State::Receiving);
        caller.become_ready();
        self.entered_at(began, me.name(), kind::REPLY_WAIT);
        self.pass((me.name(), State::Receiving), caller.name(), info);
        Ok((caller.name(), 0))
    }

    /// A send on one slot, then an open receive on another one, without timeouts; a thread waits at
    /// the first endpoint, and no sender at the second.
    #[inline(always)]
    pub fn fast_exchange(
        &self,
        partners: u64,
        info: Info,
    ) -> Outcome<S::Port, FoundExchange<S::Port>> {
        let began = self.attempt();
        let me = self.own(self.cpu.current.get());
        let domain = me.domain.get();
        let (send, receive) = halves::<{ kind::ANY }>(partners);
        let cap = domain.named::<Endpoint<S::Port>>(send, Rights::SEND).map_err(|_| None)?;
        let own = domain.named::<Endpoint<S::Port>>(receive, Rights::RECEIVE);
        let own = own.map_err(|_| None)?.at;
        if own == cap.at {
            return Err(None);
        }
        let found = || {
            let found = FoundExchange { to: cap.at, badge: cap.badge, from: own };
            (!S::Port::SMP).then_some(found)
        };
        let receivers = &cap.at.receivers;
        let first = receivers.head().ok_or_else(found)?;
        let stands = || receivers.head() == Some(first);
        if !self.hold_for_fast([me.name(), first], [cap.at, own], stands) {
            return Err(None);
        }
        let receiver = self.hold(first);
        let common = me.flags() | receiver.flags() == 0
            && self.is_quiet(own)
            && !self.is_elsewhere(receiver.name());
        if !common {
            return Err(found());
        }
        assert!(receiver.state.get() == State::Receiving, "a receiver that does not receive");
        self.hold(cap.at).receivers().remove(receiver.name());
        me.wait.set(Wait::Endpoint(own));
        self.hold(own).receivers().push_back(me.name());
        self.wait_in(me.name(), State::Receiving);
        receiver.become_ready();
        self.entered_at(began, me.name(), kind::ANY);
        self.pass((me.name(), State::Receiving), receiver.name(), info);
        Ok((receiver.name(), cap.badge))
    }

    /// The CPU goes over to a thread with the message in the registers; `me` blocks.
    #[inline(always)]
    fn pass(
        &self,
        (me, state): (Ref<Thread<S::Port>>, State),
        to: Ref<Thread<S::Port>>,
        info: Info,
    ) {
        S::Port::cost(CostEvent::Message(to.index(), info.0));
        self.note(Event::Message, me, to.index(), info.words() as u16);
        self.note(Event::Wake, to, 0, 0);
        self.blocked(me, state);
        self.switch(me, to);
        self.donated(me, to);
    }
}
