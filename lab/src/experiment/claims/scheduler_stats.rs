//! Claims about what client/server loads ask of the scheduler (S0-E01, S0-E03).

use super::{judged, median};
use crate::experiment::scheduler_stats::{
    AVOIDED, CASES, DEFERRED_DEQUEUES, DEFERRED_ENQUEUES, LONGEST, LOOK_UPS_AVOIDED, MESSAGES,
    QUEUED,
};
use results::{Claim, Report, Verdict};

/// The kernel that the paper counted in.
const COUNTED: &str = "direct-lazy";
/// The kernels like it whose send queues are ordered by priority.
const ORDERED: [&str; 3] = ["ipc-scan", "ipc-ordered", "ipc-heap"];
/// A percent in millionths.
const PERCENT: f64 = 10_000.0;
/// Part of messages that may queue, in percent.
const RARE: f64 = 0.1;
/// Percent of messages that queues by priority may cost to be called nothing.
const NOTHING: f64 = 0.1;

/// Work of the paper's processor in a second by that of ours: what lies between two ticks.
const DENSITY: f64 = 0.4;

/// All claims.
pub fn all(report: &Report) -> Vec<Claim> {
    vec![
        avoided(report, "S0-C02a", AVOIDED, 95.0, OPERATIONS),
        within(report, "S0-C02b", DEFERRED_ENQUEUES, 25.0..=50.0, ENQUEUES),
        within(report, "S0-C02c", DEFERRED_DEQUEUES, 55.0..=75.0, DEQUEUES),
        avoided(report, "S0-C03", LOOK_UPS_AVOIDED, 94.0, LOOK_UPS),
        rare(report),
        short(report),
        free(report),
    ]
}

const OPERATIONS: &str = "Lazy queueing avoids more than 95 % of queue operations in each load, \
                          even if ticks were as dense in the work as the paper's";
const ENQUEUES: &str = "About a third of the insertions that are left are deferred ones (25 to \
                        50 %; the paper: 32 to 46 %)";
const DEQUEUES: &str = "About two thirds of the removals that are left are deferred ones (55 to \
                        75 %; the paper: 60 to 65 %)";
const LOOK_UPS: &str = "Direct switching avoids more than 94 % of look-ups in each load, even if \
                        ticks were as dense in the work as the paper's";

/// A figure of all loads.
fn loads(report: &Report, kernel: &str, metric: &str) -> Option<[f64; CASES.len()]> {
    let [a, b, c] = CASES.map(|load| median(report, kernel, metric, load));
    Some([a?, b?, c?])
}

/// Figures with the names of their loads.
fn spelt(figures: [f64; CASES.len()], spell: impl Fn(f64) -> String) -> String {
    let pairs = CASES.iter().zip(figures);
    pairs.map(|(load, figure)| format!("{load} {}", spell(figure))).collect::<Vec<_>>().join(", ")
}

/// A share of work avoided that is above a limit in every load. What is left is done at ticks, so
/// there would be more of it by messages if a second had less work; that figure counts.
fn avoided(report: &Report, id: &str, metric: &str, percent: f64, statement: &str) -> Claim {
    let found = loads(report, COUNTED, metric).map(|shares| {
        let measured = shares.map(|share| share / PERCENT);
        let dense = measured.map(|share| 100.0 - (100.0 - share) / DENSITY);
        let holds = dense.iter().all(|share| *share > percent);
        let spelt = |shares| spelt(shares, |share| format!("{share:.2} %"));
        let evidence =
            format!("{}; with ticks as dense as the paper's: {}", spelt(measured), spelt(dense));
        (holds, evidence)
    });
    judged(id, statement, found)
}

/// A share that lies between two limits in every load; at the lower one it does not.
fn within(
    report: &Report,
    id: &str,
    metric: &str,
    percent: std::ops::RangeInclusive<f64>,
    statement: &str,
) -> Claim {
    let found = loads(report, COUNTED, metric).map(|shares| {
        let shares = shares.map(|share| share / PERCENT);
        let holds = shares.iter().all(|share| *share > *percent.start() && percent.contains(share));
        (holds, spelt(shares, |share| format!("{share:.2} %")))
    });
    judged(id, statement, found)
}

fn rare(report: &Report) -> Claim {
    let found = || {
        let queued = loads(report, COUNTED, QUEUED)?;
        let messages = loads(report, COUNTED, MESSAGES)?;
        let mut holds = true;
        for (queued, messages) in queued.into_iter().zip(messages) {
            holds &= queued < 1000.0 && messages > 0.0 && queued / messages * 100.0 < RARE;
        }
        let queued = spelt(queued, |queued| format!("{:.2}", queued / 1000.0));
        let messages = spelt(messages, |messages| format!("{:.0}", messages / 1000.0));
        Some((holds, format!("queued in a second: {queued}; messages: {messages}")))
    };
    let statement = "Fewer than one message a second, and fewer than 0.1 % of them, have to queue";
    judged("S0-C06a", statement, found())
}

