//! IPC queueing (S0-38): clients with random priorities are woken in random order, and each calls a
//! server, which serves only when all of them are queued.
//!
//! Server and waker are one thread below all others, as in the program of the same experiment:
//! whom it wakes runs at once, calls and is queued, and whom it answers waits to be woken again.
//!
//! ```text
//! client:  BEGIN(i) receive at its door  KNOCKED(i) call  ANSWERED(i) receive at its door
//! server:  WAKE a door at a time; then receive  SERVE reply and wait, the last time reply  REST
//! ```

use crate::archive::{Archive, SLOTS, System};
use crate::kernels;
use crate::port::Host;
use crate::processor::{Processor, START};
use crate::ring::shuffle;
use crate::series::Workload;
use crate::think::random;
use crate::{board, counter};
use abi::call::{NOTHING, REPLY};
use abi::{Info, Rights};
use kernel::system;

/// Kinds of places, in the low byte; above it is the client's number.
mod place {
    /// The server begins, or has answered the last client.
    pub const REST: u64 = 1;
    /// The server has woken a client.
    pub const WAKE: u64 = 2;
    /// The server has a request.
    pub const SERVE: u64 = 3;
    pub const BEGIN: u64 = 4;
    pub const KNOCKED: u64 = 5;
    pub const ANSWERED: u64 = 6;
}

/// The server's endpoint; the doors follow.
const SERVICE: u32 = 1;
/// The lowest priority of a client, and how many there are; the server is below.
const LOWEST: u64 = 2;
const PRIORITIES: u64 = 249;

/// What is booted.
pub struct Load {
    /// The most clients.
    pub clients: u64,
    /// Their priorities, and the order in which they are woken.
    pub seed: u64,
}

impl Load {
    fn system(&self, seed: &mut u64) -> System {
        let clients = self.clients;
        let slots = (clients + 2).next_multiple_of(SLOTS);
        let mut archive = Archive::new(1, clients + 1, clients + 1, slots);
        let queue = archive.domain("queue", clients + 1, slots);
        let both = Rights(Rights::SEND.0 | Rights::RECEIVE.0);
        for slot in 0..=clients as u32 {
            let endpoint = archive.endpoint();
            archive.capability(queue, SERVICE + slot, endpoint, both);
        }
        archive.thread(queue, LOWEST - 1, place::REST, 0);
        for index in 0..clients {
            let priority = LOWEST + random(seed) % PRIORITIES;
            archive.thread(queue, priority, place::BEGIN | index << 8, 0);
        }
        archive.finish(1)
    }
}

impl kernels::Load for Load {
    type Driver = Box<dyn Workload>;

    fn boot<S: system::System<Port: Host>>(&self, hertz: u64) -> Box<dyn Workload> {
        let mut seed = self.seed;
        let machine = board::boot::<S>(hertz, &self.system(&mut seed)).next().expect("one CPU");
        let order = (0..self.clients).collect();
        Box::new(Queue::<S> { cpu: Processor::new(machine), seed, order, size: 0, done: 0 })
    }
}

struct Queue<S: system::System> {
    cpu: Processor<S>,
    seed: u64,
    /// Clients in the order in which they are woken.
    order: Vec<u64>,
    /// How many of them take part.
    size: u64,
    /// How many have been woken, or served.
    done: u64,
}

fn door(index: u64) -> u32 {
    SERVICE + 1 + index as u32
}

impl<S: system::System<Port: Host>> Queue<S> {
    #[inline(always)]
    fn step(&mut self) {
        const NO_WORDS: Info = Info::new(0, 0);
        let (at, cpu) = (self.cpu.at, &mut self.cpu);
        if at == START {
            return cpu.start();
        }
        let (kind, index) = (at & 0xff, at >> 8);
        let answered = cpu.regs.number == 0 || kind == place::BEGIN;
        assert!(answered, "at {at:#x}: {:?}", cpu.regs);
        match kind {
            place::BEGIN | place::ANSWERED => {
                cpu.exchange(place::KNOCKED | index << 8, [NOTHING, door(index)], NO_WORDS);
            }
            place::KNOCKED => {
                cpu.call(place::ANSWERED | index << 8, SERVICE.into(), NO_WORDS);
            }
            place::WAKE if self.done < self.size => {
                self.done += 1;
                let next = door(self.order[self.done as usize - 1]);
                cpu.exchange(place::WAKE, [next, NOTHING], NO_WORDS);
            }
            place::WAKE => {
                self.done = 0;
                cpu.exchange(place::SERVE, [NOTHING, SERVICE], NO_WORDS);
            }
            place::SERVE => {
                self.done += 1;
                match self.done < self.size {
                    true => cpu.reply_wait(place::SERVE, SERVICE.into(), NO_WORDS),
                    false => cpu.exchange(place::REST, [REPLY, NOTHING], NO_WORDS),
                }
            }
            _ => panic!("no thread runs at {at:#x}: the queue has stopped"),
        }
    }
}

impl<S: system::System<Port: Host>> Workload for Queue<S> {
    fn series(&mut self, size: u64) -> u64 {
        while self.cpu.at != place::REST {
            self.step();
        }
        shuffle(&mut self.order, &mut self.seed);
        (self.size, self.done) = (size, 0);
        self.cpu.at = place::WAKE;
        let begun = counter::settled();
        while self.cpu.at != place::REST {
            self.step();
        }
        counter::settled() - begun
    }

    fn operations(&self, size: u64) -> u64 {
        size
    }
}
