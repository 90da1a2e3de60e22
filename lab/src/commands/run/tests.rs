use super::*;
use crate::cli::{Cli, Command};
use crate::failure::Usage;
use crate::machine::{EMULATOR, Launch, MACHINES};
use clap::Parser;
use std::path::Path;

pub fn asked(words: &str) -> cli::Run {
    let words = ["giusto", "run"].into_iter().chain(words.split_whitespace());
    match Cli::try_parse_from(words).unwrap().command {
        Command::Run(run) => run,
        other => panic!("{other:?}"),
    }
}

/// The steps of the kernel in a run that a command line asks for.
fn steps(words: &str) -> Vec<u64> {
    let run = asked(words);
    let machine = machine::find(&run.machine).unwrap();
    let mut system = systems::load(&run.system).unwrap();
    system.cpus = run.cpus.unwrap_or(system.cpus);
    let images = Images::default();
    let launch = launch(&run, machine, &images, &system).unwrap();
    let launch = launch.timeout(Duration::from_secs(60)).log();
    let outcome = machine::boot(&launch).unwrap();
    assert_eq!(outcome.failure(), None, "{words}");
    assert!(!outcome.log.is_empty());
    outcome.log
}

#[test]
fn the_seed_of_the_twin_decides_what_is_injected() {
    for cpus in ["", " --cpus 2"] {
        let run = |seed| steps(&format!("selftest --machine twin --chaos 3 --seed {seed}{cpus}"));
        let first = run(1);
        assert!(run(1) == first, "the same seed{cpus}");
        assert!(run(2) != first, "another seed{cpus}");
        let usual = steps(&format!("selftest --machine twin --chaos 3{cpus}"));
        assert!(usual == first, "the seed without --seed{cpus}");
    }
}

/// The arguments of the emulator for a command line.
fn arguments(words: &str) -> Vec<String> {
    let run = asked(words);
    let system = systems::load(&run.system).unwrap();
    let images = Images::default();
    let launched = launch(&run, MACHINES[0], &images, &system).unwrap();
    let arguments = EMULATOR.arguments(&Launch {
        board: launched.board,
        icount: launched.icount,
        cpus: 1,
        memory: 1 << 20,
        memory_file: Some(Path::new("ram")),
        kernel: Path::new("kernel"),
        archive: Path::new("archive"),
        command_line: "",
        debugger: None,
        plugin: None,
    });
    arguments.into_iter().map(|argument| argument.into_string().unwrap()).collect()
}

#[test]
fn the_simulation_has_no_debugger_and_says_what_to_do() {
    let error = super::run(&asked("hello --gdb --machine twin"), false).unwrap_err();
    assert!(error.is::<Usage>() && error.to_string().contains("without `--machine twin`"));
}

#[test]
fn the_seed_of_counted_instructions_reaches_the_emulator() {
    let seed = |words| {
        let arguments = arguments(words);
        let at = arguments.iter().position(|argument| argument == "-seed")?;
        Some(arguments[at + 1].clone())
    };
    assert_eq!(seed("hello --icount --seed 0x1f").as_deref(), Some("31"));
    assert_eq!(seed("hello --icount").as_deref(), Some("1"));
    assert_eq!(seed("hello"), None);
}

#[test]
fn a_seed_that_would_mean_nothing_is_refused() {
    let run = asked("hello --seed 5");
    let error = seed(&run, MACHINES[0]).unwrap_err();
    assert!(error.is::<Usage>() && error.to_string().contains("--icount"), "{error}");
}

#[test]
fn a_panic_is_told_with_its_message_and_how_to_repeat_it() {
    let outcome = Outcome {
        machine: "twin",
        exit: Exit::Panic,
        console: "guest: hello\nKERNEL PANIC: a blocked thread made a call\n  at \
                  ipc.rs:7\nbacktrace: 0x10\n"
            .to_string(),
        memories: Default::default(),
        kernel: String::new(),
        backtrace: Vec::new(),
        findings: Vec::new(),
        threads: Vec::new(),
        log: Vec::new(),
        samples: None,
    };
    assert_eq!(
        panicked(&outcome, Some(423)),
        "the kernel panicked:\n  a blocked thread made a call\n  at ipc.rs:7\n\
         seed 423: the same command with --seed 423 repeats it exactly"
    );
    assert!(!panicked(&outcome, None).contains("seed"));
}
