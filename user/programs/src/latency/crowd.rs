//! Many threads of one domain, each with a door: an endpoint at which it waits.

use rt::thread::{self, Spec};
use rt::{Env, Slot, Slots, signal};

/// The most threads of a crowd; priorities 2 to 251 are theirs, 1 is the driver's, 252 is above.
pub const MOST: usize = 250;

/// Threads with ascending priorities, numbered from 1.
pub struct Crowd {
    env: Env,
    slots: Slots,
    /// Door 1; those of the others are in the slots behind.
    pub doors: Slot,
    /// Thread 1; the others are in the slots behind.
    pub threads: Slot,
    started: usize,
}

/// A numbered slot of a row.
pub fn nth(first: Slot, n: u64) -> Slot {
    Slot(first.0 + n as u32 - 1)
}

/// A thread's argument: its number, and the first door's slot.
pub fn unpack(argument: u64) -> (u64, Slot) {
    (argument & 0xffff, Slot((argument >> 16) as u32))
}

impl Crowd {
    /// Doors for the threads and one behind the last, and no thread yet.
    pub fn new(env: &Env) -> Crowd {
        let mut slots = env.slots();
        let doors = slots.fresh();
        signal::create_endpoint(doors, Slot::NONE).expect("an endpoint");
        for _ in 1..=MOST {
            signal::create_endpoint(slots.fresh(), Slot::NONE).expect("an endpoint");
        }
        let threads = slots.fresh();
        for _ in 1..MOST {
            slots.fresh();
        }
        Crowd { env: *env, slots, doors, threads, started: 0 }
    }

    /// Starts threads until there are `count`; thread n has the priority n + 1.
    pub fn grow(&mut self, count: u64, work: fn(&Env, u64)) {
        while self.started < count as usize {
            self.started += 1;
            let n = self.started as u64;
            let spec = Spec::further(&self.env, self.started, n + 1);
            let argument = n | u64::from(self.doors.0) << 16;
            let slot = nth(self.threads, n);
            thread::start(&self.env, self.started, slot, spec, (work, argument)).expect("a thread");
        }
    }

    /// Starts one more thread, above or below; the numbers of such begin behind the crowd's.
    /// Returns its slot.
    pub fn join(&mut self, n: usize, priority: u64, work: fn(&Env, u64), argument: u64) -> Slot {
        let slot = self.slots.fresh();
        let spec = Spec::further(&self.env, MOST + n, priority);
        thread::start(&self.env, MOST + n, slot, spec, (work, argument)).expect("a thread");
        slot
    }
}
