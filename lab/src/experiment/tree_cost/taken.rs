//! What the kernel takes of a budget, of programs that never wait: its return, the switch to the
//! leaf, the interrupt at its end and the switch away. The least budget that the kernel accepts is
//! more than that also on the deepest leaves.

use super::TAKEN;
use crate::experiment::measured::recording;
use crate::experiment::{Measured, Setup};
use abi::reservation::LEAST_BUDGET;
use anyhow::{Context, Result, ensure};
use results::{Limit, Recording};

/// The programs in the order of the meter's capabilities, as in systems/least-budgets.toml.
const PROGRAMS: [&str; 6] = [
    "server=periodic depth=1",
    "server=constant depth=1",
    "server=sporadic depth=1",
    "server=periodic depth=7",
    "server=constant depth=7",
    "server=sporadic depth=7",
];
/// How often each has had its budget while the meter looked.
const BUDGETS: u64 = 30;
/// The metric of the recording.
const METRIC: u16 = 1;

/// Adds the rows, and what is promised of them.
pub fn measure(measured: &mut Measured, setup: &Setup, kernel: &str) -> Result<()> {
    let recording = recording(&setup.boot("least-budgets", kernel)?, "recording", kernel)?;
    let all = taken(&recording)?;
    let most = all.iter().map(|(_, taken)| *taken).max().unwrap_or(0);
    for (case, taken) in all {
        measured.samples.push(kernel, TAKEN, case, vec![taken]);
    }
    let name = format!("{TAKEN}, beside the least budget that the kernel accepts");
    measured.limits.push(Limit::most(name, most as f64, LEAST_BUDGET as f64, "instructions"));
    Ok(())
}

/// What was charged beside what was executed, for each budget.
fn taken(recording: &Recording) -> Result<Vec<(&'static str, u64)>> {
    let mut taken = results::delays(recording, METRIC)?;
    let mut all = Vec::new();
    for (number, case) in (0..).zip(PROGRAMS) {
        let of = taken.remove(&number).unwrap_or_default();
        let of = of.first().with_context(|| format!("nothing is recorded of {case}"))?;
        all.push((case, of / BUDGETS));
    }
    ensure!(taken.is_empty(), "more reservations are recorded than there are programs");
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;
    use abi::results::Tag;
    use results::Record;

    #[test]
    fn what_is_charged_and_not_executed_is_taken() {
        let recorded = |programs: u16| {
            let point = |case, point, time| Record {
                tag: Tag { metric: METRIC, case, round: 0, point },
                time,
            };
            let of = |case: u16| {
                let executed = 1_000 * u64::from(case);
                let charged = executed + BUDGETS * (7 + u64::from(case));
                [point(case, Tag::BEFORE, executed), point(case, Tag::AFTER, charged)]
            };
            let records = (0..programs).flat_map(of).collect();
            Recording { kernel: manifest::TREE.into(), hz: 1_000_000_000, records }
        };
        let all = taken(&recorded(6)).unwrap();
        assert_eq!((all[0].1, all[5].1), (7, 12));
        assert!(taken(&recorded(5)).is_err() && taken(&recorded(7)).is_err());
    }
}
