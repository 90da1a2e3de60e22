//! Ending operations that threads are blocked in.

use super::Manager;
use crate::access::Ref;
use crate::object::Thread;
use crate::object::capability::Capability;
use crate::object::deadlines::TimerEntry;
use crate::object::thread::{State, Wait, flag};
use crate::port::Port;
use abi::message::FaultKind;
use abi::trace::Event;
use abi::{Error, Status};

impl<P: Port> Manager<'_, P> {
    /// Takes a thread out of whatever it is blocked in, with an error. O(1), or O(log n) if it
    /// has a deadline.
    pub(crate) fn cancel(&self, at: Ref<Thread<P>>, error: Error) {
        let thread = self.all.open(at);
        let state = thread.state.get();
        let mut unanswered = None;
        if state == State::Ready {
            return;
        }
        // Before those that it lent to follow, behind preemption points.
        if thread.has(flag::DEADLINE) {
            self.end_timeout(at);
        }
        if P::FUTEXES && thread.has(flag::LENDS) {
            self.stop_lending(at);
        }
        match (state, thread.wait.get()) {
            (State::Sending, Wait::Endpoint(endpoint)) => {
                let queue = self.all.open(endpoint);
                (self.kernel.variant.senders.remove)(queue, at);
                queue.sender_left();
                queue.given_up.set(queue.given_up.get().saturating_add(1));
            }
            (State::Sending, Wait::Train(train)) if P::TRAINS => self.leave_train(train, at),
            (State::Receiving, Wait::Endpoint(endpoint)) => {
                self.all.open(endpoint).receivers().remove(at);
            }
            (State::Receiving, Wait::Notification(notification)) => {
                self.all.open(notification).receivers().remove(at);
            }
            (State::Calling, _) => {
                unanswered = thread.server.take();
                if let Some(server) = unanswered {
                    self.all.open(server).set_caller(None);
                }
            }
            (State::Waiting, _) if P::FUTEXES => return self.cancel_wait(at, error),
            _ => {}
        }
        if thread.has(flag::FAULT) {
            // No handler will say how it goes on, and its registers are not a call's. If the
            // handler is gone, it faults again, and has none. A trap is behind its instruction.
            thread.clear(flag::FAULT);
            let trap = thread.outgoing.get().info.label() == FaultKind::Debug as u32;
            let handler = thread.handler.get().and_then(|weak| weak.get());
            if error == Error::Destroyed && trap && handler.is_none() {
                self.ends_by_trap(at);
            } else if error != Error::Destroyed || trap {
                thread.set(flag::SUSPENDED);
            }
        } else if state == State::Sending {
            self.cpu.note(Event::Fail, at, error as u32, 0);
            thread.finish(Status::failed(error));
        } else {
            // That it has waited as long as it wanted is no failure.
            if state != State::Receiving || error != Error::Timeout {
                self.cpu.note(Event::Fail, at, error as u32, 1);
            }
            thread.finish(Status::failed_in_receive(error));
        }
        thread.become_ready();
        self.make_ready(at);
        if let Some(server) = unanswered {
            self.caller_changed(server);
        }
    }

    /// A thread does not get its mutex.
    #[inline(never)]
    fn cancel_wait(&self, at: Ref<Thread<P>>, error: Error) {
        let thread = self.all.open(at);
        match thread.inherit.waits.get() {
            Some(mutex) => self.leave_inheriting(at, mutex),
            None => self.leave_queue(at),
        }
        self.cpu.note(Event::Fail, at, error as u32, 0);
        thread.finish(Status::failed(error));
        thread.become_ready();
        self.make_ready(at);
    }

    /// The deadline of a blocked thread has passed; its call's reply right dies.
    pub(crate) fn time_out(&self, at: Ref<Thread<P>>) {
        self.all.open(at).clear(flag::DEADLINE);
        self.cancel(at, Error::Timeout);
    }

    /// A blocked thread no longer waits for its deadline. The timer stays as it is: an interrupt
    /// for nothing is rarer than a message under a timeout.
    pub(crate) fn end_timeout(&self, at: Ref<Thread<P>>) {
        self.all.open(at).clear(flag::DEADLINE);
        self.cpu_of(at).deadlines.remove(TimerEntry::Thread(at));
    }

    /// A server loses the reply right that it holds; the caller learns why.
    pub(crate) fn abandon(&self, server: Ref<Thread<P>>, error: Error) {
        if let Some(caller) = self.all.open(server).caller.get() {
            self.cancel(caller, error);
        }
    }

    /// A saved reply right is used up.
    pub(crate) fn take_saved_reply(&self, holder: Ref<Thread<P>>, slot: u32) {
        let domain = self.domain_of(holder);
        self.all.open(domain).put(&self.all, slot, Capability::Empty);
    }
}
