//! What one CPU does to another one (S1-04, S1-05): it queues threads there, asks it to decide
//! anew, and interrupts it. With one CPU all of this vanishes. TLB shootdown is in
//! [`shootdown`](crate::shootdown).
//!
//! A CPU touches another's state only inside the kernel, and interrupts it behind its own section
//! ([`Cpu::finish`]). Whatever needs another CPU to have reacted is left with that interrupt
//! sent, and the thread issues its call again.

use crate::access::Ref;
use crate::core::Core;
use crate::cpu::Cpu;
use crate::frames;
use crate::kernel::Kernel;
use crate::manage::Manager;
use crate::object::thread::attention;
use crate::object::{Domain, Thread, Timer};
use crate::port::Port;
use crate::system::System;
use crate::time::Sleeper;
use abi::trace::Event;
use locks::{Guarding, ObjectLock, Relax};

/// Threads that one interrupt from another CPU queues.
const ARRIVALS: u32 = 8;
/// Steps that a long operation takes before it makes room for another CPU. Those of zeroing a frame
/// are in vain if another call takes that frame first; so each issue of a call gets on, whatever
/// others do.
const STEPS: u32 = 12;
const _: () =
    assert!(frames::POLLS < STEPS, "a call that zeroes memory begins anew for each other");

impl<P: Port> Kernel<P> {
    /// The CPU that a thread belongs to.
    pub fn home(&self, thread: Ref<Thread<P>>) -> &'static Cpu<P> {
        self.cpu(thread.member().cpu.get())
    }

    /// A CPU by its number.
    pub fn cpu(&self, number: u32) -> &'static Cpu<P> {
        &self.cpus.get()[number as usize]
    }
}

impl<P: Port> Cpu<P> {
    /// Interrupts another CPU once this one has left the kernel.
    pub(crate) fn kick(&self, other: &Cpu<P>) {
        self.kicks.set(self.kicks.get() | 1 << other.number);
    }

    /// Does what had to wait for the end of the section, on the timer and to other CPUs: called by
    /// a port outside the kernel (S1-06, S1-11).
    #[inline(always)]
    pub fn finish(&self) {
        if P::SEVERAL {
            self.arm();
            if self.kicks.get() != 0 {
                self.send_all_kicks();
            }
        }
    }

    #[cold]
    fn send_all_kicks(&self) {
        let mut kicks = self.kicks.take();
        while kicks != 0 {
            self.note_nobody(Event::Kick, kicks.trailing_zeros(), 0);
            self.port().kick(kicks.trailing_zeros());
            kicks &= kicks - 1;
        }
    }

    /// Whether a long operation has taken enough steps and keeps another CPU out of the kernel,
    /// which can take no interrupt meanwhile.
    #[inline(always)]
    pub(crate) fn is_in_the_way(&self, kernel: &Kernel<P>, steps: u32) -> bool {
        P::SEVERAL && steps >= STEPS && P::Guarding::is_waited_for(&kernel.guards, &self.guards)
    }

    /// Takes a step of a call: whether the call is to make room for another CPU.
    pub(crate) fn takes_a_step(&self, kernel: &Kernel<P>) -> bool {
        let steps = self.steps.get() + 1;
        self.steps.set(steps);
        self.is_in_the_way(kernel, steps)
    }

    /// A thread that belongs to another CPU became ready: it is left there for that CPU to queue.
    #[cold]
    #[inline(never)]
    fn wake_remotely(&self, home: &Cpu<P>, thread: Ref<Thread<P>>) {
        home.arrivals_lock.acquire::<<P::Guarding as Guarding>::Relax>();
        let first = home.arrivals.is_empty();
        if !thread.member().arrives() {
            home.arrivals.push_back(thread);
        }
        home.arrivals_lock.release();
        // Whoever was first has seen to it that the other CPU looks.
        if first {
            self.kick(home);
        }
    }

    /// Queues what other CPUs have left here.
    fn welcome(&self) {
        for _ in 0..ARRIVALS {
            self.arrivals_lock.acquire::<<P::Guarding as Guarding>::Relax>();
            let thread = self.arrivals.head();
            if let Some(thread) = thread {
                self.arrivals.remove(thread);
            }
            self.arrivals_lock.release();
            let Some(thread) = thread else { return };
            // It may have been met in a look-up and blocked again since.
            if thread.member().runnable() {
                self.enqueue_slowly(thread);
                self.resched.set(true);
            }
        }
        self.kick(self);
    }
}

impl<S: System> Core<S> {
    /// Whether `thread` belongs to another CPU.
    #[inline(always)]
    pub(crate) fn is_elsewhere(&self, thread: Ref<Thread<S::Port>>) -> bool {
        S::Port::SEVERAL && thread.member().cpu.get() != self.cpu.number
    }

