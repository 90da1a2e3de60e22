use super::claims::KERNEL;
use super::measure::{add, per_message};
use super::*;
use crate::experiment::Measured;
use crate::experiment::testing::{all_hold, expect, fact, report};
use crate::machine::native::Cost;
use results::{Report, Verdict};

/// Ticks of a message without locks (100) and under each locking, a trap and a page-table load of
/// 400 ticks, and whether there are transactions.
fn made_up([big, elided, fine]: [u64; 3], transactions: u64) -> Report {
    let ticks = [(BASE, 100), ("big", big), ("elided", elided), ("fine", fine)];
    let cases = ticks.map(|(locking, value)| (case(locking), value));
    let known = cases.iter().filter(|(_, value)| *value > 0);
    let rows: Vec<_> = known.map(|(case, value)| (KERNEL, METRIC, &**case, *value)).collect();
    let facts = vec![fact(TRANSACTIONS, transactions), fact(ENTRY, 400)];
    Report { facts, ..report("native", &rows) }
}

const PAPER: [u64; 3] = [115, 185, 200];

#[test]
fn the_papers_costs_reproduce() {
    let report = made_up(PAPER, 1);
    all_hold(&EXPERIMENT, &report, &["S1-C02"]);
    expect(&EXPERIMENT, &report, Verdict::NotObservable, &["S1-C02"]);
}

#[test]
fn other_costs_contradict() {
    for (costs, id) in [
        ([155, 185, 200], "S1-C01a"),
        ([100, 185, 200], "S1-C01a"),
        ([115, 185, 120], "S1-C01b"),
        ([115, 201, 200], "S1-C01c"),
        ([115, 120, 200], "S1-C01c"),
    ] {
        expect(&EXPERIMENT, &made_up(costs, 1), Verdict::Contradicted, &[id]);
    }
}

#[test]
fn what_is_missing_is_not_judged() {
    // A share of a message needs the whole message.
    let mut report = made_up(PAPER, 1);
    report.facts.retain(|fact| fact.name != ENTRY);
    expect(&EXPERIMENT, &report, Verdict::NotObservable, &["S1-C01a"]);
    expect(&EXPERIMENT, &report, Verdict::Reproduced, &["S1-C01b"]);
    let unlocked = made_up([115, 116, 0], 0);
    expect(&EXPERIMENT, &unlocked, Verdict::Reproduced, &["S1-C01a"]);
    expect(&EXPERIMENT, &unlocked, Verdict::NotJudged, &["S1-C01b"]);
    expect(&EXPERIMENT, &unlocked, Verdict::NotObservable, &["S1-C01c"]);
}

#[test]
fn barriers_explain_or_not() {
    let judged = |message: u64, big: u64, fine: u64, expected| {
        let case = case(BASE);
        let mut report = report("twin", &[(KERNEL, METRIC, case.as_str(), message)]);
        report.facts = vec![fact(&barriers("big"), big), fact(&barriers("fine"), fine)];
        expect(&EXPERIMENT, &report, expected, &["S1-C02"]);
    };
    // At 12 cycles each 6 are 23 % of a round trip of 313, and 16 are 61 %.
    judged(157, 6, 16, Verdict::Reproduced);
    judged(157, 6, 6, Verdict::Contradicted); // as many
    judged(1000, 6, 16, Verdict::Contradicted); // too few for so long a message
    judged(50, 6, 16, Verdict::Contradicted); // too many
    judged(157, 6, 60, Verdict::Contradicted); // out of proportion
}

#[test]
fn added_ticks_are_facts_and_have_limits() {
    let mut measured = Measured::default();
    add(&mut measured, ["fastpath", "big"], 30.04, 40.0);
    add(&mut measured, ["fastpath", "none-several"], 90.0, 40.0);
    let [big, other] = &measured.facts[..] else { panic!("two facts") };
    assert_eq!((&*big.name, big.value), ("fastpath big: added", 30));
    assert_eq!(other.value, 90);
    let [limit] = &measured.limits[..] else { panic!("one limit") };
    assert!(limit.held() && limit.value == 75.0);
    add(&mut measured, ["slowpath", "big"], 30.04, 20.0);
    assert!(!measured.limits[1].held());
}

#[test]
fn a_message_takes_what_the_usual_batch_says() {
    let batches = vec![2_000, 1_000, 90_000];
    let cost = Cost { locking: "big".into(), batches, messages_in_batch: 100, messages: 300 };
    assert_eq!(per_message(&cost), 20.0);
}
