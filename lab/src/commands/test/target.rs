//! The suite on the machines: systems that check the kernel from user mode.

use super::suite::{Branch, Suite};
use super::{counting, endings, native, sampling, several, tracing};
use crate::image::{self, Images};
use crate::machine::{self, Boot, Console, MACHINES, Machine, Outcome, Simulation};
use crate::progress::Step;
use crate::systems;
use anyhow::Result;
use manifest::System;
use std::sync::Arc;
use std::time::Duration;

/// Systems that end with status 0 if every check in them held.
pub const SYSTEMS: [&str; 4] = ["selftest", "hostile", "threads", "servers"];

/// Most steps of the counter that any of them may boot in.
const BOOT_LIMIT: u64 = 5_000_000;

/// Longer than any of them takes on a slow host.
const TIMEOUT: Duration = Duration::from_secs(60);

/// Boots the systems under every kernel on every board, or only the usual one, and all that goes
/// beyond that.
pub fn suite(suite: &mut Suite, quick: bool) {
    let mut branches: Vec<Branch> = Vec::new();
    branches.extend(several::branches(quick));
    for machine in MACHINES {
        match image::build(machine) {
            Ok(images) => branches.extend(on(machine, &Arc::new(images), quick)),
            Err(error) => {
                suite.broken(format!("images for {}", machine.name()), format!("{error:#}"));
            }
        }
    }
    branches.push(Box::new(tracing::check));
    branches.push(Box::new(counting::check));
    branches.push(Box::new(sampling::check));
    suite.beside(branches);
    // By itself: its threads run at once.
    native::check(suite);
}

/// A machine's boards, and how runs end on it.
fn on(
    machine: &'static dyn Machine,
    images: &Arc<Images>,
    quick: bool,
) -> impl Iterator<Item = Branch> {
    let boards = if quick { &machine.boards()[..1] } else { machine.boards() };
    let every = boards.iter().map(move |board| -> Branch {
        let images = Arc::clone(images);
        Box::new(move |suite| every_kernel(suite, machine, &images, board))
    });
    let images = Arc::clone(images);
    let ends: Branch = Box::new(move |suite| endings::check(suite, machine, &images));
    every.chain([ends])
}

fn every_kernel(suite: &mut Suite, machine: &dyn Machine, images: &Images, board: &str) {
    for (kernel, system) in manifest::KERNELS.iter().flat_map(|k| SYSTEMS.map(|s| (*k, s))) {
        if suite.is_over() {
            return;
        }
        let name = format!("{system} under {kernel} on {}, {board}", machine.name());
        let _step = Step::start(&name);
        let outcome =
            systems::load(system).and_then(|system| run(machine, images, board, kernel, &system));
        judge(suite, &name, kernel, outcome);
    }
}

/// Boots a system and keeps what it says.
pub fn run(
    machine: &dyn Machine,
    images: &Images,
    board: &str,
    kernel: &str,
    system: &System,
) -> Result<Outcome> {
    run_simulated(machine, images, board, kernel, system, Simulation::default())
}

/// [`run`] with what the twin alone can do.
pub fn run_simulated(
    machine: &dyn Machine,
    images: &Images,
    board: &str,
    kernel: &str,
    system: &System,
    simulation: Simulation,
) -> Result<Outcome> {
    machine::boot(&Boot {
        machine,
        board,
        images,
        system,
        kernel,
        icount: Some(1),
        console: Console::CAPTURE,
        timeout: Some(TIMEOUT),
        inspect: true,
        log: false,
        sampling: None,
        simulation,
        slices: true,
    })
}

/// [`judge_run`], and how long the machine took to boot.
fn judge(suite: &mut Suite, name: &str, kernel: &str, outcome: Result<Outcome>) {
    if let Ok(outcome) = &outcome {
        suite.record_quietly(format!("{name}: boots quickly"), quick_boot(outcome));
    }
    judge_run(suite, name, kernel, outcome);
}

