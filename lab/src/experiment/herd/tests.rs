use super::measure::push;
use super::*;
use crate::experiment::Measured;
use abi::results::Tag;
use results::{Record, Recording};

/// A recording of timers beside the second attack, whose delays grow with the threads.
fn recorded(sizes: &[u64]) -> Recording {
    let mut records = Vec::new();
    for (size, threads) in (0..).zip(sizes) {
        for round in 0..3u16 {
            for metric in [1, 7] {
                let tag = Tag { metric, case: 16 + size, round, point: Tag::BEFORE };
                records.push(Record { tag, time: 1_000 });
                let late = 1_300 + u64::from(round) * 10 + threads / 2;
                records.push(Record { tag: Tag { point: Tag::AFTER, ..tag }, time: late });
            }
        }
    }
    Recording { kernel: "fastpath".into(), hz: 1, records }
}

fn median(measured: &Measured, metric: &str, case: &str) -> Option<f64> {
    measured.median("fastpath", metric, case).ok()
}

#[test]
fn each_attack_has_its_delays_and_their_slope() {
    let mut measured = Measured::default();
    let sizes = [2, 100, 1_000];
    push(&mut measured, &recorded(&sizes), &sizes).unwrap();
    slope::add(&mut measured, "fastpath", &sizes);
    let scene = "event=timer attack=queue";
    assert_eq!(median(&measured, DELAY, &case(scene, 100)), Some(360.0));
    assert_eq!(median(&measured, WORST, &case(scene, 1_000)), Some(820.0));
    let answered = case("event=answer attack=queue", 100);
    assert_eq!(median(&measured, SERVICE, &answered), Some(360.0));
    assert_eq!(median(&measured, SLOPE, scene), Some(500.0));
    assert_eq!(median(&measured, SLOPE_SERVICE, "event=answer attack=queue"), Some(500.0));
    assert_eq!(measured.curves.len(), 1);
}

#[test]
fn a_delay_that_falls_has_no_slope_and_one_point_has_none_to_tell() {
    assert_eq!(slope::slope(&[(1.0, 900.0), (1_000.0, 400.0)]), Some(0));
    assert_eq!(slope::slope(&[(1.0, 900.0)]), None);
}

#[test]
fn what_was_recorded_of_other_sizes_is_refused() {
    let refused = push(&mut Measured::default(), &recorded(&[2, 100]), &[2]);
    assert!(refused.unwrap_err().to_string().contains("case 17"));
}

#[test]
fn the_tree_alone_has_attacks_by_reservations() {
    assert!(OF_TREE.iter().all(|attack| ATTACKS.contains(attack)));
    assert!(OF_TREE.iter().all(|it| suffers(manifest::TREE, it, 1) && !suffers("fastpath", it, 1)));
    assert!(OF_TREE.iter().all(|it| !suffers(manifest::TREE, it, 4)));
    assert!(suffers(manifest::TREE, "timers", 4));
    assert!(suffers(SORTING, "queue", 4) && !suffers(SORTING, "timers", 4));
}
