//! The commands, one file each: what a command line says, and what is done then. Those with many
//! options have them in `cli/`.

mod book;
mod c;
pub mod check;
mod checkout;
mod claims;
mod compare;
mod cyclictest;
mod demo;
mod doctor;
mod image;
mod import;
mod lab;
mod live;
mod model;
mod new;
mod profile;
pub mod rtsim;
mod run;
mod sdk;
mod test;
mod tidy;
pub mod trace;
mod twin;

use crate::cli::{self, Cli};
use crate::failure::{Usage, Verdict, usage};
use crate::{output, workspace};
use anyhow::Result;
use clap::Subcommand;
use comfy_table::Table;
use manifest::Problems;
use serde::Serialize;
use serde_json::json;
use std::path::{Path, PathBuf};

/// A command.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// The five-minute first run: boot, self-test, measure, report.
    Demo,
    /// Boot a system and attach its console to the terminal (Ctrl-C ends it).
    #[command(after_help = cli::RUN_EXAMPLES)]
    Run(cli::Run),
    /// Show a running system: domains, threads, reservations.
    #[command(after_help = cli::live::PS_EXAMPLES)]
    Ps(cli::Ps),
    /// Show or change how a running system is scheduled.
    #[command(subcommand, after_help = cli::live::SCHED_EXAMPLES)]
    Sched(cli::Sched),
    /// Watch a running system: who gets how much CPU time, and what is late.
    #[command(after_help = cli::live::TOP_EXAMPLES)]
    Top(cli::Top),
    /// Make a system of your own: a manifest, two programs and their tests.
    #[command(after_help = cli::NEW_EXAMPLES)]
    New {
        /// The folder to make; the system is called as it.
        folder: PathBuf,
        /// Programs in C instead of Rust.
        #[arg(long)]
        c: bool,
    },
    /// Check system manifests: show what they ask for, and whether it fits.
    #[command(after_help = cli::CHECK_EXAMPLES)]
    Check(cli::Check),
    /// Turn a workload of rt-app or a task set of SimSo into a system.
    #[command(after_help = import::EXAMPLES)]
    Import(import::Import),
    /// How programs in C are compiled and linked; the library is built if it is not there.
    #[command(after_help = c::EXAMPLES)]
    C(c::C),
    /// Write a system as files that boot without Giusto: one kernel, the programs, the command.
    #[command(after_help = image::EXAMPLES)]
    Image(image::Image),
    /// Make a folder with what systems of one's own need, which works without a checkout.
    #[command(after_help = sdk::EXAMPLES)]
    Sdk(sdk::Sdk),
    /// Sample where a system's time goes, in programs and inside the kernel.
    #[command(after_help = cli::PROFILE_EXAMPLES)]
    Profile(cli::Profile),
    /// Measure how late threads wake, as cyclictest does: with its options and its output.
    #[command(after_help = cli::CYCLICTEST_EXAMPLES, disable_help_flag = true)]
    Cyclictest(cli::Cyclictest),
    /// Experiments: list, run, report.
    #[command(subcommand)]
    Lab(cli::Lab),
    /// Boot a system, record what its kernel does, and show it.
    #[command(after_help = cli::trace::EXAMPLES)]
    Trace(cli::Trace),
    /// The simulation: fuzz the kernel in it, replay a seed, measure its speed.
    #[command(subcommand, after_help = cli::TWIN_EXAMPLES)]
    Twin(cli::Twin),
    /// Run the project's tests, on the host and on the machines.
    #[command(after_help = cli::TEST_EXAMPLES)]
    Test(cli::Test),
    /// Make a book of all pages, with search, for a browser.
    Book,
    /// Check the project's own rules: dependencies, limits, unsafe code, dead files.
    Tidy {
        /// Print the page of all commands instead, as docs/commands.md is to have it.
        #[arg(long)]
        commands: bool,
    },
    /// List the tools that are needed, their versions, and how to get what is missing.
    Doctor,
}

