//! The slow path of the thesis: direct switching over lazy queueing, written by hand against the
//! ready queue, without the scheduling interface. It is what the interface is measured against
//! (S0-C01), and it has two peculiarities: a thread that blocks in a receive which is not the
//! second half of a call leaves the queue at once (S0-17), and a stopped one does not (S0-C10).

use crate::access::Ref;
use crate::entry::Entry;
use crate::object::Thread;
use crate::sched::Scheduling;
use crate::system::System;

/// Decisions made directly on the ready queue.
pub struct ByHand;

impl Scheduling for ByHand {
    const LAZY_HALT: bool = true;

    #[inline(always)]
    fn wakes<S: System>(core: &Entry<S>, to: Ref<Thread<S::Port>>) {
        let running = core.cpu.next.get();
        if to.member().priority.get() > running.member().priority.get() {
            core.enqueue_first(running);
            core.cpu.next.set(to);
        } else {
            core.enqueue(to);
        }
    }

    #[inline(always)]
    fn gives<S: System>(core: &Entry<S>, to: Ref<Thread<S::Port>>) {
        core.cpu.enqueue_at(core.cpu.next.get(), true);
        core.cpu.next.set(to);
    }

    #[inline(always)]
    fn calls<S: System>(core: &Entry<S>, callee: Ref<Thread<S::Port>>, _me: Ref<Thread<S::Port>>) {
        core.cpu.next.set(callee);
    }

    #[inline(always)]
    fn answers<S: System>(core: &Entry<S>, to: Ref<Thread<S::Port>>, me: Ref<Thread<S::Port>>) {
        core.dequeue(me);
        core.cpu.next.set(to);
    }

    #[inline(always)]
    fn waits<S: System>(core: &Entry<S>, me: Ref<Thread<S::Port>>) {
        core.dequeue(me);
        core.cpu.next.set(core.cpu.look_up());
    }

    #[inline(always)]
    fn queues<S: System>(core: &Entry<S>, _me: Ref<Thread<S::Port>>) {
        core.cpu.next.set(core.cpu.look_up());
    }
}
