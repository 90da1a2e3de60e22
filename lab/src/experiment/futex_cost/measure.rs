//! Rows of both systems, what is promised of them, and the curves.

use super::claims::{SAME, WORST};
use super::{
    BOOST, CALLS, DEQUEUE, EXPERIMENT, FREE, FUTEXES, LINKS, OPERATIONS, RECORDED, SLEEP, TIMEOUT,
    WAITERS, alike, attacked, case, cases, row,
};
use crate::experiment::measured::{fact, recording, spans};
use crate::experiment::{Boots, Measured};
use anyhow::{Context, Result};
use results::{Case, Curves, Limit, Source};

/// The word of the attack's memory that counts its calls.
const CALLS_WORD: usize = 16;
/// What a free mutex may take, locked or unlocked.
const MOST_FREE: f64 = 15.0;
/// What a further link of a row may take.
const MOST_OF_A_LINK: f64 = 120.0;

pub fn measure(setup: &impl Boots, kernel: &str) -> Result<Measured> {
    let mut measured = Measured::default();
    let quiet = recording(&setup.boot(EXPERIMENT.name, kernel)?, "recording", kernel)?;
    let cases = cases();
    for (number, metric) in (1..).zip(&RECORDED) {
        let cases = if *metric == BOOST { LINKS.map(row).to_vec() } else { cases.clone() };
        measured.push(kernel, metric, &cases, spans(&quiet, number)?)?;
    }
    dequeue(&mut measured, kernel)?;
    let outcome = setup.boot("futex-attack", kernel)?;
    let beside = recording(&outcome, "recording", kernel)?;
    let own = outcome.memories.get("own").context("the attack has memory")?;
    let calls = own.chunks_exact(8).nth(CALLS_WORD).context("the attack counts")?;
    let calls = u64::from_le_bytes(calls.try_into()?);
    measured.facts.push(fact(
        format!("{CALLS}, {kernel}"),
        calls,
        "calls",
        "with words that lie; the run ended well",
    ));
    let attacked: Vec<_> = cases.iter().map(|case| attacked(case)).collect();
    for (number, metric) in (1..).zip(&RECORDED) {
        if OPERATIONS.contains(metric) && *metric != TIMEOUT {
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
    fn median(&self, metric: &str, case: &str) -> Result<f64> {
        self.0.median(self.1, metric, case)
    }

    fn worst(&self, metric: &str, case: &str) -> Result<f64> {
        Ok(self.0.summary(self.1, metric, case)?.max as f64)
    }
}

fn limits(measured: &mut Measured, kernel: &str) -> Result<()> {
    let of = Of(measured, kernel);
    let mut limits = Vec::new();
    for metric in OPERATIONS {
        for (name, cases) in ["waiters", "futexes"].into_iter().zip(alike()) {
            let figures = cases.iter().map(|case| of.median(metric, case));
            let figures = figures.collect::<Result<Vec<_>>>()?;
            let [most, least] = [f64::max, f64::min].map(|better: fn(f64, f64) -> f64| {
                figures.iter().copied().reduce(better).unwrap_or(f64::NAN)
            });
            let name = format!("{metric}: the most over the least, by {name}");
            limits.push(Limit::most(name, most / least, SAME, "times"));
        }
        if metric == TIMEOUT {
            continue;
        }
        let (mut medians, mut longest): (f64, [f64; 2]) = (0.0, [0.0; 2]);
        for case in cases() {
            let beside = attacked(&case);
            medians = medians.max(of.median(metric, &beside)? / of.median(metric, &case)?);
            for (longest, case) in longest.iter_mut().zip([&beside, &case]) {
                *longest = longest.max(of.worst(metric, case)?);
            }
        }
        let ratios = [("a median", medians, SAME), ("the longest", longest[0] / longest[1], WORST)];
        for (what, ratio, bound) in ratios {
            let name = format!("{metric}: {what} beside an attack by that without");
            limits.push(Limit::most(name, ratio, bound, "times"));
        }
    }
    for metric in FREE {
        let value = of.median(metric, &case(1, 1))?;
        limits.push(Limit::most(
            format!("{metric} of a free mutex"),
            value,
            MOST_FREE,
            "instructions",
        ));
    }
    let [first, .., last] = LINKS;
    let grown = of.median(BOOST, &row(last))? - of.median(BOOST, &row(first))?;
    let value = grown / (last - first) as f64;
    limits.push(Limit::most("a link of a row".to_string(), value, MOST_OF_A_LINK, "instructions"));
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
        Case::of(metric, Source::Simulated, steps.iter().copied().filter_map(at))
    };
    let title = format!("Calls on futexes under {kernel}, by {across}");
    let name = format!("futex-cost-{kernel}-{across}");
    Curves::of(name, title, [across, "instructions"], OPERATIONS.map(of).to_vec())
}
