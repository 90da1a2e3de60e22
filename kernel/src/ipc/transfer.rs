//! Moving a message, once everything is checked.

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

impl<S: System> Core<S> {
    /// Gives `receiver`, which is in no queue any more, its message. It does not become ready yet.
    #[inline(always)]
    pub(crate) fn deliver(
        &self,
        sender: Ref<Thread<S::Port>>,
        receiver: Ref<Thread<S::Port>>,
        info: Info,
        badge: u64,
    ) {
        self.unlimit(receiver);
        self.transfer(sender, receiver, info, badge);
    }

    /// Moves words and capability and sets the receiver's results.
    #[inline(always)]
    pub(super) fn transfer(
        &self,
        sender: Ref<Thread<S::Port>>,
        receiver: Ref<Thread<S::Port>>,
        info: Info,
        badge: u64,
    ) {
        let (from, to) = (self.hold(sender), self.hold(receiver));
        let fault = from.has(attention::FAULT);
        S::Port::step(Step::Message(receiver.index(), info.0));
        self.note(Event::Message, sender, receiver.index(), info.words() as u16);
        to.context.set_words(if fault { from.fault.get() } else { from.context.words() });
        to.context.set_results(Status::OK, badge, info);
        if !info.is_short() && !fault {
            self.transfer_long(sender, receiver, info);
        }
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
