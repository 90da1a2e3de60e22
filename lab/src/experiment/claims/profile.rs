//! Claims about profiles (S0-E11, S0-E12).

use super::spec::{self, Band, Setting, Spec, silent};
use super::{cold, median, percent_above};
use crate::experiment::profile::{
    ANSWERED, BY_LINE, BY_SYMBOL, CASES, COMBINED, KERNEL, MESSAGE, MIX, PING_PONG, SAMPLES,
};
use results::{Bound, Claim, Report};

/// The kernels of the paper's table, in its order.
const ORDER: [&str; 6] =
    ["fastpath", "slowpath", "direct-lazy", "strict-lazy", "direct-eager", "strict-eager"];
/// The kernel whose message the paper prices in a load.
const PRICED: &str = "slowpath";
/// A lazy kernel and the eager one like it.
const PAIRS: [[&str; 2]; 2] = [["direct-lazy", "direct-eager"], ["strict-lazy", "strict-eager"]];
/// Standard errors from which on two figures differ.
const ERRORS: f64 = 2.0;
/// Standard errors that a mean over all kernels may be off: with two, chance alone would decide now
/// and then.
const ERRORS_OVERALL: f64 = 3.0;

const PAPER: Setting = &[
    ("machine", "XScale PXA255, 400 MHz"),
    ("load", "Re-aim's udpserver on Linux on L4: a message in 9,311 cycles"),
    ("samples", "one in each block of 25 us, or of 1600 us, in the kernel too"),
    ("memory", "caches of 32 KiB, a miss 108 cycles"),
];
const OURS: &[(&str, Setting)] = &[
    (
        "qemu-x86_64",
        &[
            ("machine", "emulated: an instruction is a nanosecond"),
            ("load", "udpserver: 5 clients, a server, a device's server"),
            ("samples", "one in each block of 25 us, or of 1600 us, in the kernel too"),
            ("memory", "costs nothing"),
        ],
    ),
    (
        "native",
        &[
            ("machine", "the host's"),
            (
                "load",
                "a server and 5 clients; 30 % of 9,311 ticks copy 1 KiB at a time within 1 MiB",
            ),
            ("samples", "none: each message is timed, by the mean of 100"),
            ("memory", "the host's caches"),
        ],
    ),
];

const SPLIT_BY_SYMBOL: [Band; 2] = split::<0>();
const SPLIT_BY_LINE: [Band; 2] = split::<1>();
/// Metrics of messages and of the scheduler, by either way to tell them apart.
const SPLITS: [[&str; 2]; 2] = [BY_SYMBOL, BY_LINE];

