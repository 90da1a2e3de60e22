//! The statistics say what the trace says.

use crate::image::Images;
use crate::machine::{Boot, Console, MACHINES, Packed};
use crate::systems;
use abi::statistics::Counter;
use abi::trace::{Event, HEADER_WORDS, Keep, Record, WORD_CAPACITY, WORD_EVENTS};
use twin::{End, Options};

/// Systems with arguments that keep them short.
const SYSTEMS: [(&str, &[(&str, &str)]); 2] = [
    ("hot-potato", &[("messages", "2"), ("rounds", "1")]),
    ("queueing", &[("most", "40"), ("rounds", "1")]),
];

/// Subjects of the suite, but for the one that lets statistics begin again.
const SUBJECTS: [&str; 12] = [
    "messages",
    "transfer",
    "timeouts",
    "capabilities",
    "signals",
    "threads",
    "faults",
    "memory",
    "domains",
    "schedule",
    "vectors",
    "dying",
];

/// The counters as the records of a trace define them (S0-34).
#[derive(Default)]
struct Count {
    counters: [u64; Counter::ALL.len()],
    running: u16,
    blocked: bool,
    /// The running thread left the ready queue within this entry.
    removed: bool,
}

impl Count {
    fn add(&mut self, counter: Counter, more: u64) {
        self.counters[counter as usize] += more;
    }

    fn take(&mut self, record: Record) {
        let of_running = record.thread == self.running;
        match record.event {
            Event::Enter => self.removed = false,
            Event::Block => {
                self.add(Counter::Eager, 1);
                self.blocked |= of_running;
            }
            Event::Remove => self.removed |= of_running,
            Event::Insert => {
                self.add(Counter::Actual, 1);
                let deferred = of_running && !self.blocked && !self.removed;
                self.add(Counter::DeferredEnqueues, u64::from(deferred));
            }
            Event::LookUp => {
                self.add(Counter::LookUps, 1);
                self.add(Counter::DeferredDequeues, record.argument.into());
            }
            Event::Switch => {
                let both = record.thread != 0 && record.argument != 0;
                self.add(Counter::Switches, u64::from(both));
                (self.running, self.blocked) = (record.thread, false);
            }
            Event::Message => self.add(Counter::Messages, 1),
            Event::Queue => {
                self.add(Counter::QueuedMessages, 1);
                let longest = &mut self.counters[Counter::LongestQueue as usize];
                *longest = (*longest).max(record.extra.into());
            }
            _ => {}
        }
    }
}

fn check(system: &str, args: &[(&str, &str)], kernel: &str) {
    let mut system = systems::load(system).expect("the system exists");
    for domain in &mut system.domains {
        for (name, value) in args {
            domain.args.retain(|(other, _)| other != name);
            domain.args.push((name.to_string(), value.to_string()));
        }
    }
    let name = system.add_trace(24 << 20, Keep::First);
    let boot = Boot {
        machine: MACHINES[1],
        board: MACHINES[1].boards()[0],
        images: &Images::default(),
        system: &system,
        kernel,
        icount: None,
        console: Console::CAPTURE,
        timeout: None,
        inspect: false,
        log: false,
        sampling: None,
        simulation: Default::default(),
        slices: true,
    };
    let packed = Packed::new(&boot, &|_| ()).expect("the system fits");
    let options = Options { kernel: kernel.into(), memory: system.memory, ..Options::default() };
    let ran = twin::run(&packed.words, &options, &packed.wanted);
    let case = format!("{} under {kernel}", system.name);
    assert_eq!(ran.end, End::Done(0), "{case}: {}", ran.console);
    let place = packed.names().position(|host| host == name).expect("the host reads the trace");
    let words = &ran.memories[place];
    let events = words[WORD_EVENTS];
    assert!((100..words[WORD_CAPACITY]).contains(&events), "{case}: {events} events");
    let mut count = Count::default();
    for pair in words[HEADER_WORDS..].chunks_exact(2).take(events as usize) {
        count.take(Record::from_words([pair[0], pair[1]]).expect("a record"));
    }
    for counter in Counter::ALL.into_iter().filter(|counter| *counter != Counter::Time) {
        let [told, traced] = [ran.statistics, count.counters].map(|all| all[counter as usize]);
        assert_eq!(told, traced, "{case}: {counter:?}");
    }
}

#[test]
fn statistics_agree_with_the_trace() {
    for kernel in manifest::KERNELS {
        for (system, args) in SYSTEMS {
            check(system, args, kernel);
        }
    }
    // It does everything once, and takes long.
    for subject in SUBJECTS {
        check("selftest", &[("only", subject)], "direct-lazy");
    }
}
