//! Kernels that keep statistics: the suite runs as without, counters are guarded and count, a
//! kernel without them refuses, and the simulation counts as the other machines do.

use super::suite::Suite;
use crate::experiment::{self, Asked, Emulated, Session, Setup, Simulated};
use crate::image::Extra;
use crate::machine::{MACHINES, Machine};
use crate::progress::Step;
use anyhow::{Context, Result, bail, ensure};
use manifest::{LOCKINGS, System};
use results::Samples;

/// The system that looks at statistics from inside, and its argument that says whether there are.
const SYSTEM: &str = "selftest";
const ARGUMENT: &str = "statistics";
/// The kernel whose counters are compared between machines.
const COMPARED: &str = "direct-lazy";
/// CPUs of the runs on several, and their kernel.
const CPUS: u32 = 4;
const USUAL: &str = "fastpath";

/// Metrics that must agree between machines, and by how many percent they may differ. The same
/// work is interrupted at other places, since a message does not take the same time to the
/// instruction; deferred operations depend on just these places, and whether a message queues on
/// the few that fall into the work of the device's server. The most frequent length of the ready
/// queue may be the next one.
const NEAR: [(&str, f64); 12] = [
    ("eager-per-1000s", 2.0),
    ("actual-per-1000s", 8.0),
    ("switches-per-1000s", 2.0),
    ("look-ups-per-1000s", 1.0),
    ("messages-per-1000s", 2.0),
    ("queued-messages-per-1000s", 100.0),
    ("longest-send-queue", 50.0),
    ("ready-queue-most-frequent", 20.0),
    ("ready-queue-longest", 0.0),
    ("avoided-ppm", 0.2),
    ("dequeues-deferred-ppm", 25.0),
    ("look-ups-avoided-ppm", 0.1),
];

/// Checks all of it on every machine.
pub fn check(suite: &mut Suite) {
    let (emulated, simulated) = (Emulated::new(Asked::seed(1)), Simulated::new(Asked::seed(1)));
    for setup in [&*emulated, &*simulated] {
        let machine = setup.machine();
        let with = manifest::KERNELS.map(|kernel| (kernel, Some(Extra::Statistics)));
        let without = machine.emulator().map(|_| (COMPARED, None));
        for (kernel, extra) in with.into_iter().chain(without) {
            if suite.is_over() {
                return;
            }
            let what = if extra.is_some() { "with" } else { "without" };
            let name = format!("{SYSTEM} under {kernel} on {}, {what} statistics", machine.name());
            let _step = Step::start(&name);
            suite.record(name, run(setup, kernel, extra).map_err(|error| format!("{error:#}")));
        }
    }
    for locking in &LOCKINGS[1..] {
        let name = format!("{SYSTEM} with statistics on {CPUS} CPUs, locks {locking}");
        let _step = Step::start(&name);
        suite.record(name, several(locking).map_err(|error| format!("{error:#}")));
    }
    let [usual, .., simulation] = MACHINES;
    let name = format!("{} counts as {} does under {COMPARED}", simulation.name(), usual.name());
    let _step = Step::start(&name);
    suite.record(name, agree().map_err(|error| format!("{error:#}")));
}

/// The suite ends well, knowing whether the kernel keeps statistics.
fn run(setup: &Setup, kernel: &str, extra: Option<Extra>) -> Result<()> {
    let said = if extra.is_some() { "yes" } else { "no" };
    let mut say = |system: &mut System| {
        for domain in system.domains.iter_mut().filter(|domain| domain.program == SYSTEM) {
            domain.args.push((ARGUMENT.to_string(), said.to_string()));
            // The simulation counts in every run, so the rest of the suite has had its turn.
            if setup.machine().emulator().is_none() {
                domain.args.push(("only".to_string(), ARGUMENT.to_string()));
            }
        }
    };
    let outcome = setup.boot_with(extra, SYSTEM, kernel, &mut say)?;
    let held = outcome.console.lines().filter(|line| line.starts_with("ok statistics: ")).count();
    if held == 0 {
        bail!("it reports no check of statistics");
    }
    Ok(())
}

/// The suite ends well on several CPUs that count.
fn several(locking: &str) -> Result<()> {
    let setup = Emulated::new(Asked::seed(1)).sliced();
    let outcome = setup.boot_with(Some(Extra::counted(locking)), SYSTEM, USUAL, &mut |system| {
        system.cpus = CPUS;
        system.locking = Some(locking.to_string());
        for domain in system.domains.iter_mut().filter(|domain| domain.program == SYSTEM) {
            domain.args.push((ARGUMENT.to_string(), "yes".to_string()));
        }
    })?;
    let held = "ok statistics: each CPU has its counters";
    ensure!(outcome.console.contains(held), "it does not say `{held}`");
    Ok(())
}

/// Counters of the first and the last machine.
fn agree() -> Result<()> {
    let [usual, .., simulation] = MACHINES;
    let session = Session::new(Asked::seed(1));
    let counted = |machine: &dyn Machine| -> Result<Samples> {
        let experiment = experiment::find("scheduler-stats").context("there is no such thing")?;
        Ok(session.measure(experiment.on(machine.name())?, COMPARED)?.samples)
    };
    let apart = apart(&counted(usual)?, &counted(simulation)?);
    if !apart.is_empty() {
        bail!("the machines differ:\n{}", apart.join("\n"));
    }
    Ok(())
}

/// Rows of two runs that are further apart than they may be.
fn apart(real: &Samples, simulated: &Samples) -> Vec<String> {
    let mut apart = Vec::new();
    for (metric, percent) in NEAR {
        let mut found = false;
        for row in real.series.iter().filter(|row| row.metric == metric) {
            let like = simulated.series.iter().find(|o| o.metric == metric && o.case == row.case);
            let (Some(a), Some(b)) = (row.values.first(), like.and_then(|o| o.values.first()))
            else {
                apart.push(format!("{metric} {}: one of them lacks it", row.case));
                continue;
            };
            found = true;
            if a.abs_diff(*b) as f64 > *a as f64 * percent / 100.0 {
                apart.push(format!("{metric} {}: {a} and {b}, over {percent} %", row.case));
            }
        }
        if !found {
            apart.push(format!("{metric}: neither has it"));
        }
    }
    apart
}

#[cfg(test)]
mod tests {
    use super::*;

    fn samples(change: u64) -> Samples {
        let mut samples = Samples::default();
        for (metric, _) in NEAR {
            samples.push(COMPARED, metric, "complete", vec![10_000 + change]);
        }
        samples
    }

    #[test]
    fn counters_that_differ_do_not_agree() {
        assert_eq!(apart(&samples(0), &samples(0)), Vec::<String>::new());
        let all = |change| apart(&samples(0), &samples(change)).len();
        let changes = [1, 150, 300, 900, 2600, 6000, 11_000];
        assert_eq!(changes.map(all), [1, 4, 7, 8, 10, 11, 12]);
        assert_eq!(apart(&samples(0), &Samples::default()).len(), 2 * NEAR.len());
        assert_eq!(apart(&Samples::default(), &samples(0)).len(), NEAR.len());
    }
}
