//! One entry into the kernel, for one kernel: the state, the CPU and the section.

use crate::access::{Held, Ref, Section};
use crate::cpu::Cpu;
use crate::kernel::Kernel;
use crate::manage::Manager;
use crate::object::Thread;
use crate::object::thread::attention;
use crate::sched::{Queueing, Switching, hint};
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

    /// `thread` became ready by what the current thread did: queues it or makes it the candidate.
    #[inline(always)]
    pub fn wake<const HINT: u8>(&self, thread: Ref<Thread<S::Port>>) {
        if thread.member().has(attention::SUSPENDED) {
            return;
        }
        S::Switching::enqueue_sched::<S, HINT>(self, thread);
    }

    /// `new` became ready and takes over from `old`, the candidate, which blocks.
    #[inline(always)]
    pub fn hand_over(&self, new: Ref<Thread<S::Port>>, old: Ref<Thread<S::Port>>) {
        if new.member().has(attention::SUSPENDED) {
            self.block(old);
        } else {
            S::Switching::swap_sched::<S, { hint::NEW }>(self, new, old);
        }
    }

    /// The candidate blocks and nobody takes over from it.
    #[inline(always)]
    pub fn block(&self, old: Ref<Thread<S::Port>>) {
        S::Queueing::blocks(self.cpu, old);
        self.sched();
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
        self.cpu.current.set(next);
        next
    }

    #[cold]
    fn settle(&self) {
        let next = self.cpu.next.get();
        if next != self.cpu.idle && next.member().runnable() {
            self.cpu.yield_cpu(next, false);
        } else {
            self.sched();
        }
    }
}
