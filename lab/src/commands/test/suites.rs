//! The suites: systems that check the kernel from user mode and end with status 0 if all held. In
//! usual runs any two choices of how to run meet, in deep ones any three, so that every kernel
//! meets every locking on every number of CPUs.

use super::configuration::Configuration;
use super::findings::{Findings, without_numbers};
use super::job::{Class, Job};
use super::{covering, tracing, verdict};
use crate::image::Watch;
use crate::machine::{self, MACHINES, Machine, Mode, Outcome};
use abi::trace::Keep;
use anyhow::{Context, Result, bail, ensure};
use manifest::{KERNELS, LOCKINGS, NO_LOCKING, System, TREE};

/// What takes least comes first: where any will do, the first is chosen.
const SYSTEMS: [&str; 4] = ["threads", "servers", "hostile", SELFTEST];

/// The system that looks at statistics from inside, and its argument that says whether there are.
const SELFTEST: &str = "selftest";
const STATISTICS: &str = "statistics";
/// Its argument that picks subjects.
const ONLY: &str = "only";

/// Its subjects that hold in whatever order threads run, if each check is tried again: those that
/// remain where a scheduling tree decides by chance.
const IN_ANY_ORDER: &str = "capabilities+memory+domains+rearming+statistics+looks+nested";

/// Seed of decisions by chance.
pub const DECISIONS: u64 = 1;

/// Numbers of CPUs, on a machine that is emulated and on one that is not.
const EMULATED: [u32; 4] = [1, 2, 4, 8];
const SIMULATED: [u32; 5] = [1, 2, 4, 16, 64];

/// Kernels that the twin has under locks: one of every kind of path.
const LOCKED_IN_TWIN: [&str; 2] = ["fastpath", "strict-eager"];

/// Lockings under which usual runs watch a kernel: under any other that takes one more image.
pub const WATCHED: [&str; 2] = [NO_LOCKING, "big"];

/// One kernel of every kind of path and of queue. What takes long on an emulator, such as the
/// longest suite, usual runs do under these; the suites meet all kernels in the twin.
pub const PATHS: [&str; 4] = ["fastpath", "slowpath", "strict-eager", "ipc-heap"];

/// How the twin's CPUs take turns: in order of time, or by chance in this many accesses.
pub const CHAOS: [u64; 2] = [0, 10];

const WATCHES: [Watch; 4] = [Watch::Nothing, Watch::Trace, Watch::Statistics, Watch::Samples];

/// Most steps of the counter that a system may boot in: with pools of some thousand threads.
const BOOT_LIMIT: u64 = 6_200_000;

/// The suites in their configurations.
pub fn jobs() -> Vec<Job> {
    let all = MACHINES.into_iter().flat_map(of).chain(MACHINES.into_iter().flat_map(on_tree));
    all.map(|(one, class)| one.job(one.to_string(), passes).class(class)).collect()
}

/// Boots a configuration and judges it.
pub fn passes(one: &Configuration, findings: &mut Findings) -> Result<()> {
    let mut system = one.load()?;
    let trace = prepare(one, &mut system);
    let outcome = one.boot(&system, |boot| machine::boot(&boot))?;
    judge(findings, one, &outcome);
    watched(one, &outcome, trace.as_deref())
}

/// Whether there is such a kernel: several CPUs need locks, and only a kernel without locks takes
/// samples.
fn exists(one: &Configuration) -> bool {
    let alone = one.locking == NO_LOCKING;
    let guarded = one.cpus == 1 || !alone;
    guarded
        && match one.machine.emulator() {
            Some(_) => one.chaos == 0 && (one.watch != Watch::Samples || alone),
            None => one.watch == Watch::Nothing && (alone || LOCKED_IN_TWIN.contains(&one.kernel)),
        }
}

/// Configurations of a machine with their classes; quick is the plainest of each system.
fn of(machine: &'static dyn Machine) -> Vec<(Configuration, Class)> {
    let emulated = machine.emulator().is_some();
    let cpus = if emulated { &EMULATED[..] } else { &SIMULATED[..] };
    let boards = machine.boards();
    let configuration = |row: &[usize]| Configuration {
        board: boards[row[1]],
        kernel: KERNELS[row[2]],
        locking: LOCKINGS[row[3]],
        cpus: cpus[row[4]],
        watch: WATCHES[row[5]],
        chaos: CHAOS[row[6]],
        ..Configuration::plain(machine, SYSTEMS[row[0]])
    };
    let values = [
        SYSTEMS.len(),
        boards.len(),
        KERNELS.len(),
        LOCKINGS.len(),
        cpus.len(),
        WATCHES.len(),
        CHAOS.len(),
    ];
    let small = |row: &[usize]| {
        let one = configuration(row);
        let is_watched = one.watch == Watch::Nothing || WATCHED.contains(&one.locking);
        let is_short = !emulated || one.system != SELFTEST || PATHS.contains(&one.kernel);
        exists(&one) && one.cpus <= 16 && is_watched && is_short
    };
    let usual = covering::array(&values, 2, small);
    let deep = covering::array(&values, 3, |row| exists(&configuration(row)));
    let class = |row: Vec<usize>| {
        let class = if row[1..].iter().all(|value| *value == 0) {
            Class::Quick
        } else if usual.contains(&row) {
            Class::Usual
        } else if deep.contains(&row) {
            Class::Deep
        } else {
            return None;
        };
        Some((configuration(&row), class))
    };
    covering::all(&values).into_iter().filter_map(class).collect()
}

