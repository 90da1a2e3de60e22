//! The statistics say what the trace says.

use crate::image::Images;
use crate::machine::{self, Boot, Console, Exit, MACHINES, Packed};
use crate::systems;
use ::trace::{Sections, Traces};
use abi::statistics::Counter;
use abi::trace::{Event, HEADER_WORDS, Keep, Record, WORD_CAPACITY, WORD_EVENTS, Way};
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

/// The memory with the trace of a subject of the suite on several CPUs of the twin.
fn on_several(locking: &str, kernel: &str) -> Vec<u8> {
    let mut system = systems::load("selftest").expect("the system exists");
    system.cpus = 4;
    system.locking = Some(locking.to_string());
    system.domains.iter_mut().for_each(|domain| {
        domain.args.push(("only".to_string(), "cpus".to_string()));
    });
    let name = system.add_trace(32 << 20, Keep::First);
    let outcome = machine::boot(&Boot {
        machine: MACHINES[1],
        board: MACHINES[1].boards()[0],
        images: &Images::default(),
        system: &system,
        kernel,
        icount: Some(1),
        console: Console::CAPTURE,
        timeout: None,
        inspect: false,
        log: false,
        sampling: None,
        simulation: Default::default(),
        slices: true,
    });
    let mut outcome = outcome.expect("the system boots");
    assert_eq!(outcome.exit, Exit::Done(0), "{locking}, {kernel}: {}", outcome.console);
    outcome.memories.remove(&name).expect("the host reads the trace")
}

#[test]
fn records_of_undone_transactions_are_gone() {
    for locking in ["big", "fine", "elided"] {
        for kernel in ["fastpath", "strict-eager"] {
            let case = format!("{locking}, {kernel}");
            let traces = Traces::decode(&on_several(locking, kernel)).expect("a trace");
            assert_eq!(traces.lost(), 0, "{case}");
            for trace in &traces.each {
                let broken = Sections::of(trace).broken;
                assert!(broken <= 1, "{case}, CPU {}: {broken} sections are broken", trace.cpu);
                let of = |event| trace.moments.iter().filter(|m| m.event == event).count();
                let open = of(Event::Lock) - of(Event::Unlock);
                assert!(open <= 1, "{case}, CPU {}: {open} sections never end", trace.cpu);
            }
            let uses = ::trace::locks(&traces.each);
            let ways: Vec<Way> =
                Way::ALL.into_iter().filter(|way| uses.iter().any(|one| one.way == *way)).collect();
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
