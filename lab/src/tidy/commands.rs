//! The page of all commands: made from the command line itself.

use super::Finding;
use crate::cli::Cli;
use crate::failure::Verdict;
use anyhow::Result;
use clap::{Arg, Command, CommandFactory};
use fs_err as fs;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::Path;

/// The page, from the root of the work tree.
pub const PATH: &str = "docs/commands.md";
/// Makes it again.
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
/// Values that are listed again for each option, at most.
const MANY: usize = 4;
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
    let mut page = Page { text: String::from(BEGINNING), ..Page::default() };
    for verdict in Verdict::ALL {
        writeln!(page.text, "| {} | {} |", verdict.status(), verdict.meaning())?;
    }
    page.text.push_str(OWN_STATUS);
    let mut all = Cli::command();
    all.build();
    for command in all.get_subcommands() {
        page.section(command, command.get_name(), 2)?;
    }
    Ok(page.text)
}

/// What is written, and which command had it first: a later one refers to that.
#[derive(Default)]
struct Page {
    text: String,
    options: BTreeMap<String, String>,
    values: BTreeMap<String, String>,
    examples: BTreeSet<String>,
}

impl Page {
    fn section(&mut self, command: &Command, name: &str, level: usize) -> Result<()> {
        writeln!(self.text, "\n{} {name}\n", "#".repeat(level))?;
        let about = command.get_about().map(ToString::to_string).unwrap_or_default();
        writeln!(self.text, "{}.", about.trim_end_matches('.'))?;
        let usage = command.clone().render_usage().to_string();
        if !command.has_subcommands() {
            let usage = usage.trim_start_matches("Usage: ./giusto ").replace("\n       ", " ");
            writeln!(self.text, "\nUsage: `{usage}`")?;
        }
        self.options(command, name);
        if let Some(behind) = command.get_after_help().map(|behind| examples(&behind.to_string()))
            && self.examples.insert(behind.clone())
        {
            self.text.push_str(&behind);
        }
        for inner in command.get_subcommands() {
            self.section(inner, &format!("{name} {}", inner.get_name()), level + 1)?;
        }
        Ok(())
    }

    /// A list of what a command takes.
    fn options(&mut self, command: &Command, name: &str) {
        let (words, options): (Vec<&Arg>, Vec<&Arg>) = command
            .get_arguments()
            .filter(|one| !one.is_hide_set() && !COMMON.contains(&one.get_id().as_str()))
            .partition(|one| one.is_positional());
        let (mut items, mut referred) = (Vec::new(), BTreeMap::<String, Vec<String>>::new());
        for one in words.into_iter().chain(options) {
            let (said, values) = (option(one), values(one));
            if let Some(first) = self.options.get(&format!("{said}{values}")) {
                let short =
                    one.get_long().map_or_else(|| one.to_string(), |long| format!("--{long}"));
                referred.entry(first.clone()).or_default().push(format!("`{short}`"));
                continue;
            }
            self.options.insert(format!("{said}{values}"), name.to_string());
            let is_long = values.split(',').count() > MANY;
            match self.values.get(&values).filter(|_| is_long) {
                Some(first) => items.push(format!("{said} Values: those of {}.", link(first))),
                None => items.push(format!("{said}{values}")),
            }
            self.values.entry(values).or_insert_with(|| name.to_string());
        }
        let as_of = |(first, all): (String, Vec<String>)| {
            format!("As of {}: {}.", link(&first), all.join(", "))
        };
        items.extend(referred.into_iter().map(as_of));
        for (at, item) in items.iter().enumerate() {
            self.text.push_str(if at == 0 { "\n- " } else { "- " });
            self.text.push_str(item);
            self.text.push('\n');
        }
    }
}

/// A link to the section of a command.
fn link(command: &str) -> String {
    format!("[`{command}`](#{})", command.replace(' ', "-"))
}

/// An option: how it is written, what it does, and its default.
fn option(one: &Arg) -> String {
    let help = one.get_help().map(ToString::to_string).unwrap_or_default();
    let mut text = format!("`{}`: {}.", one.to_string().trim(), help.trim_end_matches('.'));
    let defaults: Vec<_> = one.get_default_values().iter().map(|it| it.to_string_lossy()).collect();
    let takes_values = one.get_action().takes_values();
    if takes_values && !defaults.is_empty() && !one.is_hide_default_value_set() {
        text.push_str(&format!(" Default: `{}`.", defaults.join(" ")));
    }
    text
}

/// What an option can be.
fn values(one: &Arg) -> String {
    let values = one.get_possible_values();
    let values: Vec<String> = values.iter().map(|it| format!("`{}`", it.get_name())).collect();
    let is_said = one.get_action().takes_values() && !one.is_hide_possible_values_set();
    if values.is_empty() || !is_said {
        return String::new();
    }
    format!(" Values: {}.", values.join(", "))
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

    #[test]
    fn what_several_commands_have_is_written_once() {
        let page = page().unwrap();
        for once in ["- `--pid <N>`: ", "- `./giusto sched get vision`", "`ipc-scan`"] {
            assert_eq!(page.matches(once).count(), 1, "{once}");
        }
        assert!(page.contains("\n- As of [`ps`](#ps): `--system`, `--pid`, `--wait`.\n"));
        let only = "- `--kernel <K>`: Only this kernel. Values: those of [`run`](#run).\n";
        assert!(page.contains(only));
    }

    /// A status that the page gives is one that a refusal has.
    #[test]
    fn wrong_usage_has_the_status_of_the_page() {
        let refused = Cli::try_parse_from(["./giusto", "no-such-command"]).unwrap_err();
        assert!(page().unwrap().contains(&format!("| {} | the usage", refused.exit_code())));
    }
}
