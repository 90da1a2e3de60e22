//! Moving a message, once everything is checked.

use super::kind;
use crate::access::Ref;
use crate::capability::Capability;
use crate::core::Core;
use crate::object::thread::attention;
use crate::object::{Domain, Thread};
use crate::port::{Context, Frame, Port};
use crate::step::Step;
use crate::system::System;
use abi::message::{
    BUFFER_RECEIVE_SLOT, BUFFER_SEND_RIGHTS, BUFFER_SEND_SLOT, MAX_WORDS, REGISTER_WORDS,
};
use abi::trace::Event;
use abi::{Error, Info, Rights, Status};
use core::sync::atomic::Ordering::Relaxed;

/// The capability that a sender's buffer offers.
pub(super) fn offered<P: Port>(buffer: &Frame, sender: &Domain<P>) -> Result<Capability<P>, Error> {
    let slot =
        u32::try_from(buffer[BUFFER_SEND_SLOT].load(Relaxed)).map_err(|_| Error::NoCapability)?;
    let rights = Rights(buffer[BUFFER_SEND_RIGHTS].load(Relaxed) as u8);
    sender.copied(slot, rights, 0)
}

/// Whether a receiver can take a message that is long or carries a capability.
pub(super) fn acceptable<P: Port>(
    info: Info,
    port: &P,
    receiver: &Thread<P>,
    domain: &Domain<P>,
) -> Result<(), Error> {
    if receiver.buffer_at.get() == 0 {
        return Err(Error::NoBuffer);
    }
    if info.has_capability() {
        // Remembered, since the program may write its buffer until the transfer.
        let slot = port.frame(receiver.buffer)[BUFFER_RECEIVE_SLOT].load(Relaxed);
        let slot = u32::try_from(slot).map_err(|_| Error::NotTaken)?;
        domain.empty(slot).map_err(|_| Error::NotTaken)?;
        receiver.accepts.set(slot);
    }
    Ok(())
}

/// A message that moves.
#[derive(Clone, Copy)]
pub(crate) struct Message {
    pub info: Info,
    length: Length,
}

/// What is known of a message's length where code is compiled. A long message that is called short
/// would lose words; a short one may be called long, which costs a look at its descriptor.
#[derive(Clone, Copy)]
enum Length {
    Short,
    Long,
    Any,
}

impl Message {
    /// Any message.
    #[inline(always)]
    pub fn of(info: Info) -> Message {
        Message { info, length: Length::Any }
    }

    /// One that a fast path has looked at.
    #[inline(always)]
    pub(super) fn short(info: Info) -> Message {
        debug_assert!(info.is_short(), "a fast path has looked at a long message");
        Message { info, length: Length::Short }
    }

    /// One that comes straight to the general path. Where a fast path looks at short ones first, it
    /// is long but for errors.
    #[inline(always)]
    pub(super) fn direct<S: System, const KIND: u8>(info: Info) -> Message {
        let long = S::FAST_PATH && !S::Port::SEVERAL && KIND != kind::ANY;
        Message { info, length: if long { Length::Long } else { Length::Any } }
    }

    /// Whether it goes the way of a long one.
    #[inline(always)]
    pub(super) fn is_long(self) -> bool {
        match self.length {
            Length::Short => false,
            Length::Long => true,
            Length::Any => !self.info.is_short(),
        }
    }
}

impl<S: System> Core<S> {
    /// Gives `receiver`, which is in no queue any more, its message. It does not become ready yet.
    #[inline(always)]
    pub(crate) fn deliver(
        &self,
        sender: Ref<Thread<S::Port>>,
        receiver: Ref<Thread<S::Port>>,
        message: Message,
        badge: u64,
    ) {
        self.unlimit(receiver);
        self.transfer(sender, receiver, message, badge);
    }

    /// Moves words and capability and sets the receiver's results.
    #[inline(always)]
    pub(super) fn transfer(
        &self,
        sender: Ref<Thread<S::Port>>,
        receiver: Ref<Thread<S::Port>>,
        message: Message,
        badge: u64,
    ) {
        let info = message.info;
        let (from, to) = (self.hold(sender), self.hold(receiver));
        S::Port::step(Step::Message(receiver.index(), info.0));
        self.note(Event::Message, sender, receiver.index(), info.words() as u16);
        to.context.set_results(Status::OK, badge, info);
        if from.has(attention::FAULT) {
            return Self::transfer_fault(&from, &to);
        }
        to.context.set_words(from.context.words());
        if message.is_long() {
            self.transfer_long(sender, receiver, info);
        }
    }

    /// The words of a fault's message.
    #[cold]
    #[inline(never)]
    fn transfer_fault(from: &Thread<S::Port>, to: &Thread<S::Port>) {
        to.context.set_words(from.fault.get());
    }

    #[inline(never)]
    fn transfer_long(
        &self,
        sender: Ref<Thread<S::Port>>,
        receiver: Ref<Thread<S::Port>>,
        info: Info,
    ) {
        S::Port::step(Step::Buffers);
        let (from, to) = (self.hold(sender), self.hold(receiver));
        let source = self.kernel.port.frame(from.buffer);
        let words = info.words();
        if words > REGISTER_WORDS && words <= MAX_WORDS {
            S::Port::step(Step::Copy((words - REGISTER_WORDS) as u32));
            self.kernel.port.copy(from.buffer, to.buffer, REGISTER_WORDS, words);
        }
        if info.has_capability() {
            // The sender may have changed its buffer since the check; what it offers now counts,
            // and offering nothing any more leaves the slot empty.
            let offer = offered(source, &self.hold(from.domain.get()));
            if let Ok(capability) = offer {
                self.hold(to.domain.get()).put_slowly(to.accepts.get(), capability);
            }
        }
    }
}
