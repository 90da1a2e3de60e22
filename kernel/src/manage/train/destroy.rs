//! The end of a train: who waits for a stack is told, who is inside goes back to the nearest domain
//! that stays, and the stacks go.

use crate::access::Ref;
use crate::manage::Manager;
use crate::object::thread::State;
use crate::object::{Thread, Train};
use crate::port::Port;
use abi::Error;

impl<P: Port> Manager<'_, P> {
    /// Ends a train in steps: one for each thread that waits, for each stack, and for each domain
    /// that was entered from there. False: not yet.
    #[inline(never)]
    pub(in crate::manage) fn destroy_train(&self, at: Ref<Train<P>>) -> bool {
        let train = self.all.open(at);
        train.free.set(None);
        if !self.wake_all(|| (self.kernel.variant.senders.first)(&train.queue)) {
            return false;
        }
        while let Some(stack) = train.stacks.head() {
            let activation = self.all.open(stack);
            if let Some(thread) = activation.thread.get() {
                // One that was taken out of a domain further out is not here any more.
                if self.activations_of(thread).any(|inside| inside == stack) {
                    if self.is_asked_to_leave(thread) {
                        return false;
                    }
                    let waited = self.all.open(thread).state.get() != State::Ready;
                    self.cancel(thread, Error::Destroyed);
                    self.begin_to_leave(thread, stack);
                    if waited && self.preempted() {
                        return false;
                    }
                    if !self.leaves_nothing(thread, stack) || !self.gives_up_caller(thread) {
                        return false;
                    }
                    self.take_out(thread, stack, Error::Destroyed);
                } else if let Some(outer) = activation.outer.get() {
                    self.all.open(outer).inner.set(activation.inner.take());
                    if let Some(inner) = self.all.open(outer).inner.get() {
                        self.all.open(inner).outer.set(Some(outer));
                    }
                    activation.thread.set(None);
                    self.kernel.port.give_up(&activation.kept);
                }
            }
            if !self.give_up_inner(stack) {
                return false;
            }
            train.stacks.remove(stack);
            activation.train.set(None);
            self.begin_destroy_slowly(stack);
            self.kernel.activations.release(&self.all, stack);
            if self.preempted() {
                return false;
            }
        }
        self.kernel.trains.release(&self.all, at);
        true
    }

    /// Whether another CPU runs a thread. It is asked to take the thread out: what it runs, and
    /// with which tables, it reads outside the kernel too.
    fn is_asked_to_leave(&self, thread: Ref<Thread<P>>) -> bool {
        let cpu = self.runs_on(thread).filter(|cpu| !self.cpu.is_same(cpu));
        if let Some(cpu) = cpu {
            self.ask_to_flush(cpu);
            self.cpu_relax();
        }
        cpu.is_some()
    }

    /// The thread that this CPU runs leaves trains that are ending: it is where it has entered the
    /// outermost one. The rest is up to who ends that. Whether it is still to do so, since an
    /// interrupt goes first.
    #[cold]
    #[inline(never)]
    pub(crate) fn leaves_ended_trains(&self, me: Ref<Thread<P>>) -> bool {
        let ends = |stack: &_| self.is_ending(*stack);
        let Some(stack) = self.activations_of(me).filter(ends).last() else { return false };
        self.begin_to_leave(me, stack);
        if !self.leaves_nothing(me, stack) || !self.gives_up_caller(me) {
            return true;
        }
        self.take_out(me, stack, Error::Destroyed);
        false
    }
}
