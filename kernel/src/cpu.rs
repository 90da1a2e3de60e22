//! What belongs to one CPU: the current thread, the ready queue, deadlines and the tick (S1-05).

use crate::access::Ref;
use crate::cost::CostEvent;
use crate::list::List;
use crate::object::thread::RemoteWake;
use crate::object::{Domain, Thread};
use crate::port::{Lock, Port};
use crate::ready::ReadyQueue;
use crate::time::{Deadlines, NEVER, TimerEntry};
use crate::trace::Ring;
use abi::trace::{Event, point};
use cells::Cell;
use locks::{LockPolicy, ObjectLock};

/// In place of the instant that is armed, while the timer's interrupt does its work.
const SERVING: u64 = 0;
/// Nanoseconds by which a tick may be early or late to share the interrupt of a deadline: about
/// what serving an interrupt takes. Else one would wait for the other's interrupt.
pub(crate) const NEAR: u64 = 1_000;

/// The floor if no deadline is deferred: the priority of the idle thread.
const NONE_DEFERRED: i16 = -1;
/// The floor if the timer is programmed for no deadline: above all priorities.
const ALL_DEFERRED: i16 = i16::MAX;

/// Threads that one look-up drops from the queue where there are several CPUs.
const PURGED: u32 = 32;

/// What the manifest says about a CPU's time, and the kernel about its queue.
pub struct Settings {
    /// The scheduling tick in nanoseconds.
    pub tick: u64,
    /// The time slice in ticks.
    pub slice: u32,
    /// Whether the ready queue holds exactly the runnable threads.
    pub eager: bool,
    /// Removals in one look-up before it polls for interrupts; 0: it never does.
    pub purge: u32,
}

/// One CPU.
#[repr(C)]
pub struct Cpu<P: Port> {
    /// The thread that entered the kernel, or runs.
    pub current: Cell<Ref<Thread<P>>>,
    /// The thread to run when the kernel is left.
    pub next: Cell<Ref<Thread<P>>>,
    /// Runs when no other thread can; never queued.
    pub idle: Ref<Thread<P>>,
    /// An upper bound on the highest priority of a runnable thread (S0-24).
    pub highest: Cell<i16>,
    /// The port's own state of this CPU.
    pub local: P::Local,
    /// This CPU's part of what guards the kernel.
    pub guards: <P::LockPolicy as LockPolicy>::Local,
    /// Whether the trace is on: kernels are entered at their traced instance then.
    pub traced: Cell<bool>,
    /// Something changed that calls for a full scheduling decision before leaving.
    pub resched: Cell<bool>,
    /// Threads that can run (and with lazy queueing some that cannot).
    pub ready: ReadyQueue<P>,
    /// Threads and timers that wait for an instant.
    pub deadlines: Deadlines<P>,
    /// The trace.
    pub ring: Ring,
    /// Which CPU it is.
    pub number: u32,
    /// The CPUs to interrupt when this one has left the kernel, a bit each.
    pub kicks: Cell<u64>,
    /// Threads that became ready elsewhere and belong here; other CPUs add to it.
    pub remote_wakes: List<Thread<P>, RemoteWake>,
    /// Guards `arrivals`.
    pub remote_wakes_lock: Lock<P>,
    /// Whether the timer is to be programmed when this CPU has left the kernel.
    arming: Cell<bool>,
    /// Whether the thread that runs next is to get all its registers.
    pub full: Cell<bool>,
    /// The domain whose page tables are loaded.
    pub space: Cell<Option<Ref<Domain<P>>>>,
    /// Whether this CPU is asked to flush its TLB, and interrupted for that.
    pub flush: Cell<bool>,
    /// The last TLB shootdown requested before this CPU last flushed its TLB (S1-04).
    pub flushed: Cell<u64>,
    /// Whether a timeout has ended: that takes long, and the next receive half that takes a message
    /// does so behind a preemption point.
    pub(crate) took_long: Cell<bool>,
    /// Preemption points that the call of the current thread has passed.
    pub(crate) steps: Cell<u32>,
    /// The next point of the tick grid at which to interrupt; none while no thread waits for the
    /// CPU.
    tick_at: Cell<u64>,
    /// The timer is programmed without regard to deadlines below this priority, some of which are
    /// due: those are deferred.
    floor: Cell<i16>,
    /// With several CPUs: up to this point of the tick grid lower deadlines stay deferred, whatever
    /// the thread that runs sets and is served meanwhile.
    deferred_until: Cell<u64>,
    settings: Settings,
    armed: Cell<u64>,
    port: &'static P,
}

