//! Migration: a thread belongs to one CPU at a time, and management calls move it.

use crate::access::Ref;
use crate::entry::Entry;
use crate::manage::Manager;
use crate::object::deadlines::TimerEntry;
use crate::object::{Domain, Thread};
use crate::port::Port;
use crate::system::System;

impl<S: System> Entry<S> {
    /// Whether a thread that is held belongs to another CPU and has not run there since it was made
    /// or moved.
    pub(crate) fn is_new_there(&self, thread: Ref<Thread<S::Port>>) -> bool {
        let last = self.hold(thread).last_cpu.get();
        self.is_elsewhere(thread) && thread.cpu.get() != last
    }
}

impl<P: Port> Manager<'_, P> {
    /// The CPUs that exist, a bit each.
    pub(crate) fn all_cpus(&self) -> u64 {
        u64::MAX >> (64 - self.kernel.cpus.get().len())
    }

    /// The CPU that a new thread of a domain belongs to: that of its reservation, or this one, if
    /// the domain may use it.
    pub(crate) fn first_cpu(&self, domain: &Domain<P>) -> u32 {
        let cpus = domain.cpus.get();
        let reserved =
            if P::TREE { self.kernel.trees.cpu_of(domain.reservation.get()) } else { None };
        let may_use = |cpu: &u32| cpus >> cpu & 1 != 0;
        let first = reserved.filter(may_use).or(Some(self.cpu.number).filter(may_use));
        first.unwrap_or(cpus.trailing_zeros())
    }

    /// Makes a thread belong to another CPU. Where it runs it is left at the next decision, and
    /// queued then. Its deadline goes with it.
    pub(crate) fn move_to(&self, at: Ref<Thread<P>>, number: u32) {
        let (thread, cpu) = (self.all.open(at), self.cpu_of(at));
        self.dequeue(at);
        let until = cpu.deadlines.remove(TimerEntry::Thread(at));
        thread.cpu.set(&self.all, number);
        if let Some(until) = until {
            self.sleep(until, at);
        }
        let runs_on = self.runs_on(at);
        // Called back before it has left, it runs where it belongs: it is queued all the same.
        let leaves = runs_on.is_some_and(|cpu| cpu.number != number);
        if thread.runnable() && !leaves {
            self.enqueue_there(at);
            if number == self.cpu.number {
                self.cpu.resched.set(true);
            }
        }
        if let Some(cpu) = runs_on {
            self.cpu.ask_for_decision(cpu);
        }
        self.caller_changed(at);
    }
}
