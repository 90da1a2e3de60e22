//! `trace`: boots a system with a trace and shows what the kernel did.

use crate::cli;
use crate::failure::Verdict;
use crate::machine::{self, Boot, Console, Input};
use crate::{image, systems};
use abi::trace::Keep;
use anyhow::{Context, Result};
use std::time::Duration;

/// Seconds that a system may run.
const TIMEOUT: u64 = 60;

/// Records a trace.
pub fn trace(asked: &cli::Trace, as_json: bool) -> Result<Verdict> {
    let machine = machine::find(&asked.machine).expect("the command line knows the machines");
    let mut system = systems::load(&asked.system)?;
    let keep = if asked.last { Keep::Last } else { Keep::First };
    let name = system.add_trace(asked.size << 20, keep);
    let images = image::build_for(machine, &system)?;
    let outcome = machine::boot(&Boot {
        machine,
        board: machine.boards()[0],
        images: &images,
        system: &system,
        kernel: asked.kernel.as_deref().unwrap_or(&system.kernel),
        icount: Some(asked.seed),
        chaos: 0,
        console: Console { show: !as_json, input: Input::Nothing },
        timeout: Some(Duration::from_secs(asked.timeout.unwrap_or(TIMEOUT))),
        inspect: false,
        log: false,
    })?;
    let bytes = outcome.memories.get(&name).context("the run has left no trace")?;
    if let Some(path) = &asked.raw {
        std::fs::write(path, bytes).with_context(|| format!("cannot write {}", path.display()))?;
    }
    Ok(Verdict::Held)
}

#[cfg(test)]
mod tests;
