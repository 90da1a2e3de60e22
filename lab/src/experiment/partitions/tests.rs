use super::measure::waits_for_window;
use super::*;
use crate::experiment::parameter::Set;
use crate::experiment::testing::{all_hold, expect, report, report_but};
use crate::experiment::{Asked, Session, run};
use results::{Limit, Report, Verdict};

/// Figures that reproduce the claims, but for one.
fn made_up(change: Option<(&str, &str, u64)>) -> Report {
    let mut figures: Vec<(&str, String, u64)> = Vec::new();
    for frame in FRAMES {
        for partition in PARTITIONS {
            for (load, start) in [("none", 380), ("background", 400), ("overrun", 400)] {
                let case = window_case(partition, load, frame);
                figures.push((START, case.clone(), start));
                figures.push((JITTER, case.clone(), 0));
                figures.push((RESPONSE, case, frame / 5 + start));
            }
        }
        let idle = format!("load=background frame={}", spell_duration(frame));
        figures.push((IDLE_USED, idle, 999_000));
        figures.push((EVENT_WORST, event_case("background", frame), 500));
        figures.push((EVENT_WORST, event_case("partition", frame), frame * 6 / 10));
    }
    report_but("twin", manifest::TREE, &figures, change)
}

#[test]
fn a_background_without_influence_reproduces_the_claims() {
    all_hold(&EXPERIMENT, &made_up(None), &[]);
}

#[test]
fn whatever_disturbs_a_window_or_an_event_contradicts() {
    let contradicted = |metric, case: &str, value, id| {
        let changed = made_up(Some((metric, case, value)));
        expect(&EXPERIMENT, &changed, Verdict::Contradicted, &[id]);
    };
    contradicted(IDLE_USED, "load=background frame=10ms", 900_000, "S2D-C02a");
    let window = |load| window_case("two", load, 10_000_000);
    contradicted(JITTER, &window("background"), 1_000, "S2D-C02b");
    contradicted(RESPONSE, &window("background"), 2_100_000, "S2D-C02b");
    contradicted(START, &window("overrun"), 1_000, "S2D-C02b");
    let event = event_case("background", 20_000_000);
    contradicted(EVENT_WORST, &event, 800, "S2D-C03");
    let slow = event_case("background", 10_000_000);
    contradicted(EVENT_WORST, &slow, 1_000, "S2D-C03");
}

#[test]
fn events_that_wait_for_no_window_are_noticed() {
    let held = |worst| waits_for_window(10_000_000, worst).held();
    assert!(held(6_000_000.0) && !held(500.0));
}

#[test]
fn a_part_of_a_run_is_not_judged() {
    let row = (manifest::TREE, JITTER, "partition=one load=none frame=5ms", 0);
    let ids = ["S2D-C02a", "S2D-C02b", "S2D-C03"];
    expect(&EXPERIMENT, &report("twin", &[row]), Verdict::NotJudged, &ids);
}

/// Few and short frames in the simulation: ties, moves and the handler's place show.
#[test]
fn the_rules_of_the_background_hold_in_the_simulation() {
    let set = |text| Set::parse(EXPERIMENT.name, EXPERIMENT.parameters, text).unwrap();
    let asked = Asked { set: vec![set("frame=5ms"), set("frames=8")], ..Asked::seed(1) };
    let (report, _) = run(EXPERIMENT.usual(), &Session::new(asked), &[manifest::TREE]).unwrap();
    let missed: Vec<&Limit> = report.limits.iter().filter(|limit| !limit.held()).collect();
    assert!(missed.is_empty() && report.limits.len() == 4, "{missed:?}");
    let two = window_case("two", "background", 5_000_000);
    let jitter = report.median(manifest::TREE, JITTER, &two).map(|jitter| jitter.as_f64());
    assert_eq!(jitter, Some(0.0));
}
