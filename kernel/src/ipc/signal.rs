//! Signals: from threads, interrupts and timers to whoever receives on a notification or on the
//! endpoint that it is attached to.

use crate::access::Ref;
use crate::core::Core;
use crate::object::{Notification, Thread};
use crate::port::Context;
use crate::system::System;
use abi::trace::Event;
use abi::{Error, Info, Rights, Status};

impl<S: System> Core<S> {
    /// The thread that signals go to.
    pub(crate) fn receiver_of(
        &self,
        at: Ref<Notification<S::Port>>,
    ) -> Option<Ref<Thread<S::Port>>> {
        let notification = self.hold(at);
        let endpoint = || notification.endpoint.get().and_then(|weak| weak.get());
        notification.receivers.head().or_else(|| self.hold(endpoint()?).receivers.head())
    }

    /// The system call: signals the notification in a slot with the capability's badge.
    #[inline(always)]
    pub(crate) fn signal_slot(&self, slot: u32) -> Result<(), Error> {
        let domain = self.own(self.cpu.current.get()).domain.get();
        let (at, badge) = self.hold_for_signal(|| {
            let cap = self.hold(domain).named::<Notification<S::Port>>(slot, Rights::SEND)?;
            Ok((cap.at, cap.badge))
        })?;
        self.signal(at, badge.max(1));
        Ok(())
    }

    /// Delivers bits to a waiting receiver, or leaves them for the next one.
    #[inline(never)]
    pub(crate) fn signal(&self, at: Ref<Notification<S::Port>>, bits: u64) {
        let notification = self.hold(at);
        let receiver = match notification.receivers.head() {
            Some(receiver) => {
                notification.receivers.remove(receiver);
                receiver
            }
            None => {
                let endpoint = notification.endpoint.get().and_then(|weak| weak.get());
                let Some((endpoint, receiver)) = endpoint
                    .and_then(|at| self.hold(at).receivers.head().map(|receiver| (at, receiver)))
                else {
                    notification.bits.set(notification.bits.get() | bits);
                    self.cpu.note_nobody(Event::Signal, at.index(), 0);
                    return;
                };
                self.hold(endpoint).receivers.remove(receiver);
                receiver
            }
        };
        self.note(Event::Signal, receiver, at.index(), 0);
        self.unlimit(receiver);
        let thread = self.hold(receiver);
        thread.context.set_results(Status::OK, bits, Info(Info::NOTIFICATION));
        thread.state.become_ready();
        self.wake(receiver);
    }
}
