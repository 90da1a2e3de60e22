//! The suites on the machines: systems that check the kernel from user mode.

use super::configuration::{self, Configuration, Watch};
use super::findings::{Findings, built, without_numbers};
use super::job::Job;
use super::tracing;
use crate::cli::Group;
use crate::image::{self, Images};
use crate::machine::{self, Boot, MACHINES, Mode, Outcome, Sampling, Simulation};
use crate::systems;
use abi::trace::Keep;
use anyhow::{Context, Result, bail, ensure};
use manifest::System;
use std::time::Duration;

/// Most steps of the counter that a system may boot in.
const BOOT_LIMIT: u64 = 5_000_000;

/// Longer than any system takes on a slow host.
const TIMEOUT: Duration = Duration::from_secs(120);

/// As often as the port admits.
const OFTEN: Sampling = Sampling { period: 10_000, seed: 3 };

/// The system that looks at statistics from inside, and its argument that says whether there are.
const SELFTEST: &str = "selftest";
const STATISTICS: &str = "statistics";

/// The suites in their configurations.
pub fn jobs() -> Vec<Job> {
    let all = MACHINES.into_iter().flat_map(configuration::of);
    all.map(|(one, class)| run(one).class(class)).collect()
}

/// A job that boots a configuration and judges it.
pub fn run(one: Configuration) -> Job {
    let work = move |findings: &mut Findings| {
        let mut system = load(one.system, one.cpus, one.locking)?;
        let images = built(image::build_system(one.machine, &system, one.extra()))?;
        let trace = prepare(&one, &mut system);
        let outcome = boot(&one, &images, &system, Simulation::default())?;
        judge(findings, &one, &outcome);
        watched(&one, &outcome, trace.as_deref())
    };
    Job::new(Group::Target, one.to_string(), work).configuration().builds(one.builds())
}

/// A system for so many CPUs, under a locking.
pub fn load(system: &str, cpus: u32, locking: &str) -> Result<System> {
    let mut system = if system == "pairs" { systems::pairs(cpus)? } else { systems::load(system)? };
    system.cpus = cpus;
    system.locking = Some(locking.to_string());
    Ok(system)
}

/// Tells a system how it is watched; the memory with its trace, if it has one.
fn prepare(one: &Configuration, system: &mut System) -> Option<String> {
    // The simulation always counts.
    let counted = one.watch == Watch::Statistics || one.machine.emulator().is_none();
    let said = if counted { "yes" } else { "no" };
    for domain in system.domains.iter_mut().filter(|domain| domain.program == SELFTEST) {
        domain.args.push((STATISTICS.to_string(), said.to_string()));
    }
    let bytes = tracing::USUAL.max(u64::from(one.cpus) * tracing::USUAL / 2);
    (one.watch == Watch::Trace).then(|| system.add_trace(bytes, Keep::First))
}

/// Boots a system and keeps what it says.
pub fn boot(
    one: &Configuration,
    images: &Images,
    system: &System,
    simulation: Simulation,
) -> Result<Outcome> {
    let boot = Boot::new(one.machine, images, system)
        .board(one.board)
        .kernel(one.kernel)
        .seed(one.seed)
        .timeout(TIMEOUT)
        .inspect(matches!(one.watch, Watch::Nothing | Watch::Statistics))
        .sampling((one.watch == Watch::Samples).then_some(OFTEN))
        .simulation(Simulation { chaos: one.chaos, ..simulation });
    machine::boot(&boot)
}

/// Counts each check that the system reported, what was found in its page tables, and how it ended.
pub fn judge(findings: &mut Findings, one: &Configuration, outcome: &Outcome) {
    let system = one.system;
    let reported = reported(&outcome.console);
    let failed = reported.iter().filter(|(_, held)| !held).count();
    for (check, held) in &reported {
        let result = if *held { Ok(()) } else { Err("the system reports a failure".to_string()) };
        findings.record(format!("{system}: {check}"), result);
    }
    for (rule, result) in &outcome.findings {
        findings.record(format!("page tables: {}", without_numbers(rule)), result.clone());
    }
    if one.watch == Watch::Nothing && one.cpus == 1 {
        findings.record("boots quickly", quick_boot(outcome));
    }
    let kernel = one.kernel;
    let ended = match outcome.failure() {
        Some(failure) => Err(failure),
        None if outcome.kernel != kernel => {
            Err(format!("asked for kernel `{kernel}`, but `{}` ran", outcome.kernel))
        }
        None if failed > 0 => Err("it reports failures, yet ended with status 0".to_string()),
        None if reported.is_empty() => Err("it reports no check".to_string()),
        None => Ok(()),
    };
    findings.record(format!("{system} ends well"), ended);
}

