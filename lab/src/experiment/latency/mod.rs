//! Experiments on the latency of wake-ups (S0-35), and `latency` itself: idle and under a storm.
//!
//! A program records the instant that it programmed as BEFORE and the counter on waking as AFTER;
//! its first samples of a case it does not record.

pub mod blame;
#[cfg(test)]
mod cyclictest;
pub mod elevator;
pub mod ipc_chain;
pub mod start_stop;

use super::run::recording;
use super::{Boots, Cpus, Experiment, Measure, Measured, Setup};
use abi::results::Tag;
use anyhow::{Context, Result, bail};
use manifest::System;
use results::{Fact, Recording, Samples, WAKE_UP, WAKE_UP_P99, WAKE_UP_WORST};
use std::collections::BTreeMap;

/// The metrics of all these experiments.
pub const METRICS: [&str; 3] = [WAKE_UP, WAKE_UP_P99, WAKE_UP_WORST];

/// Numbers of threads that are swept.
pub const SWEEP: [u64; 5] = [50, 100, 150, 200, 250];

/// What the storms do, by the numbers from 1 that they record, in the order of `CASES` from 1.
const OPERATIONS: [&[&str]; 4] = [
    &["short calls", "long calls", "send", "signal", "queued calls"],
    &["fault"],
    &[
        "creating threads",
        "destroying an endpoint",
        "changing threads",
        "destroying threads",
        "copying and revoking",
        "timers",
        "creating a domain",
        "creating memory",
        "mapping into a new domain",
        "granting",
        "creating a thread there",
        "destroying a domain",
    ],
    &["creating memory", "mapping", "writing", "protecting", "unmapping", "destroying memory"],
];

/// The point of a record that says which operation a wake-up has interrupted.
const INTERRUPTED: u16 = 2;

/// The kernel that promises short wake-ups: of this one each operation's worst is told.
const PROMISING: &str = "strict-eager";

const CASES: [&str; 6] = ["idle", "messages", "faults", "threads", "memory", "all"];

/// The experiment.
pub static EXPERIMENT: Experiment = Experiment {
    name: "latency",
    about: "How late the highest thread wakes, idle and under a storm in other domains",
    ledger: &["S0-35", "X-12", "X-13"],
    machines: &[Measure::Emulated(measure), Measure::Simulated(measure)],
    cpus: Cpus::One,
    kernels: &manifest::KERNELS,
    metrics: &METRICS,
    cases: &CASES,
    parameters: &[
        ("messages", "short and long calls within and across domains, sends, signals, 8 queued"),
        ("faults", "reads of unmapped memory, answered by another thread"),
        ("threads", "threads, endpoints, timers, capabilities and domains made and ended"),
        ("memory", "32 pages made, mapped, written, protected, unmapped and given back"),
        ("tick and time slice", "200 us"),
        ("distance of the timer", "5 to 105 us, at random"),
        ("samples", "500 a case, after 20 that are not recorded"),
    ],
    notes: &[
        "From the instant that the timer was programmed for to the counter read of the thread \
         that waited for it; nothing is subtracted.",
        "Storms run at one priority, in turns of a time slice; the cases with one kind say where a \
         worst case of `all` is from.",
    ],
    golden: false,
    modelled: false,
    claims: |_| Vec::new(),
};

fn measure(setup: &impl Boots, kernel: &str) -> Result<Measured> {
    let mut measured = Measured::default();
    let taken = wake_ups(setup, "latency", kernel, &|_| {})?;
    let name = |case: u16| CASES.get(usize::from(case)).map(ToString::to_string);
    push(&mut measured.samples, &taken, 1, &name)?;
    if kernel == PROMISING {
        measured.facts = blame(&taken)?;
    }
    Ok(measured)
}

/// The worst wake-up of each operation that a storm was at.
fn blame(recording: &Recording) -> Result<Vec<Fact>> {
    let delays = results::delays(recording, 1)?;
    let mut worst: BTreeMap<(u16, u64), u64> = BTreeMap::new();
    for record in recording.records.iter().filter(|record| record.tag.point == INTERRUPTED) {
        let Tag { case, round, .. } = record.tag;
        let delay = delays.get(&case).and_then(|delays| delays.get(usize::from(round)));
        let worst = worst.entry((case, record.time)).or_default();
        *worst = (*worst).max(*delay.context("a cause without a delay")?);
    }
    let fact = |((case, number), value): ((u16, u64), u64)| {
        let names = OPERATIONS.get(usize::from(case).wrapping_sub(1))?;
        let name = names.get((number as usize).wrapping_sub(1))?;
        Some(Fact {
            name: format!("{PROMISING} {}: {name}", CASES[usize::from(case)]),
            value,
            unit: "instructions".to_string(),
            note: "worst wake-up while the storm was at it".to_string(),
        })
    };
    Ok(worst.into_iter().filter_map(fact).collect())
}

/// Boots a changed system; its recording.
fn wake_ups(
    setup: &Setup,
    system: &str,
    kernel: &str,
    change: &dyn Fn(&mut System),
) -> Result<Recording> {
    recording(
        &setup.boot_changed(system, kernel, &mut |system| change(system))?,
        "recording",
        kernel,
    )
}

/// Adds the wake-ups of a metric of a recording, and of each case its 99th percentile and worst,
/// under the names that its cases have.
fn push(
    samples: &mut Samples,
    recording: &Recording,
    metric: u16,
    name: &dyn Fn(u16) -> Option<String>,
) -> Result<()> {
    let kernel = &recording.kernel;
    for (case, values) in results::delays(recording, metric).context("wake-ups")? {
        let Some(name) = name(case) else {
            bail!("case {case} was recorded, which this laboratory ignores");
        };
        let mut sorted = values.clone();
        sorted.sort_unstable();
        let worst = *sorted.last().context("a case without samples")?;
        samples.push(kernel, WAKE_UP, &name, values);
        samples.push(
            kernel,
            WAKE_UP_P99,
            &name,
            vec![sorted[(sorted.len() * 99).div_ceil(100) - 1]],
        );
        samples.push(kernel, WAKE_UP_WORST, &name, vec![worst]);
    }
    Ok(())
}

/// The name of a case with a number of threads, in a form of the experiment.
fn threads(form: &str) -> impl Fn(u16) -> Option<String> {
    move |case| {
        let threads = format!("threads={case}");
        let known = SWEEP.contains(&u64::from(case));
        known.then(|| if form.is_empty() { threads } else { format!("{form} {threads}") })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use results::Record;

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
        push(&mut samples, &recording, 1, &threads("call")).unwrap();
        let of = |metric: &str| {
            let series = samples.series.iter().find(|series| series.metric == metric).unwrap();
            assert_eq!(series.case, "call threads=50");
            series.values.clone()
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
}
