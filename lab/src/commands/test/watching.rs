//! Systems that are watched and changed while they run, as a user does it.

use super::builds::Builds;
use super::job::Job;
use super::{giusto, process};
use crate::cli::Group;
use crate::image::Build;
use crate::machine::{MACHINES, Machine};
use crate::scratch::Scratch;
use anyhow::{Context, Result, ensure};
use manifest::TREE;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use std::process::{Child, Stdio};
use std::time::Duration;

/// No command takes longer.
const LIMIT: Duration = Duration::from_secs(60);

/// A program that never waits, on a kernel without reservations.
const SPIN: &str = r#"
[system]
name = "spin"

[[domain]]
name = "spin"
program = "runaway"
priority = 40
max_priority = 50
"#;

/// Two programs that never wait, each in half of the time.
const HALVES: &str = r#"
[system]
name = "halves"

[[reservation]]
name = "frames"
policy = "partitions"
priority = 100
major_frame = "10ms"

[[reservation]]
name = "left"
in = "frames"
windows = [{ offset = "0ms", duration = "5ms" }]

[[reservation]]
name = "right"
in = "frames"
windows = [{ offset = "5ms", duration = "5ms" }]

[[domain]]
name = "left"
program = "runaway"
priority = 10
reservation = "left"

[[domain]]
name = "right"
program = "runaway"
priority = 10
reservation = "right"
"#;

/// All kinds of system on each machine with an emulator.
pub fn jobs() -> Vec<Job> {
    let machines = MACHINES.into_iter().filter(|machine| machine.emulator().is_some());
    machines.flat_map(|machine| [tree(machine), windows(machine), priorities(machine)]).collect()
}

fn job(name: &str, machine: &dyn Machine, builds: Builds, check: fn() -> Result<()>) -> Job {
    let name = format!("{name}, on {}", machine.name());
    Job::new(Group::Target, name, move |_| check()).builds(builds).seconds(4.0)
}

fn tree(machine: &dyn Machine) -> Job {
    let builds = Builds::of(machine, Build::default().with(TREE));
    job("a running system with reservations is shown and changed", machine, builds, || {
        let running = Running::start(&["mixed-criticality", "--arg", "jobs=1000000"])?;
        let before = running.json(&["ps"])?;
        ensure!(before["kernel"] == TREE && before["complete"] == true, "{before}");
        let domains = ["flight", "vision", "log", "guest", "control"];
        for name in domains {
            let domain = named(&before["domains"], name)?;
            ensure!(domain["threads"][0]["stack_bytes"].as_u64() >= Some(16 << 10), "{domain}");
        }
        budget_is(&before, 8)?;
        running.json(&["sched", "set", "vision", "budget=10ms"])?;
        budget_is(&running.json(&["ps"])?, 10)?;
        let refused = running.ask(&["sched", "set", "vision", "priority=3", "budget=9ms"])?;
        ensure!(refused.code() == Some(2), "{}", refused.errors);
        let refused = running.ask(&["sched", "set", "vision", "deadline=none", "budget=38ms"])?;
        let said = unbroken(&refused.errors);
        let why = "so vision can have 80%; this would be 95%; it stays as it is";
        ensure!(refused.code() == Some(1) && said.contains(why), "{said}");
        budget_is(&running.json(&["ps"])?, 10)?;
        // A step in front of a refused one is taken back.
        let steps = ["sched", "set", "critical", "priority=301", "budget=1ms", "period=10ms"];
        let refused = running.ask(&steps)?;
        ensure!(refused.code() == Some(1), "{}", refused.errors);
        let after = running.json(&["ps"])?;
        let class = named(&after["reservations"], "critical")?;
        ensure!(class["priority"] == 300 && class["budget_ns"].is_null(), "{class}");
        // What the kernel admits and the analysis does not prove is told.
        let notes = |words: &[&str]| -> Result<Value> { Ok(running.json(words)?["notes"].clone()) };
        let lost = notes(&["sched", "set", "others", "priority=400"])?;
        ensure!(lost.to_string().contains("jobs of flight"), "{lost}");
        let kept = notes(&["sched", "set", "others", "priority=100"])?;
        ensure!(kept.as_array().is_some_and(Vec::is_empty), "nothing is lost");
        let lost = notes(&["sched", "set", "flight", "budget=400us"])?;
        ensure!(lost.to_string().contains("nothing bounds jobs of flight"), "{lost}");
        notes(&["sched", "set", "flight", "budget=1ms"])?;
        let own = running.ask(&["sched", "set", "control", "budget=1us"])?;
        ensure!(own.code() == Some(2), "{}{}", own.output, own.errors);
        let top = running.json(&["top", "-n", "1", "-d", "200ms"])?;
        let round = &top["rounds"][0];
        let had = named(&round["reservations"], "cpu0")?["service_ns"].as_u64();
        ensure!(round["span_ns"].as_u64() > Some(0) && had > Some(0), "{top}");
        let wrong = running.ask(&["sched", "get", "visoin"])?;
        let said = unbroken(&wrong.errors);
        ensure!(wrong.code() == Some(2) && said.contains("did you mean `vision`?"), "{said}");
        running.end()
    })
}