/// Counts each check that the system reported, and the run as a whole.
pub fn judge_run(suite: &mut Suite, name: &str, kernel: &str, outcome: Result<Outcome>) {
    let outcome = match outcome {
        Ok(outcome) => outcome,
        Err(error) => return suite.record(name, Err(format!("{error:#}"))),
    };
    let reported = reported(&outcome.console);
    let failed = reported.iter().filter(|(_, passed)| !passed).count();
    for (check, passed) in &reported {
        let result = if *passed { Ok(()) } else { Err("the system reports a failure".to_string()) };
        suite.record_quietly(format!("{name}: {check}"), result);
    }
    record_findings(suite, name, &outcome);
    let result = match outcome.failure() {
        Some(failure) => Err(failure),
        None if outcome.kernel != kernel => {
            Err(format!("asked for kernel `{kernel}`, but `{}` ran", outcome.kernel))
        }
        None if failed > 0 => Err("it reports failures, yet ended with status 0".to_string()),
        None if reported.is_empty() => Err("it reports no check".to_string()),
        None => Ok(()),
    };
    suite.record(format!("{name}, {} checks", reported.len()), result);
}

/// Counts what was found in the page tables; the first finding says how much was looked at.
pub fn record_findings(suite: &mut Suite, name: &str, outcome: &Outcome) {
    for (index, (rule, result)) in outcome.findings.iter().enumerate() {
        let rule = format!("{name}: page tables: {rule}");
        match index {
            0 => suite.record(rule, result.clone()),
            _ => suite.record_quietly(rule, result.clone()),
        }
    }
}

fn quick_boot(outcome: &Outcome) -> Result<(), String> {
    match outcome.boot_steps() {
        None => Err("the kernel does not say how long it took".to_string()),
        Some(steps) if steps > BOOT_LIMIT => Err(format!("{steps} steps, over {BOOT_LIMIT}")),
        Some(_) => Ok(()),
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

    fn outcome(exit: Exit, console: &str) -> Result<Outcome> {
        Ok(Outcome {
            exit,
            console: console.to_string(),
            memories: BTreeMap::new(),
            kernel: "fastpath".to_string(),
            backtrace: Vec::new(),
            findings: Vec::new(),
            log: Vec::new(),
            samples: None,
        })
    }

    fn judged(outcome: Result<Outcome>) -> (usize, usize) {
        let mut suite = Suite::new(false, false);
        judge(&mut suite, "selftest", "fastpath", outcome);
        let summary = suite.summary();
        (summary.passed, summary.failed)
    }

    const BOOT: &str = "boot: 3 counter steps to the first user instruction\n";

    #[test]
    fn a_run_and_its_checks_are_counted() {
        let after_boot = |exit, console: &str| judged(outcome(exit, &(BOOT.to_string() + console)));
        assert_eq!(after_boot(Exit::Done(0), "ok one\nrefused: two\n"), (4, 0));
        assert_eq!(after_boot(Exit::Done(2), "NOT REFUSED: one\n"), (1, 2));
        assert_eq!(after_boot(Exit::Done(1), "ok one\nFAILED two\n"), (2, 2));
        assert_eq!(after_boot(Exit::Hang, "ok one\n"), (2, 1));
    }

    #[test]
    fn a_run_that_cannot_be_trusted_fails() {
        assert_eq!(judged(outcome(Exit::Done(0), &format!("{BOOT}hello\n"))), (1, 1));
        assert_eq!(judged(outcome(Exit::Done(0), &format!("{BOOT}FAILED one\n"))), (1, 2));
        assert_eq!(judged(Err(anyhow::anyhow!("no emulator"))), (0, 1));
    }

    #[test]
    fn a_slow_boot_fails() {
        let slow = BOOT.replace('3', "5000001");
        assert_eq!(judged(outcome(Exit::Done(0), &format!("{slow}ok one\n"))), (2, 1));
        assert_eq!(judged(outcome(Exit::Done(0), "ok one\n")), (2, 1));
    }

    #[test]
    fn a_finding_in_the_page_tables_fails() {
        let mut found = outcome(Exit::Done(0), &format!("{BOOT}ok one\n")).unwrap();
        found.findings = vec![("no w^x".to_string(), Err("a page".to_string()))];
        assert_eq!(judged(Ok(found)), (3, 1));
    }
}
