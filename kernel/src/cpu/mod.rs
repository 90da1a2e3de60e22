//! What belongs to one CPU: the current thread, the ready queue, deadlines and the tick (S1-05).

pub mod notes;
mod ready_queue;
mod ring;
pub(crate) mod timer;

pub use ready_queue::ReadyQueue;
pub use ring::Ring;

use crate::access::{Owner, Ref, Sealed};
use crate::list::List;
use crate::object::deadlines::{Deadlines, NEVER};
use crate::object::thread::RemoteWake;
use crate::object::{Domain, Thread};
use crate::port::{Lock, Port};
use crate::tree::Trees;
use crate::waits::Waits;
use abi::trace::{Event, point};
use cells::Cell;
use core::mem::offset_of;
use locks::{LockPolicy, ObjectLock};
use timer::DeadlinesFirst;

/// Nanoseconds by which a tick may be early or late to share the interrupt of a deadline: about
/// what serving an interrupt takes. Else one would wait for the other's interrupt.
pub(crate) const NEAR: u64 = 1_000;

/// What the manifest says about a CPU's time, and the kernel about its queue.
pub struct Settings {
    /// The scheduling tick in nanoseconds.
    pub tick: u64,
    /// The time slice in ticks.
    pub slice: u32,
    /// Whether the ready queue holds exactly the runnable threads.
    pub eager: bool,
    /// Removals in one look-up before it polls for interrupts; 0: it never does.
    pub lazy_dequeues: u32,
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
    /// An upper bound on the highest priority of a queued thread (S0-24).
    pub highest: Cell<i16>,
    /// The port's own state of this CPU.
    pub local: P::Local,
    /// This CPU's part of what guards the kernel.
    pub guards: <P::LockPolicy as LockPolicy>::Local,
    /// Whether the trace is on: kernels are entered at their traced instance then.
    pub traced: Cell<bool>,
    /// Something changed that calls for a full scheduling decision before leaving.
    pub resched: Cell<bool>,
    /// A decision was made, and threads that are to follow a change of waits may go before what it
    /// has chosen.
    pub chosen_behind: Cell<bool>,
    /// Threads that can run (and with lazy queueing some that cannot).
    pub ready: ReadyQueue<P>,
    /// Threads and timers that wait for an instant.
    pub deadlines: Deadlines<P>,
    /// The trace.
    pub ring: Ring,
    /// Which CPU it is.
    pub number: u32,
    /// The CPUs to interrupt when this one has left the kernel, a bit each.
    pub pending_ipis: Cell<u64>,
    /// Threads that became ready elsewhere and belong here; other CPUs add to it.
    pub remote_wakes: List<Thread<P>, RemoteWake>,
    /// Guards `remote_wakes`.
    pub remote_wakes_lock: Lock<P>,
    /// When what happens in this entry happens, if anything has; 0 if not. Of kernels with a tree.
    instant: Cell<u64>,
    /// When the deadline was that the timer's interrupt serves: since then what becomes ready by
    /// that is. Else [`NEVER`].
    pub(crate) late: Cell<u64>,
    /// Whether it was entered by an interrupt.
    pub(crate) is_interrupted: Cell<bool>,
    /// Whether the timer is to be programmed when this CPU has left the kernel.
    arming: Cell<bool>,
    /// Whether the decision to come was left to an interrupt already.
    pub(crate) decision_left: Cell<bool>,
    /// Whether it was left to deadlines. Of a tree.
    pub(crate) deadlines_first: Cell<DeadlinesFirst>,
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
    pub(crate) tick_at: Cell<u64>,
    /// The timer is programmed without regard to deadlines below this priority, some of which are
    /// due: those are deferred.
    floor: Cell<i16>,
    /// With several CPUs: up to this point of the tick grid lower deadlines stay deferred, whatever
    /// the thread that runs sets and is served meanwhile.
    deferred_until: Cell<u64>,
    pub(crate) settings: Settings,
    armed: Cell<u64>,
    port: &'static P,
    /// The scheduling tree, which all CPUs share.
    pub trees: &'static Trees<P>,
    /// Waits, as all CPUs know them.
    pub waits: &'static Waits<P>,
}

