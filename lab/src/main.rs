//! Giusto's laboratory: builds, boots, measures and checks. `./giusto` is its front door.
#![forbid(unsafe_code)]
#![allow(rustdoc::bare_urls, reason = "help texts are for terminals")]

mod accounts;
mod cli;
mod commands;
mod durations;
mod experiment;
mod failure;
mod faults;
mod fuzz;
mod gdb;
mod image;
mod leash;
mod live;
mod logs;
mod machine;
mod output;
mod panics;
mod places;
mod profile;
mod progress;
mod restarts;
mod scoreboard;
mod scratch;
mod symbols;
mod systems;
mod tidy;
mod unreceived;
mod waits;
mod wanted;
mod worked;
mod workspace;

use clap::Parser;
use clap::error::ErrorKind;
use cli::Cli;
use std::ffi::OsString;
use std::process::ExitCode;

/// The first argument where the launcher asks only whether the others are right.
const ONLY_PARSED: &str = "--only-parsed";

fn main() -> ExitCode {
    if let Some(status) = leash::become_child() {
        return status;
    }
    let _looked_up = workspace::program();
    let mut words: Vec<OsString> = std::env::args_os().collect();
    let only_parsed = words.get(1).is_some_and(|word| word == ONLY_PARSED);
    if only_parsed {
        words.remove(1);
    }
    let cli = match Cli::try_parse_from(words) {
        Ok(_) if only_parsed => return ExitCode::SUCCESS,
        Ok(cli) => cli,
        Err(error) => return refuse(&error),
    };
    output::fit_terminal();
    match commands::execute(&cli) {
        Ok(verdict) => verdict.exit_code(),
        Err(error) => {
            commands::explain(&error, cli.json);
            failure::exit_code(&error)
        }
    }
}

/// Says what is wrong with the command line, or what was asked for: the help, or the version.
fn refuse(error: &clap::Error) -> ExitCode {
    let is_help = ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand;
    if !error.use_stderr() || error.kind() == is_help {
        error.exit();
    }
    let words: Vec<String> =
        std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect();
    output::error(format_args!("error: {}\n", cli::refusal::refusal(error, &words)));
    failure::exit_code(&failure::usage(""))
}
