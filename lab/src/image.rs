//! Builds what runs on a machine: the kernel image and the programs, each an ELF file.

use crate::failure::usage;
use crate::machine::{Emulator, Machine, Platform, native};
use crate::progress::Step;
use crate::workspace;
use anyhow::{Context, Result, bail};
use manifest::System;
use object::read::elf::ProgramHeader;
use object::{Object, ObjectSymbol};
use serde_json::Value;
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::thread;

/// The built files; none for a machine that is part of this process.
#[derive(Default)]
pub struct Images {
    /// The kernel with its symbols.
    pub kernel: PathBuf,
    /// The programs by name.
    pub programs: BTreeMap<String, PathBuf>,
}

/// Builds the kernel and all programs for a machine.
pub fn build(machine: &dyn Machine) -> Result<Images> {
    let Some(machine) = machine.emulator() else { return Ok(Images::default()) };
    let title = format!("building the kernel and the programs for {}", machine.name());
    images(machine, compile(machine, title, &["-p", "programs"])?)
}

/// Builds the program that measures on this host; returns its path. What else the laboratory
/// consists of has no part in it: not its features either.
pub fn build_native() -> Result<PathBuf> {
    let (package, program) = native::PROGRAM;
    let name = native::Native.name();
    let title = format!("building the platform {name}");
    let mut built = compile_for(name, title, &["-p", package])?;
    built.remove(program).with_context(|| format!("cargo built no `{program}`"))
}

/// The kernel and the rest of what was built.
fn images(machine: &dyn Emulator, mut built: BTreeMap<String, PathBuf>) -> Result<Images> {
    let kernel = built.remove(machine.kernel_binary());
    let missing = || format!("cargo built no `{}`", machine.kernel_binary());
    Ok(Images { kernel: kernel.with_context(missing)?, programs: built })
}

/// Builds an image with one kernel only, and returns its path.
pub fn build_alone(machine: &dyn Emulator, kernel: &str) -> Result<PathBuf> {
    let title = format!("building {kernel} alone for {}", machine.name());
    let directory = workspace::build_directory().join("alone");
    let directory = directory.to_str().context("the build directory's name is not text")?;
    let only = ["--no-default-features", "--features", kernel, "--target-dir", directory];
    Ok(images(machine, compile(machine, title, &only)?)?.kernel)
}

/// What a kernel can be built with that the usual image has nothing of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extra {
    /// A log of its primitive steps.
    Log,
    /// Trace points.
    Trace,
    /// Statistics.
    Statistics,
    /// Samples of where the time goes.
    Profile,
    /// Several CPUs, with one lock.
    Big,
    /// Several CPUs, with locks for single objects.
    Fine,
    /// Several CPUs, with one lock that transactions leave out.
    Elided,
    /// What several CPUs need but the lock; for one.
    Unguarded,
    /// Several CPUs, with one lock, and trace points.
    SeveralTraced,
    /// Several CPUs, with locks for single objects, and trace points.
    FineTraced,
    /// Several CPUs, with one lock that transactions leave out, and trace points.
    ElidedTraced,
    /// Several CPUs, with one lock, and statistics.
    SeveralCounted,
    /// Several CPUs, with locks for single objects, and statistics.
    FineCounted,
    /// Several CPUs, with one lock that transactions leave out, and statistics.
    ElidedCounted,
}

impl Extra {
    /// What a locking needs, one of [`LOCKINGS`](manifest::LOCKINGS); `None`: the usual image.
    pub fn of_locking(locking: &str) -> Option<Extra> {
        match locking {
            "big" => Some(Extra::Big),
            "fine" => Some(Extra::Fine),
            "elided" => Some(Extra::Elided),
            _ => None,
        }
    }

    /// What a traced kernel with a locking needs.
    pub fn traced(locking: &str) -> Extra {
        match locking {
            "big" => Extra::SeveralTraced,
            "fine" => Extra::FineTraced,
            "elided" => Extra::ElidedTraced,
            _ => Extra::Trace,
        }
    }

