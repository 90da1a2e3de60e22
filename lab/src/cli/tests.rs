use super::*;
use clap::CommandFactory;
use clap::error::ErrorKind;

#[test]
fn the_command_line_is_consistent() {
    Cli::command().debug_assert();
}

/// The help of a command and of those below it, as an 80-column terminal shows it.
fn helps(command: &mut clap::Command) -> Vec<String> {
    let own = command.clone().term_width(80).render_long_help().to_string();
    let below = command.get_subcommands_mut().flat_map(helps);
    below.chain([own]).collect()
}

#[test]
fn help_fits_eighty_columns() {
    let mut all = Cli::command();
    all.build();
    let helps = helps(&mut all);
    assert!(helps.len() > 15);
    for line in helps.iter().flat_map(|help| help.lines()) {
        assert!(line.chars().count() <= 80, "{line}");
    }
}

#[test]
fn examples_are_not_broken_at_eighty_columns() {
    let texts = [include_str!("../cli.rs"), include_str!("model.rs"), include_str!("trace.rs")];
    let lines = texts.iter().flat_map(|text| text.lines());
    let examples: Vec<&str> = lines.filter(|line| line.starts_with("  ./giusto ")).collect();
    assert!(examples.len() > 20);
    for line in examples {
        assert!(line.trim_end_matches(['"', ';']).len() <= 80, "{line}");
    }
}

#[test]
fn all_experiments_are_run_by_themselves() {
    let parses = |words: &[&str]| {
        Cli::try_parse_from(["giusto", "lab", "run"].iter().chain(words).copied()).is_ok()
    };
    assert!(parses(&["--all"]) && parses(&["--all", "--restart", "--seed", "3"]));
    assert!(!parses(&["--all", "micro"]) && !parses(&["--all", "--machine", "twin"]));
    assert!(!parses(&["--restart"]) && !parses(&["--restart", "micro"]) && !parses(&[]));
}

#[test]
fn kernels_are_a_list_or_named_one_by_one() {
    let kernels = |words: &[&str]| {
        let words = ["giusto", "lab", "run", "micro"].iter().chain(words).copied();
        match Cli::try_parse_from(words).map(|cli| cli.command) {
            Ok(Command::Lab(Lab::Run(run))) => run.kernel,
            _ => Vec::new(),
        }
    };
    let both = ["fastpath", "direct-lazy"];
    assert_eq!(kernels(&["--kernel", "fastpath,direct-lazy"]), both);
    assert_eq!(kernels(&["--kernel", "fastpath", "--kernel", "direct-lazy"]), both);
    assert!(kernels(&["--kernel", "fastpath,none"]).is_empty());
}

#[test]
fn periods_have_units_and_limits() {
    assert_eq!(period("25us"), Ok(25_000));
    assert_eq!(period("1ms"), Ok(1_000_000));
    for wrong in ["25", "us", "9us", "26ms", "99999999999999999999ms", "-1us"] {
        assert!(period(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn a_misspelt_name_is_answered_with_the_right_one() {
    let error = |words: &[&str]| {
        let words = ["giusto"].iter().chain(words).copied();
        Cli::try_parse_from(words).unwrap_err().to_string()
    };
    assert!(error(&["lab", "run", "pingpong"]).contains("'ping-pong'"));
    assert!(error(&["run", "hello", "--kernel", "fastpth"]).contains("'fastpath'"));
    assert!(error(&["tset"]).contains("'test'"));
}

#[test]
fn durations_have_units() {
    for (text, ns) in [("2us", 2_000), ("1.5ms", 1_500_000), ("7", 7), ("3 s", 3_000_000_000)] {
        assert_eq!(duration(text), Ok(ns), "{text}");
    }
    for text in ["", "us", "-1us", "2 weeks", "inf"] {
        assert!(duration(text).is_err(), "{text}");
    }
}

/// Every command without commands below it, with the words that lead to it.
fn leaves(command: &clap::Command, words: &[String]) -> Vec<(Vec<String>, clap::Command)> {
    if !command.has_subcommands() {
        return vec![(words.to_vec(), command.clone())];
    }
    let own = command.get_subcommands().filter(|below| below.get_name() != "help");
    own.flat_map(|below| leaves(below, &[words, &[below.get_name().to_string()]].concat()))
        .collect()
}

/// What any text may be as far as the command line knows: the command itself judges it, before it
/// builds anything (`lab/tests/usage.rs`).
const JUDGED_LATER: [&str; 33] = [
    "run system",
    "run args",
    "run input",
    "run overheads",
    "ps system",
    "sched get name",
    "sched get system",
    "sched set name",
    "sched set changes",
    "sched set system",
    "top system",
    "new folder",
    "check systems",
    "check overheads",
    "import file",
    "c cc",
    "image system",
    "image output",
    "sdk output",
    "profile system",
    "profile event",
    "lab run system",
    "lab run set",
    "lab compare a",
    "lab compare b",
    "lab rtsim file",
    "lab model repairman fit",
    "lab claims ids",
    "trace system",
    "trace args",
    "trace input",
    "test names",
    "test mutants",
];

#[test]
fn values_that_cannot_be_are_refused_by_the_command_line() {
    let mut all = Cli::command();
    all.build();
    let leaves = leaves(&all, &["giusto".to_string()]);
    assert!(leaves.len() > 20);
    let mut later = Vec::new();
    for (words, command) in leaves {
        let parse = |more: &[&str]| {
            let words = words.iter().map(String::as_str).chain(more.iter().copied());
            Cli::try_parse_from(words).err().map(|error| error.kind())
        };
        assert_eq!(parse(&["--no-such-option"]), Some(ErrorKind::UnknownArgument), "{words:?}");
        for arg in command.get_arguments().filter(|arg| arg.get_action().takes_values()) {
            let option = arg.get_long().map(|long| format!("--{long}"));
            let option: Vec<&str> = option.iter().map(String::as_str).collect();
            let wrong = [&option[..], &["no/such/\u{1}"]].concat();
            let refused = [ErrorKind::InvalidValue, ErrorKind::ValueValidation];
            if !parse(&wrong).is_some_and(|kind| refused.contains(&kind)) {
                later.push(format!("{} {}", words[1..].join(" "), arg.get_id()));
            }
        }
    }
    assert_eq!(later, JUDGED_LATER);
}
