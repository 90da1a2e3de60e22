//! Programs that are made to fail, and a supervisor that makes them again.

use super::configuration::Configuration;
use super::findings::{Findings, built};
use super::job::{Class, Job};
use super::suites::page_tables;
use super::{giusto, process};
use crate::cli::Group;
use crate::image;
use crate::machine::{self, Boot, Console, MACHINES, Machine, Packed, Shared};
use crate::scratch::Scratch;
use crate::{systems, workspace};
use anyhow::{Context, Result, ensure};
use manifest::{NO_LOCKING, System, TREE};
use std::time::Duration;
use twin_protocol::{End, Options};

/// The system whose programs fail.
const SYSTEM: &str = "supervised";
/// Failures in the simulation, so that each program has its thousand, and in the emulator.
const MANY: &str = "3200";
const FEW: &str = "20";
/// Failures with chaos, in a run of the usual class and in each deep one.
const DISTURBED: &str = "40";
/// Steps of the deep runs together, and how often something is injected.
const STEPS: u64 = 1_000_000;
const CHAOS: u64 = 5;
/// Nanoseconds in which programs signal then, and milliseconds in which all come back.
const HEARTBEAT: u64 = 1_000_000_000;
const PATIENCE: &str = "5000";

/// No command takes longer.
const LIMIT: Duration = Duration::from_secs(300);
/// A program that counts in data that begin with something and in data that begin with zero, and
/// fails; and a system in which it is supervised.
const COUNTER: &str = r#"
#![no_std]
use core::sync::atomic::{AtomicU64, Ordering};
use rt::prelude::*;

static TABLE: [AtomicU64; 700] = [const { AtomicU64::new(42) }; 700];
static ZERO: AtomicU64 = AtomicU64::new(0);

pub fn main(env: &Env) {
    let sum: u64 = TABLE.iter().map(|word| word.fetch_add(1, Ordering::Relaxed)).sum();
    println!(env.console(), "{sum} {}", ZERO.fetch_add(1, Ordering::Relaxed));
    rt::time::sleep(5.ms());
    panic!("as it has to");
}
"#;
const COUNTER_SYSTEM: &str = r#"
[system]
name = "counter"

[[domain]]
name = "counter"
program = { crate = "server" }
priority = 100
restart = "on-failure"
caps = [{ name = "console", console = true }]
"#;

const PULSE: &str = r#"
[[domain]]
name = "NAME"
program = "pulse"
priority = 10
restart = "on-failure"
"#;
const CURFEW: &str = r#"
[[domain]]
name = "curfew"
program = "curfew"
priority = 200
args = { after = 60 }
caps = [{ name = "console", console = true }, { name = "system", system = true }]
"#;

/// Beats far more often than it must, until something above it and above the supervisor takes the
/// CPU: 30 ms behind its start, UNTIL then.
const STARVED: &str = r#"
[system]
name = "starved"

[[domain]]
name = "beater"
program = "pulse"
priority = 10
restart = "on-failure"
heartbeat = "20ms"

[[domain]]
name = "hog"
program = "runaway"
priority = 100
args = { after = 30UNTIL }
"#;

/// The system on each machine, and in the simulation with chaos.
pub fn jobs() -> Vec<Job> {
    let [emulated, .., simulated] = MACHINES;
    let plain = |machine: &'static dyn Machine| Configuration::plain(machine, SYSTEM);
    let job = |name: &str, one: Configuration| {
        let failures = one.args[0].1;
        one.job(format!("{SYSTEM} {name}: {failures} failures, and nothing is lost"), run)
    };
    let several = Configuration { cpus: 4, locking: "fine", ..plain(simulated) };
    vec![
        job("on twin", Configuration { args: &[("failures", MANY)], ..plain(simulated) }),
        job("on qemu-x86_64", Configuration { args: &[("failures", FEW)], ..plain(emulated) }),
        job(
            "on 4 CPUs of twin, with chaos",
            Configuration { args: &[("failures", DISTURBED)], chaos: CHAOS, ..several },
        ),
        relics(Configuration::plain(emulated, "relics")),
        relics(Configuration::plain(simulated, "relics")),
        relics(Configuration { kernel: TREE, ..Configuration::plain(emulated, "relics") }),
        relics(Configuration { kernel: TREE, ..Configuration::plain(simulated, "relics") }),
        starved(emulated, "--icount"),
        starved(simulated, "--machine=twin"),
        patient(plain(emulated)),
        data(plain(emulated)),
        chaos("one CPU", 1, NO_LOCKING),
        chaos("4 CPUs", 4, "fine"),
    ]
}

/// Boots a configuration, which must end well.
fn run(one: &Configuration, findings: &mut Findings) -> Result<()> {
    let outcome = one.run(&spread(one)?)?;
    page_tables(findings, &outcome);
    held(&outcome.console)
}

