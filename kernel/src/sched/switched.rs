//! Schedulers made of two choices: a rule of switching, which decides who runs after a message, and
//! a way to keep the ready queue. Choices are types, so that branches not taken vanish (S0-21).

use super::scheduler::Scheduler;
use crate::access::Ref;
use crate::cpu::Cpu;
use crate::cpu::notes::Notes;
use crate::object::Thread;
use crate::object::thread::State;
use crate::port::Port;
use core::marker::PhantomData;
use policies::switching::{Decision, Switching};

/// A rule of switching `W` over a way to keep the ready queue `K`.
pub struct Switched<W, K>(PhantomData<(W, K)>);

/// How the ready queue is kept.
pub trait Keeping: 'static {
    /// Whether the queue holds exactly the runnable threads, the running one included.
    const EAGER: bool;
}

/// Lazy queueing (S0-10, S0-11): blocked threads stay queued until a decision meets them, and the
/// running thread need not be queued.
pub struct Lazy;

impl Keeping for Lazy {
    const EAGER: bool = false;
}

/// Eager queueing (S0-23): the queue holds exactly the runnable threads.
pub struct Eager;

impl Keeping for Eager {
    const EAGER: bool = true;
}

impl<W: Switching, K: Keeping> Switched<W, K> {
    /// What the rule decides about `ready`, with a bound that is not below its priority.
    #[inline(always)]
    fn decide<P: Port>(
        cpu: &Cpu<P>,
        ready: Ref<Thread<P>>,
        rule: impl FnOnce(i16, i16) -> Decision,
    ) -> Decision {
        let priority = ready.member().priority.get();
        if W::BOUNDED {
            cpu.raise(priority);
        }
        rule(priority, cpu.highest.get())
    }

    /// Does what was decided about `ready`, while the candidate stays ready.
    #[inline(always)]
    fn place<P: Port, N: Notes>(
        cpu: &Cpu<P>,
        ready: Ref<Thread<P>>,
        rule: impl FnOnce(i16, i16, i16) -> Decision,
    ) {
        let candidate = cpu.next.get();
        let rule = |priority, bound| rule(priority, candidate.member().priority.get(), bound);
        match Self::decide(cpu, ready, rule) {
            Decision::Queue => cpu.push::<N>(ready),
            Decision::Run => {
                cpu.push_first::<N>(if K::EAGER { ready } else { candidate });
                cpu.next.set(ready);
            }
            Decision::Search => {
                cpu.push_first::<N>(candidate);
                cpu.push::<N>(ready);
                cpu.reschedule();
            }
        }
    }

    /// Does what was decided about `ready` in place of `blocked`, the candidate.
    #[inline(always)]
    fn replace<P: Port, N: Notes>(cpu: &Cpu<P>, ready: Ref<Thread<P>>, blocked: Ref<Thread<P>>) {
        Self::leave_queue::<P, N>(cpu, blocked);
        match Self::decide(cpu, ready, W::replace) {
            Decision::Run => {
                if K::EAGER {
                    cpu.push_instead::<N>(ready);
                }
                cpu.next.set(ready);
            }
            Decision::Queue | Decision::Search => {
                cpu.push::<N>(ready);
                cpu.reschedule();
            }
        }
    }

    #[inline(always)]
    fn leave_queue<P: Port, N: Notes>(cpu: &Cpu<P>, blocked: Ref<Thread<P>>) {
        if K::EAGER {
            cpu.remove::<N>(blocked);
        }
    }
}

impl<W: Switching, K: Keeping> Scheduler for Switched<W, K> {
    const EAGER: bool = K::EAGER;

    #[inline(always)]
    fn wake<P: Port, N: Notes>(cpu: &Cpu<P>, thread: Ref<Thread<P>>) {
        Self::place::<P, N>(cpu, thread, W::wake);
    }

    #[inline(always)]
    fn hand_over<P: Port, N: Notes>(cpu: &Cpu<P>, to: Ref<Thread<P>>) {
        Self::place::<P, N>(cpu, to, W::hand_over);
    }

    #[inline(always)]
    fn call<P: Port, N: Notes>(cpu: &Cpu<P>, callee: Ref<Thread<P>>, caller: Ref<Thread<P>>) {
        Self::replace::<P, N>(cpu, callee, caller);
    }

    #[inline(always)]
    fn reply_wait<P: Port, N: Notes>(cpu: &Cpu<P>, to: Ref<Thread<P>>, server: Ref<Thread<P>>) {
        Self::replace::<P, N>(cpu, to, server);
    }

    #[inline(always)]
    fn block<P: Port, N: Notes>(cpu: &Cpu<P>, thread: Ref<Thread<P>>, _state: State) {
        Self::leave_queue::<P, N>(cpu, thread);
        cpu.reschedule();
    }
}
