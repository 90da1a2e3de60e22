//! Kernels that keep statistics: the simulation counts as the other machines do.

use super::job::Job;
use crate::cli::Group;
use crate::experiment::{self, Asked, Session};
use crate::machine::{MACHINES, Machine};
use anyhow::{Context, Result, bail};
use results::Samples;

/// The kernel whose counters are compared between machines.
const COMPARED: &str = "direct-lazy";

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
    ("longest-send-queue", 100.0),
    ("ready-queue-most-frequent", 50.0),
    ("ready-queue-longest", 0.0),
    ("avoided-ppm", 0.2),
    ("dequeues-deferred-ppm", 25.0),
    ("look-ups-avoided-ppm", 0.1),
];

/// The comparison.
pub fn jobs() -> Vec<Job> {
    let [usual, .., simulation] = MACHINES;
    let name = format!("{} counts as {} does under {COMPARED}", simulation.name(), usual.name());
    let job = Job::new(Group::Target, name, |_| agree());
    vec![job.builds("image some(statistics)").seconds(20.0)]
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

    /// A run whose counters are all 10,000, but for one.
    fn samples(other: &str, value: u64) -> Samples {
        let mut samples = Samples::default();
        for (metric, _) in NEAR {
            let counted = if metric == other { value } else { 10_000 };
            samples.push(COMPARED, metric, "complete", vec![counted]);
        }
        samples
    }

    #[test]
    fn counters_that_differ_do_not_agree() {
        let usual = samples("", 0);
        for (metric, percent) in NEAR {
            let most = (percent * 100.0).round() as u64;
            let found = |value| apart(&usual, &samples(metric, value)).len();
            let limits = [10_000 - most, 10_000 + most];
            assert_eq!(limits.map(found), [0, 0], "{metric}");
            assert_eq!(found(10_000 + most + 1), 1, "{metric}");
        }
    }

    #[test]
    fn counters_that_are_missing_do_not_agree() {
        let usual = samples("", 0);
        assert_eq!(apart(&usual, &Samples::default()).len(), 2 * NEAR.len());
        assert_eq!(apart(&Samples::default(), &usual).len(), NEAR.len());
    }
}
