//! What one CPU does to another one (S1-04, S1-05): it wakes threads there ([`remote_wake`]), moves
//! threads ([`migration`]), has TLBs flushed ([`shootdown`]), asks for a scheduling decision, and
//! sends interrupts ([`ipi`]). With one CPU all of this vanishes.
//!
//! A CPU touches another's state only inside the kernel, and interrupts it behind its own critical
//! section. A call that needs another CPU to have reacted returns with that interrupt sent, and
//! the thread issues it again.

pub mod ipi;
pub mod migration;
pub mod remote_wake;
pub mod shootdown;

use crate::access::Ref;
use crate::cpu::Cpu;
use crate::entry::Entry;
use crate::frames;
use crate::kernel::Kernel;
use crate::manage::Manager;
use crate::object::deadlines::TimerEntry;
use crate::object::thread::flag;
use crate::object::{Thread, Timer};
use crate::port::Port;
use crate::system::System;
use locks::{LockPolicy, Relax};

/// Steps that a long operation takes before it makes room for another CPU. Those of zeroing a frame
/// are in vain if another call takes that frame first; so each issue of a call gets on, whatever
/// others do.
const STEPS: u32 = 12;
const _: () =
    assert!(frames::POLLS < STEPS, "a call that zeroes memory begins anew for each other");

impl<P: Port> Kernel<P> {
    /// The CPU that a thread belongs to.
    pub fn cpu_of(&self, thread: Ref<Thread<P>>) -> &'static Cpu<P> {
        self.cpu(thread.cpu.get())
    }

    /// A CPU by its number.
    pub fn cpu(&self, number: u32) -> &'static Cpu<P> {
        &self.cpus.get()[number as usize]
    }
}

impl<P: Port> Cpu<P> {
    /// Whether a long operation has taken enough steps and keeps another CPU out of the kernel,
    /// which can take no interrupt meanwhile.
    #[inline(always)]
    pub(crate) fn is_in_the_way(&self, kernel: &Kernel<P>, steps: u32) -> bool {
        P::SMP && steps >= STEPS && P::LockPolicy::is_waited_for(&kernel.guards, &self.guards)
    }

    /// Takes a step of a call: whether the call is to make room for another CPU.
    pub(crate) fn takes_a_step(&self, kernel: &Kernel<P>) -> bool {
        let steps = self.steps.get() + 1;
        self.steps.set(steps);
        self.is_in_the_way(kernel, steps)
    }

    /// Between two steps of a decision: whether it is left to an interrupt that waits, or to one
    /// that this CPU sends itself to let another one in.
    pub(crate) fn leaves_between_steps(&self, kernel: &Kernel<P>) -> bool {
        let lets_in = P::SMP && self.takes_a_step(kernel);
        if lets_in {
            self.send_ipi(self);
        }
        let leaves = lets_in || self.poll(abi::trace::point::DECISION);
        self.decision_left.set(leaves);
        leaves
    }
}

impl<S: System> Entry<S> {
    /// Whether `thread` belongs to another CPU.
    #[inline(always)]
    pub(crate) fn is_elsewhere(&self, thread: Ref<Thread<S::Port>>) -> bool {
        S::Port::SMP && thread.cpu.get() != self.cpu.number
    }

    /// What a switch changes beside the current thread where there are several CPUs.
    pub(crate) fn switch_between(&self, from: Ref<Thread<S::Port>>, to: Ref<Thread<S::Port>>) {
        let (cpu, thread) = (self.cpu, self.own(to));
        // Behind the section another CPU may change the marks.
        cpu.full.set(thread.has(flag::FULL));
        if to != cpu.idle && cpu.full.get() {
            thread.clear(flag::FULL);
        }
        // Also of a thread that goes on: a train may have brought it to another domain. What it
        // goes through without running there is not loaded.
        let domain = thread.domain.get();
        if to != cpu.idle && cpu.space.get() != Some(domain) {
            // Loading its tables flushes the TLB.
            cpu.space.set(Some(domain));
            cpu.flushed.set(self.kernel.shootdowns.get());
        }
        if from == to {
            return;
        }
        thread.last_cpu.set(cpu.number);
        let before = self.own(from);
        self.kernel.port.save_lazy_state(&cpu.local, &before.context);
        if from != cpu.idle && self.is_elsewhere(from) && before.runnable() {
            self.wake_remotely(from);
        }
    }
}

