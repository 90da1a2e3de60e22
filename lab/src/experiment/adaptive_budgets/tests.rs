use super::{
    ADAPTATION, BUDGETS, EXPERIMENT, HARD_MISSED, LATE, MISSED, PEAK, SCHEDULING, SERVERS, case,
};
use crate::experiment::testing::{all_hold, expect, report};
use results::{Origin, Report, Verdict};

/// Ratios of S3, S4, S5 by budgets, in hundredths of a percent: the paper's for the first and the
/// third, and what would hold for the others.
const GOOD: [[u64; 3]; 5] =
    [[336, 2_728, 219], [300, 1_000, 700], [111, 649, 469], [100, 500, 400], [111, 640, 460]];

/// A run of these figures: ratios, late jobs and hard ones, peaks, scheduling and adaptation.
fn run(ratios: [[u64; 3]; 5], [late, hard]: [u64; 2], peak: u64, times: [u64; 2]) -> Report {
    let mut rows = Vec::new();
    for (budgets, ratios) in BUDGETS.into_iter().zip(ratios) {
        for (server, ratio) in SERVERS.into_iter().zip(ratios) {
            rows.push((MISSED, case(budgets, server), 100 * ratio));
        }
        rows.push((MISSED, case(budgets, "sum"), 100 * ratios.iter().sum::<u64>()));
        rows.push((HARD_MISSED, format!("budgets={budgets}"), hard));
        rows.push((LATE, format!("budgets={budgets}"), late));
    }
    for server in SERVERS {
        rows.push((PEAK, format!("server={server}"), peak));
    }
    for (metric, time) in [SCHEDULING, ADAPTATION].into_iter().zip(times) {
        rows.push((metric, BUDGETS[2].to_string(), time));
    }
    let rows = rows.iter();
    let rows = rows.map(|(metric, case, value)| (manifest::TREE, *metric, case.as_str(), *value));
    report("twin", &rows.collect::<Vec<_>>())
}

fn good() -> Report {
    run(GOOD, [500, 0], 520_000, [1_400, 130])
}

#[test]
fn the_papers_figures_hold() {
    all_hold(&EXPERIMENT, &good(), &[]);
}

#[test]
fn each_verdict_can_come_out_otherwise() {
    let contradicted = |report: &Report, ids: &[&str]| {
        expect(&EXPERIMENT, report, Verdict::Contradicted, ids);
    };
    let with = |budgets: usize, ratios: [u64; 3]| {
        let mut all = GOOD;
        all[budgets] = ratios;
        run(all, [500, 0], 520_000, [1_400, 130])
    };
    contradicted(&with(2, [111, 700, 509]), &["S2B-C01a"]);
    contradicted(&with(3, [200, 1_000, 500]), &["S2B-C01b"]);
    contradicted(&with(1, [100, 500, 400]), &["S2B-C01c"]);
    contradicted(&with(4, [100, 500, 500]), &["S2B-C01d"]);
    contradicted(&with(2, [470, 649, 469]), &["S2B-C02a", "S2B-C02b"]);
    contradicted(&run(GOOD, [500, 1], 520_000, [1_400, 130]), &["S2B-C04"]);
    contradicted(&run(GOOD, [500, 0], 200_000, [1_400, 130]), &["S2B-C03"]);
    contradicted(&run(GOOD, [500, 0], 520_000, [1_400, 200]), &["S2B-C05a"]);
    contradicted(&run(GOOD, [500, 0], 520_000, [10_000, 130]), &["S2B-C05b"]);
}

#[test]
fn both_tables_are_printed() {
    let claims = EXPERIMENT.judge(&good());
    let first = claims.iter().find(|claim| claim.id == "S2B-C01a").unwrap();
    for said in ["the paper fixed 3.36, 27.28, 2.19", "here fixed 3.36, 27.28, 2.19"] {
        assert!(first.evidence.contains(said), "{}", first.evidence);
    }
}

#[test]
fn short_runs_tell_nothing_of_ratios() {
    let short = run(GOOD, [99, 0], 520_000, [1_400, 130]);
    let ids = ["S2B-C01a", "S2B-C01b", "S2B-C01c", "S2B-C01d", "S2B-C02a", "S2B-C02b"];
    expect(&EXPERIMENT, &short, Verdict::NotObservable, &ids);
    all_hold(&EXPERIMENT, &short, &ids);
}

#[test]
fn the_simulation_does_not_tell_what_programs_take() {
    let simulated = Report { origin: Origin::SIMULATED, ..good() };
    let ids = ["S2B-C05a", "S2B-C05b"];
    expect(&EXPERIMENT, &simulated, Verdict::NotObservable, &ids);
    all_hold(&EXPERIMENT, &simulated, &ids);
}
