//! Trains (S4-10): a thread enters another domain at an exported entry, on a stack of that domain,
//! and returns. It stays the same to the scheduler: priority, time slice, leaf and charge go along.
//!
//! [`Thread::domain`] is the domain that a thread is in, by which slots are looked up and page
//! tables loaded; its own domain, whose end is its end, is the one from which its outermost
//! [`Activation`] leads. A thread leaves a domain by itself (`enter.rs`), or is taken out
//! (`leave.rs`); both give the stack to the first thread that waits for one, or back to the train.
//!
//! All of this has the whole kernel open. A call and a return are O(1), a call that waits for a
//! stack O(log n) or what the kernel's send queues cost.

mod create;
mod destroy;
mod enter;
mod fast;
mod leave;

use super::Manager;
use crate::access::{Life, Ref};
use crate::object::{Activation, Domain, Thread, Train};
use crate::port::{Context, Port};
use abi::call::Call;
use abi::trace::Event;
use abi::{Error, Info, Status};

impl<P: Port> Manager<'_, P> {
    /// Executes the call on trains that `me` has issued, and leaves its results.
    #[inline(always)]
    pub(crate) fn train_call(&self, me: Ref<Thread<P>>, call: u8) {
        const CALL: u8 = Call::TrainCall as u8;
        const RETURN: u8 = Call::TrainReturn as u8;
        let args = self.all.open(me).context.call().1;
        let done = match call {
            CALL => self.enter_train(me, &args),
            RETURN => self.return_from_train(me, args[0]),
            _ => self.create_train(me, &args),
        };
        if let Err(error) = done {
            self.fail(me, error);
        }
    }

    /// [`Manager::train_call`], out of line, once for all kernels.
    #[inline(never)]
    pub(crate) fn train_call_slowly(&self, me: Ref<Thread<P>>, call: u8) {
        self.train_call(me, call);
    }

    #[cold]
    #[inline(never)]
    fn fail(&self, me: Ref<Thread<P>>, error: Error) {
        self.cpu.note(Event::Fail, me, error as u32, 0);
        self.all.open(me).context.set_results(Status::failed(error), 0, Info(0));
    }

    /// The activations of a thread, from the inside out: at most [`abi::train::DEPTH`].
    pub(in crate::manage) fn activations_of(
        &self,
        at: Ref<Thread<P>>,
    ) -> impl Iterator<Item = Ref<Activation<P>>> + '_ {
        let innermost = if P::TRAINS { self.all.open(at).inside.get() } else { None };
        core::iter::successors(innermost, |at| self.all.open(*at).outer.get())
    }

    /// The domain that a thread belongs to, wherever it is.
    #[inline(never)]
    pub(crate) fn home_of(&self, at: Ref<Thread<P>>) -> Ref<Domain<P>> {
        let outermost = self.activations_of(at).last();
        let from = outermost.and_then(|at| self.all.open(at).from.get());
        from.unwrap_or_else(|| self.domain_of(at))
    }

    /// The domain that a thread is in and those that it will come back to.
    pub(super) fn domains_of(
        &self,
        at: Ref<Thread<P>>,
    ) -> impl Iterator<Item = Ref<Domain<P>>> + '_ {
        let before = self.activations_of(at).filter_map(|at| self.all.open(at).from.get());
        core::iter::once(self.domain_of(at)).chain(before)
    }

    /// Whether a thread is on a visit, or will come back to it, and is not taken out of it.
    pub(in crate::manage) fn stays_on(
        &self,
        at: Ref<Thread<P>>,
        visit: Ref<Activation<P>>,
    ) -> bool {
        let mut found = false;
        for at in self.activations_of(at) {
            found |= at == visit;
            // With a domain it leaves all that it has entered from there.
            if found && self.all.open(at).over.get() {
                return false;
            }
        }
        found
    }

    /// Whether the train of an activation is ending.
    pub(super) fn is_ending(&self, visit: Ref<Activation<P>>) -> bool {
        let train = self.all.open(visit).train.get();
        train.is_some_and(|train| train.life() == Life::Dying)
    }

    /// Whether a thread is in the domain of a train by way of it.
    pub(super) fn has_entered(&self, at: Ref<Thread<P>>, train: Ref<Train<P>>) -> bool {
        self.activations_of(at).any(|at| self.all.open(at).train.get() == Some(train))
    }
}
