//! The scheduling interface (S0-18): what the rest of the core tells the scheduler, with hints
//! that say what direct switching would pick. Choices are types and hints are constants, so that
//! untaken branches vanish (S0-21).
//!
//! While the kernel runs, `cpu.current` is the thread that entered and `cpu.next` the best
//! candidate so far; the switch happens on the way out.

use crate::access::Ref;
use crate::entry::Entry;
use crate::object::Thread;
use crate::system::System;

/// What direct switching would pick (S0-19).
pub mod hint {
    /// The highest ready thread: a full decision.
    pub const HIGHEST: u8 = 0;
    /// The most recently enqueued thread.
    pub const NEW: u8 = 1;
    /// The higher of the candidate and the most recently enqueued thread; the candidate on a tie.
    pub const CURRENT_OR_NEW: u8 = 2;
}

/// Who runs after a message.
pub trait Switching: 'static {
    /// `thread` became runnable; pick by the hint.
    fn enqueue_sched<S: System, const HINT: u8>(core: &Entry<S>, thread: Ref<Thread<S::Port>>);
    /// `new` became runnable and `old`, the candidate, ceased to be.
    fn swap_sched<S: System, const HINT: u8>(
        core: &Entry<S>,
        new: Ref<Thread<S::Port>>,
        old: Ref<Thread<S::Port>>,
    );
}

/// Direct process switch (S0-08): the hint decides, without a look at the ready queue.
pub struct Direct;

impl Switching for Direct {
    #[inline(always)]
    fn enqueue_sched<S: System, const HINT: u8>(core: &Entry<S>, thread: Ref<Thread<S::Port>>) {
        let next = core.cpu.next.get();
        match HINT {
            hint::HIGHEST => {
                core.enqueue(thread);
                core.sched();
            }
            hint::CURRENT_OR_NEW
                if thread.member().priority.get() <= next.member().priority.get() =>
            {
                core.enqueue(thread);
            }
            _ => {
                S::Queueing::loses(core, next);
                S::Queueing::wins(core, thread);
                core.cpu.next.set(thread);
            }
        }
    }

    #[inline(always)]
    fn swap_sched<S: System, const HINT: u8>(
        core: &Entry<S>,
        new: Ref<Thread<S::Port>>,
        old: Ref<Thread<S::Port>>,
    ) {
        S::Queueing::blocks(core, old);
        if HINT == hint::NEW {
            S::Queueing::replaces(core, new);
            core.cpu.next.set(new);
        } else {
            core.enqueue(new);
            core.sched();
        }
    }
}

/// Strict priorities (S0-24): nobody runs while a higher thread is ready; hints are ignored. An
/// upper bound on the highest ready priority, `cpu.highest`, saves most look-ups.
pub struct Strict;

impl Switching for Strict {
    #[inline(always)]
    fn enqueue_sched<S: System, const HINT: u8>(core: &Entry<S>, thread: Ref<Thread<S::Port>>) {
        let cpu = core.cpu;
        let (next, priority) = (cpu.next.get(), thread.member().priority.get());
        cpu.raise(priority);
        if next.member().priority.get() >= cpu.highest.get() {
            core.enqueue(thread);
        } else if priority >= cpu.highest.get() {
            S::Queueing::loses(core, next);
            S::Queueing::wins(core, thread);
            cpu.next.set(thread);
        } else {
            core.enqueue_first(next);
            core.enqueue(thread);
            core.sched();
        }
    }

    #[inline(always)]
    fn swap_sched<S: System, const HINT: u8>(
        core: &Entry<S>,
        new: Ref<Thread<S::Port>>,
        old: Ref<Thread<S::Port>>,
    ) {
        S::Queueing::blocks(core, old);
        let priority = new.member().priority.get();
        core.cpu.raise(priority);
        if priority >= core.cpu.highest.get() {
            S::Queueing::replaces(core, new);
            core.cpu.next.set(new);
        } else {
            core.enqueue(new);
            core.sched();
        }
    }
}

/// How the ready queue is kept.
pub trait Queueing: 'static {
    /// Whether the queue holds exactly the runnable threads, the running one included.
    const EAGER: bool;
    /// A thread stopped being runnable.
    fn blocks<S: System>(core: &Entry<S>, thread: Ref<Thread<S::Port>>);
    /// A thread that was not runnable is to run at once.
    fn wins<S: System>(core: &Entry<S>, thread: Ref<Thread<S::Port>>);
    /// A thread that was not runnable is to run at once, in the place of one that has blocked.
    fn replaces<S: System>(core: &Entry<S>, thread: Ref<Thread<S::Port>>);
    /// The candidate is not to run now but stays runnable.
    fn loses<S: System>(core: &Entry<S>, thread: Ref<Thread<S::Port>>);
}

