use super::points::{PAPER, case, facts, hold};
use super::*;
use crate::experiment::testing::{expect, fact, report};
use model::{Distribution, Repairman};
use results::{Report, Samples, Verdict};

/// Ticks in a second.
const HERTZ: f64 = 2e9;

/// A machine of two sockets on which a lock's service takes `service` ticks by the CPUs that use
/// it, and fine-grained locks scale.
fn machine(sockets: [usize; 2], service: &dyn Fn(usize) -> f64) -> Report {
    let [in_socket, cpus] = sockets;
    let mut samples = Samples::default();
    for think in THINK {
        for n in 1..=cpus {
            let model = Repairman::new(service(n), (think as f64).max(1.0)).unwrap();
            let big = model.solve(n, Distribution::Exponential).unwrap().throughput * HERTZ;
            let mut push = |locking: &str, x: f64| {
                samples.push("fastpath", METRIC, &case(locking, think, n), vec![x as u64]);
            };
            push("big", big);
            push("fine", n as f64 * HERTZ / (think as f64 + 450.0));
            push("elided", n as f64 * HERTZ / (think as f64 + 440.0));
        }
    }
    let known = [
        (facts::HERTZ, HERTZ as u64),
        (facts::CPUS, cpus as u64),
        (facts::IN_SOCKET, in_socket as u64),
        (hold::ONE, 164),
        (hold::SOCKET, 300),
        (hold::ALL, 600),
        (hold::LEAST, 323),
        (hold::GREATEST, 613),
    ];
    let mut report = report("made up", &[]);
    report.rows = samples.rows();
    report.facts = known.map(|(name, value)| fact(name, value)).into();
    report
}

/// The paper's larger machine: service grows across sockets.
fn large() -> Report {
    machine([14, 28], &|n| if n <= 14 { 358.0 } else { 358.0 + (n - 14) as f64 * 18.0 })
}

/// A machine of two sockets, on which the lock's service is the same everywhere.
fn even(service: f64) -> Report {
    machine([14, 28], &|_| service)
}

fn check(report: &Report, expected: Verdict, ids: &[&str]) {
    expect(&EXPERIMENT, report, expected, ids);
}

/// Changes a fact of a report.
fn set(report: &mut Report, name: &str, value: u64) {
    report.facts.iter_mut().filter(|fact| fact.name == name).for_each(|fact| fact.value = value);
}

#[test]
fn curves_like_the_papers_reproduce() {
    let ids = ["S1-C03", "S1-C04", "S1-C05", "S1-C07", "S1-C08", "S1-C09"];
    check(&large(), Verdict::Reproduced, &ids);
    // The model's curve does not decline within a socket.
    check(&large(), Verdict::Contradicted, &["S1-C06"]);
    check(&large(), Verdict::NotObservable, &["S1-C10", "S1-C11"]);
}

#[test]
fn a_declining_curve_peaks() {
    let declining = machine([14, 28], &|n| 358.0 + n.saturating_sub(7) as f64 * 5.0);
    check(&declining, Verdict::Reproduced, &["S1-C06"]);
}

#[test]
fn other_curves_contradict() {
    check(&even(358.0), Verdict::Reproduced, &["S1-C03"]);
    check(&even(358.0), Verdict::Contradicted, &["S1-C04", "S1-C09"]);
    let jagged = machine([14, 28], &|n| if n % 2 == 0 { 200.0 } else { 900.0 });
    check(&jagged, Verdict::Contradicted, &["S1-C03", "S1-C04", "S1-C05"]);
    let mut report = large();
    for row in report.rows.iter_mut().filter(|row| row.case.ends_with("think=4000 cpus=28")) {
        row.summary.median = 1.into();
    }
    check(&report, Verdict::Contradicted, &["S1-C08"]);
    set(&mut report, hold::SOCKET, 170);
    check(&report, Verdict::Contradicted, &["S1-C07"]);
}

#[test]
fn each_think_time_needs_its_own_service_or_not() {
    // One curve that another service time explains, and no other.
    let mut report = large();
    for (row, other) in report.rows.iter_mut().zip(&even(450.0).rows) {
        if row.case.contains("locking=big think=1000 ") {
            *row = other.clone();
        }
    }
    check(&report, Verdict::Contradicted, &["S1-C03"]);
}

#[test]
fn too_little_think_time_or_too_much_contradicts() {
    // A short service scales to two sockets with a think time of 4,000; a long one to none.
    for service in [100.0, 900.0] {
        check(&even(service), Verdict::Contradicted, &["S1-C05", "S1-C09"]);
    }
}

#[test]
fn points_outside_the_curves_of_the_extremes_contradict() {
    for (name, value) in [(hold::LEAST, 400), (hold::GREATEST, 500)] {
        let mut report = large();
        set(&mut report, name, value);
        check(&report, Verdict::Contradicted, &["S1-C04"]);
        report.facts.retain(|fact| fact.name != name);
        check(&report, Verdict::NotObservable, &["S1-C04"]);
    }
}

#[test]
fn transactions_that_do_not_scale_contradict() {
    let mut report = large();
    for row in report.rows.iter_mut().filter(|row| row.case == case("elided", 4000, 28)) {
        row.summary.median = (row.summary.median.as_f64() as u64 * 9 / 10).into();
    }
    check(&report, Verdict::Contradicted, &["S1-C08"]);
}

#[test]
fn sections_as_long_as_the_papers_are_judged_where_there_are_some() {
    // Their own are too short for a knee at a socket.
    let mut report = even(170.0);
    check(&report, Verdict::Contradicted, &["S1-C09"]);
    let as_paper = large().rows.into_iter().map(|mut row| {
        row.metric = PAPER.to_string();
        row
    });
    report.rows.extend(as_paper);
    check(&report, Verdict::Reproduced, &["S1-C04", "S1-C05", "S1-C09"]);
}

#[test]
fn the_small_machine_has_claims_of_its_own() {
    // Fast enough for 500 ticks of thought, saturated without.
    let fast = machine([4, 4], &|_| 30.0);
    check(&fast, Verdict::Reproduced, &["S1-C10"]);
    check(&fast, Verdict::Contradicted, &["S1-C11"]);
    let slow = machine([4, 4], &|_| 200.0);
    check(&slow, Verdict::Contradicted, &["S1-C10"]);
    check(&slow, Verdict::Reproduced, &["S1-C11"]);
}

#[test]
fn two_cpus_show_none_of_it() {
    let claims = EXPERIMENT.judge(&machine([2, 2], &|_| 358.0));
    for claim in &claims {
        assert_eq!(claim.verdict, Verdict::NotObservable, "{}", claim.id);
        assert!(claim.evidence.contains("2 CPUs"), "{}: {}", claim.id, claim.evidence);
    }
    assert_eq!(claims.len(), 9);
}
