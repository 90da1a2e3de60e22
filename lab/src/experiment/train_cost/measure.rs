use super::{EXPERIMENT, FORMS, LOADS, MESSAGE, ROUND_TRIP, TIMED, case, components, loaded};
use crate::experiment::measured::{CALL_REPLY, fact, recording, round_trips, spans};
use crate::experiment::{Emulated, Measured, Setup, Simulated};
use crate::systems::set;
use anyhow::{Context, Result, ensure};

/// Metrics of the recording: there and back, there, back.
const WHOLE: u16 = 1;
const HALVES: [u16; 2] = [2, 3];
/// The case of ping-pong in which four words travel.
const FOUR_WORDS: u16 = 1;
/// Calls in each form, usually; of the last two beside load this part of them, since each waits
/// for time slices.
const SAMPLES: u64 = 3_000;
const PART: u64 = 10;
/// The priority of a load that is less urgent than all others.
const BELOW: u8 = 50;

pub fn emulated(setup: &Emulated, kernel: &str) -> Result<Measured> {
    let mut measured = round_trips_of_forms(setup, kernel)?;
    for (half, mut spans) in CALL_REPLY.into_iter().zip(round_trips_of_messages(setup, kernel)?) {
        let own = spans.cases.remove(&FOUR_WORDS).context("ping-pong has no case of four words")?;
        measured.samples.push(kernel, half, &case(MESSAGE), own);
    }
    components::measure(setup, kernel, &mut measured)?;
    let own = pair(&measured, kernel, FORMS[0])?;
    for (form, what) in [(FORMS[1], "typed"), (MESSAGE, "bare")] {
        let percent = 100.0 * own / pair(&measured, kernel, form)?;
        let name = format!("{kernel} train by {what} call");
        let note = "call and return together, the server's code left out";
        measured.facts.push(fact(name, percent.round() as u64, "percent", note));
    }
    Ok(measured)
}

pub fn simulated(setup: &Simulated, kernel: &str) -> Result<Measured> {
    let mut measured = round_trips_of_forms(setup, kernel)?;
    let note = "Components are not observable in the simulation, which has a price for a system \
                call as a whole, and none for what a train does in it.";
    measured.notes.push(note.to_string());
    Ok(measured)
}

fn round_trips_of_messages(setup: &Setup, kernel: &str) -> Result<[results::Spans; 2]> {
    round_trips(&setup.boot("ping-across", kernel)?, kernel)
}

/// All forms, beside nothing and beside the load; the timed ones beside nothing alone.
fn round_trips_of_forms(setup: &Setup, kernel: &str) -> Result<Measured> {
    let mut measured = Measured::default();
    let samples = setup.asked.number("samples", SAMPLES);
    for load in LOADS {
        let beside = load != LOADS[0];
        let waits = load == LOADS[1];
        let plain = if waits { samples.div_ceil(PART) } else { samples };
        let outcome = setup.boot_changed(EXPERIMENT.name, kernel, &mut |system| {
            set(system, "plain", &plain.to_string());
            if beside {
                set(system, "after", "0");
            }
            let hog = system.domains.iter_mut().find(|domain| domain.name == LOADS[1]);
            hog.into_iter().filter(|_| !waits).for_each(|hog| hog.priority = BELOW);
        })?;
        let recording = recording(&outcome, "recording", kernel)?;
        let whole = spans(&recording, WHOLE)?;
        ensure!(whole.cases.len() == FORMS.len(), "{} forms were recorded", whole.cases.len());
        measured.push(kernel, ROUND_TRIP, &FORMS.map(|form| loaded(form, load)), whole)?;
        for (half, metric) in HALVES.into_iter().zip(CALL_REPLY).filter(|_| !beside) {
            let cases: Vec<String> = FORMS[..TIMED].iter().copied().map(case).collect();
            measured.push(kernel, metric, &cases, spans(&recording, half)?)?;
        }
    }
    Ok(measured)
}

/// The medians of both halves of a form together.
fn pair(measured: &Measured, kernel: &str, form: &str) -> Result<f64> {
    let [call, reply] = CALL_REPLY.map(|half| measured.median(kernel, half, &case(form)));
    Ok(call? + reply?)
}