/// Lazy queueing (S0-10, S0-11): blocked threads stay queued until a look-up meets them, and the
/// running thread need not be queued.
pub struct Lazy;

impl Queueing for Lazy {
    const EAGER: bool = false;

    #[inline(always)]
    fn blocks<S: System>(_core: &Entry<S>, _thread: Ref<Thread<S::Port>>) {}

    #[inline(always)]
    fn wins<S: System>(_core: &Entry<S>, _thread: Ref<Thread<S::Port>>) {}

    #[inline(always)]
    fn replaces<S: System>(_core: &Entry<S>, _thread: Ref<Thread<S::Port>>) {}

    #[inline(always)]
    fn loses<S: System>(core: &Entry<S>, thread: Ref<Thread<S::Port>>) {
        core.enqueue_first(thread);
    }
}

/// Eager queueing (S0-23): the queue holds exactly the runnable threads.
pub struct Eager;

impl Queueing for Eager {
    const EAGER: bool = true;

    #[inline(always)]
    fn blocks<S: System>(core: &Entry<S>, thread: Ref<Thread<S::Port>>) {
        core.dequeue(thread);
    }

    #[inline(always)]
    fn wins<S: System>(core: &Entry<S>, thread: Ref<Thread<S::Port>>) {
        core.enqueue_first(thread);
    }

    #[inline(always)]
    fn replaces<S: System>(core: &Entry<S>, thread: Ref<Thread<S::Port>>) {
        core.enqueue_instead(thread);
    }

    #[inline(always)]
    fn loses<S: System>(_core: &Entry<S>, _thread: Ref<Thread<S::Port>>) {}
}

/// What the message path reports, event by event, for a decision on who runs next.
pub trait Scheduling: 'static {
    /// Whether a thread that is stopped stays in the ready queue until a look-up meets it.
    const LAZY_HALT: bool;
    /// `to` became runnable; the candidate goes on if it is not lower.
    fn wakes<S: System>(core: &Entry<S>, to: Ref<Thread<S::Port>>);
    /// `to` became runnable and takes precedence over the candidate, which stays runnable.
    fn gives<S: System>(core: &Entry<S>, to: Ref<Thread<S::Port>>);
    /// `me`, the candidate, waits for the reply of `callee`, which became runnable.
    fn calls<S: System>(core: &Entry<S>, callee: Ref<Thread<S::Port>>, me: Ref<Thread<S::Port>>);
    /// `me`, the candidate, has sent to `to`, which became runnable, and waits to receive.
    fn answers<S: System>(core: &Entry<S>, to: Ref<Thread<S::Port>>, me: Ref<Thread<S::Port>>);
    /// `me`, the candidate, waits to receive, and nobody became runnable.
    fn waits<S: System>(core: &Entry<S>, me: Ref<Thread<S::Port>>);
    /// `me`, the candidate, waits to send, or for an answer with nobody to take over.
    fn queues<S: System>(core: &Entry<S>, me: Ref<Thread<S::Port>>);
}

/// Decisions through the scheduling interface.
pub struct Interface;

impl Scheduling for Interface {
    const LAZY_HALT: bool = false;

    #[inline(always)]
    fn wakes<S: System>(core: &Entry<S>, to: Ref<Thread<S::Port>>) {
        S::Switching::enqueue_sched::<S, { hint::CURRENT_OR_NEW }>(core, to);
    }

    #[inline(always)]
    fn gives<S: System>(core: &Entry<S>, to: Ref<Thread<S::Port>>) {
        S::Switching::enqueue_sched::<S, { hint::NEW }>(core, to);
    }

    #[inline(always)]
    fn calls<S: System>(core: &Entry<S>, callee: Ref<Thread<S::Port>>, me: Ref<Thread<S::Port>>) {
        S::Switching::swap_sched::<S, { hint::NEW }>(core, callee, me);
    }

    #[inline(always)]
    fn answers<S: System>(core: &Entry<S>, to: Ref<Thread<S::Port>>, me: Ref<Thread<S::Port>>) {
        S::Switching::swap_sched::<S, { hint::NEW }>(core, to, me);
    }

    #[inline(always)]
    fn waits<S: System>(core: &Entry<S>, me: Ref<Thread<S::Port>>) {
        S::Queueing::blocks(core, me);
        core.sched();
    }

    #[inline(always)]
    fn queues<S: System>(core: &Entry<S>, me: Ref<Thread<S::Port>>) {
        S::Queueing::blocks(core, me);
        core.sched();
    }
}
