use super::*;
use crate::experiment::testing::{all_hold, expect, report};
use results::{Origin, Report, Verdict};

fn made_up(queue: impl Fn(&str, f64) -> f64) -> Report {
    let cases = THREADS.map(case);
    let mut rows = Vec::new();
    for kernel in ["direct-lazy", "ipc-scan", "ipc-ordered", "ipc-heap"] {
        for (threads, case) in THREADS.into_iter().zip(&cases) {
            rows.push((kernel, METRIC, &**case, 1000 + queue(kernel, threads as f64) as u64));
        }
    }
    Report { origin: Origin::HARDWARE, ..report("native", &rows) }
}

fn paper(kernel: &str, n: f64) -> f64 {
    match kernel {
        "ipc-scan" => 6.0 * n,
        "ipc-ordered" => 3.0 * n,
        "ipc-heap" => 12.0 + 10.0 * n.log2(),
        _ => 0.0,
    }
}

#[test]
fn curves_like_the_papers_reproduce() {
    all_hold(&EXPERIMENT, &made_up(paper), &[]);
}

#[test]
fn other_curves_contradict() {
    let contradicted = |queue: &dyn Fn(&str, f64) -> f64, ids: &[&str]| {
        expect(&EXPERIMENT, &made_up(queue), Verdict::Contradicted, ids);
    };
    let bent = |kernel: &str, n: f64| match kernel {
        "ipc-scan" => n * n / 50.0,
        "ipc-heap" => n * 4.0,
        "direct-lazy" => n,
        _ => paper(kernel, n),
    };
    contradicted(&bent, &["S0-C07a", "S0-C07b", "S0-C07c", "S0-C07e"]);
    // A heap that wins late, never, at once, and one that does not grow.
    let heap = |cost: fn(f64) -> f64| {
        move |kernel: &str, n: f64| if kernel == "ipc-heap" { cost(n) } else { paper(kernel, n) }
    };
    contradicted(&heap(|n| 400.0 + 10.0 * n.log2()), &["S0-C07d"]);
    contradicted(&heap(|n| 9.0 * n), &["S0-C07d"]);
    contradicted(&heap(|_| 1.0), &["S0-C07d"]);
    contradicted(&heap(|_| 30.0), &["S0-C07c"]);
}
