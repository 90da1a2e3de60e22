//! A task set as a system, and what a run of it leaves.

use super::picture::{self, Picture};
use crate::commands::trace::{auto, names};
use crate::failure::usage;
use crate::machine::{Exit, Outcome};
use abi::trace::Keep;
use anyhow::{Result, bail};
use manifest::System;
use rtsim::{Jobs, Run, Task, TaskSet};
use trace::Traces;

/// What a run gave.
pub struct Ran {
    /// What ran.
    pub set: TaskSet,
    /// How.
    pub run: Run,
    /// What it is called.
    pub name: String,
    /// The kernel under which it ran.
    pub kernel: String,
    /// The jobs of each task.
    pub jobs: Vec<Jobs>,
    /// When each task ran.
    pub picture: Picture,
    /// Events of the trace that there was no room for.
    pub lost: u64,
    /// The trace, and the names of what is in it.
    pub traces: Traces,
    pub names: trace::Names,
}

/// The system that a task set becomes, with room for so many bytes of a trace.
///
/// # Errors
///
/// Why it cannot run so, and what to change.
pub fn system(set: &TaskSet, run: Run, trace: u64) -> Result<System> {
    let text = rtsim::manifest(set, run).map_err(usage)?;
    let mut system = manifest::parse("the task set as a system", &text)?;
    system.add_trace(trace, Keep::First);
    Ok(system)
}

impl Ran {
    /// What a run of [`system`] has left.
    ///
    /// # Errors
    ///
    /// What went wrong in a job, or why the run ended.
    pub fn read(
        (set, run): (TaskSet, Run),
        name: String,
        system: &System,
        outcome: Outcome,
    ) -> Result<Ran> {
        if !matches!(outcome.exit, Exit::Done(0)) {
            let said = outcome.console.lines().filter(|line| line.starts_with("task "));
            let said: Vec<&str> = said.collect();
            match said[..] {
                [] => {
                    bail!("{}", outcome.failure().unwrap_or_else(|| "the run ended early".into()))
                }
                _ => bail!("{}", said.join("\n")),
            }
        }
        let names = names(system);
        let memory = system.trace.as_ref().map(|trace| &system.memories[trace.memory].name);
        let traces = Traces::decode(&auto::recorded(&outcome, memory.map_or("", |name| name))?)?;
        let picture = picture::of(&set, run, &traces.all, &names);
        let of = |task: &Task| {
            let bytes = outcome.memories.get(&task.name).map_or(&[][..], Vec::as_slice);
            Jobs::read(&set, task, bytes)
        };
        let (jobs, lost) = (set.tasks.iter().map(of).collect(), traces.lost());
        Ok(Ran { set, run, name, kernel: outcome.kernel, jobs, picture, lost, traces, names })
    }
}
