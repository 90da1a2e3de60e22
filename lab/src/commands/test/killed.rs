//! What a command leaves behind that was killed: no process, and nothing in the next one's way.

use super::builds::Builds;
use super::giusto;
use super::job::Job;
use crate::cli::Group;
use crate::scratch::Scratch;
use crate::workspace;
use anyhow::{Context, Result, ensure};
use fs_err as fs;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// How long the emulator may take to start, and to end.
const LIMIT: Duration = Duration::from_secs(30);

/// How often is looked whether it has.
const POLL: Duration = Duration::from_millis(5);

/// One job, on the emulator: the simulation starts in the same way.
pub fn jobs() -> Vec<Job> {
    let name = "an emulator ends with the command that started it, also if that is killed";
    let emulator = Job::new(Group::Target, name, |_| killed());
    let name = "what a killed session of a debugger leaves is removed by the next one";
    let debugged = Job::new(Group::Target, name, |_| session());
    [emulator, debugged].map(|job| job.builds(Builds::usual())).into()
}

/// A command that is ended with this value.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        // It may have ended before.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn killed() -> Result<()> {
    let mut run = giusto()?;
    run.args(["run", "shell", "--control", "--timeout", "60"]).current_dir(workspace::root());
    run.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut running = Running(run.spawn()?);
    let emulator = within(|| emulator_of(running.0.id())).context("no emulator has started")?;
    running.0.kill()?;
    running.0.wait()?;
    within(|| (!lives(emulator)).then_some(())).context("the emulator goes on")?;
    let entered = format!("{}-", running.0.id());
    let mut ps = giusto()?;
    let ps = ps.args(["ps", "--pid", &running.0.id().to_string()]).output()?;
    ensure!(ps.status.code() == Some(2), "`ps` finds what was killed: {ps:?}");
    let left = fs::read_dir(workspace::build_directory().join("running"))?;
    let left = left.flatten().find(|file| file.file_name().to_string_lossy().starts_with(&entered));
    ensure!(left.is_none(), "left behind: {left:?}");
    Ok(())
}

/// A session's files are there while it waits, and after its end until another one begins.
fn session() -> Result<()> {
    let mut run = giusto()?;
    run.args(["run", "hello", "--gdb", "--timeout", "60"]).current_dir(workspace::root());
    run.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut running = Running(run.spawn()?);
    let said = BufReader::new(running.0.stderr.take().context("no standard error")?);
    let mut lines = said.lines().map_while(Result::ok);
    let script = lines.find_map(|line| line.strip_prefix("gdb -x ").map(PathBuf::from));
    let script = script.context("the run says no command for gdb")?;
    ensure!(script.exists(), "there is no {}", script.display());
    drop(Scratch::new()?);
    ensure!(script.exists(), "another command has removed {}", script.display());
    running.0.kill()?;
    running.0.wait()?;
    drop(Scratch::new()?);
    ensure!(!script.exists(), "left behind: {}", script.display());
    Ok(())
}

/// What is found within the limit.
fn within<T>(mut look: impl FnMut() -> Option<T>) -> Option<T> {
    let begun = Instant::now();
    loop {
        match look() {
            None if begun.elapsed() < LIMIT => thread::sleep(POLL),
            found => return found,
        }
    }
}

fn of_process(pid: u32) -> PathBuf {
    PathBuf::from("/proc").join(pid.to_string())
}

/// The child of a process that runs another program, if there is one.
fn emulator_of(pid: u32) -> Option<u32> {
    let program = |pid| fs::read_link(of_process(pid).join("exe")).ok();
    let threads = fs::read_dir(of_process(pid).join("task")).ok()?.flatten();
    let children = |thread: fs::DirEntry| fs::read_to_string(thread.path().join("children")).ok();
    let children: Vec<String> = threads.filter_map(children).collect();
    let children = children.iter().flat_map(|all| all.split_whitespace());
    let mut children = children.filter_map(|child| child.parse().ok());
    children.find(|child| program(*child).is_some_and(|its| Some(its) != program(pid)))
}

/// Whether a process runs, and is not one that has ended and was not waited for.
fn lives(pid: u32) -> bool {
    let state = fs::read_to_string(of_process(pid).join("stat")).ok();
    let state = state.as_deref().and_then(|text| text.rsplit_once(") "));
    state.is_some_and(|(_, state)| !state.starts_with(['Z', 'X']))
}