/// The system with its programs on as many CPUs as there are. Chaos delays whatever is lower than
/// a supervisor that works: heartbeats are given more time then.
fn spread(one: &Configuration) -> Result<System> {
    let mut system = one.load()?;
    for (domain, nth) in system.domains.iter_mut().zip(0..) {
        domain.cpu = nth % one.cpus;
        if one.chaos > 0 {
            let restart = domain.restart.iter_mut();
            restart.for_each(|restart| restart.heartbeat = Some(HEARTBEAT));
        }
    }
    if one.chaos > 0 {
        systems::set(&mut system, "patience", PATIENCE);
    }
    Ok(system)
}

fn held(console: &str) -> Result<()> {
    let said = "failures; all are up, and what is in use is as before";
    ensure!(console.contains(said), "it does not say `{said}`:\n{console}");
    Ok(())
}

/// A heartbeat that a more urgent program keeps from coming is noticed within two lengths, with
/// that program's name: also if it never ends.
fn starved(machine: &'static dyn Machine, option: &'static str) -> Job {
    let one = Configuration::plain(machine, SYSTEM);
    let work = move |_: &mut Findings| {
        let folder = Scratch::new()?;
        let path = folder.path().join("starved.toml");
        let path = path.to_str().context("the temporary directory's name is not text")?;
        for (until, event) in [(", until = 75", "restarted"), ("", "not restarted")] {
            let curfew = CURFEW.replace("after = 60", "after = 100");
            let system = STARVED.replace("UNTIL", until) + &curfew;
            fs_err::write(path, system)?;
            let ran = process::run_apart(giusto()?.args(["run", path, option, "--json"]), LIMIT)?;
            let told: serde_json::Value = serde_json::from_str(&ran.output)
                .with_context(|| format!("{}{}", ran.output, ran.errors))?;
            let restart = &told["restarts"]["latest"][0];
            ensure!(restart["event"] == event, "{event}: {told}");
            let what = "beater did not signal its heartbeat while hog had the CPU";
            ensure!(restart["what"] == what, "{event}: {told}");
            let seen = restart["seen"].as_u64().context("an instant")?;
            ensure!((50_000_000..72_000_000).contains(&seen), "{event}: {told}");
        }
        Ok(())
    };
    let name = format!("{SYSTEM} on {}: what keeps a heartbeat from coming", machine.name());
    Job::new(Group::Target, name, work).builds(one.builds()).seconds(3.0)
}

/// A reservation of a program whose next life looks for what it has left.
const LEAF: [(&str, &str); 3] = [
    ("[[endpoint]]", "[[reservation]]\nname = \"leaf\"\npriority = 300\n\n[[endpoint]]"),
    ("program = \"relics\"", "program = \"relics\"\nreservation = \"leaf\""),
    (
        "{ name = \"alarm\",",
        "{ name = \"leaf\", reservation = \"leaf\" },\n    { name = \"alarm\",",
    ),
];

/// A program whose next life looks for what it has left, under the kernel with reservations also in
/// one; somebody types a letter.
fn relics(one: Configuration) -> Job {
    let (machine, kernel) = (one.machine.name(), one.kernel);
    let name = format!("relics on {machine}, {kernel}: a life begins as at boot");
    one.job(name, |one, _| {
        let mut system = one.load()?;
        if one.kernel == TREE {
            let folder = Scratch::new()?;
            let path = folder.path().join("relics.toml");
            let text = fs_err::read_to_string(workspace::root().join("systems/relics.toml"))?;
            let text = LEAF.iter().fold(text, |text, (old, new)| text.replacen(old, new, 1));
            fs_err::write(&path, text)?;
            system = systems::load(path.to_str().context("a path is text")?)?;
            ensure!(system.reservations.len() == 2, "the program and its supervisor have one");
        }
        let console = Console::typed(Shared::text("x"));
        let boot = |boot: Boot| machine::boot(&boot.inspect(false).console(console));
        let outcome = one.boot(&system, boot)?;
        let said = "nothing is left of an earlier life";
        let held = outcome.failure().is_none() && outcome.console.contains(said);
        ensure!(held, "it does not say `{said}`:\n{}", outcome.console);
        Ok(())
    })
}

