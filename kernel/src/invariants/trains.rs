//! What holds of trains, their stacks, and the threads on them.

use super::{Checker, live, tally};
use crate::access::{Exclusive, Life, Ref};
use crate::object::thread::Wait;
use crate::object::{Activation, Domain, Pooled, Thread, Train};
use crate::port::Port;
use abi::train::DEPTH;

/// The domain that a thread belongs to.
pub(super) fn home<P: Port>(all: &Exclusive<'_>, at: Ref<Thread<P>>) -> Ref<Domain<P>> {
    let thread = all.open(at);
    let mut home = thread.domain.get();
    let mut next = thread.inside.get();
    let mut entered = 0;
    while let Some(stack) = next {
        entered += 1;
        assert!(entered <= DEPTH, "a thread has entered too many domains, or goes round");
        let activation = all.open(stack);
        home = activation.from.get().expect("an activation that a thread has come to from nowhere");
        next = activation.outer.get();
    }
    home
}

/// Each stack of a train is free or has a thread on it, and each thread leads back through the
/// domains that it has entered.
pub(super) fn check<P: Port>(checker: &Checker<'_, '_, P>) {
    let (kernel, all) = (checker.machine.kernel, checker.all);
    let sending = |found: &mut dyn FnMut(Ref<Train<P>>, u64)| {
        checker.sending(|wait| {
            if let Wait::Train(at) = wait {
                found(at, 1);
            }
        });
    };
    tally(&kernel.trains, sending, |at, sending| {
        let train = all.open(at);
        let owner = train.owner().get();
        let waits = |wait| matches!(wait, Wait::Train(other) if other == at);
        checker.senders(&train.queue, sending, waits);
        let idle = train.queue.root.get().is_none() && train.queue.senders.is_empty();
        let ends = at.life() == Life::Dying;
        assert!(
            idle || ends || train.free.get().is_none(),
            "a thread waits for a stack that is free"
        );
        let (mut free, mut next) = (0, train.free.get());
        while let Some(stack) = next {
            free += 1;
            let activation = all.open(stack);
            assert!(free <= kernel.activations.size(), "the free stacks of a train go round");
            assert!(ends || activation.train.get() == Some(at), "a free stack of another train");
            assert!(ends || activation.thread.get().is_none(), "a thread is on a free stack");
            next = activation.next.get();
        }
        let mut used = 0;
        train.stacks.each(|stack| {
            let activation = all.open(stack);
            assert!(activation.train.get() == Some(at), "a stack in another train's list");
            assert!(activation.owner().get() == owner, "a stack is not its train's owner's");
            used += u32::from(activation.thread.get().is_none());
            let owns = activation.owned.head().is_some();
            assert!(!owns || activation.thread.get().is_some(), "a free stack owns mutexes");
        });
        // Those of threads that were taken out further out are given up in steps.
        assert!(ends || used >= free, "a stack is free twice");
    });
    for at in live(&kernel.threads) {
        led_back(all, at);
    }
    let vacant = (0..kernel.threads.size()).filter_map(|index| kernel.threads.get(index));
    for at in vacant.filter(|at| at.life() == Life::Vacant) {
        assert!(all.open(at).inside.get().is_none(), "a destroyed thread is in another domain");
    }
}

fn led_back<P: Port>(all: &Exclusive<'_>, at: Ref<Thread<P>>) {
    let thread = all.open(at);
    let (mut domain, mut next) = (thread.domain.get(), thread.inside.get());
    let mut inner: Option<Ref<Activation<P>>> = None;
    let mut depth = next.map_or(0, |stack| all.open(stack).depth.get());
    assert!(next.is_none() || thread.buffer_at.get() == 0, "a message buffer in another domain");
    while let Some(stack) = next {
        let activation = all.open(stack);
        let train = activation.train.get().expect("a thread on a stack of no train");
        assert!(all.open(train).owner().get() == Some(domain), "a thread is not where it entered");
        assert!(activation.thread.get() == Some(at), "another thread's stack");
        assert!(activation.depth.get() == depth, "a thread that is not as deep as it has entered");
        assert!(inner.is_none() || activation.inner.get() == inner, "activations do not lead back");
        domain = activation.from.get().expect("an activation from nowhere");
        (depth, inner, next) = (depth - 1, Some(stack), activation.outer.get());
    }
    assert!(depth == 0, "a thread has entered more domains than it leads back through");
}