/// All claims.
pub static CLAIMS: [Spec; 6] = [
    Spec {
        id: "S0-C13a",
        statement: "Sampling at 25 us and at 1600 us gives the same profile within its noise",
        paper: PAPER,
        ours: OURS,
        hidden: |report| counted(report).or_else(|| too_few(report)),
        bands: &[Band {
            quantity: "share furthest apart, mean over kernels, in standard errors",
            unit: "",
            bound: Bound::AtMost(ERRORS_OVERALL),
            from: "choice: three errors of a mean",
            figure: |report| shares_apart(report, |apart, error, _| apart.abs() / error),
        }],
        remark: silent,
    },
    Spec {
        id: "S0-C13b",
        statement: "Sampling 64 times as often takes less than 1 % of a load's work",
        paper: PAPER,
        ours: OURS,
        hidden: counted,
        bands: &[Band {
            quantity: "round trips at 1600 us above those at 25 us, kernel with most",
            unit: "%",
            bound: Bound::AtMost(1.0),
            from: "the ledger: a sampler that does not intrude",
            figure: |report| {
                let more = |kernel: &str| {
                    let [fine, coarse] = CASES.map(|case| median(report, kernel, ANSWERED, case));
                    Some(percent_above(coarse?, fine?))
                };
                kernels(report)?
                    .into_iter()
                    .map(more)
                    .collect::<Option<Vec<_>>>()?
                    .into_iter()
                    .reduce(f64::max)
            },
        }],
        remark: silent,
    },
    Spec {
        id: "S0-C14",
        statement: "A message in a macro load costs about twice what ping-pong says",
        paper: PAPER,
        ours: OURS,
        hidden: cold,
        bands: &[Band {
            quantity: "a message of slowpath in the load over one in ping-pong",
            unit: "",
            bound: Bound::Within(1.3, 3.0),
            from: "the ledger: 1.3 to 3 (the paper: 561 cycles against 294)",
            figure: |report| {
                let of = |case| median(report, PRICED, MESSAGE, case);
                Some(of(MIX)? / of(PING_PONG)?)
            },
        }],
        remark: silent,
    },
    Spec {
        id: "S0-C15a",
        statement: "Messages and scheduler together order the kernels as ping-pong does, up to \
                    pairs that the samples cannot tell apart",
        paper: PAPER,
        ours: OURS,
        hidden: counted,
        bands: &[
            Band {
                quantity: "neighbours the other way round, beyond noise",
                unit: "",
                bound: Bound::AtMost(0.0),
                from: "the ledger's order",
                figure: |report| Some(neighbours(report)?.0),
            },
            Band {
                quantity: "neighbours in this order, beyond noise",
                unit: "",
                bound: Bound::AtLeast(3.0),
                from: "choice: most of five",
                figure: |report| Some(neighbours(report)?.1),
            },
        ],
        remark: combined,
    },
    Spec {
        id: "S0-C15b",
        statement: "Eager kernels spend less in the scheduler and more in messages, by symbols as \
                    in the thesis",
        paper: PAPER,
        ours: OURS,
        hidden: counted,
        bands: &SPLIT_BY_SYMBOL,
        remark: silent,
    },
    Spec {
        id: "S0-C15c",
        statement: "The same by the source line of each instruction",
        paper: PAPER,
        ours: OURS,
        hidden: counted,
        bands: &SPLIT_BY_LINE,
        remark: |report| {
            let more = eager(report, BY_LINE[1], f64::max)?;
            let why = "queue operations drawn into the message path count for the scheduler here, \
                       since it is their source that decides";
            (more > 0.0).then(|| why.to_string())
        },
    },
];

/// What eager kernels shift, by one way to tell messages and scheduler apart.
const fn split<const BY: usize>() -> [Band; 2] {
    [
        Band {
            quantity: "messages, from lazy to eager in standard errors, pair with least",
            unit: "",
            bound: Bound::Above(ERRORS),
            from: "the ledger: more in messages",
            figure: |report| eager(report, SPLITS[BY][0], f64::min),
        },
        Band {
            quantity: "scheduler, from lazy to eager in standard errors, pair with most",
            unit: "",
            bound: Bound::Below(-ERRORS),
            from: "the ledger: less in the scheduler",
            figure: |report| eager(report, SPLITS[BY][1], f64::max),
        },
    ]
}

/// All claims.
pub fn all(report: &Report) -> Vec<Claim> {
    spec::judge(&CLAIMS, report)
}

/// Where no samples are taken, claims about profiles have none.
fn counted(report: &Report) -> Option<String> {
    (report.machine == "native").then(|| "no samples are taken on this machine".to_string())
}

/// Where noise would hide that a share is off by a third, nothing is known of shares.
fn too_few(report: &Report) -> Option<String> {
    let noise =
        shares_apart(report, |_, error, share| ERRORS_OVERALL * error / share.max(1.0) * 100.0)?;
    let why = format!("noise of {noise:.0} % of a share hides what the claim is about");
    (noise > 33.0).then_some(why)
}

/// The kernels that a report is about.
fn kernels(report: &Report) -> Option<Vec<&str>> {
    let mut kernels: Vec<&str> = report.rows.iter().map(|row| row.kernel.as_str()).collect();
    kernels.dedup();
    (!kernels.is_empty()).then_some(kernels)
}

