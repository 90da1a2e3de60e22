//! What a supervisor has done, told in words. It is read from the supervisor's journal, which no
//! other program can write.

use crate::faults::{Line, explained};
use crate::image::Images;
use crate::machine::{Outcome, word_at};
use crate::panics::Panics;
use abi::boot::{name_bytes, name_text};
use abi::message::FaultKind;
use abi::supervision::{
    ENTRIES, Entry, Event, JOURNAL_COUNT, JOURNAL_DOWN, JOURNAL_MAGIC, JOURNAL_SILENT,
    MOST_CHILDREN, Reason, Silence,
};
use manifest::{Domain, JOURNAL, System};
use serde::Serialize;
use std::fmt;

/// Restarts that people are shown at the end of a run.
const SHOWN: usize = 16;

/// What a supervisor has done in a run.
#[derive(Debug, Default, Serialize)]
pub struct Restarts {
    /// How often anything failed.
    pub count: u64,
    /// Domains that were given up or could not be made.
    pub down: Vec<String>,
    /// Whether the manifest admits that for all of them.
    #[serde(skip)]
    pub expected: bool,
    /// The latest failures, the oldest first.
    pub latest: Vec<Restart>,
}

/// A failure, and what the supervisor did about it.
#[derive(Debug, Serialize)]
pub struct Restart {
    /// The name of the domain that failed.
    pub domain: String,
    /// What became of it: `restarted`, `given up`, `not made`, or `not restarted` if the
    /// supervisor was kept from that.
    pub event: &'static str,
    /// What had happened.
    pub what: String,
    /// The functions that it stood in, the innermost inlined one first; none in the simulation.
    pub at: Vec<String>,
    /// When the supervisor learnt of it, in nanoseconds since boot.
    pub seen: u64,
    /// Nanoseconds until all of it ran again.
    pub took: u64,
    /// Whether a heartbeat was missing: then it is told when that was noticed.
    #[serde(skip)]
    pub is_silence: bool,
}

/// What the journal of a run tells; nothing if there was no supervisor.
pub fn told(outcome: &Outcome, system: &System, images: &Images) -> Restarts {
    match outcome.memories.get(JOURNAL) {
        Some(journal) if system.supervisor.is_some() => {
            let panics = Panics::told(&outcome.console, &outcome.memories, system);
            read(journal, &panics, system, images)
        }
        _ => Restarts::default(),
    }
}

fn read(journal: &[u8], panics: &Panics, system: &System, images: &Images) -> Restarts {
    let word = |index: usize| word_at(journal, index);
    if word(0) != Some(JOURNAL_MAGIC) {
        return Restarts::default();
    }
    let count = word(JOURNAL_COUNT).unwrap_or(0);
    let entry = |nth: u64| {
        let words = std::array::from_fn(|index| word(Entry::place(nth) + index).unwrap_or(0));
        Entry::from_words(words)
    };
    let children = system.children();
    let latest = (count.saturating_sub(ENTRIES as u64)..count).filter_map(entry);
    let latest = latest.filter_map(|entry| {
        let domain = children.get(entry.child as usize)?;
        Some(restart(&entry, domain, panics, system, images))
    });
    let unanswered: Vec<Restart> = (children.iter().enumerate())
        .filter_map(|(nth, domain)| {
            let first = JOURNAL_SILENT + nth * Silence::WORDS;
            let words = std::array::from_fn(|index| word(first + index).unwrap_or(0));
            Some(unanswered(&Silence::from_words(words)?, domain))
        })
        .collect();
    let set = word(JOURNAL_DOWN).unwrap_or(0);
    let down = (0..MOST_CHILDREN).filter(|child| set >> child & 1 != 0);
    let down: Vec<&Domain> = down.filter_map(|child| children.get(child)).collect();
    Restarts {
        count: count + unanswered.len() as u64,
        expected: down.iter().all(|domain| domain.may_fault),
        down: down.iter().map(|domain| domain.name.clone()).collect(),
        latest: latest.chain(unanswered).collect(),
    }
}

/// A missed heartbeat that the supervisor had no time to answer.
fn unanswered(silence: &Silence, domain: &Domain) -> Restart {
    Restart {
        domain: domain.name.clone(),
        event: "not restarted",
        what: silent(&domain.name, silence.by),
        at: Vec::new(),
        seen: silence.seen,
        took: 0,
        is_silence: true,
    }
}

fn silent(name: &str, by: [u64; 2]) -> String {
    let bytes = name_bytes(by);
    let running = match name_text(&bytes) {
        "" => String::new(),
        by => format!(" while {by} had the CPU"),
    };
    format!("{name} did not signal its heartbeat{running}")
}

fn restart(
    entry: &Entry,
    domain: &Domain,
    panics: &Panics,
    system: &System,
    images: &Images,
) -> Restart {
    let name = &domain.name;
    let (what, at) = match entry.reason {
        Reason::Fault => {
            let kind = FaultKind::from_code(entry.kind).unwrap_or(FaultKind::Other).name();
            let line =
                Line { kind, domain: name, thread: None, detail: entry.detail, at: entry.at };
            let fault = explained(&line, panics, system, images);
            (fault.what, fault.at)
        }
        Reason::Silent => (silent(name, [entry.detail, entry.at]), Vec::new()),
        Reason::Ended => (format!("the program of {name} ended"), Vec::new()),
        Reason::Asked => (format!("a client killed {name}"), Vec::new()),
        Reason::Overran => {
            let times = if entry.detail == 1 { "time" } else { "times" };
            (format!("{name} used its budget up, {} {times} by then", entry.detail), Vec::new())
        }
        Reason::Missed => {
            (format!("job {} of {name} missed its deadline", entry.detail), Vec::new())
        }
        Reason::Making => {
            let error = abi::Error::from_code(entry.detail as u8);
            let error = error.map_or("no reason".to_string(), |error| format!("{error:?}"));
            (format!("{name} could not be made: {error}"), Vec::new())
        }
    };
    let event = match entry.event {
        Event::Restarted => "restarted",
        Event::GivenUp => "given up",
        Event::NotMade => "not made",
    };
    let took = entry.done.saturating_sub(entry.seen);
    let is_silence = entry.reason == Reason::Silent;
    Restart { domain: name.clone(), event, what, at, seen: entry.seen, took, is_silence }
}

