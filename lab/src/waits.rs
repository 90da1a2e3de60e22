//! What blocked threads wait for, by the names of the manifest, and of variables.

use crate::image::Images;
use crate::machine::{Doing, Exit, Outcome};
use crate::places;
use abi::boot::{name_bytes, name_text};
use abi::call::{Awaited, ThreadState};
use manifest::System;
use serde::{Deserialize, Serialize};
use std::fmt;

/// Names of the objects that the manifest makes, in the order of their places in the kernel.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Objects {
    endpoints: Vec<String>,
    notifications: Vec<String>,
    memories: Vec<Memory>,
}

/// Memory of a domain in which its program keeps mutexes and conditions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Memory {
    domain: String,
    address: u64,
    bytes: u64,
    name: String,
}

impl Objects {
    /// Those of a system with these programs.
    pub fn of(system: &System, images: &Images) -> Objects {
        let places = places::shared(system).into_iter().chain(places::statics(system, images));
        let memory = |place: trace::Place| Memory {
            domain: system.domains[place.domain].name.clone(),
            address: place.address,
            bytes: place.bytes,
            name: place.name,
        };
        Objects {
            endpoints: system.endpoints.iter().map(|one| one.name.clone()).collect(),
            notifications: system.notifications.iter().map(|one| one.name.clone()).collect(),
            memories: places.map(memory).collect(),
        }
    }

    /// What a thread of a domain waits for, by the word of its row; none if it is ready. `threads`
    /// names those that are known.
    pub fn spelled(
        &self,
        word: u64,
        domain: &str,
        threads: &dyn Fn(u64) -> Option<String>,
    ) -> Option<String> {
        let (what, which) = Awaited::of(word)?;
        let numbered = |kind: &str| format!("{kind} {which}");
        let named = |names: &[String], kind: &str| {
            let name = usize::try_from(which).ok().and_then(|at| names.get(at));
            name.map_or_else(|| numbered(kind), |name| format!("`{name}`"))
        };
        Some(match what {
            Awaited::Time => "time".to_string(),
            Awaited::Endpoint => named(&self.endpoints, "endpoint"),
            Awaited::Notification => named(&self.notifications, "notification"),
            Awaited::Train => numbered("train"),
            Awaited::Answer => {
                let server = which.checked_sub(1);
                let name = server.and_then(threads);
                let known = || server.map(|server| format!("thread {server}"));
                name.or_else(known).unwrap_or("an answer".to_string())
            }
            Awaited::Words => format!("the mutex or condition at {}", self.place(domain, which)),
        })
    }

    /// An address in a domain, by the memory there that has a name.
    fn place(&self, domain: &str, address: u64) -> String {
        let is_there = |memory: &&Memory| {
            let offset = address.checked_sub(memory.address);
            memory.domain == domain && offset.is_some_and(|offset| offset < memory.bytes)
        };
        match self.memories.iter().find(is_there).map(|it| (&it.name, address - it.address)) {
            Some((name, 0)) => name.clone(),
            Some((name, offset)) => format!("{name}+{offset:#x}"),
            None => format!("{address:#x}"),
        }
    }
}

/// What a thread was doing at the end of a run that did not come to an end of its own.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Wait {
    /// The name of its domain, as in a fault.
    pub domain: String,
    /// The name of the thread, if a program has given it one.
    pub thread: Option<String>,
    /// The thread's place in the kernel's table.
    pub index: u32,
    /// What it is doing.
    pub state: &'static str,
    /// What it waits for.
    #[serde(rename = "for")]
    pub awaited: String,
    /// Whether the wait ends at a deadline.
    pub timed: bool,
}

impl fmt::Display for Wait {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match &self.thread {
            Some(thread) => write!(f, "thread {thread} of {}", self.domain)?,
            None => write!(f, "thread {} of {}", self.index, self.domain)?,
        }
        let how = match self.state {
            "sending" => "waits to send to",
            "receiving" if self.awaited.starts_with('`') => "waits for a message or signal from",
            "calling" => "waits for the answer of",
            "suspended" => return writeln!(f, " is suspended"),
            "ready" => return writeln!(f, " is ready to run"),
            _ => "waits for",
        };
        match (self.awaited.as_str(), self.timed) {
            ("time", true) => writeln!(f, " sleeps"),
            ("time", false) => writeln!(f, " has ended, or sleeps for ever"),
            (awaited, true) => writeln!(f, " {how} {awaited}, with a timeout"),
            (awaited, false) => writeln!(f, " {how} {awaited}"),
        }
    }
}

