//! Hot potato (S0-37): a ring of threads with unique priorities, each of which receives messages,
//! the potatoes, from the one before and sends them to the one behind. Neither priorities nor
//! places in memory follow the order of the ring.
//!
//! ```text
//! BEGIN(i): receive; the lowest thread first sends the coordinator a message: all others wait
//! PASS(i):  a potato has come; with hops left it goes to the next thread, else to the coordinator
//! COORDINATOR, REST: waits for as many messages as it awaits; throws the potatoes of a series
//! ```
//!
//! A ring of more threads than there are priorities does the same work in more memory; some of its
//! priorities are then of several threads.

use crate::archive::{Archive, SLOTS, System};
use crate::kernels;
use crate::port::Host;
use crate::processor::{Processor, START};
use crate::series::Workload;
use crate::think::random;
use crate::{board, counter};
use abi::call::NOTHING;
use abi::{Info, Rights};
use kernel::system;

/// Kinds of places, in the low byte. Above it are the numbers of the thread and of the one behind
/// it, of 24 bits each.
mod place {
    pub const COORDINATOR_BEGINS: u64 = 1;
    /// The coordinator has received.
    pub const COUNT: u64 = 2;
    /// The coordinator runs, and awaits nothing.
    pub const REST: u64 = 3;
    /// A potato has been thrown.
    pub const THROW: u64 = 4;
    pub const BEGIN: u64 = 5;
    pub const PASS: u64 = 6;
}

/// The coordinator's endpoint; the ring's follow.
const DONE: u32 = 1;
/// The coordinator's priority, above the ring's.
const HIGHEST: u64 = 255;

/// Priorities of the ring.
const PRIORITIES: u64 = 250;

/// What is booted: a ring of threads, which makes so many hops in every series.
pub struct Load {
    /// Its threads, whose priorities are 1 to 250 over and over.
    pub threads: u64,
    /// Hops of all potatoes of a series.
    pub hops: u64,
    /// The order of priorities, and where potatoes begin.
    pub seed: u64,
}

impl Load {
    /// The system of a ring in this order.
    fn system(&self, order: &[u64], seed: &mut u64) -> System {
        let threads = self.threads;
        let slots = (threads + 2).next_multiple_of(SLOTS);
        let mut archive = Archive::new(1, threads + 1, threads + 1, slots);
        let ring = archive.domain("ring", threads + 1, slots);
        let both = Rights(Rights::SEND.0 | Rights::RECEIVE.0);
        for slot in 0..=threads as u32 {
            let endpoint = archive.endpoint();
            archive.capability(ring, DONE + slot, endpoint, both);
        }
        archive.thread(ring, HIGHEST, place::COORDINATOR_BEGINS, 0);
        let mut priorities: Vec<u64> = (0..threads).map(|i| 1 + i % PRIORITIES).collect();
        shuffle(&mut priorities, seed);
        // The last of the lowest begins when all others wait.
        let last = priorities.iter().rposition(|priority| *priority == 1).expect("a lowest one");
        let mut behind = vec![0; order.len()];
        for (at, index) in order.iter().enumerate() {
            behind[*index as usize] = order[(at + 1) % order.len()];
        }
        for ((index, priority), behind) in (0..).zip(priorities).zip(behind) {
            let begins_last = u64::from(index == last as u64) << 63;
            let entry = place::BEGIN | index << 8 | behind << 32 | begins_last;
            archive.thread(ring, priority, entry, 0);
        }
        archive.finish(1)
    }
}

impl kernels::Load for Load {
    type Driver = Box<dyn Workload>;

    fn boot<S: system::System<Port: Host>>(&self, hertz: u64) -> Box<dyn Workload> {
        let mut seed = self.seed;
        let mut order: Vec<u64> = (0..self.threads).collect();
        shuffle(&mut order, &mut seed);
        let system = self.system(&order, &mut seed);
        let machine = board::boot::<S>(hertz, &system).next().expect("one CPU");
        let hops = self.hops;
        let cpu = Processor::new(machine);
        let none = Thrown { potatoes: 0, at: 0, count: 0, begun: 0 };
        Box::new(Ring::<S> { cpu, order, hops, seed, thrown: none, awaited: 1 })
    }
}

