//! Machines that Giusto runs on. What the laboratory must know about one stands in its file.

mod attached;
mod boot;
mod computed;
mod console;
mod debugger;
mod instruction;
mod memory;
pub mod native;
mod outcome;
mod qemu_x86_64;
mod remains;
mod round_trip;
mod samples;
mod script;
mod standing;
pub mod topologies;
mod twin;
mod watch;
pub mod words;
mod x86_64;

pub use attached::Plugged;
pub use boot::{Boot, boot, boot_spoilt, pack};
pub use computed::Computed;
pub use console::{Console, Input, Interrupts, RawTerminal};
pub use instruction::{Does, Flow};
pub use memory::{MEMORY_FILES, SharedFile, WORD, word_at};
pub use outcome::{Exit, Outcome, STUCK, Simulated};
pub use remains::{Finding, Remains};
pub use round_trip::{Count, round_trip};
pub use samples::{Mode, Sample, Samples, Sampling};
pub use script::{Shared, Typed};
pub use twin::{LARGE, Packed, SMALL, Seen, Simulation, Twin, about, end_idle, run, simulate};
pub use twin_protocol::Doing;

use anyhow::Result;
use debugger::Debugger;
use results::Origin;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// A platform that experiments are measured on.
pub trait Platform: Sync {
    /// Its name.
    fn name(&self) -> &'static str;
    /// What its counter counts, when time is exactly repeatable.
    fn unit(&self) -> &'static str;
    /// What kind of platform it is.
    fn origin(&self) -> Origin;
}

/// A platform that boots the systems of manifests.
pub trait Machine: Platform {
    /// Its boards, the usual one first.
    fn boards(&self) -> &'static [&'static str];
    /// How many CPUs it has at most.
    fn most_cpus(&self) -> u32;
    /// The emulator that it takes, if it is emulated; else it is the simulation.
    fn emulator(&self) -> Option<&dyn Emulator>;
}

/// A machine that an emulator provides.
pub trait Emulator: Machine {
    /// The compiler's name for its kind of program.
    fn target(&self) -> &'static str;
    /// The package with the kernel's port to it.
    fn port(&self) -> &'static str;
    /// The file name of the kernel image.
    fn kernel_binary(&self) -> &'static str;
    /// The emulator's program.
    fn program(&self) -> &'static str;
    /// The Debian package that brings the emulator.
    fn emulator_package(&self) -> &'static str;
    /// The oldest version of the emulator that will do.
    fn least_version(&self) -> (u32, u32);
    /// Whether one of its boards has places for the devices of systems.
    fn has_places(&self, board: &str) -> bool;
    /// The emulator's arguments.
    fn arguments(&self, launch: &Launch) -> Vec<OsString>;
    /// Where in the memory file a physical address lies.
    fn memory_offset(&self, physical: u64) -> Option<u64>;
    /// The physical address of memory that the kernel has at this one.
    fn kernel_memory(&self, address: u64) -> Option<u64>;
    /// What the emulator's exit code, `None` if a signal ended it, and its complaints say about
    /// the guest.
    fn decode(&self, code: Option<i32>, complaints: &str) -> Exit;
    /// Judges the page tables that a run has left.
    fn inspect(&self, remains: &Remains) -> Result<Vec<Finding>>;
    /// Follows one round trip of a client and a server, past the first `skip`, and counts what
    /// its instructions do.
    fn count_round_trip(
        &self,
        debugger: &mut Debugger,
        kernel: &Path,
        skip: usize,
    ) -> Result<Vec<Count>>;
    /// What the instruction of these bytes does.
    fn does(&self, bytes: &[u8]) -> Does;
    /// The addresses in a stretch of code, which begins at `at`, of reads of the counter.
    fn counter_reads(&self, code: &[u8], at: u64) -> Vec<u64>;
    /// Whether an address is of the kernel.
    fn is_kernel(&self, address: u64) -> bool;
}

/// One start of an emulator.
pub struct Launch<'a> {
    /// The board.
    pub board: &'a str,
    /// Count instructions as time, exactly repeatably, with this seed.
    pub icount: Option<u64>,
    /// How many CPUs.
    pub cpus: u32,
    /// Bytes of RAM.
    pub memory: u64,
    /// The file that is the RAM, if others are to see it.
    pub memory_file: Option<&'a Path>,
    /// The kernel image.
    pub kernel: &'a Path,
    /// The boot archive.
    pub archive: &'a Path,
    /// The kernel's command line.
    pub command_line: &'a str,
    /// The socket on which the emulator waits for a debugger before the first instruction.
    pub debugger: Option<&'a Path>,
    /// What sees every instruction.
    pub plugin: Option<&'a Plugin>,
    /// The devices that the board is given.
    pub devices: &'a [Plugged],
}

/// A library that the emulator loads.
pub struct Plugin {
    /// The library.
    pub object: PathBuf,
    /// Its arguments, each `NAME=VALUE`, without commas.
    pub arguments: Vec<String>,
}

/// The emulator.
pub const EMULATOR: &dyn Emulator = &qemu_x86_64::QemuX86_64;

/// The machines that boot the systems of manifests, the usual one first.
pub const MACHINES: [&dyn Machine; 2] = [EMULATOR, &Twin];

/// The platforms that claims of papers are judged on, and that a command line can name.
pub const MEASURED: [&dyn Platform; 3] = [EMULATOR, &Twin, &native::Native];

/// What the host's processor calls itself, or at least its architecture.
pub fn processor() -> String {
    let known = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let name = known.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": "));
    name.map_or(std::env::consts::ARCH, |(_, name)| name).to_string()
}

/// The machine with this name.
pub fn find(name: &str) -> Option<&'static dyn Machine> {
    MACHINES.into_iter().find(|machine| machine.name() == name)
}

/// The platform with this name.
pub fn platform(name: &str) -> Option<&'static dyn Platform> {
    let mut all = MEASURED.into_iter().chain([&Computed as &dyn Platform]);
    all.find(|platform| platform.name() == name)
}
