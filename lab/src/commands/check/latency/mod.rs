//! How late the highest thread of each CPU can wake, from the manifest and recorded figures.
//!
//! ```text
//! section = the longest load that the rights allow + the lock + sections of other CPUs
//! wake-up = section + its exit and the wake-up's entry + the wake-up's own path
//!         + the lock + sections of other CPUs + instants of reservations that go before
//! ```
//!
//! Each term is a limit of `tests/golden.toml`, which `lab run` holds: the worst of loads, and no
//! proof.

mod instants;
mod recorded;
mod section;

use super::watched;
use crate::commands::{fitted, table, wrapped};
use manifest::{Domain, Problem, Span, System, spell_duration};
use recorded::Recorded;
use results::grouped;
use serde_json::{Value, json};

/// Preemption points behind which a section ends if another CPU waits for the kernel.
const PARTS: u64 = 12;

/// The locking whose waits are counted.
const COUNTED: &str = "big";

/// A part of a bound.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Term {
    /// What it is of.
    pub what: &'static str,
    /// Instructions.
    pub instructions: u64,
    /// The recorded figure, or those, by experiment and key.
    pub recorded: String,
    /// What of the manifest brings it, and where.
    pub cause: (String, Span),
}

/// How late the highest thread of a CPU wakes at most, behind the longest section.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OfCpu {
    /// The CPU.
    pub cpu: u32,
    /// The domains whose threads can be the highest.
    pub highest: Vec<String>,
    /// What comes on top of the section.
    pub terms: Vec<Term>,
}

/// The bounds of a system.
pub struct Bound {
    /// What the longest section consists of.
    pub section: Vec<Term>,
    /// Each CPU on which a domain runs.
    pub cpus: Vec<OfCpu>,
}

/// What is known of a system's latency.
pub struct Latency {
    kernel: String,
    locking: String,
    /// The bounds; or why there are none, and where the manifest says that.
    bound: Result<Bound, (String, Span)>,
    /// What the manifest asks for, in ns.
    most: Option<u64>,
    /// What is wrong, if it is not kept.
    problem: Option<Problem>,
}

impl Bound {
    /// Instructions of the longest section with interrupts off.
    pub fn section(&self) -> u64 {
        sum(&self.section)
    }

    /// Instructions from an instant until the highest thread of a CPU runs.
    pub fn wake_up(&self, of: &OfCpu) -> u64 {
        self.section() + sum(&of.terms)
    }

    /// The CPU with the longest wake-up.
    fn worst(&self) -> Option<&OfCpu> {
        self.cpus.iter().max_by_key(|of| self.wake_up(of))
    }

    /// The part of a CPU's wake-up that is longest.
    fn dominating<'a>(&'a self, of: &'a OfCpu) -> Option<&'a Term> {
        self.section.iter().chain(&of.terms).max_by_key(|term| term.instructions)
    }
}

fn sum(terms: &[Term]) -> u64 {
    terms.iter().fold(0, |sum, term| sum.saturating_add(term.instructions))
}

/// What is known of a system's latency by what the repository has recorded.
///
/// # Errors
/// The recorded figures cannot be read.
pub fn latency(system: &System) -> anyhow::Result<Latency> {
    Ok(with(system, &Recorded::load()?))
}

fn with(system: &System, recorded: &Recorded) -> Latency {
    let bound = bound(system, recorded);
    Latency {
        kernel: system.kernel.clone(),
        locking: system.locking().to_string(),
        most: system.max_latency.as_ref().map(|(most, _)| *most),
        problem: problem(system, &bound),
        bound,
    }
}

