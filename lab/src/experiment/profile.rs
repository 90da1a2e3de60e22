//! `profile`: how much of a client/server load is messages, and how much scheduler (S0-42,
//! S0-43, S0-E11, S0-E12), sampled in blocks of 25 us and, as a check, of 1600 us (S0-C13).
//!
//! A share is a row in millionths of all samples; the row's one sample is the whole run.

use super::setup::Sampled;
use super::{Cpus, Emulated, Experiment, Measure, Measured, claims};
use crate::machine::Sampling;
use crate::profile::Part;
use anyhow::{Context, Result};
use results::Fact;

/// The experiment.
pub static EXPERIMENT: Experiment = Experiment {
    name: "profile",
    about: "Shares of messages and scheduler in a client/server load, by sampling",
    ledger: &["S0-42", "S0-43", "S0-E11", "S0-E12", "S0-C13", "S0-C14", "S0-C15"],
    machines: &[Measure::Emulated(measure)],
    cpus: Cpus::One,
    kernels: &manifest::KERNELS,
    metrics: &[IPC, SCHEDULER, COMBINED, KERNEL],
    cases: &CASES,
    parameters: &[
        ("system", "udpserver: 9,311 units of work between messages, 5 clients, 2 s"),
        ("samples", "one at a random instant in each block of 25 us, and of 1600 us"),
    ],
    notes: &[
        "Shares are millionths of all samples of a run. Their standard error is stated for each \
         kernel; figures closer than twice that do not differ.",
        "The compiler draws a message path into one function, so the source file of each \
         instruction decides whether it is messages or scheduler (lab/src/profile/part.rs).",
    ],
    golden: false,
    modelled: false,
    claims: claims::profile::all,
};

/// The share of messages.
pub const IPC: &str = "messages";
/// The share of the scheduler.
pub const SCHEDULER: &str = "scheduler";
/// Both.
pub const COMBINED: &str = "combined";
/// Everything in the kernel.
pub const KERNEL: &str = "kernel";
/// Samples of a run, as a fact.
pub const SAMPLES: &str = "samples";

/// Sampling periods.
pub const CASES: [&str; 2] = ["period=25us", "period=1600us"];
const PERIODS: [u64; 2] = [25_000, 1_600_000];

const SYSTEM: &str = "udpserver";

fn measure(setup: &Emulated, kernel: &str) -> Result<Measured> {
    let mut measured = Measured::default();
    for (case, period) in CASES.into_iter().zip(PERIODS) {
        let sampling = Sampling { period, seed: setup.asked.seed };
        let run = setup.sample(SYSTEM, kernel, sampling)?;
        let profile = &run.profile;
        let combined = profile.parts_share(&[Part::Ipc, Part::Scheduler]);
        let shares = [
            (IPC, profile.parts_share(&[Part::Ipc])),
            (SCHEDULER, profile.parts_share(&[Part::Scheduler])),
            (COMBINED, combined.clone()),
            (KERNEL, profile.of_domain("kernel")),
        ];
        for (metric, share) in shares {
            measured.samples.push(kernel, metric, case, vec![millionths(share.percent)]);
        }
        let error = millionths(combined.error);
        let fact = |name: &str, value: u64, unit: &str, note: &str| Fact {
            name: format!("{kernel} {case}: {name}"),
            value,
            unit: unit.to_string(),
            note: note.to_string(),
        };
        measured.facts.extend([
            fact(SAMPLES, profile.all, "", "one in each block"),
            fact("standard error", error, "millionths", "of the combined share"),
        ]);
        if case == CASES[0] {
            measured.facts.extend(costs(&run, kernel)?);
        }
    }
    Ok(measured)
}

/// Millionths of a whole, from percent.
fn millionths(percent: f64) -> u64 {
    (percent * 1e4).round() as u64
}

/// Kernel instructions of a round trip in the load, by samples, and their standard error.
pub fn round_trip_by_samples(
    setup: &Emulated,
    kernel: &str,
    sampling: Sampling,
) -> Result<(f64, f64)> {
    round_trip(&setup.sample(SYSTEM, kernel, sampling)?)
}

/// All kernel time of a run, divided by its round trips.
fn round_trip(run: &Sampled) -> Result<(f64, f64)> {
    let totals = run.memories.get("totals").context("the system has no memory `totals`")?;
    let answered = totals.first_chunk().map(|word| u64::from_le_bytes(*word));
    let answered = answered.filter(|answered| *answered > 0).context("nothing was answered")?;
    let samples = &run.samples;
    let time = (samples.taken.len() as u64 * samples.period).saturating_sub(samples.spent);
    let share = run.profile.of_domain("kernel");
    let each = time as f64 / answered as f64 / 100.0;
    Ok((each * share.percent, each * share.error))
}

/// What a sampled run says about single operations.
fn costs(run: &Sampled, kernel: &str) -> Result<[Fact; 2]> {
    let fact = |what: &str, value: f64, note: &str| Fact {
        name: format!("{kernel} {what}"),
        value: value.round() as u64,
        unit: "instructions".to_string(),
        note: note.to_string(),
    };
    let (each, error) = round_trip(run)?;
    let sample = run.samples.spent as f64 / run.samples.taken.len().max(1) as f64;
    let note = format!("all kernel time, by round trips; standard error {error:.0}");
    Ok([
        fact("kernel in a round trip, by samples", each, &note),
        fact("cost of a sample", sample, "without its entry and exit"),
    ])
}
