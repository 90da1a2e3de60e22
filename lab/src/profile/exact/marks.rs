//! Where the kernel writes its trace: each record is written by one execution of one of these
//! instructions.

use crate::machine::Emulator;
use anyhow::{Context, Result, ensure};
use object::{Object, ObjectSection, ObjectSymbol};
use std::path::Path;

/// Functions that read the counter for a record, once, unless it is not wanted.
const STAMPING: [&str; 2] = ["write", "write_if_on"];
/// A function that writes a record of an earlier instant, where there are such records.
const LATE: &str = "write_late";
/// The module of these functions, and the end of what modules with trace points are called.
const MODULE: &str = "kernel::cpu::notes::";
const POINTS: &str = "::notes::";

/// Records of each CPU that are written on trial before those of the trace.
const TRIALS: u64 = 32;

/// How many records a CPU writes before those of its trace: the first one, which boots, writes
/// all on trial.
pub fn trials(cpu: u8, cpus: u8) -> u64 {
    if cpu == 0 { TRIALS * u64::from(cpus) } else { 0 }
}

/// Whether a function, by its name, is a part of writing the trace.
pub fn writes_trace(function: &str) -> bool {
    function.contains(POINTS)
}

/// The addresses in a traced kernel's image.
///
/// # Errors
/// The image lacks a function that stamps records, or one does not read the counter once.
pub fn find(machine: &dyn Emulator, kernel: &Path) -> Result<Vec<u64>> {
    let data = fs_err::read(kernel)?;
    let file = object::File::parse(&*data)?;
    let named = |wanted: &str| {
        file.symbols().find(|symbol| {
            let name = addr2line::demangle_auto(symbol.name().unwrap_or_default().into(), None);
            name.starts_with(MODULE) && name.rsplit("::").next() == Some(wanted)
        })
    };
    let mut marks: Vec<u64> = named(LATE).map(|symbol| symbol.address()).into_iter().collect();
    for name in STAMPING {
        let symbol = named(name);
        let symbol = symbol.with_context(|| format!("the kernel has no {MODULE}{name}"))?;
        let (at, size) = (symbol.address(), symbol.size());
        let section = file.section_by_index(symbol.section_index().context("a foreign symbol")?)?;
        let code = section.data_range(at, size)?.context("a function without code")?;
        let reads = machine.counter_reads(code, at);
        ensure!(reads.len() == 1, "{MODULE}{name} reads the counter {} times", reads.len());
        marks.extend(reads);
    }
    Ok(marks)
}
