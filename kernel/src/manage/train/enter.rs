//! Entering a domain by a train, and returning.

use crate::access::Ref;
use crate::manage::Manager;
use crate::manage::futex::until;
use crate::object::capability::Cap;
use crate::object::thread::{Continuation, Outgoing, State, Wait, flag};
use crate::object::{Activation, Domain, Pooled, Thread, Train};
use crate::port::{Context, Port};
use abi::call::{Call, RESTARTED};
use abi::train::DEPTH;
use abi::{Error, Info, Rights, Status};

impl<P: Port> Manager<'_, P> {
    /// The train in a slot, if the current thread may enter by it.
    #[inline(always)]
    pub(super) fn enterable(&self, me: Ref<Thread<P>>, slot: u32) -> Result<Cap<Train<P>>, Error> {
        let thread = self.all.open(me);
        let cap = thread.domain.get().named::<Train<P>>(slot, Rights::SEND)?;
        // The code that it enters could answer.
        if thread.caller.get().is_some() {
            return Err(Error::WrongState);
        }
        let depth = thread.inside.get().map_or(0, |at| self.all.open(at).depth.get());
        if depth >= DEPTH {
            return Err(Error::TooDeep);
        }
        Ok(cap)
    }

    /// The current thread enters the domain of a train, or waits for one of its stacks.
    #[inline(always)]
    pub(super) fn enter_train(&self, me: Ref<Thread<P>>, args: &[u64; 6]) -> Result<(), Error> {
        let cap = self.enterable(me, args[0] as u32)?;
        let train = self.all.open(cap.at);
        match train.free.get() {
            Some(stack) => {
                train.free.set(self.all.open(stack).next.get());
                self.put_inside(me, train, stack);
                self.greet(me, train, cap.badge);
                Ok(())
            }
            None => self.wait_for_stack(me, cap),
        }
    }

    /// What a thread that has entered a domain is given there.
    #[inline(always)]
    fn greet(&self, at: Ref<Thread<P>>, train: &Train<P>, badge: u64) {
        self.all.open(at).context.set_results(Status::OK, train.word.get(), Info(badge));
    }

    /// A thread that has made the call is in the train's domain, on this stack of it.
    #[inline(always)]
    pub(super) fn put_inside(
        &self,
        at: Ref<Thread<P>>,
        train: &Train<P>,
        stack: Ref<Activation<P>>,
    ) {
        let (thread, activation) = (self.all.open(at), self.all.open(stack));
        let (entry, top) = (train.entry.get(), activation.stack.get());
        self.kernel.port.enter(&self.cpu.local, &thread.context, &activation.kept, entry, top);
        let outer = thread.inside.replace(Some(stack));
        let mut depth = 0;
        if let Some(outer) = outer {
            let outer = self.all.open(outer);
            outer.inner.set(Some(stack));
            depth = outer.depth.get();
        }
        activation.outer.set(outer);
        activation.depth.set(depth + 1);
        activation.thread.set(Some(at));
        activation.over.set(false);
        if P::FUTEXES {
            // Another visit, by another id.
            stack.renew(&self.all);
            thread.futex.reset();
        }
        activation.from.set(Some(thread.domain.get()));
        // The buffer is not mapped there, and what lies in it is not for the code there.
        activation.buffer_at.set(thread.buffer_at.replace(0));
        thread.domain.set(&self.all, owner_of(train));
    }

    /// No stack is free: the current thread waits for one as a sender does.
    #[inline(never)]
    fn wait_for_stack(&self, me: Ref<Thread<P>>, cap: Cap<Train<P>>) -> Result<(), Error> {
        let (number, args) = self.all.open(me).context.call();
        let until = until(number, args[2])?;
        if until.is_some_and(|until| until <= self.kernel.port.now()) {
            return Err(Error::Timeout);
        }
        let (thread, queue) = (self.all.open(me), &self.all.open(cap.at).queue);
        if until.is_some() && self.makes_room() {
            thread.issue_again(number | RESTARTED, args);
            return Ok(());
        }
        let then = Continuation::Nothing;
        thread.outgoing.set(Outgoing { info: Info(0), badge: cap.badge, then });
        thread.wait.set(Wait::Train(cap.at));
        thread.wait_in(State::Sending);
        (self.kernel.variant.senders.insert)(queue, me);
        if P::LENGTHS {
            queue.queued.set(queue.queued.get() + 1);
        }
        if let Some(until) = until {
            thread.set(flag::DEADLINE);
            self.sleep(until, me);
        }
        self.block(me);
        Ok(())
    }

    /// The current thread returns from the domain that it has entered last.
    #[inline(always)]
    pub(super) fn return_from_train(&self, me: Ref<Thread<P>>, result: u64) -> Result<(), Error> {
        let thread = self.all.open(me);
        let stack = thread.inside.get().ok_or(Error::WrongState)?;
        // A caller that it has received there would wait for an answer from elsewhere.
        if thread.caller.get().is_some() {
            return Err(Error::WrongState);
        }
        if !self.leaves_nothing(me, stack) {
            // What else the context holds may be of another domain: the call has not saved it.
            let number = Call::TrainReturn as u64 | RESTARTED;
            thread.issue_again(number, [result, 0, 0, 0, 0, 0]);
            return Ok(());
        }
        self.put_back(me, stack);
        thread.context.set_results(Status::OK, result, Info(0));
        self.give_stack(stack);
        Ok(())
    }

    /// A thread is back where it was before this activation, which is its last.
    #[inline(always)]
    pub(super) fn put_back(&self, at: Ref<Thread<P>>, stack: Ref<Activation<P>>) {
        let (thread, activation) = (self.all.open(at), self.all.open(stack));
        self.kernel.port.come_back(&self.cpu.local, &thread.context, &activation.kept);
        let outer = activation.outer.get();
        thread.inside.set(outer);
        if let Some(outer) = outer {
            self.all.open(outer).inner.set(None);
        }
        activation.thread.set(None);
        thread.buffer_at.set(activation.buffer_at.get());
        if let Some(from) = activation.from.get() {
            thread.domain.set(&self.all, from);
        }
    }

    /// A stack that no thread is on any more goes to the first one that waits, or is free.
    #[inline(always)]
    pub(super) fn give_stack(&self, stack: Ref<Activation<P>>) {
        let activation = self.all.open(stack);
        let Some(at) = activation.train.get() else { return };
        let train = self.all.open(at);
        if train.queue.root.get().is_none() && train.queue.senders.is_empty() {
            activation.next.set(train.free.replace(Some(stack)));
        } else {
            self.hand_on(at, stack);
        }
    }

    #[inline(never)]
    fn hand_on(&self, at: Ref<Train<P>>, stack: Ref<Activation<P>>) {
        let train = self.all.open(at);
        let Some(first) = (self.kernel.variant.senders.first)(&train.queue) else { return };
        self.leave_train(at, first);
        let thread = self.all.open(first);
        if thread.has(flag::DEADLINE) {
            self.end_timeout(first);
        }
        self.put_inside(first, train, stack);
        self.greet(first, train, thread.outgoing.get().badge);
        thread.become_ready();
        self.make_ready(first);
    }

    /// A thread no longer waits for a stack.
    pub(crate) fn leave_train(&self, train: Ref<Train<P>>, at: Ref<Thread<P>>) {
        let queue = &self.all.open(train).queue;
        (self.kernel.variant.senders.remove)(queue, at);
        queue.sender_left();
    }
}

/// The domain that a train leads to, which lives as long as the train.
#[inline(always)]
fn owner_of<P: Port>(train: &Train<P>) -> Ref<Domain<P>> {
    match train.owner().get() {
        Some(owner) => owner,
        None => panic!("a train that leads nowhere"),
    }
}