    /// What a kernel with a locking needs to keep statistics.
    pub fn counted(locking: &str) -> Extra {
        match locking {
            "big" => Extra::SeveralCounted,
            "fine" => Extra::FineCounted,
            "elided" => Extra::ElidedCounted,
            _ => Extra::Statistics,
        }
    }

    /// How many there are.
    pub const KINDS: usize = 14;

    /// The port's features, whose names are also the directory in which it is built.
    fn features(self) -> &'static [&'static str] {
        match self {
            Extra::Log => &["log"],
            Extra::Trace => &["trace"],
            Extra::Statistics => &["statistics"],
            Extra::Profile => &["profile"],
            Extra::Big => &["several"],
            Extra::Fine => &["fine"],
            Extra::Elided => &["elided"],
            Extra::Unguarded => &["unguarded"],
            Extra::SeveralTraced => &["several", "trace"],
            Extra::FineTraced => &["fine", "trace"],
            Extra::ElidedTraced => &["elided", "trace"],
            Extra::SeveralCounted => &["several", "statistics"],
            Extra::FineCounted => &["fine", "statistics"],
            Extra::ElidedCounted => &["elided", "statistics"],
        }
    }
}

/// Builds everything with a kernel that has something extra.
pub fn build_with(machine: &dyn Machine, extra: Extra) -> Result<Images> {
    let Some(machine) = machine.emulator() else { return Ok(Images::default()) };
    let features = extra.features();
    let title = format!("building a kernel with {} for {}", features.join(" and "), machine.name());
    let directory = workspace::build_directory().join(features.join("-"));
    let directory = directory.to_str().context("the build directory's name is not text")?;
    let of_port = |feature: &&str| format!("{}/{feature}", machine.port());
    let features = features.iter().map(of_port).collect::<Vec<_>>().join(",");
    let more = ["-p", "programs", "--features", &features, "--target-dir", directory];
    images(machine, compile(machine, title, &more)?)
}

/// What a system needs beyond the usual image: locks, and trace points if it has a trace.
pub fn extra_for(system: &System) -> Option<Extra> {
    match system.trace {
        Some(_) => Some(Extra::traced(system.locking())),
        None => Extra::of_locking(system.locking()),
    }
}

/// CPUs of an emulated machine: there a kernel's queue lock has 16 places.
const MOST_EMULATED: u32 = 8;

/// Builds what a system needs.
pub fn build_for(machine: &dyn Machine, system: &System) -> Result<Images> {
    let (name, cpus) = (&system.name, system.cpus);
    if machine.emulator().is_some() && cpus > MOST_EMULATED {
        return Err(usage(format!(
            "machine {} has at most {MOST_EMULATED} CPUs, {name} wants {cpus}; run it on the twin",
            machine.name()
        )));
    }
    match extra_for(system) {
        Some(extra) => build_with(machine, extra),
        None => build(machine),
    }
}

/// The physical address of a static in a kernel image, by its symbol.
pub fn static_address(kernel: &Path, name: &str) -> Result<u64> {
    let data = std::fs::read(kernel)
        .with_context(|| format!("cannot read the kernel image {}", kernel.display()))?;
    let file = object::read::elf::ElfFile64::<object::Endianness>::parse(&*data)?;
    let symbol = file.symbols().find(|symbol| symbol.name() == Ok(name));
    let at = symbol.with_context(|| format!("the kernel image does not define {name}"))?.address();
    let endian = file.endian();
    let segment = file.elf_program_headers().iter().find_map(|header| {
        let offset = at.checked_sub(header.p_vaddr(endian))?;
        (offset < header.p_memsz(endian)).then(|| header.p_paddr(endian) + offset)
    });
    segment.with_context(|| format!("{name} lies in no segment of the kernel image"))
}

/// Steps that a log has room for.
pub const LOG_ROOM: usize = 1 << 18;

/// Compiles the port and what `more` names; returns the executables by name.
fn compile(
    machine: &dyn Emulator,
    title: String,
    more: &[&str],
) -> Result<BTreeMap<String, PathBuf>> {
    let port = ["--target", machine.target(), "-p", machine.port()];
    compile_for(machine.name(), title, &[&port, more].concat())
}

