//! A console that takes its time, as a real serial port does.

use crate::image::Images;
use crate::machine::{self, Boot, MACHINES, Packed};
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