fn windows(machine: &dyn Machine) -> Job {
    let builds = Builds::of(machine, Build::default().with(TREE));
    job("windows of a running system are shown and changed", machine, builds, || {
        let folder = Scratch::new()?;
        let manifest = folder.path().join("halves.toml");
        fs_err::write(&manifest, HALVES)?;
        let running = Running::start(&[manifest.to_str().context("the path is UTF-8")?])?;
        let shown = running.ask(&["sched", "get", "frames"])?;
        let says = "major_frame=10ms windows=left:0us+5ms,right:5ms+5ms";
        ensure!(unbroken(&shown.output).contains(says), "{}", shown.output);
        let changed =
            running.json(&["sched", "set", "frames", "windows=left:0ms+8ms,right:8ms+2ms"])?;
        let ends = |value: &Value| -> Vec<Option<u64>> {
            let windows = value["reservation"]["windows"].as_array();
            windows.into_iter().flatten().map(|window| window["end_ns"].as_u64()).collect()
        };
        ensure!(ends(&changed) == [Some(8_000_000), Some(10_000_000)], "{changed}");
        for priority in ["priority=1", "priority=9"] {
            let less_and_more = running.ask(&["sched", "set", "left", priority])?;
            ensure!(less_and_more.output.contains(priority), "{}", less_and_more.errors);
        }
        let top = running.json(&["top", "-n", "1", "-d", "400ms"])?;
        let had = |name| -> Result<u64> {
            let one = named(&top["rounds"][0]["reservations"], name)?;
            one["service_ns"].as_u64().context("it has run")
        };
        ensure!(had("left")? > 2 * had("right")?, "{top}");
        let refused = running.ask(&["sched", "set", "frames", "windows=left:0ms+11ms"])?;
        ensure!(refused.code() == Some(2), "{}", refused.errors);
        ensure!(ends(&running.json(&["sched", "get", "frames"])?) == ends(&changed), "as it was");
        running.end()
    })
}

fn priorities(machine: &dyn Machine) -> Job {
    let builds = Builds::of(machine, Build::default());
    job("a running system of priorities is shown and changed", machine, builds, || {
        let folder = Scratch::new()?;
        let manifest = folder.path().join("spin.toml");
        fs_err::write(&manifest, SPIN)?;
        let running = Running::start(&[manifest.to_str().context("the path is UTF-8")?])?;
        let shown = running.json(&["ps"])?;
        let none = shown["reservations"].as_array().is_some_and(Vec::is_empty);
        let spin = named(&shown["domains"], "spin")?;
        ensure!(none && spin["threads"][0]["priority"] == 40, "{shown}");
        let changed = running.json(&["sched", "set", "spin", "priority=50"])?;
        ensure!(changed["thread"]["priority"] == 50, "{changed}");
        for (words, status) in [("priority=51", 2), ("budget=1ms", 2)] {
            let refused = running.ask(&["sched", "set", "spin", words])?;
            ensure!(refused.code() == Some(status), "{words}: {}", refused.errors);
        }
        running.end()
    })
}

/// A message in one line.
fn unbroken(said: &str) -> String {
    said.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// What has this name in a list.
fn named<'a>(list: &'a Value, name: &str) -> Result<&'a Value> {
    let mut all = list.as_array().into_iter().flatten();
    all.find(|one| one["name"] == name).with_context(|| format!("there is no {name} in {list}"))
}

fn budget_is(picture: &Value, milliseconds: u64) -> Result<()> {
    let vision = named(&picture["reservations"], "vision")?;
    ensure!(vision["budget_ns"] == milliseconds * 1_000_000, "{vision}");
    Ok(())
}

/// A `run` in the background, which ends with this.
struct Running {
    child: Child,
}

impl Running {
    fn start(arguments: &[&str]) -> Result<Running> {
        let mut run = giusto()?;
        run.args(["run", "--control", "--timeout", "120"]).args(arguments);
        run.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        Ok(Running { child: run.spawn().context("cannot run this program")? })
    }

    /// A command about it, which waits until it has booted.
    fn ask(&self, arguments: &[&str]) -> Result<process::Ended> {
        let mut command = giusto()?;
        command.args(arguments).args(["--pid", &self.child.id().to_string(), "--wait", "30s"]);
        process::run_apart(&mut command, LIMIT)
    }

    /// What a command about it prints, which has to do what it is asked.
    fn json(&self, arguments: &[&str]) -> Result<Value> {
        let ended = self.ask(&[arguments, &["--json"]].concat())?;
        let words = arguments.join(" ");
        ensure!(ended.code() == Some(0), "{words}: {}{}", ended.output, ended.errors);
        serde_json::from_str(&ended.output).with_context(|| format!("{words}: {}", ended.output))
    }

    /// Ends it; nothing of it is left.
    fn end(mut self) -> Result<()> {
        self.stop();
        let mut command = giusto()?;
        command.args(["ps", "--pid", &self.child.id().to_string()]);
        let ended = process::run_apart(&mut command, LIMIT)?;
        ensure!(ended.code() == Some(2), "it has ended: {}", ended.output);
        Ok(())
    }

    fn stop(&mut self) {
        // It may have ended by itself.
        let _ = kill_process(Pid::from_child(&self.child), Signal::TERM);
        let _ = self.child.wait();
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.stop();
    }
}
