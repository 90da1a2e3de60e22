//! Phase one: is all that the decoder finds allowed? Nothing changes here, but that words of a long
//! message are copied for a receiver that can take it.

use super::decode::{Source, Target, Unanswered, UnderLocks, halves};
use super::kind;
use super::transfer::{self, Message};
use crate::access::Ref;
use crate::assertion::assert_cold;
use crate::entry::Entry;
use crate::object::Thread;
use crate::object::thread::{State, flag};
use crate::port::{Context, Port};
use crate::system::System;
use abi::call::{NOTHING, REPLY, Timeout};
use abi::trace::point;
use abi::{Error, Info};

/// How long a half may block.
#[derive(Clone, Copy)]
pub(crate) struct IpcTimeout {
    pub kind: Timeout,
    pub deadline: u64,
}

impl IpcTimeout {
    pub(crate) const NEVER: IpcTimeout = IpcTimeout { kind: Timeout::Never, deadline: 0 };

    fn new(bits: u64, deadline: u64) -> Result<IpcTimeout, Error> {
        let kind = match bits & 3 {
            0 => Timeout::Never,
            1 => Timeout::Zero,
            2 => Timeout::At,
            _ => return Err(Error::InvalidArgument),
        };
        Ok(IpcTimeout { kind, deadline })
    }

    /// Whether the receive half of an operation with this number has a limit.
    #[inline(always)]
    pub(super) fn is_given(number: u64) -> bool {
        number >> 10 & 3 != 0
    }

    /// Whether an operation with this number has a deadline. Of one that has none the register of
    /// that may not be saved: what lies there can be of a domain that the thread had entered.
    pub(super) fn has_instant(number: u64) -> bool {
        number as u8 == kind::ANY && number & ((Timeout::At as u64) * (1 << 8 | 1 << 10)) != 0
    }

    /// The number word of a call whose send half has begun: if that may not wait, it has the limit
    /// of the answer from now on.
    pub(super) fn of_begun_call(number: u64) -> u64 {
        match number >> 8 & 3 == Timeout::Zero as u64 {
            true => number & !(3 << 8) | (number >> 10 & 3) << 8,
            false => number,
        }
    }

    /// The limit of the receive half of an operation that a thread's context describes.
    pub(super) fn of_receive(number: u64, deadline: u64) -> Result<IpcTimeout, Error> {
        if number as u8 == kind::ANY {
            IpcTimeout::new(number >> 10, deadline)
        } else {
            Ok(IpcTimeout::NEVER)
        }
    }
}

/// An operation that has passed all checks.
pub(super) struct Plan<P: Port> {
    pub target: Target<P>,
    pub source: Source<P>,
    pub message: Message,
    pub send_timeout: IpcTimeout,
    pub receive_timeout: IpcTimeout,
}

/// Why an operation does not happen.
pub(super) enum Refusal {
    /// It is wrong, or cannot be now.
    Failed(Error),
    /// The thread that it is for cannot take such a message.
    Unfit(Error),
    /// An interrupt is pending; the thread issues it again.
    Preempted,
}

impl From<Error> for Refusal {
    fn from(error: Error) -> Refusal {
        Refusal::Failed(error)
    }
}

impl<S: System> Entry<S> {
    #[inline(always)]
    pub(super) fn plan<const KIND: u8>(
        &self,
        me: Ref<Thread<S::Port>>,
    ) -> Result<Plan<S::Port>, Refusal> {
        let (number, [partners, info, deadline, ..]) = self.hold(me).context.call();
        let (send, receive) = halves::<KIND>(partners);
        let (send_timeout, receive_timeout) = match KIND {
            kind::ANY => {
                (IpcTimeout::new(number >> 8, deadline)?, IpcTimeout::new(number >> 10, deadline)?)
            }
            _ => (IpcTimeout::NEVER, IpcTimeout::NEVER),
        };
        let target = self.target::<KIND, _>(me, send, receive != NOTHING, &mut UnderLocks)?;
        let source = match receive {
            REPLY if KIND == kind::CALL => Source::Reply,
            REPLY if matches!(target, Target::Endpoint(_)) => Source::Reply,
            REPLY => return Err(Error::InvalidArgument.into()),
            NOTHING if KIND == kind::ANY && send != NOTHING => Source::Nothing,
            NOTHING if KIND == kind::ANY && receive_timeout.kind != Timeout::Never => Source::Sleep,
            NOTHING if KIND == kind::ANY => return Err(Error::InvalidArgument.into()),
            slot => self.source(me, slot, &mut UnderLocks)?,
        };
        let info = Info(info).from_user();
        let target = self.check_send(me, target, &source, info, send_timeout)?;
        let message = Message::direct::<S, KIND>(info);
        Ok(Plan { target, source, message, send_timeout, receive_timeout })
    }

