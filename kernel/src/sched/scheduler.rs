//! The interface of schedulers.

use crate::access::{Exclusive, Ref};
use crate::cpu::Cpu;
use crate::cpu::notes::Notes;
use crate::object::Thread;
use crate::object::thread::State;
use crate::port::Port;

/// A kernel's scheduler, by the events that it is told.
///
/// Messages and interrupts raise events about threads that this CPU runs or is going to run, and
/// have an instance of each path with and without trace points `N`. Management raises events about
/// threads of any CPU: `here` is this one and `cpu` the one that the thread belongs to.
pub trait Scheduler: 'static {
    /// Whether the ready queue holds exactly the runnable threads, the running one included.
    const EAGER: bool;
    /// Whether a thread that is stopped stays in the ready queue until a decision meets it.
    const LAZY_HALT: bool = false;
    /// Whether a scheduling tree orders threads. All CPUs share it: each entry holds everything.
    const TREE: bool = false;

    /// `thread` became ready; the candidate goes on if it is not lower.
    fn wake<P: Port, N: Notes>(cpu: &Cpu<P>, thread: Ref<Thread<P>>);
    /// `to` became ready and takes precedence over the candidate, which stays ready.
    fn hand_over<P: Port, N: Notes>(cpu: &Cpu<P>, to: Ref<Thread<P>>);
    /// `caller`, the candidate, waits for the reply of `callee`, which became ready.
    fn call<P: Port, N: Notes>(cpu: &Cpu<P>, callee: Ref<Thread<P>>, caller: Ref<Thread<P>>);
    /// `server`, the candidate, has sent to `to`, which became ready, and waits to receive.
    fn reply_wait<P: Port, N: Notes>(cpu: &Cpu<P>, to: Ref<Thread<P>>, server: Ref<Thread<P>>);
    /// `thread`, the candidate, blocks in this state, and no other thread became ready.
    fn block<P: Port, N: Notes>(cpu: &Cpu<P>, thread: Ref<Thread<P>>, state: State);

    /// The caller that a thread owes an answer, or one above it, is another one now, or gone, or
    /// runs on other time. Raised only if [`Scheduler::TREE`].
    #[inline(always)]
    fn caller_changed<P: Port>(_here: &Cpu<P>, _cpu: &Cpu<P>, _thread: Ref<Thread<P>>) {}

    /// A thread that runs has waited for its next request or release, and has it at once: this was
    /// released at an instant, if that is known.
    #[inline(always)]
    fn released<P: Port>(_cpu: &Cpu<P>, _thread: Ref<Thread<P>>, _at: Option<u64>) {}

    /// The CPU switches from one thread to another. `now` reads the clock: a scheduler that charges
    /// by the tick leaves it alone.
    #[inline(always)]
    fn switched<P: Port>(_from: Ref<Thread<P>>, _to: Ref<Thread<P>>, _now: impl FnOnce() -> u64) {}

    /// The candidate gives the CPU to its equals.
    #[inline(always)]
    fn yield_now<P: Port>(cpu: &Cpu<P>, candidate: Ref<Thread<P>>) {
        cpu.give_way(candidate, true);
    }

    /// The candidate gives the CPU to `to`, which is ready, for the rest of its time slice.
    #[inline(always)]
    fn yield_to<P: Port>(cpu: &Cpu<P>, candidate: Ref<Thread<P>>, to: Ref<Thread<P>>) {
        cpu.yield_to(candidate, to);
    }

    /// Makes a full decision, whatever the candidate is. False: `leaves`, which is asked between
    /// its steps, has said that it is left to an interrupt.
    #[inline(always)]
    fn decide<P: Port>(cpu: &Cpu<P>, _leaves: impl Fn() -> bool) -> bool {
        cpu.reschedule();
        true
    }

    /// The timer has interrupted at this instant: the scheduler's own instants are served.
    #[inline(always)]
    fn expire<P: Port>(cpu: &Cpu<P>, now: u64) {
        cpu.tick(now);
    }

    /// A thread of this CPU became ready outside of messages here: another CPU has woken it, or it
    /// issues its receive half again. A full decision follows.
    #[inline(always)]
    fn arrive<P: Port>(cpu: &Cpu<P>, thread: Ref<Thread<P>>) {
        cpu.enqueue(thread);
        cpu.resched.set(true);
    }

    /// Management has made a thread ready, or moved one that is.
    fn make_ready<P: Port>(here: &Cpu<P>, cpu: &Cpu<P>, thread: Ref<Thread<P>>) {
        here.enqueue_on(cpu, thread, false);
    }

    /// Management has stopped a thread (S0-22).
    fn halt<P: Port>(here: &Cpu<P>, cpu: &Cpu<P>, thread: Ref<Thread<P>>) {
        if !Self::LAZY_HALT {
            here.dequeue_from(cpu, thread);
        }
    }

    /// A thread that is queued leaves its CPU: it is moved to another one, or destroyed.
    fn remove<P: Port>(here: &Cpu<P>, cpu: &Cpu<P>, thread: Ref<Thread<P>>) {
        here.dequeue_from(cpu, thread);
    }

    /// Management gives a thread another effective priority.
    fn change_priority<P: Port>(
        here: &Cpu<P>,
        cpu: &Cpu<P>,
        (all, thread): (&Exclusive<'_>, Ref<Thread<P>>),
        priority: i16,
    ) {
        here.requeue_on(cpu, all, thread, priority);
    }
}

/// An event that management raises: here, on the CPU that the thread belongs to.
type Raise<P> = fn(&Cpu<P>, &Cpu<P>, Ref<Thread<P>>);
/// The same, with a new priority.
type Change<P> = fn(&Cpu<P>, &Cpu<P>, (&Exclusive<'_>, Ref<Thread<P>>), i16);

/// The events that management raises, as values: its code is shared by all kernels in an image.
pub struct Events<P: Port> {
    /// See [`Scheduler::make_ready`].
    pub make_ready: Raise<P>,
    /// See [`Scheduler::halt`].
    pub halt: Raise<P>,
    /// See [`Scheduler::remove`].
    pub remove: Raise<P>,
    /// See [`Scheduler::change_priority`].
    pub change_priority: Change<P>,
    /// See [`Scheduler::caller_changed`].
    pub caller_changed: Raise<P>,
}

impl<P: Port> Events<P> {
    /// Those of a scheduler.
    pub fn of<S: Scheduler>() -> Events<P> {
        Events {
            make_ready: S::make_ready,
            halt: S::halt,
            remove: S::remove,
            change_priority: S::change_priority,
            caller_changed: S::caller_changed,
        }
    }
}
