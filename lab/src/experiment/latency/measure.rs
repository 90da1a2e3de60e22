//! A program records the instant that it programmed as BEFORE and the counter on waking as AFTER;
//! its first samples of a case it does not record.

use super::{CASES, MOST, SWEEP, tails};
use crate::experiment::measured::{fact, recording};
use crate::experiment::traced::{ROOM, Traced, traced};
use crate::experiment::{Boots, Measured, Setup};
use crate::systems::set;
use abi::results::Tag;
use anyhow::{Context, Result, bail, ensure};
use manifest::System;
use results::{Fact, Recording, Samples, WAKE_UP, WAKE_UP_P99, WAKE_UP_WORST};
use std::collections::BTreeMap;

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
pub const INTERRUPTED: u16 = 2;

/// The kernel that promises short wake-ups: of this one each operation's worst is told.
pub const PROMISING: &str = "strict-eager";

pub fn measure(setup: &impl Boots, kernel: &str) -> Result<Measured> {
    let mut measured = Measured::default();
    let taken = recording(&setup.boot("latency", kernel)?, "recording", kernel)?;
    let name = |case: u16| CASES.get(usize::from(case)).map(ToString::to_string);
    push(&mut measured.samples, &taken, 1, &name)?;
    if kernel == PROMISING {
        measured.facts = blame(&taken)?;
    }
    Ok(measured)
}

/// The wake-ups of each domain of a user's system, by its trace.
pub fn of_user_system(setup: &impl Boots, kernel: &str) -> Result<Measured> {
    let mut measured = Measured::default();
    let Traced { traces, names, .. } =
        traced(setup, setup.user_system()?, kernel, ROOM, &mut |_| {})?;
    let mut domains: BTreeMap<u32, Vec<u64>> = BTreeMap::new();
    for wake_up in trace::wakeups(&traces) {
        domains.entry(wake_up.domain).or_default().push(wake_up.latency());
    }
    ensure!(!domains.is_empty(), "no thread of the system was woken by a timer or a timeout");
    for (domain, values) in domains {
        push_case(&mut measured.samples, kernel, &names.domain(domain), values)?;
    }
    Ok(measured)
}

/// The worst wake-up of each operation that a storm was at.
pub fn blame(recording: &Recording) -> Result<Vec<Fact>> {
    let delays = results::delays(recording, 1)?;
    let mut worst: BTreeMap<(u16, u64), u64> = BTreeMap::new();
    for record in recording.records.iter().filter(|record| record.tag.point == INTERRUPTED) {
        let Tag { case, round, .. } = record.tag;
        let delay = delays.get(&case).and_then(|delays| delays.get(usize::from(round)));
        let worst = worst.entry((case, record.time)).or_default();
        *worst = (*worst).max(*delay.context("a cause without a delay")?);
    }
    let told = |((case, number), value): ((u16, u64), u64)| {
        let names = OPERATIONS.get(usize::from(case).wrapping_sub(1))?;
        let name = names.get((number as usize).wrapping_sub(1))?;
        let name = format!("{PROMISING} {}: {name}", CASES[usize::from(case)]);
        Some(fact(name, value, "instructions", "worst wake-up while the storm was at it"))
    };
    Ok(worst.into_iter().filter_map(told).collect())
}

/// A run of a system whose program sweeps numbers of threads.
pub struct Sweep {
    /// The system.
    pub system: &'static str,
    /// Whether it sweeps all numbers, or has the greatest alone.
    pub sweeps: bool,
    /// What else is changed in it.
    pub change: fn(&mut System),
    /// The forms that it measures, as the program numbers them.
    pub forms: &'static [(u16, &'static str)],
}

/// Measures sweeps one after the other.
pub fn sweep(setup: &Setup, kernel: &str, sweeps: &[Sweep]) -> Result<Measured> {
    let mut measured = Measured::default();
    let numbers = setup.asked.numbers("threads").unwrap_or(SWEEP.to_vec());
    let most = numbers.iter().max().unwrap_or(&MOST);
    for sweep in sweeps {
        let outcome = setup.boot_changed(sweep.system, kernel, &mut |system| {
            (sweep.change)(system);
            if !sweep.sweeps {
                set(system, "sweep", &most.to_string());
            }
        })?;
        let taken = recording(&outcome, "recording", kernel)?;
        for (metric, form) in sweep.forms {
            let name = |case: u16| {
                let known = numbers.contains(&u64::from(case));
                known.then(|| tails::case(form, case.into()))
            };
            push(&mut measured.samples, &taken, *metric, &name)?;
        }
    }
    Ok(measured)
}

/// Adds the wake-ups of a metric of a recording, and of each case its 99th percentile and worst,
/// under the names that its cases have.
pub fn push(
    samples: &mut Samples,
    recording: &Recording,
    metric: u16,
    name: &dyn Fn(u16) -> Option<String>,
) -> Result<()> {
    let kernel = &recording.kernel;
    for (case, values) in results::delays(recording, metric).context("wake-ups")? {
        let Some(name) = name(case) else {
            bail!("case {case} was recorded, which is not known here");
        };
        push_case(samples, kernel, &name, values)?;
    }
    Ok(())
}

/// Adds the wake-ups of a case, their 99th percentile and the worst.
fn push_case(samples: &mut Samples, kernel: &str, name: &str, values: Vec<u64>) -> Result<()> {
    let worst = *values.iter().max().context("a case without samples")?;
    let p99 = results::p99(&values).context("a case without samples")?;
    samples.push(kernel, WAKE_UP, name, values);
    samples.push(kernel, WAKE_UP_P99, name, vec![p99]);
    samples.push(kernel, WAKE_UP_WORST, name, vec![worst]);
    Ok(())
}
