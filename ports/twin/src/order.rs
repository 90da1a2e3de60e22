//! Which CPU goes on: that with the smallest clock, or one by chance.
//!
//! CPUs are coroutines, and one of them runs at a time. It lets others go on where it stands for a
//! while (computing, idling, waiting for a word to change) and, inside the kernel, in front of its
//! accesses to memory: to atomics always, to cells by chance.
//!
//! In order of time a CPU goes on while no other stands at an earlier instant, so that what CPUs
//! tell each other by atomics happens in the order of their clocks. By chance any CPU whose instant
//! has come may go on, now and then one whose instant is near; the others are late then, as behind
//! an interrupt of the firmware: there is one present, which never goes back.

use crate::hardware::Hardware;
use crate::meter;
use crate::processor::{Processor, Stance};
use crate::transactions::Refused;
use devices::Rng;
use std::cell::Cell;

/// By chance a CPU goes on early by at most so much.
const NEAR: u64 = 10_000;
/// Once in so many choices such a CPU is among those that may go on.
const EARLY: u64 = 8;
/// A CPU that never goes on by itself.
pub const NEVER: u64 = u64::MAX;

/// The order of a machine's CPUs.
pub struct Order {
    /// By chance: once in so many accesses to cells another CPU may go on; 0: in order of time.
    chance: u64,
    rng: Rng,
    /// The first instant at which another CPU than the running one stands.
    horizon: Cell<u64>,
    /// Writes to memory that is followed.
    writes: Cell<u64>,
    /// The same, when all CPUs last waited for each other.
    halted: Cell<Option<u64>>,
    /// The CPU that goes on next.
    next: Cell<u32>,
}

impl Order {
    /// In order of time, or by chance.
    pub fn new(chance: u64, seed: u64) -> Order {
        Order {
            chance,
            rng: Rng::new(!seed),
            horizon: Cell::new(NEVER),
            writes: Cell::new(0),
            halted: Cell::new(None),
            next: Cell::new(0),
        }
    }
}

impl Hardware {
    /// The CPU that goes on next; `None`: none ever will.
    pub fn next_cpu(&self) -> Option<u32> {
        let next = self.order.next.get();
        (next != u32::MAX).then_some(next)
    }

    /// Whether no other CPU stands before an instant.
    pub fn is_first_until(&self, instant: u64) -> bool {
        self.order.chance == 0 && instant <= self.order.horizon.get()
    }

    /// The running CPU goes on at an instant. Others go on meanwhile. It may be early, if it is
    /// free and interrupted.
    pub fn stand(&self, until: u64, stance: Stance) {
        if self.is_first_until(until) && until != NEVER {
            return meter::pass_to(until);
        }
        let me = self.here();
        me.stand.set(until);
        me.stance.set(stance);
        let now = meter::now();
        let next = self.choose(now);
        self.order.next.set(next.unwrap_or(u32::MAX));
        if next != Some(me.number) {
            // SAFETY: where a CPU begins it leaves its way out, and this runs on its coroutine:
            // programs, which have their own, do nothing that comes here.
            unsafe { (*me.way_out.get()).suspend(()) };
        }
        self.goes_on(me);
    }

    /// It is this CPU's turn.
    fn goes_on(&self, me: &Processor) {
        self.running.set(me.number);
        // By chance there is one present; it is where the CPU before has left it.
        let present = if self.order.chance > 0 { meter::now() } else { 0 };
        meter::go_on(me.number, me.stand.get().max(present));
        me.stance.set(Stance::Goes);
        let others = self.processors.iter().filter(|other| other.number != me.number);
        self.order.horizon.set(others.map(|other| other.stand.get()).min().unwrap_or(NEVER));
    }

    /// A CPU begins.
    pub fn begins(&self, number: u32) {
        self.goes_on(&self.processors[number as usize]);
    }

