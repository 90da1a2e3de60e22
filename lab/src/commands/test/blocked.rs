//! Tasks that share mutexes: on the machine no job takes longer than `check` says, with what other
//! tasks delay it.

use super::configuration::Configuration;
use super::job::{Class, Job};
use crate::commands::check;
use crate::machine::EMULATOR;
use anyhow::{Context, Result, ensure};
use std::collections::BTreeMap;

/// The system, whose tasks tell their longest response.
const SYSTEM: &str = "shared-bus";
/// Kernels that queue in different ways; the first one is tried each time.
const KERNELS: [&str; 3] = ["fastpath", "direct-lazy", "strict-eager"];
/// The task that waits for a mutex with inheritance, and the longest job of its own, in ns.
const WAITS: (&str, u64) = ("control", 1_010_000);

/// A job for each kernel.
pub fn jobs() -> Vec<Job> {
    let job = |kernel: &'static str| {
        let plain = Configuration::plain(EMULATOR, SYSTEM);
        let name = format!("{SYSTEM} under {kernel}: jobs within their bounds");
        let class = if kernel == KERNELS[0] { Class::Usual } else { Class::Deep };
        let job = Configuration { kernel, ..plain }.job(name, |one, _| {
            let system = one.load()?;
            let outcome = one.run(&system)?;
            within(&check::bounds(&system), &told(&outcome.console)?)
        });
        job.class(class)
    };
    KERNELS.map(job).into()
}

/// The longest responses that a run has told, in ns.
fn told(console: &str) -> Result<BTreeMap<String, u64>> {
    let mut found = BTreeMap::new();
    for line in console.lines() {
        let Some((task, rest)) = line.split_once(": longest response ") else { continue };
        let longest = rest.split_whitespace().next().context("no time")?;
        found.insert(task.to_string(), longest.parse::<u64>()? * 1_000);
    }
    Ok(found)
}

/// Whether each task of the bounds was measured and is within its own, and one was delayed at all.
fn within(bounds: &BTreeMap<String, u64>, measured: &BTreeMap<String, u64>) -> Result<()> {
    ensure!(!bounds.is_empty(), "no task has a bound");
    for (task, bound) in bounds {
        let worst = measured.get(task).with_context(|| format!("{task} was not measured"))?;
        ensure!(worst <= bound, "a job of {task} took {worst} ns, and at most {bound} ns fit");
    }
    let (task, alone) = WAITS;
    let worst = measured.get(task).copied().unwrap_or(0);
    ensure!(worst > alone, "{task} never waited: its longest job took {worst} ns");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_exceeds_or_was_not_measured_fails() {
        let bounds = BTreeMap::from([("control".to_string(), 2_000_000)]);
        let of = |console: &str| within(&bounds, &told(console)?);
        assert!(of("x\ncontrol: longest response 1900 us\n").is_ok());
        let said = |console: &str| of(console).unwrap_err().to_string();
        assert!(said("control: longest response 2001 us\n").contains("2001000 ns"));
        assert!(said("planner: longest response 7 us\n").contains("was not measured"));
        assert!(said("control: longest response 1000 us\n").contains("never waited"));
    }
}
