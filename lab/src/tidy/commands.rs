//! The page of all commands: made from the command line itself.

use super::Finding;
use crate::cli::Cli;
use crate::failure::Verdict;
use anyhow::Result;
use clap::{Arg, Command, CommandFactory};
use fs_err as fs;
use std::fmt::Write;
use std::path::Path;

/// The page, from the root of the work tree.
pub const PATH: &str = "docs/commands.md";
/// Makes it anew.
const MEND: &str = "run: ./giusto tidy --commands > docs/commands.md";
/// How the page begins.
const BEGINNING: &str = "\
# Commands

<!-- Generated from the command line: do not edit, but run `./giusto tidy --commands`. -->
Every command is a word behind `./giusto`, and `--help` behind it prints what stands here. `--json`
makes any of them print one JSON document on standard output instead of text. The
[glossary](concepts.md#glossary) defines the terms.

| exit status | meaning |
|---|---|
";
/// What stands behind the exit statuses.
const OWN_STATUS: &str = "
A system that ends by itself gives its own status instead, 0 to 255.
";
/// What each command has.
const COMMON: [&str; 3] = ["help", "version", "json"];

/// Checks that the page in a work tree is the one that is made.
pub fn check(root: &Path) -> Result<Option<Finding>> {
    let there = fs::read_to_string(root.join(PATH)).unwrap_or_default();
    let made = page()?;
    let same = there.lines().zip(made.lines()).take_while(|(there, made)| there == made).count();
    let what = "it is not what the command line says";
    Ok((there != made).then(|| Finding::new(PATH, same + 1, what, MEND)))
}

/// The page.
pub fn page() -> Result<String> {
    let mut text = String::from(BEGINNING);
    for verdict in Verdict::ALL {
        writeln!(text, "| {} | {} |", verdict.status(), verdict.meaning())?;
    }
    text.push_str(OWN_STATUS);
    let mut all = Cli::command();
    all.build();
    for command in all.get_subcommands() {
        section(&mut text, command, command.get_name(), 2)?;
    }
    Ok(text)
}

fn section(text: &mut String, command: &Command, name: &str, level: usize) -> Result<()> {
    writeln!(text, "\n{} {name}\n", "#".repeat(level))?;
    let about = command.get_about().map(ToString::to_string).unwrap_or_default();
    writeln!(text, "{}.", about.trim_end_matches('.'))?;
    let usage = command.clone().render_usage().to_string();
    if !command.has_subcommands() {
        writeln!(
            text,
            "\nUsage: `{}`",
            usage.trim_start_matches("Usage: ./giusto ").replace("\n       ", " ")
        )?;
    }
    let (words, options): (Vec<&Arg>, Vec<&Arg>) = command
        .get_arguments()
        .filter(|one| !one.is_hide_set() && !COMMON.contains(&one.get_id().as_str()))
        .partition(|one| one.is_positional());
    for (at, one) in words.into_iter().chain(options).enumerate() {
        text.push_str(if at == 0 { "\n" } else { "" });
        writeln!(text, "- {}", option(one))?;
    }
    if let Some(behind) = command.get_after_help() {
        text.push_str(&examples(&behind.to_string()));
    }
    for inner in command.get_subcommands() {
        section(text, inner, &format!("{name} {}", inner.get_name()), level + 1)?;
    }
    Ok(())
}

/// An option: how it is written, what it does, its default and its values.
fn option(one: &Arg) -> String {
    let help = one.get_help().map(ToString::to_string).unwrap_or_default();
    let mut text = format!("`{}`: {}.", one.to_string().trim(), help.trim_end_matches('.'));
    let defaults: Vec<_> = one.get_default_values().iter().map(|it| it.to_string_lossy()).collect();
    let takes_values = one.get_action().takes_values();
    if takes_values && !defaults.is_empty() && !one.is_hide_default_value_set() {
        text.push_str(&format!(" Default: `{}`.", defaults.join(" ")));
    }
    let values = one.get_possible_values();
    let values: Vec<String> = values.iter().map(|it| format!("`{}`", it.get_name())).collect();
    if takes_values && !values.is_empty() && !one.is_hide_possible_values_set() {
        text.push_str(&format!(" Values: {}.", values.join(", ")));
    }
    text
}

/// What stands behind the options: examples, each with what it is for, and remarks.
fn examples(behind: &str) -> String {
    // A command of several lines is one.
    let behind: String = behind.split("\\\n").map(str::trim_start).collect();
    let mut text = String::new();
    let mut remarks = false;
    for line in behind.lines() {
        match line.strip_prefix("  ").map(|line| line.split_once("  ").unwrap_or((line, ""))) {
            Some((command, remark)) => {
                let remark = remark.trim();
                let colon = if remark.is_empty() { "" } else { ": " };
                text.push_str(&format!("- `{command}`{colon}{remark}\n"));
            }
            None if line == "Examples:" => text.push_str("\nExamples:\n\n"),
            None => {
                text.push_str(if remarks { "" } else { "\n" });
                text.push_str(line);
                text.push('\n');
                remarks = true;
            }
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[test]
    fn examples_and_remarks_become_lists_and_sentences() {
        let lines = [
            "Examples:",
            "  ./giusto a b",
            "  ./giusto a   two words",
            "  ./giusto a \\",
            "      b",
            "",
            "A remark",
            "of two lines.",
        ];
        let behind = lines.join("\n");
        let text = "\nExamples:\n\n- `./giusto a b`\n- `./giusto a`: two words\n\
                    - `./giusto a b`\n\n\nA remark\n\
                    of two lines.\n";
        assert_eq!(examples(&behind), text);
    }

    #[test]
    fn the_page_has_every_command_and_no_option_of_all() {
        let page = page().unwrap();
        for heading in ["\n## run\n", "\n### lab compare\n", "\n#### lab model repairman\n"] {
            assert!(page.contains(heading), "{heading}");
        }
        assert!(page.contains("- `--icount`: ") && !page.contains("- `--help`"));
        assert!(page.contains("Values: `microvm`, `q35`"));
    }

    /// A status that the page gives is one that a refusal has.
    #[test]
    fn wrong_usage_has_the_status_of_the_page() {
        let refused = Cli::try_parse_from(["./giusto", "no-such-command"]).unwrap_err();
        assert!(page().unwrap().contains(&format!("| {} | the usage", refused.exit_code())));
    }
}