impl<P: Port> Cpu<P> {
    /// A CPU that idles.
    pub fn new(number: u32, idle: Ref<Thread<P>>, port: &'static P, settings: Settings) -> Cpu<P> {
        Cpu {
            current: Cell::new(idle),
            next: Cell::new(idle),
            idle,
            number,
            kicks: Cell::new(0),
            remote_wakes: List::new(),
            remote_wakes_lock: Lock::<P>::new(),
            arming: Cell::new(false),
            full: Cell::new(false),
            space: Cell::new(None),
            flush: Cell::new(false),
            flushed: Cell::new(0),
            steps: Cell::new(0),
            took_long: Cell::new(false),
            highest: Cell::new(-1),
            local: P::Local::default(),
            guards: P::LockPolicy::local(number as usize),
            traced: Cell::new(false),
            resched: Cell::new(false),
            ready: ReadyQueue::new(),
            deadlines: Deadlines::new(),
            ring: Ring::new(),
            tick_at: Cell::new(NEVER),
            floor: Cell::new(NONE_DEFERRED),
            deferred_until: Cell::new(0),
            settings,
            armed: Cell::new(NEVER),
            port,
        }
    }

    /// The tick and the time slice, in nanoseconds.
    pub fn tick_and_slice(&self) -> (u64, u64) {
        (self.settings.tick, self.settings.tick * u64::from(self.settings.slice))
    }

    /// [`Cpu::enqueue`] behind its equals, out of line.
    #[inline(always)]
    pub fn enqueue_slowly(&self, thread: Ref<Thread<P>>) {
        self.enqueue_at(thread, false);
    }

    /// [`Cpu::enqueue`], as the `first` of its level or the last, out of line.
    #[inline(never)]
    pub fn enqueue_at(&self, thread: Ref<Thread<P>>, first: bool) {
        let joins = match first {
            true => self.enqueue::<true, true>(thread),
            false => self.enqueue::<false, true>(thread),
        };
        if joins {
            self.note(Event::Insert, thread, self.queue_number(), self.ready.length());
        }
    }

    /// Queues a runnable thread, `FIRST` or last of its level; false if it was queued already. The
    /// tick starts, unless there are no `MORE` runnable threads than before. The idle thread is
    /// never queued.
    #[inline(always)]
    pub fn enqueue<const FIRST: bool, const MORE: bool>(&self, thread: Ref<Thread<P>>) -> bool {
        // One that is leaving for another CPU is queued there when it has left.
        let leaves = P::SMP && thread.member().cpu.get() != self.number;
        if thread == self.idle || leaves {
            return false;
        }
        if MORE && self.tick_at.get() == NEVER {
            self.start_tick();
        }
        let joins = if FIRST { self.ready.insert_first(thread) } else { self.ready.insert(thread) };
        self.raise(thread.member().priority.get());
        joins
    }

    /// A thread of this priority became runnable.
    #[inline(always)]
    pub fn raise(&self, priority: i16) {
        self.highest.set(self.highest.get().max(priority));
    }

    /// Removes a thread that stops being schedulable (S0-22: halting dequeues eagerly).
    pub fn dequeue(&self, thread: Ref<Thread<P>>) {
        if self.ready.remove(thread) {
            self.note(Event::Remove, thread, self.queue_number(), self.ready.length());
        }
    }

    /// The highest runnable thread, which stays the first of its level.
    pub fn look_up(&self) -> Ref<Thread<P>> {
        let first = self.first::<false>(0);
        if !self.resched.get() {
            self.highest.set(first.member().priority.get());
            self.rearm_if_lower(first);
        }
        first
    }

