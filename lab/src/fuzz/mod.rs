//! Fuzzing in the twin: system calls with arbitrary arguments from many domains, every kernel
//! invariant checked after each step. A run depends on its seed alone.

#[cfg(test)]
mod confined;
mod reach;
mod reserved;

pub use reach::Reach;

use crate::cli::Fuzzed;
use crate::machine::{self, Boot, MACHINES, Machine, Packed};
use crate::{image::Images, systems};
use abi::boot::{HEADER_WORDS, Record};
use abi::object::Resource;
use anyhow::{Context, Result};
use manifest::{LOCKINGS, NO_LOCKING, System};
use std::fmt;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::time::Instant;
use twin_protocol::{End, Options, Outcome};

/// The system that is fuzzed.
const SYSTEM: &str = "fuzz";
/// Steps of one run.
const STEPS: u64 = 30_000;
/// Systems whose speed is measured: a busy one, and a small one with every invariant checked.
const SPEED: [&str; 2] = ["hot-potato", "ping-same"];

/// Runs of the system that is fuzzed by which the speed on several CPUs is measured.
const SPEED_RUNS: u64 = 10;

/// What a seed stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// The seed.
    pub seed: u64,
    /// How many CPUs, over which the domains are spread.
    pub cpus: u32,
    /// What guards the kernel.
    pub locking: &'static str,
    /// The kernel.
    pub kernel: &'static str,
    /// Something is injected once in so many work boundaries and preemption points.
    pub chaos: u64,
    /// Pools are too small for what the quotas promise.
    pub scarce: bool,
}

impl Plan {
    /// The plan of a seed on so many CPUs, under a locking or one that goes by the seed.
    pub fn of(seed: u64, cpus: u32, locking: Option<&str>) -> Result<Plan> {
        let usual = if cpus == 1 { NO_LOCKING } else { LOCKINGS[1 + (seed / 27 % 3) as usize] };
        let known = |name: &&&str| locking == Some(**name);
        let locking = LOCKINGS.iter().find(known).copied().unwrap_or(usual);
        let twin = machine::about()?;
        let kernels = if locking == NO_LOCKING { &twin.kernels } else { &twin.locked_kernels };
        Ok(Plan {
            seed,
            cpus,
            locking,
            kernel: &kernels[(seed % kernels.len() as u64) as usize],
            chaos: [3, 10, 40][(seed / 9 % 3) as usize],
            scarce: seed % 2 == 1,
        })
    }

    /// The plan of a seed on what was asked for.
    pub fn on(seed: u64, asked: &Fuzzed) -> Result<Plan> {
        if asked.cpus > 1 && asked.locking.as_deref() == Some(NO_LOCKING) {
            let message = format!("a kernel without locks cannot have {} CPUs", asked.cpus);
            return Err(crate::failure::usage(message));
        }
        let plan = Plan::of(seed, asked.cpus, asked.locking.as_deref())?;
        let kernels = manifest::ALL_KERNELS.into_iter();
        let kernel = kernels.into_iter().find(|name| asked.kernel.as_deref() == Some(*name));
        let chaos = asked.chaos.unwrap_or(plan.chaos);
        Ok(Plan { kernel: kernel.unwrap_or(plan.kernel), chaos, ..plan })
    }
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Plan { seed, cpus, locking, kernel, chaos, scarce } = self;
        let pools = if *scarce { "scarce" } else { "as the manifest says" };
        let cpus = if *cpus == 1 { "1 CPU".to_string() } else { format!("{cpus} CPUs") };
        write!(f, "seed {seed:#x}: kernel {kernel}, {cpus}, locks {locking}, ")?;
        write!(f, "chaos once in {chaos}, pools {pools}")
    }
}

/// Runs a seed; what went wrong, if anything did.
pub fn run(plan: &Plan, reach: &mut Reach) -> Result<(), String> {
    let outcome = outcome(plan, None).map_err(|error| format!("{error:#}"))?;
    reach.add(&outcome);
    judge(&outcome.end)
}

/// Whether a run may end so: with a panic it may not.
pub fn judge(end: &End) -> Result<(), String> {
    match end {
        End::Panic(message) => Err(message.clone()),
        End::Deadlock(cpus) => Err(format!("CPUs {cpus:?} wait for each other for ever")),
        End::Done(_) | End::Stuck | End::Limit => Ok(()),
    }
}

/// Runs a seed, every invariant checked; keeps a log if asked for, and spells its end out.
pub fn outcome(plan: &Plan, log: Option<Spelled>) -> Result<Outcome> {
    outcome_of(plan, true, log)
}

/// How many of the last steps of a log are spelled out.
pub struct Spelled(pub usize);