/// A share, and its standard error, by sampling period.
fn share(report: &Report, kernel: &str, metric: &str, case: &str) -> Option<(f64, f64)> {
    let share = median(report, kernel, metric, case)?;
    let name = format!("{kernel} {case}: {SAMPLES}");
    let samples = report.facts.iter().find(|fact| fact.name == name)?.value as f64;
    let part = share / 1e6;
    Some((share, (part * (1.0 - part) / samples.max(1.0)).sqrt() * 1e6))
}

/// The greatest of a figure over all shares: from by how much both periods are apart in the mean
/// over all kernels, where noise is least, its standard error, and the share itself.
fn shares_apart(report: &Report, figure: fn(f64, f64, f64) -> f64) -> Option<f64> {
    let mut greatest = 0.0_f64;
    for metric in [BY_LINE[0], COMBINED, KERNEL] {
        let (mut apart, mut variance, mut whole) = (0.0, 0.0, 0.0);
        for kernel in kernels(report)? {
            let [fine, coarse] = CASES.map(|case| share(report, kernel, metric, case));
            let ((fine, fine_error), (coarse, coarse_error)) = (fine?, coarse?);
            apart += fine - coarse;
            whole += fine;
            variance += fine_error.powi(2) + coarse_error.powi(2);
        }
        greatest = greatest.max(figure(apart, variance.sqrt(), whole));
    }
    Some(greatest)
}

/// Neighbours of the paper's order whose shares are the other way round, and those whose shares are
/// in this order, beyond noise.
fn neighbours(report: &Report) -> Option<(f64, f64)> {
    let (mut wrong, mut right) = (0.0, 0.0);
    for two in ORDER.windows(2) {
        let [(a, a_error), (b, b_error)] = shares(report, [two[0], two[1]], COMBINED)?;
        let noise = ERRORS * a_error.hypot(b_error);
        wrong += f64::from(u8::from(b < a - noise));
        right += f64::from(u8::from(b >= a + noise));
    }
    Some((wrong, right))
}

fn shares(report: &Report, kernels: [&str; 2], metric: &str) -> Option<[(f64, f64); 2]> {
    let [a, b] = kernels.map(|kernel| share(report, kernel, metric, CASES[0]));
    Some([a?, b?])
}

/// The combined shares, in words.
fn combined(report: &Report) -> Option<String> {
    let spell = |kernel: &&str| {
        let (share, error) = share(report, kernel, COMBINED, CASES[0])?;
        Some(format!("{kernel} {:.2} +- {:.2} %", share / 1e4, error / 1e4))
    };
    Some(ORDER.iter().map(spell).collect::<Option<Vec<_>>>()?.join(", "))
}