    /// A full decision has picked a thread: deadlines that were deferred and are not lower than it
    /// interrupt at once.
    #[inline(always)]
    pub(crate) fn rearm_if_lower(&self, picked: Ref<Thread<P>>) {
        if picked.member().priority.get() < self.floor.get() {
            self.rearm_above(picked);
        }
    }

    /// The highest runnable thread, if `FLOORED` not below `floor`, else the idle thread; those
    /// met on the way that cannot run are removed (S0-10). With an interrupt pending after some
    /// removals it is the idle thread, and the decision is left to that interrupt's way out.
    fn first<const FLOORED: bool>(&self, floor: i16) -> Ref<Thread<P>> {
        let mut steps = self.settings.purge;
        let mut removed = 0;
        P::cost(CostEvent::Search);
        let found = loop {
            let Some(first) = self.ready.first() else { break self.idle };
            if FLOORED && first.member().priority.get() < floor {
                break self.idle;
            }
            if first.member().runnable() {
                break first;
            }
            if removed == 0 {
                self.note(Event::Purge, first, 0, 0);
            }
            P::cost(CostEvent::Purge);
            self.ready.remove(first);
            removed += 1;
            steps = steps.wrapping_sub(1);
            if steps == 0 {
                let pending = self.is_wanted() || self.leaves_purge(removed);
                self.note(Event::Preempt, first, point::PURGE, u16::from(pending));
                if pending {
                    self.resched.set(true);
                    break self.idle;
                }
                steps = self.settings.purge;
            }
        };
        self.note(Event::LookUp, found, removed, 0);
        found
    }

    /// Whether a look-up has dropped so many that it is to let other CPUs in: it goes on at an
    /// interrupt that this CPU sends itself.
    fn leaves_purge(&self, removed: u32) -> bool {
        let leaves = P::SMP && removed >= PURGED;
        if leaves {
            self.kick(self);
        }
        leaves
    }

    /// Whether the tick runs.
    pub fn ticks(&self) -> bool {
        self.tick_at.get() != NEVER
    }

    /// Starts the tick.
    #[cold]
    pub fn start_tick(&self) {
        let now = self.port.now();
        self.tick_at.set(self.next_tick(now));
        self.rearm();
    }

    /// Starts the tick, if it does not run, but leaves it to this CPU to program its timer: for
    /// other CPUs. Whether it did.
    pub(crate) fn begin_tick(&self) -> bool {
        let begins = !self.ticks();
        if begins {
            self.tick_at.set(self.next_tick(self.port.now()));
        }
        begins
    }

    /// Whether another CPU has added a deadline here that this one would look at too late: behind
    /// its instant if it is more urgent than the thread that runs, else behind the tick point too.
    /// The tick starts then, so that lower deadlines do not interrupt more than once a tick.
    pub(crate) fn overlooks(&self, at: u64, priority: i16) -> bool {
        let running = self.current.get().member().priority.get();
        if priority > running {
            return self.armed.get() > at;
        }
        // An equal one is not among those that the timer is programmed for exactly either.
        self.floor.set(self.floor.get().max(running + 1));
        self.raise(running);
        let tick_point = self.next_tick(self.port.now());
        self.deferred_until.set(tick_point);
        // A deadline shortly behind the tick point shares its interrupt.
        let late = self.armed.get() > at.max(tick_point.saturating_add(NEAR));
        if late {
            // It may run: one that was served early leaves this point of the grid out.
            self.begin_tick();
        }
        late
    }

    /// The first point of the tick grid behind an instant.
    fn next_tick(&self, now: u64) -> u64 {
        (now / self.settings.tick + 1) * self.settings.tick
    }

    /// Programs the timer for the first deadline or tick, if that has changed. Deadlines that are
    /// deferred stay so, unless the candidate is as low as their sleepers.
    #[inline(never)]
    pub fn rearm(&self) {
        if self.armed.get() == SERVING {
            return;
        }
        if self.floor.get() != NONE_DEFERRED {
            return self.rearm_above(self.next.get());
        }
        self.program(self.tick_at.get(), self.deadlines.first());
    }

    /// [`Cpu::rearm`] while deadlines are deferred, for the thread that runs next.
    #[cold]
    #[inline(never)]
    fn rearm_above(&self, next: Ref<Thread<P>>) {
        self.defer_below(next, self.port.now());
    }

