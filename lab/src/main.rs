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
mod symbols;
mod systems;
mod tidy;
mod waits;
mod workspace;

use clap::Parser;
use cli::Cli;
use std::process::ExitCode;

fn main() -> ExitCode {
    if let Some(status) = leash::become_child() {
        return status;
    }
    let _looked_up = workspace::program();
    let cli = Cli::parse();
    output::fit_terminal();
    match commands::execute(&cli) {
        Ok(verdict) => verdict.exit_code(),
        Err(error) => {
            commands::explain(&error, cli.json);
            failure::exit_code(&error)
        }
    }
}