    /// A thread of another CPU became ready. One that has yet to run there is queued as calls queue
    /// threads: those who move it to and fro do not interrupt each time.
    #[inline(never)]
    pub(crate) fn wake_remotely(&self, thread: Ref<Thread<S::Port>>) {
        // What is not open is not new there: that was found out before.
        match self.section.is_whole() && self.is_new_there(thread) {
            true => self.manage().enqueue(thread),
            false => self.cpu.wake_remotely(self.kernel.home(thread), thread),
        }
    }

    /// Whether a thread that is held belongs to another CPU and has not run there since it was made
    /// or moved.
    pub(crate) fn is_new_there(&self, thread: Ref<Thread<S::Port>>) -> bool {
        let last = thread.member().last_cpu.get();
        self.is_elsewhere(thread) && thread.member().cpu.get() != last
    }

    /// This CPU goes over from one thread to another, or stays with one.
    #[inline(always)]
    pub(crate) fn goes_over(&self, from: Ref<Thread<S::Port>>, to: Ref<Thread<S::Port>>) {
        if S::Port::SEVERAL {
            self.go_over(from, to);
        }
    }

    fn go_over(&self, from: Ref<Thread<S::Port>>, to: Ref<Thread<S::Port>>) {
        let (cpu, thread) = (self.cpu, self.own(to));
        // Behind the section another CPU may change the marks.
        cpu.full.set(thread.has(attention::FULL));
        if to != cpu.idle && cpu.full.get() {
            thread.clear(attention::FULL);
        }
        if from == to {
            return;
        }
        thread.last_cpu.set(cpu.number);
        let before = self.own(from);
        self.kernel.port.put_down(&cpu.local, &before.context);
        if from != cpu.idle && self.is_elsewhere(from) && before.runnable() {
            self.wake_remotely(from);
        }
        let domain = thread.domain.get();
        if to != cpu.idle && cpu.space.get() != Some(domain) {
            // Loading its tables flushes the TLB.
            cpu.space.set(Some(domain));
            cpu.flushed.set(self.kernel.shootdowns.get());
        }
    }

    /// Another CPU has interrupted.
    pub(crate) fn kicked(&self) {
        let cpu = self.cpu;
        if cpu.flush.get() {
            // What follows is not only memory, and cannot be undone.
            self.widen_if(|| true);
            cpu.flush.set(false);
            // Nobody runs where translations were changed for good, if this CPU idles.
            let domain = self.own(cpu.current.get()).domain.get();
            self.kernel.port.reload(&cpu.local, &self.hold(domain).space);
            cpu.space.set(Some(domain));
            cpu.flushed.set(self.kernel.shootdowns.get());
        }
        cpu.welcome();
        cpu.rearm();
    }
}