/// A program that beats far more often than it must, and others that depend on it and take longer
/// to make than it may be silent: the supervisor's own work counts for no heartbeat.
fn patient(one: Configuration) -> Job {
    let work = |_: &mut Findings| {
        let folder = Scratch::new()?;
        let path = folder.path().join("patient.toml");
        let large = (0..8).map(|number| PULSE.replace("NAME", &format!("large{number}")));
        let large: String =
            large.map(|text| text + "depends = [\"good\"]\nstack = \"1900K\"\n").collect();
        let good = PULSE.replace("NAME", "good").replace("priority = 10", "priority = 60");
        let good = good + "heartbeat = \"2ms\"\n";
        fs_err::write(&path, format!("[system]\nname = \"patient\"\n{good}{large}{CURFEW}"))?;
        let path = path.to_str().context("the temporary directory's name is not text")?;
        let ran = process::run_apart(giusto()?.args(["run", path, "--icount"]), LIMIT)?;
        let silent = !ran.output.contains("supervisor:") && ran.code() == Some(0);
        ensure!(silent, "status {:?}:\n{}{}", ran.code(), ran.output, ran.errors);
        Ok(())
    };
    let name = format!("{SYSTEM} on qemu-x86_64: a restart is no missed heartbeat");
    Job::new(Group::Target, name, work).builds(one.builds()).seconds(3.0)
}

/// A program from elsewhere with data of its own, which are as at the start each time: as a crate,
/// and as the ELF file that is made of it.
fn data(one: Configuration) -> Job {
    let work = |_: &mut Findings| {
        let folder = Scratch::new()?;
        let folder = folder.path().join("counter");
        let path = folder.to_str().context("the temporary directory's name is not text")?;
        let made = process::run_apart(giusto()?.args(["new", path]), LIMIT)?;
        ensure!(made.code() == Some(0), "no system can be made: {}", made.errors);
        let (manifest, crated) = (folder.join("system.toml"), format!("{COUNTER_SYSTEM}{CURFEW}"));
        fs_err::write(&manifest, &crated)?;
        fs_err::write(folder.join("server/src/lib.rs"), COUNTER)?;
        is_initialised_again(path)?;
        let system = systems::load(path)?;
        let images = built(image::build_for(MACHINES[0], &system))?;
        let counter = &system.children().first().context("a supervised domain")?.program;
        let built = images.programs.get(counter).context("its program is built")?;
        fs_err::copy(built, folder.join("counter.elf"))?;
        let prebuilt = crated.replace("{ crate = \"server\" }", "{ elf = \"counter.elf\" }");
        fs_err::write(&manifest, prebuilt)?;
        fs_err::remove_dir_all(folder.join("server"))?;
        is_initialised_again(path)
    };
    let name = format!("{SYSTEM} on qemu-x86_64: writable data are initialised again");
    Job::new(Group::Target, name, work).class(Class::Deep).builds(one.builds())
}

/// Runs the system of [`COUNTER`]: restarted three times, then given up.
fn is_initialised_again(path: &str) -> Result<()> {
    let ran = process::run_apart(giusto()?.args(["run", path, "--icount"]), LIMIT)?;
    let begun = ran.output.lines().filter(|line| *line == "29400 0").count();
    ensure!(begun == 4, "it began {begun} times as it should:\n{}{}", ran.output, ran.errors);
    let said = "counter given up: it panicked";
    ensure!(ran.output.contains(said), "it does not say `{said}`:\n{}", ran.output);
    ensure!(ran.code() == Some(4), "status {:?}: {}", ran.code(), ran.errors);
    Ok(())
}

/// Many seeds with chaos, every invariant checked after each step.
fn chaos(on: &str, cpus: u32, locking: &'static str) -> Job {
    let plain = Configuration::plain(MACHINES[1], SYSTEM);
    let one = Configuration { cpus, locking, chaos: CHAOS, ..plain };
    let name = format!("{SYSTEM} on {on}: {STEPS} steps with chaos {CHAOS}");
    let work = move |_: &mut Findings| {
        let mut steps = 0;
        for seed in 1.. {
            steps += seeded(&one, seed).with_context(|| format!("seed {seed}"))?;
            if steps >= STEPS {
                return Ok(());
            }
        }
        Ok(())
    };
    Job::new(Group::Search, name, work).class(Class::Deep).builds(one.builds()).seconds(60.0)
}

/// Runs a seed; its steps.
fn seeded(one: &Configuration, seed: u64) -> Result<u64> {
    let mut system = spread(one)?;
    systems::set(&mut system, "seed", &seed.to_string());
    systems::set(&mut system, "failures", DISTURBED);
    let images = built(image::build_for(one.machine, &system))?;
    let packed = Packed::new(&Boot::new(one.machine, &images, &system), &|_| ())?;
    let ran = machine::run(packed.run(Options {
        kernel: one.kernel.to_string(),
        locking: Some(one.locking.to_string()),
        memory: system.memory,
        check: true,
        chaos: one.chaos,
        seed,
        ..Options::default()
    }))?;
    ensure!(ran.end == End::Done(0), "it ended with {:?}:\n{}", ran.end, ran.console);
    held(&ran.console)?;
    Ok(ran.entries)
}