    /// Checks the message and that its receiver, if one waits, can take it. A reply that its caller
    /// cannot take becomes one that is dropped, if a receive half follows.
    #[inline(always)]
    fn check_send(
        &self,
        me: Ref<Thread<S::Port>>,
        target: Target<S::Port>,
        source: &Source<S::Port>,
        info: Info,
        timeout: IpcTimeout,
    ) -> Result<Target<S::Port>, Refusal> {
        assert_cold!(self.hold(me).state.get() == State::Ready, "a blocked thread made a call");
        let receiver = match &target {
            Target::Nothing | Target::Dropped(_) => return Ok(target),
            Target::Reply(caller) => *caller,
            Target::Endpoint(cap) => {
                if let Source::Endpoint(own) = source
                    && *own == cap.at
                {
                    return Err(Error::SelfSend.into());
                }
                match self.hold(cap.at).receivers.head() {
                    Some(receiver) => receiver,
                    None => {
                        if !info.is_short() {
                            self.check_long(me, None, info, target.grants())?;
                        }
                        let expired = self.expired(timeout);
                        return if expired { Err(Error::Timeout.into()) } else { Ok(target) };
                    }
                }
            }
        };
        if info.is_short() {
            return Ok(target);
        }
        match (self.check_long(me, Some(receiver), info, target.grants()), &target) {
            (Err(Refusal::Unfit(error)), Target::Reply(caller))
                if !matches!(source, Source::Nothing) =>
            {
                Ok(Target::Dropped(Unanswered::Unfit(*caller, error)))
            }
            (checked, _) => checked.map(|()| target),
        }
    }

    /// Checks a message that does not fit into registers or carries a capability, and that its
    /// receiver, if it waits already, can take it.
    #[inline(never)]
    fn check_long(
        &self,
        me: Ref<Thread<S::Port>>,
        receiver: Option<Ref<Thread<S::Port>>>,
        info: Info,
        grants: Result<(), Error>,
    ) -> Result<(), Refusal> {
        let thread = self.hold(me);
        if info.words() > abi::message::MAX_WORDS {
            return Err(Error::TooLong.into());
        }
        if thread.buffer_at.get() == 0 {
            return Err(Error::NoBuffer.into());
        }
        if info.has_capability() {
            grants?;
            let frame = self.kernel.port.frame(thread.buffer);
            transfer::offered(frame, thread.domain.get())?;
        }
        let fits = receiver.map_or(Ok(()), |receiver| self.check_receiver(receiver, info));
        if let Some(receiver) = receiver.filter(|_| fits.is_ok())
            && !self.hold(receiver).has(flag::FAULT)
        {
            self.copy_words(me, receiver, info);
        }
        // The checks took long, and so will the rest; nothing has happened yet.
        if self.cpu.poll(point::CALL) {
            return Err(Refusal::Preempted);
        }
        fits.map_err(Refusal::Unfit)
    }

    /// Checks that `receiver` can take such a message.
    #[inline(always)]
    fn check_receiver(&self, receiver: Ref<Thread<S::Port>>, info: Info) -> Result<(), Error> {
        let receiver = self.hold(receiver);
        if receiver.has(flag::FAULT) {
            return Ok(());
        }
        transfer::acceptable(info, self.kernel.port, &receiver)
    }
}
