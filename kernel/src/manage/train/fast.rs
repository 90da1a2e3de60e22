//! The fast path of trains: a thread enters where a stack is free, or returns where no thread waits
//! for one, and has nothing but general registers. It does exactly what the general path would do,
//! or nothing; with several CPUs nothing, since the general path begins with the whole kernel. What
//! a way out behind it puts into the result registers is not saved.

use crate::access::Ref;
use crate::entry::Entry;
use crate::manage::Manager;
use crate::object::Thread;
use crate::port::Port;
use crate::system::System;
use abi::call::Call;

/// A thread that has entered a domain, and what the code there is given: the train's word and the
/// badge.
type Entered<P> = (Ref<Thread<P>>, u64, u64);

impl<S: System> Entry<S> {
    /// The current thread enters by the train in a slot. `None`: the call is left to the general
    /// path.
    #[inline(always)]
    pub fn fast_train_call(&self, slot: u32) -> Option<Entered<S::Port>> {
        if !S::Port::TRAINS || S::Port::SMP {
            return None;
        }
        let (began, me) = (self.attempt(), self.cpu.current.get());
        let (word, badge) = self.manage().enters_at_once(me, slot)?;
        self.entered_at(began, me, Call::TrainCall as u8);
        Some((me, word, badge))
    }

    /// The current thread returns from the domain that it has entered last. `None`: the call is
    /// left to the general path.
    #[inline(always)]
    pub fn fast_train_return(&self) -> Option<Ref<Thread<S::Port>>> {
        if !S::Port::TRAINS || S::Port::SMP {
            return None;
        }
        let (began, me) = (self.attempt(), self.cpu.current.get());
        self.manage().returns_at_once(me)?;
        self.entered_at(began, me, Call::TrainReturn as u8);
        Some(me)
    }
}

impl<P: Port> Manager<'_, P> {
    #[inline(always)]
    fn enters_at_once(&self, me: Ref<Thread<P>>, slot: u32) -> Option<(u64, u64)> {
        let cap = self.enterable(me, slot).ok()?;
        let train = self.all.open(cap.at);
        let stack = train.free.get()?;
        let (thread, activation) = (self.all.open(me), self.all.open(stack));
        if !self.kernel.port.is_plain(&self.cpu.local, &thread.context, &activation.kept) {
            return None;
        }
        self.put_inside(me, train, stack);
        train.free.set(activation.next.get());
        Some((train.word.get(), cap.badge))
    }

    #[inline(always)]
    fn returns_at_once(&self, me: Ref<Thread<P>>) -> Option<()> {
        let thread = self.all.open(me);
        let stack = thread.inside.get()?;
        let activation = self.all.open(stack);
        let train = self.all.open(activation.train.get()?);
        let leaves_nothing = thread.caller.get().is_none()
            && !(P::FUTEXES && thread.inherit.is_awaited())
            && train.queue.root.get().is_none()
            && train.queue.senders.is_empty();
        let port = self.kernel.port;
        if !leaves_nothing || !port.is_plain(&self.cpu.local, &thread.context, &activation.kept) {
            return None;
        }
        self.put_back(me, stack);
        activation.next.set(train.free.replace(Some(stack)));
        Some(())
    }
}
