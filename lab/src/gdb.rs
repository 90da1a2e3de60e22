//! A debugger's session with the emulator: the scripts that gdb reads, and how to start it.
//!
//! Programs for a debugger are linked at addresses of their own, so gdb has the symbols of all of
//! them, beside the kernel's. Those of programs that share addresses, such as ELF files that were
//! linked elsewhere, it has while their domain is chosen. Which domain runs is read from its
//! environment, which begins with its name. The scripts take no Python, which not every gdb has.

use crate::failure::usage;
use crate::image::{self, Images};
use crate::scratch::Scratch;
use crate::workspace;
use abi::PAGE;
use anyhow::Result;
use manifest::{Domain, ENVIRONMENT, System};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::Duration;

/// The debugger.
pub const PROGRAM: &str = "gdb";
/// The Debian package that brings it.
pub const PACKAGE: &str = "gdb";

/// What gdb executes first. What is read-only it reads from the files: memory is not mapped yet.
const START: &str = "\
set confirm off
set pagination off
set trust-readonly-sections on
";

/// How a domain is chosen.
const CHOICE: &str = "\
define giusto-domain
  source FOLDER/$arg0
end
document giusto-domain
giusto-domain NAME: takes a domain for giusto-break, and the symbols of its
program where that shares addresses with another one. The domains:NAMES
end
";

/// A domain's file: symbols, and breakpoints that other domains run through.
const DOMAIN: &str = "\
symbol-file
symbol-file KERNEL
SYMBOLS\
define giusto-break
  break $arg0 if CONDITION
end
document giusto-break
giusto-break PLACE: stops where domain NAME alone comes to a function or
FILE:LINE. In the kernel: break PLACE, as `info functions` names it.
end
";

/// A session: its files lie in a folder that vanishes with it.
pub struct Session {
    folder: Scratch,
}

impl Session {
    /// Writes the scripts for a system.
    ///
    /// # Errors
    /// Without gdb, or if the files cannot be written.
    pub fn new(images: &Images, system: &System) -> Result<Session> {
        let there = Command::new(PROGRAM).arg("--version").output();
        if !there.is_ok_and(|output| output.status.success()) {
            return Err(usage(format!("{PROGRAM} is missing; run: apt-get install {PACKAGE}")));
        }
        let folder = Scratch::new()?;
        let session = Session { folder };
        let apart = apart(images)?;
        let start = session.start(&images.kernel, &symbols(&apart), system);
        fs_err::write(session.script(), start)?;
        fs_err::create_dir(session.domains())?;
        for domain in &system.domains {
            if let Some(program) = images.programs.get(&domain.program) {
                let mut programs = apart.clone();
                programs.insert(program);
                let text = about(domain, &images.kernel, &symbols(&programs));
                fs_err::write(session.domains().join(&domain.name), text)?;
            }
        }
        Ok(session)
    }

    /// Where the emulator waits.
    pub fn socket(&self) -> PathBuf {
        self.folder.path().join("socket")
    }

    fn script(&self) -> PathBuf {
        self.folder.path().join("script")
    }

    fn domains(&self) -> PathBuf {
        self.folder.path().join("domains")
    }

    fn start(&self, kernel: &Path, symbols: &str, system: &System) -> String {
        let (domains, socket) = (self.domains(), self.socket());
        let names: String =
            system.domains.iter().map(|domain| format!(" {}", domain.name)).collect();
        let choice = CHOICE.replace("FOLDER", &domains.display().to_string());
        let choice = choice.replace("NAMES", &names);
        let (kernel, socket, words) = (kernel.display(), socket.display(), words());
        // Names of sources are those from the root.
        let start = format!("{START}directory \"{}\"\n", workspace::root().display());
        let hint = format!("echo giusto-domain NAME chooses a domain:{names}\\n");
        format!("{start}file {kernel}\n{symbols}{words}{choice}target remote {socket}\n{hint}\n")
    }

    /// Says what to type as soon as the emulator waits.
    pub fn announce(&self) {
        let (socket, script) = (self.socket(), self.script());
        thread::spawn(move || {
            while script.exists() {
                if socket.exists() {
                    let command = format!("{PROGRAM} -x {}", script.display());
                    eprintln!(
                        "stopped before the first instruction; in another terminal:\n{command}"
                    );
                    return;
                }
                thread::sleep(Duration::from_millis(5));
            }
        });
    }
}

/// The programs that share no addresses with another one.
fn apart(images: &Images) -> Result<BTreeSet<&Path>> {
    let mut programs = BTreeMap::new();
    for path in images.programs.values() {
        programs.insert(path.as_path(), image::addresses(path)?);
    }
    let is_apart = |path: &Path, own: &Range<u64>| {
        let mut others = programs.iter().filter(|(other, _)| **other != path);
        others.all(|(_, other)| own.end <= other.start || other.end <= own.start)
    };
    Ok(programs.iter().filter(|(path, own)| is_apart(path, own)).map(|(path, _)| *path).collect())
}

/// How gdb takes the symbols of programs.
fn symbols(programs: &BTreeSet<&Path>) -> String {
    programs.iter().map(|path| format!("add-symbol-file {}\n", path.display())).collect()
}

/// The words of memory that tell one domain from another.
const WORDS: usize = 3;

/// Names for the words of the environment, which mean the same in every language that a breakpoint
/// may lie in.
fn words() -> String {
    let word = |index: usize| {
        let at = ENVIRONMENT + 8 * index as u64;
        format!("set $giusto_{index} = (unsigned long *){at:#x}\n")
    };
    let words: String = (0..WORDS).map(word).collect();
    format!("set language c\n{words}set language auto\n")
}

/// The file of a domain.
fn about(domain: &Domain, kernel: &Path, symbols: &str) -> String {
    let begins = format!("name={}\n", domain.name);
    assert!(begins.len() <= 8 * WORDS && 8 * WORDS < PAGE as usize, "names of domains are short");
    let condition = |(index, bytes): (usize, &[u8])| {
        let mut word = [0; 8];
        word[..bytes.len()].copy_from_slice(bytes);
        let mask = u64::MAX >> (64 - 8 * bytes.len());
        let masked = if bytes.len() < 8 { format!(" & {mask:#x}") } else { String::new() };
        format!("(*$giusto_{index}{masked}) == {:#x}", u64::from_le_bytes(word))
    };
    let conditions: Vec<String> = begins.as_bytes().chunks(8).enumerate().map(condition).collect();
    DOMAIN
        .replace("KERNEL", &kernel.display().to_string())
        .replace("SYMBOLS", symbols)
        .replace("CONDITION", &conditions.join(" && "))
        .replace("NAME", &domain.name)
}