    fn choose(&self, now: u64) -> Option<u32> {
        let earliest = || self.processors.iter().min_by_key(|cpu| cpu.stand.get());
        let first = earliest()?;
        let instant = first.stand.get();
        if instant == NEVER {
            return self.look_again(now);
        }
        if self.order.chance == 0 {
            return Some(first.number);
        }
        let early = self.order.rng.once_in(EARLY);
        let latest = instant.max(now).saturating_add(if early { NEAR } else { 0 });
        let may = || self.processors.iter().filter(|cpu| cpu.stand.get() <= latest);
        let nth = self.order.rng.next() % may().count() as u64;
        if !self.is_disturbed() {
            return Some(first.number);
        }
        may().nth(nth as usize).map(|cpu| cpu.number)
    }

    /// No CPU goes on by itself: those that wait for a word look again, once.
    #[cold]
    fn look_again(&self, now: u64) -> Option<u32> {
        let spinning = || {
            let spins = |cpu: &&Processor| matches!(cpu.stance.get(), Stance::Spins { .. });
            self.processors.iter().filter(spins)
        };
        let writes = Some(self.order.writes.get());
        if self.order.halted.replace(writes) == writes {
            return None;
        }
        spinning().for_each(|cpu| cpu.stand.set(now));
        spinning().next().map(|cpu| cpu.number)
    }

    /// Which CPU waits for which word, where none goes on any more; empty: all CPUs idle.
    pub fn who_waits(&self) -> Vec<u32> {
        let spins = |cpu: &&Processor| matches!(cpu.stance.get(), Stance::Spins { .. });
        self.processors.iter().filter(spins).map(|cpu| cpu.number).collect()
    }

    /// Between two things that the running CPU does others may go on.
    #[inline]
    pub fn turn(&self) {
        if self.processors.len() > 1 {
            self.give_way(2);
        }
    }

    /// Another CPU goes on if that is behind, or by chance once in so many times.
    fn give_way(&self, once_in: u64) {
        let now = meter::now();
        let others = match self.order.chance {
            0 => self.order.horizon.get() < now,
            _ => {
                let drawn = self.order.rng.once_in(once_in);
                if self.is_disturbed() { drawn } else { self.order.horizon.get() < now }
            }
        };
        if others {
            self.stand(now, Stance::Goes);
        }
    }

    /// In front of an access within the kernel.
    pub fn before_access(&self, me: &Processor, at: usize, atomic: bool, writes: bool) {
        match atomic {
            true => self.give_way(2),
            false if self.order.chance > 0 => self.give_way(self.order.chance),
            false => {}
        }
        me.looked_at.set(if atomic && !writes { at } else { 0 });
        if writes {
            self.order.writes.set(self.order.writes.get() + 1);
            if atomic {
                self.wake(at);
            }
        }
    }

    /// CPUs that wait for this word look at it.
    fn wake(&self, at: usize) {
        for cpu in &self.processors {
            if let Stance::Spins { word, since } = cpu.stance.get()
                && word == at
            {
                cpu.stance.set(Stance::Goes);
                self.go_at(cpu, meter::now().max(since));
            }
        }
    }

    fn go_at(&self, cpu: &Processor, instant: u64) {
        cpu.stand.set(instant);
        self.order.horizon.set(self.order.horizon.get().min(instant));
    }

    /// An interrupt reaches a CPU at an instant.
    pub fn rouse(&self, cpu: &Processor, instant: u64) {
        if cpu.stance.get() == Stance::Free && instant < cpu.stand.get() {
            self.go_at(cpu, instant);
        }
    }

    /// A round of a loop that waits: until the word that was just looked at changes, or, where
    /// something else is waited for, for a moment.
    pub fn spin(&self) {
        self.refuse(Refused::Wait);
        let me = self.here();
        meter::pass(u64::from(self.costs.spin));
        let since = meter::now();
        match me.looked_at.get() {
            0 => self.stand(since, Stance::Goes),
            word => self.stand(NEVER, Stance::Spins { word, since }),
        }
    }
}