impl<P: Port> Manager<'_, P> {
    /// The CPU that a thread belongs to.
    #[inline(always)]
    pub(crate) fn home(&self, thread: Ref<Thread<P>>) -> &'static Cpu<P> {
        if P::SEVERAL { self.kernel.home(thread) } else { self.cpu }
    }

    fn is_here(&self, cpu: &Cpu<P>) -> bool {
        !P::SEVERAL || cpu.number == self.cpu.number
    }

    /// The CPU that a thread runs on, if it does; `None` also if there is one CPU.
    pub(crate) fn runs_on(&self, at: Ref<Thread<P>>) -> Option<&'static Cpu<P>> {
        if !P::SEVERAL {
            return None;
        }
        let cpu = self.kernel.cpu(at.member().last_cpu.get());
        (cpu.current.get() == at).then_some(cpu)
    }

    /// Queues a runnable thread where it belongs, unless it still runs elsewhere: it is queued when
    /// it has left.
    pub(crate) fn enqueue(&self, at: Ref<Thread<P>>) {
        let home = self.home(at);
        if self.runs_on(at).is_some_and(|cpu| cpu.number != home.number) {
            return;
        }
        match self.is_here(home) {
            true => self.cpu.enqueue_slowly(at),
            // One that arrives is queued by the interrupt that is on its way.
            false if at.member().arrives() => {}
            false => self.enqueue_there(home, at),
        }
    }

    /// Queues a thread on another CPU, which is interrupted if the thread takes precedence there,
    /// or if there is no tick that would give the thread its turn.
    fn enqueue_there(&self, home: &Cpu<P>, at: Ref<Thread<P>>) {
        if home.ready.insert(at) {
            self.cpu.note(Event::Insert, at, home.queue_number(), home.ready.length());
        }
        let (current, priority) = (home.current.get(), at.member().priority.get());
        home.raise(priority);
        if at == current {
            return;
        }
        if priority > current.member().priority.get() {
            self.ask(home);
        } else if home.begin_tick() {
            self.cpu.kick(home);
        }
    }

    /// Removes a thread from the ready queue, if it is queued.
    #[inline(never)]
    pub(crate) fn dequeue(&self, at: Ref<Thread<P>>) {
        let home = self.home(at);
        if at.member().arrives() {
            home.arrivals.remove(at);
        }
        if home.ready.remove(at) {
            self.cpu.note(Event::Remove, at, home.queue_number(), home.ready.length());
        }
    }

    /// A thread was stopped: the CPU that it runs on decides anew. Where it does not run there is
    /// nothing to decide.
    pub(crate) fn reconsider(&self, at: Ref<Thread<P>>) {
        match self.runs_on(at) {
            Some(cpu) => self.ask(cpu),
            None if self.is_here(self.home(at)) => self.ask(self.cpu),
            None => {}
        }
    }

    /// A thread's priority was another one `before`: the CPU that it runs on decides anew if a
    /// thread that waits there may be higher now. One that is queued was queued anew.
    pub(crate) fn reconsider_priority(&self, at: Ref<Thread<P>>, before: i16) {
        match self.runs_on(at) {
            Some(cpu) if !self.is_here(cpu) => {
                let priority = at.member().priority.get();
                cpu.raise(priority);
                if priority < before {
                    self.ask(cpu);
                }
            }
            _ => self.reconsider(at),
        }
    }

    /// A CPU is to make a full decision. Another one is interrupted for that, unless an interrupt
    /// that it decides behind is on its way.
    fn ask(&self, cpu: &Cpu<P>) {
        if !cpu.resched.replace(true) && !self.is_here(cpu) {
            self.cpu.kick(cpu);
        }
    }

    /// Whether a stopped thread is on no other CPU any more, so that what it consists of may be
    /// changed or freed (S1-04). If it is, that CPU is asked to leave it.
    pub(crate) fn rests(&self, at: Ref<Thread<P>>) -> bool {
        match self.runs_on(at) {
            Some(cpu) if !self.is_here(cpu) => {
                self.ask(cpu);
                self.stand_by();
                false
            }
            _ => true,
        }
    }

    /// This CPU waits for another one: its thread will come back, the other CPU may go first.
    pub(crate) fn stand_by(&self) {
        <P::Guarding as Guarding>::Relax::relax();
    }

    /// Begins a deadline on the CPU that the thread belongs to. Another one is interrupted as for a
    /// thread that becomes ready: if this one takes precedence there, or nothing else will look.
    pub(crate) fn sleep(&self, until: u64, thread: Ref<Thread<P>>) {
        let home = self.home(thread);
        if self.is_here(home) {
            return home.sleep(until, Sleeper::Thread(thread));
        }
        let priority = thread.member().priority.get();
        home.deadlines.insert(until, Sleeper::Thread(thread), priority);
        if home.overlooks(until, priority) {
            self.cpu.kick(home);
        }
    }

    /// The CPU whose deadlines a timer is among, if any.
    pub(crate) fn timer_home(&self, timer: Ref<Timer<P>>) -> &'static Cpu<P> {
        if P::SEVERAL { self.kernel.cpu(timer.member().cpu.get()) } else { self.cpu }
    }

    /// The CPUs that exist, a bit each.
    pub(crate) fn all_cpus(&self) -> u64 {
        u64::MAX >> (64 - self.kernel.cpus.get().len())
    }

    /// The CPU that a new thread of a domain belongs to: this one, if the domain may use it.
    pub(crate) fn first_cpu(&self, domain: &Domain<P>) -> u32 {
        let (cpus, own) = (domain.cpus.get(), self.cpu.number);
        if cpus >> own & 1 != 0 { own } else { cpus.trailing_zeros() }
    }

    /// Makes a thread belong to another CPU. Where it runs it is left at the next decision, and
    /// queued then. Its deadline goes with it.
    pub(crate) fn move_to(&self, at: Ref<Thread<P>>, number: u32) {
        let (thread, home) = (self.whole.open(at), self.home(at));
        self.dequeue(at);
        let until = home.deadlines.remove(Sleeper::Thread(at));
        thread.cpu.set(number);
        if let Some(until) = until {
            self.sleep(until, at);
        }
        // Called back before it has left, it runs where it belongs: it is queued all the same.
        if thread.runnable() {
            self.enqueue(at);
        }
        if let Some(cpu) = self.runs_on(at) {
            self.ask(cpu);
        }
    }
}