fn bound(system: &System, recorded: &Recorded) -> Result<Bound, (String, Span)> {
    let longest = section::longest(system, recorded)?;
    let others = others(system, recorded, longest.instructions)?;
    let section: Vec<Term> = [longest].into_iter().chain(others.clone()).collect();
    let kernel = (format!("kernel `{}`", system.kernel), system.kernel_at.clone());
    let null = recorded.limit("sections", &format!("{} longest null", system.kernel));
    let null = null.ok_or_else(|| section::unrecorded(system))?;
    let entries = Term {
        what: "entries",
        instructions: 2 * null.instructions,
        recorded: format!("2 x {}", null.name),
        cause: kernel,
    };
    let of = |cpu: u32| {
        let highest = highest(system, cpu);
        let (key, cause) = section::path(system, &highest);
        let path = recorded.limit("sections", &key).ok_or_else(|| section::unrecorded(system))?;
        let path =
            Term { what: "path", instructions: path.instructions, recorded: path.name, cause };
        let mut terms = vec![entries.clone(), path];
        terms.extend(others.iter().cloned());
        let top = highest.first().map_or(0, |it| urgency(system, it));
        terms.extend(instants::terms(system, (cpu, top), recorded)?);
        let highest: Vec<String> = highest.iter().map(|it| it.name.clone()).collect();
        Ok((!highest.is_empty()).then_some(OfCpu { cpu, highest, terms }))
    };
    let cpus = (0..system.cpus).map(of).collect::<Result<Vec<_>, _>>()?;
    let bound = Bound { section, cpus: cpus.into_iter().flatten().collect() };
    let again = |of: &&OfCpu| {
        let mut terms = of.terms.iter();
        terms.any(|term| term.what == instants::WHAT) && bound.wake_up(of) >= instants::ONCE
    };
    if let Some(of) = bound.cpus.iter().find(again) {
        let instants = of.terms.iter().filter(|term| term.what == instants::WHAT);
        let most = instants.max_by_key(|term| term.instructions);
        let (cause, at) = most.map_or_else(|| section::unrecorded(system), |it| it.cause.clone());
        let why =
            format!("the instants of all reservations, most by {cause}, may follow each other");
        return Err((why, at));
    }
    Ok(bound)
}

/// What the lock and the sections of other CPUs add to one section.
fn others(system: &System, recorded: &Recorded, section: u64) -> Result<Vec<Term>, (String, Span)> {
    let locking = system.locking();
    if locking == manifest::NO_LOCKING {
        return Ok(Vec::new());
    }
    let at = system.cpus_at.clone();
    let price = recorded.price_of_lock().filter(|_| locking == COUNTED);
    let Some(price) = price else {
        let why = format!("how long a section waits is counted for the locking `{COUNTED}` alone");
        return Err((why, at));
    };
    let others = u64::from(system.cpus - 1);
    let why = format!("{} CPUs under the locking `{locking}`", system.cpus);
    let lock = Term {
        what: "lock",
        instructions: price.instructions,
        recorded: price.name,
        cause: (why.clone(), at.clone()),
    };
    let waits = Term {
        what: "other CPUs",
        instructions: others * PARTS * section,
        recorded: format!("{others} x {PARTS} parts of the longest section"),
        cause: (why, at),
    };
    Ok([lock, waits].into_iter().filter(|term| term.instructions > 0).collect())
}

/// The domains on a CPU whose threads can be more urgent than all others there.
fn highest(system: &System, cpu: u32) -> Vec<&Domain> {
    let here = || system.domains.iter().filter(|domain| domain.cpu == cpu);
    let top = here().map(|it| urgency(system, it)).max();
    here().filter(|it| Some(urgency(system, it)) == top).collect()
}

/// How urgent a domain's threads can be below the root of their CPU.
fn urgency(system: &System, domain: &Domain) -> u16 {
    watched::level(system, domain, domain.max_priority)
}

/// What is wrong where the manifest asks for less than can be promised.
fn problem(system: &System, bound: &Result<Bound, (String, Span)>) -> Option<Problem> {
    let (most, at) = system.max_latency.as_ref()?;
    let asked = spelled(*most);
    let bound = match bound {
        Ok(bound) => bound,
        Err((why, at)) => {
            let message = format!("`max_latency` of {asked} cannot be held: {why}");
            return Some(system.source.problem(at, message, HELP));
        }
    };
    let worst = bound.worst()?;
    let wake_up = bound.wake_up(worst);
    if wake_up <= *most {
        return None;
    }
    let term = bound.dominating(worst)?;
    let (cause, at) = match term.cause.1.is_empty() {
        true => (&term.cause.0, at),
        false => (&term.cause.0, &term.cause.1),
    };
    let message = format!(
        "`max_latency` of {asked} cannot be held: `{}` on CPU {} may wake after {} instructions, \
         most of them, {}, by {cause}",
        worst.highest.join("`, `"),
        worst.cpu,
        grouped(wake_up),
        grouped(term.instructions),
    );
    let help = format!("ask for `max_latency = \"{wake_up}ns\"`, or change {cause}");
    Some(system.source.problem(at, message, help))
}

