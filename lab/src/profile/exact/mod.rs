//! Exact profiles: every instruction is seen, by a plugin of the emulator (`lab/exact`).
//!
//! The longest section and the worst wake-up are those of a trace. Runs repeat exactly, so one run
//! makes the trace, and the next, of the same image, has the plugin record what was executed there.

mod event;
mod evidence;
mod marks;
pub mod programs;
mod stacks;
mod tally;
mod worst;

pub use event::Event;
pub use evidence::{Code, Evidence};
pub use tally::{Functions, Tally};
pub use worst::Stretch;

use crate::image;
use crate::machine::{self, Boot, Emulator, Flow, Outcome, Plugin, SharedFile};
use anyhow::{Context, Result, bail, ensure};
use evidence::Executed;
use stacks::Step;
use std::error::Error;
use std::fmt;
use trace::{Names, Trace, Traces};

/// Instructions after which a run ends that has not ended before.
pub const LIMIT: u64 = 1_000_000_000;

/// How often a system is looked at whose runs differ. The emulator seldom lets a CPU wake late by
/// a few instructions, if the host interrupts it where it halts (docs/measuring.md).
pub const TRIALS: usize = 3;

/// What stands in the evidence until the plugin has written it, which may be nothing.
const UNWRITTEN: &str = "-";

/// What of a stretch is no kernel code.
const PROGRAMS: &str = "programs";

/// The second run was another one than the first, in what way.
#[derive(Debug)]
struct Unrepeated(String);

impl fmt::Display for Unrepeated {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the run did not repeat: {}", self.0)
    }
}

impl Error for Unrepeated {}

/// A stretch of a run, with who did what in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// The stretch.
    pub stretch: Stretch,
    /// Steps of it before the CPU last idled, whose instructions are not in the tally.
    pub before: u64,
    /// Who did what.
    pub tally: Tally,
}

/// The longest section and the worst wake-up of a traced system, whose trace is in the memory of
/// this name, with how often which function has the event there; and how the run went.
///
/// # Errors
/// The trace has no section, or second runs differ from first ones each time.
pub fn parts<'a>(
    boot: &dyn Fn() -> Boot<'a>,
    traced: (&str, &Names),
    event: Event,
) -> Result<(Vec<Part>, Outcome)> {
    let looks = || repeated(boot, traced, event);
    let failed = |looked: &Result<_>| looked.as_ref().is_err_and(|error| error.is::<Unrepeated>());
    (1..TRIALS).map(|_| looks()).find(|looked| !failed(looked)).unwrap_or_else(looks)
}

fn repeated<'a>(
    boot: &dyn Fn() -> Boot<'a>,
    (memory, names): (&str, &Names),
    event: Event,
) -> Result<(Vec<Part>, Outcome)> {
    let Boot { machine, images, .. } = boot();
    let emulator = machine.emulator().context("this machine executes no instructions")?;
    let (outcome, _) = seen(boot(), &[])?;
    let bytes = outcome.memories.get(memory).filter(|bytes| !bytes.is_empty());
    let Some(bytes) = bytes else {
        bail!(outcome.failure().unwrap_or_else(|| "the run left no trace".to_string()))
    };
    let traces = Traces::decode(bytes)?;
    let stretches = worst::worst(&traces, names)?;
    let marks = marks::find(emulator, &images.kernel)?;
    let marks = marks.iter().map(|address| format!("mark={address:x}"));
    let windows = stretches.iter().map(|stretch| {
        let mark = stretch.last as u64 + marks::TRIALS;
        format!("window={}:{mark}:{}", stretch.cpu, stretch.steps)
    });
    let (_, mut evidence) = seen(boot(), &marks.chain(windows).collect::<Vec<_>>())?;
    let functions = Functions::load(&images.kernel)?;
    let part = |(number, stretch): (usize, Stretch)| {
        let window = evidence.windows.remove(&number);
        let none = || Unrepeated(format!("it has no {}", stretch.what.title()));
        let window = window.ok_or_else(none)?;
        let trace = traces.each.iter().find(|trace| trace.cpu == stretch.cpu);
        let trace = trace.context("the trace of no CPU")?;
        let executed = Executions { emulator, codes: &evidence.codes, event };
        executed.part(stretch, trace, &window, &functions)
    };
    let parts = stretches.into_iter().enumerate().map(part).collect::<Result<_>>()?;
    Ok((parts, outcome))
}

/// How often each instruction of a system was executed, and how the run went.
///
/// # Errors
/// The run did not come to its end in time.
pub fn counts(boot: Boot) -> Result<(Vec<Code>, Outcome)> {
    let (outcome, evidence) = seen(boot, &["count=on".to_string()])?;
    Ok((evidence.codes, outcome))
}

/// Runs a system with the plugin.
fn seen(boot: Boot, arguments: &[String]) -> Result<(Outcome, Evidence)> {
    let object = image::build_plugin()?;
    // A file without a name: nothing is left of it where the laboratory is killed.
    let evidence = SharedFile::with(UNWRITTEN.as_bytes())?;
    let out = evidence.path();
    let own = [format!("out={}", out.display()), format!("limit={LIMIT}")];
    let arguments = own.into_iter().chain(arguments.iter().cloned()).collect();
    let outcome = machine::boot(&boot.plugin(&Plugin { object, arguments }))?;
    let text = fs_err::read_to_string(&out)?;
    if text == UNWRITTEN {
        let message = "the run did not come to its end in time; raise --timeout";
        bail!("{message}\n{}", outcome.failure().unwrap_or_default())
    }
    Ok((outcome, Evidence::parse(&text)?))
}

/// What makes parts of executions.
struct Executions<'a> {
    emulator: &'a dyn Emulator,
    codes: &'a [Code],
    event: Event,
}

impl Executions<'_> {
    fn part(
        &self,
        stretch: Stretch,
        trace: &Trace,
        window: &[Executed],
        functions: &Functions,
    ) -> Result<Part> {
        let does: Vec<_> = self.codes.iter().map(|code| self.emulator.does(&code.bytes)).collect();
        let halts = |(cpu, code): &Executed| *cpu == stretch.cpu && does[*code].flow == Flow::Halts;
        // What lies before is of a CPU that waits.
        let idled = window.iter().rposition(halts);
        let window = &window[idled.map_or(0, |at| at + 1)..];
        let before = stretch.steps - window.len() as u64;
        ensure!(
            before == 0 || idled.is_some(),
            "the {} takes {} instructions, and no more than {} are recorded",
            stretch.what.title(),
            stretch.steps,
            window.len()
        );
        let reads: Vec<bool> = window.iter().map(|(_, code)| does[*code].reads_counter).collect();
        worst::check(&stretch, trace, &reads)?;
        let steps = window.iter().map(|&(cpu, code)| {
            let (at, flow) = (self.codes[code].address, does[code].flow);
            let step = Step { cpu, at, flow, kernel: self.emulator.is_kernel(at) };
            (step, self.event.of(&does[code]))
        });
        let kernel = |at| self.emulator.is_kernel(at);
        let programs = || vec![PROGRAMS.to_string()];
        let at = |at| if kernel(at) { functions.at(at) } else { programs() };
        let tally = Tally::new(steps, at);
        Ok(Part { stretch, before, tally })
    }
}
