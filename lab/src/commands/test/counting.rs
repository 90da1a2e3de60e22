//! Kernels that keep statistics: the simulation counts as the other machines do.

use super::builds::Builds;
use super::findings::nothing_of;
use super::job::Job;
use crate::cli::Group;
use crate::experiment::{self, Asked, Session};
use crate::image::Watch;
use crate::machine::{MACHINES, Machine};
use anyhow::{Context, Result};
use results::Samples;

/// The kernel whose counters are compared between machines.
const COMPARED: &str = "direct-lazy";

/// How far apart two machines may count.
#[derive(Clone, Copy)]
enum Near {
    /// In percent of the first one's figure.
    Percent(f64),
    /// By so many.
    Count(u64),
}

impl Near {
    /// The most that a figure may be off.
    fn of(self, figure: u64) -> u64 {
        match self {
            Near::Percent(percent) => (figure as f64 * percent / 100.0) as u64,
            Near::Count(count) => count,
        }
    }
}

/// Metrics that must agree between machines. The same work is interrupted at other places, since a
/// message does not take the same time to the instruction; deferred operations depend on just
/// these places, and whether a message queues on the few that fall into the work of the device's
/// server: some thirty do in the load with the fewest, of which chance alone moves a sixth, and the
/// longest queue is the most that met by chance. The most frequent length of the ready queue may be
/// the next one.
const NEAR: [(&str, Near); 12] = [
    ("eager-per-1000s", Near::Percent(2.0)),
    ("actual-per-1000s", Near::Percent(3.0)),
    ("switches-per-1000s", Near::Percent(2.0)),
    ("look-ups-per-1000s", Near::Percent(1.0)),
    ("messages-per-1000s", Near::Percent(2.0)),
    ("queued-messages-per-1000s", Near::Percent(20.0)),
    ("longest-send-queue", Near::Count(2)),
    ("ready-queue-most-frequent", Near::Count(1)),
    ("ready-queue-longest", Near::Count(0)),
    ("avoided-ppm", Near::Percent(0.2)),
    ("dequeues-deferred-ppm", Near::Percent(5.0)),
    ("look-ups-avoided-ppm", Near::Percent(0.1)),
];

/// The comparison.
pub fn jobs() -> Vec<Job> {
    let [usual, .., simulation] = MACHINES;
    let name = format!("{} counts as {} does under {COMPARED}", simulation.name(), usual.name());
    let job = Job::new(Group::Target, name, |_| agree());
    vec![job.builds(Builds::of(usual, Watch::Statistics.into())).seconds(20.0)]
}

/// Counters of the first and the last machine.
fn agree() -> Result<()> {
    let [usual, .., simulation] = MACHINES;
    let session = Session::new(Asked::seed(1));
    let counted = |machine: &dyn Machine| -> Result<Samples> {
        let experiment = experiment::find("scheduler-stats").context("there is no such thing")?;
        Ok(session.measure(experiment.on(machine.name())?, COMPARED)?.samples)
    };
    nothing_of(apart(&counted(usual)?, &counted(simulation)?)).context("the machines differ")
}

/// Rows of two runs that are further apart than they may be.
fn apart(real: &Samples, simulated: &Samples) -> Vec<String> {
    let mut apart = Vec::new();
    for (metric, near) in NEAR {
        let mut found = false;
        for row in real.series.iter().filter(|row| row.metric == metric) {
            let like = simulated.series.iter().find(|o| o.metric == metric && o.case == row.case);
            let (Some(a), Some(b)) = (row.values.first(), like.and_then(|o| o.values.first()))
            else {
                apart.push(format!("{metric} {}: one of them lacks it", row.case));
                continue;
            };
            found = true;
            let most = near.of(*a);
            if a.abs_diff(*b) > most {
                apart.push(format!("{metric} {}: {a} and {b}, more than {most} off", row.case));
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
        for (metric, near) in NEAR {
            let most = near.of(10_000);
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
