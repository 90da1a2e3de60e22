use super::measure::{INTERRUPTED, PROMISING, blame, push};
use super::*;
use abi::results::Tag;
use results::{Record, Recording, Samples};

#[test]
fn a_case_has_its_percentile_and_its_worst() {
    let mut records = Vec::new();
    for round in 0..200u16 {
        let tag = Tag { metric: 1, case: 50, round, point: Tag::BEFORE };
        records.push(Record { tag, time: 1000 });
        let late = 1000 + 300 + u64::from(round);
        records.push(Record { tag: Tag { point: Tag::AFTER, ..tag }, time: late });
    }
    let recording = Recording { kernel: "fastpath".into(), hz: 1, records };
    let mut samples = Samples::default();
    push(&mut samples, &recording, 1, &|_| Some("call".to_string())).unwrap();
    let of = |metric: &str| {
        samples.series.iter().find(|series| series.metric == metric).unwrap().values.clone()
    };
    assert_eq!(of(WAKE_UP).len(), 200);
    assert_eq!((of(WAKE_UP_P99), of(WAKE_UP_WORST)), (vec![497], vec![499]));
    assert!(push(&mut samples, &recording, 1, &|_| None).is_err());
}

#[test]
fn the_worst_of_each_operation_is_told() {
    let mut records = Vec::new();
    for (round, late, operation) in [(0, 300, 1), (1, 900, 2), (2, 400, 1), (3, 50, 0)] {
        let tag = Tag { metric: 1, case: 1, round, point: Tag::BEFORE };
        records.push(Record { tag, time: 5000 });
        records.push(Record { tag: Tag { point: Tag::AFTER, ..tag }, time: 5000 + late });
        records.push(Record { tag: Tag { point: INTERRUPTED, ..tag }, time: operation });
    }
    let facts = blame(&Recording { kernel: PROMISING.into(), hz: 1, records }).unwrap();
    let told: Vec<_> = facts.iter().map(|fact| (fact.name.as_str(), fact.value)).collect();
    let calls = ("strict-eager messages: short calls", 400);
    assert_eq!(told, [calls, ("strict-eager messages: long calls", 900)]);
}
