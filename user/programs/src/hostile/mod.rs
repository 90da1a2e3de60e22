//! A program that tries everything it may not do, and a judge that watches what becomes of it.
//!
//! `hostile` shares one page of notes with `judge`, which also handles its faults: a probe leaves
//! in the notes where it can go on, and the judge lets it go on there. Both count. The judge
//! prints a line for each group of attempts, and in the end looks whether anything that is its
//! own has changed.

mod calls;
mod judge;
mod machine;
mod random;

use rt::{Env, Error, Words};

pub use judge::main as judge;

/// The name of a group, and what tries it.
type Group = (&'static str, fn(&mut Attempts));

/// Groups of attempts, in order.
const GROUPS: &[Group] = &[
    ("privileged instructions", machine::privileged),
    ("memory outside of the domain", machine::memory),
    ("stack pointers outside of user space", machine::stacks),
    ("dangerous flags and debug traps", machine::flags),
    ("vector registers of another domain", machine::vectors),
    ("forged capabilities", calls::forged),
    ("stale and revoked capabilities", calls::stale),
    ("rights that it lacks", calls::rights),
    ("bad mappings", calls::mappings),
    ("bad message buffers", calls::buffers),
    ("bad registers for threads", calls::registers),
    ("threads at bad addresses", calls::wild_threads),
    ("more than its priority", calls::priority),
    ("sends to itself", calls::self_sends),
    ("unknown system calls", calls::unknown),
    ("random system calls", random::calls),
    ("more than its quotas", calls::quotas),
];

/// What the judge keeps in its vector registers.
const SECRET: u64 = 0x7365_6372_6574_7321;

/// Notes: where a probe can go on after a fault.
const RESUME: usize = 0;
/// Notes: how many groups are done.
const DONE: usize = 1;
/// Notes: goes up all the time.
const PROGRESS: usize = 2;
/// Notes: faults that the judge has seen, debug traps among them.
const FAULTS: usize = 3;
const TRAPS: usize = 4;
/// Notes: where the judge keeps something in its own address space.
const VAULT: usize = 5;
/// Notes: 1 while hostile may block for ever, and the judge is to cancel that.
const CANCEL: usize = 6;
/// Notes: random calls that did something that is allowed.
const ALLOWED: usize = 7;
/// Notes of each group: attempts, those that went through, which of them was first.
const GROUP: usize = 16;
const GROUP_WORDS: usize = 3;

/// The attempts of one group.
struct Attempts {
    env: Env,
    notes: Words,
    at: usize,
}

impl Attempts {
    /// Counts an attempt that must be refused; whether it was.
    fn attempt(&mut self, refused: bool) {
        let number = self.notes.add(self.at, 1);
        if !refused && self.notes.add(self.at + 1, 1) == 0 {
            self.notes.set(self.at + 2, number);
        }
        self.notes.add(PROGRESS, 1);
    }

    /// Counts an attempt that must fail with this error.
    fn refuse<T>(&mut self, result: Result<T, Error>, error: Error) {
        self.attempt(result.err() == Some(error));
    }

    /// Counts an attempt that must fail somehow.
    fn fail<T>(&mut self, result: Result<T, Error>) {
        self.attempt(result.is_err());
    }

    /// Tries something that must fault; whether it went through all the same.
    fn fault(&mut self, attempt: impl FnOnce(&core::sync::atomic::AtomicU64) -> bool) {
        let faults = self.notes.get(FAULTS);
        let through = attempt(self.notes.word(RESUME));
        self.attempt(!through && self.notes.get(FAULTS) > faults);
    }
}

/// The program: memory `notes`, and toys to misuse: endpoints `toy` and `mute`, notification
/// `bell`, memory `page`.
pub fn main(env: &Env) {
    let notes = env.mem("notes");
    for (i, (_, group)) in GROUPS.iter().enumerate() {
        group(&mut Attempts { env: *env, notes, at: GROUP + GROUP_WORDS * i });
        notes.set(DONE, i as u64 + 1);
    }
}
