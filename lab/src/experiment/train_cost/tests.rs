use super::{EXPERIMENT, FORMS, LOADS, ROUND_TRIP, loaded};
use crate::experiment::testing::{expect, report};
use results::{Report, Verdict};

/// A run in which a marshalled service takes so many times what a train takes, beside nothing and
/// beside load that is less urgent.
fn run(machine: &str, [none, below]: [u64; 2]) -> Report {
    const TRAIN: u64 = 300;
    let mut rows = Vec::new();
    for kernel in EXPERIMENT.kernels {
        for (load, times) in LOADS.into_iter().zip([none, 7_000, below]) {
            rows.push((kernel, loaded(FORMS[0], load), TRAIN));
            rows.push((kernel, loaded(FORMS[3], load), TRAIN * times));
        }
    }
    let rows = rows.iter().map(|(kernel, case, value)| (**kernel, ROUND_TRIP, &**case, *value));
    report(machine, &rows.collect::<Vec<_>>())
}

#[test]
fn each_load_is_judged_by_cost() {
    let judge =
        |times, verdict, id| expect(&EXPERIMENT, &run("qemu-x86_64", times), verdict, &[id]);
    judge([5, 4], Verdict::Reproduced, "S4-C06a");
    judge([4, 5], Verdict::Contradicted, "S4-C06a");
    judge([4, 5], Verdict::Reproduced, "S4-C06b");
    judge([5, 4], Verdict::Contradicted, "S4-C06b");
}

#[test]
fn the_simulation_has_no_price_of_a_train() {
    let run = run("twin", [9, 90]);
    expect(&EXPERIMENT, &run, Verdict::NotObservable, &["S4-C06a", "S4-C06b"]);
}