impl<P: Port> Manager<'_, P> {
    /// The CPU that a thread belongs to.
    #[inline(always)]
    pub(crate) fn cpu_of(&self, thread: Ref<Thread<P>>) -> &'static Cpu<P> {
        if P::SMP { self.kernel.cpu_of(thread) } else { self.cpu }
    }

    /// The CPU that a thread runs on, if it does; `None` also if there is one CPU.
    pub(crate) fn runs_on(&self, at: Ref<Thread<P>>) -> Option<&'static Cpu<P>> {
        if !P::SMP {
            return None;
        }
        let cpu = self.kernel.cpu(self.all.open(at).last_cpu.get());
        (cpu.current.get() == at).then_some(cpu)
    }

    /// A thread was stopped: the CPU that it runs on decides anew. Where it does not run there is
    /// nothing to decide.
    pub(crate) fn reconsider(&self, at: Ref<Thread<P>>) {
        match self.runs_on(at) {
            Some(cpu) => self.cpu.ask_for_decision(cpu),
            None if self.cpu.is_same(self.cpu_of(at)) => self.cpu.ask_for_decision(self.cpu),
            None => {}
        }
    }

    /// A thread's priority was another one `before`: the CPU that it runs on decides anew if a
    /// thread that waits there may be higher now. One that is queued was queued anew.
    pub(crate) fn reconsider_priority(&self, at: Ref<Thread<P>>, before: i16) {
        match self.runs_on(at) {
            Some(cpu) if !self.cpu.is_same(cpu) => {
                let priority = at.priority.get();
                cpu.raise(priority);
                if priority < before {
                    self.cpu.ask_for_decision(cpu);
                }
            }
            _ => self.reconsider(at),
        }
    }

    /// Whether a stopped thread is on no other CPU any more, so that what it consists of may be
    /// changed or freed (S1-04). If it is, that CPU is asked to leave it.
    pub(crate) fn is_off_cpu(&self, at: Ref<Thread<P>>) -> bool {
        match self.runs_on(at) {
            Some(cpu) if !self.cpu.is_same(cpu) => {
                self.cpu.ask_for_decision(cpu);
                self.cpu_relax();
                false
            }
            _ => true,
        }
    }

    /// This CPU waits for another one: its thread will come back, the other CPU may go first.
    pub(crate) fn cpu_relax(&self) {
        <P::LockPolicy as LockPolicy>::Relax::relax();
    }

    /// Begins a deadline on the CPU that the thread belongs to. Another one is interrupted as for a
    /// thread that becomes ready: if this one takes precedence there, or nothing else will look.
    pub(crate) fn sleep(&self, until: u64, thread: Ref<Thread<P>>) {
        let cpu = self.cpu_of(thread);
        if self.cpu.is_same(cpu) {
            return cpu.sleep(until, TimerEntry::Thread(thread));
        }
        let priority = cpu.urgency_of_sleeper(thread);
        cpu.deadlines.insert(until, TimerEntry::Thread(thread), priority);
        if cpu.overlooks(until, priority) {
            self.cpu.send_ipi(cpu);
        }
    }

    /// The deadline of a thread, if it has one, is as urgent as the thread is now. Behind the ready
    /// queue: while it is not among the deadlines, no timer is programmed.
    #[inline(never)]
    pub(crate) fn sleep_anew(&self, at: Ref<Thread<P>>) {
        let (deadline, cpu) = (&self.all.open(at).deadline, self.cpu_of(at));
        if deadline.queued()
            && deadline.priority() != cpu.urgency_of_sleeper(at)
            && let Some(until) = cpu.deadlines.remove(TimerEntry::Thread(at))
        {
            self.sleep(until, at);
        }
    }

    /// The CPU whose deadlines a timer is among, if any.
    pub(crate) fn cpu_of_timer(&self, timer: Ref<Timer<P>>) -> &'static Cpu<P> {
        if P::SMP { self.kernel.cpu(self.all.open(timer).cpu.get()) } else { self.cpu }
    }
}
