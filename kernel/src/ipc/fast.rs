//! The fast path (S0-16): a message to a thread that waits for it, from one that waits then.
//!
//! It looks, decides, and either does exactly what the general path would do or does nothing
//! and answers `None`, upon which the general path runs. Words stay in registers throughout, and
//! no queue of ready threads is touched: it belongs to direct switching and lazy queueing. Long
//! messages and timeouts are not for it: entry code sorts them out by the call's registers.

use super::kind;
use super::plan::halves;
use crate::access::Ref;
use crate::core::Core;
use crate::object::thread::{State, Wait};
use crate::object::{Endpoint, Thread};
use crate::port::Port;
use crate::step::Step;
use crate::system::System;
use abi::call::ThreadState;
use abi::trace::Event;
use abi::{Info, Rights};

impl<S: System> Core<S> {
    /// A call without timeout on `slot`. Returns the callee and the badge it sees.
    #[inline(always)]
    pub fn fast_call(&self, slot: u32, info: Info) -> Option<(Ref<Thread<S::Port>>, u64)> {
        let began = self.attempt();
        let me = self.own(self.cpu.current.get());
        let domain = self.hold(me.domain.get());
        let cap = domain.named::<Endpoint<S::Port>>(slot, Rights::SEND).ok()?;
        let receivers = &cap.at.member().receivers;
        let first = receivers.head()?;
        let stands = || receivers.head() == Some(first);
        if !self.hold_for_fast([me.name(), first], [cap.at], stands) {
            return None;
        }
        let (endpoint, receiver) = (self.hold(cap.at), self.hold(first));
        let common = me.attention() | receiver.attention() == 0
            && receiver.caller.get().is_none()
            && !self.is_elsewhere(receiver.name());
        if !common {
            return None;
        }
        assert!(receiver.state.get() == State::Receiving, "a receiver that does not receive");
        endpoint.receivers.remove(receiver.name());
        receiver.caller.set(Some(me.name()));
        me.server.set(Some(receiver.name()));
        self.wait_in(me.name(), State::Calling);
        receiver.state.become_ready();
        self.entered_at(began, me.name(), kind::CALL);
        self.pass((me.name(), ThreadState::Calling), receiver.name(), info);
        Some((receiver.name(), cap.badge))
    }

    /// A reply, then an open receive without timeout on `slot`, where nobody waits to send.
    /// Returns the thread that was answered.
    #[inline(always)]
    pub fn fast_reply_wait(&self, slot: u32, info: Info) -> Option<Ref<Thread<S::Port>>> {
        let began = self.attempt();
        let me = self.own(self.cpu.current.get());
        let first = me.caller.get()?;
        let domain = self.hold(me.domain.get());
        let cap = domain.named::<Endpoint<S::Port>>(slot, Rights::RECEIVE).ok()?;
        let stands = || me.caller.get() == Some(first);
        if !self.hold_for_fast([me.name(), first], [cap.at], stands) {
            return None;
        }
        let (endpoint, caller) = (self.hold(cap.at), self.hold(first));
        let common = me.attention() | caller.attention() == 0
            && self.is_quiet(cap.at)
            && !self.is_elsewhere(caller.name());
        if !common {
            return None;
        }
        assert!(caller.state.get() == State::Calling, "a caller that does not call");
        me.caller.set(None);
        caller.server.set(None);
        me.wait.set(Wait::Endpoint(cap.at));
        endpoint.receivers.push_back(me.name());
        self.wait_in(me.name(), State::Receiving);
        caller.state.become_ready();
        self.entered_at(began, me.name(), kind::REPLY_WAIT);
        self.pass((me.name(), ThreadState::Receiving), caller.name(), info);
        Some(caller.name())
    }

    /// A send on one slot, then an open receive on another one, without timeouts; a thread waits at
    /// the first endpoint, and nobody to send at the second. Returns the receiver and the badge it
    /// sees.
    #[inline(always)]
    pub fn fast_exchange(&self, partners: u64, info: Info) -> Option<(Ref<Thread<S::Port>>, u64)> {
        let began = self.attempt();
        let me = self.own(self.cpu.current.get());
        let domain = self.hold(me.domain.get());
        let (send, receive) = halves::<{ kind::ANY }>(partners);
        let cap = domain.named::<Endpoint<S::Port>>(send, Rights::SEND).ok()?;
        let receivers = &cap.at.member().receivers;
        let first = receivers.head()?;
        let own = domain.named::<Endpoint<S::Port>>(receive, Rights::RECEIVE).ok()?.at;
        let stands = || receivers.head() == Some(first);
        if !self.hold_for_fast([me.name(), first], [cap.at, own], stands) {
            return None;
        }
        let receiver = self.hold(first);
        let common = me.attention() | receiver.attention() == 0
            && self.is_quiet(own)
            && own != cap.at
            && !self.is_elsewhere(receiver.name());
        if !common {
            return None;
        }
        assert!(receiver.state.get() == State::Receiving, "a receiver that does not receive");
        self.hold(cap.at).receivers.remove(receiver.name());
        me.wait.set(Wait::Endpoint(own));
        self.hold(own).receivers.push_back(me.name());
        self.wait_in(me.name(), State::Receiving);
        receiver.state.become_ready();
        self.entered_at(began, me.name(), kind::ANY);
        self.pass((me.name(), ThreadState::Receiving), receiver.name(), info);
        Some((receiver.name(), cap.badge))
    }

    /// The CPU goes over to a thread with the message in the registers; `me` blocks.
    #[inline(always)]
    fn pass(
        &self,
        (me, state): (Ref<Thread<S::Port>>, ThreadState),
        to: Ref<Thread<S::Port>>,
        info: Info,
    ) {
        S::Port::step(Step::Message(to.index(), info.0));
        self.note(Event::Message, me, to.index(), info.words() as u16);
        self.note(Event::Wake, to, 0, 0);
        self.blocks(me, state);
        S::Port::step(Step::Switch(to.index()));
        self.switches(to, me);
        self.cpu.current.set(to);
        self.goes_over(me, to);
        self.donation(me, to);
    }
}
