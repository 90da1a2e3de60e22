//! Executes the blocks of commands.

use super::output::{self, Numbers};
use super::page::{self, Block, Piece};
use super::pages::Page;
use crate::cli::Group;
use crate::commands::test::builds::Builds;
use crate::commands::test::job::{Class, Job};
use crate::commands::test::{mutants, process};
use crate::scratch::Scratch;
use crate::workspace;
use anyhow::{Context, Result, anyhow, bail, ensure};
use fs_err as fs;
use std::ops::Range;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::Command;
use std::time::Duration;

/// No command takes longer.
const LIMIT: Duration = Duration::from_secs(1200);
const DEEP_LIMIT: Duration = Duration::from_secs(2 * 3600);

/// Lines of a failed command's output that are shown.
const SHOWN: usize = 30;

/// Characters of the last command that name a block.
const SHOWN_COMMAND: usize = 60;

/// A block of commands.
pub struct Script {
    name: String,
    commands: Vec<String>,
    /// Whether it takes long.
    pub deep: bool,
    alone: bool,
    copy: bool,
    status: i32,
    /// What the last command prints, and which of its numbers may be others.
    shown: Option<(Vec<String>, Numbers)>,
    /// Which lines of the page these are, counted from 0.
    lines: Range<usize>,
    /// Files that it needs, with their text.
    files: Vec<(String, String)>,
}

/// Lines of a page and what they must be.
pub type Replacement = (Range<usize>, Vec<String>);

/// The blocks of a page that are to be executed.
pub fn of(page: &Page) -> Vec<Script> {
    let files = page.pieces.iter().filter_map(|piece| match piece {
        Piece::Block(block) => {
            Some((block.note.get("file")?.to_string(), block.body.join("\n") + "\n"))
        }
        Piece::Table(_) => None,
    });
    let files: Vec<(String, String)> = files.collect();
    let mut scripts = Vec::new();
    for (at, piece) in page.pieces.iter().enumerate() {
        let Piece::Block(block) = piece else { continue };
        let elsewhere = block.note.get("not run").or(block.note.get("run by")).is_some();
        if block.language != "sh" || elsewhere {
            continue;
        }
        let behind = match page.pieces.get(at + 1) {
            Some(Piece::Block(next)) if next.language == "text" => Some(next),
            _ => None,
        };
        let behind =
            behind.filter(|next| next.note.get("file").or(next.note.get("not run")).is_none());
        let commands = page::commands(&block.body);
        let last = commands.last().map(|last| last.split(" #").next().unwrap_or(last).trim());
        let numbers = |shown: &Block| match shown.note.get("numbers") {
            Some("any") => Numbers::Any,
            _ if last.is_some_and(measures) => Numbers::Measured,
            _ => Numbers::Exact,
        };
        let shown = behind.map(|next| (next.body.clone(), numbers(next)));
        let last: String = last.unwrap_or_default().chars().take(SHOWN_COMMAND).collect();
        scripts.push(Script {
            name: format!("{}: {last}", page.name),
            commands,
            deep: block.note.get("deep").is_some(),
            alone: block.note.get("alone").is_some(),
            copy: block.note.get("copy").is_some(),
            status: block.note.get("status").and_then(|text| text.parse().ok()).unwrap_or(0),
            shown,
            lines: behind.map_or(0..0, |next| next.line..next.line + next.body.len()),
            files: files.clone(),
        });
    }
    scripts
}

/// Whether a command runs something, so that what it prints may be measured: analyses compute,
/// and other programs show files.
fn measures(command: &str) -> bool {
    let giusto = command.split("./giusto ").nth(1);
    giusto.is_some_and(|rest| !rest.starts_with("check "))
}

impl Script {
    /// A job that executes it and compares.
    pub fn job(self) -> Job {
        let class = if self.deep { Class::Deep } else { Class::Usual };
        let seconds = if self.deep { 120.0 } else { 5.0 };
        let (name, alone) = (self.name.clone(), self.alone);
        let work = move |_: &mut _| {
            let printed = self.run()?;
            let Some((shown, numbers)) = &self.shown else { return Ok(()) };
            output::compare(shown, &printed, *numbers).map_err(|differs| anyhow!(differs))
        };
        let job = Job::new(Group::Docs, name, work).class(class).seconds(seconds);
        let job = job.builds(Builds::Own("what its systems name"));
        if alone { job.alone() } else { job }
    }

    /// Lines of the page that must be others, and what they must be, measured numbers too; an
    /// output of which the page leaves something out cannot be filled in.
    pub fn replacement(&self) -> Result<Option<Replacement>> {
        let Some((shown, numbers)) = &self.shown else { return Ok(None) };
        let printed = self.run()?;
        let partial = output::is_partial(shown);
        let exact = if *numbers == Numbers::Any { Numbers::Any } else { Numbers::Exact };
        let numbers = if partial { *numbers } else { exact };
        match output::compare(shown, &printed, numbers) {
            Ok(()) => Ok(None),
            Err(differs) if partial => bail!("{}: {differs}", self.name),
            Err(_) => {
                let lines = printed.trim_end().lines().map(|line| line.trim_end().to_string());
                Ok(Some((self.lines.clone(), lines.collect())))
            }
        }
    }

