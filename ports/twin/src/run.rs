//! A whole run, from archive to outcome.

use crate::costs::Costs;
use crate::hardware::{Hardware, Shutdown};
use crate::lines::{Lines, Topology};
use crate::locking::{BigLock, ElidedLock, FineLocks, MOST_CPUS};
use crate::memory::Ram;
use crate::sections::{Sections, Service};
use crate::transactions::Refused;
use crate::{kernels, meter};
use abi::boot::WORD_CPUS;
use abi::statistics::Counter;
use abi::{PAGE, Status};
use cells::Watcher;
use kernel::arena::Arena;
use kernel::boot::Archive;
use kernel::locks::{Guarding, Unlocked};
use kernel::step::Step;
use rt::arch::hosted::{self, Machine};
use std::any::Any;
use std::cell::Cell;
use std::collections::BTreeMap;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

/// What a run depends on, beside the archive.
#[derive(Clone, Debug)]
pub struct Options {
    /// Name of the kernel.
    pub kernel: String,
    /// What guards it, by name; `None`: nothing for one CPU, one lock for several.
    pub locking: Option<String>,
    /// What lines of memory cost that come from other CPUs; `None`: nothing.
    pub topology: Option<Topology>,
    /// How long sections take; `None`: as long as what happens in them.
    pub service: Option<Service>,
    /// The instants between which lines are noted that several CPUs share ([`Outcome::shared`]).
    pub observed: Option<Range<u64>>,
    /// Seed of everything that is injected.
    pub seed: u64,
    /// Something is injected once in so many work boundaries and preemption points, and another
    /// CPU goes on once in so many accesses to the kernel's state; 0: never.
    pub chaos: u64,
    /// Bytes of RAM.
    pub memory: u64,
    /// Entries into the kernel, and stretches of work, after which the run is given up.
    pub limit: u64,
    /// What each step costs.
    pub costs: Costs,
    /// Check the kernel's invariants after every entry.
    pub check: bool,
    /// Count system calls and how they end.
    pub count: bool,
    /// Keep a log of the kernel's steps.
    pub log: bool,
    /// What will be read from the console.
    pub input: Vec<u8>,
    /// Copy the console to the standard output as it is written.
    pub show: bool,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            kernel: kernels::KERNELS[0].to_string(),
            locking: None,
            topology: None,
            service: None,
            observed: None,
            seed: 1,
            chaos: 0,
            memory: 256 << 20,
            limit: 1 << 40,
            costs: Costs::default(),
            check: false,
            count: false,
            log: false,
            input: Vec::new(),
            show: false,
        }
    }
}

impl Options {
    /// What each step costs, if the sections do not say.
    pub fn costs(&self) -> Costs {
        self.service.map_or_else(|| self.costs.clone(), |_| Service::costs(&self.costs))
    }

    /// The directory of the lines of the machine's memory, if that is needed.
    pub fn lines(&self, first: usize, bytes: usize) -> Option<Lines> {
        let needed = self.topology.is_some() || self.observed.is_some();
        let topology = self.topology.unwrap_or(Topology::FREE);
        needed.then(|| Lines::new(topology, self.observed.clone(), first, bytes))
    }
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    /// A program shut the machine down with this status.
    Done(u32),
    /// The kernel panicked: what it said.
    Panic(String),
    /// Every thread waits, and no interrupt will come.
    Stuck,
    /// These CPUs wait in the kernel for each other, or for CPUs that idle.
    Deadlock(Vec<u32>),
    /// The limit on entries was reached.
    Limit,
}

/// How often each system call ended in which way: by number word's low byte and status.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Calls(BTreeMap<(u8, u64), u64>);

impl Calls {
    pub(crate) fn note(&mut self, number: u64, status: Status) {
        *self.0.entry((number as u8, status.0)).or_default() += 1;
    }

    /// Adds those of another run.
    pub fn add(&mut self, other: &Calls) {
        for (key, count) in &other.0 {
            *self.0.entry(*key).or_default() += count;
        }
    }

    /// Call number, status, how often.
    pub fn iter(&self) -> impl Iterator<Item = (u8, Status, u64)> {
        self.0.iter().map(|((number, status), count)| (*number, Status(*status), *count))
    }
}

/// What is left of a run.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// How it ended.
    pub end: End,
    /// Everything that was printed on the console.
    pub console: String,
    /// The archive as the kernel left it.
    pub archive: Vec<u64>,
    /// Contents of the memory objects that were asked for, in their order; one that was not made
    /// is empty.
    pub memories: Vec<Vec<u64>>,
    /// Virtual time at the end.
    pub time: u64,
    /// Entries into the kernel, and stretches of work.
    pub entries: u64,
    /// Kernel events: entries, switches, queue operations, comparisons, messages, results.
    pub events: u64,
    /// How often each kind of [`Entry`](crate::Entry), then each kind of [`Step`] occurred.
    pub counts: Vec<u64>,
    /// The statistics at the end, CPU by CPU, by [`Counter`]; those that a lock keeps are 0.
    pub statistics: Vec<[u64; Counter::ALL.len()]>,
    /// The most threads that were blocked at once, if invariants were checked.
    pub most_blocked: u32,
    /// System calls, if they were counted.
    pub calls: Calls,
    /// The kernel's steps, if they were logged.
    pub log: Vec<Step>,
    /// Sections of all CPUs.
    pub sections: Sections,
    /// Lines of kernel memory that one CPU has written and another one touched, while that was
    /// observed: their addresses from the beginning of RAM.
    pub shared: Vec<usize>,
    /// How often transactions asked for what they do not survive, by [`Refused`].
    pub refused: [u64; Refused::ALL.len()],
}

