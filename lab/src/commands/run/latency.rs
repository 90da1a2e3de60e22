//! `run --latency`: the longest section and the worst wake-ups of a run against `check`'s bound.

use crate::cli;
use crate::commands::check::latency::{Bound, latency};
use crate::commands::trace::{auto, names};
use crate::commands::wrapped;
use crate::experiment::sections::longest_section;
use crate::failure::usage;
use crate::machine::{Machine, Outcome};
use crate::output;
use anyhow::Result;
use manifest::System;
use results::grouped;
use serde_json::{Value, json};
use trace::Traces;

/// What a run is held against.
pub struct Held {
    bound: Bound,
}

/// What a run has shown against that.
#[derive(Debug)]
pub struct Latencies {
    /// What is bounded: the sections, and the wake-ups of each CPU.
    seen: Vec<Seen>,
    /// Whether the trace had no room for all of the run.
    is_part: bool,
}

/// The worst of one kind, in instructions.
#[derive(Debug)]
struct Seen {
    /// What it is, for instance `section of ipc`.
    what: String,
    worst: u64,
    bound: u64,
}

/// The bound that a run is held against, if the command line asks for that.
///
/// # Errors
/// The machine counts no instructions, the system has several CPUs or a trace of its own, or there
/// is no bound.
pub fn held(run: &cli::Run, machine: &dyn Machine, system: &System) -> Result<Option<Held>> {
    if !run.latency {
        return Ok(None);
    }
    if machine.emulator().is_none() || !run.icount {
        return Err(usage("--latency counts instructions: add --icount, on the emulator"));
    }
    if system.cpus > 1 {
        let message = "--latency is for one CPU: under --icount several take turns on one clock";
        return Err(usage(message));
    }
    if system.trace.is_some() {
        return Err(usage("--latency traces the run: take `[trace]` out of the manifest"));
    }
    let known = latency(system)?;
    match known.into_bound() {
        Ok(bound) => Ok(Some(Held { bound })),
        Err(why) => Err(usage(format!("--latency has no bound to hold the run against: {why}"))),
    }
}

/// What a run has shown, whose trace is in the memory of this name, if it is held against a bound.
///
/// # Errors
/// It left no trace.
pub fn collect(
    held: Option<Held>,
    outcome: &Outcome,
    system: &System,
    memory: Option<&str>,
) -> Result<Option<Latencies>> {
    let both = held.zip(memory);
    both.map(|(held, memory)| held.collect(outcome, system, memory)).transpose()
}

impl Held {
    fn collect(&self, outcome: &Outcome, system: &System, memory: &str) -> Result<Latencies> {
        let traces = Traces::decode(&auto::recorded(outcome, memory)?)?;
        let mut seen = Vec::new();
        if let Some((operation, part)) = longest_section(&traces.all) {
            let what = format!("section of `{operation}`");
            seen.push(Seen { what, worst: part.steps, bound: self.bound.section() });
        }
        let urgency = |domain, priority| system.urgency(domain, priority);
        let woken = trace::highest(&traces, &urgency);
        for of in &self.bound.cpus {
            let here = woken.iter().filter(|woken| u32::from(woken.wake_up.cpu) == of.cpu);
            let Some(worst) = here.max_by_key(|woken| woken.steps) else { continue };
            let domain = names(system).domain(worst.wake_up.domain);
            let what = format!("wake-up of `{domain}` on CPU {}", of.cpu);
            seen.push(Seen { what, worst: worst.steps, bound: self.bound.wake_up(of) });
        }
        Ok(Latencies { seen, is_part: traces.lost() > 0 })
    }
}

impl Latencies {
    /// Whether something took longer than it can.
    pub fn exceed(&self) -> bool {
        self.seen.iter().any(|seen| seen.worst > seen.bound)
    }

    /// What is said of it, a sentence for each kind.
    fn sentences(&self) -> Vec<String> {
        let told = |Seen { what, worst, bound }: &Seen| {
            let (took, at_most) = (grouped(*worst), grouped(*bound));
            match worst > bound {
                true => format!(
                    "a {what} took {took} instructions, and by what is recorded {at_most} at most"
                ),
                false => format!("longest {what}: {took} instructions, of {at_most} at most"),
            }
        };
        let part =
            self.is_part.then(|| "the trace is full: the rest was not looked at".to_string());
        self.seen.iter().map(told).chain(part).collect()
    }

    /// Shows it.
    pub fn show(&self) {
        self.sentences().iter().for_each(|sentence| {
            output::line(wrapped(sentence, "", "  ").trim_end());
        });
    }

    /// For programs.
    pub fn document(&self) -> Value {
        let seen = |seen: &Seen| {
            json!({
                "what": seen.what,
                "worst_instructions": seen.worst,
                "bound_instructions": seen.bound,
            })
        };
        json!({
            "seen": self.seen.iter().map(seen).collect::<Vec<_>>(),
            "is_part": self.is_part,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(worst: u64) -> Latencies {
        let what = "section of `ipc`".to_string();
        Latencies { seen: vec![Seen { what, worst, bound: 1_050 }], is_part: false }
    }

    #[test]
    fn a_section_above_its_bound_is_told() {
        let (kept, broken) = (seen(1_050), seen(1_051));
        assert!(!kept.exceed() && broken.exceed());
        assert_eq!(
            kept.sentences(),
            ["longest section of `ipc`: 1,050 instructions, of 1,050 at most"]
        );
        assert_eq!(
            broken.sentences(),
            ["a section of `ipc` took 1,051 instructions, and by what is recorded 1,050 at most"]
        );
        assert_eq!(broken.document()["seen"][0]["worst_instructions"], 1_051);
    }

    #[test]
    fn what_cannot_be_held_against_a_bound_is_refused() {
        let refused = |words: &str, change: fn(&mut System)| {
            let run = super::super::tests::asked(words);
            let machine = crate::machine::find(&run.machine).unwrap();
            let mut system = crate::systems::load("hello").unwrap();
            change(&mut system);
            held(&run, machine, &system).err().unwrap().to_string()
        };
        let heap = |system: &mut System| system.kernel = "ipc-heap".to_string();
        assert!(refused("hello --latency", |_| {}).contains("add --icount"));
        assert!(refused("hello --latency --icount", |system| system.cpus = 2).contains("one CPU"));
        assert!(refused("hello --latency --icount", heap).contains("no longest section"));
    }
}