/// Brings a slice into random order.
pub fn shuffle<T>(slice: &mut [T], seed: &mut u64) {
    for last in (1..slice.len()).rev() {
        slice.swap(last, random(seed) as usize % (last + 1));
    }
}

/// Potatoes of the series that is under way.
struct Thrown {
    potatoes: u64,
    /// Where the first one begins.
    at: u64,
    /// How many have been thrown.
    count: u64,
    /// The counter when all were.
    begun: u64,
}

struct Ring<S: system::System> {
    cpu: Processor<S>,
    /// The threads' numbers in the order of the ring.
    order: Vec<u64>,
    hops: u64,
    seed: u64,
    thrown: Thrown,
    /// Messages that the coordinator still waits for.
    awaited: u64,
}

impl<S: system::System<Port: Host>> Ring<S> {
    /// The slot of a thread's endpoint.
    fn slot(index: u64) -> u32 {
        DONE + 1 + index as u32
    }

    /// Up to the next kernel entry of the running thread, and through it.
    #[inline(always)]
    fn step(&mut self) {
        let at = self.cpu.at;
        if at & 0xff != place::PASS {
            return self.seldom(at);
        }
        let regs = &mut self.cpu.regs;
        assert!(regs.number == 0, "a potato: {regs:?}");
        let (index, behind) = (at >> 8 & 0xff_ffff, at >> 32 & 0xff_ffff);
        let hops = regs.words[0];
        regs.words[0] = hops.wrapping_sub(1);
        let own = Self::slot(index);
        let (to, words) = if hops == 0 { (DONE, 0) } else { (Self::slot(behind), 1) };
        self.cpu.exchange(at, [to, own], Info::new(0, words));
    }

    #[inline(never)]
    fn seldom(&mut self, at: u64) {
        match at & 0xff {
            place::COORDINATOR_BEGINS => {
                self.cpu.exchange(place::COUNT, [NOTHING, DONE], Info(0));
            }
            place::COUNT => {
                assert!(self.cpu.regs.number == 0, "the coordinator: {:?}", self.cpu.regs);
                self.awaited -= 1;
                if self.awaited > 0 {
                    return self.cpu.exchange(place::COUNT, [NOTHING, DONE], Info(0));
                }
                self.cpu.at = place::REST;
            }
            place::THROW => self.throw(),
            place::BEGIN => {
                let index = at >> 8 & 0xff_ffff;
                let pass = at << 1 >> 1 & !0xff | place::PASS;
                let to = if at >> 63 == 1 { DONE } else { NOTHING };
                let own = Self::slot(index);
                self.cpu.exchange(pass, [to, own], Info::new(0, 0));
            }
            _ if at == START => self.cpu.start(),
            _ => panic!("no thread runs at {at:#x}: the ring has stopped"),
        }
    }

    /// Throws the next potato, or waits until all have cooled.
    fn throw(&mut self) {
        let Thrown { potatoes, at, count, .. } = self.thrown;
        if count == potatoes {
            self.awaited = potatoes;
            self.thrown.begun = counter::settled();
            return self.cpu.exchange(place::COUNT, [NOTHING, DONE], Info(0));
        }
        let hops = self.hops / potatoes + u64::from(count < self.hops % potatoes);
        self.thrown.count += 1;
        self.cpu.regs.words[0] = hops;
        let all = self.order.len() as u64;
        let place = (at + count * all / potatoes) % all;
        let to = Self::slot(self.order[place as usize]);
        self.cpu.exchange(place::THROW, [to, NOTHING], Info::new(0, 1));
    }
}

impl<S: system::System<Port: Host>> Workload for Ring<S> {
    fn series(&mut self, size: u64) -> u64 {
        while self.cpu.at != place::REST {
            self.step();
        }
        let at = random(&mut self.seed) % self.order.len() as u64;
        self.thrown = Thrown { potatoes: size, at, count: 0, begun: 0 };
        self.cpu.at = place::THROW;
        while self.cpu.at != place::REST {
            self.step();
        }
        counter::settled() - self.thrown.begun
    }

    fn operations(&self, _size: u64) -> u64 {
        self.hops
    }
}