fn quick_boot(outcome: &Outcome) -> Result<(), String> {
    match outcome.boot_steps() {
        None => Err("the kernel does not say how long it took".to_string()),
        Some(steps) if steps > BOOT_LIMIT => Err(format!("{steps} steps, over {BOOT_LIMIT}")),
        Some(_) => Ok(()),
    }
}

/// Judges what the kernel told about itself.
fn watched(one: &Configuration, outcome: &Outcome, trace: Option<&str>) -> Result<()> {
    if one.system == SELFTEST {
        let held = outcome.console.lines().any(|line| line.starts_with("ok statistics: "));
        ensure!(held, "it reports no check of statistics");
    }
    let counts = one.watch == Watch::Statistics && one.system == SELFTEST && one.cpus > 1;
    let held = "ok statistics: each CPU has its counters";
    ensure!(!counts || outcome.console.contains(held), "it does not say `{held}`");
    match (one.watch, trace) {
        (Watch::Trace, Some(memory)) => {
            let bytes = outcome.memories.get(memory).context("the run left no trace")?;
            tracing::is_whole(bytes, one.kernel, one.cpus)
        }
        (Watch::Samples, _) => {
            let samples = outcome.samples.as_ref().context("there are no samples")?;
            for mode in [Mode::User, Mode::Kernel] {
                if !samples.taken.iter().any(|sample| sample.mode == mode) {
                    bail!("{} samples, but none in mode {mode:?}", samples.taken.len());
                }
            }
            Ok(())
        }
        _ => Ok(()),
    }
}

/// How a system's console begins the line of a check that held, and of one that did not.
const HELD: [&str; 2] = ["ok ", "refused: "];
const NOT_HELD: [&str; 3] = ["FAILED ", "NOT REFUSED: ", "NOT TRUE: "];

/// The checks that a console reports, and whether they held.
fn reported(console: &str) -> Vec<(&str, bool)> {
    console.lines().filter_map(check).collect()
}

fn check(line: &str) -> Option<(&str, bool)> {
    let after = |starts: &[&str]| starts.iter().find_map(|start| line.strip_prefix(start));
    let held = after(&HELD).map(|name| (name, true));
    held.or_else(|| Some((after(&NOT_HELD)?, false)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::Exit;
    use std::collections::BTreeMap;

    fn outcome(exit: Exit, console: &str) -> Outcome {
        Outcome {
            machine: "made-up",
            exit,
            console: console.to_string(),
            memories: BTreeMap::new(),
            kernel: "fastpath".to_string(),
            backtrace: Vec::new(),
            findings: Vec::new(),
            log: Vec::new(),
            samples: None,
        }
    }

    /// How many findings hold and how many do not.
    fn judged(outcome: &Outcome) -> (usize, usize) {
        let mut findings = Findings::default();
        judge(&mut findings, &Configuration::plain(MACHINES[0], SELFTEST), outcome);
        let failed = findings.0.iter().filter(|finding| finding.failure.is_some()).count();
        (findings.0.len() - failed, failed)
    }

    const BOOT: &str = "boot: 3 counter steps to the first user instruction\n";

    #[test]
    fn a_run_and_its_checks_are_counted() {
        let after_boot = |exit, console: &str| judged(&outcome(exit, &format!("{BOOT}{console}")));
        assert_eq!(after_boot(Exit::Done(0), "ok one\nrefused: two\n"), (4, 0));
        assert_eq!(after_boot(Exit::Done(2), "NOT REFUSED: one\n"), (1, 2));
        assert_eq!(after_boot(Exit::Done(1), "ok one\nFAILED two\n"), (2, 2));
        assert_eq!(after_boot(Exit::Hang, "ok one\n"), (2, 1));
    }

    #[test]
    fn a_run_that_cannot_be_trusted_fails() {
        assert_eq!(judged(&outcome(Exit::Done(0), &format!("{BOOT}hello\n"))), (1, 1));
        assert_eq!(judged(&outcome(Exit::Done(0), &format!("{BOOT}FAILED one\n"))), (1, 2));
        let other = Outcome { kernel: "other".to_string(), ..outcome(Exit::Done(0), "ok one\n") };
        assert_eq!(judged(&other), (1, 2));
    }

    #[test]
    fn a_slow_boot_fails() {
        let slow = BOOT.replace('3', "5000001");
        assert_eq!(judged(&outcome(Exit::Done(0), &format!("{slow}ok one\n"))), (2, 1));
        assert_eq!(judged(&outcome(Exit::Done(0), "ok one\n")), (2, 1));
    }

    #[test]
    fn a_finding_in_the_page_tables_fails() {
        let mut found = outcome(Exit::Done(0), &format!("{BOOT}ok one\n"));
        found.findings = vec![("no w^x".to_string(), Err("a page".to_string()))];
        assert_eq!(judged(&found), (3, 1));
    }
}
