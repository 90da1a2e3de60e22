//! Files that a memory object holds: read beside the manifest, packed as a cpio archive.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;
use std::{fs, io};

use abi::Rights;
use abi::files::{LONGEST_NAME, LONGEST_PATH, MOST, MOST_BYTES, is_path, split};
use cpio::newc::{self, Builder};
use toml::{Spanned, Table, Value};

use crate::problem::{Problem, quote};
use crate::schema::{self, Manifest};
use crate::suggest::hint;
use crate::system::System;
use crate::target::Target;
use crate::units::spell_size;
use crate::values::Values;

/// How files are given.
const HELP: &str = "write \"FOLDER\", or a list of \"FILE\", \"FOLDER\" and \
                    { path = \"PATH\", file = \"FILE\" }";
/// The keys of a file with a path of its own.
const KEYS: [&str; 2] = ["path", "file"];
/// Modes of a folder and of a file in an archive: all may read.
const FOLDER: u32 = 0o040555;
const FILE: u32 = 0o100444;

/// What is wrong, and how to mend it.
type Wrong = (String, String);

/// The archive of the files that a manifest in `folder` gives a memory.
pub fn pack(values: &Values, folder: &Path, given: &Spanned<Value>) -> Result<Vec<u8>, Problem> {
    let mut files = Files { folder, entries: BTreeMap::new(), bytes: 0 };
    let packed = match given.get_ref() {
        Value::String(name) => files.add_folder("", name),
        Value::Array(list) => list.iter().try_for_each(|one| files.add_listed(one)),
        _ => Err(("these are no files".to_string(), HELP.to_string())),
    };
    let packed = packed.and_then(|()| {
        let failed = |error: io::Error| (format!("the files: {error}"), HELP.to_string());
        archive(&files.entries).map_err(failed)
    });
    packed.map_err(|(message, help)| values.problem(given, message, help))
}

/// Files and folders by their paths.
struct Files<'a> {
    /// Where they are looked for.
    folder: &'a Path,
    /// What each file has; nothing for a folder.
    entries: BTreeMap<String, Option<Vec<u8>>>,
    bytes: u64,
}

impl Files<'_> {
    /// Adds an entry of the list.
    fn add_listed(&mut self, one: &Value) -> Result<(), Wrong> {
        match one {
            Value::String(name) => {
                let own = Path::new(name).file_name().and_then(|name| name.to_str());
                let own = own.ok_or_else(|| self.unreadable(name, "it has no name"))?;
                self.add(own, name)
            }
            Value::Table(table) => {
                if let Some(key) = table.keys().find(|key| !KEYS.contains(&key.as_str())) {
                    let message = format!("{} is not a key of a file", quote(key));
                    return Err((message, hint(key, "keys here are", &KEYS)));
                }
                let [path, file] = KEYS.map(|key| text(table, key));
                self.add(path?, file?)
            }
            _ => Err(("this list has what is no file".to_string(), HELP.to_string())),
        }
    }

    /// Adds a file, or a folder with all that it holds, under a path.
    fn add(&mut self, path: &str, name: &str) -> Result<(), Wrong> {
        if !is_path(path) {
            let help = format!(
                "a path has names of up to {LONGEST_NAME} bytes with `/` between, without `.` and \
                 `..`, {LONGEST_PATH} bytes in all"
            );
            return Err((format!("{} cannot be the path of a file", quote(path)), help));
        }
        let found = fs::metadata(self.folder.join(name));
        let found = found.map_err(|error| self.unreadable(name, error))?;
        self.add_folders_above(path)?;
        if found.is_dir() {
            self.keep(path, None)?;
            return self.add_folder(path, name);
        }
        if !found.is_file() {
            return Err(self.unreadable(name, "it is neither a file nor a folder"));
        }
        self.bytes += found.len();
        self.check_bytes()?;
        let content = fs::read(self.folder.join(name));
        let content = content.map_err(|error| self.unreadable(name, error))?;
        self.keep(path, Some(content))
    }

    /// Adds what a folder holds, in the order of names.
    fn add_folder(&mut self, path: &str, name: &str) -> Result<(), Wrong> {
        let entries = fs::read_dir(self.folder.join(name)).and_then(Iterator::collect);
        let entries: Vec<fs::DirEntry> = entries.map_err(|error| self.unreadable(name, error))?;
        let mut names: Vec<_> = entries.iter().map(fs::DirEntry::file_name).collect();
        names.sort();
        for inner in names {
            let inner = inner.to_str().ok_or_else(|| {
                let said = format!("the name {inner:?} in it is no text");
                self.unreadable(name, said)
            })?;
            let below = if path.is_empty() { inner.to_string() } else { format!("{path}/{inner}") };
            self.add(&below, &format!("{}/{inner}", name.trim_end_matches('/')))?;
        }
        Ok(())
    }

    fn add_folders_above(&mut self, path: &str) -> Result<(), Wrong> {
        let (folder, _) = split(path);
        if folder.is_empty() {
            return Ok(());
        }
        self.add_folders_above(folder)?;
        if self.entries.entry(folder.to_string()).or_default().is_some() {
            let message = format!("{} would lie in a file", quote(path));
            return Err((message, format!("give {} another path", quote(folder))));
        }
        Ok(())
    }

    /// Adds an entry. A folder may be there already.
    fn keep(&mut self, path: &str, content: Option<Vec<u8>>) -> Result<(), Wrong> {
        let is_folder = content.is_none();
        let before = self.entries.insert(path.to_string(), content);
        if before.is_some_and(|before| before.is_some() || !is_folder) {
            let message = format!("two files have the path {}", quote(path));
            let help = "give one another path: { path = \"PATH\", file = \"FILE\" }";
            return Err((message, help.to_string()));
        }
        let count = self.entries.len();
        if count > MOST {
            let message = format!("there are more than {MOST} files and folders");
            return Err((message, "leave some out, or take another memory for them".to_string()));
        }
        Ok(())
    }

    fn check_bytes(&self) -> Result<(), Wrong> {
        if self.bytes <= MOST_BYTES {
            return Ok(());
        }
        let message = format!("the files have more than {}", spell_size(MOST_BYTES));
        Err((message, "leave some out, or take another memory for them".to_string()))
    }

    fn unreadable(&self, name: &str, why: impl ToString) -> Wrong {
        let folder = match self.folder.to_str() {
            Some("") | None => "the current folder".to_string(),
            Some(folder) => quote(folder),
        };
        let message = format!("{} cannot be packed: {}", quote(name), why.to_string());
        (message, format!("files are looked for in {folder}"))
    }
}

