//! What a run depends on.

use crate::Topology;
use devices::Setup;
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// What a run depends on, beside the archive.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Options {
    /// Name of the kernel.
    pub kernel: String,
    /// What guards it, by name; `None`: nothing for one CPU, one lock for several.
    pub locking: Option<String>,
    /// What lines of memory cost that come from other CPUs; `None`: nothing.
    pub topology: Option<Topology>,
    /// How long sections take; `None`: as long as what happens in them.
    pub service: Option<Service>,
    /// The instants between which lines are noted that several CPUs share
    /// ([`Outcome::shared`](crate::Outcome::shared)).
    pub observed: Option<Range<u64>>,
    /// Whether processors order memory weakly, so that barriers cost something.
    pub weakly_ordered: bool,
    /// Seed of everything that is injected.
    pub seed: u64,
    /// Something is injected once in so many work boundaries and preemption points, and another
    /// CPU goes on once in so many accesses to the kernel's state; 0: never.
    pub chaos: u64,
    /// The places between which that is so, counted from 0: work boundaries and preemption points.
    /// Elsewhere the same choices are drawn, and nothing comes of them.
    pub chaotic: Range<u64>,
    /// Seed of a scheduling tree's decisions by chance; 0: its policies decide.
    pub decisions: u64,
    /// Programs may be machine code of the host.
    pub machine_code: bool,
    /// Bytes of RAM.
    pub memory: u64,
    /// Entries into the kernel, and stretches of work, after which the run is given up.
    pub limit: u64,
    /// Check the kernel's invariants after every entry.
    pub check: bool,
    /// Count system calls and how they end.
    pub count: bool,
    /// Keep a log of the kernel's steps.
    pub log: bool,
    /// How many of the last steps of the log to spell out.
    pub spell: usize,
    /// What will be read from the console.
    pub input: Vec<u8>,
    /// Tell each line that programs print, and type what comes as an answer.
    pub listens: bool,
    /// How long the console sends a character, in nanoseconds; 0: it is always ready.
    pub character: u64,
    /// Copy the console to the standard output as it is written.
    pub show: bool,
    /// What there is to control, if anything.
    pub devices: Option<Devices>,
}

/// What there is to control.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Devices {
    /// The plant and the devices.
    pub setup: Setup,
    /// For each device the word of the archive in which the kernel leaves the physical address of
    /// the page with its registers.
    pub words: Vec<usize>,
    /// Nanoseconds between two records of what the plant's wires have; 0: there are none.
    pub every: u64,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            kernel: "fastpath".to_string(),
            locking: None,
            topology: None,
            service: None,
            observed: None,
            weakly_ordered: false,
            seed: 1,
            chaos: 0,
            chaotic: 0..u64::MAX,
            decisions: 0,
            machine_code: false,
            memory: 256 << 20,
            limit: 1 << 40,
            check: false,
            count: false,
            log: false,
            spell: 0,
            input: Vec::new(),
            listens: false,
            character: 0,
            show: false,
            devices: None,
        }
    }
}

/// How the lengths of sections scatter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Scatter {
    /// Exponentially, as in the queueing model M/M/1//N (S1-12).
    Exponential,
    /// Not at all.
    Deterministic,
}

/// Sections that take a time of their own, whatever the kernel does in them. Its steps, and rounds
/// of waiting, then cost nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Service {
    /// Their mean length in units.
    pub mean: u64,
    /// How they scatter.
    pub scatter: Scatter,
    /// What the lock's way from its last owner adds.
    pub transfers: Option<Transfers>,
}

/// Lines that a hand-off of the lock moves one after the other (S1-13).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Transfers {
    /// How long one takes from CPU to CPU.
    pub topology: Topology,
    /// How many there are, in hundredths.
    pub hundredths: u64,
}
