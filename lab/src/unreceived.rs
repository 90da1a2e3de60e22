//! Messages that were given up at an endpoint, mostly at their deadline, since no thread received
//! them: how many, and what the programs do at the end that may receive there.

use crate::commands::counted;
use crate::image::Images;
use crate::machine::Outcome;
use crate::waits::{self, Wait};
use manifest::System;
use serde::Serialize;
use std::fmt;

/// Threads that people are told of, for each endpoint.
const THREADS: usize = 4;
/// Where the kernel stops to count.
const MOST: u32 = u16::MAX as u32;

/// What was not received at an endpoint of the manifest.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub struct Unreceived {
    /// The endpoint.
    pub endpoint: String,
    /// How many messages: 65,535 may be more.
    pub messages: u32,
    /// What the threads do that may receive there. None of them waits for messages there.
    pub threads: Vec<Wait>,
}

impl fmt::Display for Unreceived {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let were = if self.messages == 1 { "was" } else { "were" };
        let messages = match self.messages {
            MOST => "65,535 or more messages".to_string(),
            messages => counted(messages as usize, "message"),
        };
        write!(f, "{messages} to `{}` {were} given up before being received", self.endpoint)?;
        if self.threads.is_empty() {
            return writeln!(f, ": no thread is there that may receive");
        }
        writeln!(f, "; what may receive there:")?;
        self.threads.iter().take(THREADS).try_for_each(|thread| write!(f, "  {thread}"))?;
        match self.threads.len().saturating_sub(THREADS) {
            0 => Ok(()),
            more => writeln!(f, "  and {} more", counted(more, "thread")),
        }
    }
}

/// What was not received, but where a thread waits for messages at the end: there was one
/// that serves, which may have been busy.
pub fn told(outcome: &Outcome, system: &System, images: &Images) -> Vec<Unreceived> {
    let threads = waits::told(&outcome.threads, system, images);
    let told = |(index, messages): &(u32, u32)| {
        let index = *index as usize;
        let endpoint = system.endpoints.get(index)?.name.clone();
        let servers = system.servers(index);
        let serves = |wait: &&Wait| {
            let outer = wait.domain.split('/').next();
            servers.iter().any(|server| Some(&*system.domains[*server].name) == outer)
        };
        let threads: Vec<Wait> = threads.iter().filter(serves).cloned().collect();
        let there = format!("`{endpoint}`");
        let waits = |wait: &Wait| wait.state == "receiving" && wait.awaited == there;
        let messages = *messages;
        (!threads.iter().any(waits)).then_some(Unreceived { endpoint, messages, threads })
    };
    outcome.given_up.iter().filter_map(told).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::{Doing, Exit};
    use abi::boot::name_words;
    use abi::call::{Awaited, ThreadState};

    #[test]
    fn who_may_receive_is_told_unless_it_waits_for_messages() {
        let text = "[system]\nname = \"plant\"\n\n[[endpoint]]\nname = \"door\"\n\n\
                    [[endpoint]]\nname = \"gate\"\n\n\
                    [[domain]]\nname = \"deaf\"\nprogram = \"echo\"\npriority = 1\n\
                    caps = [{ name = \"door\", endpoint = \"door\", rights = [\"receive\"] }]\n\n\
                    [[domain]]\nname = \"other\"\nprogram = \"echo\"\npriority = 1\n\
                    caps = [{ name = \"gate\", endpoint = \"gate\", rights = [\"send\"] }]\n";
        let system = manifest::parse("plant.toml", text).unwrap();
        let doing = |domain: &str, what: Awaited, which| Doing {
            domain: (name_words(domain), None),
            name: [0; 2],
            index: 3,
            word: ThreadState::Receiving as u64 | what.word(which),
            timed: false,
        };
        let of = |threads: Vec<Doing>, given_up: &[(u32, u32)]| {
            let outcome = Outcome::made_up(Exit::Done(0), "");
            let outcome = Outcome { threads, given_up: given_up.to_vec(), ..outcome };
            let all = told(&outcome, &system, &Images::default());
            all.iter().map(Unreceived::to_string).collect::<String>()
        };
        let ended = || vec![doing("deaf", Awaited::Time, 0), doing("other", Awaited::Endpoint, 0)];
        let expected = "2 messages to `door` were given up before being received; what may receive \
                        there:\n  thread 3 of deaf has ended, or sleeps for ever\n";
        assert_eq!(of(ended(), &[(0, 2), (7, 1)]), expected);
        let elsewhere = of(vec![doing("deaf", Awaited::Endpoint, 1)], &[(0, 2)]);
        assert!(elsewhere.contains("waits for a message or signal from `gate`"), "{elsewhere}");
        assert_eq!(of(vec![doing("deaf", Awaited::Endpoint, 0)], &[(0, 2)]), "", "it serves");
        let nowhere = "1 message to `gate` was given up before being received: no thread is there \
                       that may receive\n";
        assert_eq!(of(ended(), &[(1, 1)]), nowhere);
        assert!(of(ended(), &[(1, 65_534)]).starts_with("65534 messages to"));
        assert!(of(ended(), &[(1, 65_535)]).starts_with("65,535 or more messages to"));
        assert_eq!(of(ended(), &[]), "");
    }
}