impl fmt::Display for Restarts {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let hidden = self.count.saturating_sub(SHOWN as u64);
        if hidden > 0 {
            writeln!(f, "{hidden} earlier failures are not shown")?;
        }
        let shown = self.latest.len().saturating_sub(SHOWN);
        for restart in &self.latest[shown..] {
            write!(f, "{}: {}", restart.event, restart.what)?;
            if restart.is_silence {
                let [ms, us] = [restart.seen / 1_000_000, restart.seen / 1_000 % 1_000];
                write!(f, ", noticed at {ms}.{us:03} ms")?;
            }
            writeln!(f)?;
            restart.at.iter().try_for_each(|place| writeln!(f, "  in {place}"))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use abi::supervision::JOURNAL_BYTES;

    fn system(more: &str) -> System {
        let text = format!(
            "[system]\nname = \"plant\"\n\n[[domain]]\nname = \"pump\"\nprogram = \"echo\"\n\
             priority = 1\nrestart = \"on-failure\"\n{more}"
        );
        manifest::parse("plant.toml", &text).unwrap()
    }

    fn journal(entries: &[Entry], down: u64) -> Vec<u8> {
        let mut words = vec![0; JOURNAL_BYTES as usize / 8];
        (words[0], words[JOURNAL_COUNT]) = (JOURNAL_MAGIC, entries.len() as u64);
        words[JOURNAL_DOWN] = down;
        for (nth, entry) in (0..).zip(entries) {
            let at = Entry::place(nth);
            words[at..at + Entry::WORDS].copy_from_slice(&entry.to_words());
        }
        words.into_iter().flat_map(u64::to_le_bytes).collect()
    }

    fn tell(journal: &[u8], system: &System) -> Restarts {
        read(journal, &Panics::default(), system, &Images::default())
    }

    const SILENT: Entry = Entry {
        child: 0,
        event: Event::Restarted,
        reason: Reason::Silent,
        kind: 0,
        detail: 0,
        at: 0,
        seen: 1000,
        done: 1700,
    };

    #[test]
    fn each_failure_is_told_in_words() {
        let (kind, detail) = (FaultKind::Memory as u32, 8);
        let hog = abi::boot::name_words("hog");
        let entries = [
            SILENT,
            Entry { detail: hog[0], at: hog[1], seen: 60_517_190, done: 60_517_890, ..SILENT },
            Entry { reason: Reason::Fault, kind, detail, ..SILENT },
            Entry { reason: Reason::Ended, ..SILENT },
            Entry { reason: Reason::Asked, event: Event::GivenUp, ..SILENT },
            Entry { reason: Reason::Making, event: Event::NotMade, detail: 5, ..SILENT },
            Entry { child: 7, ..SILENT },
        ];
        let told = tell(&journal(&entries, 1), &system(""));
        assert_eq!((told.count, told.latest[0].took, told.expected), (7, 700, false));
        assert_eq!(told.down, ["pump"]);
        let expected = "restarted: pump did not signal its heartbeat, noticed at 0.001 ms\n\
                        restarted: pump did not signal its heartbeat while hog had the CPU, \
                        noticed at 60.517 ms\n\
                        restarted: pump used a null pointer (address 0x8)\n\
                        restarted: the program of pump ended\n\
                        given up: a client killed pump\n\
                        not made: pump could not be made: Stale\n";
        assert_eq!(told.to_string(), expected, "a child that is not there is left out");
        let admitted = system("may_fault = true\n");
        assert!(tell(&journal(&entries, 1), &admitted).expected);
    }

    #[test]
    fn a_heartbeat_is_told_that_the_supervisor_had_no_time_for() {
        let mut bytes = journal(&[SILENT], 0);
        let silence = Silence { seen: 40, by: abi::boot::name_words("hog") };
        let words = silence.to_words().into_iter().flat_map(u64::to_le_bytes);
        (8 * JOURNAL_SILENT..).zip(words).for_each(|(at, byte)| bytes[at] = byte);
        let told = tell(&bytes, &system(""));
        assert_eq!((told.count, told.latest[1].seen), (2, 40));
        let said = "not restarted: pump did not signal its heartbeat while hog had the CPU, \
                    noticed at 0.000 ms\n";
        assert!(told.to_string().ends_with(said), "{told}");
    }

    #[test]
    fn the_latest_are_kept_and_few_are_shown() {
        let entries: Vec<Entry> = (0..300).map(|seen| Entry { seen, ..SILENT }).collect();
        let told = tell(&journal(&entries, 0), &system(""));
        assert_eq!((told.count, told.latest.len()), (300, ENTRIES));
        assert_eq!((told.latest[0].seen, told.latest[ENTRIES - 1].seen), (45, 299));
        let lines = told.to_string();
        assert_eq!(lines.lines().count(), 1 + SHOWN);
        assert!(lines.starts_with("284 earlier failures are not shown\n"));
        assert_eq!(tell(&[0; 64], &system("")).count, 0, "never opened");
    }
}
