//! The cause of the first wake-up that is later than a threshold: the program that takes it
//! stops the trace there, and the trace says what the CPU did instead.

use crate::experiment::Setup;
use crate::experiment::traced::traced_to_any_end;
use abi::trace::{Event, Keep};
use anyhow::{Result, bail};
use manifest::System;
use trace::{Blame, Names, Sample, Trace};

/// Experiments whose program can do so; each has a system and a program of its own name.
pub const BLAMED: [&str; 4] = ["latency", "elevator", "start-stop", "ipc-chain"];

/// Bytes of the trace, which keeps the last records.
const TRACE: u64 = 4 << 20;

/// A late wake-up.
pub struct Late {
    /// What the CPU did meanwhile.
    pub blame: Blame,
    /// What led to it.
    pub trace: Trace,
    /// Names of its threads.
    pub names: Names,
}

/// Runs the system of an experiment until a wake-up is later than `threshold` nanoseconds;
/// `None`: none was.
pub fn first_late(
    setup: &Setup,
    experiment: &str,
    kernel: &str,
    threshold: u64,
) -> Result<Option<Late>> {
    first_late_of(setup, experiment, kernel, threshold, &mut |_| {})
}

/// [`first_late`] of a system that was changed.
pub fn first_late_of(
    setup: &Setup,
    experiment: &str,
    kernel: &str,
    threshold: u64,
    change: &mut dyn FnMut(&mut System),
) -> Result<Option<Late>> {
    let traced =
        traced_to_any_end(setup, experiment, kernel, (TRACE, Keep::Last), &mut |system| {
            change(system);
            let sampler = system.domains.iter_mut().find(|domain| domain.program == experiment);
            if let Some(domain) = sampler {
                domain.args.push(("blame".to_string(), threshold.to_string()));
            }
        })?;
    if let Some(failure) = traced.outcome.failure() {
        bail!("system `{experiment}` under kernel `{kernel}`: {failure}");
    }
    let (trace, names) = (traced.traces.all, traced.names);
    let Some(sample) = last_late(&trace) else { return Ok(None) };
    let blame = trace::blame(&trace, &names, &sample);
    Ok(Some(Late { blame, trace, names }))
}

/// The wake-up that the program remarked before it stopped the trace: its remark says by how much
/// the thread was late, and the kernel was left for the thread before it made the remark.
fn last_late(trace: &Trace) -> Option<Sample> {
    let mark = trace.moments.iter().rposition(|moment| moment.event == Event::Mark)?;
    let thread = trace.moments[mark].thread;
    let before = trace.moments[..mark].iter().rev();
    let ran = before.clone().find(|moment| moment.event == Event::Exit && moment.thread == thread);
    let (ran, late) = (ran?.ns, u64::from(trace.moments[mark].argument));
    Some(Sample { programmed: ran.checked_sub(late)?, ran, thread })
}

#[cfg(test)]
mod tests;
