//! The tick: at each point of a grid a tick is charged to the thread that ran. It runs while a
//! thread waits for the CPU.

use crate::access::Ref;
use crate::cpu::{Cpu, NEAR};
use crate::object::Thread;
use crate::object::deadlines::NEVER;
use crate::object::thread::Turn;
use crate::port::Port;
use abi::trace::Event;
use policies::slice;

impl<P: Port> Cpu<P> {
    /// Whether the tick runs.
    #[inline(always)]
    pub fn ticks(&self) -> bool {
        self.tick_at.get() != NEVER
    }

    /// Starts the tick.
    #[cold]
    pub fn start_tick(&self) {
        self.tick_at.set(self.next_tick(self.port().now()));
        self.rearm();
    }

    /// Starts the tick, if it does not run, but leaves it to this CPU to program its timer: for
    /// other CPUs. Whether it did.
    pub(crate) fn begin_tick(&self) -> bool {
        let begins = !self.ticks();
        if begins {
            self.tick_at.set(self.next_tick(self.port().now()));
        }
        begins
    }

    /// The first point of the tick grid behind an instant.
    pub(crate) fn next_tick(&self, now: u64) -> u64 {
        slice::next_tick(now, self.settings.tick)
    }

    /// The timer has interrupted. At a point of the tick grid a donation ends (S0-09), and a thread
    /// at the end of its time slice makes room for its equals (S0-05).
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
        let expired = self.charge_tick(ran);
        if expired && next != ran && ran.queued() {
            // A thread that this interrupt has woken took over before the slice ended.
            self.ready.move_back(ran);
        }
        if next == self.idle || !next.runnable() {
            self.next.set(self.pick_next());
        } else if next == ran || next.priority.get() < self.highest.get() {
            // A thread that this interrupt has woken stays if none is higher: it has not run in
            // this tick.
            self.give_way(next, expired && next == ran);
        }
        let at = self.tick_at.get();
        self.tick_at.set(if self.is_waited_for() { self.next_tick(now.max(at)) } else { NEVER });
    }

    /// Charges a tick to a thread: nothing else takes time from it. Whether its time slice is over;
    /// a new one begins then.
    fn charge_tick(&self, thread: Ref<Thread<P>>) -> bool {
        let charged = slice::charge(thread.slice.get(self), self.settings.slice);
        thread.slice.set(self, charged.left);
        let turn = thread.turn.get(self);
        if charged.expired && !turn.is_none() {
            thread.turn.set(self, Turn { used: Turn::OVER, ..turn });
        }
        charged.expired
    }
}