/// A reference that outlives its type.
///
/// # Safety
/// It is not used once the value is gone.
pub unsafe fn lengthen<T: ?Sized>(value: &T) -> &'static T {
    // SAFETY: up to the caller.
    unsafe { &*std::ptr::from_ref(value) }
}

/// How a run ended that was left so.
pub fn ended_by(cause: Box<dyn Any + Send>) -> End {
    match cause.downcast::<Shutdown>() {
        Ok(shutdown) => End::Done(shutdown.0),
        Err(_) => End::Panic(hosted::message_of_panic()),
    }
}

/// Runs the kernel that the options name under the guarding that they name.
fn run_kernel(
    options: &'static Options,
    hardware: &'static Hardware,
    archive: Archive,
    arena: &mut Arena,
) -> Option<End> {
    let usual = if hardware.processors.len() == 1 { Unlocked::NAME } else { BigLock::NAME };
    match options.locking.as_deref().unwrap_or(usual) {
        Unlocked::NAME => kernels::run::<Unlocked>(options, hardware, archive, arena),
        BigLock::NAME => kernels::run_locked::<BigLock>(options, hardware, archive, arena),
        FineLocks::NAME => kernels::run_locked::<FineLocks>(options, hardware, archive, arena),
        ElidedLock::NAME => kernels::run_locked::<ElidedLock>(options, hardware, archive, arena),
        other => panic!("the twin has no kernel under the locking `{other}`"),
    }
}

/// The counters of a CPU now.
fn counters(cpu: u32) -> [u64; Counter::ALL.len()] {
    meter::statistics(cpu, |statistics| {
        Counter::ALL.map(|counter| statistics.counter(counter, meter::now(), None))
    })
}

/// Boots an archive (its words) and runs it. `memories` are the words of the archive in which the
/// kernel leaves the physical addresses of memory objects that are wanted, with their bytes.
///
/// # Panics
/// If no kernel has the name in the options.
pub fn run(archive: &[u64], options: &Options, memories: &[(usize, u64)]) -> Outcome {
    hosted::remember_panics();
    let ram = Ram::new((options.memory / PAGE) as usize);
    let words: Box<[AtomicU64]> = archive.iter().copied().map(AtomicU64::new).collect();
    // SAFETY: handed out once; kernel and programs are gone when `ram` is dropped, at the end.
    let (frames, mut arena) = unsafe { ram.hand_out() };
    let cpus = archive.get(WORD_CPUS).map_or(1, |&cpus| cpus.clamp(1, MOST_CPUS.into()));
    meter::reset(cpus as u32, &options.costs(), options.log);
    let twin = Hardware::new(options, cpus as u32, frames);
    // SAFETY: as above: these are dropped after everything that refers to them.
    let (port, module, kept) = unsafe { (lengthen(&twin), lengthen(&*words), lengthen(options)) };
    let before = hosted::install(Some(port as &'static dyn Machine));
    Hardware::install(Some(port));
    let locked = options.locking.as_deref().is_some_and(|locking| locking != Unlocked::NAME);
    let watched = cells::watch((cpus > 1 || locked).then_some(port as &'static dyn Watcher));
    let end =
        catch_unwind(AssertUnwindSafe(|| run_kernel(kept, port, Archive::new(module), &mut arena)));
    cells::watch(watched);
    Hardware::install(None);
    hosted::install(before);
    let end = match end {
        Ok(Some(end)) => end,
        Ok(None) => panic!("no kernel is called `{}`", options.kernel),
        Err(cause) => ended_by(cause),
    };
    let archive: Vec<u64> = words.iter().map(|word| word.load(Relaxed)).collect();
    let read = |(word, bytes): &(usize, u64)| {
        let first = archive[*word];
        if first == 0 {
            // The run ended before the memory was made.
            return Vec::new();
        }
        let pages = (first..first + bytes.next_multiple_of(PAGE)).step_by(PAGE as usize);
        let words = pages.flat_map(|page| port.frame(page).iter().map(|word| word.load(Relaxed)));
        words.take((bytes / 8) as usize).collect()
    };
    Outcome {
        memories: memories.iter().map(read).collect(),
        end,
        console: String::from_utf8_lossy(&twin.take_output()).into_owned(),
        archive,
        time: meter::now(),
        entries: twin.entries.get(),
        events: meter::events(),
        counts: meter::counts().to_vec(),
        statistics: (0..cpus as u32).map(counters).collect(),
        most_blocked: twin.most_blocked.get(),
        calls: twin.calls.as_ref().map(|calls| calls.take()).unwrap_or_default(),
        log: meter::log(),
        sections: twin.sections.get(),
        shared: twin.lines.as_ref().map(Lines::shared).unwrap_or_default(),
        refused: twin.refused.each_ref().map(Cell::get),
    }
}
