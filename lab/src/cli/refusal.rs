//! What is said of a command line that cannot be followed.

use super::Cli;
use clap::error::ErrorKind::{InvalidValue, ValueValidation};
use clap::{CommandFactory, Error};

/// One line that says what is wrong and how it would be right: what the parser says in several, and
/// where the options are listed if it does not name the right one.
pub fn refusal(error: &Error, words: &[String]) -> String {
    let text = error.to_string();
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let mut said = String::new();
    let mut is_mended = matches!(error.kind(), InvalidValue | ValueValidation);
    for line in lines.take_while(|line| !line.starts_with("Usage:")) {
        let tip = line.strip_prefix("tip: ").filter(|tip| !tip.starts_with("to pass "));
        is_mended |= tip.is_some();
        match tip {
            Some(tip) => said += &format!("; {tip}"),
            None if said.is_empty() => said += line.strip_prefix("error: ").unwrap_or(line),
            None if line.starts_with("tip: ") || line.starts_with("For more information") => {}
            None => said += &format!(" {line}"),
        }
    }
    if !is_mended {
        said += &format!("; see `{} --help`", command(words));
    }
    said
}

/// The command that the words name, with those that it is below.
fn command(words: &[String]) -> String {
    let (mut command, mut named) = (Cli::command(), "./giusto".to_string());
    for word in words.iter().skip(1) {
        if let Some(below) = command.find_subcommand(word) {
            named += &format!(" {word}");
            command = below.clone();
        }
    }
    named
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[test]
    fn a_wrong_command_line_is_refused_in_one_line() {
        let refused = |line: &str| {
            let words: Vec<String> =
                ["giusto"].into_iter().chain(line.split(' ')).map(str::to_string).collect();
            refusal(&Cli::try_parse_from(&words).unwrap_err(), &words)
        };
        for (line, said) in [
            ("cyclictest -p 100", "invalid value '100' for '--priority <N>': 100 is not in 0..=99"),
            ("cyclictest -x", "unexpected argument '-x' found; see `./giusto cyclictest --help`"),
            (
                "cyclictest --quite",
                "unexpected argument '--quite' found; a similar argument exists: '--quiet'",
            ),
            (
                "run",
                "the following required arguments were not provided: <SYSTEM>; \
                 see `./giusto run --help`",
            ),
            (
                "run hello --machine tiwn",
                "invalid value 'tiwn' for '--machine <M>' [possible values: qemu-x86_64, twin]; \
                 a similar value exists: 'twin'",
            ),
            ("lab runn", "unrecognized subcommand 'runn'; a similar subcommand exists: 'run'"),
        ] {
            assert_eq!(refused(line), said);
        }
    }
}
