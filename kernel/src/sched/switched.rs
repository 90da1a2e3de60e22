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
use policies::switching::Switching;

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
    /// The priority of a thread that is ready, and the bound for a decision about it.
    #[inline(always)]
    fn ready<P: Port>(cpu: &Cpu<P>, thread: Ref<Thread<P>>) -> (i16, i16) {
        let priority = thread.priority.get();
        if W::BOUNDED {
            cpu.raise(priority);
        }
        (priority, cpu.highest.get())
    }

    /// `ready` runs, or is queued, beside the candidate: that goes on, as the rule says.
    #[inline(always)]
    fn place<P: Port, N: Notes>(
        cpu: &Cpu<P>,
        ready: Ref<Thread<P>>,
        goes_on: impl FnOnce(i16, i16, i16) -> bool,
    ) {
        let candidate = cpu.next.get();
        let (priority, bound) = Self::ready(cpu, ready);
        if goes_on(candidate.priority.get(), priority, bound) {
            cpu.push::<N>(ready);
        } else if W::runs_at_once(priority, bound) {
            cpu.push_first::<N>(if K::EAGER { ready } else { candidate });
            cpu.next.set(ready);
        } else {
            cpu.push_first::<N>(candidate);
            cpu.push::<N>(ready);
            cpu.reschedule();
        }
    }

    /// `ready` runs, or is queued, in the place of `blocked`, the candidate.
    #[inline(always)]
    fn replace<P: Port, N: Notes>(cpu: &Cpu<P>, ready: Ref<Thread<P>>, blocked: Ref<Thread<P>>) {
        Self::leave_queue::<P, N>(cpu, blocked);
        let (priority, bound) = Self::ready(cpu, ready);
        if W::runs_at_once(priority, bound) {
            if K::EAGER {
                cpu.push_instead::<N>(ready);
            }
            cpu.next.set(ready);
        } else {
            cpu.push::<N>(ready);
            cpu.reschedule();
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
        Self::place::<P, N>(cpu, thread, W::goes_on);
    }

    #[inline(always)]
    fn hand_over<P: Port, N: Notes>(cpu: &Cpu<P>, to: Ref<Thread<P>>) {
        let goes_on = |candidate, _, bound| W::goes_on_at_hand_over(candidate, bound);
        Self::place::<P, N>(cpu, to, goes_on);
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
