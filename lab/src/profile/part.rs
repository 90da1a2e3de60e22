//! Which part of the kernel an instruction belongs to (S0-E12).
//!
//! The compiler draws a message path together into one function, so that symbols cannot tell its
//! scheduling from its message handling. The debug information still knows in which source file
//! an instruction was written, and into which others it was drawn: the innermost that one table
//! names decides. Libraries and small helpers are not in it and count for their callers.

use crate::symbols::in_work_tree;
use addr2line::Loader;
use anyhow::{Result, anyhow};
use std::collections::BTreeMap;
use std::path::Path;

/// A part of the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    /// Messages: entry, look-up, transfer, send queues, the way out.
    Ipc,
    /// Scheduling: the ready queue, what to do with it, tick and time slices.
    Scheduler,
    /// Everything else.
    Other,
}

/// What source files belong to: a row is for files whose names contain this.
const FILES: [(&str, Part); 13] = [
    ("policies/src/", Part::Scheduler),
    ("kernel/src/sched/", Part::Scheduler),
    ("kernel/src/cpu/timer.rs", Part::Scheduler),
    ("kernel/src/cpu/ready_queue.rs", Part::Scheduler),
    ("kernel/src/leaf.rs", Part::Scheduler),
    ("kernel/src/tree.rs", Part::Scheduler),
    ("kernel/src/tree/", Part::Scheduler),
    ("kernel/src/ipc/", Part::Ipc),
    ("kernel/src/send_queue.rs", Part::Ipc),
    ("kernel/src/object/capability.rs", Part::Ipc),
    // Entry and exit of the core, and the port's own before and behind it.
    ("kernel/src/entry/", Part::Ipc),
    ("kernel/src/events.rs", Part::Ipc),
    ("/src/entry.rs", Part::Ipc),
];

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
            by_files(&files).unwrap_or_else(|| by_function(function))
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

/// The part of the innermost file that the table names.
fn by_files(files: &[String]) -> Option<Part> {
    // What is in no work tree is of a library.
    let own = files.iter().filter_map(|file| in_work_tree(file));
    own.into_iter().find_map(|file| {
        let row = FILES.iter().find(|(name, _)| file.contains(name));
        row.map(|(_, part)| *part)
    })
}

/// The part of the module that a function's name begins with; those behind it are of its types.
/// Modules are files of the table: all that the thesis had, and all that is known of assembly.
pub fn by_function(function: &str) -> Part {
    let found = FILES.iter().filter_map(|(file, part)| {
        let module = file.trim_end_matches(".rs").trim_end_matches('/');
        let module = module.replace("/src", "").replace('/', "::") + "::";
        Some((function.find(&module)?, *part))
    });
    found.min_by_key(|(at, _)| *at).map_or(Part::Other, |(_, part)| part)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace;

    /// The part of an instruction in these files of the work tree, innermost first.
    fn part(files: &[&str]) -> Option<Part> {
        let whole = |file: &&str| workspace::root().join(file).to_str().unwrap().to_string();
        by_files(&files.iter().map(whole).collect::<Vec<_>>())
    }

    #[test]
    fn source_files_are_told_apart() {
        assert_eq!(part(&["kernel/src/cpu/ready_queue.rs"]), Some(Part::Scheduler));
        assert_eq!(part(&["policies/src/levels.rs"]), Some(Part::Scheduler));
        assert_eq!(part(&["kernel/src/ipc/fast.rs"]), Some(Part::Ipc));
        assert_eq!(part(&["kernel/src/entry.rs"]), Some(Part::Ipc));
        assert_eq!(part(&["kernel/src/object/deadlines.rs"]), None);
        assert_eq!(by_function("giusto_kernel::entry::resume"), Part::Ipc);
        assert_eq!(by_function("policies::levels::find"), Part::Scheduler);
        assert_eq!(by_function("kernel::cpu::ready_queue::find"), Part::Scheduler);
        assert_eq!(by_function("giusto_kernel::traps::save"), Part::Other);
        let search = "kernel::sched::<impl kernel::entry::Entry<S>>::pick";
        assert_eq!(by_function(search), Part::Scheduler);
        let message = "kernel::ipc::<impl kernel::entry::Entry<kernel::sched::Direct>>::ipc";
        assert_eq!(by_function(message), Part::Ipc);
    }

    #[test]
    fn a_helper_counts_for_its_user() {
        let list = "kernel/src/list.rs";
        assert_eq!(
            part(&[list, "kernel/src/cpu/ready_queue.rs", "kernel/src/ipc/mod.rs"]),
            Some(Part::Scheduler)
        );
        assert_eq!(part(&[list, "kernel/src/ipc/mod.rs", "kernel/src/entry.rs"]), Some(Part::Ipc));
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
        assert_eq!(in_work_tree("/rustc/abc/library/core/src/cell.rs"), None);
        let own = workspace::root().join("kernel/src/cpu/ready_queue.rs");
        assert_eq!(in_work_tree(own.to_str().unwrap()), Some("kernel/src/cpu/ready_queue.rs"));
    }
}
