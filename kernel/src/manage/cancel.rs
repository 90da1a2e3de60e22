//! Ending operations that threads are blocked in.

use super::Manager;
use crate::access::Ref;
use crate::capability::Capability;
use crate::object::Thread;
use crate::object::thread::{State, Wait, attention};
use crate::port::Port;
use crate::time::Sleeper;
use abi::trace::Event;
use abi::{Error, Status};

impl<P: Port> Manager<'_, P> {
    /// Takes a thread out of whatever it is blocked in, with an error. O(1), or O(log n) if it
    /// has a deadline.
    pub(crate) fn cancel(&self, at: Ref<Thread<P>>, error: Error) {
        let thread = self.whole.open(at);
        let state = thread.state.get();
        match (state, thread.wait.get()) {
            (State::Ready, _) => return,
            (State::Sending, Wait::Endpoint(endpoint)) => {
                let queue = self.whole.open(endpoint);
                (self.kernel.variant.senders.remove)(queue, at);
                queue.sender_left();
            }
            (State::Receiving, Wait::Endpoint(endpoint)) => {
                self.whole.open(endpoint).receivers.remove(at);
            }
            (State::Receiving, Wait::Notification(notification)) => {
                self.whole.open(notification).receivers.remove(at);
            }
            (State::Calling, _) => {
                if let Some(server) = thread.server.take() {
                    self.whole.open(server).caller.set(None);
                }
            }
            (State::Sending | State::Receiving, _) => {}
        }
        if thread.has(attention::DEADLINE) {
            self.end_timeout(at);
        }
        if thread.has(attention::FAULT) {
            // Nobody will say how it goes on, and its registers are not a call's.
            thread.clear(attention::FAULT);
            thread.set(attention::SUSPENDED);
        } else if state == State::Sending {
            thread.finish(Status::failed(error));
        } else {
            thread.finish(Status::failed_in_receive(error));
        }
        thread.state.become_ready();
        self.make_ready(at);
    }

    /// Queues a thread that can run, and asks for a decision.
    pub(crate) fn make_ready(&self, at: Ref<Thread<P>>) {
        if self.whole.open(at).runnable() {
            self.cpu.note(Event::Wake, at, 0, 0);
            self.enqueue(at);
            self.cpu.resched.set(true);
        }
    }

    /// The deadline of a blocked thread has passed; its call's reply right dies.
    pub(crate) fn time_out(&self, at: Ref<Thread<P>>) {
        self.whole.open(at).clear(attention::DEADLINE);
        self.cancel(at, Error::Timeout);
    }

    /// A blocked thread no longer waits for its deadline. The timer stays as it is: an interrupt
    /// for nothing is rarer than a message under a timeout.
    pub(crate) fn end_timeout(&self, at: Ref<Thread<P>>) {
        self.whole.open(at).clear(attention::DEADLINE);
        self.home(at).deadlines.remove(Sleeper::Thread(at));
    }

    /// A server loses the reply right that it holds; the caller learns why.
    pub(crate) fn abandon(&self, server: Ref<Thread<P>>, error: Error) {
        if let Some(caller) = self.whole.open(server).caller.get() {
            self.cancel(caller, error);
        }
    }

    /// A saved reply right is used up.
    pub(crate) fn take_saved_reply(&self, holder: Ref<Thread<P>>, slot: u32) {
        let domain = self.domain_of(holder);
        self.whole.open(domain).put(slot, Capability::Empty);
    }
}