/// The same for the kernel that has a scheduling tree, which has images of its own; also with
/// decisions by chance, to which the kernel has to hold as to any policy's.
fn on_tree(machine: &'static dyn Machine) -> Vec<(Configuration, Class)> {
    let plain = |system| Configuration { kernel: TREE, ..Configuration::plain(machine, system) };
    let mut all: Vec<_> = SYSTEMS.map(|system| (plain(system), Class::Usual)).into();
    for system in SYSTEMS {
        let class = if system == SELFTEST { Class::Usual } else { Class::Deep };
        all.push((Configuration { locking: "fine", cpus: 4, ..plain(system) }, class));
        match machine.emulator() {
            Some(_) => {
                all.push((Configuration { watch: Watch::Trace, ..plain(system) }, class));
                all.push((
                    Configuration { watch: Watch::Statistics, ..plain(system) },
                    Class::Deep,
                ));
                let locks = [(NO_LOCKING, 1), ("big", 4), ("fine", 4)];
                all.extend(locks.map(|(locking, cpus)| {
                    let decisions = DECISIONS;
                    (Configuration { decisions, locking, cpus, ..plain(system) }, Class::Deep)
                }));
            }
            None => {
                let decisions = DECISIONS;
                all.push((Configuration { decisions, ..plain(system) }, class));
                let several = Configuration { locking: "fine", cpus: 4, ..plain(system) };
                all.push((Configuration { decisions, chaos: CHAOS[1], ..several }, Class::Deep));
                let chaos = CHAOS[1];
                all.push((
                    Configuration { locking: "big", cpus: 16, chaos, ..plain(system) },
                    class,
                ));
            }
        }
    }
    all
}

/// Tells a system how it is watched; the memory with its trace, if it has one.
fn prepare(one: &Configuration, system: &mut System) -> Option<String> {
    let said = if one.counts() { "yes" } else { "no" };
    for domain in system.domains.iter_mut().filter(|domain| domain.program == SELFTEST) {
        domain.args.push((STATISTICS.to_string(), said.to_string()));
        if one.decisions > 0 {
            domain.args.push((ONLY.to_string(), IN_ANY_ORDER.to_string()));
        }
    }
    let bytes = tracing::USUAL.max(u64::from(one.cpus) * tracing::USUAL / 2);
    (one.watch == Watch::Trace).then(|| system.add_trace(bytes, Keep::First))
}

/// Counts each check that the system reported, what was found in its page tables, and how it ended.
pub fn judge(findings: &mut Findings, one: &Configuration, outcome: &Outcome) {
    let Configuration { system, kernel, .. } = one;
    let reported: Vec<_> = outcome.console.lines().filter_map(verdict::of).collect();
    let failed = reported.iter().filter(|(_, held)| !held).count();
    for (check, held) in &reported {
        let result = if *held { Ok(()) } else { Err("the system reports a failure".to_string()) };
        findings.record(format!("{system}: {check}"), result);
    }
    page_tables(findings, outcome);
    if one.watch == Watch::Nothing && one.cpus == 1 {
        let quick = match outcome.boot_steps() {
            None => Err("the kernel does not say how long it took".to_string()),
            Some(steps) if steps > BOOT_LIMIT => Err(format!("{steps} steps, over {BOOT_LIMIT}")),
            Some(_) => Ok(()),
        };
        findings.record("boots quickly", quick);
    }
    let ended = match outcome.failure() {
        Some(failure) => Err(failure),
        None if outcome.kernel != *kernel => {
            Err(format!("asked for kernel `{kernel}`, but `{}` ran", outcome.kernel))
        }
        None if failed > 0 => Err("it reports failures, yet ended with status 0".to_string()),
        None if reported.is_empty() => Err("it reports no check".to_string()),
        None => Ok(()),
    };
    findings.record(format!("{system} ends well"), ended);
}

/// Counts what was found in page tables.
pub fn page_tables(findings: &mut Findings, outcome: &Outcome) {
    for (rule, result) in &outcome.findings {
        findings.record(format!("page tables: {}", without_numbers(rule)), result.clone());
    }
}

