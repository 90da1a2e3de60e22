//! A client/server load as in the thesis's macro benchmarks (S0-E03, S0-E12): what a message takes
//! when programs compute and copy in between, and with the same clock a message when they do not.
//!
//! ```text
//! client: BEGIN | ASK(i) has its answer: work, every second time give way  CALL(i) call
//! server: ANSWER has a request: work, reply and wait
//! ```

use crate::archive::{Archive, ENDPOINT, SLOTS, System};
use crate::context::Regs;
use crate::port::Host;
use crate::processor::{Processor, START};
use crate::request::Request;
use crate::think::random;
use crate::{board, counter, kernels, pin};
use abi::call::NOTHING;
use abi::{Info, Rights};
use kernel::system;
use serde::Serialize;

/// Kinds of places, in the low byte; above it is the client's number.
mod place {
    pub const SERVER_BEGINS: u64 = 1;
    pub const ANSWER: u64 = 2;
    pub const BEGIN: u64 = 3;
    pub const ASK: u64 = 4;
    pub const CALL: u64 = 5;
}

/// The server is above its clients, as a guest's kernel is not preempted by its processes.
const SERVER: u64 = 110;
const CLIENT: u64 = 100;
/// Answers of a client before the next one runs: a datagram is sent and one is received.
const TURN: u64 = 2;
/// Bytes of a copy, and of the memory that a program copies within: more than caches near the
/// processor hold of all programs together.
const BLOCK: usize = 1 << 10;
const MEMORY: usize = 1 << 20;
/// The part of the work that is copying, in percent: that of `memmove` in the thesis's profile
/// (Table 5.3).
const COPYING: u64 = 30;
/// Messages of a case that are not recorded.
const WARM_UP: u64 = 5_000;
/// Messages in a batch: the counter goes in steps that are too long for one.
const BATCH: u64 = 100;

/// What programs do between messages.
#[derive(Clone, Copy, PartialEq)]
enum Between {
    Nothing,
    Computing,
    Copying,
}

/// Cases: a name, the clients, and what lies between messages.
const CASES: [(&str, u64, Between); 4] = [
    ("ping-pong", 1, Between::Nothing),
    ("5 clients", 5, Between::Nothing),
    ("5 clients compute", 5, Between::Computing),
    ("5 clients compute and copy", 5, Between::Copying),
];

/// Messages of one case.
#[derive(Serialize)]
pub struct Messages {
    /// Its name.
    pub case: &'static str,
    /// Ticks of each batch: the sum over its messages, of each from the system call of its sender
    /// to its receiver's return.
    pub batches: Vec<u64>,
    /// Messages in a batch.
    pub messages_in_batch: u64,
}

/// Measures all cases in turns, so that what the host does meanwhile meets all alike.
pub fn measure(request: &Request, hertz: u64) -> Result<Vec<Messages>, String> {
    pin::pin(pin::choose(1)?[0])?;
    let work = request.work;
    let mut all = Vec::new();
    for (case, clients, between) in CASES {
        let load = Load { clients, work, between, seed: request.seed };
        let mut mix = kernels::boot_load(&request.kernel, hertz, &load)?;
        mix.run(WARM_UP);
        all.push((mix, Messages { case, batches: Vec::new(), messages_in_batch: BATCH }));
    }
    let batches = request.messages.div_ceil(request.rounds * BATCH);
    for _ in 0..request.rounds {
        for (mix, messages) in &mut all {
            // The first messages find the caches as the case before has left them.
            mix.run(WARM_UP / 10);
            messages.batches.extend((0..batches).map(|_| mix.run(BATCH)));
        }
    }
    Ok(all.into_iter().map(|(_, messages)| messages).collect())
}

struct Load {
    clients: u64,
    work: u64,
    between: Between,
    seed: u64,
}

impl Load {
    fn system(&self) -> System {
        let domains = self.clients + 1;
        let mut archive = Archive::new(domains, domains, 1, domains * SLOTS);
        let endpoint = archive.endpoint();
        let server = archive.domain("server", 1, SLOTS);
        archive.thread(server, SERVER, place::SERVER_BEGINS, 0);
        archive.capability(server, ENDPOINT, endpoint, Rights::RECEIVE);
        for index in 0..self.clients {
            let client = archive.domain("client", 1, SLOTS);
            archive.thread(client, CLIENT, place::BEGIN | index << 8, 0);
            archive.capability(client, ENDPOINT, endpoint, Rights::SEND);
        }
        archive.finish(1)
    }
}

/// A load of any kernel.
trait Run {
    /// Runs so many messages; returns what they took together.
    fn run(&mut self, messages: u64) -> u64;
}

impl kernels::Load for Load {
    type Driver = Box<dyn Run>;

