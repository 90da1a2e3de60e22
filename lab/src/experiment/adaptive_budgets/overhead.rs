//! What scheduling takes, and adaptation of that (S2B-E03), by the kernel's trace.

use super::{ADAPTATION, BUDGETS, CALLS, EXPERIMENT, REPORTING, SCHEDULING, measure};
use crate::experiment::{Measured, Setup};
use crate::image::Extra;
use abi::call::Call;
use abi::trace::Keep;
use anyhow::{Context, Result, ensure};
use trace::{Entry, Sections, Traces, cpus};

/// How long the run is, in milliseconds.
const TIME: u64 = 5_000;
/// Bytes of its trace: two million records.
const ROOM: u64 = 32 << 20;
/// Parts of a whole.
const MILLION: u64 = 1_000_000;

/// Adds what a run with adaptation takes, in millionths of its time.
pub fn measure(setup: &Setup, kernel: &str, measured: &mut Measured) -> Result<()> {
    let mut memory = String::new();
    let budgets = BUDGETS[2];
    let outcome = setup.boot_with(Some(Extra::Trace), EXPERIMENT.name, kernel, &mut |system| {
        measure::set_up(system, budgets, (TIME, setup.asked.seed), None);
        memory = system.add_trace(ROOM, Keep::First);
    })?;
    let bytes = outcome.memories.get(&memory).context("the run left no trace")?;
    let traces = Traces::decode(bytes)?;
    let lost = traces.lost();
    ensure!(lost == 0, "{lost} events did not fit into the trace");
    let cpu = *cpus(&traces).first().context("the trace has no CPU")?;
    let trace = traces.each.first().context("the trace has no CPU")?;
    let sections = Sections::of(trace).whole;
    let within = |calls: &[Call]| -> u64 {
        let is_one = |entry| calls.iter().any(|call| entry == Entry::Call(*call as u8));
        let own = sections.iter().filter(|section| is_one(section.entry));
        own.map(|it| trace.moments[it.last].ns - trace.moments[it.first].ns).sum()
    };
    let looks = within(&[Call::Clock]);
    // Nobody else makes these.
    let calls = within(&[Call::ReservationInspect, Call::ReservationSet]);
    let controller = measure::had(&outcome.console, "controller")?.service * 1_000;
    ensure!(cpu.span > 0, "the trace has no time");
    let parts = |time: u64| time * MILLION / cpu.span;
    // The controller's own kernel entries count twice: what is told is not below the truth.
    measured.samples.push(kernel, SCHEDULING, budgets, vec![parts(cpu.kernel + controller)]);
    measured.samples.push(kernel, ADAPTATION, budgets, vec![parts(controller)]);
    measured.samples.push(kernel, CALLS, budgets, vec![parts(calls)]);
    measured.samples.push(kernel, REPORTING, budgets, vec![parts(looks)]);
    Ok(())
}
