use super::{
    ADAPTATION, BUDGETS, CALLS, ENDS, EXPERIMENT, HARD_MISSED, HELD, LATE, MISSED, PEAK, REPORTING,
    SCHEDULING, SERVERS, case, load_of, of,
};
use crate::experiment::testing::{all_hold, expect, report};
use results::{Origin, Report, Verdict};

/// Ratios of S3, S4, S5 in hundredths of a percent, fixed and adaptive: the paper's.
const GOOD: [[u64; 3]; 2] = [[336, 2_728, 219], [111, 649, 469]];

/// What else a run tells: late jobs and hard ones, peaks, scheduling and adaptation.
#[derive(Clone, Copy)]
struct Told {
    late: u64,
    hard: u64,
    peak: u64,
    times: [u64; 2],
}

const TOLD: Told = Told { late: 500, hard: 0, peak: 520_000, times: [1_400, 130] };

/// A run with these figures, and at one of the ends with other ratios.
fn run(told: Told, change: Option<(u64, [[u64; 3]; 2])>) -> Report {
    let mut rows = Vec::new();
    for hold in ENDS {
        let ratios = change.filter(|(at, _)| *at == hold).map_or(GOOD, |(_, ratios)| ratios);
        for (budgets, ratios) in [BUDGETS[0], BUDGETS[2]].into_iter().zip(ratios) {
            for (server, ratio) in SERVERS.into_iter().zip(ratios) {
                rows.push((MISSED, case(hold, budgets, server), 100 * ratio));
            }
            rows.push((MISSED, case(hold, budgets, "sum"), 100 * ratios.iter().sum::<u64>()));
            rows.push((HARD_MISSED, of(hold, budgets), told.hard));
            rows.push((LATE, of(hold, budgets), told.late));
            rows.push((HELD, of(hold, budgets), 500_000));
        }
        for server in SERVERS {
            rows.push((PEAK, load_of(hold, server), told.peak));
        }
    }
    let [scheduling, adaptation] = told.times;
    let times = [(SCHEDULING, scheduling), (ADAPTATION, adaptation), (CALLS, adaptation / 2)];
    for (metric, time) in times.into_iter().chain([(REPORTING, 70)]) {
        rows.push((metric, BUDGETS[2].to_string(), time));
    }
    let rows = rows.iter();
    let rows = rows.map(|(metric, case, value)| (manifest::TREE, *metric, case.as_str(), *value));
    report("twin", &rows.collect::<Vec<_>>())
}

#[test]
fn the_papers_figures_hold() {
    all_hold(&EXPERIMENT, &run(TOLD, None), &[]);
}

#[test]
fn each_verdict_can_come_out_otherwise() {
    let contradicted = |report: &Report, ids: &[&str]| {
        expect(&EXPERIMENT, report, Verdict::Contradicted, ids);
    };
    let with = |end: usize, adaptive| run(TOLD, Some((ENDS[end], [GOOD[0], adaptive])));
    let [short, long] = [0, 1];
    contradicted(&with(long, [111, 900, 700]), &["S2B-C01a"]);
    contradicted(&with(short, [111, 900, 700]), &["S2B-C01b"]);
    contradicted(&with(long, [470, 649, 469]), &["S2B-C02a", "S2B-C02b"]);
    contradicted(&with(short, [470, 649, 469]), &["S2B-C02a", "S2B-C02c"]);
    contradicted(&run(Told { hard: 1, ..TOLD }, None), &["S2B-C04"]);
    contradicted(&run(Told { peak: 200_000, ..TOLD }, None), &["S2B-C03"]);
    contradicted(&run(Told { times: [1_400, 300], ..TOLD }, None), &["S2B-C05a"]);
    contradicted(&run(Told { times: [10_000, 130], ..TOLD }, None), &["S2B-C05b"]);
}

#[test]
fn tables_and_causes_are_printed() {
    let claims = EXPERIMENT.judge(&run(TOLD, None));
    let evidence = |id: &str| &claims.iter().find(|claim| claim.id == id).unwrap().evidence;
    for said in ["the paper fixed 3.36, 27.28, 2.19", "here fixed 3.36, 27.28, 2.19", "50.0 %"] {
        assert!(evidence("S2B-C01a").contains(said), "{}", evidence("S2B-C01a"));
    }
    assert!(evidence("S2B-C05a").contains("50 % of its time are calls"));
}

#[test]
fn short_runs_tell_nothing_of_ratios() {
    let short = run(Told { late: 99, ..TOLD }, None);
    let ids = ["S2B-C01a", "S2B-C01b", "S2B-C02a", "S2B-C02b", "S2B-C02c"];
    expect(&EXPERIMENT, &short, Verdict::NotObservable, &ids);
    all_hold(&EXPERIMENT, &short, &ids);
}

#[test]
fn the_simulation_does_not_tell_what_programs_take() {
    let simulated = Report { origin: Origin::SIMULATED, ..run(TOLD, None) };
    let ids = ["S2B-C05a", "S2B-C05b"];
    expect(&EXPERIMENT, &simulated, Verdict::NotObservable, &ids);
    all_hold(&EXPERIMENT, &simulated, &ids);
}
