//! A debugger at the emulator: the one that is installed, with the scripts that a user gets.

use super::builds::Builds;
use super::findings::built;
use super::job::Job;
use super::{giusto, process};
use crate::cli::Group;
use crate::image::{self, Build};
use crate::machine::{EMULATOR, MACHINES, Machine};
use crate::scratch::Scratch;
use crate::{gdb, systems, workspace};
use anyhow::{Context, Result, ensure};
use std::path::Path;
use std::process::Command;
use std::time::Duration;

const TIMEOUT: Duration = Duration::from_secs(60);

/// A function of the kernel that each line of a program leads to: how it begins, where it is.
const KERNEL: [&str; 2] = ["fn console_write(", "kernel/src/manage/mod.rs"];

/// The system that `new` makes.
const SYSTEM: &str = "adder";

/// The first program of `hello`: its domain, its function, and where it is.
const PROGRAM: [&str; 3] = ["guest", "programs::hello::client", "at user/programs/src/hello.rs:"];

/// The debugger at each machine that has one.
pub fn jobs() -> Vec<Job> {
    let machines = MACHINES.into_iter().filter(|machine| machine.emulator().is_some());
    machines.flat_map(|machine| [stops(machine), chooses(machine), shows(machine)]).collect()
}

fn job(name: &str, machine: &dyn Machine, check: fn() -> Result<()>) -> Job {
    let builds = Builds::of(machine, Build::default());
    let name = format!("{name}, on {}", machine.name());
    Job::new(Group::Target, name, move |_| check()).builds(builds)
}

fn stops(machine: &dyn Machine) -> Job {
    job("gdb stops in the kernel and in a program", machine, || {
        let [domain, function, place] = PROGRAM;
        let (choose, stop) =
            (format!("giusto-domain {domain}"), format!("giusto-break {function}"));
        let kernel = format!("break {}", kernel_place()?);
        let steps = [&choose, &stop, "continue", "backtrace", &kernel, "continue", "backtrace"];
        let ended = session("hello", &[&steps[..], &["delete", "continue"]].concat())?;
        ended.say(&[function, place, "rt::start::run", "Manager::console_write", KERNEL[1]])?;
        let whole = ended.status == Some(0) && ended.console.ends_with("guest: goodbye\r\n");
        ensure!(whole, "the run did not go on to its end: {ended:?}");
        Ok(())
    })
}

/// The kernel's function as file and line: whole names of generic functions name the machine.
fn kernel_place() -> Result<String> {
    let [begins, file] = KERNEL;
    Ok(format!("{file}:{}", line_of(&workspace::root().join(file), begins)?))
}

fn chooses(machine: &dyn Machine) -> Job {
    job("gdb tells domains apart, and ends a run", machine, || {
        // Both programs begin so, and the other domain comes there first.
        let look = format!("x/s {:#x}", manifest::ENVIRONMENT);
        let steps = ["giusto-domain greeter", "giusto-break _start", "continue", &look, "kill"];
        let ended = session("hello", &steps)?;
        ended.say(&["\"name=greeter\\n"])?;
        ensure!(ended.status == Some(0), "the run ended with {:?}", ended.status);
        Ok(())
    })
}

fn shows(machine: &dyn Machine) -> Job {
    job("gdb stops by crate and line, and shows variables", machine, || {
        let place = Scratch::new()?;
        let made =
            process::run(giusto()?.args(["new", SYSTEM]).current_dir(place.path()), TIMEOUT)?;
        ensure!(made.code() == Some(0), "no system was made: {}", made.output);
        let system = place.path().join(SYSTEM);
        // Both crates have a file of this name, and in each this is the line of the sum.
        let [server, client] =
            [("server", "a.checked_add(b)"), ("client", "match adder.add(a, b)")].map(
                |(crate_, text)| -> Result<String> {
                    let file = format!("{crate_}/src/lib.rs");
                    Ok(format!("break {file}:{}", line_of(&system.join(&file), text)?))
                },
            );
        let (server, client) = (server?, client?);
        let look = ["continue", "info locals", "continue", "print a", "print b", "backtrace"];
        let steps = [&[client.as_str(), &server], &look[..], &["delete", "continue"]].concat();
        let ended = session(system.to_str().context("a path is text")?, &steps)?;
        // The client's locals, and then the server's arguments.
        let words = ["client::main", "a = 20", "b = 22", "server::"];
        ended.say(&[&words[..], &["= 20", "= 22", "server::main"]].concat())?;
        let whole = ended.status == Some(0) && ended.console.ends_with("20 + 22 = 42\r\n");
        ensure!(whole, "the run did not go on to its end: {ended:?}");
        Ok(())
    })
}

/// The line of a file that has some text, from 1 on.
fn line_of(file: &Path, text: &str) -> Result<usize> {
    let line = fs_err::read_to_string(file)?.lines().position(|line| line.contains(text));
    Ok(1 + line.with_context(|| format!("no `{text}` in {}", file.display()))?)
}

/// What became of a session.
#[derive(Debug)]
struct Ended {
    /// What gdb printed.
    said: String,
    /// The exit status of `run`.
    status: Option<i32>,
    /// What the system printed.
    console: String,
}

impl Ended {
    /// Whether gdb said these words, in this order.
    fn say(&self, words: &[&str]) -> Result<()> {
        let mut rest = self.said.as_str();
        for word in words {
            let behind = rest.split_once(word).map(|(_, behind)| behind);
            rest = behind.with_context(|| format!("gdb does not say `{word}`: {self:?}"))?;
        }
        Ok(())
    }
}

/// Runs a system, and gdb as the run says, which then executes some commands.
fn session(system: &str, commands: &[&str]) -> Result<Ended> {
    // What it takes to build the programs is not of the session.
    let loaded = systems::load(system)?;
    let build = Build { debugged: true, ..Build::of(&loaded) };
    built(image::build_system(EMULATOR, &loaded, build))?;
    let mut said = None;
    let mut run = giusto()?;
    run.args(["run", system, "--gdb", "--icount", "--timeout", "60"]);
    let ended = process::run_shown(&mut run, TIMEOUT, |line| {
        if let Some(words) = line.strip_prefix(gdb::PROGRAM) {
            let mut gdb = Command::new(gdb::PROGRAM);
            gdb.args(["-nx", "-batch"]).args(words.split_whitespace());
            gdb.args(commands.iter().flat_map(|command| ["-ex", command]));
            said = Some(process::run(&mut gdb, TIMEOUT));
        }
    })?;
    let said = said.with_context(|| format!("no command for gdb: {}", ended.errors))??.output;
    let (status, console) = (ended.code(), ended.output);
    Ok(Ended { said, status, console })
}
