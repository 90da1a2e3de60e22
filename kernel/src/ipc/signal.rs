//! Signals: from threads, interrupts and timers to the threads that receive on a notification or on
//! the endpoint that it is attached to.

use crate::access::Ref;
use crate::entry::Entry;
use crate::object::thread::flag;
use crate::object::{Endpoint, Notification, Thread};
use crate::port::{Context, Port};
use crate::system::System;
use abi::trace::{Event, point};
use abi::{Error, Info, Rights, Status};

/// How a signal came out.
pub(crate) enum Signalled {
    /// It is delivered, or left for the next receiver.
    Done,
    /// It is delivered, which has ended a deadline of its receiver.
    EndedDeadline,
    /// An interrupt goes first: nothing is delivered. The receiver issues its receive half again.
    PutOff,
}

/// The endpoint that a signal goes through, if any, and the thread that receives it, if one waits.
type Recipient<P> = (Option<Ref<Endpoint<P>>>, Option<Ref<Thread<P>>>);

/// The first thread that waits for a signal: at the notification, or at the endpoint that it is
/// attached to.
#[inline(always)]
pub(super) fn recipient<P: Port>(at: Ref<Notification<P>>) -> Recipient<P> {
    match at.receivers.head() {
        Some(receiver) => (None, Some(receiver)),
        None => {
            let endpoint = at.endpoint.get().and_then(|weak| weak.get());
            (endpoint, endpoint.and_then(|endpoint| endpoint.receivers.head()))
        }
    }
}

impl<S: System> Entry<S> {
    /// The system call: signals the notification in a slot with the capability's badge.
    #[inline(always)]
    pub(crate) fn signal_slot(&self, slot: u32) -> Result<(), Error> {
        let domain = self.own(self.cpu.current.get()).domain.get();
        let (at, badge) = self.hold_for_signal(|| {
            let cap = domain.named::<Notification<S::Port>>(slot, Rights::SEND)?;
            Ok((cap.at, cap.badge))
        })?;
        self.signal(at, badge.max(1), false);
        Ok(())
    }

    /// Delivers bits to a waiting receiver, or leaves them for the next one. With `put_off`
    /// an interrupt goes between the end of a receiver's deadline and the rest.
    #[inline(never)]
    pub(crate) fn signal(
        &self,
        at: Ref<Notification<S::Port>>,
        bits: u64,
        put_off: bool,
    ) -> Signalled {
        let notification = self.hold(at);
        let receiver = match recipient(at) {
            (None, Some(receiver)) => {
                notification.receivers().remove(receiver);
                receiver
            }
            (Some(endpoint), Some(receiver)) => {
                self.hold(endpoint).receivers().remove(receiver);
                receiver
            }
            (_, None) => {
                let pending = &notification.bits;
                pending.set(pending.get() | bits);
                self.cpu.note_event(Event::Signal, at.index(), 0);
                return Signalled::Done;
            }
        };
        if self.hold(receiver).has(flag::DEADLINE) {
            return self.signal_with_deadline(receiver, at, bits, put_off);
        }
        self.signalled(receiver, at, bits);
        self.wake(receiver);
        Signalled::Done
    }

    /// [`Entry::signal`] to a receiver with a deadline.
    #[cold]
    #[inline(never)]
    fn signal_with_deadline(
        &self,
        receiver: Ref<Thread<S::Port>>,
        at: Ref<Notification<S::Port>>,
        bits: u64,
        put_off: bool,
    ) -> Signalled {
        self.end_timeout(receiver);
        if put_off && self.cpu.poll(point::HALVES) {
            self.receives_again(receiver);
            return Signalled::PutOff;
        }
        self.signalled(receiver, at, bits);
        self.wake_slowly(receiver);
        Signalled::EndedDeadline
    }

    /// A receiver has a signal, and does not wait any more.
    #[inline(always)]
    fn signalled(&self, receiver: Ref<Thread<S::Port>>, at: Ref<Notification<S::Port>>, bits: u64) {
        self.note(Event::Signal, receiver, at.index(), 0);
        let thread = self.hold(receiver);
        thread.context.set_results(Status::OK, bits, Info(Info::NOTIFICATION));
        thread.become_ready();
    }
}