/// Compiles what `what` names; returns the executables by name.
fn compile_for(machine: &str, title: String, what: &[&str]) -> Result<BTreeMap<String, PathBuf>> {
    let step = Step::start(title);
    let mut cargo = workspace::cargo(&["build", "--profile", "metal", "--bins"]);
    cargo.args(what);
    cargo.args(["--message-format", "json-render-diagnostics", "--color", "never"]);
    let mut child = cargo
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| usage(format!("cannot run cargo: {error}; see `./giusto doctor`")))?;
    let (messages, diagnostics) = follow(&mut child, &step)?;
    if !child.wait()?.success() {
        bail!("the build for {machine} failed:\n{}", readable(&diagnostics));
    }
    Ok(executables(&messages))
}

/// Reads both outputs of cargo to their ends and shows what it is doing.
fn follow(child: &mut Child, step: &Step) -> Result<(String, Vec<String>)> {
    let mut stdout = child.stdout.take().context("no standard output")?;
    let stderr = child.stderr.take().context("no standard error")?;
    let messages = thread::spawn(move || {
        let mut text = String::new();
        stdout.read_to_string(&mut text).map(|_| text)
    });
    let mut diagnostics = Vec::new();
    for line in BufReader::new(stderr).lines() {
        let line = line?;
        step.detail(line.trim());
        diagnostics.push(line);
    }
    let messages = messages.join().expect("the reader does not panic")?;
    Ok((messages, diagnostics))
}

/// Cargo's diagnostics without its progress lines.
fn readable(diagnostics: &[String]) -> String {
    let progress =
        ["Compiling ", "Downloading ", "Downloaded ", "Locking ", "Updating ", "Blocking "];
    let kept = diagnostics
        .iter()
        .filter(|line| !progress.iter().any(|start| line.trim_start().starts_with(start)));
    kept.map(|line| format!("{line}\n")).collect()
}

/// The executables that cargo's messages name.
fn executables(messages: &str) -> BTreeMap<String, PathBuf> {
    let artifact = |line: &str| {
        let message: Value = serde_json::from_str(line).ok()?;
        let path = message.get("executable")?.as_str()?;
        let name = message.get("target")?.get("name")?.as_str()?;
        Some((name.to_string(), PathBuf::from(path)))
    };
    messages.lines().filter_map(artifact).collect()
}

/// The ends of the code that stays after boot.
const TEXT: [&str; 2] = ["__text", "__text_end"];

/// Bytes of machine code that stays after boot, in a kernel image.
pub fn text_bytes(kernel: &Path) -> Result<u64> {
    let data = std::fs::read(kernel)
        .with_context(|| format!("cannot read the kernel image {}", kernel.display()))?;
    let file = object::File::parse(&*data)?;
    let address = |name: &str| {
        let symbol = file.symbols().find(|symbol| symbol.name() == Ok(name));
        symbol.map(|symbol| symbol.address())
    };
    let [start, end] = TEXT.map(address);
    let bytes = start.zip(end).and_then(|(start, end)| end.checked_sub(start));
    bytes.with_context(|| format!("the kernel image does not define {}", TEXT.join(" and ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn executables_are_read_from_cargos_messages() {
        let messages = concat!(
            r#"{"reason":"compiler-artifact","target":{"name":"abi"},"executable":null}"#,
            "\n",
            r#"{"reason":"compiler-artifact","target":{"name":"ping"},"executable":"/t/ping"}"#,
            "\n",
            r#"{"reason":"build-finished","success":true}"#,
        );
        let found = executables(messages);
        assert_eq!(found, BTreeMap::from([("ping".to_string(), PathBuf::from("/t/ping"))]));
    }

    #[test]
    fn progress_lines_are_no_diagnostics() {
        let lines = ["   Compiling abi v0.1.0", "error: no such thing", "  --> a.rs:1:2"];
        let kept = readable(&lines.map(String::from));
        assert_eq!(kept, "error: no such thing\n  --> a.rs:1:2\n");
    }
}
