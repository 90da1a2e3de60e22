use super::*;
use crate::cli::Cli;
use crate::commands::Command;
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
        let run = |seed| steps(&format!("servers --machine twin --chaos 3 --seed {seed}{cpus}"));
        let first = run(1);
        assert!(run(1) == first, "the same seed{cpus}");
        assert!(run(2) != first, "another seed{cpus}");
        let usual = steps(&format!("servers --machine twin --chaos 3{cpus}"));
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
        devices: &[],
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
fn an_interrupt_of_a_cpu_that_is_not_there_is_refused() {
    let text = "[system]\nname = \"keys\"\ncpus = 2\n[[notification]]\nname = \"keys\"\n\
                [[interrupt]]\nname = \"uart\"\nirq = 4\ncpu = 1\nnotification = \"keys\"\n\
                [[domain]]\nname = \"only\"\nprogram = \"idle\"\npriority = 1\n";
    let mut system = manifest::parse("keys.toml", text).unwrap();
    assert!(super::check_cpus(&system).is_ok());
    system.locking = None;
    system.cpus = 1;
    let error = super::check_cpus(&system).unwrap_err().to_string();
    assert_eq!(error, "interrupt uart comes to CPU 1; with 1 there is none");
}

#[test]
fn a_panic_is_told_with_its_message_and_how_to_repeat_it() {
    let console = "guest: hello\nKERNEL PANIC: a blocked thread made a call\n  at \
                   ipc.rs:7\nbacktrace: 0x10\n";
    let outcome = Outcome::made_up(Exit::Panic, console);
    assert_eq!(
        ending::panicked(&outcome, Some(423)),
        "the kernel panicked:\n  a blocked thread made a call\n  at ipc.rs:7\n\
         seed 423: the same command with --seed 423 repeats it exactly"
    );
    assert!(!ending::panicked(&outcome, None).contains("seed"));
}

#[test]
fn the_last_line_is_the_reason_of_the_end() {
    let fault = |expected| Fault {
        domain: "pump".to_string(),
        thread: None,
        expected,
        program: None,
        what: "pump panicked: too hot, at pump.rs:7:5".to_string(),
        at: Vec::new(),
    };
    let wait = Wait {
        domain: "fan".to_string(),
        thread: None,
        index: 2,
        state: "receiving",
        awaited: "`door`".to_string(),
        timed: false,
    };
    let lines = |exit, faults: &[Fault]| {
        let outcome = Outcome::made_up(exit, "");
        let told = Told {
            faults,
            restarts: &Restarts::default(),
            logs: &Logs::default(),
            accounts: &Accounts::default(),
            waits: std::slice::from_ref(&wait),
            unreceived: &[],
            responses: None,
            latencies: None,
            untyped: None,
            idle: None,
        };
        let text = ending::Ending { outcome: &outcome, seed: None, told: &told }.to_string();
        assert!(text.starts_with("thread 2 of fan waits for a message"), "{text}");
        text.lines().last().unwrap().to_string()
    };
    let panicked = "pump panicked: too hot, at pump.rs:7:5";
    for exit in [Exit::Done(100), Exit::Done(0), Exit::Hang, Exit::Stuck] {
        assert_eq!(lines(exit.clone(), &[fault(false)]), panicked, "{exit:?}");
    }
    assert_eq!(lines(Exit::Done(100), &[fault(true)]), panicked);
    assert_eq!(lines(Exit::Stuck, &[fault(true)]), format!("error: {}", machine::STUCK));
    assert!(lines(Exit::Done(3), &[fault(false)]).ends_with("with status 3"));
}
