//! What scheduling takes, and adaptation of that (S2B-E03), by the kernel's trace.

use super::{ADAPTATION, BUDGETS, CALLS, EXPERIMENT, REPORTING, SCHEDULING, measure};
use crate::experiment::traced::{ROOM, Traced, traced};
use crate::experiment::{Measured, Setup};
use abi::call::Call;
use anyhow::{Context, Result, ensure};
use trace::{Entry, Sections, cpus};

/// How long the run is, in milliseconds.
const TIME: u64 = 5_000;
/// Parts of a whole.
const MILLION: u64 = 1_000_000;

/// Adds what a run with adaptation takes, in millionths of its time.
pub fn measure(setup: &Setup, kernel: &str, measured: &mut Measured) -> Result<()> {
    let budgets = BUDGETS[2];
    let Traced { outcome, traces, .. } =
        traced(setup, EXPERIMENT.name, kernel, ROOM, &mut |system| {
            measure::set_up(system, budgets, (TIME, setup.asked.seed), None);
        })?;
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
