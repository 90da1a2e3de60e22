//! `ipi-latency`: a wake-up whose interrupt comes on one CPU and whose thread is on another one,
//! which tests of local timers never see (S2C-11).

use super::super::run::push_spans;
use super::super::{Cpus, Experiment, Measured, Setup, claims};
use super::{CHOICE, NOTE, cross};
use abi::results::Tag;
use anyhow::{Context, Result};

/// The experiment.
pub static EXPERIMENT: Experiment = Experiment {
    name: "ipi-latency",
    about: "Wake-ups by an interrupt on the thread's own CPU, and by one on another CPU",
    ledger: &["S2C-11", "S2C-C09"],
    machines: &["qemu-x86_64"],
    cpus: Cpus::OneOf(&CHOICE),
    kernels: &manifest::KERNELS,
    metrics: &[results::WAKE_UP, KICK],
    cases: &[],
    parameters: &[("CPUs", "4, all idle"), ("timer", "on the first CPU"), ("samples", "200")],
    notes: &[
        NOTE,
        "wake-up: from the instant that a timer of the first CPU was set to until the thread that \
         waits for its signal has the counter; every CPU idles before.",
        "kick: the part of it on the other CPU alone, without a timer: from where a thread that \
         has signalled pauses until the woken one has the counter. The CPU idled, or ran a lower \
         thread.",
    ],
    golden: true,
    modelled: false,
    claims: claims::ipi_latency::all,
    measure,
};

/// Where the thread is.
const CASES: [&str; 2] = ["same CPU", "another CPU"];
const KICK: &str = "kick";
/// What the other CPU did.
const BEFORE: [&str; 2] = ["idle", "busy"];
/// The numbers of both in recordings.
const WAKE_UPS: u16 = 3;
const KICKS: u16 = 8;

fn measure(setup: &Setup, kernel: &str) -> Result<Measured> {
    let mut measured = Measured::default();
    let recorded = cross(setup, kernel, "ipi")?;
    let mut delays = results::delays(&recorded, WAKE_UPS)?;
    for (number, case) in (0..).zip(CASES) {
        let delays = delays.remove(&number).context("the program lacks a case")?;
        measured.samples.push(kernel, results::WAKE_UP, case, delays);
    }
    let kicks = results::spans(&recorded, Tag::BEFORE, &recorded, Tag::AFTER, KICKS)?;
    push_spans(&mut measured, kernel, KICK, &BEFORE, kicks)?;
    Ok(measured)
}
