use super::claims::{ORDER, PRICED};
use super::measure::intrusion;
use super::*;
use crate::experiment::testing::{all_hold, expect, fact, report};
use results::{Origin, Report, Verdict};

const COMBINED_SHARES: [u64; 6] = [37_000, 61_100, 62_800, 73_200, 73_400, 77_200];
const SCHEDULER: [u64; 6] = [9_000, 3_000, 6_000, 10_000, 2_500, 5_900];

/// A report: combined shares and those of the scheduler, what the coarse period makes of a
/// share, and samples.
struct Made {
    combined: [u64; 6],
    scheduler: [u64; 6],
    coarse: fn(u64) -> u64,
    samples: u64,
}

const PAPER_LIKE: Made = Made {
    combined: COMBINED_SHARES,
    scheduler: SCHEDULER,
    coarse: |share| share + share / 100,
    samples: 500_000,
};

fn made_up(made: &Made) -> Report {
    let mut rows = Vec::new();
    let mut facts = Vec::new();
    for (at, kernel) in ORDER.into_iter().enumerate() {
        let messages = made.combined[at] - made.scheduler[at];
        let mut shares = vec![(COMBINED, made.combined[at]), (KERNEL, made.combined[at])];
        for [ipc, scheduler] in [BY_SYMBOL, BY_LINE] {
            shares.extend([(ipc, messages), (scheduler, made.scheduler[at])]);
        }
        for (metric, share) in shares {
            rows.push((kernel, metric, CASES[0], share));
            rows.push((kernel, metric, CASES[1], (made.coarse)(share)));
        }
        for (case, samples) in CASES.into_iter().zip([made.samples, made.samples / 64]) {
            let name = format!("{kernel} {case}: {SAMPLES}");
            facts.push(fact(&name, samples));
        }
    }
    Report { facts, ..report("qemu-x86_64", &rows) }
}

#[test]
fn profiles_like_the_papers_reproduce() {
    let report = made_up(&PAPER_LIKE);
    all_hold(&EXPERIMENT, &report, &["S0-C14"]);
    expect(&EXPERIMENT, &report, Verdict::NotObservable, &["S0-C14"]);
}

#[test]
fn other_profiles_contradict() {
    let contradicted =
        |made: Made, id: &str| expect(&EXPERIMENT, &made_up(&made), Verdict::Contradicted, &[id]);
    let coarse = |share| share + share / 3;
    contradicted(Made { coarse, ..PAPER_LIKE }, "S0-C13");
    let few = made_up(&Made { samples: 5_000, ..PAPER_LIKE });
    expect(&EXPERIMENT, &few, Verdict::NotObservable, &["S0-C13"]);
    let mut swapped = COMBINED_SHARES;
    swapped.swap(0, 3);
    contradicted(Made { combined: swapped, ..PAPER_LIKE }, "S0-C15a");
    contradicted(Made { combined: [50_000; 6], ..PAPER_LIKE }, "S0-C15a");
    contradicted(Made { samples: 100, ..PAPER_LIKE }, "S0-C15a");
    let scheduler = [9_000, 3_000, 2_500, 5_900, 6_000, 10_000];
    contradicted(Made { scheduler, ..PAPER_LIKE }, "S0-C15b");
    contradicted(Made { scheduler, ..PAPER_LIKE }, "S0-C15c");
    let level = Made { combined: [60_000; 6], scheduler: [6_000; 6], ..PAPER_LIKE };
    contradicted(level, "S0-C15b");
}

#[test]
fn a_sampler_that_takes_the_loads_time_is_noticed() {
    let held = |coarse| intrusion("fastpath", 50_000, coarse).held();
    assert!(held(50_250) && !held(51_000));
}

#[test]
fn a_message_in_a_load_is_priced_where_there_are_caches() {
    for (load, expected) in [
        (11_400, Verdict::Reproduced),
        (7_000, Verdict::Contradicted),
        (19_000, Verdict::Contradicted),
    ] {
        let rows = [(PRICED, MESSAGE, PING_PONG, 6_000), (PRICED, MESSAGE, MIX, load)];
        let report = Report { origin: Origin::HARDWARE, ..report("native", &rows) };
        expect(&EXPERIMENT, &report, Verdict::NotObservable, &["S0-C13"]);
        expect(&EXPERIMENT, &report, expected, &["S0-C14"]);
    }
}