fn outcome_of(plan: &Plan, check: bool, log: Option<Spelled>) -> Result<Outcome> {
    let mut system = match plan.kernel {
        manifest::TREE => reserved::system(plan.cpus)?,
        _ => systems::load(SYSTEM)?,
    };
    let args = system.domains.iter_mut().flat_map(|domain| &mut domain.args);
    for (_, value) in args.filter(|(name, _)| name == "seed") {
        *value = (plan.seed as u32).to_string();
    }
    system.cpus = plan.cpus;
    let free = system.domains.iter_mut().filter(|domain| domain.reservation.is_none());
    for (domain, nth) in free.zip(0..) {
        domain.cpu = nth % plan.cpus;
    }
    run_of(&system, plan, check, log)
}

/// Runs a system as a plan says.
fn run_of(system: &System, plan: &Plan, check: bool, log: Option<Spelled>) -> Result<Outcome> {
    let scarce = |archive: &mut [u8]| {
        if plan.scarce {
            shrink(archive);
        }
    };
    let packed = pack(system, plan.kernel, &scarce)?;
    let options = Options {
        kernel: plan.kernel.to_string(),
        locking: Some(plan.locking.to_string()),
        seed: plan.seed,
        chaos: plan.chaos,
        memory: system.memory,
        limit: STEPS,
        check,
        count: true,
        log: log.is_some(),
        spell: log.map_or(0, |Spelled(last)| last),
        input: b"typed".to_vec(),
        ..Options::default()
    };
    machine::run(packed.run(options))
}

fn pack(system: &System, kernel: &str, spoil: &dyn Fn(&mut [u8])) -> Result<Packed> {
    let machine: &dyn Machine = *MACHINES.last().context("there are machines")?;
    let images = Images::default();
    Packed::new(&Boot::new(machine, &images, system).kernel(kernel), spoil)
}

/// Takes a few of most objects away from the pools.
fn shrink(archive: &mut [u8]) {
    // A manifest counts four segments for each program, of which the twin's have one.
    let taken = [
        (Resource::Domains, 10),
        (Resource::Threads, 30),
        (Resource::Endpoints, 20),
        (Resource::Notifications, 20),
        (Resource::Memories, 40),
        (Resource::Mappings, 45),
        (Resource::Timers, 20),
    ];
    for (resource, taken) in taken {
        // The pools are the first record.
        let at = (HEADER_WORDS + 1 + resource as usize) * 8;
        if let Some(word) = archive.get_mut(at..at + 8) {
            let size = u64::from_le_bytes(word.try_into().expect("eight bytes"));
            word.copy_from_slice(&size.saturating_sub(taken).to_le_bytes());
        }
    }
    debug_assert_eq!(Record::Pools.words(), 1 + Resource::COUNT);
}

/// A number that two different logs are unlikely to share.
pub fn fingerprint(log: &[u64]) -> u64 {
    let mut hasher = DefaultHasher::new();
    log.iter().for_each(|step| step.hash(&mut hasher));
    hasher.finish()
}

/// Kernel events of a run of message exchanges, and how many seconds it took.
pub fn speed(kernel: &'static str, check: bool) -> Result<(u64, f64)> {
    let mut system = systems::load(SPEED[usize::from(check)])?;
    let rounds = if check { "2000" } else { "20" };
    let args = system.domains.iter_mut().flat_map(|domain| &mut domain.args);
    for (_, value) in args.filter(|(name, _)| name == "rounds") {
        *value = rounds.to_string();
    }
    let packed = pack(&system, kernel, &|_| ())?;
    let options =
        Options { kernel: kernel.to_string(), memory: system.memory, check, ..Options::default() };
    let started = Instant::now();
    let outcome = machine::run(packed.run(options))?;
    let seconds = started.elapsed().as_secs_f64();
    if outcome.end != End::Done(0) {
        anyhow::bail!("`{}` under {kernel} ended with {:?}", system.name, outcome.end);
    }
    Ok((outcome.events, seconds))
}

/// Kernel events of arbitrary system calls on so many CPUs, and how many seconds they took.
pub fn speed_on(kernel: &'static str, cpus: u32, check: bool) -> Result<(u64, f64)> {
    let plan = Plan { kernel, chaos: 0, scarce: false, ..Plan::of(1, cpus, None)? };
    let (mut events, started) = (0, Instant::now());
    for seed in 1..=SPEED_RUNS {
        let outcome = outcome_of(&Plan { seed, ..plan.clone() }, check, None)?;
        judge(&outcome.end).map_err(anyhow::Error::msg)?;
        events += outcome.events;
    }
    Ok((events, started.elapsed().as_secs_f64()))
}

#[cfg(test)]
mod tests;