/// Judges what the kernel told about itself.
fn watched(one: &Configuration, outcome: &Outcome, trace: Option<&str>) -> Result<()> {
    if one.system == SELFTEST {
        let held = outcome.console.lines().any(|line| line.starts_with("ok statistics: "));
        ensure!(held, "it reports no check of statistics");
    }
    let emulated = one.machine.emulator().is_some();
    let counts = emulated && one.counts() && one.system == SELFTEST && one.cpus > 1;
    let held = "ok statistics: each CPU has its counters";
    ensure!(!counts || outcome.console.contains(held), "it does not say `{held}`");
    if let Some(memory) = trace {
        let bytes = outcome.memories.get(memory).context("the run left no trace")?;
        tracing::is_whole(bytes, one.kernel, one.cpus)?;
    }
    if one.watch == Watch::Samples {
        let samples = outcome.samples.as_ref().context("there are no samples")?;
        for mode in [Mode::User, Mode::Kernel] {
            if !samples.taken.iter().any(|sample| sample.mode == mode) {
                bail!("{} samples, but none in mode {mode:?}", samples.taken.len());
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::Exit;

    fn outcome(exit: Exit, console: &str) -> Outcome {
        Outcome { kernel: "fastpath".to_string(), ..Outcome::made_up(exit, console) }
    }

    /// How many findings hold and how many do not.
    fn judged(outcome: &Outcome) -> (usize, usize) {
        let mut findings = Findings::default();
        judge(&mut findings, &Configuration::plain(MACHINES[0], SELFTEST), outcome);
        let failed = findings.0.iter().filter(|finding| finding.failure.is_some()).count();
        (findings.0.len() - failed, failed)
    }

    const BOOT: &str = "boot: 3 counter steps to the first user instruction\n";

    #[test]
    fn a_run_and_its_checks_are_counted() {
        let after_boot = |exit, console: &str| judged(&outcome(exit, &format!("{BOOT}{console}")));
        assert_eq!(after_boot(Exit::Done(0), "ok one\nrefused: two\n"), (4, 0));
        assert_eq!(after_boot(Exit::Done(2), "NOT REFUSED: one\n"), (1, 2));
        assert_eq!(after_boot(Exit::Done(1), "ok one\nFAILED two\n"), (2, 2));
        assert_eq!(after_boot(Exit::Hang, "ok one\n"), (2, 1));
    }

    #[test]
    fn a_run_that_cannot_be_trusted_fails() {
        assert_eq!(judged(&outcome(Exit::Done(0), &format!("{BOOT}hello\n"))), (1, 1));
        assert_eq!(judged(&outcome(Exit::Done(0), &format!("{BOOT}FAILED one\n"))), (1, 2));
        let other = Outcome { kernel: "other".to_string(), ..outcome(Exit::Done(0), "ok one\n") };
        assert_eq!(judged(&other), (1, 2));
        let slow = BOOT.replace('3', &(BOOT_LIMIT + 1).to_string());
        assert_eq!(judged(&outcome(Exit::Done(0), &format!("{slow}ok one\n"))), (2, 1));
        assert_eq!(judged(&outcome(Exit::Done(0), "ok one\n")), (2, 1));
        let mut found = outcome(Exit::Done(0), &format!("{BOOT}ok one\n"));
        found.findings = vec![("no w^x".to_string(), Err("a page".to_string()))];
        assert_eq!(judged(&found), (3, 1));
    }

    #[test]
    fn usual_runs_are_few_and_every_kernel_meets_every_locking_on_every_number_of_cpus() {
        for machine in MACHINES {
            let all = of(machine);
            let usual: Vec<&Configuration> =
                all.iter().filter(|(_, class)| *class < Class::Deep).map(|(one, _)| one).collect();
            assert!((20..80).contains(&usual.len()), "{}: {}", machine.name(), usual.len());
            assert!(all.len() > 2 * usual.len());
            let emulated = machine.emulator().is_some();
            let kernels = if emulated { &KERNELS[..] } else { &LOCKED_IN_TWIN[..] };
            for (kernel, locking) in kernels.iter().flat_map(|k| LOCKINGS.map(|l| (*k, l))) {
                let meets = |one: &&Configuration| one.kernel == kernel && one.locking == locking;
                assert!(usual.iter().copied().any(|one| meets(&one)), "{kernel} with {locking}");
                let cpus = if emulated { &EMULATED[..] } else { &SIMULATED[..] };
                let several = if locking == NO_LOCKING { &cpus[..1] } else { cpus };
                for cpus in several {
                    let met = all.iter().any(|(one, _)| meets(&one) && one.cpus == *cpus);
                    assert!(met, "{kernel} with {locking} on {cpus} CPUs of {}", machine.name());
                }
            }
            let quick = all.iter().filter(|(_, class)| *class == Class::Quick).count();
            assert_eq!(quick, SYSTEMS.len());
        }
    }
}
