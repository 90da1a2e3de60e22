use super::*;
use clap::CommandFactory;

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
    let text = include_str!("../cli.rs").lines().chain(include_str!("model.rs").lines());
    let examples: Vec<&str> = text.filter(|line| line.starts_with("  ./giusto ")).collect();
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