/// What a share changes from lazy to eager kernels, in standard errors: of one of both pairs.
fn eager(report: &Report, metric: &str, choose: fn(f64, f64) -> f64) -> Option<f64> {
    let change = |pair| {
        let [(lazy, lazy_error), (eager, eager_error)] = shares(report, pair, metric)?;
        // No samples of either are no change.
        Some((eager - lazy) / lazy_error.hypot(eager_error).max(1.0))
    };
    PAIRS.map(change).into_iter().collect::<Option<Vec<_>>>()?.into_iter().reduce(choose)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{report, verdict};
    use super::*;
    use results::{Fact, Origin, Verdict};

    const COMBINED_SHARES: [u64; 6] = [37_000, 61_100, 62_800, 73_200, 73_400, 77_200];
    const SCHEDULER: [u64; 6] = [9_000, 3_000, 6_000, 10_000, 2_500, 5_900];

    /// A report: combined shares and those of the scheduler, what the coarse period makes of a
    /// share, round trips at both periods, and samples.
    struct Made {
        combined: [u64; 6],
        scheduler: [u64; 6],
        coarse: fn(u64) -> u64,
        answered: [u64; 2],
        samples: u64,
    }

    const PAPER_LIKE: Made = Made {
        combined: COMBINED_SHARES,
        scheduler: SCHEDULER,
        coarse: |share| share + share / 100,
        answered: [50_000, 50_250],
        samples: 500_000,
    };

    fn claims(made: &Made) -> Vec<Claim> {
        let mut rows = Vec::new();
        let mut facts = Vec::new();
        for (at, kernel) in ORDER.into_iter().enumerate() {
            let messages = made.combined[at] - made.scheduler[at];
            let mut shares = vec![(COMBINED, made.combined[at]), (KERNEL, made.combined[at])];
            for [ipc, scheduler] in [BY_SYMBOL, BY_LINE] {
                shares.extend([(ipc, messages), (scheduler, made.scheduler[at])]);
            }
            for (metric, share) in shares {
                rows.push((kernel, metric, CASES[0], share));
                rows.push((kernel, metric, CASES[1], (made.coarse)(share)));
            }
            for (case, (samples, answered)) in CASES
                .into_iter()
                .zip([made.samples, made.samples / 64].into_iter().zip(made.answered))
            {
                rows.push((kernel, ANSWERED, case, answered));
                let name = format!("{kernel} {case}: {SAMPLES}");
                facts.push(Fact { name, value: samples, unit: String::new(), note: String::new() });
            }
        }
        let mut report = report("qemu-x86_64", &rows);
        report.facts = facts;
        all(&report)
    }

    #[test]
    fn profiles_like_the_papers_reproduce() {
        let claims = claims(&PAPER_LIKE);
        for id in ["S0-C13a", "S0-C13b", "S0-C15a", "S0-C15b", "S0-C15c"] {
            assert_eq!(verdict(&claims, id), Verdict::Reproduced, "{id}: {claims:?}");
        }
        assert_eq!(verdict(&claims, "S0-C14"), Verdict::NotObservable);
    }

    #[test]
    fn other_profiles_contradict() {
        let contradicted = |made: Made, id: &str| {
            let claims = claims(&made);
            assert_eq!(verdict(&claims, id), Verdict::Contradicted, "{id}: {claims:?}");
        };
        let coarse = |share| share + share / 3;
        contradicted(Made { coarse, ..PAPER_LIKE }, "S0-C13a");
        let few = claims(&Made { samples: 5_000, ..PAPER_LIKE });
        assert_eq!(verdict(&few, "S0-C13a"), Verdict::NotObservable);
        contradicted(Made { answered: [50_000, 51_000], ..PAPER_LIKE }, "S0-C13b");
        let mut swapped = COMBINED_SHARES;
        swapped.swap(0, 3);
        contradicted(Made { combined: swapped, ..PAPER_LIKE }, "S0-C15a");
        contradicted(Made { combined: [50_000; 6], ..PAPER_LIKE }, "S0-C15a");
        contradicted(Made { samples: 100, ..PAPER_LIKE }, "S0-C15a");
        let scheduler = [9_000, 3_000, 2_500, 5_900, 6_000, 10_000];
        contradicted(Made { scheduler, ..PAPER_LIKE }, "S0-C15b");
        contradicted(Made { scheduler, ..PAPER_LIKE }, "S0-C15c");
        contradicted(
            Made { combined: [60_000; 6], scheduler: [6_000; 6], ..PAPER_LIKE },
            "S0-C15b",
        );
    }

    #[test]
    fn a_message_in_a_load_is_priced_where_there_are_caches() {
        let priced = |load| {
            let rows = [(PRICED, MESSAGE, PING_PONG, 6_000), (PRICED, MESSAGE, MIX, load)];
            let mut report = report("native", &rows);
            report.origin = Origin::HARDWARE;
            let claims = all(&report);
            assert_eq!(verdict(&claims, "S0-C13a"), Verdict::NotObservable);
            verdict(&claims, "S0-C14")
        };
        assert_eq!(priced(11_400), Verdict::Reproduced);
        assert_eq!(priced(7_000), Verdict::Contradicted);
        assert_eq!(priced(19_000), Verdict::Contradicted);
    }

    #[test]
    fn without_rows_nothing_is_judged() {
        for claim in all(&report("qemu-x86_64", &[])) {
            assert_eq!(claim.verdict, Verdict::NotObservable, "{}", claim.id);
        }
    }
}
