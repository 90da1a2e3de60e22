//! Exact profiles: every instruction is seen, by a plugin of the emulator (`lab/exact`).
//!
//! Sections and wake-ups are those of a trace. Runs repeat exactly, so one run makes the trace, and
//! the next, of the same image, has the plugin record what each CPU executed in the longest section
//! and in the worst wake-up that it has.

mod event;
mod evidence;
mod looked;
mod marks;
mod others;
pub mod programs;
mod stacks;
mod tally;
mod waiting;
mod worst;

pub use event::Event;
pub use evidence::{Code, Evidence};
pub use looked::Part;
pub use others::Others;
pub use waiting::WAITING;
pub use worst::{Stretch, What};

use crate::image;
use crate::machine::{self, Boot, Outcome, Plugin, SharedFile};
use anyhow::{Context, Result, bail};
use looked::Looked;
use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::fmt;
use trace::{Names, Traces};

/// Instructions after which a run ends that has not ended before.
pub const LIMIT: u64 = 1_000_000_000;

/// How often a system is looked at whose runs differ. The emulator seldom lets a CPU wake late by
/// a few instructions, if the host interrupts it where it halts (docs/measuring.md).
pub const TRIALS: usize = 3;

/// What stands in the evidence until the plugin has written it, which may be nothing.
const UNWRITTEN: &str = "-";

/// Instructions that can be looked back at, of all CPUs evenly; a power of two.
const BACK: u64 = 1 << 22;

/// The second run was another one than the first, in what way.
#[derive(Debug)]
struct Unrepeated(String);

impl fmt::Display for Unrepeated {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the run did not repeat: {}", self.0)
    }
}

impl Error for Unrepeated {}

/// The longest section and the worst wake-up of each CPU of a traced system, whose trace is in the
/// memory of this name, with how often which function has the event there; and how the run went.
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
    let candidates = worst::candidates(&traces, names)?;
    let cpus = traces.all.cpus;
    let lines: String = candidates.iter().map(|stretch| window(stretch, cpus)).collect();
    let windows = SharedFile::with(lines.as_bytes())?;
    let marks = marks::find(emulator, &images.kernel)?;
    let marks = marks.iter().map(|address| format!("mark={address:x}"));
    let back = BACK / u64::from(cpus).next_power_of_two();
    let asked = [
        format!("windows={}", windows.path().display()),
        format!("cpus={cpus}"),
        format!("back={back}"),
    ];
    let (_, evidence) = seen(boot(), &marks.chain(asked).collect::<Vec<_>>())?;
    let mut looked = Looked::new(emulator, &evidence.codes, event, &images.kernel)?;
    let groups: BTreeSet<_> = candidates.iter().map(Stretch::group).collect();
    let kept = evidence.windows.iter().map(|(number, window)| {
        let stretch = candidates.get(*number).context("a window that nobody asked for")?;
        Ok((stretch.group(), (stretch, window)))
    });
    let kept: BTreeMap<_, _> = kept.collect::<Result<_>>()?;
    let part = |group @ (cpu, what): (u8, What)| {
        let none = || Unrepeated(format!("CPU {cpu} has no {}", what.title()));
        let (stretch, window) = kept.get(&group).ok_or_else(none)?;
        looked.part(stretch, &traces, window, back)
    };
    Ok((groups.into_iter().map(part).collect::<Result<_>>()?, outcome))
}

/// A stretch as the plugin is asked for it, one of each CPU's sections and wake-ups.
fn window(stretch: &Stretch, cpus: u8) -> String {
    let Stretch { what, cpu, less, awake, last, .. } = stretch;
    let group = u32::from(*cpu) * 2 + *what as u32;
    let mark = *last as u64 + marks::trials(*cpu, cpus);
    format!("{group} {cpu} {mark} {awake} {less}\n")
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
