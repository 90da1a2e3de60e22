//! Phase one: who are the partners, and is everything allowed? Nothing changes here.

use super::transfer;
use crate::access::Ref;
use crate::capability::{Cap, Capability};
use crate::core::Core;
use crate::object::thread::{State, attention};
use crate::object::{Endpoint, Notification, Thread};
use crate::port::{Context, Port};
use crate::system::System;
use abi::call::{Call, NOTHING, REPLY, Timeout};
use abi::{Error, Info, Rights};

/// Whom the send half goes to.
pub(super) enum Target<P: Port> {
    /// There is no send half.
    Nothing,
    /// Whoever receives on an endpoint.
    Endpoint(Cap<Endpoint<P>>),
    /// The thread whose call is answered.
    Reply(Ref<Thread<P>>),
}

/// Whom the receive half takes from.
pub(super) enum Source<P: Port> {
    /// There is no receive half.
    Nothing,
    /// The reply to the call that the send half makes.
    Reply,
    /// Nobody: wait for the deadline.
    Sleep,
    /// Whoever sends to an endpoint.
    Endpoint(Ref<Endpoint<P>>),
    /// A notification.
    Notification(Ref<Notification<P>>),
}

/// An operation that has passed all checks.
pub(super) struct Plan<P: Port> {
    pub target: Target<P>,
    pub source: Source<P>,
    pub info: Info,
    pub send_timeout: Timeout,
    pub receive_timeout: Timeout,
    pub deadline: u64,
}

fn timeout(bits: u64) -> Result<Timeout, Error> {
    Ok(match bits & 3 {
        0 => Timeout::Never,
        1 => Timeout::Zero,
        2 => Timeout::At,
        _ => return Err(Error::InvalidArgument),
    })
}

impl<S: System> Core<S> {
    #[inline(always)]
    pub(super) fn plan(&self, me: Ref<Thread<S::Port>>) -> Result<Plan<S::Port>, Error> {
        let (number, [partners, info, deadline, ..]) = self.hold(me).context.call();
        let (send, receive, options) = if number as u8 == Call::Call as u8 {
            (partners as u32, REPLY, 0)
        } else if number as u8 == Call::ReplyWait as u8 {
            (REPLY, partners as u32, 0)
        } else {
            (partners as u32, (partners >> 32) as u32, number >> 8)
        };
        let (send_timeout, receive_timeout) = (timeout(options)?, timeout(options >> 2)?);
        let target = self.target(me, send)?;
        let source = match receive {
            REPLY if matches!(target, Target::Endpoint(_)) => Source::Reply,
            REPLY => return Err(Error::InvalidArgument),
            NOTHING if send != NOTHING => Source::Nothing,
            NOTHING if receive_timeout != Timeout::Never => Source::Sleep,
            NOTHING => return Err(Error::InvalidArgument),
            slot => self.source(me, slot)?,
        };
        let info = Info(info).from_user();
        let plan = Plan { target, source, info, send_timeout, receive_timeout, deadline };
        self.check_send(me, &plan)?;
        Ok(plan)
    }

    #[inline(always)]
    fn target(&self, me: Ref<Thread<S::Port>>, slot: u32) -> Result<Target<S::Port>, Error> {
        let thread = self.hold(me);
        match slot {
            NOTHING => Ok(Target::Nothing),
            REPLY => thread.caller.get().map(Target::Reply).ok_or(Error::NoReply),
            slot => {
                let domain = self.hold(thread.domain.get());
                match domain.slot(slot)? {
                    Capability::Endpoint(cap) => Ok(Target::Endpoint(cap.check(Rights::SEND)?)),
                    Capability::Reply(cap) => {
                        let caller = self.hold(cap.at);
                        let waiting = caller.state.get() == State::Calling;
                        let same = caller.calls.get() == cap.badge;
                        if waiting && same && caller.server.get().is_none() {
                            Ok(Target::Reply(cap.at))
                        } else {
                            Err(Error::NoReply)
                        }
                    }
                    _ => Err(Error::WrongKind),
                }
            }
        }
    }

    /// The object that a receive half names.
    #[inline(always)]
    pub(super) fn source(
        &self,
        me: Ref<Thread<S::Port>>,
        slot: u32,
    ) -> Result<Source<S::Port>, Error> {
        let thread = self.hold(me);
        match self.hold(thread.domain.get()).slot(slot)? {
            Capability::Endpoint(cap) => Ok(Source::Endpoint(cap.check(Rights::RECEIVE)?.at)),
            Capability::Notification(cap) => {
                Ok(Source::Notification(cap.check(Rights::RECEIVE)?.at))
            }
            _ => Err(Error::WrongKind),
        }
    }

    /// Checks the message and that its receiver, if one waits, can take it.
    #[inline(always)]
    fn check_send(&self, me: Ref<Thread<S::Port>>, plan: &Plan<S::Port>) -> Result<(), Error> {
        let thread = self.hold(me);
        if !plan.info.is_short() {
            self.check_long(me, plan)?;
        }
        match plan.target {
            Target::Nothing => Ok(()),
            Target::Reply(caller) => {
                let caller = self.hold(caller);
                if plan.info.is_short() || caller.has(attention::FAULT) {
                    return Ok(());
                }
                let domain = self.hold(caller.domain.get());
                transfer::acceptable(plan.info, self.kernel.port, &caller, &domain)
            }
            Target::Endpoint(cap) => {
                if let Source::Endpoint(own) = plan.source
                    && own == cap.at
                {
                    return Err(Error::SelfSend);
                }
                match self.hold(cap.at).receivers.head() {
                    Some(_) if plan.info.is_short() => Ok(()),
                    Some(receiver) => {
                        let receiver = self.hold(receiver);
                        let domain = self.hold(receiver.domain.get());
                        transfer::acceptable(plan.info, self.kernel.port, &receiver, &domain)
                    }
                    None if self.expired(plan.send_timeout, plan.deadline) => Err(Error::Timeout),
                    None => Ok(()),
                }
            }
        }
        .inspect(|()| assert!(thread.state.get() == State::Ready, "a blocked thread made a call"))
    }

    /// Checks a message that does not fit into registers or carries a capability.
    #[inline(never)]
    fn check_long(&self, me: Ref<Thread<S::Port>>, plan: &Plan<S::Port>) -> Result<(), Error> {
        if matches!(plan.target, Target::Nothing) {
            return Ok(());
        }
        let thread = self.hold(me);
        if plan.info.words() > abi::message::MAX_WORDS {
            return Err(Error::TooLong);
        }
        if thread.buffer_at.get() == 0 {
            return Err(Error::NoBuffer);
        }
        if plan.info.has_capability() {
            if let Target::Endpoint(cap) = plan.target {
                cap.check(Rights::GRANT)?;
            }
            let frame = self.kernel.port.frame(thread.buffer);
            transfer::offered(frame, &self.hold(thread.domain.get()))?;
        }
        Ok(())
    }

    /// Whether a half that would block may not.
    #[inline(always)]
    pub(super) fn expired(&self, timeout: Timeout, deadline: u64) -> bool {
        match timeout {
            Timeout::Never => false,
            Timeout::Zero => true,
            Timeout::At => deadline <= self.kernel.port.now(),
        }
    }
}
