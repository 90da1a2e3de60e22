//! Claims about the elevator (S0-E07).

use super::spec::{self, Band, Setting, Spec, silent, visible};
use super::tails::{self, FAR_OUT, GROWS, NEAR, greatest, least, line};
use results::{Bound, Claim, Report};

const CALL: &str = "call";
const SEND: &str = "send";
/// Kernels that queue lazily; which of them keep a thread queued that blocks is the claim.
const LAZY: [&str; 7] =
    ["fastpath", "direct-lazy", "strict-lazy", "ipc-scan", "ipc-ordered", "ipc-heap", "slowpath"];
/// All lazy kernels but slowpath, which removes a thread that sends and receives elsewhere.
const KEEPING: [&str; 6] =
    ["fastpath", "direct-lazy", "strict-lazy", "ipc-scan", "ipc-ordered", "ipc-heap"];
const SLOWPATH: [&str; 1] = ["slowpath"];
const EAGER: [&str; 2] = ["direct-eager", "strict-eager"];

const PAPER: Setting = &[
    ("machine", "XScale PXA255, 400 MHz"),
    ("load", "250 threads in ascending order, third step a blocking call"),
    ("samples", "a timer of 3.7 MHz at random distances"),
    ("purge", "without preemption points"),
    ("unit", "microseconds (figure only)"),
];
const OURS: &[(&str, Setting)] = &[
    (
        "qemu-x86_64",
        &[
            ("machine", "emulated: instructions are counted"),
            ("load", "50 to 250 threads, third step a call, or a send with a receive"),
            ("samples", "1000 a case, at random distances"),
            ("purge", "without preemption points"),
            ("unit", "instructions"),
        ],
    ),
    (
        "twin",
        &[
            ("machine", "simulated: steps have stated costs"),
            ("load", "50 to 250 threads, third step a call, or a send with a receive"),
            ("samples", "1000 a case, at random distances"),
            ("purge", "without preemption points"),
            ("unit", "modelled instructions"),
        ],
    ),
];

/// All parts of S0-C08, and S0-C09.
pub static CLAIMS: [Spec; 4] = [
    Spec {
        id: "S0-C08a",
        statement: "With calls as the third step all lazy kernels show a tail",
        paper: PAPER,
        ours: OURS,
        hidden: visible,
        bands: &[
            Band {
                quantity: "worst wake-up in medians, lazy kernel with least",
                unit: "",
                bound: FAR_OUT,
                from: "choice: a tail is far out (the paper: 8 times the eager one)",
                figure: |report| Some(least(report, CALL, &LAZY)?.0),
            },
            Band {
                quantity: "growth from 50 to 250 threads, lazy kernel with least",
                unit: "",
                bound: GROWS,
                from: "choice: it grows with the threads",
                figure: |report| Some(least(report, CALL, &LAZY)?.1),
            },
        ],
        remark: |report| tails::spelt(report, CALL, &LAZY),
    },
    Spec {
        id: "S0-C08b",
        statement: "With a send and a receive as the third step all lazy kernels but slowpath \
                    show a tail",
        paper: PAPER,
        ours: OURS,
        hidden: visible,
        bands: &[
            Band {
                quantity: "worst wake-up in medians, lazy kernel but slowpath with least",
                unit: "",
                bound: FAR_OUT,
                from: "choice: a tail is far out",
                figure: |report| Some(least(report, SEND, &KEEPING)?.0),
            },
            Band {
                quantity: "growth from 50 to 250 threads, lazy kernel but slowpath with least",
                unit: "",
                bound: GROWS,
                from: "choice: it grows with the threads",
                figure: |report| Some(least(report, SEND, &KEEPING)?.1),
            },
            Band {
                quantity: "worst wake-up in medians, slowpath",
                unit: "",
                bound: NEAR,
                from: "choice: no tail",
                figure: |report| greatest(report, SEND, &SLOWPATH),
            },
        ],
        remark: |report| tails::spelt(report, SEND, &LAZY),
    },
    Spec {
        id: "S0-C08c",
        statement: "Eager kernels show no tail",
        paper: PAPER,
        ours: OURS,
        hidden: visible,
        bands: &[
            Band {
                quantity: "worst wake-up in medians, eager kernel with most, by calls",
                unit: "",
                bound: NEAR,
                from: "choice: no tail",
                figure: |report| greatest(report, CALL, &EAGER),
            },
            Band {
                quantity: "the same by sends",
                unit: "",
                bound: NEAR,
                from: "choice: no tail",
                figure: |report| greatest(report, SEND, &EAGER),
            },
        ],
        remark: silent,
    },
    Spec {
        id: "S0-C09",
        statement: "The tail grows in proportion to the number of threads",
        paper: PAPER,
        ours: OURS,
        hidden: visible,
        bands: &[
            Band {
                quantity: "r squared of a line from 50 to 250 threads, lazy kernel with least",
                unit: "",
                bound: Bound::Above(0.95),
                from: "the ledger: 0.95",
                figure: |report| lines(report, |line| line.r2),
            },
            Band {
                quantity: "what a further thread adds, lazy kernel with least",
                unit: "instructions",
                bound: Bound::Above(0.0),
                from: "the ledger: in proportion",
                figure: |report| lines(report, |line| line.slope),
            },
        ],
        remark: silent,
    },
];

