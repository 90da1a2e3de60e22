//! What a user is told when programs go wrong: the same words on each machine.

use super::builds::Builds;
use super::job::Job;
use super::{giusto, process};
use crate::cli::Group;
use crate::image::Build;
use crate::machine::{MACHINES, Machine};
use crate::scratch::Scratch;
use crate::workspace;
use abi::message::PANIC_STATUS;
use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;
use std::time::Duration;

const TIMEOUT: Duration = Duration::from_secs(60);

/// A system in which three domains go wrong and one goes on.
const SYSTEM: &str = "systems/crash.toml";

/// What lets that one end the run.
const END: &str = "    { name = \"system\", system = true },\n";

/// A program that may end the run, and panics.
const JUDGE: &str = "\
[system]
name = \"judge\"

[[domain]]
name = \"judge\"
program = \"crash\"
priority = 100
args = { how = \"panic\" }
{log}caps = [{console}{ name = \"system\", system = true }]
";

/// What the faults are called, each with a file that both machines name.
const FAULTS: [(&str, &str); 3] = [
    ("stack overflow of tower (16K; the guard page below it was reached)", "crash.rs:"),
    ("judge panicked: as the manifest says, at user/programs/src/crash.rs:", ""),
    ("scout used address 0x60002000, which is not mapped for that", ""),
];

/// The lines that the programs log, each with its level and domain.
const LOGGED: [&str; 8] = [
    "info tower: the end comes by overflow",
    "info judge: the end comes by panic",
    "error judge: panicked: as the manifest says, at programs/src/crash.rs:",
    "info scout: the end comes by wild",
    "debug witness: round 1",
    "debug witness: round 2",
    "debug witness: round 3",
    "info witness: the others have ended, and witness goes on",
];

/// On each machine, with a run that ends and with one that is ended.
pub fn jobs() -> Vec<Job> {
    let on = |machine: &'static dyn Machine| {
        let builds = Builds::of(machine, Build::default());
        let job = |name: &str, check: fn(&str) -> Result<()>| {
            let name = format!("{name}, on {}", machine.name());
            Job::new(Group::Target, name, move |_| check(machine.name())).builds(builds)
        };
        [
            job("programs that go wrong are told of, and the rest goes on", ends),
            job("logs stay when a run is ended", is_ended),
            job("a panic that ends the run is told, with a console and without", ends_the_run),
        ]
    };
    MACHINES.into_iter().flat_map(on).collect()
}

fn ends(machine: &str) -> Result<()> {
    let told = told(&["run", SYSTEM, "--machine", machine])?;
    ensure!(told["exit"] == "done" && told["status"] == 0, "it did not end well: {told:#}");
    logged(&told)?;
    let faults = told["faults"].as_array().context("no faults")?;
    ensure!(faults.len() == FAULTS.len(), "other faults: {told:#}");
    for (fault, (what, place)) in faults.iter().zip(FAULTS) {
        let said = fault["what"].as_str().is_some_and(|said| said.starts_with(what));
        let named = fault["at"].to_string().contains(place);
        ensure!(said && named, "not `{what}` in `{place}`: {fault:#}");
    }
    Ok(())
}

fn is_ended(machine: &str) -> Result<()> {
    let text = fs_err::read_to_string(workspace::root().join(SYSTEM))?;
    ensure!(text.contains(END), "{SYSTEM} has no `{END}`");
    let folder = Scratch::new()?;
    let path = folder.path().join("endless.toml");
    fs_err::write(&path, text.replace(END, ""))?;
    let path = path.to_str().context("the temporary directory's name is not text")?;
    let told = told(&["run", path, "--machine", machine, "--timeout", "2"])?;
    ensure!(told["exit"] != "done", "it ended by itself: {told:#}");
    logged(&told)
}

fn ends_the_run(machine: &str) -> Result<()> {
    let folder = Scratch::new()?;
    let path = folder.path().join("judge.toml");
    let path = path.to_str().context("the temporary directory's name is not text")?;
    let console = "{ name = \"console\", console = true }, ";
    let log = "log = \"4K\"\n";
    for (console, log) in [("", ""), (console, ""), ("", log), (console, log)] {
        fs_err::write(path, JUDGE.replace("{console}", console).replace("{log}", log))?;
        let told = told(&["run", path, "--machine", machine])?;
        ensure!(told["exit"] == "done" && told["status"] == PANIC_STATUS, "{told:#}");
        let [fault] = &told["faults"].as_array().context("no faults")?[..] else {
            bail!("not one fault: {told:#}");
        };
        let what = fault["what"].as_str().unwrap_or_default();
        let whole = what.starts_with(FAULTS[1].0);
        ensure!(whole && fault["domain"] == "judge", "other words: {fault:#}");
    }
    Ok(())
}

/// What a run tells as JSON; some of its programs have faulted.
fn told(arguments: &[&str]) -> Result<Value> {
    let mut run = giusto()?;
    run.args(arguments).args(["--json", "--log", "debug"]).current_dir(workspace::root());
    let ended = process::run_apart(&mut run, TIMEOUT)?;
    let code = ended.code();
    ensure!(matches!(code, Some(1 | 4)), "status {code:?}: {}{}", ended.output, ended.errors);
    serde_json::from_str(&ended.output).context(ended.output)
}

/// Whether the log begins with all that the programs write, in the order of time.
fn logged(told: &Value) -> Result<()> {
    let lines = told["log"]["lines"].as_array().context("no log")?;
    let of = |line: &Value, key: &str| line[key].as_str().unwrap_or_default().to_string();
    let line = |line| format!("{} {}: {}", of(line, "level"), of(line, "domain"), of(line, "text"));
    let lines: Vec<String> = lines.iter().map(line).collect();
    let whole = lines.len() >= LOGGED.len()
        && lines.iter().zip(LOGGED).all(|(line, wanted)| line.starts_with(wanted));
    ensure!(whole, "other lines: {lines:#?}");
    Ok(())
}