const HELP: &str = "take `max_latency` out, or have what has a bound";

/// A time as manifests write it; an instruction is a nanosecond.
fn spelled(ns: u64) -> String {
    match ns.is_multiple_of(1_000) {
        true => spell_duration(ns),
        false => format!("{ns}ns"),
    }
}

impl Latency {
    /// The bounds, or why there are none.
    pub fn into_bound(self) -> Result<Bound, String> {
        self.bound.map_err(|(why, _)| why)
    }

    /// What is wrong, if the manifest asks for less than can be promised.
    pub fn problem(&self) -> Option<&Problem> {
        self.problem.as_ref()
    }

    /// The longest section and the worst wake-up against what is asked for, in a sentence.
    pub fn says(&self) -> String {
        let bound = match &self.bound {
            Ok(bound) => bound,
            Err((why, _)) => return format!("No bound of latency: {why}."),
        };
        let section = grouped(bound.section());
        let worst = bound.worst().map_or(String::new(), |of| {
            let (highest, wake_up) = (of.highest.join("`, `"), grouped(bound.wake_up(of)));
            format!(", worst wake-up {wake_up} (`{highest}` on CPU {})", of.cpu)
        });
        let asked = match self.most.map(spelled) {
            None => "; no `max_latency` is asked for".to_string(),
            Some(most) if self.problem.is_none() => format!(": `max_latency` of {most} is held"),
            Some(most) => format!(": `max_latency` of {most} cannot be held"),
        };
        format!("Longest section {section} instructions{worst}, 1ns each under --icount{asked}.")
    }

    /// What the bounds are made of, in lines that fit the terminal; empty without any.
    pub fn text(&self) -> String {
        let Ok(bound) = &self.bound else { return String::new() };
        let kernel = &self.kernel;
        let mut text = format!("\nLatency under {kernel} by recorded loads, in instructions:\n\n");
        let mut shown = table(&["CPU", "what", "of", "at most"]);
        shown.add_row(["any", "longest section", "", &grouped(bound.section())]);
        for of in &bound.cpus {
            let (cpu, all) = (of.cpu.to_string(), grouped(bound.wake_up(of)));
            shown.add_row([&cpu, "worst wake-up", &of.highest.join(", "), &all]);
        }
        text += &fitted(shown);
        let longest = &bound.section[0];
        text + &wrapped(
            &format!(
                "The section is that of `{}`, by {}. A wake-up adds {}.",
                longest.recorded,
                longest.cause.0,
                bound.cpus.first().map_or("nothing".to_string(), |of| spell_terms(&of.terms)),
            ),
            "\n",
            "",
        )
    }

    /// For programs.
    pub fn document(&self) -> Value {
        let term = |term: &Term| {
            json!({
                "what": term.what,
                "instructions": term.instructions,
                "recorded": term.recorded,
                "by": term.cause.0,
            })
        };
        let terms = |terms: &[Term]| terms.iter().map(term).collect::<Vec<_>>();
        let bound = self.bound.as_ref().ok();
        let cpus = bound.map(|bound| {
            let of = |of: &OfCpu| {
                json!({
                    "cpu": of.cpu,
                    "highest": of.highest,
                    "wake_up_instructions": bound.wake_up(of),
                    "beside_section": terms(&of.terms),
                })
            };
            bound.cpus.iter().map(of).collect::<Vec<_>>()
        });
        json!({
            "kernel": self.kernel,
            "locking": self.locking,
            "section_instructions": bound.map(Bound::section),
            "section": bound.map(|bound| terms(&bound.section)),
            "cpus": cpus,
            "no_bound": self.bound.as_ref().err().map(|(why, _)| why),
            "max_latency_ns": self.most,
            "problem": self.problem,
        })
    }
}

/// What terms come to, each kind once.
fn spell_terms(terms: &[Term]) -> String {
    let mut kinds: Vec<(&str, u64)> = Vec::new();
    for term in terms {
        match kinds.iter_mut().find(|(what, _)| *what == term.what) {
            Some((_, all)) => *all += term.instructions,
            None => kinds.push((term.what, term.instructions)),
        }
    }
    let spelled = kinds.iter().map(|(what, all)| format!("{} of {what}", grouped(*all)));
    spelled.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests;
