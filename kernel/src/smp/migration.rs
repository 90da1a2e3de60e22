//! Migration: a thread belongs to one CPU at a time, and management calls move it.

use crate::access::Ref;
use crate::entry::Entry;
use crate::list::Linked;
use crate::manage::Manager;
use crate::object::deadlines::TimerEntry;
use crate::object::thread::Running;
use crate::object::thread::flag;
use crate::object::{Domain, Thread};
use crate::port::Port;
use crate::sched::Scheduler;
use crate::system::System;
use crate::tree::Home;

impl<S: System> Entry<S> {
    /// A thread that any CPU may run belongs to the one that chose it. If another CPU has yet to
    /// leave it, this one idles until that has asked it to look again.
    pub(crate) fn pull(&self) {
        let next = self.cpu.next.get();
        if !self.is_elsewhere(next) {
            return;
        }
        match self.manage().runs_on(next) {
            Some(_) => self.cpu.next.set(self.cpu.idle),
            None => {
                // It leaves the queue of one CPU for that of the other.
                <Thread<S::Port> as Linked<Running>>::leaves(next);
                next.cpu.set(&self.section.exclusive(), self.cpu.number);
                <Thread<S::Port> as Linked<Running>>::joins(next);
            }
        }
    }

    /// A thread that any CPU may run, and that none runs, belongs to this one from now on. Whether
    /// it does: it does not while it waits for an instant elsewhere.
    pub(crate) fn adopt(&self, thread: Ref<Thread<S::Port>>) -> bool {
        let manager = self.manage();
        let its = manager.all.open(thread);
        let is_bound = its.has(flag::DEADLINE) || thread.is_woken_remotely();
        if !self.is_anywhere(thread) || is_bound || manager.runs_on(thread).is_some() {
            return false;
        }
        thread.cpu.set(&manager.all, self.cpu.number);
        true
    }

    /// Whether any CPU may run a thread, of which this entry holds all.
    pub(crate) fn is_anywhere(&self, thread: Ref<Thread<S::Port>>) -> bool {
        if !S::Scheduler::TREE {
            return false;
        }
        let manager = self.manage();
        let reservation = manager.all.open(thread).reservation.get(&manager.all);
        self.kernel.trees.home_of(reservation) == Some(Home::Any)
    }

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
        let home = if P::TREE { self.kernel.trees.home_of(domain.reservation.get()) } else { None };
        let reserved = home.and_then(Home::cpu);
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