/// What each thread was doing, if a run did not come to an end of its own.
pub fn at_end(outcome: &Outcome, system: &System, images: &Images) -> Vec<Wait> {
    match outcome.exit {
        Exit::Done(_) => Vec::new(),
        _ => told(&outcome.threads, system, images),
    }
}

/// What each of these threads was doing.
pub fn told(threads: &[Doing], system: &System, images: &Images) -> Vec<Wait> {
    let objects = Objects::of(system, images);
    let domain_of = |index: u64| {
        let found = threads.iter().find(|thread| u64::from(thread.index) == index);
        found.map(domain)
    };
    let told = |thread: &Doing| Wait {
        domain: domain(thread),
        thread: (thread.name != [0; 2]).then(|| text(thread.name)),
        index: thread.index,
        state: ThreadState::name_of(thread.word).unwrap_or("?"),
        awaited: objects
            .spelled(thread.word, &domain(thread), &domain_of)
            .unwrap_or("nothing".to_string()),
        timed: thread.timed,
    };
    threads.iter().map(told).collect()
}

/// The name of a thread's domain: behind a `/` that of an inner one, which may have none.
fn domain(thread: &Doing) -> String {
    let (outer, inner) = thread.domain;
    inner.map_or_else(|| text(outer), |inner| format!("{}/{}", text(outer), text(inner)))
}

fn text(name: [u64; 2]) -> String {
    name_text(&name_bytes(name)).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use abi::boot::name_words;

    #[test]
    fn each_thread_is_told_with_the_name_of_what_it_waits_for() {
        let text = "[system]\nname = \"plant\"\n\n[[endpoint]]\nname = \"door\"\n\n\
                    [[notification]]\nname = \"bell\"\n\n\
                    [[memory]]\nname = \"tank\"\nsize = \"4K\"\n\n\
                    [[domain]]\nname = \"pump\"\nprogram = \"echo\"\npriority = 1\n\
                    maps = [{ memory = \"tank\", rights = \"rw\" }]\n";
        let system = manifest::parse("plant.toml", text).unwrap();
        let doing = |index, domain: &str, state: ThreadState, what: Awaited, which: u64| Doing {
            domain: (name_words(domain), None),
            name: [0; 2],
            index,
            word: state as u64 | what.word(which),
            timed: false,
        };
        let named = |name, thread| Doing { name: name_words(name), ..thread };
        let inside = |thread: Doing| Doing { domain: (thread.domain.0, Some([0; 2])), ..thread };
        let timed = |thread| Doing { timed: true, ..thread };
        let threads = [
            doing(1, "pump", ThreadState::Sending, Awaited::Endpoint, 0),
            named("bell", doing(2, "pump", ThreadState::Receiving, Awaited::Notification, 0)),
            doing(3, "fan", ThreadState::Calling, Awaited::Answer, 2),
            doing(4, "fan", ThreadState::Waiting, Awaited::Words, 0x1_0000_0008),
            doing(10, "pump", ThreadState::Waiting, Awaited::Words, manifest::MAPS + 8),
            inside(doing(5, "pump", ThreadState::Receiving, Awaited::Time, 0)),
            timed(doing(6, "fan", ThreadState::Sending, Awaited::Endpoint, 7)),
            doing(7, "fan", ThreadState::Suspended, Awaited::Answer, 0),
            timed(doing(8, "fan", ThreadState::Receiving, Awaited::Time, 0)),
            Doing {
                word: ThreadState::Ready as u64,
                ..doing(9, "fan", ThreadState::Ready, Awaited::Time, 0)
            },
        ];
        let all: String =
            told(&threads, &system, &Images::default()).iter().map(Wait::to_string).collect();
        let expected = "thread 1 of pump waits to send to `door`\n\
                        thread bell of pump waits for a message or signal from `bell`\n\
                        thread 3 of fan waits for the answer of pump\n\
                        thread 4 of fan waits for the mutex or condition at 0x100000008\n\
                        thread 10 of pump waits for the mutex or condition at tank+0x8\n\
                        thread 5 of pump/ has ended, or sleeps for ever\n\
                        thread 6 of fan waits to send to endpoint 7, with a timeout\n\
                        thread 7 of fan is suspended\n\
                        thread 8 of fan sleeps\n\
                        thread 9 of fan is ready to run\n";
        assert_eq!(all, expected);
    }
}
