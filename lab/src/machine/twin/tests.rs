//! A console that takes its time, as a real serial port does, or on which something is typed, and
//! chaos in a part of a run.

use crate::image::Images;
use crate::machine::{self, Boot, Console, MACHINES, Packed, Shared, Typed};
use crate::systems;
use crate::wanted::Wanted;
use std::ops::Range;
use twin_protocol::{End, Options, Outcome};

/// A low program that prints for ever, one that prints a line each 100 ms, and a thread above both
/// that wakes each millisecond.
const CHATTER: &str = r#"
[system]
name = "chatter"

[[domain]]
name = "low"
program = "chatter"
priority = 10
caps = [{ name = "console", console = true }]

[[domain]]
name = "speaker"
program = "chatter"
priority = 20
args = { role = 1, period = 100000, lines = 10 }
caps = [{ name = "console", console = true }]

[[domain]]
name = "high"
program = "chatter"
priority = 200
args = { role = 2, period = 1000, lines = 1100 }
caps = [{ name = "console", console = true }, { name = "system", system = true }]
"#;

/// A port of 115,200 baud, in nanoseconds for a character.
const REAL: u64 = 87_000;

fn run(kernel: &str, character: u64) -> Outcome {
    let system = manifest::parse("chatter", CHATTER).expect("it is a system");
    let images = Images::default();
    let boot = Boot::new(MACHINES[1], &images, &system).kernel(kernel);
    let packed = Packed::new(&boot, &|_| ()).expect("the system fits");
    let options = Options {
        kernel: kernel.into(),
        memory: system.memory,
        character,
        check: true,
        ..Options::default()
    };
    machine::run(packed.run(options)).expect("the twin runs")
}

/// What stands amid what the others print.
fn late(console: &str) -> u64 {
    let told = console.rsplit_once("late ").and_then(|(_, behind)| behind.split_once(" ns"));
    told.and_then(|(number, _)| number.parse().ok()).expect("how late it was")
}

#[test]
fn who_prints_for_ever_delays_neither_other_lines_nor_other_threads() {
    for kernel in ["fastpath", "strict-eager", "tree"] {
        let ran = run(kernel, REAL);
        assert_eq!(ran.end, End::Done(0), "{kernel}: {}", ran.console);
        for nth in 1..=10 {
            let line = format!("line {nth} of 10\n");
            assert!(ran.console.contains(&line), "{kernel}: no {line}{}", ran.console);
        }
        // Of one more than a second.
        let (sent, most) = (ran.console.len() as u64, ran.time / REAL);
        assert!((most * 9 / 10..most * 11 / 10).contains(&sent), "{kernel}: {sent} of {most}");
        let late = late(&ran.console);
        assert!(late < 5_000, "{kernel}: {late} ns late");
    }
}

/// A run in which chaos may be confined.
fn disturbed(cpus: u32, chaos: u64, chaotic: Range<u64>) -> Outcome {
    let mut system = systems::load("stress").expect("it exists");
    system.cpus = cpus;
    let images = Images::default();
    let packed = Packed::new(&Boot::new(MACHINES[1], &images, &system), &|_| ());
    let options = Options {
        locking: Some(system.locking().to_string()),
        memory: system.memory,
        log: true,
        chaos,
        chaotic,
        ..Options::default()
    };
    let ran = machine::run(packed.expect("the system fits").run(options));
    ran.expect("the twin runs")
}

#[test]
fn chaos_in_all_places_is_chaos_and_in_none_is_none() {
    for cpus in [1, 4] {
        let all = disturbed(cpus, 10, 0..u64::MAX);
        assert_eq!(all.end, End::Done(0), "{}", all.console);
        assert!(all.places > 1_000, "{} places", all.places);
        assert!(all == disturbed(cpus, 10, 0..all.places), "{cpus} CPUs: another run");
        let half = disturbed(cpus, 10, 0..all.places / 2);
        let same = all.log.iter().zip(&half.log).take_while(|(one, other)| one == other).count();
        assert!(same > all.log.len() / 8, "{cpus} CPUs: {same} of {} steps", all.log.len());
        assert_ne!(all.log, half.log, "{cpus} CPUs: chaos in the second half comes to nothing");
        let none = disturbed(cpus, 10, 0..0);
        assert_ne!(all.log, none.log);
        if cpus == 1 {
            assert_eq!(none.log, disturbed(cpus, 0, 0..u64::MAX).log);
        }
    }
}

#[test]
fn what_is_typed_because_of_a_line_is_the_same_each_time() {
    let input = |after: Option<&str>, line: &str| Typed {
        after: after.map(|text| Wanted::Text(text.to_string())),
        line: line.to_string(),
    };
    let inputs = [input(None, "ping 3"), input(Some("round trips"), "ps"), input(None, "exit")];
    let run = || {
        let (images, script) = (Images::default(), Shared::new(&inputs));
        let system = systems::load("shell").expect("it exists");
        let boot = Boot::new(MACHINES[1], &images, &system);
        let outcome = machine::boot(&boot.console(Console::typed(script.clone())));
        (outcome.expect("the twin runs").console, script.script().left())
    };
    let (console, left) = run();
    let [before, behind] = ["round trips", "giusto> ps\n"].map(|text| console.find(text));
    assert!(before.is_some() && before < behind && left.is_none(), "{left:?}: {console}");
    assert!(console.contains("goodbye"), "{console}");
    assert_eq!(console, run().0);
}