    /// Whether lower deadlines are to stay deferred.
    #[inline(always)]
    fn defers(&self, now: u64) -> bool {
        P::SMP && now < self.deferred_until.get()
    }

    /// Whether no deadline is due that could be deferred, nor will be as long as that is so.
    #[inline(always)]
    fn none_to_defer(&self, now: u64) -> bool {
        let first = self.deadlines.first();
        first > now && (!P::SMP || first >= self.deferred_until.get())
    }

    /// Programs the timer for the first deadline, or if some are to be deferred for those that are
    /// not below the thread that runs next. The others are looked at again at the next tick point,
    /// should a message give the CPU to a lower thread.
    #[inline(always)]
    fn defer_below(&self, next: Ref<Thread<P>>, now: u64) {
        let (tick, first) = (self.tick_at.get(), self.deadlines.first());
        let floor = next.member().priority.get();
        let urgent = self.deadlines.first_from(floor);
        if self.none_to_defer(now) || (first == urgent && !self.defers(now)) {
            self.floor.set(NONE_DEFERRED);
            return self.program(tick, first);
        }
        self.floor.set(floor);
        // A switch to a lower thread is a full decision now, under strict priorities.
        self.raise(floor - 1);
        self.program(tick.min(self.next_tick(now)), urgent);
    }

    /// Programs the timer for a tick or a deadline, whichever is first.
    #[inline(never)]
    fn program(&self, tick: u64, first: u64) {
        let at = if first.saturating_sub(NEAR) < tick { first } else { tick };
        if at != self.armed.replace(at) {
            if P::TRACE != 0 && at != NEVER && self.ring.wants(Event::Arm) {
                let wait = at.saturating_sub(self.port.now());
                self.note_nobody(Event::Arm, u32::try_from(wait).unwrap_or(u32::MAX), 0);
            }
            // What is not memory waits for the end of the section (S1-06).
            match P::SMP {
                true => self.arming.set(true),
                false => self.port.arm((at != NEVER).then_some(at)),
            }
        }
    }

    /// Programs the timer if that was put off: called outside the kernel.
    pub(crate) fn arm(&self) {
        if self.arming.take() {
            // A decision may have been left to the interrupt that this takes back.
            if self.resched.get() {
                self.kick(self);
            }
            let at = self.armed.get();
            self.port.arm((at != NEVER).then_some(at));
        }
    }

    /// Adds a deadline. A thread is as urgent as its priority; a timer is as the thread that sets
    /// it is then.
    #[inline(never)]
    pub fn sleep(&self, at: u64, sleeper: TimerEntry<P>) {
        let priority = match sleeper {
            TimerEntry::Thread(thread) => thread.member().priority.get(),
            TimerEntry::Timer(_) => self.current.get().member().priority.get(),
        };
        self.deadlines.insert(at, sleeper, priority);
        if self.floor.get() == NONE_DEFERRED || at < self.armed.get() {
            self.rearm();
        }
    }

    /// What the timer is programmed for, the tick point to come, and from which priority on
    /// deadlines are not deferred.
    pub(crate) fn programmed(&self) -> (u64, u64, i16) {
        (self.armed.get(), self.tick_at.get(), self.floor.get())
    }

    /// The timer has interrupted: nothing is armed any more, and will not be before
    /// [`Cpu::timer_served`].
    pub fn timer_fired(&self) {
        self.armed.set(SERVING);
    }

    /// The timer's interrupt has done its work. What was due by `now` and is not served is
    /// deferred, or interrupts again at once: that is for the thread that runs next to tell, and
    /// known behind the decision if there is one to come. With several CPUs an interrupt that has
    /// `served` nothing was for a deadline that is lower or was taken back elsewhere: lower ones
    /// wait for the tick point now, else each of many that are taken back would interrupt.
    #[inline(always)]
    pub fn timer_served(&self, now: u64, served: bool) {
        self.armed.set(NEVER);
        if P::SMP && !served && self.floor.get() == NONE_DEFERRED {
            self.deferred_until.set(self.next_tick(now));
        }
        if self.none_to_defer(now) {
            self.floor.set(NONE_DEFERRED);
            return self.program(self.tick_at.get(), self.deadlines.first());
        }
        self.floor.set(ALL_DEFERRED);
        match self.resched.get() {
            true => {}
            false if P::SMP => self.defer_below(self.next.get(), now),
            false => self.rearm_above(self.next.get()),
        }
    }

