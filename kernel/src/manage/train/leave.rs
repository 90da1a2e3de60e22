//! Threads that are taken out of domains that they have entered: by a fault there, by the end of a
//! train, by the end of the thread, or because its holder cancels what it does.

use crate::access::Ref;
use crate::manage::Manager;
use crate::object::thread::{State, flag};
use crate::object::{Activation, Thread};
use crate::port::{Context, Port};
use abi::trace::Event;
use abi::{Error, Status};

impl<P: Port> Manager<'_, P> {
    /// What a thread owns in the domain of an activation, and in those that it has entered from
    /// there, is given to those that wait for it, before it leaves. False: not all yet.
    #[inline(always)]
    pub(super) fn leaves_nothing(&self, at: Ref<Thread<P>>, stack: Ref<Activation<P>>) -> bool {
        let owns = P::FUTEXES && self.all.open(at).inherit.is_awaited();
        !owns || self.bequeath_inside(at, stack)
    }

    /// A caller that was received inside is not answered from elsewhere. False: not yet, though it
    /// is told, since an interrupt goes first.
    pub(super) fn gives_up_caller(&self, at: Ref<Thread<P>>) -> bool {
        if self.all.open(at).caller.get().is_none() {
            return true;
        }
        self.abandon(at, Error::Abandoned);
        self.all.open(at).set_caller(None);
        !self.preempted()
    }

    /// A thread runs nothing any more in the domain of an activation, and in those that it has
    /// entered from there, before it gives up anything there: it would fault at 0, where nothing is
    /// mapped, and go on to leave by that.
    pub(super) fn begin_to_leave(&self, at: Ref<Thread<P>>, stack: Ref<Activation<P>>) {
        self.all.open(stack).over.set(true);
        self.all.open(at).context.set_instruction(0);
    }

    /// The outermost activation that a thread is taken out of.
    pub(crate) fn leaves(&self, at: Ref<Thread<P>>) -> Option<Ref<Activation<P>>> {
        self.activations_of(at).filter(|visit| self.all.open(*visit).over.get()).last()
    }

    /// A thread that runs, or that is blocked in nothing, goes back with an error to where it has
    /// entered the domain that it is in, or that it is taken out of. False: not yet, an interrupt
    /// is pending.
    pub(crate) fn go_back(&self, at: Ref<Thread<P>>, error: Error) -> bool {
        if let Some(stack) = self.leaves(at).or(self.all.open(at).inside.get()) {
            self.begin_to_leave(at, stack);
            if !self.leaves_nothing(at, stack) || !self.gives_up_caller(at) {
                return false;
            }
            match self.is_ending(stack) {
                // The rest is up to who ends that.
                true => self.fail_entry(at, stack, Error::Destroyed),
                false => {
                    self.fail_entry(at, stack, error);
                    self.give_stack(stack);
                }
            }
        }
        true
    }

    /// A thread that does not run goes back to its own domain with an error: a step for what it is
    /// blocked in, and for each domain that it has entered. False: not yet.
    pub(crate) fn bring_home(&self, at: Ref<Thread<P>>, error: Error) -> bool {
        if self.all.open(at).state.get() != State::Ready {
            self.cancel(at, error);
            if let Some(stack) = self.all.open(at).inside.get() {
                self.begin_to_leave(at, stack);
            }
            if self.preempted() {
                return false;
            }
        }
        while self.all.open(at).inside.get().is_some() {
            if !self.go_back(at, error) || self.preempted() {
                return false;
            }
        }
        true
    }

    /// Takes a thread out of the domain of an activation, and out of all that it has entered from
    /// there, at once. Their stacks follow in steps.
    pub(super) fn take_out(&self, at: Ref<Thread<P>>, stack: Ref<Activation<P>>, error: Error) {
        self.cancel(at, error);
        self.abandon(at, Error::Abandoned);
        self.all.open(at).set_caller(None);
        self.fail_entry(at, stack, error);
    }

    /// Gives up the stacks of what was entered from an activation's domain, when its thread was
    /// taken out of that. False: not yet.
    pub(super) fn give_up_inner(&self, stack: Ref<Activation<P>>) -> bool {
        let activation = self.all.open(stack);
        while let Some(inner) = activation.inner.get() {
            let next = self.all.open(inner);
            let further = next.inner.take();
            activation.inner.set(further);
            if let Some(further) = further {
                // The train of that one may end first, and takes it off this list.
                self.all.open(further).outer.set(Some(stack));
            }
            next.thread.set(None);
            self.kernel.port.give_up(&next.kept);
            self.give_stack(inner);
            if self.preempted() {
                return false;
            }
        }
        true
    }

    /// The call that has led to this activation has failed.
    fn fail_entry(&self, at: Ref<Thread<P>>, stack: Ref<Activation<P>>, error: Error) {
        let thread = self.all.open(at);
        self.put_back(at, stack);
        thread.clear(flag::FULL);
        self.end_change(at);
        thread.protected.set(0);
        thread.ticket.set(None);
        self.cpu.note(Event::Fail, at, error as u32, 0);
        thread.context.set_words([0; 4]);
        thread.finish(Status::failed(error));
    }
}
