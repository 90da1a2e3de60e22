//! What a running system tells others of itself.

use crate::waits::Objects;
use abi::reservation::Timing;
use manifest::{Control, System, Target};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// A system that runs with a control domain.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// The process that runs it.
    pub pid: u32,
    /// The system's name.
    pub system: String,
    /// Its manifest.
    pub manifest: PathBuf,
    /// The machine's name.
    pub machine: String,
    /// The file that is the machine's RAM.
    pub ram: PathBuf,
    /// The number by which the boot archive is found in it.
    pub nonce: u64,
    /// Where in the archive the kernel leaves the physical address of the shared memory, in bytes.
    pub address_at: u64,
    /// Bytes of that memory.
    pub bytes: u64,
    /// The name of the control domain.
    pub control: String,
    /// What the control domain holds.
    pub held: Vec<Held>,
    /// The names of what threads wait for.
    #[serde(default)]
    pub objects: Objects,
    /// The file in which this stands as long as the system runs.
    #[serde(skip)]
    pub path: PathBuf,
}

/// Something that the control domain may change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Held {
    /// Its slot in the control domain.
    pub slot: u32,
    /// Whether it is a reservation; else it is a domain's first thread.
    pub is_reservation: bool,
    /// The name of the reservation, or of the domain.
    pub name: String,
    /// Deadline and separation of a reservation's jobs at boot, in nanoseconds.
    pub timing: Option<[u64; 2]>,
    /// The windows of a class at boot: where each ends, in nanoseconds, and whose it is.
    #[serde(default)]
    pub windows: Vec<(u64, u16)>,
    /// What follows when the budget of a reservation is used up, and when a job of it is late, if
    /// that is not as usual.
    #[serde(default)]
    pub reactions: [Option<String>; 2],
}

impl Held {
    /// What the control domain of a system holds.
    pub fn all(system: &System, control: &Control) -> Vec<Held> {
        let held = |(slot, target): &(u32, Target)| match *target {
            Target::Reservation(index) => {
                let one = &system.reservations[index];
                let timing = one.timing.map(|Timing { deadline, period }| [deadline, period]);
                let reactions = one.reactions().map(|it| it.map(str::to_string));
                let windows = one.windows.iter().map(|one| (one.end, one.partition)).collect();
                let name = one.name.clone();
                Some(Held { slot: *slot, is_reservation: true, name, timing, windows, reactions })
            }
            Target::Thread(index) => {
                let name = system.domains[index].name.clone();
                let (windows, reactions) = (Vec::new(), [None, None]);
                let timing = None;
                Some(Held { slot: *slot, is_reservation: false, name, timing, windows, reactions })
            }
            _ => None,
        };
        control.slots.iter().filter_map(held).collect()
    }
}
