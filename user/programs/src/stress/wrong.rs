//! What can be wrong.

use core::fmt;

/// What is checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Calls,
    Objects,
    Wakes,
    Quotas,
}

/// Everything that is checked.
pub const KINDS: [Kind; 4] = [Kind::Calls, Kind::Objects, Kind::Wakes, Kind::Quotas];

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(match self {
            Kind::Calls => "each call has its answer, or ends with its partner",
            Kind::Objects => "nothing that is gone is used",
            Kind::Wakes => "no wake-up is lost",
            Kind::Quotas => "quotas are as before when all is gone",
        })
    }
}

/// What was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u64)]
pub enum Wrong {
    /// A call to who lives failed: the error.
    Refused = 1,
    /// An answer is not that to the message: what came, and what was to come.
    Answer,
    /// A management call failed: its place in the program, and the error.
    Manage,
    /// A server that is gone has answered: the count before and after.
    DeadAnswers,
    /// An answer of another life: which, and the count.
    OtherLife,
    /// A page that is gone was read, or one that is there was not: what was read, and the count.
    Page,
    /// A page was written without the right to: before and after.
    Written,
    /// A thread ran that was stopped: how far it had got before and after.
    Ran,
    /// A signal was not seen: which, and the last that was.
    Unseen,
    /// A thread is not done: its state.
    Stuck,
    /// A quota differs: which resource, and how much of it is used.
    Quota,
}

impl Wrong {
    const ALL: [Wrong; 11] = [
        Wrong::Refused,
        Wrong::Answer,
        Wrong::Manage,
        Wrong::DeadAnswers,
        Wrong::OtherLife,
        Wrong::Page,
        Wrong::Written,
        Wrong::Ran,
        Wrong::Unseen,
        Wrong::Stuck,
        Wrong::Quota,
    ];

    /// What it is a failure of.
    pub fn kind(self) -> Kind {
        match self {
            Wrong::Refused | Wrong::Answer | Wrong::Manage => Kind::Calls,
            Wrong::Unseen | Wrong::Stuck => Kind::Wakes,
            Wrong::Quota => Kind::Quotas,
            _ => Kind::Objects,
        }
    }

    fn from_code(code: u64) -> Option<Wrong> {
        Wrong::ALL.into_iter().find(|wrong| *wrong as u64 == code)
    }
}

/// The first thing that was wrong.
#[derive(Clone, Copy, Debug)]
pub struct Found {
    pub wrong: Wrong,
    /// The thread that found it.
    pub thread: u64,
    /// Two numbers that say more.
    pub numbers: [u64; 2],
}

impl Found {
    pub fn from_words(words: [u64; 4]) -> Option<Found> {
        let [code, thread, a, b] = words;
        Some(Found { wrong: Wrong::from_code(code)?, thread, numbers: [a, b] })
    }
}

impl fmt::Display for Found {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let [a, b] = self.numbers;
        write!(f, "thread {}: {:?} {a:#x} {b:#x}", self.thread, self.wrong)
    }
}
