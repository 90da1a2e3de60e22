//! Claims about profiles (S0-E11, S0-E12).

use super::{judged, median, unobservable};
use crate::experiment::profile::{CASES, COMBINED, IPC, KERNEL, SAMPLES, SCHEDULER};
use results::{Claim, Report};

/// The kernels of the paper's table, in its order.
const ORDER: [&str; 6] =
    ["fastpath", "slowpath", "direct-lazy", "strict-lazy", "direct-eager", "strict-eager"];
/// A percentage point in millionths.
const POINT: f64 = 10_000.0;
/// Standard errors from which on two figures differ.
const ERRORS: f64 = 2.0;
/// The same for a difference over all kernels, which scatters by 1.5 errors over nine seeds: with
/// two, chance alone would decide now and then.
const ERRORS_OVERALL: f64 = 3.0;

/// All claims.
pub fn all(report: &Report) -> Vec<Claim> {
    vec![rates(report), undisturbed(report), cold(), order(report), eager(report)]
}

/// The kernels that a report is about.
fn kernels(report: &Report) -> Vec<&str> {
    let mut kernels: Vec<&str> = report.rows.iter().map(|row| row.kernel.as_str()).collect();
    kernels.dedup();
    kernels
}

/// A share, and its standard error, by sampling period.
fn share(report: &Report, kernel: &str, metric: &str, case: &str) -> Option<(f64, f64)> {
    let share = median(report, kernel, metric, case)?;
    let name = format!("{kernel} {case}: {SAMPLES}");
    let samples = report.facts.iter().find(|fact| fact.name == name)?.value as f64;
    let part = share / 1e6;
    Some((share, (part * (1.0 - part) / samples.max(1.0)).sqrt() * 1e6))
}

fn rates(report: &Report) -> Claim {
    let found = || {
        let mut worst: (f64, String) = (-1.0, String::new());
        for kernel in kernels(report) {
            for metric in [IPC, SCHEDULER, COMBINED, KERNEL] {
                let [fine, coarse] = CASES.map(|case| median(report, kernel, metric, case));
                let apart = (fine? - coarse?).abs();
                if apart > worst.0 {
                    worst = (apart, format!("{metric} under {kernel}"));
                }
            }
        }
        let (apart, place) = worst;
        let evidence = format!("furthest apart: {place}, by {:.2} points", apart / POINT);
        (apart >= 0.0).then_some((apart < POINT, evidence))
    };
    let statement = "Shares sampled at 25 us and at 1600 us differ by less than a point";
    judged("S0-C13a", statement, found())
}

/// What sampling 64 times as often changes, measured where noise is least: over all kernels.
fn undisturbed(report: &Report) -> Claim {
    let found = || {
        let kernels = kernels(report);
        let (mut apart, mut variance) = (0.0, 0.0);
        for kernel in &kernels {
            let [fine, coarse] = CASES.map(|case| share(report, kernel, KERNEL, case));
            let ((fine, fine_error), (coarse, coarse_error)) = (fine?, coarse?);
            apart += fine - coarse;
            variance += fine_error.powi(2) + coarse_error.powi(2);
        }
        let count = kernels.len() as f64;
        let (apart, error) = (apart / count, variance.sqrt() / count);
        let evidence = format!(
            "over {count} kernels the kernel's share is {:+.3} points at 25 us, with a standard \
             error of {:.3}",
            apart / POINT,
            error / POINT
        );
        (count > 0.0).then_some((apart.abs() <= ERRORS_OVERALL * error, evidence))
    };
    let statement = "Sampling at 25 us perturbs the profile by less than its own noise";
    judged("S0-C13b", statement, found())
}

fn cold() -> Claim {
    unobservable(
        "S0-C14",
        "A message in a macro load costs about twice what ping-pong says",
        "the factor is due to caches, which instruction counts do not see",
    )
}

fn order(report: &Report) -> Claim {
    let found = || {
        let shares = ORDER.map(|kernel| share(report, kernel, COMBINED, CASES[0]));
        let mut spelt = Vec::new();
        let mut wrong = Vec::new();
        let mut close = Vec::new();
        for (at, kernel) in ORDER.into_iter().enumerate() {
            let (percent, error) = shares[at]?;
            spelt.push(format!("{kernel} {:.2} +- {:.2} %", percent / POINT, error / POINT));
            let Some((next, next_error)) = shares.get(at + 1).copied().flatten() else { continue };
            let noise = ERRORS * error.hypot(next_error);
            let pair = format!("{kernel} and {}", ORDER[at + 1]);
            // A noise of two errors is not enough to say that the lower is the higher.
            if next < percent - noise {
                wrong.push(pair);
            } else if next < percent + noise {
                close.push(pair);
            }
        }
        let mut evidence = spelt.join(", ");
        for (what, pairs) in [("the other way round", &wrong), ("within noise", &close)] {
            if !pairs.is_empty() {
                evidence += &format!("; {what}: {}", pairs.join(", "));
            }
        }
        let told_apart = ORDER.len() - 1 - close.len();
        Some((wrong.is_empty() && told_apart >= 3, evidence))
    };
    let statement = "Messages and scheduler together order the kernels as ping-pong does, up to \
                     pairs that the samples cannot tell apart";
    judged("S0-C15a", statement, found())
}

