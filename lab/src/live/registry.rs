//! The running systems of this build directory: a file each, which the process that runs the system
//! keeps locked. A file that nobody has locked is left from a process that was killed.

use super::entry::{Entry, Held};
use crate::failure::{did_you_mean, usage};
use crate::image::Images;
use crate::waits::Objects;
use crate::workspace;
use anyhow::{Context, Result};
use fs_err as fs;
use manifest::{Archive, Control, System};
use std::fs::{File, TryLockError};
use std::io::Write;
use std::path::{Path, PathBuf};

/// The end of the files' names.
const SUFFIX: &str = "json";
/// What to do where nothing can be watched.
const HOW: &str = "start one in another terminal: ./giusto run SYSTEM --control";

/// What is entered when a system boots.
pub struct Registration {
    directory: PathBuf,
    entry: Entry,
    memory: String,
}

impl Registration {
    /// Of the system of a manifest, with its programs and this control domain, on a machine.
    pub fn new(
        manifest: PathBuf,
        (system, images): (&System, &Images),
        control: &Control,
        machine: &str,
    ) -> Registration {
        let entry = Entry {
            pid: std::process::id(),
            system: system.name.clone(),
            manifest,
            machine: machine.to_string(),
            ram: PathBuf::new(),
            nonce: 0,
            address_at: 0,
            bytes: abi::control::BYTES,
            control: control.domain.clone(),
            held: Held::all(system, control),
            objects: Objects::of(system, images),
            path: PathBuf::new(),
        };
        Registration { directory: directory(), entry, memory: control.memory.clone() }
    }

    /// Enters the system until what is returned is dropped. `ram` is the file with the machine's
    /// memory, in which the archive with this nonce will be.
    pub fn enter(&self, ram: &Path, nonce: u64, archive: &Archive) -> Result<Entered> {
        let memory = archive.memories.iter().find(|memory| memory.name == self.memory);
        let memory = memory.context("the archive has no memory for the control domain")?;
        let address_at = memory.address_offset as u64;
        let entry = Entry { ram: ram.to_path_buf(), nonce, address_at, ..self.entry.clone() };
        Entered::new(&self.directory, &entry)
    }
}

/// A running system among the others.
pub struct Entered {
    path: PathBuf,
    _locked: File,
}

impl Entered {
    fn new(directory: &Path, entry: &Entry) -> Result<Entered> {
        fs::create_dir_all(directory)?;
        let path = directory.join(format!("{}-{:016x}.{SUFFIX}", entry.pid, entry.nonce));
        // It is locked before it has the name by which others find it.
        let draft = path.with_extension("draft");
        let mut file = fs::File::create(&draft)?.into_parts().0;
        file.lock().context("the file of a running system cannot be locked")?;
        file.write_all(&serde_json::to_vec_pretty(entry)?)?;
        fs::rename(&draft, &path)?;
        Ok(Entered { path, _locked: file })
    }
}

impl Drop for Entered {
    fn drop(&mut self) {
        // Without its lock it counts as left over anyway.
        let _ = fs::remove_file(&self.path);
    }
}

fn directory() -> PathBuf {
    workspace::build_directory().join("running")
}

/// The running system that is meant: by name, by process, or the only one.
pub fn find(system: Option<&str>, pid: Option<u32>) -> Result<Entry> {
    chosen(running(&directory()), system, pid)
}

/// All running systems, in the order of their processes. Files that are left over are removed.
fn running(directory: &Path) -> Vec<Entry> {
    let files = fs::read_dir(directory).into_iter().flatten().flatten();
    let mut entries: Vec<Entry> = files.filter_map(|file| read(&file.path())).collect();
    entries.sort_by_key(|entry| entry.pid);
    entries
}

fn read(path: &Path) -> Option<Entry> {
    if path.extension()? != SUFFIX {
        return None;
    }
    let file = File::open(path).ok()?;
    match file.try_lock() {
        Err(TryLockError::WouldBlock) => {
            let entry: Entry = serde_json::from_slice(&fs::read(path).ok()?).ok()?;
            Some(Entry { path: path.to_path_buf(), ..entry })
        }
        _ => {
            // Another command may remove it at the same time.
            let _ = fs::remove_file(path);
            None
        }
    }
}

fn chosen(entries: Vec<Entry>, system: Option<&str>, pid: Option<u32>) -> Result<Entry> {
    let all = names(&entries);
    if entries.is_empty() {
        return Err(usage(format!("no system runs with --control here\n  {HOW}")));
    }
    let fits = |entry: &Entry| {
        pid.is_none_or(|pid| entry.pid == pid) && system.is_none_or(|name| entry.system == name)
    };
    let known: Vec<String> = entries.iter().map(|entry| entry.system.clone()).collect();
    let mut fitting = entries.into_iter().filter(fits);
    match (fitting.next(), fitting.next()) {
        (Some(entry), None) => Ok(entry),
        (Some(_), Some(_)) => Err(usage(format!(
            "several systems run: {all}\n  name one with --system NAME or --pid N"
        ))),
        (None, _) => {
            let (wanted, hint) = match (system, pid) {
                (Some(name), _) => {
                    let hint = did_you_mean(name, known.iter().map(String::as_str));
                    (format!("no system `{name}` runs with --control"), hint)
                }
                (None, pid) => {
                    (format!("no system runs in process {}", pid.unwrap_or(0)), "".into())
                }
            };
            Err(usage(format!("{wanted}, only {all}{hint}\n  {HOW}")))
        }
    }
}

fn names(entries: &[Entry]) -> String {
    let name = |entry: &Entry| format!("{} (pid {})", entry.system, entry.pid);
    entries.iter().map(name).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests;