/// A text of a table.
fn text<'a>(table: &'a Table, key: &str) -> Result<&'a str, Wrong> {
    let text = table.get(key).and_then(Value::as_str);
    text.ok_or_else(|| (format!("a file of this list has no `{key}`"), HELP.to_string()))
}

/// Writes an archive: it is the same for the same files.
fn archive(entries: &BTreeMap<String, Option<Vec<u8>>>) -> io::Result<Vec<u8>> {
    let mut archive = Vec::new();
    for (number, (path, content)) in (1..).zip(entries) {
        let mode = if content.is_some() { FILE } else { FOLDER };
        let content = content.as_deref().unwrap_or_default();
        let entry = Builder::new(path).ino(number).nlink(1).mode(mode);
        let mut entry = entry.write(archive, content.len() as u32);
        entry.write_all(content)?;
        archive = entry.finish()?;
    }
    newc::trailer(archive)
}

/// Takes the rights to write and execute from all capabilities to memories that hold files.
pub fn keep(system: &mut System) {
    let memories = &system.memories;
    let holds = |index: usize| memories.get(index).is_some_and(|it| !it.contents.is_empty());
    for cap in system.domains.iter_mut().flat_map(|domain| &mut domain.caps) {
        if matches!(cap.target, Target::Memory(index) if holds(index)) {
            cap.rights = Rights(cap.rights.0 & !Rights::WRITE.or(Rights::EXECUTE).0);
        }
    }
}

/// Files that would be mapped to be written.
pub fn written(values: &Values, manifest: &Manifest) -> Vec<Problem> {
    let holds = |name: &str| {
        let memory = manifest.memory.iter().find(|memory| memory.name.get_ref() == name);
        memory.is_some_and(|memory| memory.files.is_some())
    };
    let maps = manifest.domain.iter().flat_map(|domain| &domain.get_ref().maps);
    let wrong = maps.filter(|map| map.rights.get_ref() != "r" && holds(map.memory.get_ref()));
    let problem = |map: &schema::Map| {
        let message = format!("memory {} holds files, which stay", quote(map.memory.get_ref()));
        values.problem(&map.rights, message, "map it \"r\"")
    };
    wrong.map(problem).collect()
}
