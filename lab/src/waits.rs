//! What blocked threads wait for, by the names of the manifest, and of variables.

use crate::image::Images;
use crate::places;
use abi::call::{Awaited, ThreadState};
use abi::log::STUCK;
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

/// A thread that waits at the end of a run, for ever.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub struct Wait {
    /// The name of its domain, as in a fault.
    pub domain: String,
    /// The name of the thread, if a program has given it one.
    pub thread: Option<String>,
    /// The thread's place in the kernel's table.
    pub index: u64,
    /// What it is doing.
    pub state: &'static str,
    /// What it waits for.
    #[serde(rename = "for")]
    pub awaited: String,
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
            _ => "waits for",
        };
        match (self.state, self.awaited.as_str()) {
            (_, "time") => writeln!(f, " has ended, or sleeps for ever"),
            (_, awaited) => writeln!(f, " {how} {awaited}"),
        }
    }
}

/// What each thread waits for, if a console tells that nothing will end a wait.
pub fn told(console: &str, system: &System, images: &Images) -> Vec<Wait> {
    let lines: Vec<&str> = console.lines().map(str::trim_end).collect();
    let Some(end) = lines.iter().rposition(|line| *line == STUCK) else { return Vec::new() };
    let begin = lines[..end].iter().rposition(|line| read(line).is_none());
    let waits: Vec<Read> =
        lines[begin.map_or(0, |at| at + 1)..end].iter().filter_map(|line| read(line)).collect();
    let objects = Objects::of(system, images);
    let domain_of = |index: u64| {
        let found = waits.iter().find(|wait| wait.index == index);
        found.map(|wait| wait.domain.to_string())
    };
    let told = |wait: &Read| Wait {
        domain: wait.domain.to_string(),
        thread: wait.thread.map(str::to_string),
        index: wait.index,
        state: ThreadState::name_of(wait.word).unwrap_or("?"),
        awaited: objects
            .spelled(wait.word, wait.domain, &domain_of)
            .unwrap_or("nothing".to_string()),
    };
    waits.iter().map(told).collect()
}

/// A line of the kernel's.
struct Read<'a> {
    domain: &'a str,
    thread: Option<&'a str>,
    index: u64,
    word: u64,
}

fn read(line: &str) -> Option<Read<'_>> {
    let number = |text: &str| u64::from_str_radix(text.strip_prefix("0x")?, 16).ok();
    let (domain, rest) = line.strip_prefix("waits, domain ")?.split_once(", thread ")?;
    let (thread, word) = rest.rsplit_once(", for ")?;
    let (index, name) = match thread.split_once(' ') {
        Some((index, name)) => (index, Some(name)),
        None => (thread, None),
    };
    Some(Read { domain, thread: name, index: number(index)?, word: number(word)? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_thread_is_told_with_the_name_of_what_it_waits_for() {
        let text = "[system]\nname = \"plant\"\n\n[[endpoint]]\nname = \"door\"\n\n\
                    [[notification]]\nname = \"bell\"\n\n\
                    [[memory]]\nname = \"tank\"\nsize = \"4K\"\n\n\
                    [[domain]]\nname = \"pump\"\nprogram = \"echo\"\npriority = 1\n\
                    maps = [{ memory = \"tank\", rights = \"rw\" }]\n";
        let system = manifest::parse("plant.toml", text).unwrap();
        let line = |who: &str, state: ThreadState, what: Awaited, which: u64| {
            format!("waits, domain {who}, for {:#018x}\n", state as u64 | what.word(which))
        };
        let console = [
            "hello\r\n".to_string(),
            line("pump, thread 0x01", ThreadState::Sending, Awaited::Endpoint, 0),
            line("pump, thread 0x02 bell", ThreadState::Receiving, Awaited::Notification, 0),
            line("fan, thread 0x03", ThreadState::Calling, Awaited::Answer, 2),
            line("fan, thread 0x04", ThreadState::Waiting, Awaited::Words, 0x1_0000_0008),
            line("pump, thread 0x08", ThreadState::Waiting, Awaited::Words, manifest::MAPS + 8),
            line("pump/", ThreadState::Receiving, Awaited::Time, 0)
                .replace("/,", "/, thread 0x05,"),
            line("fan, thread 0x06", ThreadState::Sending, Awaited::Endpoint, 7),
            line("fan, thread 0x07", ThreadState::Suspended, Awaited::Answer, 0),
            format!("{STUCK}\n"),
        ];
        let tell = |console: &str| told(console, &system, &Images::default());
        let all: String = tell(&console.concat()).iter().map(Wait::to_string).collect();
        let expected = "thread 1 of pump waits to send to `door`\n\
                        thread bell of pump waits for a message or signal from `bell`\n\
                        thread 3 of fan waits for the answer of pump\n\
                        thread 4 of fan waits for the mutex or condition at 0x100000008\n\
                        thread 8 of pump waits for the mutex or condition at tank+0x8\n\
                        thread 5 of pump/ has ended, or sleeps for ever\n\
                        thread 6 of fan waits to send to endpoint 7\n\
                        thread 7 of fan is suspended\n";
        assert_eq!(all, expected);
        assert_eq!(tell(&console[..9].concat()), [], "it may go on");
    }
}
