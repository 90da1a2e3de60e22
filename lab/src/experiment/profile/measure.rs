use super::{
    ANSWERED, BY_LINE, BY_SYMBOL, CASES, COMBINED, DOMAIN, KERNEL, MESSAGE, PERIODS, SAMPLES,
};
use crate::experiment::claim::percent_above;
use crate::experiment::measured::fact;
use crate::experiment::setup::Sampled;
use crate::experiment::{Emulated, Hardware, Measured, native_series};
use crate::machine::Sampling;
use crate::machine::native::Messages;
use crate::profile::Part;
use anyhow::{Context, Result, ensure};
use results::{Fact, Limit, Value};
use std::collections::BTreeMap;

const SYSTEM: &str = "udpserver";
/// The unit of shares.
const SHARE: &str = "millionths of samples";

pub fn measure(setup: &Emulated, kernel: &str) -> Result<Measured> {
    let mut measured = Measured::default();
    let mut all = BTreeMap::new();
    for period in setup.asked.numbers("period").unwrap_or(PERIODS.to_vec()) {
        let case = &case(period);
        let run = setup.sample(SYSTEM, kernel, sampling(setup, period))?;
        measured.extend(shares(&run, kernel, case));
        measured.units.insert(ANSWERED.to_string(), "round trips".to_string());
        all.insert(period, answered(&run)?);
        measured.samples.push(kernel, ANSWERED, case, vec![all[&period]]);
        if period == PERIODS[0] {
            measured.facts.extend(costs(&run, kernel)?);
        }
    }
    if let [Some(fine), Some(coarse)] = PERIODS.map(|period| all.get(&period)) {
        measured.limits.push(intrusion(kernel, *fine, *coarse));
    }
    Ok(measured)
}

/// What sampling 64 times as often takes of a load's work, by the round trips at both periods.
pub fn intrusion(kernel: &str, fine: u64, coarse: u64) -> Limit {
    let name = format!("{kernel} {ANSWERED}, {} above {}", CASES[1], CASES[0]);
    Limit::most(name, percent_above(coarse as f64, fine as f64), 1.0, "%")
}

/// The shares alone, of a user's system.
pub fn of_user_system(setup: &Emulated, kernel: &str) -> Result<Measured> {
    let mut measured = Measured::default();
    for period in setup.asked.numbers("period").unwrap_or(vec![PERIODS[0]]) {
        let run = setup.sample(setup.user_system()?, kernel, sampling(setup, period))?;
        ensure!(run.profile.all > 0, "the run ended before the first sample: shorten the period");
        measured.extend(shares(&run, kernel, &case(period)));
        measured.units.insert(DOMAIN.to_string(), SHARE.to_string());
        for row in run.profile.by_domain() {
            let case = format!("{} {}", row.domain, case(period));
            measured.samples.push(kernel, DOMAIN, &case, vec![millionths(row.share.percent)]);
        }
    }
    Ok(measured)
}

fn sampling(setup: &Emulated, period: u64) -> Sampling {
    Sampling { period, seed: setup.asked.seed }
}

fn case(period: u64) -> String {
    format!("period={}", Value::Time(period))
}

/// What part of a run fell on what, and how many samples say so.
fn shares(run: &Sampled, kernel: &str, case: &str) -> Measured {
    let mut measured = Measured::default();
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
        measured.units.insert(metric.to_string(), SHARE.to_string());
        measured.samples.push(kernel, metric, case, vec![millionths(share.percent)]);
    }
    let error = millionths(combined.error);
    let name = |what: &str| format!("{kernel} {case}: {what}");
    measured.facts.extend([
        fact(name(SAMPLES), profile.all, "", "one in each block"),
        fact(name("standard error"), error, "millionths", "of the combined share"),
    ]);
    measured
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
pub fn on_host(setup: &Hardware, kernel: &str) -> Result<Measured> {
    let mut measured = Measured::default();
    let seed = setup.asked.seed.to_string();
    let options = ["mix", "--kernel", kernel, "--messages", "40000", "--rounds", "20"];
    let options = [&options[..], &["--seed", &seed]].concat();
    measured.unit = Some(native_series::UNIT.to_string());
    for _ in 0..native_series::STARTS {
        let host = setup.run::<Vec<Messages>>(&options)?;
        measured.on_host(&host);
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
    let (each, error) = round_trip(run)?;
    let sample = run.samples.spent as f64 / run.samples.taken.len().max(1) as f64;
    let note = format!("all kernel time, by round trips; standard error {error:.0}");
    let cost = |what: &str, value: f64, note: &str| {
        fact(format!("{kernel} {what}"), value.round() as u64, "instructions", note)
    };
    Ok([
        cost("kernel in a round trip, by samples", each, &note),
        cost("cost of a sample", sample, "without its entry and exit"),
    ])
}
