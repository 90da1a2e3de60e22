use super::claims::ORDERED;
use super::measure::{Counted, STATISTICS};
use super::*;
use crate::experiment::testing::{all_hold, expect, report};
use abi::statistics::{MAGIC, WORD_COUNTERS, WORD_LENGTHS, WORDS};
use results::{Report, Verdict};

/// Memory `totals` with these counters and lengths.
fn totals(counters: &[(Counter, u64)], lengths: &[u64]) -> Vec<u8> {
    let mut words = vec![0; STATISTICS + WORDS];
    words[STATISTICS] = MAGIC;
    for (counter, value) in counters {
        words[STATISTICS + WORD_COUNTERS + *counter as usize] = *value;
    }
    words[STATISTICS + WORD_LENGTHS..][..lengths.len()].copy_from_slice(lengths);
    words.into_iter().flat_map(u64::to_le_bytes).collect()
}

fn figure(totals: &[u8], metric: &str) -> u64 {
    let figures = Counted::decode(totals).unwrap().figures(350).unwrap();
    figures.into_iter().find(|(name, _)| *name == metric).expect("there is such a row").1
}

#[test]
fn the_papers_table_recomputes() {
    // A hundred seconds of `complete`.
    let counters = [
        (Counter::Eager, 675_760),
        (Counter::Actual, 28_096),
        (Counter::DeferredEnqueues, 8_888),
        (Counter::DeferredDequeues, 18_185),
        (Counter::Switches, 704_025),
        (Counter::LookUps, 36_394),
        (Counter::Messages, 649_419),
        (Counter::QueuedMessages, 64),
        (Counter::LongestQueue, 1),
        // At 400 MHz, one nanosecond for each cycle.
        (Counter::Time, 40_000_000_000),
    ];
    let totals = totals(&counters, &[]);
    let expected = [
        (AVOIDED, 958_423),
        (DEFERRED_ENQUEUES, 316_344),
        (DEFERRED_DEQUEUES, 647_245),
        (LOOK_UPS_AVOIDED, 948_306),
        ("work-between-messages", 61_243),
        ("overhead-ppm", 5_682),
        (QUEUED, 1_600),
        (LONGEST, 1),
    ];
    for (metric, value) in expected {
        assert_eq!(figure(&totals, metric), value, "{metric}");
    }
}

#[test]
fn lengths_have_a_median_a_mode_and_an_end() {
    let time = [(Counter::Time, 1), (Counter::Messages, 1)];
    let totals = totals(&time, &[0, 30, 25, 40, 0, 1]);
    let all = ["median", "most-frequent", "longest"];
    let found = all.map(|what| figure(&totals, &format!("ready-queue-{what}")));
    assert_eq!(found, [2, 3, 5]);
    let fact = Counted::decode(&totals).unwrap().lengths_fact("k", "load");
    assert_eq!(fact.value, 96);
    assert!(fact.note.ends_with("1: 31.3 %, 2: 26.0 %, 3: 41.7 %, 5: 1.0 %"), "{}", fact.note);
}

#[test]
fn a_kernel_without_statistics_is_said_so() {
    let mut bytes = totals(&[], &[]);
    bytes[8 * STATISTICS] = 0;
    let error = Counted::decode(&bytes).err().expect("nothing was left").to_string();
    assert!(error.contains("keeps no statistics"), "{error}");
    assert!(Counted::decode(&bytes[..8 * WORDS]).is_err(), "too small");
}

#[test]
fn a_run_without_messages_is_no_result() {
    let counted = Counted::decode(&totals(&[(Counter::Time, 5)], &[])).unwrap();
    assert!(counted.figures(350).is_err());
}

#[test]
fn rows_are_what_the_experiment_names() {
    let time = [(Counter::Time, 1), (Counter::Messages, 1)];
    let counted = Counted::decode(&totals(&time, &[])).unwrap();
    let mut found: Vec<&str> =
        counted.figures(1).unwrap().into_iter().map(|(metric, _)| metric).collect();
    // Two are by the trace.
    found.extend([ACCURACY, OF_EQUALS]);
    let mut named = METRICS.to_vec();
    found.sort_unstable();
    named.sort_unstable();
    assert_eq!(found, named);
}

/// The paper's figures, with 2.5 times as much work in a second; the same for the kernels with
/// ordered queues; one figure of `database` may be another.
fn paper(change: Option<(&str, &str, u64)>) -> Report {
    let mut rows = Vec::new();
    let figures: [(&str, [u64; 3]); 7] = [
        (AVOIDED, [958_400, 977_100, 994_900]),
        (DEFERRED_ENQUEUES, [316_300, 356_200, 463_900]),
        (DEFERRED_DEQUEUES, [647_300, 602_600, 603_500]),
        (LOOK_UPS_AVOIDED, [948_300, 970_600, 992_700]),
        (MESSAGES, [16_235_475, 24_947_975, 103_505_075]),
        (QUEUED, [1_600, 2_225, 1_400]),
        (LONGEST, [1, 1, 1]),
    ];
    for kernel in ORDERED.into_iter().chain([COUNTED]) {
        for (metric, values) in figures {
            let changed = change.filter(|(k, m, _)| (*k, *m) == (kernel, metric));
            let database = changed.map_or(values[1], |(_, _, value)| value);
            let values = [values[0], database, values[2]];
            rows.extend((0..3).map(|load| (kernel, metric, CASES[load], values[load])));
        }
    }
    report("qemu-x86_64", &rows)
}

#[test]
fn the_papers_figures_reproduce() {
    all_hold(&EXPERIMENT, &paper(None), &[]);
}

#[test]
fn one_load_contradicts() {
    for (id, kernel, metric, value) in [
        ("S0-C02a", COUNTED, AVOIDED, 949_900),
        ("S0-C02b", COUNTED, DEFERRED_ENQUEUES, 240_000),
        ("S0-C02b", COUNTED, DEFERRED_ENQUEUES, 510_000),
        ("S0-C02c", COUNTED, DEFERRED_DEQUEUES, 500_000),
        ("S0-C02c", COUNTED, DEFERRED_DEQUEUES, 800_000),
        ("S0-C03", COUNTED, LOOK_UPS_AVOIDED, 939_900),
        ("S0-C06a", COUNTED, QUEUED, 2_500),
        ("S0-C06a", COUNTED, MESSAGES, 2_000_000),
        ("S0-C06b", COUNTED, LONGEST, 2),
        ("S0-C06c", ORDERED[2], MESSAGES, 24_500_000),
    ] {
        let report = paper(Some((kernel, metric, value)));
        expect(&EXPERIMENT, &report, Verdict::Contradicted, &[id]);
    }
    let small = paper(Some((ORDERED[0], MESSAGES, 24_900_000)));
    expect(&EXPERIMENT, &small, Verdict::Reproduced, &["S0-C06c"]);
    let other = paper(Some((ORDERED[0], AVOIDED, 0)));
    expect(&EXPERIMENT, &other, Verdict::Reproduced, &["S0-C02a"]);
}

#[test]
fn queues_that_never_were_tell_nothing() {
    let mut report = paper(None);
    let of_queues = |row: &&mut results::Row| row.metric == LONGEST || row.metric == QUEUED;
    report.rows.iter_mut().filter(of_queues).for_each(|row| row.summary.median = 0.into());
    let unseen = ["S0-C06a", "S0-C06b", "S0-C06c"];
    expect(&EXPERIMENT, &report, Verdict::NotObservable, &unseen);
    all_hold(&EXPERIMENT, &report, &unseen);
}
