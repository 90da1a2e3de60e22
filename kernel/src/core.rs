//! One entry into the kernel, for one kernel: the state, the CPU and the section.

use crate::access::{Held, Ref, Section};
use crate::cpu::Cpu;
use crate::kernel::Kernel;
use crate::manage::Manager;
use crate::object::Thread;
use crate::object::thread::attention;
use crate::port::Port;
use crate::sched::Scheduling;
use crate::step::Step;
use crate::system::System;

/// A kernel entry.
pub struct Core<S: System> {
    /// Everything that is not per CPU.
    pub kernel: &'static Kernel<S::Port>,
    /// This CPU.
    pub cpu: &'static Cpu<S::Port>,
    /// Proof of being inside.
    pub section: Section<S::Locking>,
}

impl<S: System> Core<S> {
    /// Enters the kernel.
    ///
    /// # Safety
    /// Interrupts are off, this is the CPU of `cpu`, and it has no other entry.
    #[inline(always)]
    pub unsafe fn enter(kernel: &'static Kernel<S::Port>, cpu: &'static Cpu<S::Port>) -> Core<S> {
        // SAFETY: passed on to the caller.
        let section = unsafe { Section::begin() };
        cpu.next.set(cpu.current.get());
        Core { kernel, cpu, section }
    }

    /// Opens a thread.
    #[inline(always)]
    pub fn hold<T>(&self, at: Ref<T>) -> Held<'_, T, S::Locking> {
        self.section.hold(at)
    }

    /// A full scheduling decision.
    pub fn sched(&self) {
        self.cpu.next.set(self.cpu.look_up());
    }

    fn is_stopped(thread: Ref<Thread<S::Port>>) -> bool {
        thread.member().has(attention::SUSPENDED)
    }

    /// `thread` became ready; the candidate goes on if it is not lower.
    #[inline(always)]
    pub fn wake(&self, thread: Ref<Thread<S::Port>>) {
        if !Self::is_stopped(thread) {
            S::Scheduling::wakes(self, thread);
        }
    }

    /// [`Core::wake`], out of line.
    #[inline(never)]
    pub fn wake_slowly(&self, thread: Ref<Thread<S::Port>>) {
        self.wake(thread);
    }

    /// `thread` became ready, or is, and the candidate makes room for it.
    #[inline(always)]
    pub fn give(&self, thread: Ref<Thread<S::Port>>) {
        if !Self::is_stopped(thread) {
            S::Scheduling::gives(self, thread);
        }
    }

    /// The candidate `me` waits for the reply of `callee`, which became ready.
    #[inline(always)]
    pub fn call_over(&self, callee: Ref<Thread<S::Port>>, me: Ref<Thread<S::Port>>) {
        if Self::is_stopped(callee) {
            self.queue(me);
        } else {
            S::Scheduling::calls(self, callee, me);
        }
    }

    /// The candidate `me` waits to receive; `to`, to which it has sent, became ready.
    #[inline(always)]
    pub fn answer_over(&self, to: Ref<Thread<S::Port>>, me: Ref<Thread<S::Port>>) {
        if Self::is_stopped(to) {
            self.wait(me);
        } else {
            S::Scheduling::answers(self, to, me);
        }
    }

    /// The candidate waits to receive and nobody takes over from it.
    #[inline(always)]
    pub fn wait(&self, me: Ref<Thread<S::Port>>) {
        S::Scheduling::waits(self, me);
    }

    /// The candidate waits to send, or for an answer, and nobody takes over from it.
    #[inline(always)]
    pub fn queue(&self, me: Ref<Thread<S::Port>>) {
        S::Scheduling::queues(self, me);
    }

    /// Opens everything, for work outside the message path.
    pub fn manage(&self) -> Manager<'_, S::Port> {
        Manager { kernel: self.kernel, cpu: self.cpu, whole: self.section.whole() }
    }

    /// Settles who runs and returns it, on the way out.
    #[inline(always)]
    pub fn leave(self) -> Ref<Thread<S::Port>> {
        if self.cpu.resched.replace(false) {
            self.settle();
        }
        let next = self.cpu.next.get();
        if self.cpu.current.replace(next) != next {
            S::Port::step(Step::Switch(next.index()));
        }
        next
    }

    #[cold]
    fn settle(&self) {
        let next = self.cpu.next.get();
        if next != self.cpu.idle && next.member().runnable() {
            self.cpu.yield_cpu(next, false);
        } else if self.kernel.port.pending() {
            // The decision is made on the way out of that interrupt.
            self.cpu.resched.set(true);
            self.cpu.next.set(self.cpu.idle);
        } else {
            self.sched();
        }
    }
}
