//! The fast path of each kind of message, and what follows where it has left one: the general path
//! goes on with what was found.

use super::decode::{Source, Target};
use super::fast::{FoundCall, FoundExchange, FoundReplyWait, Outcome};
use super::kind;
use super::plan::{IpcTimeout, Plan};
use super::transfer::Message;
use crate::access::Ref;
use crate::entry::Entry;
use crate::object::Endpoint;
use crate::object::capability::Cap;
use crate::object::thread::{Continuation, Outgoing};
use crate::port::Port;
use crate::system::System;
use abi::{Info, Rights};

/// A kind of message that has a fast path, by what the look of that finds.
pub trait Found<P: Port>: Sized {
    /// Its [`kind`].
    const KIND: u8;

    /// Tries the fast path of the message with this first argument.
    fn look<S: System<Port = P>>(core: &Entry<S>, first: u64, info: Info) -> Outcome<P, Self>;

    /// The general path of a message that the fast path has left.
    fn go_on<S: System<Port = P>>(self, core: &Entry<S>, info: Info);
}

impl<P: Port> Found<P> for FoundCall<P> {
    const KIND: u8 = kind::CALL;

    #[inline(always)]
    fn look<S: System<Port = P>>(core: &Entry<S>, first: u64, info: Info) -> Outcome<P, Self> {
        core.fast_call(first as u32, info)
    }

    #[inline(always)]
    fn go_on<S: System<Port = P>>(self, core: &Entry<S>, info: Info) {
        let FoundCall { to, badge, receiver } = self;
        let (me, message) = (core.cpu.current.get(), Message::short(info.from_user()));
        match receiver {
            Some(receiver) => {
                let to = (to, badge);
                core.call_receiver::<{ kind::CALL }>(me, to, receiver, message, IpcTimeout::NEVER);
            }
            None => {
                let outgoing = Outgoing { info: message.info, badge, then: Continuation::Reply };
                core.queue_up(me, to, outgoing, IpcTimeout::NEVER);
            }
        }
    }
}

impl<P: Port> Found<P> for FoundReplyWait<P> {
    const KIND: u8 = kind::REPLY_WAIT;

    #[inline(always)]
    fn look<S: System<Port = P>>(core: &Entry<S>, first: u64, info: Info) -> Outcome<P, Self> {
        core.fast_reply_wait(first as u32, info)
    }

    #[inline(always)]
    fn go_on<S: System<Port = P>>(self, core: &Entry<S>, info: Info) {
        let (to, from) = (Target::Reply(self.to), Source::Endpoint(self.from));
        core.go_on::<{ kind::REPLY_WAIT }>(info, to, from);
    }
}

impl<P: Port> Found<P> for FoundExchange<P> {
    const KIND: u8 = kind::ANY;

    #[inline(always)]
    fn look<S: System<Port = P>>(core: &Entry<S>, first: u64, info: Info) -> Outcome<P, Self> {
        core.fast_exchange(first, info)
    }

    #[inline(always)]
    fn go_on<S: System<Port = P>>(self, core: &Entry<S>, info: Info) {
        let (to, from) = (target(self.to, self.badge), Source::Endpoint(self.from));
        core.go_on::<{ kind::ANY }>(info, to, from);
    }
}

impl<S: System> Entry<S> {
    #[inline(always)]
    fn go_on<const KIND: u8>(&self, info: Info, target: Target<S::Port>, source: Source<S::Port>) {
        let me = self.cpu.current.get();
        let (send_timeout, receive_timeout) = (IpcTimeout::NEVER, IpcTimeout::NEVER);
        let message = Message::short(info.from_user());
        let plan = Plan { target, source, message, send_timeout, receive_timeout };
        self.commit::<KIND>(me, plan);
    }
}

fn target<P: Port>(to: Ref<Endpoint<P>>, badge: u64) -> Target<P> {
    Target::Endpoint(Cap::new(to, Rights::SEND, badge))
}