fn short(report: &Report) -> Claim {
    let longest = loads(report, COUNTED, LONGEST);
    let found = longest.map(|longest| {
        let holds = longest.iter().all(|length| *length <= 1.0);
        (holds, format!("longest: {}", spelt(longest, |length| format!("{length:.0}"))))
    });
    let mut claim = judged("S0-C06b", "Where a message queues, it is the only one", found);
    if longest.is_some_and(|longest| longest == [0.0; CASES.len()]) {
        claim.verdict = Verdict::NotObservable;
        claim.evidence = "no message queued, so no queue had a length".to_string();
    }
    claim
}

fn free(report: &Report) -> Claim {
    let found = || {
        let fifo = loads(report, COUNTED, MESSAGES)?;
        let mut worst = 0.0_f64;
        let mut evidence = Vec::new();
        for kernel in ORDERED {
            let messages = loads(report, kernel, MESSAGES)?;
            let fewer: [f64; CASES.len()] =
                std::array::from_fn(|load| (1.0 - messages[load] / fifo[load]) * 100.0);
            worst = fewer.into_iter().fold(worst, f64::max);
            evidence.push(format!("{kernel}: {}", spelt(fewer, |part| format!("{part:+.3} %"))));
        }
        let evidence = format!("fewer messages than {COUNTED}: {}", evidence.join("; "));
        Some((worst < NOTHING, evidence))
    };
    let statement = "Send queues ordered by priority cost nothing: less than 0.1 % of the messages";
    judged("S0-C06c", statement, found())
}

#[cfg(test)]
mod tests {
    use super::super::testing::{report, verdict};
    use super::*;

    /// The paper's figures as they would be with as much work in a second as here, the same for
    /// the kernels with ordered queues.
    fn paper() -> Vec<(&'static str, &'static str, &'static str, u64)> {
        let mut rows = Vec::new();
        let figures: [(&str, [u64; 3]); 7] = [
            (AVOIDED, [983_360, 990_840, 997_960]),
            (DEFERRED_ENQUEUES, [316_300, 356_200, 463_900]),
            (DEFERRED_DEQUEUES, [647_300, 602_600, 603_500]),
            (LOOK_UPS_AVOIDED, [979_320, 988_240, 997_080]),
            (MESSAGES, [16_235_475, 24_947_975, 103_505_075]),
            (QUEUED, [640, 890, 560]),
            (LONGEST, [1, 1, 1]),
        ];
        for kernel in ORDERED.into_iter().chain([COUNTED]) {
            for (metric, values) in figures {
                rows.extend((0..3).map(|load| (kernel, metric, CASES[load], values[load])));
            }
        }
        rows
    }

    /// The verdict on a claim if one figure of `database` were another.
    fn with(id: &str, kernel: &str, metric: &str, value: u64) -> Verdict {
        let mut rows = paper();
        let row = rows.iter_mut().find(|row| (row.0, row.1, row.2) == (kernel, metric, CASES[1]));
        row.expect("there is such a row").3 = value;
        verdict(&all(&report("made up", &rows)), id)
    }

    #[test]
    fn the_papers_figures_reproduce() {
        for claim in all(&report("made up", &paper())) {
            assert_eq!(claim.verdict, Verdict::Reproduced, "{}: {}", claim.id, claim.evidence);
        }
    }

    #[test]
    fn one_load_contradicts() {
        let contradicting = [
            ("S0-C02a", COUNTED, AVOIDED, 979_900),
            ("S0-C02b", COUNTED, DEFERRED_ENQUEUES, 240_000),
            ("S0-C02b", COUNTED, DEFERRED_ENQUEUES, 510_000),
            ("S0-C02c", COUNTED, DEFERRED_DEQUEUES, 500_000),
            ("S0-C02c", COUNTED, DEFERRED_DEQUEUES, 800_000),
            ("S0-C03", COUNTED, LOOK_UPS_AVOIDED, 975_900),
            ("S0-C06a", COUNTED, QUEUED, 1_000),
            ("S0-C06a", COUNTED, MESSAGES, 800_000),
            ("S0-C06b", COUNTED, LONGEST, 2),
            ("S0-C06c", ORDERED[2], MESSAGES, 24_922_000),
        ];
        for (id, kernel, metric, value) in contradicting {
            assert_eq!(with(id, kernel, metric, value), Verdict::Contradicted, "{id}: {value}");
        }
        assert_eq!(with("S0-C06c", ORDERED[0], MESSAGES, 24_924_000), Verdict::Reproduced);
        assert_eq!(with("S0-C02a", ORDERED[0], AVOIDED, 0), Verdict::Reproduced, "another kernel");
    }

    #[test]
    fn queues_that_never_were_have_no_length() {
        let mut rows = paper();
        rows.iter_mut().filter(|row| row.1 == LONGEST || row.1 == QUEUED).for_each(|row| row.3 = 0);
        let claims = all(&report("made up", &rows));
        assert_eq!(verdict(&claims, "S0-C06a"), Verdict::Reproduced);
        assert_eq!(verdict(&claims, "S0-C06b"), Verdict::NotObservable);
    }

    #[test]
    fn without_rows_nothing_is_judged() {
        for claim in all(&report("made up", &[])) {
            assert_eq!(claim.verdict, Verdict::NotObservable, "{}", claim.id);
        }
    }
}
