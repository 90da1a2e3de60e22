//! Messages that the fast path has left: the general path goes on with what was found.

use super::fast::{FoundCall, FoundExchange, FoundReplyWait};
use super::kind;
use super::plan::{Limit, Plan, Source, Target};
use crate::access::Ref;
use crate::capability::Cap;
use crate::core::Core;
use crate::object::thread::{Outgoing, State, Then};
use crate::object::{Endpoint, Thread};
use crate::port::Port;
use crate::system::System;
use abi::{Info, Rights};

impl<S: System> Core<S> {
    /// The rest of a call.
    #[inline(always)]
    pub(crate) fn go_on_call(&self, info: Info, found: FoundCall<S::Port>) {
        let FoundCall { to, badge, waits } = found;
        if waits {
            return self.go_on::<{ kind::CALL }>(info, target(to, badge), Source::Reply);
        }
        let message = Outgoing { info: info.from_user(), badge, then: Then::Reply };
        self.queue_sender(self.me_ready(), to, message, Limit::NEVER);
    }

    /// The rest of a reply-and-wait.
    #[inline(always)]
    pub(crate) fn go_on_reply_wait(&self, info: Info, (to, from): FoundReplyWait<S::Port>) {
        self.go_on::<{ kind::REPLY_WAIT }>(info, Target::Reply(to), Source::Endpoint(from));
    }

    /// The rest of a send and receive.
    #[inline(always)]
    pub(crate) fn go_on_exchange(&self, info: Info, (to, badge, from): FoundExchange<S::Port>) {
        self.go_on::<{ kind::ANY }>(info, target(to, badge), Source::Endpoint(from));
    }

    #[inline(always)]
    fn go_on<const KIND: u8>(&self, info: Info, target: Target<S::Port>, source: Source<S::Port>) {
        let me = self.me_ready();
        let (send_limit, receive_limit) = (Limit::NEVER, Limit::NEVER);
        let plan = Plan { target, source, info: info.from_user(), send_limit, receive_limit };
        self.commit::<KIND>(me, plan);
    }

    #[inline(always)]
    fn me_ready(&self) -> Ref<Thread<S::Port>> {
        let me = self.cpu.current.get();
        assert!(self.hold(me).state.get() == State::Ready, "a blocked thread made a call");
        me
    }
}

fn target<P: Port>(to: Ref<Endpoint<P>>, badge: u64) -> Target<P> {
    Target::Endpoint(Cap::new(to, Rights::SEND, badge))
}
