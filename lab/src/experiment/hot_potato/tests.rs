use super::*;
use crate::experiment::testing::{all_hold, expect, report};
use results::{Origin, Report, Verdict};

/// Costs with one message and with 249; between them in a straight line.
type Curve = (&'static str, u64, u64);

const PAPER: [Curve; 9] = [
    ("fastpath", 300, 560),
    ("slowpath", 480, 550),
    ("direct-lazy", 430, 500),
    ("strict-lazy", 520, 560),
    ("direct-eager", 540, 580),
    ("strict-eager", 600, 640),
    ("ipc-scan", 431, 502),
    ("ipc-ordered", 432, 503),
    ("ipc-heap", 435, 560),
];

/// The paper's curves, but for one.
fn made_up(change: Option<Curve>) -> Report {
    let mut rows = Vec::new();
    for curve in PAPER {
        let (kernel, one, many) = change.filter(|other| other.0 == curve.0).unwrap_or(curve);
        let line = |at: u64, of: u64| (one * (of - at) + many * at) / of;
        let sweep = (0..).zip(MESSAGES).map(|(at, n)| (case(n), line(at, 13)));
        let large = [0, 1, 4, 9].into_iter().zip(COLD).map(|(at, n)| (cold(n), line(at, 9)));
        let few = [FEW_THREADS, PING_PONG].map(|case| (case.to_string(), 230));
        rows.extend(sweep.chain(large).chain(few).map(|(case, value)| (kernel, case, value)));
    }
    let rows: Vec<_> = rows.iter().map(|(k, case, value)| (*k, METRIC, &**case, *value)).collect();
    Report { origin: Origin::HARDWARE, ..report("native", &rows) }
}

#[test]
fn curves_like_the_papers_reproduce() {
    all_hold(&EXPERIMENT, &made_up(None), &[]);
}

#[test]
fn without_caches_what_rests_on_them_is_not_observable() {
    let counted = Report { origin: Origin::EMULATED, ..made_up(None) };
    let cold = ["S0-C05b", "S0-C05c", "S0-C05e"];
    expect(&EXPERIMENT, &counted, Verdict::NotObservable, &cold);
    all_hold(&EXPERIMENT, &counted, &cold);
}

#[test]
fn other_curves_contradict() {
    for (curve, id) in [
        (("fastpath", 479, 560), "S0-C05a"),
        (("fastpath", 300, 520), "S0-C05a"),
        (("fastpath", 300, 700), "S0-C05a"),
        (("slowpath", 432, 501), "S0-C05b"),
        (("slowpath", 700, 800), "S0-C05b"),
        (("strict-lazy", 400, 410), "S0-C05c"),
        (("direct-eager", 600, 660), "S0-C05c"),
        (("strict-eager", 500, 510), "S0-C05c"),
        (("ipc-scan", 431, 700), "S0-C05d"),
        (("ipc-heap", 435, 502), "S0-C05d"),
        (("ipc-heap", 560, 560), "S0-C05d"),
        (("fastpath", 298, 560), "S0-C05e"),
    ] {
        expect(&EXPERIMENT, &made_up(Some(curve)), Verdict::Contradicted, &[id]);
    }
}
