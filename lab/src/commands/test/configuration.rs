//! Configurations in which the suites of user programs run: few in which any two choices meet for
//! each run, and those in which any three meet for a deep one, so that every kernel meets every
//! locking on every number of CPUs.

use super::covering;
use super::job::Class;
use crate::commands::counted;
use crate::image::Extra;
use crate::machine::Machine;
use manifest::{KERNELS, LOCKINGS, NO_LOCKING};
use std::fmt;

/// Systems that end with status 0 if every check in them held.
pub const SYSTEMS: [&str; 4] = ["selftest", "hostile", "threads", "servers"];

/// Numbers of CPUs, on a machine that is emulated and on one that is not.
const EMULATED: [u32; 4] = [1, 2, 4, 8];
const SIMULATED: [u32; 5] = [1, 2, 4, 16, 64];

/// Kernels that the twin has under locks: one of every kind of path and of queue.
const LOCKED_IN_TWIN: [&str; 4] = ["fastpath", "strict-eager", "ipc-scan", "ipc-heap"];

/// How the twin's CPUs take turns: in order of time, or by chance in this many accesses.
pub const CHAOS: [u64; 2] = [0, 10];

/// What the kernel tells about itself while it runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Watch {
    /// Nothing.
    Nothing,
    /// A trace.
    Trace,
    /// Statistics.
    Statistics,
    /// Samples of where its time goes.
    Samples,
}

const WATCHES: [Watch; 4] = [Watch::Nothing, Watch::Trace, Watch::Statistics, Watch::Samples];

/// A system and how it runs.
#[derive(Clone, Copy)]
pub struct Configuration {
    /// The system's name.
    pub system: &'static str,
    /// The machine, and which of its boards.
    pub machine: &'static dyn Machine,
    /// One of its boards.
    pub board: &'static str,
    /// The kernel.
    pub kernel: &'static str,
    /// What guards it.
    pub locking: &'static str,
    /// How many CPUs.
    pub cpus: u32,
    /// What it tells.
    pub watch: Watch,
    /// How the twin's CPUs take turns.
    pub chaos: u64,
    /// The seed of the machine, which its name does not tell.
    pub seed: u64,
}

impl fmt::Display for Configuration {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let Configuration { system, machine, board, kernel, locking, cpus, watch, chaos, .. } =
            self;
        write!(f, "{system} under {kernel} on {}", machine.name())?;
        if machine.boards().len() > 1 {
            write!(f, " {board}")?;
        }
        if *cpus > 1 || *locking != NO_LOCKING {
            write!(f, ", {}, locks {locking}", counted(*cpus as usize, "CPU"))?;
        }
        match watch {
            Watch::Nothing => {}
            Watch::Trace => write!(f, ", traced")?,
            Watch::Statistics => write!(f, ", counted")?,
            Watch::Samples => write!(f, ", sampled")?,
        }
        if *chaos > 0 { write!(f, ", chaos {chaos}") } else { Ok(()) }
    }
}

impl Configuration {
    /// A system in the plainest way: on the first board, under the first kernel, on one CPU.
    pub fn plain(machine: &'static dyn Machine, system: &'static str) -> Configuration {
        Configuration {
            system,
            machine,
            board: machine.boards()[0],
            kernel: KERNELS[0],
            locking: NO_LOCKING,
            cpus: 1,
            watch: Watch::Nothing,
            chaos: 0,
            seed: 1,
        }
    }

    /// What the image needs that it boots from.
    pub fn extra(&self) -> Option<Extra> {
        match self.watch {
            Watch::Nothing => Extra::of_locking(self.locking),
            Watch::Trace => Some(Extra::traced(self.locking)),
            Watch::Statistics => Some(Extra::counted(self.locking)),
            Watch::Samples => Some(Extra::Profile),
        }
    }

    /// What it builds, in words.
    pub fn builds(&self) -> String {
        match (self.machine.emulator(), self.extra()) {
            (None, _) => "-".to_string(),
            (Some(_), None) => "image".to_string(),
            (Some(_), Some(extra)) => format!("image {extra:?}").to_lowercase(),
        }
    }

    /// Whether there is such a kernel: several CPUs need locks, and only a kernel without locks
    /// takes samples.
    fn exists(&self) -> bool {
        let alone = self.locking == NO_LOCKING;
        if self.machine.emulator().is_none() && !alone && !LOCKED_IN_TWIN.contains(&self.kernel) {
            return false;
        }
        let guarded = self.cpus == 1 || !alone;
        let watched = match self.machine.emulator() {
            Some(_) => self.watch != Watch::Samples || alone,
            None => self.watch == Watch::Nothing,
        };
        guarded && watched && (self.chaos == 0 || self.machine.emulator().is_none())
    }
}

/// Configurations of a machine with their classes: quick are a few, in usual ones any two choices
/// meet, in deep ones any three.
pub fn of(machine: &'static dyn Machine) -> Vec<(Configuration, Class)> {
    let emulated = machine.emulator().is_some();
    let cpus = if emulated { &EMULATED[..] } else { &SIMULATED[..] };
    let boards = machine.boards();
    let configuration = |row: &[usize]| Configuration {
        system: SYSTEMS[row[0]],
        machine,
        board: boards[row[1]],
        kernel: KERNELS[row[2]],
        locking: LOCKINGS[row[3]],
        cpus: cpus[row[4]],
        watch: WATCHES[row[5]],
        chaos: CHAOS[row[6]],
        seed: 1,
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
    let exists = |row: &[usize]| configuration(row).exists();
    let small = |row: &[usize]| exists(row) && configuration(row).cpus <= 16;
    let usual = covering::array(&values, 2, small);
    let deep = covering::array(&values, 3, exists);
    let class = |row: &Vec<usize>| {
        let one = configuration(row);
        let plain = Configuration::plain(machine, one.system).to_string();
        let class = match (one.to_string() == plain, usual.contains(row)) {
            (true, _) => Class::Quick,
            (_, true) => Class::Usual,
            _ => Class::Deep,
        };
        (one, class)
    };
    let plain = |row: &&Vec<usize>| row[1..].iter().all(|value| *value == 0);
    let chosen = |row: &&Vec<usize>| usual.contains(row) || deep.contains(row) || plain(row);
    let mut all: Vec<_> = covering::all(&values).iter().filter(chosen).map(class).collect();
    // One image after the other, so that jobs beside each other wait for one build only.
    all.sort_by_key(|(one, class)| (*class, one.builds()));
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::MACHINES;

    #[test]
    fn usual_runs_are_few_and_every_kernel_meets_every_locking_on_every_number_of_cpus() {
        for machine in MACHINES {
            let all = of(machine);
            let usual: Vec<&Configuration> =
                all.iter().filter(|(_, class)| *class < Class::Deep).map(|(one, _)| one).collect();
            assert!((20..80).contains(&usual.len()), "{}: {}", machine.name(), usual.len());
            assert!(all.len() > 3 * usual.len());
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

    #[test]
    fn a_name_says_what_differs() {
        let plain = Configuration::plain(MACHINES[1], "hello");
        assert_eq!(plain.to_string(), "hello under fastpath on twin");
        let other = Configuration { cpus: 4, locking: "fine", chaos: 10, ..plain };
        let said = "hello under fastpath on twin, 4 CPUs, locks fine, chaos 10";
        assert_eq!(other.to_string(), said);
    }
}
