//! Runs with their traces.

use super::Setup;
use crate::commands::trace::names;
use crate::machine::Outcome;
use abi::trace::Keep;
use anyhow::{Context, Result, bail, ensure};
use manifest::System;
use trace::{Names, Traces};

/// Bytes of the trace of a usual system: two million records.
pub const ROOM: u64 = 32 << 20;

/// A run with its trace.
pub struct Traced {
    /// How the run went.
    pub outcome: Outcome,
    /// What the kernel did.
    pub traces: Traces,
    /// The names of the system's objects.
    pub names: Names,
}

/// A run of a system that was changed, with the trace of all of it; an error if that takes more
/// than so many bytes, or the run ends otherwise than well.
pub fn traced(
    setup: &Setup,
    system: &str,
    kernel: &str,
    room: u64,
    change: &mut dyn FnMut(&mut System),
) -> Result<Traced> {
    let traced = traced_to_any_end(setup, system, kernel, (room, Keep::First), change)?;
    match traced.outcome.failure() {
        Some(failure) => bail!("system `{system}` under kernel `{kernel}`: {failure}"),
        None => Ok(traced),
    }
}

/// [`traced`], of a run that may end in any way, with what so many bytes hold of its trace: of its
/// beginning, which must be all, or of its end.
pub fn traced_to_any_end(
    setup: &Setup,
    system: &str,
    kernel: &str,
    (room, keep): (u64, Keep),
    change: &mut dyn FnMut(&mut System),
) -> Result<Traced> {
    let (mut memory, mut called) = (String::new(), Names::default());
    let outcome = setup.attempt_changed(system, kernel, &mut |system| {
        change(system);
        memory = system.add_trace(room, keep);
        called = names(system);
    })?;
    let bytes = outcome.memories.get(&memory).context("the run left no trace")?;
    let traces = Traces::decode(bytes)?;
    let lost = if keep == Keep::First { traces.lost() } else { 0 };
    ensure!(lost == 0, "{system}: {lost} events did not fit into the trace: shorten the run");
    Ok(Traced { outcome, traces, names: called })
}