/// All parts of S0-C08, and S0-C09.
pub fn all(report: &Report) -> Vec<Claim> {
    spec::judge(&CLAIMS, report)
}

/// The least of the lazy kernels' lines by calls.
fn lines(report: &Report, of: fn(tails::Line) -> f64) -> Option<f64> {
    let figures = LAZY.map(|kernel| Some(of(line(report, kernel, CALL)?)));
    figures.into_iter().collect::<Option<Vec<f64>>>()?.into_iter().reduce(f64::min)
}

#[cfg(test)]
mod tests {
    use super::super::tails::testing::{Tail, tails};
    use super::super::testing::verdict;
    use super::*;
    use results::Verdict;

    fn paper() -> Vec<Tail> {
        let mut all = Vec::new();
        for kernel in LAZY {
            all.push((kernel, CALL, 470, 3000, 12500));
            all.push((kernel, SEND, 470, 3000, 12500));
        }
        all.push(("slowpath", SEND, 480, 700, 720));
        for kernel in EAGER {
            all.push((kernel, CALL, 500, 690, 690));
            all.push((kernel, SEND, 500, 690, 690));
        }
        all
    }

    fn claims(change: &[Tail]) -> Vec<Claim> {
        all(&tails(&[&paper()[..], change].concat()))
    }

    #[test]
    fn tails_like_the_papers_reproduce() {
        let claims = claims(&[]);
        for id in ["S0-C08a", "S0-C08b", "S0-C08c", "S0-C09"] {
            assert_eq!(verdict(&claims, id), Verdict::Reproduced, "{id}: {claims:?}");
        }
    }

    #[test]
    fn other_tails_contradict() {
        let contradicted = |change: Tail, id: &str| {
            assert_eq!(verdict(&claims(&[change]), id), Verdict::Contradicted, "{id}");
        };
        contradicted(("ipc-heap", CALL, 470, 700, 720), "S0-C08a");
        contradicted(("slowpath", SEND, 470, 3000, 12500), "S0-C08b");
        contradicted(("fastpath", SEND, 470, 700, 720), "S0-C08b");
        contradicted(("strict-eager", SEND, 470, 3000, 12500), "S0-C08c");
        contradicted(("direct-eager", CALL, 470, 3000, 12500), "S0-C08c");
        contradicted(("strict-lazy", CALL, 470, 12500, 12500), "S0-C09");
    }

    #[test]
    fn a_crooked_tail_is_not_proportional() {
        let mut crooked = tails(&paper());
        for row in &mut crooked.rows {
            let here = row.kernel == "direct-lazy" && row.case.starts_with(CALL);
            if here && row.case.ends_with("=150") {
                row.summary.median = 40_000.into();
            }
        }
        assert_eq!(verdict(&all(&crooked), "S0-C09"), Verdict::Contradicted);
    }

    #[test]
    fn without_rows_nothing_is_judged() {
        for claim in all(&tails(&[("fastpath", CALL, 470, 3000, 12500)])) {
            assert_eq!(claim.verdict, Verdict::NotObservable, "{}", claim.id);
        }
    }
}