    /// Executes it; what the last command prints.
    fn run(&self) -> Result<String> {
        if self.copy {
            return mutants::in_copy(|copy, build| {
                lay(copy, &self.files)?;
                self.run_in(copy, &[("CARGO_TARGET_DIR", build)])
            });
        }
        let folder = Scratch::new()?;
        lay(folder.path(), &self.files)?;
        let program = workspace::program()?;
        let launcher = folder.path().join("giusto");
        let text = format!(
            "#!/bin/sh\n[ \"$1\" = --no-install ] && shift\nexec '{}' \"$@\"\n",
            program.display()
        );
        fs::write(&launcher, text)?;
        // Pages name systems as they lie in the work tree, unless they have some of their own.
        let systems = folder.path().join("systems");
        if !systems.exists() {
            symlink(workspace::root().join("systems"), systems)?;
        }
        fs::set_permissions(&launcher, std::fs::Permissions::from_mode(0o755))?;
        self.run_in(folder.path(), &[])
    }

    fn run_in(&self, directory: &Path, environment: &[(&str, &Path)]) -> Result<String> {
        let mut printed = String::new();
        for (command, at) in self.commands.iter().zip(1..) {
            let mut shell = Command::new("bash");
            shell.args(["-o", "pipefail", "-c", command]).current_dir(directory);
            shell.envs(environment.iter().copied()).env_remove("CARGO");
            let ended = process::run_apart(&mut shell, if self.deep { DEEP_LIMIT } else { LIMIT })?;
            let wanted = if at == self.commands.len() { self.status } else { 0 };
            if ended.code() != Some(wanted) {
                let how = ended.failure(SHOWN).unwrap_or_else(|| "exit status: 0".to_string());
                bail!("`{command}` should end with status {wanted}, but: {how}");
            }
            // What is wrong is said on standard error.
            printed = if ended.output.is_empty() { ended.errors } else { ended.output };
        }
        Ok(printed)
    }
}

/// Writes files below a directory.
fn lay(directory: &Path, files: &[(String, String)]) -> Result<()> {
    for (name, text) in files {
        let path = directory.join(name);
        ensure!(path.starts_with(directory), "a page names the file {name}");
        let folder = path.parent().context("a file lies in a folder")?;
        fs::create_dir_all(folder)?;
        fs::write(&path, text)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scripts(text: &str) -> Vec<Script> {
        let (name, text) = ("p.md".to_string(), text.to_string());
        of(&Page { pieces: page::read(&text).unwrap(), name, text })
    }

    fn ran(text: &str) -> Result<Option<Replacement>, String> {
        scripts(text)[0].replacement().map_err(|error| error.to_string())
    }

    #[test]
    fn what_a_page_shows_is_what_its_command_prints() {
        let page = |command: &str, shown: &str| {
            format!("```sh\n{command}\n```\n\n```text\n{shown}\n```\n")
        };
        assert_eq!(ran(&page("echo one\necho two", "two")), Ok(None));
        let new = Some((5..6, vec!["two".to_string(), "three".to_string()]));
        assert_eq!(ran(&page("printf 'two\\nthree\\n'", "one")), Ok(new));
        assert!(ran(&page("echo two", "...\none")).is_err(), "it cannot be filled in");
        assert!(ran(&page("false", "one")).unwrap_err().contains("should end with status 0"));
        assert_eq!(
            ran(&format!("<!-- status: 3 -->\n{}", page("echo no >&2; exit 3", "no"))),
            Ok(None)
        );
    }

    #[test]
    fn what_a_system_measures_may_be_near_and_is_updated() {
        let page = |command: &str, note: &str, shown: &str| {
            format!("```sh\n{command}\n```\n\n{note}```text\n{shown}\n```\n")
        };
        let numbers = |command: &str, note: &str| {
            scripts(&page(command, note, "x")).remove(0).shown.unwrap().1
        };
        assert_eq!(numbers("./giusto run hello --icount | tail -n 1", ""), Numbers::Measured);
        assert_eq!(numbers("./giusto check hello", ""), Numbers::Exact);
        assert_eq!(numbers("cat a.csv", ""), Numbers::Exact);
        assert_eq!(numbers("./giusto run a", "<!-- numbers: any -->\n"), Numbers::Any);
        let echo = "echo took 1234567 steps # ./giusto run";
        let (near, far) = (page(echo, "", "took 1234560 steps"), page(echo, "", "took 99 steps"));
        let judged = |text: &str| {
            let mut script = scripts(text).remove(0);
            script.shown.as_mut().unwrap().1 = Numbers::Measured;
            let new = script.replacement().unwrap();
            (script.job().work(&mut Default::default()).is_ok(), new)
        };
        let new = Some((5..6, vec!["took 1234567 steps".to_string()]));
        assert_eq!(judged(&near), (true, new.clone()));
        assert_eq!(judged(&far), (false, new));
        let partial = page(echo, "", "took 1234560 steps\n...");
        assert_eq!(judged(&partial), (true, None), "it cannot be filled in");
    }

    #[test]
    fn files_of_the_page_are_there_and_some_blocks_are_not_run() {
        let page = concat!(
            "<!-- file: a.csv -->\n```text\n1,2\n```\n\n",
            "<!-- deep -->\n```sh\ncat a.csv # it\n```\n\n```text\n1,2\n```\n\n",
            "<!-- not run: no -->\n```sh\nfalse\n```\n\n",
            "<!-- run by: demo -->\n```sh\nfalse\n```\n",
        );
        let found = scripts(page);
        assert_eq!(found.len(), 1);
        assert!(found[0].deep && found[0].name == "p.md: cat a.csv");
        assert_eq!(ran(page), Ok(None));
    }
}
