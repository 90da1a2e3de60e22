use super::*;
use crate::experiment::testing::{all_hold, expect, fact, report};
use results::{Report, Verdict};

/// A report in which a figure of a metric and a case is `figure` of both.
fn made_up(figure: impl Fn(&str, &str) -> u64, calls: u64) -> Report {
    let mut cases = cases();
    cases.extend(self::cases().iter().map(|case| attacked(case)));
    let mut rows = Vec::new();
    for kernel in KERNELS {
        for metric in METRICS {
            for case in &cases {
                rows.push((kernel, metric, case.as_str(), figure(metric, case)));
            }
        }
    }
    let facts = KERNELS.map(|kernel| fact(&format!("{CALLS}, {kernel}"), calls));
    Report { facts: facts.to_vec(), ..report("qemu-x86_64", &rows) }
}

fn good(metric: &str, case: &str) -> u64 {
    match metric {
        LOCK | UNLOCK => 8,
        HASHED_WAIT | HASHED_WAKE if *case == super::case(1, 1024) => 5_000,
        HASHED_WAIT | HASHED_WAKE => 50,
        _ if case.starts_with("waiters=1 ") => 400,
        _ => 500,
    }
}

#[test]
fn flat_figures_reproduce() {
    all_hold(&EXPERIMENT, &made_up(good, 5_000), &[]);
}

#[test]
fn other_figures_contradict() {
    let contradicted = |change: &dyn Fn(&str, &str) -> Option<u64>, ids: &[&str]| {
        let of = |metric: &str, case: &str| change(metric, case).unwrap_or(good(metric, case));
        expect(&EXPERIMENT, &made_up(of, 5_000), Verdict::Contradicted, ids);
    };
    let of = |metric: &'static str, case: String, value: u64| {
        move |at: &str, of: &str| (at == metric && of == case).then_some(value)
    };
    contradicted(&of(MUTEX_WAKE, case(1024, 1), 520), &["S2H-C01"]);
    contradicted(&of(TIMEOUT, case(1, 64), 420), &["S2H-C01"]);
    contradicted(&of(HASHED_WAKE, case(1, 1024), 60), &["S2H-C02"]);
    contradicted(&of(COND_WAIT, attacked(&case(4, 1)), 520), &["S2H-C03a"]);
    contradicted(&of(UNLOCK, case(1, 1), 93), &["S2H-C04"]);
    contradicted(&of(REQUEUE_ALL, case(256, 1), 600), &["S2H-C05", "S2H-C01"]);
    expect(&EXPERIMENT, &made_up(good, 10), Verdict::Contradicted, &["S2H-C06"]);
}