    fn boot<S: system::System<Port: Host>>(&self, hertz: u64) -> Box<dyn Run> {
        let machine = board::boot::<S>(hertz, &self.system()).next().expect("one CPU");
        let programs = (0..=self.clients).map(|_| vec![1; MEMORY]).collect();
        Box::new(Mix::<S> {
            cpu: Processor::new(machine),
            answers: vec![0; self.clients as usize],
            work: Work { ticks: self.work, between: self.between, programs, seed: self.seed },
            overhead: counter::overhead(),
            begun: 0,
        })
    }
}

/// What programs do between messages: client `i` in memory `i`, the server in the last one.
struct Work {
    ticks: u64,
    between: Between,
    programs: Vec<Vec<u8>>,
    seed: u64,
}

impl Work {
    /// Works for half the mean to one and a half.
    #[inline(never)]
    fn stretch(&mut self, program: usize) {
        if self.between == Between::Nothing {
            return;
        }
        let begun = counter::now();
        let ticks = self.ticks / 2 + random(&mut self.seed) % self.ticks.max(1);
        if self.between == Between::Copying {
            let memory = &mut self.programs[program];
            while counter::now() - begun < ticks * COPYING / 100 {
                let [from, to] = [(); 2].map(|()| random(&mut self.seed) as usize);
                let [from, to] = [from, to].map(|at| at % (MEMORY / BLOCK) * BLOCK);
                memory.copy_within(from..from + BLOCK, to);
            }
        }
        while counter::now() - begun < ticks {
            std::hint::spin_loop();
        }
    }
}

struct Mix<S: system::System> {
    cpu: Processor<S>,
    /// How many answers each client has had.
    answers: Vec<u64>,
    work: Work,
    overhead: u64,
    /// When the message under way was sent; 0: none is.
    begun: u64,
}

impl<S: system::System<Port: Host>> Mix<S> {
    /// Up to the next kernel entry of the running thread, and through it; what the message took
    /// that has arrived before it, if one has.
    fn step(&mut self) -> Option<u64> {
        const INFO: Info = Info::new(0, 1);
        let arrived = counter::settled();
        let at = self.cpu.at;
        let (kind, index) = (at & 0xff, (at >> 8) as usize);
        let taken = (self.begun != 0).then(|| (arrived - self.begun).saturating_sub(self.overhead));
        self.begun = 0;
        match kind {
            _ if at == START => self.cpu.start(),
            place::SERVER_BEGINS => {
                self.cpu.exchange(place::ANSWER, [NOTHING, ENDPOINT], Info(0));
            }
            place::ANSWER => {
                assert!(self.cpu.regs.number == 0, "a request: {:?}", self.cpu.regs);
                self.work.stretch(self.answers.len());
                self.cpu.regs.words[0] += 1;
                self.begun = counter::settled();
                self.cpu.reply_wait(place::ANSWER, ENDPOINT.into(), INFO);
            }
            place::ASK => {
                let regs = self.cpu.regs;
                let right = regs.number == 0 && regs.words[0] == index as u64 + 1;
                assert!(right, "an answer to client {index}: {regs:?}");
                self.work.stretch(index);
                self.answers[index] += 1;
                let call = place::CALL | at >> 8 << 8;
                match self.answers[index] % TURN {
                    0 => self.cpu.give_way(call),
                    _ => self.cpu.at = call,
                }
            }
            place::BEGIN | place::CALL => {
                self.cpu.regs = Regs { words: [index as u64, 0, 0, 0], ..Regs::default() };
                self.begun = counter::settled();
                self.cpu.call(place::ASK | at >> 8 << 8, ENDPOINT.into(), INFO);
            }
            _ => panic!("no thread runs at {at:#x}: the load has stopped"),
        }
        taken
    }
}

impl<S: system::System<Port: Host>> Run for Mix<S> {
    fn run(&mut self, messages: u64) -> u64 {
        let (mut arrived, mut ticks) = (0, 0);
        while arrived < messages {
            if let Some(taken) = self.step() {
                arrived += 1;
                ticks += taken;
            }
        }
        ticks
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kernel_runs_every_case() {
        for kernel in kernels::KERNELS {
            let words = ["mix", "--kernel", kernel, "--messages", "20", "--rounds", "2", "--work"];
            let words: Vec<String> = words.iter().chain(&["10"]).map(ToString::to_string).collect();
            let request = Request::parse(&words).expect("a command line");
            let found = measure(&request, counter::hertz()).expect(kernel);
            assert_eq!(found.len(), CASES.len());
            assert!(found.iter().all(|messages| messages.batches.len() == 2), "{kernel}");
        }
    }

    #[test]
    fn work_takes_its_time() {
        let programs = vec![vec![1; MEMORY]];
        for (between, least) in
            [(Between::Nothing, 0), (Between::Computing, 50_000), (Between::Copying, 50_000)]
        {
            let programs = programs.clone();
            let mut work = Work { ticks: 100_000, between, programs, seed: 1 };
            let begun = counter::now();
            work.stretch(0);
            assert!(counter::now() - begun >= least);
        }
    }
}
