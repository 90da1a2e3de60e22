//! Runs programs that jobs need: with a limit on time, and ended with all that they started.

use super::verdict;
use crate::leash;
use crate::machine::Interrupts;
use anyhow::{Context, Result};
use rustix::process::{Pid, Signal, kill_process_group};
use std::io::{BufRead, BufReader, Read, Seek};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// How often a program is asked whether it has ended.
const POLL: Duration = Duration::from_millis(2);

/// How a program ended.
pub struct Ended {
    /// Its exit status; `None` if it was ended because its time was up.
    pub status: Option<ExitStatus>,
    /// Standard output, and standard error unless it was kept apart.
    pub output: String,
    /// Standard error, if it was kept apart.
    pub errors: String,
}

impl Ended {
    /// Its exit code, if it came to one.
    pub fn code(&self) -> Option<i32> {
        self.status.and_then(|status| status.code())
    }

    /// Nothing if it ended well, or how it ended, each check that it says did not hold, and the
    /// last lines that it printed.
    pub fn failure(&self, lines: usize) -> Option<String> {
        let how = match self.status {
            Some(status) if status.success() => return None,
            Some(status) => status.to_string(),
            None => "it took too long and was ended".to_string(),
        };
        let said = format!("{}{}", self.output, self.errors);
        let said: Vec<&str> = said.trim_end().lines().collect();
        let (before, last) = said.split_at(said.len().saturating_sub(lines));
        let checks = before.iter().filter(|line| verdict::of(line).is_some_and(|(_, held)| !held));
        let shown = std::iter::once(how.as_str()).chain(checks.copied());
        Some(shown.chain(last.iter().copied()).collect::<Vec<_>>().join("\n"))
    }
}

/// Runs a program with both outputs in one.
pub fn run(command: &mut Command, limit: Duration) -> Result<Ended> {
    let (output, mut command) = (tempfile::tempfile()?, leashed(command)?);
    command.stderr(output.try_clone()?);
    finish(command, limit, output, None)
}

/// Runs a program and keeps standard error apart.
pub fn run_apart(command: &mut Command, limit: Duration) -> Result<Ended> {
    let (errors, mut command) = (tempfile::tempfile()?, leashed(command)?);
    command.stderr(errors.try_clone()?);
    finish(command, limit, tempfile::tempfile()?, Some(errors))
}

/// Runs a program and keeps standard error apart, each line of which is also shown at once.
pub fn run_shown(
    command: &mut Command,
    limit: Duration,
    mut show: impl FnMut(&str) + Send,
) -> Result<Ended> {
    let (reader, writer) = std::io::pipe()?;
    let mut command = leashed(command)?;
    command.stderr(writer);
    thread::scope(|scope| {
        let follow = move || {
            let mut all = String::new();
            for line in BufReader::new(reader).split(b'\n').map_while(Result::ok) {
                let line = String::from_utf8_lossy(&line);
                show(&line);
                all.push_str(&line);
                all.push('\n');
            }
            all
        };
        let follower = scope.spawn(follow);
        let ended = finish(command, limit, tempfile::tempfile()?, None);
        let errors = follower.join().expect("what is shown does not panic");
        Ok(Ended { errors, ..ended? })
    })
}

/// A command that ends with this process.
fn leashed(command: &Command) -> Result<Command> {
    let name = command.get_program().to_string_lossy();
    leash::of(command).with_context(|| format!("cannot run {name}"))
}

fn finish(
    mut command: Command,
    limit: Duration,
    mut output: std::fs::File,
    errors: Option<std::fs::File>,
) -> Result<Ended> {
    let name = command.get_program().to_string_lossy().into_owned();
    command.stdin(Stdio::null()).stdout(output.try_clone()?).process_group(0);
    let mut child = leash::spawn(command).with_context(|| format!("cannot run {name}"))?;
    let status = wait(&mut child, limit)?;
    let errors = errors.map(|mut errors| read(&mut errors)).transpose()?.unwrap_or_default();
    Ok(Ended { status, output: read(&mut output)?, errors })
}

fn read(file: &mut std::fs::File) -> Result<String> {
    let mut bytes = Vec::new();
    file.rewind()?;
    file.read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Waits for the end, which comes at the limit or at an interrupt.
fn wait(child: &mut Child, limit: Duration) -> Result<Option<ExitStatus>> {
    let (started, interrupts) = (Instant::now(), Interrupts::watch());
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        if started.elapsed() > limit || interrupts.any() {
            let group = Pid::from_child(child);
            // It may have ended by itself just now.
            let _ = kill_process_group(group, Signal::TERM);
            thread::sleep(100 * POLL);
            let _ = kill_process_group(group, Signal::KILL);
            child.wait()?;
            return Ok(None);
        }
        thread::sleep(POLL);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command
    }

    #[test]
    fn the_end_of_a_program_is_told() {
        let limit = Duration::from_secs(20);
        let ended = run(&mut shell("echo one; echo two >&2; exit 3"), limit).unwrap();
        assert_eq!((ended.code(), ended.output.as_str()), (Some(3), "one\ntwo\n"));
        assert_eq!(ended.failure(1).unwrap(), "exit status: 3\ntwo");
        let ended =
            run(&mut shell("echo FAILED one; echo ok two; echo end; false"), limit).unwrap();
        assert_eq!(ended.failure(1).unwrap(), "exit status: 1\nFAILED one\nend");
        let ended = run_apart(&mut shell("echo one; echo two >&2"), limit).unwrap();
        assert_eq!((ended.output.as_str(), ended.errors.as_str()), ("one\n", "two\n"));
        assert_eq!(ended.failure(9), None);
    }

    #[test]
    fn lines_are_shown_as_they_come() {
        let mut shown = Vec::new();
        let mut command = shell("echo out; echo one >&2; printf two >&2");
        let show = |line: &str| shown.push(line.to_string());
        let ended = run_shown(&mut command, Duration::from_secs(20), show).unwrap();
        assert_eq!((ended.output.as_str(), ended.errors.as_str()), ("out\n", "one\ntwo\n"));
        assert_eq!(shown, ["one", "two"]);
    }

    #[test]
    fn a_program_that_takes_too_long_is_ended_with_its_children() {
        let started = Instant::now();
        let ended = run(&mut shell("sleep 77 & sleep 78"), Duration::from_millis(50)).unwrap();
        assert!(ended.failure(1).unwrap().starts_with("it took too long"));
        assert!(started.elapsed() < Duration::from_secs(30));
    }
}
