//! What has happened, for the laboratory and for the console.
//!
//! The supervisor writes entries, which costs it a few stores; a thread of low priority prints
//! them, so that no restart waits for the console.

use abi::Error;
use abi::message::{FaultKind, PANIC, PANIC_RANGE};
use abi::supervision::{ENTRIES, Entry, Event, JOURNAL_COUNT, JOURNAL_DOWN, JOURNAL_MAGIC, Reason};
use core::fmt;
use rt::thread::{self, Spec};
use rt::{Env, Slot, Wait, Words, ipc, println, signal};
use supervision::Name;

use crate::table;

/// The journal's name in the environment.
pub const JOURNAL: &str = "supervisor-journal";
/// The notification by which the printing thread is told.
const NEWS: &str = "supervisor-news";
/// The argument with the printing thread's priority.
const PRIORITY: &str = "log_priority";

/// The end that the supervisor writes.
pub struct Journal {
    words: Words,
    count: u64,
    news: Slot,
}

impl Journal {
    /// An empty journal, and a thread that prints it.
    pub fn open(env: &Env, slot: Slot) -> Journal {
        let (words, news) = (env.mem(JOURNAL), env.cap(NEWS));
        words.set(JOURNAL_COUNT, 0);
        words.set(JOURNAL_DOWN, 0);
        words.set(0, JOURNAL_MAGIC);
        let spec = Spec::further(env, 1, env.number(PRIORITY, 0));
        let started = thread::start(env, 1, slot, spec, (print, 0));
        started.expect("the manifest has room for the thread that prints");
        thread::name(slot, "printer").expect("that is a name");
        Journal { words, count: 0, news }
    }

    /// Writes an entry.
    pub fn write(&mut self, entry: Entry) {
        let at = Entry::place(self.count);
        for (index, word) in entry.to_words().into_iter().enumerate() {
            self.words.set(at + index, word);
        }
        if entry.event != Event::Restarted {
            self.words.set(JOURNAL_DOWN, self.words.get(JOURNAL_DOWN) | 1 << entry.child);
        }
        self.count += 1;
        self.words.set(JOURNAL_COUNT, self.count);
        // It is the supervisor's own notification.
        let _ = signal::signal(self.news);
    }
}

/// The printing thread.
fn print(env: &Env, _: u64) {
    let (words, news, console) = (env.mem(JOURNAL), env.cap(NEWS), env.console());
    let mut printed = 0;
    loop {
        while printed < words.get(JOURNAL_COUNT) {
            let at = Entry::place(printed);
            let entry = Entry::from_words(core::array::from_fn(|index| words.get(at + index)));
            // Entries that were written over meanwhile are gone.
            let behind = words.get(JOURNAL_COUNT) - printed;
            if behind > ENTRIES as u64 {
                let lost = behind - ENTRIES as u64;
                println!(console, "supervisor: {lost} more, which were not printed in time");
                printed += lost;
            } else {
                printed += 1;
                if let Some(entry) = entry {
                    println!(console, "supervisor: {}", Told(table::name(env, entry.child), entry));
                }
            }
        }
        if ipc::receive(news, Wait::NEVER).is_err() {
            return;
        }
    }
}

/// An entry in words.
struct Told(Name, Entry);

impl fmt::Display for Told {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let Told(name, entry) = self;
        match entry.event {
            Event::Restarted => write!(f, "{name} restarted: ")?,
            Event::GivenUp => write!(f, "{name} given up: ")?,
            Event::NotMade => write!(f, "{name} not made: ")?,
        }
        match entry.reason {
            Reason::Fault => {
                let kind = FaultKind::from_code(entry.kind).unwrap_or(FaultKind::Other);
                let panics = (PANIC..PANIC + PANIC_RANGE).contains(&entry.detail);
                if kind == FaultKind::Memory && panics {
                    return f.write_str("it panicked");
                }
                write!(f, "{} fault {:#x} at {:#x}", kind.name(), entry.detail, entry.at)
            }
            Reason::Silent if entry.detail == 0 => f.write_str("no heartbeat"),
            Reason::Silent => {
                let by = Name::from_words([entry.detail, entry.at]);
                write!(f, "no heartbeat while {by} had the CPU")
            }
            Reason::Ended => f.write_str("its program ended"),
            Reason::Asked => f.write_str("killed by a client"),
            Reason::Overran => write!(f, "it used its budget up ({})", entry.detail),
            Reason::Missed => write!(f, "its job {} missed the deadline", entry.detail),
            Reason::Making => match Error::from_code(entry.detail as u8) {
                Some(error) => write!(f, "{error:?}"),
                None => f.write_str("no reason"),
            },
        }
    }
}
