//! Which part of the kernel an instruction belongs to (S0-E12).
//!
//! The compiler draws a message path together into one function, so that symbols cannot tell its
//! scheduling from its message handling. The debug information still knows in which source file
//! an instruction was written: that file decides, by one table.

use crate::workspace;
use addr2line::Loader;
use anyhow::{Result, anyhow};
use std::collections::BTreeMap;
use std::path::Path;

/// A part of the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    /// Messages: entry, look-up, transfer, send queues, the way out.
    Ipc,
    /// Who runs: the ready queue, what to do with it, tick and time slices.
    Scheduler,
    /// Everything else.
    Other,
}

/// What source files belong to: the first row that a file's name contains decides.
const FILES: [(&str, Part); 14] = [
    ("policies/src/", Part::Scheduler),
    ("kernel/src/sched.rs", Part::Scheduler),
    ("kernel/src/slowpath.rs", Part::Scheduler),
    ("kernel/src/ready.rs", Part::Scheduler),
    ("kernel/src/cpu.rs", Part::Scheduler),
    ("kernel/src/ipc/", Part::Ipc),
    ("kernel/src/send_queue.rs", Part::Ipc),
    ("kernel/src/capability.rs", Part::Ipc),
    ("kernel/src/access.rs", Part::Ipc),
    ("kernel/src/core.rs", Part::Ipc),
    ("kernel/src/list.rs", Part::Ipc),
    ("kernel/src/object/", Part::Ipc),
    // Entry and exit of the core, and the port's own before and behind it.
    ("/src/entry.rs", Part::Ipc),
    ("abi/src/", Part::Ipc),
];

/// What functions of assembly belong to, which no source line is known of.
const FUNCTIONS: [(&str, Part); 1] = [("::entry::", Part::Ipc)];

/// Tells the parts of one kernel image apart.
pub struct Parts {
    loader: Loader,
    known: BTreeMap<u64, Part>,
}

impl Parts {
    /// Of this kernel image.
    pub fn load(kernel: &Path) -> Result<Parts> {
        let wrong = |error| anyhow!("no debug information in {}: {error}", kernel.display());
        Ok(Parts { loader: Loader::new(kernel).map_err(wrong)?, known: BTreeMap::new() })
    }

    /// The part that an instruction belongs to, in a function of this name.
    pub fn of(&mut self, at: u64, function: &str) -> Part {
        let loader = &self.loader;
        *self.known.entry(at).or_insert_with(|| {
            let files = files(loader, at);
            let own = files.iter().map(String::as_str).find_map(own_file);
            own.map_or_else(|| by_function(function), by_file)
        })
    }
}

/// The source files at an address, that of the innermost inlined function first.
fn files(loader: &Loader, at: u64) -> Vec<String> {
    let mut files = Vec::new();
    if let Ok(mut frames) = loader.find_frames(at) {
        while let Ok(Some(frame)) = frames.next() {
            files.extend(frame.location.and_then(|place| Some(place.file?.to_string())));
        }
    }
    files
}

/// A source file's name within the work tree; `None`: it is of a library, which works for
/// whoever called it.
fn own_file(file: &str) -> Option<&str> {
    file.strip_prefix(workspace::root().to_str()?)?.strip_prefix('/')
}

fn by_file(file: &str) -> Part {
    let row = FILES.iter().find(|(name, _)| file.contains(name));
    row.map_or(Part::Other, |(_, part)| *part)
}

fn by_function(function: &str) -> Part {
    let row = FUNCTIONS.iter().find(|(name, _)| function.contains(name));
    row.map_or(Part::Other, |(_, part)| *part)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn source_files_are_told_apart() {
        assert_eq!(by_file("kernel/src/ready.rs"), Part::Scheduler);
        assert_eq!(by_file("policies/src/fixed.rs"), Part::Scheduler);
        assert_eq!(by_file("kernel/src/ipc/fast.rs"), Part::Ipc);
        assert_eq!(by_file("kernel/src/entry.rs"), Part::Ipc);
        assert_eq!(by_file("kernel/src/time.rs"), Part::Other);
        assert_eq!(by_function("giusto_kernel::entry::resume"), Part::Ipc);
        assert_eq!(by_function("giusto_kernel::traps::save"), Part::Other);
    }

    #[test]
    fn every_row_names_what_exists() {
        let root = workspace::root();
        for (name, _) in FILES.iter().filter(|(name, _)| !name.starts_with('/')) {
            assert!(root.join(name).exists(), "{name}");
        }
    }

    #[test]
    fn library_files_count_for_their_callers() {
        assert_eq!(own_file("/rustc/abc/library/core/src/cell.rs"), None);
        let own = workspace::root().join("kernel/src/ready.rs");
        assert_eq!(own_file(own.to_str().unwrap()), Some("kernel/src/ready.rs"));
    }
}
