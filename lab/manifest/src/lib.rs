//! System manifests: from TOML to a checked [`System`] to a boot archive.
//!
//! A manifest goes one way: [`parse`] reads the text, checks everything that can be checked
//! without the programs and resolves every name into an index; [`pack`] adds the programs and
//! writes the archive that [`abi::boot`] describes. What is wrong is a list of [`Problem`]s, each
//! of which says where, what and how to mend it.
#![forbid(unsafe_code)]

mod archive;
mod attached;
mod budget;
mod control;
mod devices;
mod domain;
mod elf;
mod files;
mod interrupt;
mod inventory;
mod layout;
mod logs;
mod memory;
mod owned;
mod problem;
mod program;
mod reader;
mod reservation;
mod resolve;
mod rights;
mod schema;
mod sharing;
mod suggest;
mod summary;
mod supervised;
mod supervisor;
mod system;
mod target;
mod urgency;
mod values;

use std::path::Path;

pub use archive::{Archive, HostMemory, pack};
pub use attached::{Attached, Function};
pub use budget::Pool;
pub use control::{Choices, Control};
pub use devices::Devices;
pub use layout::{BUFFER_STRIDE, BUFFERS, ENVIRONMENT, MAPS, PROGRAMS, STACKS, mapped};
pub use memory::{Medium, Memory};
pub use problem::{Problem, Problems, Source, Span};
pub use rights::{rights_of, spell_rights};
pub use suggest::nearest;
pub use summary::spell_curve;
pub use supervisor::JOURNAL;
pub use system::{
    Capability, Domain, Endpoint, FaultHandler, Interrupt, Load, Map, Mutex, Notification, Origin,
    Overheads, Protocol, Reaction, Reservation, Restart, Section, Shared, System, Task, Timer,
    Trace,
};
pub use target::Target;
pub use units::{self, spell_duration, spell_part, spell_part_up, spell_percent, spell_size};

/// What may guard a kernel, as a manifest names it.
pub const LOCKINGS: [&str; 4] = [NO_LOCKING, "big", "fine", "elided"];
/// Nothing guards it: for one CPU.
pub const NO_LOCKING: &str = "none";

/// The kernel whose threads run on reservations in a scheduling tree.
pub const TREE: &str = "tree";

/// The kernels that an image holds and a manifest may name.
pub const ALL_KERNELS: [&str; 10] = {
    let mut all = [TREE; 10];
    let mut at = 0;
    while at < KERNELS.len() {
        all[at] = KERNELS[at];
        at += 1;
    }
    all
};

/// Those of the thesis, which order threads by fixed priorities alone (S0-15).
pub const KERNELS: [&str; 9] = [
    "fastpath",
    "slowpath",
    "direct-lazy",
    "direct-eager",
    "strict-lazy",
    "strict-eager",
    "ipc-scan",
    "ipc-ordered",
    "ipc-heap",
];

/// Whether a kernel runs at once whom a message makes ready, though a more urgent thread may be
/// ready (S0-08).
pub fn switches_directly(kernel: &str) -> bool {
    KERNELS.contains(&kernel) && !kernel.starts_with("strict")
}

/// Those of them that leave a thread that blocks in the ready queue, or do so with some operations.
pub const LAZY: [&str; 7] =
    ["fastpath", "slowpath", "direct-lazy", "strict-lazy", "ipc-scan", "ipc-ordered", "ipc-heap"];
/// The others.
pub const EAGER: [&str; 2] = ["direct-eager", "strict-eager"];

/// Reads and checks the manifest in a file.
pub fn load(path: &Path) -> Result<System, Problems> {
    let name = path.display().to_string();
    let text = std::fs::read_to_string(path).map_err(|error| {
        Problem::of_file(&name, format!("the manifest cannot be read: {error}"), neighbours(path))
    })?;
    parse_in(path.parent().unwrap_or(Path::new("")), &name, &text)
}

/// Checks a manifest that lies in the current folder; problems call it `name`.
pub fn parse(name: &str, text: &str) -> Result<System, Problems> {
    parse_in(Path::new(""), name, text)
}

/// Checks a manifest that lies in a folder, where what it names is looked for; problems call it
/// `name`.
pub fn parse_in(folder: &Path, name: &str, text: &str) -> Result<System, Problems> {
    resolve::system(folder, &Source { name: name.into(), text: text.into() })
}

/// A hint at the manifests beside one that cannot be read.
fn neighbours(path: &Path) -> String {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let entries = std::fs::read_dir(folder.unwrap_or(Path::new("."))).into_iter().flatten();
    let names = entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned());
    let mut names: Vec<String> = names.filter(|name| name.ends_with(".toml")).collect();
    names.sort();
    if names.is_empty() {
        return "name a manifest, for instance one of systems/*.toml".into();
    }
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    suggest::hint(&name, "manifests there", &names.iter().map(String::as_str).collect::<Vec<_>>())
}
