use super::*;
use crate::experiment::testing::{all_hold, expect, report};
use manifest::Source;
use results::{Report, Summary, Verdict};
use rtsim::{Inheritance, TaskSet};

/// Figures of the paper's shape by the ledger's model, but for one, and those of the other lengths
/// of calls.
fn made_up(change: Option<(&str, &str, u64)>) -> Report {
    let mut rows: Vec<(&str, String, u64)> = Vec::new();
    for (pi, means, server) in [
        (PI[0], [11_770, 12_300, 12_580], [3_000, 15_300, 20_400, 19_961_300]),
        (PI[1], [9_290, 11_090, 12_900], [915_000, 921_100, 929_400, 17_234_500]),
    ] {
        for (client, mean) in (1..).zip(means) {
            rows.push((RESPONSE, client_case(pi, client, PAPER), mean));
        }
        for (priority, time) in (1..).zip(server) {
            rows.push((SERVER, server_case(pi, priority, PAPER), time));
        }
    }
    for (call, critical, [with_mutexes, with_conditions]) in [
        (CALLS[0], 0, [10_000, 8_900]),
        (CALLS[2], 0, [20_000, 14_000]),
        (CALLS[2], 50, [19_000, 14_000]),
        (CALLS[2], 100, [18_000, 14_000]),
    ] {
        let shape = Shape { call, critical, ..PAPER };
        rows.push((RESPONSE, client_case(PI[0], 1, shape), with_mutexes));
        rows.push((RESPONSE, client_case(PI[1], 1, shape), with_conditions));
    }
    if let Some((metric, case, value)) = change {
        let row = rows.iter_mut().find(|row| row.0 == metric && row.1 == case);
        row.expect("the case is among them").2 = value;
    }
    let rows = rows.iter().map(|(metric, case, value)| ("fastpath", *metric, &**case, *value));
    report("twin", &rows.collect::<Vec<_>>())
}

#[test]
fn the_ledgers_figures_hold_and_each_verdict_can_come_out_otherwise() {
    // One sample is its mean and its worst; the worst falls by more than the mean in truth.
    let worst = made_up(Some((RESPONSE, &client_case(PI[1], 1, PAPER), 8_000)));
    all_hold(&EXPERIMENT, &worst, &[]);
    let others = ["S2G-C02", "S2G-C03a", "S2G-C03b"];
    expect(&EXPERIMENT, &made_up(None), Verdict::Reproduced, &others);
    let contradicted = |metric, case: &str, value, id| {
        let changed = made_up(Some((metric, case, value)));
        expect(&EXPERIMENT, &changed, Verdict::Contradicted, &[id]);
    };
    contradicted(RESPONSE, &client_case(PI[1], 1, PAPER), 10_500, "S2G-C01");
    contradicted(RESPONSE, &client_case(PI[1], 3, PAPER), 12_500, "S2G-C01");
    contradicted(SERVER, &server_case(PI[0], 2, PAPER), 900_000, "S2G-C02");
    contradicted(SERVER, &server_case(PI[1], 4, PAPER), 90_000_000, "S2G-C02");
    let longest = Shape { call: CALLS[2], ..PAPER };
    contradicted(RESPONSE, &client_case(PI[1], 1, longest), 19_000, "S2G-C03a");
    let inside = Shape { critical: 100, ..longest };
    contradicted(RESPONSE, &client_case(PI[0], 1, inside), 20_000, "S2G-C03b");
}

#[test]
fn the_models_figures_stand_beside_ours() {
    let claims = EXPERIMENT.judge(&made_up(None));
    for said in ["the ledger's model: pi=mutexes 296/91/117.7/210", "291/91/129.0/276"] {
        assert!(claims[0].evidence.contains(said), "{}", claims[0].evidence);
    }
}

#[test]
fn what_is_off_the_model_misses_its_limit() {
    let client = |mean: u64| Summary::of(&[9_100_000, mean]).unwrap();
    let came = |server| reference::Came {
        clients: [client(9_300_000), client(9_400_000), client(9_500_000)],
        server,
        unit: 100_000.0,
    };
    let held = |phases, server| {
        let (notes, limits) = reference::beside(phases, PI[1], &came(server));
        assert_eq!(notes.len(), if limits.is_empty() { 0 } else { 4 });
        let missed = limits.iter().filter(|limit| !limit.held());
        (limits.len(), missed.map(|limit| limit.name.clone()).collect::<Vec<_>>())
    };
    let (count, missed) = held([0; CLIENTS], [9_150.0, 9_211.0, 9_600.0, 172_345.0]);
    assert_eq!(count, 4 * CLIENTS + 4);
    for what in ["jobs of Client1", "mean of Client2", "most of Client3", "server at priority 3"] {
        assert!(missed.iter().any(|name| name.contains(what)), "{what}: {missed:?}");
    }
    assert!(!missed.iter().any(|name| name.contains("least") || name.contains("priority 1")));
    assert_eq!(held([1, 2, 3], [0.0; 4]).0, 0);
}

#[test]
fn a_part_of_a_run_is_not_judged() {
    let row = ("fastpath", RESPONSE, &*client_case(PI[0], 1, PAPER), 1);
    let ids = ["S2G-C01", "S2G-C02", "S2G-C03a", "S2G-C03b"];
    expect(&EXPERIMENT, &report("twin", &[row]), Verdict::NotJudged, &ids);
}

/// The file in `tests/rtsim` is the paper's task set with other names.
#[test]
fn the_paper_has_the_task_set_of_the_file() {
    let text = include_str!("../../../../tests/rtsim/client-server.rts").to_string();
    let file = rtsim::parse(&Source { name: "file".into(), text }).unwrap();
    let own = measure::read([0; CLIENTS], PAPER).unwrap();
    let shape = |set: &TaskSet| {
        let task = |task: &rtsim::Task| {
            let code: Vec<_> = task.phases[0].code.iter().map(|one| rtsim::step(one).act).collect();
            (task.priority, task.activation, task.phase, code)
        };
        let tasks: Vec<_> = set.tasks.iter().map(task).collect();
        (set.duration, set.blocking, set.helpers.len(), tasks)
    };
    assert_eq!(shape(&own), shape(&file));
}

#[test]
fn each_server_of_a_row_helps_the_one_before_it() {
    let set = measure::read([0, 300, 500], Shape { chain: 6, call: 5, critical: 50 }).unwrap();
    assert_eq!(set.tasks.len(), CLIENTS + 6);
    let helpers: Vec<usize> = set.helpers.iter().map(|(_, helper)| *helper).collect();
    assert_eq!(helpers, [3, 3, 3, 4, 5, 6, 7, 8]);
    let phases: Vec<u64> = set.tasks.iter().take(CLIENTS).map(|task| task.phase).collect();
    assert_eq!(phases, [0, 300, 500]);
    let run = rtsim::Run {
        scheduler: rtsim::Scheduler::FixedPriorities,
        inheritance: Inheritance::Conditions,
        unit: 1_000,
    };
    assert!(rtsim::manifest(&set, run).is_ok());
}
