//! `cyclictest`: latencies of wake-ups, with the options and the output of the original.

use super::run;
use crate::cli::{Cyclictest, Run, Under};
use crate::failure::{Verdict, usage};
use crate::image;
use crate::machine::{self, Boot, Exit};
use crate::{output, systems};
use anyhow::{Context, Result, bail};
use std::time::Duration;

/// The system whose program measures.
const SYSTEM: &str = "cyclictest";
/// Seconds after which a run whose result is JSON is given up.
const LONGEST: u64 = 3600;

/// Measures as the command line says.
pub fn cyclictest(asked: &Cyclictest, as_json: bool) -> Result<Verdict> {
    if let Some(wrong) = asked.problem() {
        return Err(usage(wrong));
    }
    let (options, cpus) = (asked.options(), asked.machine_cpus());
    if asked.counts_instructions() && !asked.nsecs {
        eprintln!("latencies are in nanoseconds: each instruction counts as one (-N)");
    }
    if as_json {
        return json(asked, options + " --json", cpus);
    }
    let run = Run {
        system: SYSTEM.to_string(),
        machine: asked.machine.clone(),
        kernel: asked.kernel.clone(),
        icount: asked.is_repeatable(),
        cpus: Some(cpus),
        seed: asked.seed,
        under: Under { args: vec![format!("options={options}")], ..Under::default() },
        ..Run::default()
    };
    run::run(&run, false)
}

/// Prints the document that the program prints, in the shape of rt-tests' files, and nothing else.
fn json(asked: &Cyclictest, options: String, cpus: u32) -> Result<Verdict> {
    let machine = machine::find(&asked.machine).expect("the command line knows the machines");
    let mut system = systems::load(SYSTEM)?;
    system.cpus = cpus;
    systems::set(&mut system, "options", &options);
    let images = image::build_for(machine, &system)?;
    let mut boot = Boot::new(machine, &images, &system).timeout(Duration::from_secs(LONGEST));
    boot.kernel = asked.kernel.as_deref().unwrap_or(&system.kernel);
    boot.icount = asked.counts_instructions().then(|| asked.seed.unwrap_or(1));
    let outcome = machine::boot(&boot)?;
    let lines = || outcome.console.lines();
    let document = lines().skip_while(|line| *line != "{");
    let document: Vec<&str> = document.take_while(|line| !line.starts_with("WARN: ")).collect();
    match outcome.exit {
        Exit::Done(0) => {
            let end = document.iter().rposition(|line| *line == "}").context("no JSON came")?;
            output::line(document[..=end].join("\n"));
            lines().filter(|line| line.starts_with("WARN: ")).for_each(|line| eprintln!("{line}"));
            Ok(Verdict::Held)
        }
        _ => bail!("{}", lines().last().unwrap_or("it ended without a word")),
    }
}

#[cfg(test)]
mod tests;