/// Does what the command line says.
pub fn execute(cli: &Cli) -> Result<Verdict> {
    if let Some(wrong) = workspace::misplaced() {
        return Err(usage(wrong));
    }
    checkout::check(&cli.command)?;
    match &cli.command {
        Command::Demo => demo::demo(cli.json),
        Command::Run(run) => run::run(run, cli.json),
        Command::Ps(asked) => live::ps(asked, cli.json),
        Command::Sched(asked) => live::sched(asked, cli.json),
        Command::Top(asked) => live::top(asked, cli.json),
        Command::Image(asked) => image::image(asked, cli.json),
        Command::Sdk(asked) => sdk::sdk(asked, cli.json),
        Command::New { folder, c } => new::new(folder, *c, cli.json),
        Command::Import(asked) => import::import(asked, cli.json),
        Command::C(asked) => c::c(asked, cli.json),
        Command::Check(asked) => check::check(asked, cli.json),
        Command::Profile(asked) => profile::profile(asked, cli.json),
        Command::Cyclictest(asked) => cyclictest::cyclictest(asked, cli.json),
        Command::Lab(lab) => lab::lab(lab, cli.json),
        Command::Trace(trace) => trace::trace(trace, cli.json),
        Command::Twin(twin) => twin::twin(twin, cli.json),
        Command::Test(test) => test::test(test, cli.json),
        Command::Book => book::book(cli.json),
        Command::Tidy { commands } => tidy::tidy(*commands, cli.json),
        Command::Doctor => doctor::doctor(cli.json),
    }
}

/// Says what went wrong: on standard error, and as JSON on standard output if asked for.
pub fn explain(error: &anyhow::Error, as_json: bool) {
    // Problems with a manifest bring their own layout.
    let problems = error.downcast_ref::<Problems>();
    match problems {
        Some(problems) => output::error(format_args!("{problems}\n")),
        None if error.is::<Usage>() => output::error(laid_out(&format!("{error:#}"))),
        None => output::error(format_args!("error: {error:#}\n")),
    }
    if as_json {
        print_json(&json!({"error": format!("{error:#}"), "problems": problems}));
    }
}

/// What is wrong with a command line, in lines that fit the terminal.
fn laid_out(message: &str) -> String {
    let mut lines = message.lines();
    let first = wrapped(lines.next().unwrap_or_default(), "error: ", "       ");
    let line = |line: &str| {
        let text = line.trim_start();
        let first = &line[..line.len() - text.len()];
        wrapped(text, first, &format!("{first}  "))
    };
    first + &lines.map(line).collect::<String>()
}

/// Refuses a folder to write into that has something in it.
fn vacant(folder: &Path) -> Result<()> {
    if folder.exists() && (!folder.is_dir() || fs_err::read_dir(folder)?.next().is_some()) {
        return Err(usage(format!("{} is there already, and not empty", folder.display())));
    }
    Ok(())
}

fn print_json(value: &impl Serialize) {
    let text = serde_json::to_string_pretty(value);
    output::line(text.expect("what the laboratory prints has string keys"));
}

/// The usual ending of a count: `1 finding`, `2 findings`.
pub fn counted(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

/// An empty table under these headings, to be shown by [`fitted`].
fn table(headings: &[&str]) -> Table {
    results::plain_table(headings, output::columns())
}

/// A table as text that fits the terminal.
fn fitted(table: Table) -> String {
    results::fitted(table, 2)
}

/// The same below an empty line; nothing of a table without rows.
fn spaced(table: Table) -> String {
    if table.is_empty() { String::new() } else { format!("\n{}", fitted(table)) }
}

/// A text in lines that fit the terminal, behind one indentation in the first and another in
/// all further ones.
fn wrapped(text: &str, first: &str, further: &str) -> String {
    let options = textwrap::Options::new(output::columns())
        .break_words(false)
        .word_splitter(textwrap::WordSplitter::NoHyphenation);
    textwrap::fill(text, options.initial_indent(first).subsequent_indent(further)) + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_wrong_with_a_command_line_fits_the_terminal() {
        let words = "word ".repeat(20);
        let said = laid_out(&format!("there is no {words}\n  domain d: {words}"));
        assert!(said.lines().all(|line| line.len() <= 80), "{said}");
        let begins: Vec<_> = said.lines().map(|line| line.split_once("word").unwrap().0).collect();
        assert_eq!(begins, ["error: there is no ", "       ", "  domain d: ", "    "]);
    }
}