    /// At a point of the tick grid: a donation ends (S0-09), and a thread at the end of its time
    /// slice makes room for its equals (S0-05). One that this interrupt has woken, and nobody is
    /// higher, stays: it has not run in this tick.
    #[inline(always)]
    pub fn tick(&self, now: u64) {
        if now.saturating_add(NEAR) > self.tick_at.get() {
            self.serve_tick(now);
        }
    }

    #[inline(never)]
    fn serve_tick(&self, now: u64) {
        let (ran, next) = (self.current.get(), self.next.get());
        self.note(Event::Tick, ran, 0, 0);
        let expired = self.charge(ran);
        if expired && next != ran && ran.member().queued() {
            // What this interrupt has woken took over before the slice ended.
            self.ready.move_back(ran);
        }
        if next == self.idle || !next.member().runnable() {
            self.next.set(self.look_up());
        } else if next == ran || next.member().priority.get() < self.highest.get() {
            self.yield_cpu(next, expired && next == ran);
        }
        let at = self.tick_at.get();
        self.tick_at.set(if self.is_waited_for() { self.next_tick(now.max(at)) } else { NEVER });
    }

    /// Whether a thread is queued beside the one that is to run.
    #[inline(always)]
    pub(crate) fn is_waited_for(&self) -> bool {
        !self.ready.is_empty() && !self.ready.holds_only(self.next.get())
    }

    /// Takes a tick from a thread's time slice. Whether that was its last; a new slice begins then.
    fn charge(&self, thread: Ref<Thread<P>>) -> bool {
        let left = thread.member().slice.get().saturating_sub(1);
        thread.member().slice.set(if left == 0 { self.settings.slice } else { left });
        left == 0
    }

    /// Gives the CPU to the highest thread: one of equal priority only if `to_equals`. `running` is
    /// the last of its level then; else it is the first, as long as its time slice lasts.
    pub fn yield_cpu(&self, running: Ref<Thread<P>>, to_equals: bool) {
        if to_equals || !self.settings.eager {
            self.dequeue(running);
            if self.settings.eager {
                self.enqueue_slowly(running);
            }
        }
        let priority = running.member().priority.get();
        let other = self.first::<true>(priority);
        let rival = other.member().priority.get();
        if rival > priority || (to_equals && rival == priority && other != running) {
            self.enqueue_at(running, !to_equals);
            self.next.set(other);
        } else if to_equals && other == self.idle && self.resched.get() {
            // An interrupt has cut the search short: the decision is made on the way out.
            self.enqueue_at(running, false);
            self.next.set(other);
        } else {
            self.next.set(running);
        }
    }

    /// `to`, which is runnable, runs in the place of `running`, for the rest of its time slice at
    /// most: else a thread could go on in ever new threads. It goes behind its equals.
    pub fn yield_to(&self, running: Ref<Thread<P>>, to: Ref<Thread<P>>) {
        let (left, own) = (&running.member().slice, &to.member().slice);
        own.set(own.get().min(left.get()));
        self.dequeue(running);
        self.enqueue_slowly(running);
        self.next.set(to);
    }

    /// Whether an interrupt is pending. A section that may be undone is too short to make room.
    #[inline(always)]
    pub(crate) fn is_wanted(&self) -> bool {
        let undoable = P::LockPolicy::SPECULATIVE && P::LockPolicy::is_speculating(&self.guards);
        !undoable && self.port.pending()
    }

    /// Whether work should make room for an interrupt, at this [`point`].
    pub fn poll(&self, at: u32) -> bool {
        let pending = self.is_wanted();
        self.note(Event::Preempt, self.current.get(), at, u16::from(pending));
        pending
    }

    /// The machine.
    pub fn port(&self) -> &'static P {
        self.port
    }

    /// Ticks in a time slice.
    pub fn slice(&self) -> u32 {
        self.settings.slice
    }
}
