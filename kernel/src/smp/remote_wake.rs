//! Wake-ups of threads that belong to another CPU (S1-05): a message leaves the thread in a list of
//! that CPU, which queues it at the interrupt that it gets; a management call queues it there.

use crate::access::Ref;
use crate::cpu::Cpu;
use crate::entry::Entry;
use crate::manage::Manager;
use crate::object::Thread;
use crate::port::Port;
use crate::sched::Scheduler;
use crate::system::System;
use locks::{LockPolicy, ObjectLock};

/// Threads that one interrupt from another CPU queues.
const WAKES_PER_INTERRUPT: u32 = 8;

impl<P: Port> Cpu<P> {
    /// A thread that belongs to another CPU became ready: it is left there for that CPU to queue.
    #[cold]
    #[inline(never)]
    fn wake_remotely(&self, cpu: &Cpu<P>, thread: Ref<Thread<P>>) {
        cpu.remote_wakes_lock.acquire::<<P::LockPolicy as LockPolicy>::Relax>();
        let first = cpu.remote_wakes.is_empty();
        if !thread.is_woken_remotely() {
            cpu.remote_wakes.push_back(thread);
        }
        cpu.remote_wakes_lock.release();
        // The CPU that left the first thread has sent an interrupt. A thread below what runs there
        // needs it as well: the CPU looks at this list in interrupts alone, not in the decisions
        // and direct switches behind which the thread could run.
        if first {
            self.send_ipi(cpu);
        }
    }

    /// Queues what other CPUs have left here.
    pub(super) fn drain_remote_wakes<S: Scheduler>(&self) {
        for _ in 0..WAKES_PER_INTERRUPT {
            self.remote_wakes_lock.acquire::<<P::LockPolicy as LockPolicy>::Relax>();
            let thread = self.remote_wakes.head();
            if let Some(thread) = thread {
                self.remote_wakes.remove(thread);
            }
            self.remote_wakes_lock.release();
            let Some(thread) = thread else { return };
            // It may have been met in a look-up and blocked again since.
            if thread.runnable() {
                S::arrive(self, thread);
            }
        }
        self.send_ipi(self);
    }
}

impl<S: System> Entry<S> {
    /// A thread of another CPU became ready. One that has yet to run there is queued as calls queue
    /// threads: those who move it to and fro do not interrupt each time. One that any CPU may run
    /// is not: for that this CPU would have to ask others, and it may be on its way out.
    #[inline(never)]
    pub(crate) fn wake_remotely(&self, thread: Ref<Thread<S::Port>>) {
        // What is not open is not new there: that was found out before.
        let is_exclusive = self.section.is_exclusive();
        match is_exclusive && self.is_new_there(thread) && !self.is_anywhere(thread) {
            true => self.manage().enqueue(thread),
            false => self.cpu.wake_remotely(self.kernel.cpu_of(thread), thread),
        }
    }
}

impl<P: Port> Manager<'_, P> {
    /// Whether a thread still runs on another CPU than the one that it belongs to.
    pub(crate) fn is_leaving(&self, at: Ref<Thread<P>>) -> bool {
        self.runs_on(at).is_some_and(|cpu| cpu.number != self.cpu_of(at).number)
    }
}
