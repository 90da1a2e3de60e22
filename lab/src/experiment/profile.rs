//! `profile`: how much of a client/server load is messages, and how much scheduler (S0-42,
//! S0-43, S0-E11, S0-E12), sampled in blocks of 25 us and, as a check, of 1600 us (S0-C13).
//!
//! A share is a row in millionths of all samples; the row's one sample is the whole run. On the
//! native machine, where no samples are taken, it is what a message takes in such a load (S0-C14).

use super::setup::Sampled;
use super::{Cpus, Emulated, Experiment, Hardware, Measure, Measured, claims, native_series};
use crate::machine::Sampling;
use crate::machine::native::Messages;
use crate::profile::Part;
use anyhow::{Context, Result};
use results::Fact;

/// The experiment.
pub static EXPERIMENT: Experiment = Experiment {
    name: "profile",
    about: "Shares of messages and scheduler in a client/server load, by sampling",
    ledger: &["S0-42", "S0-43", "S0-E11", "S0-E12", "S0-C13", "S0-C14", "S0-C15"],
    machines: &[Measure::Emulated(measure), Measure::Hardware(on_host)],
    cpus: Cpus::One,
    kernels: &manifest::KERNELS,
    metrics: &[
        BY_LINE[0],
        BY_LINE[1],
        COMBINED,
        BY_SYMBOL[0],
        BY_SYMBOL[1],
        KERNEL,
        ANSWERED,
        MESSAGE,
    ],
    cases: &[CASES[0], CASES[1], PING_PONG, "5 clients", "5 clients compute", MIX],
    parameters: &[
        ("system", "udpserver: 9,311 units of work between messages, 5 clients, 2 s"),
        ("native", "a server and 1 or 5 clients, 30 % of whose work is copying within 1 MiB each"),
        ("samples", "one at a random instant in each block of 25 us, and of 1600 us"),
    ],
    notes: &[
        "Shares are millionths of all samples of a run. Their standard error is stated for each \
         kernel; figures closer than twice that do not differ.",
        "The compiler draws a message path into one function, so the source file of each \
         instruction decides whether it is messages or scheduler (lab/src/profile/part.rs); \
         `by-symbol` are the same where the function decides, as in the thesis.",
        "On native a row is what a message takes, in hundredths of ticks: means of 100, each timed \
         from its sender's system call to its receiver's return.",
    ],
    golden: false,
    modelled: false,
    claims: claims::profile::all,
};

/// The shares of messages and of the scheduler, by source line.
pub const BY_LINE: [&str; 2] = ["messages", "scheduler"];
/// The same by symbols.
pub const BY_SYMBOL: [&str; 2] = ["messages-by-symbol", "scheduler-by-symbol"];
/// Both.
pub const COMBINED: &str = "combined";
/// Everything in the kernel.
pub const KERNEL: &str = "kernel";
/// Round trips of the load, in a run.
pub const ANSWERED: &str = "round-trips";
/// What a message takes in a load, on the native machine.
pub const MESSAGE: &str = "message";
/// The case of one client and a server that do nothing else.
pub const PING_PONG: &str = "ping-pong";
/// The case of programs that use memory between messages.
pub const MIX: &str = "5 clients compute and copy";
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
            (BY_LINE[0], profile.parts_share(&[Part::Ipc])),
            (BY_LINE[1], profile.parts_share(&[Part::Scheduler])),
            (COMBINED, combined.clone()),
            (BY_SYMBOL[0], profile.symbols_share(Part::Ipc)),
            (BY_SYMBOL[1], profile.symbols_share(Part::Scheduler)),
            (KERNEL, profile.of_domain("kernel")),
        ];
        for (metric, share) in shares {
            measured.samples.push(kernel, metric, case, vec![millionths(share.percent)]);
            measured.units.insert(metric.to_string(), "millionths of samples".to_string());
        }
        measured.samples.push(kernel, ANSWERED, case, vec![answered(&run)?]);
        measured.units.insert(ANSWERED.to_string(), "round trips".to_string());
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
    let answered = answered(run)?;
    let samples = &run.samples;
    let time = (samples.taken.len() as u64 * samples.period).saturating_sub(samples.spent);
    let share = run.profile.of_domain("kernel");
    let each = time as f64 / answered as f64 / 100.0;
    Ok((each * share.percent, each * share.error))
}

/// Requests that the server has answered.
fn answered(run: &Sampled) -> Result<u64> {
    let totals = run.memories.get("totals").context("the system has no memory `totals`")?;
    let answered = totals.first_chunk().map(|word| u64::from_le_bytes(*word));
    answered.filter(|answered| *answered > 0).context("nothing was answered")
}

/// What messages take between programs that compute and copy, in hundredths of ticks.
fn on_host(setup: &Hardware, kernel: &str) -> Result<Measured> {
    let mut measured = Measured::default();
    let seed = setup.asked.seed.to_string();
    let options = ["mix", "--kernel", kernel, "--messages", "40000", "--rounds", "20"];
    let options = [&options[..], &["--seed", &seed]].concat();
    for _ in 0..native_series::STARTS {
        let host = setup.run::<Vec<Messages>>(&options)?;
        native_series::describe(&mut measured, &host.processor, host.hertz);
        for messages in &host.found {
            let hundredths = |ticks: &u64| ticks * 100 / messages.messages_in_batch;
            let values = messages.batches.iter().map(hundredths).collect();
            measured.samples.join(kernel, MESSAGE, &messages.case, values);
        }
    }
    Ok(measured)
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
