//! The judge: handles the faults of `hostile`, tells what was refused, and ends the run.

use super::VAULT;
use super::{
    ALLOWED, CANCEL, DONE, FAULTS, GROUP, GROUP_WORDS, GROUPS, PROGRESS, RESUME, SECRET, TRAPS,
};
use abi::call::Timeout;
use abi::call::fault::{CONTINUE, RETRY};
use abi::message::FaultKind;
use rt::cap::Held;
use rt::thread::{self, Registers};
use rt::{Console, Env, Error, Message, Received, Slot, Wait, Words};
use rt::{arch, cap, ipc, println, system};

/// Nanoseconds between two looks at what hostile does.
const LOOK: u64 = 2_000_000;
/// Looks without progress after which hostile counts as lost.
const PATIENCE: u64 = 500;
/// Capabilities that the judge looks after.
const OWN: usize = 8;

struct Judge {
    console: Console,
    notes: Words,
    vault: Words,
    faults: Slot,
    thread: Slot,
    /// How many groups have been told about.
    told: usize,
    /// Whether everything was refused so far.
    clean: bool,
    /// Whether the judge's own vector registers were always its own.
    undisturbed: bool,
}

/// The judge: capabilities `faults` (receive), `hostile-thread` (control), `console`, `system`;
/// memory `notes` and, its own, `vault`.
pub fn main(env: &Env) {
    let (notes, vault) = (env.mem("notes"), env.mem("vault"));
    let held = capabilities();
    for i in 0..vault.len() {
        vault.set(i, secret(i));
    }
    notes.set(VAULT, vault.address());
    let mut judge = Judge {
        console: env.console(),
        notes,
        vault,
        faults: env.cap("faults"),
        thread: env.cap("hostile-thread"),
        told: 0,
        clean: true,
        undisturbed: true,
    };
    judge.watch();
    judge.verdict(held == capabilities());
    let status = u64::from(!judge.clean);
    system::shutdown(env.cap("system"), status).expect("the run ends");
}

fn secret(i: usize) -> u64 {
    SECRET.rotate_left(i as u32 % 64) ^ i as u64
}

fn capabilities() -> [Option<Held>; OWN] {
    core::array::from_fn(|i| cap::inspect(Slot(i as u32 + 1)).ok())
}

impl Judge {
    /// Answers faults until all groups are done or hostile is lost.
    fn watch(&mut self) {
        let mut answer = None;
        let (mut progress, mut idle) = (0, 0);
        while self.told < GROUPS.len() && idle < PATIENCE {
            match self.next(answer.take()) {
                Ok(fault) => {
                    answer = Some(self.judge(&fault));
                    continue;
                }
                Err(Error::Timeout) => {}
                Err(error) => {
                    println!(self.console, "the judge hears nothing any more: {error:?}");
                    break;
                }
            }
            self.tell();
            let now = self.notes.get(PROGRESS);
            idle = if now == progress { idle + 1 } else { 0 };
            progress = now;
            if idle > 1 && self.notes.get(CANCEL) == 1 {
                self.cancel();
            }
        }
        self.tell();
    }

    /// Answers the last fault, if there was one, and waits for the next one for a while.
    fn next(&mut self, answer: Option<Message>) -> Result<Received, Error> {
        let to = if answer.is_some() { Slot::REPLY } else { Slot::NONE };
        let deadline = system::clock() + LOOK;
        let wait = Wait { send: Timeout::Zero, receive: Timeout::At, deadline };
        arch::simd_write(SECRET);
        let outcome = ipc::exchange(to, self.faults, answer.unwrap_or(Message::empty(0)), wait);
        self.undisturbed &= arch::simd_matches(SECRET).0;
        outcome.received()
    }

    /// How the thread goes on: after a trap where it was, else where its probe said.
    fn judge(&mut self, fault: &Received) -> Message {
        self.notes.add(FAULTS, 1);
        if fault.info.label() == FaultKind::Debug as u32 {
            self.notes.add(TRAPS, 1);
            return Message::empty(RETRY);
        }
        Message::short(CONTINUE, [self.notes.get(RESUME)])
    }

    /// Ends the operation that hostile is blocked in.
    fn cancel(&mut self) {
        let cancel = Registers { cancel: true, ..Registers::default() };
        let done = thread::suspend(self.thread)
            .and_then(|()| thread::set(self.thread, cancel))
            .and_then(|_| thread::resume(self.thread));
        if let Err(error) = done {
            println!(self.console, "the judge cannot free hostile: {error:?}");
            self.clean = false;
        }
    }

    /// Tells about the groups that have been done since the last look.
    fn tell(&mut self) {
        while (self.told as u64) < self.notes.get(DONE) && self.told < GROUPS.len() {
            let at = GROUP + GROUP_WORDS * self.told;
            let [attempts, through, first] = [0, 1, 2].map(|i| self.notes.get(at + i));
            let name = GROUPS[self.told].0;
            if through == 0 && attempts > 0 {
                println!(self.console, "refused: {name} ({attempts} attempts)");
            } else {
                self.clean = false;
                println!(
                    self.console,
                    "NOT REFUSED: {name}: {through} of {attempts}, first number {first}"
                );
            }
            self.told += 1;
        }
    }

    fn verdict(&mut self, same_capabilities: bool) {
        if self.told < GROUPS.len() {
            let name = GROUPS[self.told].0;
            println!(self.console, "hostile is lost in: {name}");
            self.clean = false;
        }
        let changed = (0..self.vault.len()).filter(|&i| self.vault.get(i) != secret(i)).count();
        for (right, what) in [
            (changed == 0, "memory of the judge is unchanged"),
            (same_capabilities, "capabilities of the judge are unchanged"),
            (self.undisturbed, "vector registers of the judge are unchanged"),
        ] {
            println!(self.console, "{}{what}", if right { "" } else { "NOT TRUE: " });
            self.clean &= right;
        }
        let attempts = |i: usize| self.notes.get(GROUP + GROUP_WORDS * i);
        let all: u64 = (0..GROUPS.len()).map(attempts).sum();
        let (faults, allowed) = (self.notes.get(FAULTS), self.notes.get(ALLOWED));
        println!(self.console, "{allowed} random calls did what they may");
        let outcome = if self.clean { "all refused" } else { "NOT ALL REFUSED" };
        println!(self.console, "{all} attempts, {faults} faults: {outcome}");
    }
}
