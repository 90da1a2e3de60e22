use super::sharing::{HAD, LEAVES, MODEL, beside_model, case};
use super::{delay, lines, sharing};
use crate::experiment::testing::{all_hold, expect, report};
use results::{Report, Verdict};

/// Parts of the slopes, in milliseconds, as the paper has them.
const PAPER: [(u64, [u64; 3]); 2] = [(435, [30, 135, 270]), (2_000, [1_002, 620, 378])];

/// A run of sharing-dynamics with these figures, but for one in microseconds.
fn shared(told: &[(u64, [u64; 3])], change: Option<(&str, u64, u64)>) -> Report {
    let mut figures = Vec::new();
    for &(at, model) in told {
        for (leaf, had) in LEAVES.into_iter().zip(model) {
            let changed = change.filter(|(other, instant, _)| (*other, *instant) == (leaf, at));
            figures.push((case(leaf, at, false), changed.map_or(1_000 * had, |(.., had)| had)));
        }
    }
    let rows: Vec<_> =
        figures.iter().map(|(case, had)| (manifest::TREE, HAD, case.as_str(), *had)).collect();
    report("twin", &rows)
}

#[test]
fn shares_of_curves_are_judged() {
    let judge = |report: &Report, verdict, ids: &[&str]| {
        expect(&sharing::EXPERIMENT, report, verdict, ids);
    };
    judge(&shared(&PAPER, None), Verdict::Reproduced, &["S4-C01a", "S4-C01b"]);
    judge(&shared(&MODEL, None), Verdict::Contradicted, &["S4-C01a", "S4-C01b"]);
    let changed = shared(&PAPER, Some(("convex", 435, 60_000)));
    judge(&changed, Verdict::Contradicted, &["S4-C01a"]);
    let changed = shared(&PAPER, Some(("concave", 2_000, 520_000)));
    judge(&changed, Verdict::Contradicted, &["S4-C01b"]);
    let unread = report("twin", &[(manifest::TREE, HAD, &case("convex", 100, false), 9_000)]);
    let ids = ["S4-C01a", "S4-C01b"];
    expect(&sharing::EXPERIMENT, &unread, Verdict::NotJudged, &ids);
}

#[test]
fn instants_are_beside_the_ledgers_model() {
    let beside = |told: &[(&'static str, &'static str, u64)]| {
        let told: Vec<_> = told.iter().map(|(at, leaf, had)| (vec![*at, *leaf], *had)).collect();
        beside_model(&told).map(|limit| (limit.value, limit.held()))
    };
    let near = [("100", "convex", 9_000), ("600", "linear", 190_000)];
    assert_eq!(beside(&near), Some((5.0, true)));
    let off = [("600", "linear", 190_001), ("2000", "concave", 411_000)];
    assert!(beside(&off).is_some_and(|(_, held)| !held), "the first is too much");
    let late = [("100", "convex", 9_000), ("2000", "concave", 405_999)];
    assert!(beside(&late).is_some_and(|(_, held)| !held), "the last is too little");
    assert_eq!(beside(&[("50", "convex", 9_000)]), None, "the model says nothing of that instant");
}

#[test]
fn means_are_beside_the_ledgers_model() {
    for (case, model) in delay::CASES.into_iter().zip(delay::MODEL) {
        let held = |mean| delay::beside_model(case, mean, model).held();
        let (mean, near) = model;
        assert!(held(mean - near) && held(mean + near));
        assert!(!held(mean - near - 1) && !held(mean + near + 1));
    }
}

/// A run of decoupled-delay with these means and this worst delay, in microseconds.
fn delayed([linear, concave, worst]: [u64; 3]) -> Report {
    let row = |metric, case, value| (manifest::TREE, metric, case, value);
    report(
        "twin",
        &[
            row(delay::MEAN, delay::CASES[0], linear),
            row(delay::MEAN, delay::CASES[1], concave),
            row(delay::WORST, delay::CASES[1], worst),
        ],
    )
}

#[test]
fn delays_of_curves_are_judged() {
    let judge = |figures, verdict, ids: &[&str]| {
        expect(&delay::EXPERIMENT, &delayed(figures), verdict, ids);
    };
    all_hold(&delay::EXPERIMENT, &delayed([1_452_000, 34_000, 35_000]), &[]);
    let contradicted = Verdict::Contradicted;
    judge([600_000, 34_000, 35_000], contradicted, &["S4-C02a"]);
    judge([1_452_000, 34_000, 46_000], contradicted, &["S4-C02b"]);
}

#[test]
fn lines_of_programs_are_read() {
    let console = "twin: seed 1\r\nhad 100 convex 9000\r\nhad 300 linear 5\r\n";
    let read = lines(console, "had", 3).expect("they are right");
    assert_eq!(read, [(vec!["100", "convex"], 9_000), (vec!["300", "linear"], 5)]);
    assert!(lines(console, "delay", 1).is_err(), "there are none");
    assert!(lines("had 100 convex", "had", 3).is_err(), "one is cut off");
    assert!(lines("had 100 convex x", "had", 3).is_err(), "one has no number");
}