impl<P: Port> Owner for Cpu<P> {}
impl<P: Port> Sealed for Cpu<P> {}

impl<P: Port> Cpu<P> {
    /// Where a debugger finds what the timer is programmed for.
    pub const ARMED: usize = offset_of!(Self, armed);

    /// A CPU that idles.
    pub fn new(
        number: u32,
        idle: Ref<Thread<P>>,
        (port, trees, waits): (&'static P, &'static Trees<P>, &'static Waits<P>),
        settings: Settings,
    ) -> Cpu<P> {
        Cpu {
            current: Cell::new(idle),
            next: Cell::new(idle),
            idle,
            number,
            pending_ipis: Cell::new(0),
            remote_wakes: List::new(),
            remote_wakes_lock: Lock::<P>::new(),
            instant: Cell::new(0),
            late: Cell::new(NEVER),
            is_interrupted: Cell::new(false),
            arming: Cell::new(false),
            decision_left: Cell::new(false),
            deadlines_first: Cell::new(DeadlinesFirst::No),
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
            chosen_behind: Cell::new(false),
            ready: ReadyQueue::new(),
            deadlines: Deadlines::new(),
            ring: Ring::new(),
            tick_at: Cell::new(NEVER),
            floor: Cell::new(timer::NONE_DEFERRED),
            deferred_until: Cell::new(0),
            settings,
            armed: Cell::new(NEVER),
            port,
            trees,
            waits,
        }
    }

    /// The tick and the time slice, in nanoseconds.
    pub fn tick_and_slice(&self) -> (u64, u64) {
        (self.settings.tick, self.settings.tick * u64::from(self.settings.slice))
    }

    /// Whether an interrupt is pending. A section that may be undone is too short to make room.
    #[inline(always)]
    pub(crate) fn is_wanted(&self) -> bool {
        !self.is_undoable() && self.port.pending()
    }

    /// Whether the section of this CPU is a transaction, which may be undone.
    #[inline(always)]
    pub(crate) fn is_undoable(&self) -> bool {
        P::LockPolicy::SPECULATIVE && P::LockPolicy::is_speculating(&self.guards)
    }

    /// Whether work should make room for an interrupt, at this [`point`].
    pub fn poll(&self, at: u32) -> bool {
        let pending = self.is_wanted();
        if P::TREE {
            self.instant.set(0);
        }
        self.note(Event::Preempt, self.current.get(), at, u16::from(pending));
        pending
    }

    /// Whether the decision to come is left to an interrupt that waits. It is not left to a second
    /// one: other CPUs can send one after another.
    #[inline(always)]
    pub(crate) fn leaves_decision(&self) -> bool {
        if self.decision_left.get() {
            self.decision_left.set(false);
            return false;
        }
        let pending = self.poll(point::DECISION);
        if pending {
            self.decision_left.set(true);
        }
        pending
    }

    /// When what happens now happens: all between two preemption points at one instant.
    #[inline(always)]
    pub(crate) fn instant(&self) -> u64 {
        if self.instant.get() == 0 {
            self.instant.set(self.port.now());
        }
        self.instant.get()
    }

    /// An interrupt is served from now on.
    #[inline(always)]
    pub(crate) fn begin_interrupt(&self) {
        self.instant.set(self.port.arrival());
        self.is_interrupted.set(true);
    }

    /// This CPU leaves the kernel.
    #[inline(always)]
    pub(crate) fn end_event(&self) {
        self.instant.set(0);
        self.is_interrupted.set(false);
    }

    /// A decision is about to be made in steps. Whether it was left to an interrupt before.
    #[inline(always)]
    pub(crate) fn takes_up_decision(&self) -> bool {
        if P::SMP {
            self.steps.set(0);
        }
        self.decision_left.replace(false)
    }

    /// The decision that was left to an interrupt is made.
    #[inline(always)]
    pub(crate) fn no_decision_left(&self) {
        self.decision_left.set(false);
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
