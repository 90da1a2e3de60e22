//! Moving a message, once everything is checked.

use super::kind;
use crate::access::Ref;
use crate::cost::CostEvent;
use crate::entry::Entry;
use crate::object::capability::Capability;
use crate::object::thread::flag;
use crate::object::{Domain, Thread};
use crate::port::{Context, Frame, Port};
use crate::system::System;
use abi::message::{
    BUFFER_RECEIVE_SLOT, BUFFER_SEND_RIGHTS, BUFFER_SEND_SLOT, MAX_WORDS, REGISTER_WORDS,
};
use abi::trace::Event;
use abi::{Error, Info, Rights, Status};
use core::sync::atomic::Ordering::Relaxed;

/// The capability that a sender's buffer offers.
pub(super) fn offered<P: Port>(
    buffer: &Frame,
    sender: Ref<Domain<P>>,
) -> Result<Capability<P>, Error> {
    let slot =
        u32::try_from(buffer[BUFFER_SEND_SLOT].load(Relaxed)).map_err(|_| Error::NoCapability)?;
    let rights = Rights(buffer[BUFFER_SEND_RIGHTS].load(Relaxed) as u8);
    sender.copied(slot, rights, 0)
}

/// Whether a receiver can take a message that is long or carries a capability.
pub(super) fn acceptable<P: Port>(info: Info, port: &P, receiver: &Thread<P>) -> Result<(), Error> {
    if receiver.buffer_at.get() == 0 {
        return Err(Error::NoBuffer);
    }
    if info.has_capability() {
        // Remembered, since the program may write its buffer until the transfer.
        let slot = port.frame(receiver.buffer)[BUFFER_RECEIVE_SLOT].load(Relaxed);
        let slot = u32::try_from(slot).map_err(|_| Error::NotTaken)?;
        receiver.domain.get().empty(slot).map_err(|_| Error::NotTaken)?;
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

/// What is known of a message's length where code is compiled: that decides what it is asked first.
/// One that is called short carries no capability.
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
        let long = S::FAST_PATH && !S::Port::SMP && KIND != kind::ANY;
        Message { info, length: if long { Length::Long } else { Length::Any } }
    }

    /// Whether it may carry a capability.
    #[inline(always)]
    fn may_carry(self) -> bool {
        match self.length {
            Length::Short => false,
            Length::Long => self.info.has_capability(),
            Length::Any => !self.info.is_short(),
        }
    }
}

impl<S: System> Entry<S> {
    /// Gives `receiver`, which is in no queue any more, its message. It does not become ready yet.
    #[inline(always)]
    pub(crate) fn deliver(
        &self,
        sender: Ref<Thread<S::Port>>,
        receiver: Ref<Thread<S::Port>>,
        message: Message,
        badge: u64,
    ) {
        self.cancel_timeout(receiver);
        self.transfer(sender, receiver, message, badge);
    }

    /// Moves the words in registers and a capability, and sets the receiver's results. All other
    /// words are in the receiver's buffer already.
    #[inline(always)]
    pub(crate) fn transfer(
        &self,
        sender: Ref<Thread<S::Port>>,
        receiver: Ref<Thread<S::Port>>,
        message: Message,
        badge: u64,
    ) {
        let info = message.info;
        let (from, to) = (self.hold(sender), self.hold(receiver));
        S::Port::cost(CostEvent::Message(receiver.index(), info.0));
        self.note(Event::Message, sender, receiver.index(), info.words() as u16);
        to.context.set_results(Status::OK, badge, info);
        if from.has(flag::FAULT) {
            return Self::transfer_fault(&from, &to);
        }
        to.context.set_words(from.context.words());
        if message.may_carry() {
            self.transfer_capability(sender, receiver, info);
        }
    }

    /// The words of a fault's message.
    #[cold]
    #[inline(never)]
    fn transfer_fault(from: &Thread<S::Port>, to: &Thread<S::Port>) {
        to.context.set_words(from.fault.get());
    }

    /// Copies the words that do not fit into registers, in front of a poll: that takes as long as
    /// all the rest. A receiver that the message does not reach then has them in its buffer.
    #[inline(never)]
    pub(super) fn copy_words(
        &self,
        sender: Ref<Thread<S::Port>>,
        receiver: Ref<Thread<S::Port>>,
        info: Info,
    ) {
        S::Port::cost(CostEvent::Buffers);
        let (from, to) = (self.hold(sender).buffer, self.hold(receiver).buffer);
        let words = info.words();
        if words > REGISTER_WORDS && words <= MAX_WORDS {
            S::Port::cost(CostEvent::Copy((words - REGISTER_WORDS) as u32));
            self.kernel.port.copy(from, to, REGISTER_WORDS, words);
        }
    }

    #[inline(never)]
    fn transfer_capability(
        &self,
        sender: Ref<Thread<S::Port>>,
        receiver: Ref<Thread<S::Port>>,
        info: Info,
    ) {
        if info.has_capability() {
            self.transfer_offered(sender, receiver);
        }
    }

    /// Moves what the sender offers. On its own, so that a message that is only long saves no
    /// registers for it.
    #[inline(never)]
    fn transfer_offered(&self, sender: Ref<Thread<S::Port>>, receiver: Ref<Thread<S::Port>>) {
        let (from, to) = (self.hold(sender), self.hold(receiver));
        let source = self.kernel.port.frame(from.buffer);
        // The sender may have changed its buffer since the check; what it offers now counts, and
        // offering nothing any more leaves the slot empty.
        if let Ok(capability) = offered(source, from.domain.get()) {
            let all = self.section.exclusive();
            to.domain.get().put_slowly(&all, to.accepts.get(), capability);
        }
    }
}
