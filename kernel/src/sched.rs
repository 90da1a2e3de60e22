//! The scheduling interface (S0-18): what the rest of the core tells the scheduler, with hints
//! that say what direct switching would pick. Choices are types and hints are constants, so that
//! untaken branches vanish (S0-21).
//!
//! While the kernel runs, `cpu.current` is the thread that entered and `cpu.next` the best
//! candidate so far; the switch happens on the way out.

use crate::access::Ref;
use crate::core::Core;
use crate::cpu::Cpu;
use crate::object::Thread;
use crate::port::Port;
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
    fn enqueue_sched<S: System, const HINT: u8>(core: &Core<S>, thread: Ref<Thread<S::Port>>);
    /// `new` became runnable and `old`, the candidate, ceased to be.
    fn swap_sched<S: System, const HINT: u8>(
        core: &Core<S>,
        new: Ref<Thread<S::Port>>,
        old: Ref<Thread<S::Port>>,
    );
}

/// Direct process switch (S0-08): the hint decides, without a look at the ready queue.
pub struct Direct;

impl Switching for Direct {
    #[inline(always)]
    fn enqueue_sched<S: System, const HINT: u8>(core: &Core<S>, thread: Ref<Thread<S::Port>>) {
        let cpu = core.cpu;
        let next = cpu.next.get();
        match HINT {
            hint::HIGHEST => {
                cpu.enqueue(thread);
                core.sched();
            }
            hint::CURRENT_OR_NEW
                if thread.member().priority.get() <= next.member().priority.get() =>
            {
                cpu.enqueue(thread);
            }
            _ => {
                S::Queueing::loses(cpu, next);
                S::Queueing::wins(cpu, thread);
                cpu.next.set(thread);
            }
        }
    }

    #[inline(always)]
    fn swap_sched<S: System, const HINT: u8>(
        core: &Core<S>,
        new: Ref<Thread<S::Port>>,
        old: Ref<Thread<S::Port>>,
    ) {
        S::Queueing::blocks(core.cpu, old);
        if HINT == hint::NEW {
            S::Queueing::wins(core.cpu, new);
            core.cpu.next.set(new);
        } else {
            core.cpu.enqueue(new);
            core.sched();
        }
    }
}

/// How the ready queue is kept.
pub trait Queueing: 'static {
    /// A thread stopped being runnable.
    fn blocks<P: Port>(cpu: &Cpu<P>, thread: Ref<Thread<P>>);
    /// A thread that was not runnable is to run at once.
    fn wins<P: Port>(cpu: &Cpu<P>, thread: Ref<Thread<P>>);
    /// The candidate is not to run now but stays runnable.
    fn loses<P: Port>(cpu: &Cpu<P>, thread: Ref<Thread<P>>);
}

/// Lazy queueing (S0-10, S0-11): blocked threads stay queued until a look-up meets them, and the
/// running thread need not be queued.
pub struct Lazy;

impl Queueing for Lazy {
    #[inline(always)]
    fn blocks<P: Port>(_cpu: &Cpu<P>, _thread: Ref<Thread<P>>) {}

    #[inline(always)]
    fn wins<P: Port>(_cpu: &Cpu<P>, _thread: Ref<Thread<P>>) {}

    #[inline(always)]
    fn loses<P: Port>(cpu: &Cpu<P>, thread: Ref<Thread<P>>) {
        cpu.enqueue(thread);
    }
}
