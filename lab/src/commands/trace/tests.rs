//! The statistics say what the trace says, and names are those of the manifest.

use crate::image::Images;
use crate::machine::{self, Boot, MACHINES, Packed};
use crate::systems;
use ::trace::{Lives, Sections, Trace, Traces};
use abi::Rights;
use abi::statistics::Counter;
use abi::trace::{Event, HEADER_WORDS, Keep, Record, WORD_CAPACITY, WORD_EVENTS, Way};
use manifest::System;
use std::collections::HashMap;
use twin_protocol::{End, Options, Outcome};

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
    let (ran, place) = run(&system, &name, kernel);
    let case = format!("{} under {kernel}", system.name);
    assert_eq!(ran.end, End::Done(0), "{case}: {}", ran.console);
    let (words, _) = ran.memories[place].as_chunks::<8>();
    let words: Vec<u64> = words.iter().map(|word| u64::from_le_bytes(*word)).collect();
    let events = words[WORD_EVENTS];
    assert!((100..words[WORD_CAPACITY]).contains(&events), "{case}: {events} events");
    let mut count = Count::default();
    for pair in words[HEADER_WORDS..].chunks_exact(2).take(events as usize) {
        count.take(Record::from_words([pair[0], pair[1]]).expect("a record"));
    }
    for counter in Counter::ALL.into_iter().filter(|counter| *counter != Counter::Time) {
        let [told, traced] =
            [&ran.statistics[0][..], &count.counters].map(|all| all[counter as usize]);
        assert_eq!(told, traced, "{case}: {counter:?}");
    }
}

/// The trace of CPUs of the twin that get into each other's way, and each one's counters.
fn on_several(locking: &str, kernel: &str) -> (Traces, Vec<Vec<u64>>) {
    let mut system = systems::load("stress").expect("the system exists");
    system.cpus = 4;
    system.locking = Some(locking.to_string());
    systems::set(&mut system, "ms", "20");
    let name = system.add_trace(32 << 20, Keep::First);
    let (ran, place) = run(&system, &name, kernel);
    assert_eq!(ran.end, End::Done(0), "{locking}, {kernel}: {}", ran.console);
    (Traces::decode(&ran.memories[place]).expect("a trace"), ran.statistics)
}

/// Runs a system on the twin; where among its memories that of this name is.
fn run(system: &System, memory: &str, kernel: &str) -> (Outcome, usize) {
    let images = Images::default();
    let boot = Boot::new(MACHINES[1], &images, system).kernel(kernel);
    let packed = Packed::new(&boot, &|_| ()).expect("the system fits");
    let options = Options {
        kernel: kernel.into(),
        memory: system.memory,
        locking: Some(system.locking().to_string()),
        chaos: if system.cpus > 1 { 10 } else { 0 },
        ..Options::default()
    };
    let ran = machine::run(packed.run(options)).expect("the twin runs");
    let place = packed.names().position(|host| host == memory).expect("the host reads the trace");
    (ran, place)
}

/// Each CPU's counters are what its trace says.
fn agree(case: &str, trace: &Trace, told: &[u64]) {
    let mut count = Count::default();
    trace.moments.iter().for_each(|moment| {
        count.take(Record {
            time: 0,
            thread: moment.thread,
            argument: moment.argument,
            extra: moment.extra,
            event: moment.event,
            cpu: moment.cpu,
        });
    });
    let locks = trace.moments.iter().filter(|moment| moment.event == Event::Lock);
    let ways: Vec<_> = locks.map(|moment| Way::of(moment.extra)).collect();
    let had = ways.iter().filter(|(way, _)| *way != Way::Transaction);
    let last = |own| {
        let is_own = |last: u8| (last == trace.cpu) == own;
        had.clone().filter(|(_, last)| last.is_some_and(is_own)).count() as u64
    };
    // Boot has the lock before there is a trace.
    count.add(Counter::Locked, had.clone().count() as u64 + u64::from(trace.cpu == 0));
    count.add(Counter::LockAgain, last(true));
    count.add(Counter::LockHanded, last(false));
    let counted = [Counter::LookUps, Counter::Messages, Counter::QueuedMessages];
    let locks = [Counter::Locked, Counter::LockAgain, Counter::LockHanded];
    for counter in counted.into_iter().chain(locks) {
        let [told, traced] = [told, &count.counters].map(|all| all[counter as usize]);
        assert_eq!(told, traced, "{case}, CPU {}: {counter:?}", trace.cpu);
    }
}

#[test]
fn traces_of_several_cpus_are_whole_and_agree_with_the_statistics() {
    let cases = [("big", "strict-eager"), ("fine", "fastpath"), ("elided", "fastpath")];
    for (locking, kernel) in cases {
        let case = format!("{locking}, {kernel}");
        let (traces, statistics) = on_several(locking, kernel);
        assert_eq!(traces.lost(), 0, "{case}");
        for (trace, statistics) in traces.each.iter().zip(&statistics) {
            agree(&case, trace, statistics);
            let broken = Sections::of(trace).broken;
            assert!(broken <= 1, "{case}, CPU {}: {broken} sections are broken", trace.cpu);
            let of = |event| trace.moments.iter().filter(|m| m.event == event).count();
            let open = of(Event::Lock) - of(Event::Unlock);
            assert!(open <= 1, "{case}, CPU {}: {open} sections never end", trace.cpu);
        }
        let uses = ::trace::locks(&traces.each);
        let used = |way: &Way| uses.iter().any(|one| one.way == *way);
        let ways: Vec<Way> = Way::ALL.into_iter().filter(used).collect();
        let undone: u64 = uses.iter().flat_map(|one| one.undone).sum();
        match locking {
            "big" => assert_eq!((ways, undone), (vec![Way::Alone], 0), "{case}"),
            "fine" => assert_eq!((ways, undone), (vec![Way::Alone, Way::Reader], 0), "{case}"),
            _ => {
                assert!(ways.contains(&Way::Transaction), "{case}: {ways:?}");
                assert!(undone > 0, "{case}: no transaction was undone");
            }
        }
    }
}

#[test]
fn messages_of_queued_senders_go_to_servers_of_the_endpoint_that_is_named() {
    let mut system = systems::load("complete").expect("the system exists");
    let memory = system.add_trace(24 << 20, Keep::First);
    let (ran, place) = run(&system, &memory, "strict-eager");
    let bytes = &ran.memories[place];
    let (trace, names) = (Trace::decode(bytes).expect("a trace"), super::names(&system));
    let lives = Lives::of(&trace, &names);
    let (mut waits, mut taken) = (HashMap::new(), 0);
    for (index, moment) in trace.moments.iter().enumerate() {
        let endpoint = match moment.event {
            Event::Queue => {
                waits.insert(moment.thread, moment.argument);
                continue;
            }
            Event::Message => waits.remove(&moment.thread),
            _ => continue,
        };
        let Some(endpoint) = endpoint else { continue };
        let life = lives.at(moment.argument as u16, index).expect("the receiver lives");
        let domain = lives.all[life].domain.expect("its domain is known") as usize - 1;
        let domain = &system.domains[domain];
        let serves = |name: &str| {
            let caps = domain.caps.iter().filter(|cap| cap.rights.contains(Rights::RECEIVE));
            caps.map(|cap| system.target_name(cap.target)).any(|served| served == name)
        };
        let name = format!("endpoint {}", names.endpoints[endpoint as usize]);
        assert!(serves(&name), "{} receives from {name}", domain.name);
        taken += 1;
    }
    assert!(taken > 0, "no thread has queued");
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
