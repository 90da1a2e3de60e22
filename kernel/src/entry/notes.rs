//! Trace points of an entry: what it does, and when it has the kernel's lock.

use super::{Entry, Guards};
use crate::access::Ref;
use crate::cpu::notes::{Notes, number, second};
use crate::object::Thread;
use crate::port::Port;
use crate::system::System;
use abi::Error;
use abi::trace::{Event, NO_THREAD, Way};
use locks::{Handoff, Kind, LockPolicy};

impl<S: System> Entry<S> {
    /// A trace point on a path of its own in each kernel.
    #[inline(always)]
    pub fn note(&self, event: Event, thread: Ref<Thread<S::Port>>, argument: u32, extra: u16) {
        self.cpu.note_if::<S::Notes>(event, thread, argument, extra);
    }

    /// A system call of `thread` fails, here or in its receive half.
    #[inline(always)]
    pub(crate) fn note_failure(
        &self,
        thread: Ref<Thread<S::Port>>,
        error: Error,
        in_receive: bool,
    ) {
        if S::Notes::ON && self.kernel.port.records() {
            self.tell_failure(thread, error, in_receive);
        }
    }

    #[cold]
    #[inline(never)]
    fn tell_failure(&self, thread: Ref<Thread<S::Port>>, error: Error, in_receive: bool) {
        self.note(Event::Fail, thread, error as u32, in_receive.into());
    }

    /// When the kernel's lock is asked for, for [`Entry::locked`].
    #[inline(always)]
    pub(crate) fn asks(port: &S::Port) -> u64 {
        if S::Notes::ON && S::Port::SMP && port.records() { port.stamp() } else { 0 }
    }

    /// The lock, which was asked for at this instant, is this CPU's.
    #[inline(always)]
    pub(crate) fn locked(&self, asked: u64, handoff: Handoff, kind: Kind) {
        let told = S::Port::TRACE & Event::Lock.bit() != 0;
        if S::Notes::ON && S::Port::SMP && told && self.kernel.port.records() {
            let now = self.kernel.port.stamp();
            let waited = if handoff.waited() { now - asked } else { 0 };
            let waited = u32::try_from(waited).unwrap_or(u32::MAX);
            let extra = self.way(kind).extra(handoff.last_owner().map(|cpu| cpu as u8));
            self.cpu.write_late(now, NO_THREAD, second(Event::Lock, waited, extra));
        }
    }

    /// How a section of this kind has the lock now.
    fn way(&self, kind: Kind) -> Way {
        match kind {
            _ if self.cpu.is_undoable() => Way::Transaction,
            Kind::Writer => Way::Alone,
            Kind::Reader if Guards::<S>::SPECULATIVE => Way::FallBack,
            Kind::Reader if Guards::<S>::EXCLUSIVE => Way::Alone,
            Kind::Reader => Way::Reader,
        }
    }

    /// The lock is going to be released.
    #[inline(always)]
    pub(crate) fn unlocks(&self) {
        let told = S::Port::TRACE & Event::Unlock.bit() != 0;
        if S::Notes::ON && S::Port::SMP && told && self.kernel.port.records() {
            self.cpu.write(NO_THREAD, second(Event::Unlock, 0, 0));
        }
    }

    /// The section is over: tells what was undone before it came to that.
    #[inline(always)]
    pub(crate) fn was_undone(&self) {
        let told = S::Port::TRACE & Event::Undone.bit() != 0;
        if S::Notes::ON && Guards::<S>::SPECULATIVE && told && self.kernel.port.records() {
            Guards::<S>::counts(&self.cpu.guards)
                .into_iter()
                .for_each(|counts| self.cpu.tell_undone(counts));
        }
    }

    /// When a fast path is tried, for [`Entry::entered_at`].
    #[inline(always)]
    pub fn attempt(&self) -> u64 {
        if S::Notes::ON && self.kernel.port.records() { self.kernel.port.stamp() } else { 0 }
    }

    /// A fast path that was tried at this instant does the call `code` of `me`.
    #[inline(always)]
    pub fn entered_at(&self, time: u64, me: Ref<Thread<S::Port>>, code: u8) {
        let told = S::Port::TRACE & Event::Enter.bit() != 0;
        if S::Notes::ON && told && self.kernel.port.records() {
            self.cpu.write_late(time, number(me), second(Event::Enter, u32::from(code), 0));
        }
    }
}
