//! One CPU with a client and a server: what a processor would run between entries.
//!
//! ```text
//!  begins: server ──receive──> blocked          client ──> ASK
//!  ASK (client has a reply)      think, call        ──kernel──> ANSWER of the server
//!  ANSWER (server has a request) think, reply-wait  ──kernel──> ASK of the client
//! ```
//!
//! The client sends a number, the server answers with the next one, and both check what arrives.

use crate::archive::{BADGE, ENDPOINT, Entries};
use crate::context::Regs;
use crate::counter::{self, HostTime};
use crate::port::Host;
use crate::processor::{Processor, START};
use crate::think::Think;
use abi::Info;
use abi::call::NOTHING;
use kernel::events::Machine;
use kernel::system::System;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

/// Where a thread goes on: what instruction pointers are elsewhere.
mod place {
    pub const ASK: u64 = 1;
    pub const ANSWER: u64 = 2;
    pub const SERVER_BEGINS: u64 = 3;
    pub const CLIENT_BEGINS: u64 = 4;
}

/// Where threads begin.
pub const ENTRIES: Entries = Entries { server: place::SERVER_BEGINS, client: place::CLIENT_BEGINS };

/// The messages of the benchmark: one word, which travels in a register.
const INFO: Info = Info::new(0, 1);
const SLOT: u64 = ENDPOINT as u64;

/// When several CPUs measure together.
pub struct Window {
    /// The counter at which it begins; 0 until all CPUs are there.
    pub begins: AtomicU64,
    /// Its length in ticks.
    pub ticks: u64,
    /// Messages between two looks at the counter.
    pub chunk: u64,
}

/// What a CPU did in a window.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Share {
    /// Messages that it has sent.
    pub messages: u64,
    /// Ticks that passed meanwhile: a chunk more than the window at most.
    pub ticks: u64,
    /// Ticks after the window's beginning at which it was there.
    pub late: u64,
    /// Nanoseconds of its ticks for which the host let something else run on the CPU.
    pub lost: u64,
}

/// A CPU of any kernel.
pub trait Drive: Send {
    /// Runs so many round trips; returns the ticks that they took.
    fn batch(&mut self, trips: u64) -> u64;
    /// Runs until a window is over.
    fn run(&mut self, window: &Window) -> Share;
    /// Changes what passes between a message's arrival and the next one.
    fn set_think(&mut self, think: Think);
    /// Messages that have been sent so far: two for each round trip.
    fn messages(&self) -> u64;
}

/// A CPU that runs the kernel `S`.
pub struct Driver<S: System> {
    cpu: Processor<S>,
    /// The number that the client has sent last.
    number: u64,
    messages: u64,
    think: Think,
}

impl<S: System<Port: Host>> Driver<S> {
    /// The CPU that a machine is entered on; no other driver may drive it.
    pub fn new(machine: Machine<S::Port>) -> Driver<S> {
        Driver { cpu: Processor::new(machine), number: 0, messages: 0, think: Think::NONE }
    }

    /// Runs for a chunk at least, however late it is.
    fn run_until(&mut self, until: u64, chunk: u64) {
        loop {
            for _ in 0..chunk {
                self.step();
            }
            if counter::now() >= until {
                return;
            }
        }
    }

    /// Up to the next kernel entry of the running thread, and through it.
    #[inline(always)]
    fn step(&mut self) {
        if self.cpu.is_interrupted() {
            return self.cpu.interrupt();
        }
        match self.cpu.at {
            place::ASK => {
                let regs = &mut self.cpu.regs;
                let answered = regs.number == 0 && regs.words[0] == self.number + 1;
                assert!(answered, "the client's answer: {regs:?} to {}", self.number);
                self.think.pass();
                self.number += 1;
                regs.words[0] = self.number;
                self.messages += 1;
                self.cpu.call(place::ASK, SLOT, INFO);
            }
            place::ANSWER => {
                let regs = &mut self.cpu.regs;
                let Regs { number, first, words: [word, ..], .. } = *regs;
                let asked = number == 0 && first == BADGE && word == self.number;
                assert!(asked, "the server's request: {regs:?}, not {}", self.number);
                self.think.pass();
                regs.words[0] += 1;
                self.messages += 1;
                self.cpu.reply_wait(place::ANSWER, SLOT, INFO);
            }
            _ => self.begin(),
        }
    }

    /// What happens once, and what idling is.
    #[cold]
    #[inline(never)]
    fn begin(&mut self) {
        match self.cpu.at {
            START => self.cpu.start(),
            place::SERVER_BEGINS => {
                self.cpu.regs = Regs::default();
                self.cpu.exchange(place::ANSWER, [NOTHING, ENDPOINT], Info(0));
            }
            place::CLIENT_BEGINS => {
                self.cpu.at = place::ASK;
                self.cpu.regs = Regs { words: [1, 0, 0, 0], ..Regs::default() };
            }
            _ => std::hint::spin_loop(),
        }
    }
}

impl<S: System<Port: Host>> Drive for Driver<S> {
    fn batch(&mut self, trips: u64) -> u64 {
        while self.cpu.at != place::ASK {
            self.step();
        }
        let (messages, begun) = (self.messages, counter::settled());
        for _ in 0..2 * trips {
            self.step();
        }
        let taken = counter::settled() - begun;
        assert!(self.messages == messages + 2 * trips, "not every step was a message");
        taken
    }

    fn run(&mut self, window: &Window) -> Share {
        let begins = window.begins.load(Relaxed);
        self.run_until(begins, window.chunk);
        let (messages, host, begun) = (self.messages, HostTime::now(), counter::now());
        self.run_until(begins + window.ticks, window.chunk);
        Share {
            messages: self.messages - messages,
            ticks: counter::now() - begun,
            late: begun - begins,
            lost: host.lost(),
        }
    }

    fn set_think(&mut self, think: Think) {
        self.think = think;
    }

    fn messages(&self) -> u64 {
        self.messages
    }
}
