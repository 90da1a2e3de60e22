//! By how much budgets are overrun: what spinners had until the middle of a period, beyond the
//! budgets of all periods until then, with the kernel's time for that, and how late the timer is in
//! the same run.

use super::{LATENCY, LATENCY_WORST, OVERRUN, OVERRUN_WORST};
use crate::experiment::measured::recording;
use crate::experiment::{Measured, Setup};
use abi::reservation::LEAST_BUDGET;
use anyhow::{Context, Result, ensure};
use results::{Limit, Recording};

/// The spinners in the order of the meter's capabilities, with their budgets in nanoseconds, as in
/// systems/budgets.toml; CPU time counts from when their budgets were whole. A server each, one
/// that calls the kernel all the time, and one with the least budget that there is.
const SPINNERS: [(&str, u64); 5] = [
    ("server=periodic", 500_000),
    ("server=constant", 500_000),
    ("server=sporadic", 500_000),
    ("server=periodic load=calls", 500_000),
    ("server=periodic budget=20us", LEAST_BUDGET),
];
/// What a budget pays for beyond itself: the interrupt at its end, the switch away, and its return,
/// none of them longer than the wake-up of the highest thread.
const STRETCHES: u64 = 3;
/// Metrics of the recording: CPU time, and how late the meter woke.
const HAD: u16 = 1;
const LATE: u16 = 2;

/// Adds the rows, and what is promised of them.
pub fn measure(measured: &mut Measured, setup: &Setup, kernel: &str) -> Result<()> {
    let recording = recording(&setup.boot("budgets", kernel)?, "recording", kernel)?;
    let latency = results::delays(&recording, LATE)?.remove(&0).context("the meter never woke")?;
    let least = latency.iter().max().copied().unwrap_or(0);
    let mut most = 0;
    for (case, overruns) in overruns(&recording)? {
        let worst = overruns.iter().max().copied().unwrap_or(0);
        most = most.max(worst);
        measured.samples.push(kernel, OVERRUN_WORST, case, vec![worst]);
        measured.samples.push(kernel, OVERRUN, case, overruns);
    }
    measured.samples.push(kernel, LATENCY_WORST, "", vec![least]);
    measured.samples.push(kernel, LATENCY, "", latency);
    let name = format!("{OVERRUN_WORST}, beside {STRETCHES} times {LATENCY_WORST}");
    let bound = (STRETCHES * least) as f64;
    measured.limits.push(Limit::most(name, most as f64, bound, "instructions"));
    Ok(())
}

/// What each spinner had in each period beyond all its budgets until then.
fn overruns(recording: &Recording) -> Result<Vec<(&'static str, Vec<u64>)>> {
    let mut had = results::delays(recording, HAD)?;
    let mut all = Vec::new();
    for (number, (case, budget)) in (0..).zip(SPINNERS) {
        let had = had.remove(&number).with_context(|| format!("nothing is recorded of {case}"))?;
        let mut overruns = Vec::new();
        for (had, periods) in had.into_iter().zip(1..) {
            let granted = budget * periods;
            ensure!(had >= granted, "{case}: {had} ns of {granted} were used, so no budget ended");
            overruns.push(had - granted);
        }
        all.push((case, overruns));
    }
    ensure!(had.is_empty(), "more reservations are recorded than there are spinners");
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;
    use abi::results::Tag;
    use results::Record;

    /// A recording in which each spinner had so much less or more than its budgets.
    fn recorded(beyond: i64, spinners: u16) -> Recording {
        let mut records = Vec::new();
        for case in 0..spinners {
            let budget = SPINNERS.get(usize::from(case)).map_or(0, |(_, budget)| *budget);
            for round in 0..3u16 {
                let had = (budget * (u64::from(round) + 1)).saturating_add_signed(beyond);
                for (point, time) in [(Tag::BEFORE, 0), (Tag::AFTER, had)] {
                    records.push(Record { tag: Tag { metric: HAD, case, round, point }, time });
                }
            }
        }
        Recording { kernel: manifest::TREE.into(), hz: 1_000_000_000, records }
    }

    #[test]
    fn what_is_beyond_the_budgets_is_overrun() {
        let all = overruns(&recorded(250, 5)).unwrap();
        assert_eq!(all.len(), SPINNERS.len());
        assert!(all.iter().all(|(_, overruns)| *overruns == [250, 250, 250]));
    }

    #[test]
    fn a_spinner_that_did_not_use_its_budget_is_an_error() {
        assert!(overruns(&recorded(-1, 5)).unwrap_err().to_string().contains("no budget ended"));
        assert!(overruns(&recorded(0, 4)).is_err() && overruns(&recorded(0, 6)).is_err());
    }
}