fn eager(report: &Report) -> Claim {
    let found = || {
        let mut held = true;
        let mut spelt = Vec::new();
        for [lazy, eager] in [["direct-lazy", "direct-eager"], ["strict-lazy", "strict-eager"]] {
            let change = |metric| {
                let [from, to] =
                    [lazy, eager].map(|kernel| share(report, kernel, metric, CASES[0]));
                let ((from, from_error), (to, to_error)) = (from?, to?);
                Some((to - from, ERRORS * from_error.hypot(to_error)))
            };
            let ((messages, noise), (scheduler, other)) = (change(IPC)?, change(SCHEDULER)?);
            held &= messages > noise && scheduler < -other;
            spelt.push(format!(
                "from {lazy} to {eager} messages {:+.2} and scheduler {:+.2} points",
                messages / POINT,
                scheduler / POINT
            ));
        }
        let mut evidence = spelt.join(", ");
        if !held {
            evidence += "; queue operations drawn into the message path count for the scheduler \
                         here, since it is their source that decides";
        }
        Some((held, evidence))
    };
    let statement = "Eager kernels spend less in the scheduler and more in messages";
    judged("S0-C15b", statement, found())
}

#[cfg(test)]
mod tests {
    use super::super::testing::{report, verdict};
    use super::*;
    use results::{Fact, Verdict};

    const PAPER: [u64; 6] = [37_000, 61_100, 62_800, 73_200, 73_400, 77_200];

    fn claims(fine: [u64; 6], coarse: impl Fn(u64) -> u64, samples: u64) -> Vec<Claim> {
        let mut rows = Vec::new();
        let mut facts = Vec::new();
        for (kernel, share) in ORDER.into_iter().zip(fine) {
            for metric in [IPC, SCHEDULER, COMBINED, KERNEL] {
                rows.push((kernel, metric, CASES[0], share));
                rows.push((kernel, metric, CASES[1], coarse(share)));
            }
            for (case, value) in CASES.into_iter().zip([samples, samples / 64]) {
                let name = format!("{kernel} {case}: {SAMPLES}");
                facts.push(Fact { name, value, unit: String::new(), note: String::new() });
            }
        }
        let mut report = report("made up", &rows);
        report.facts = facts;
        all(&report)
    }

    #[test]
    fn profiles_like_the_papers_reproduce() {
        let claims = claims(PAPER, |share| share + 500, 100_000);
        for id in ["S0-C13a", "S0-C13b", "S0-C15a"] {
            assert_eq!(verdict(&claims, id), Verdict::Reproduced, "{id}: {claims:?}");
        }
        assert_eq!(verdict(&claims, "S0-C14"), Verdict::NotObservable);
    }

    #[test]
    fn rates_that_disagree_contradict() {
        let far = claims(PAPER, |share| share + 11_000, 100_000);
        assert_eq!(verdict(&far, "S0-C13a"), Verdict::Contradicted);
        assert_eq!(verdict(&far, "S0-C13b"), Verdict::Contradicted);
        let shifted = claims(PAPER, |share| share + 9_000, 1_000_000);
        assert_eq!(verdict(&shifted, "S0-C13a"), Verdict::Reproduced);
        assert_eq!(verdict(&shifted, "S0-C13b"), Verdict::Contradicted, "small but certain");
    }

    #[test]
    fn another_order_contradicts() {
        let mut swapped = PAPER;
        swapped.swap(0, 3);
        let claims_of = |fine, samples| verdict(&claims(fine, |share| share, samples), "S0-C15a");
        assert_eq!(claims_of(swapped, 100_000), Verdict::Contradicted);
        assert_eq!(claims_of([50_000; 6], 100_000), Verdict::Contradicted, "no order at all");
        assert_eq!(claims_of(PAPER, 100), Verdict::Contradicted, "noise shows no order");
    }

    #[test]
    fn eager_kernels_may_shift_either_way() {
        let split = |messages: [u64; 4], scheduler: [u64; 4]| {
            let kernels = ["direct-lazy", "direct-eager", "strict-lazy", "strict-eager"];
            let mut rows = Vec::new();
            for (at, kernel) in kernels.into_iter().enumerate() {
                rows.push((kernel, IPC, CASES[0], messages[at]));
                rows.push((kernel, SCHEDULER, CASES[0], scheduler[at]));
            }
            let mut report = report("made up", &rows);
            let fact = |kernel| Fact {
                name: format!("{kernel} {}: {SAMPLES}", CASES[0]),
                value: 1_000_000,
                unit: String::new(),
                note: String::new(),
            };
            report.facts = kernels.map(fact).to_vec();
            verdict(&all(&report), "S0-C15b")
        };
        let messages = [56_800, 71_000, 63_200, 71_400];
        let paper = split(messages, [6_000, 2_500, 10_000, 5_900]);
        assert_eq!(paper, Verdict::Reproduced);
        assert_eq!(split(messages, [2_500, 6_000, 5_900, 10_000]), Verdict::Contradicted);
        assert_eq!(split([50_000; 4], [6_000, 2_500, 10_000, 5_900]), Verdict::Contradicted);
    }

    #[test]
    fn without_rows_nothing_is_judged() {
        for claim in all(&report("made up", &[])) {
            assert_eq!(claim.verdict, Verdict::NotObservable, "{}", claim.id);
        }
    }
}
