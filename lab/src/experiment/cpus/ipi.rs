//! `ipi-latency`: a wake-up whose interrupt comes on one CPU and whose thread is on another one,
//! which tests of local timers never see (S2C-11).

use super::super::run::push_spans;
use super::super::{Cpus, Emulated, Experiment, Measure, Measured, claims};
use super::{CHOICE, NOTE, cross, kicks};
use abi::results::Tag;
use abi::trace::{Event, entry};
use anyhow::{Context, Result, ensure};
use trace::{Entry, Moment, Traces};

/// The experiment.
pub static EXPERIMENT: Experiment = Experiment {
    name: "ipi-latency",
    about: "Wake-ups by an interrupt on the thread's own CPU, and by one on another CPU",
    ledger: &["S2C-11", "S2C-C09"],
    machines: &[Measure::Emulated(measure)],
    cpus: Cpus::OneOf(&CHOICE),
    kernels: &["fastpath", "direct-eager", "strict-lazy", "strict-eager"],
    metrics: &[results::WAKE_UP, IPI, KICK],
    cases: &[],
    parameters: &[("CPUs", "4, all idle"), ("timer", "on the first CPU"), ("samples", "100")],
    notes: &[
        NOTE,
        "wake-up: from the instant that a timer of the first CPU was set to until the thread that \
         waits for its signal has the counter; every CPU idles before.",
        "ipi: the part of `another CPU` between the CPUs alone, from the trace: from where the \
         first CPU sends the interrupt until the other one enters the kernel, less what writing \
         records took. The first CPU's way back to its idle loop is in it.",
        "kick: the part of it on the other CPU alone, without a timer: from where a thread that \
         has signalled pauses until the woken one has the counter. The CPU idled, or ran a lower \
         thread.",
    ],
    golden: true,
    modelled: false,
    claims: claims::ipi_latency::all,
};

/// Where the thread is.
const CASES: [&str; 2] = ["same CPU", "another CPU"];
/// From the interrupt's sending until the other CPU has entered the kernel.
const IPI: &str = "ipi";
/// Its only case.
const SENT: &str = "sent to entered";
/// From behind a signal until the thread that it wakes on another CPU has the counter.
pub const KICK: &str = "kick";
/// That CPU idled.
pub const IDLE: &str = "idle";
/// What the other CPU did.
const BEFORE: [&str; 2] = [IDLE, "busy"];
/// Rounds that are traced.
const ROUNDS: [(&str, u64); 2] = [("warmup", 8), ("rounds", 50)];
/// The numbers of both in recordings.
const WAKE_UPS: u16 = 3;
const KICKS: u16 = 8;

fn measure(setup: &Emulated, kernel: &str) -> Result<Measured> {
    let mut measured = Measured::default();
    let recorded = cross(setup, kernel, "ipi")?;
    let mut delays = results::delays(&recorded, WAKE_UPS)?;
    for (number, case) in (0..).zip(CASES) {
        let delays = delays.remove(&number).context("the program lacks a case")?;
        measured.samples.push(kernel, results::WAKE_UP, case, delays);
    }
    let kicks = results::spans(&recorded, Tag::BEFORE, &recorded, Tag::AFTER, KICKS)?;
    push_spans(&mut measured, kernel, KICK, &BEFORE, kicks)?;
    let traces = kicks::traced(setup, kernel, "ipi", ROUNDS)?;
    let sent = sent_to_entered(&traces);
    ensure!(!sent.is_empty(), "no timer of the first CPU has woken a thread on another");
    measured.samples.push(kernel, IPI, SENT, sent);
    Ok(measured)
}

/// Of each timer interrupt on the first CPU that interrupts another one: counter steps from there
/// until that has entered the kernel, without those that records took.
fn sent_to_entered(traces: &Traces) -> Vec<u64> {
    let first = &traces.each[0];
    let timers = trace::Sections::of(first).whole.into_iter();
    let timers = timers.filter(|section| section.entry == Entry::Timer);
    let sent = timers.flat_map(|section| section.moments(first).iter());
    let sent = sent.filter(|moment| moment.event == Event::Kick);
    sent.filter_map(|kick| {
        let other = traces.each.iter().find(|trace| u32::from(trace.cpu) == kick.argument)?;
        let entered = |m: &&Moment| {
            (m.event, m.argument) == (Event::Enter, entry::KICK) && m.steps >= kick.steps
        };
        let entered = other.moments.iter().find(entered)?;
        let between = kick.steps..entered.steps;
        let records = traces.all.moments.iter().filter(|m| between.contains(&m.steps));
        let costs = records.map(|moment| moment.cost);
        Some(costs.fold(entered.steps - kick.steps, u64::saturating_sub))
    })
    .collect()
}
