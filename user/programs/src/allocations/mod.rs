//! A storm of allocations (S4-08): threads of several domains make and destroy objects as fast as
//! they can, at their quotas, beside a thread that is to run at its instants.
//!
//! | file | what |
//! |---|---|
//! | `storm.rs` | a domain of the storm: its threads, and what they tell the judge |
//! | `thing.rs` | what they make and destroy |
//! | `judge.rs` | the thread that runs at its instants, and says whether all held |

mod judge;
mod storm;
mod thing;

pub use judge::main as judge;
pub use storm::main as storm;

use abi::Error;
use rt::{Env, Words};

/// What threads can make, by number.
const KINDS: [&str; 7] =
    ["endpoints", "deadlines", "mappings", "threads", "trains", "reservations", "domains"];

/// Words that all domains share.
#[derive(Clone, Copy)]
enum Common {
    /// The round of the storm; even: it is over.
    Round,
    /// How often threads have begun to wait for a round.
    Ready,
    /// Errors other than that of a quota, the last of them in the low half, and the kind of what
    /// was made or destroyed in the high one.
    Wrong,
    Last,
    /// By kind: how many were made.
    Made,
    /// By kind: how many were refused for the quota.
    Refused = Common::Made as isize + KINDS.len() as isize,
}

/// The words.
#[derive(Clone, Copy)]
struct Board(Words);

impl Board {
    fn of(env: &Env) -> Board {
        Board(env.mem("board"))
    }

    fn get(self, word: Common) -> u64 {
        self.0.get(word as usize)
    }

    fn add(self, word: Common, value: u64) {
        self.0.add(word as usize, value);
    }

    fn of_kind(self, word: Common, kind: usize) -> u64 {
        self.0.get(word as usize + kind)
    }

    fn count(self, word: Common, kind: usize) {
        self.0.add(word as usize + kind, 1);
    }

    /// Notes an error that should not be.
    fn wrong(self, kind: usize, error: Error) {
        self.add(Common::Wrong, 1);
        self.0.set(Common::Last as usize, error as u64 | (kind as u64) << 32);
    }
}
