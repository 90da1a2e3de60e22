//! Rows of both systems, what is promised of them, and the curves.

use super::{
    DEQUEUE, EXPERIMENT, FREE, FUTEXES, OPERATIONS, RECORDED, SLEEP, TIMEOUT, WAITERS, attacked,
    case, cases,
};
use crate::experiment::measured::{recording, spans};
use crate::experiment::{Boots, Measured};
use anyhow::{Context, Result};
use results::{Case, Curves, Limit, Points, Source};

/// What a call may take at most, for one thread.
const MOST: f64 = 400.0;
/// What a free mutex may take, locked or unlocked.
const MOST_FREE: f64 = 15.0;
/// By how much a figure may be above another one that should be the same.
const SAME: f64 = 1.02;

pub fn measure(setup: &impl Boots, kernel: &str) -> Result<Measured> {
    let mut measured = Measured::default();
    let quiet = recording(&setup.boot(EXPERIMENT.name, kernel)?, "recording", kernel)?;
    let cases = cases();
    for (number, metric) in (1..).zip(&RECORDED) {
        measured.push(kernel, metric, &cases, spans(&quiet, number)?)?;
    }
    dequeue(&mut measured, kernel)?;
    let beside = recording(&setup.boot("futex-attack", kernel)?, "recording", kernel)?;
    let attacked: Vec<_> = cases.iter().map(|case| attacked(case)).collect();
    for (number, metric) in (1..).zip(&RECORDED) {
        if OPERATIONS.contains(metric) {
            measured.push(kernel, metric, &attacked, spans(&beside, number)?)?;
        }
    }
    limits(&mut measured, kernel)?;
    measured.curves = vec![curves(&measured, kernel, true), curves(&measured, kernel, false)];
    Ok(measured)
}

/// What the end of a deadline takes more for a thread that waits for a mutex.
fn dequeue(measured: &mut Measured, kernel: &str) -> Result<()> {
    let sleep = Of(measured, kernel).median(SLEEP, &case(1, 1))?;
    for case in cases() {
        let timeout = Of(measured, kernel).median(TIMEOUT, &case)?;
        measured.samples.push(kernel, DEQUEUE, &case, vec![(timeout - sleep).max(0.0) as u64]);
    }
    Ok(())
}

/// The rows of a kernel so far.
struct Of<'a>(&'a Measured, &'a str);

impl Of<'_> {
    fn summary(&self, metric: &str, case: &str) -> Result<(f64, f64)> {
        let rows = self.0.samples.rows();
        let row = rows.iter().find(|row| {
            (row.kernel.as_str(), row.metric.as_str(), row.case.as_str()) == (self.1, metric, case)
        });
        let row = row.with_context(|| format!("no row `{metric}` for `{case}`"))?;
        Ok((row.summary.median.as_f64(), row.summary.max as f64))
    }

    fn median(&self, metric: &str, case: &str) -> Result<f64> {
        Ok(self.summary(metric, case)?.0)
    }

    fn worst(&self, metric: &str, case: &str) -> Result<f64> {
        Ok(self.summary(metric, case)?.1)
    }
}

fn limits(measured: &mut Measured, kernel: &str) -> Result<()> {
    let of = Of(measured, kernel);
    let limit = |name: String, value, bound, unit: &str| Limit {
        name,
        value,
        bound,
        least: false,
        unit: unit.to_string(),
    };
    let mut limits = Vec::new();
    for metric in OPERATIONS {
        let all = cases();
        let medians = all.iter().map(|case| of.median(metric, case)).collect::<Result<Vec<_>>>()?;
        let most = medians.iter().copied().fold(0.0, f64::max);
        limits.push(limit(format!("{metric}, the most of all cases"), most, MOST, "instructions"));
        for (name, few, many) in [
            ("waiters", case(WAITERS[1], 1), case(WAITERS[6], 1)),
            ("futexes", case(1, FUTEXES[0]), case(1, FUTEXES[5])),
        ] {
            let growth = of.median(metric, &many)? / of.median(metric, &few)?.max(1.0);
            limits.push(limit(
                format!("{metric}: 1,024 {name} by the fewest"),
                growth,
                SAME,
                "times",
            ));
        }
        if metric == DEQUEUE {
            continue;
        }
        let mut worst: f64 = 0.0;
        for case in &all {
            worst = worst.max(of.worst(metric, &attacked(case))? / of.worst(metric, case)?);
        }
        limits.push(limit(
            format!("{metric}: the worst beside an attack by the worst without"),
            worst,
            SAME,
            "times",
        ));
    }
    for metric in FREE {
        let value = of.median(metric, &case(1, 1))?;
        limits.push(limit(format!("{metric} of a free mutex"), value, MOST_FREE, "instructions"));
    }
    measured.limits = limits;
    Ok(())
}

/// How the operations grow with waiters, or with futexes.
fn curves(measured: &Measured, kernel: &str, waiters: bool) -> Curves {
    let (across, steps): (_, &[u64]) =
        if waiters { ("waiters", &WAITERS) } else { ("futexes", &FUTEXES) };
    let of = |metric: &str| {
        let at = |many: u64| {
            let case = if waiters { case(many, 1) } else { case(1, many) };
            Some((many as f64, Of(measured, kernel).median(metric, &case).ok()?))
        };
        let points = steps.iter().copied().filter_map(at).collect();
        let trail = Points { source: Source::Simulated, points, band: Vec::new() };
        Case { name: metric.to_string(), trails: vec![trail] }
    };
    Curves {
        name: format!("futex-cost-{kernel}-{across}"),
        title: format!("Calls on futexes under {kernel}, by {across}"),
        across: across.to_string(),
        upwards: "instructions".to_string(),
        cases: OPERATIONS.map(of).to_vec(),
        marks: Vec::new(),
    }
}
