//! What each function has of a stretch, by itself and with what it calls.

use super::marks::writes_trace;
use super::stacks::Stack;
use super::waiting;
use crate::machine::Emulator;
use crate::profile::symbols::Symbols;
use addr2line::Loader;
use anyhow::{Result, anyhow};
use serde::Serialize;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// What of a stretch is no kernel code.
const PROGRAMS: &str = "programs";
/// What is of no function that is known.
const UNKNOWN: &str = "unknown";
/// Beginnings of the names of library functions, which count for those that call them: of modules,
/// references and numbers.
const LIBRARIES: [&str; 7] = ["core::", "alloc::", "<core::", "<alloc::", "<&", "<u", "<i"];

/// The functions of a kernel image.
pub struct Functions<'a> {
    emulator: &'a dyn Emulator,
    loader: Loader,
    symbols: Symbols,
    known: BTreeMap<u64, Vec<String>>,
}

impl Functions<'_> {
    /// Reads an image.
    ///
    /// # Errors
    /// It has no debug information.
    pub fn load<'a>(emulator: &'a dyn Emulator, kernel: &Path) -> Result<Functions<'a>> {
        let wrong = |error| anyhow!("no debug information in {}: {error}", kernel.display());
        let loader = Loader::new(kernel).map_err(wrong)?;
        let symbols = Symbols::load(kernel)?;
        Ok(Functions { emulator, loader, symbols, known: BTreeMap::new() })
    }

    /// Whether an address is the kernel's.
    pub fn is_kernel(&self, address: u64) -> bool {
        self.emulator.is_kernel(address)
    }

    /// The functions at an address, each inlined into the one before it.
    pub fn at(&mut self, address: u64) -> &[String] {
        let Functions { emulator, loader, symbols, known } = self;
        known.entry(address).or_insert_with(|| match emulator.is_kernel(address) {
            true => find(loader, symbols, address),
            false => vec![PROGRAMS.to_string()],
        })
    }
}

fn find(loader: &Loader, symbols: &Symbols, address: u64) -> Vec<String> {
    let mut names = Vec::new();
    if let Ok(mut frames) = loader.find_frames(address) {
        while let Ok(Some(frame)) = frames.next() {
            let name = frame.function.as_ref().and_then(|name| name.demangle().ok());
            names.extend(name.map(Cow::into_owned));
        }
    }
    let is_library = |name: &String| LIBRARIES.iter().any(|start| name.starts_with(start));
    let whole = names.last().cloned();
    names.retain(|name| !is_library(name));
    if names.is_empty() {
        let symbol = || symbols.find(address).unwrap_or(UNKNOWN).to_string();
        names.push(whole.unwrap_or_else(symbol));
    }
    names.reverse();
    names
}

/// A function's share of a stretch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Row {
    /// Its name.
    pub function: String,
    /// What it does itself; inlined functions count as others do.
    #[serde(rename = "self")]
    pub own: u64,
    /// The same with all that it calls.
    pub inclusive: u64,
}

/// Who did what in a stretch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// By the functions on the stack, the outermost first, without the writing of the trace.
    pub stacks: BTreeMap<Vec<String>, u64>,
    /// What writing the trace took.
    pub trace: u64,
}

impl Tally {
    /// Of stacks with their weights, by the functions at each address.
    pub fn of(
        stacks: BTreeMap<Stack, u64>,
        mut functions: impl FnMut(u64) -> Vec<String>,
    ) -> Tally {
        let mut tally = Tally::default();
        for (Stack { calls, at, waits }, weight) in stacks {
            if weight == 0 {
                continue;
            }
            let mut names: Vec<String> = calls.into_iter().flat_map(&mut functions).collect();
            let own = functions(at);
            names.extend(if waits { waiting::listed(own) } else { own });
            names.dedup();
            if names.iter().any(|name| writes_trace(name)) {
                tally.trace += weight;
            } else {
                *tally.stacks.entry(names).or_default() += weight;
            }
        }
        tally
    }

    /// All of it.
    pub fn all(&self) -> u64 {
        self.stacks.values().sum::<u64>() + self.trace
    }

    /// A row for each function, the greatest first.
    pub fn rows(&self) -> Vec<Row> {
        let mut rows: BTreeMap<&str, (u64, u64)> = BTreeMap::new();
        for (stack, weight) in &self.stacks {
            let each: BTreeSet<&str> = stack.iter().map(String::as_str).collect();
            each.into_iter().for_each(|name| rows.entry(name).or_default().1 += weight);
            let leaf = stack.last().map(String::as_str).unwrap_or(UNKNOWN);
            rows.entry(leaf).or_default().0 += weight;
        }
        let row = |(function, (own, inclusive)): (&str, (u64, u64))| {
            let function = function.to_string();
            Row { function, own, inclusive }
        };
        let mut rows: Vec<Row> = rows.into_iter().map(row).collect();
        rows.sort_by_key(|row| std::cmp::Reverse((row.own, row.inclusive)));
        rows
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::exact::waiting::WAITING;

    #[test]
    fn what_functions_have_sums_up_and_trace_and_waiting_are_apart() {
        let stack = |(calls, at, waits, weight): (&[u64], u64, bool, u64)| {
            (Stack { calls: calls.to_vec(), at, waits }, weight)
        };
        let stacks = [
            (&[][..], 1, false, 5),
            (&[1], 2, false, 3),
            (&[1, 2], 1, false, 2),
            (&[1], 3, false, 7),
            (&[1], 5, true, 4),
            (&[], 4, false, 0),
        ];
        let tally = Tally::of(stacks.map(stack).into(), |at| match at {
            1 => vec!["f".to_string()],
            2 => vec!["g".to_string(), "h".to_string()],
            3 => vec!["kernel::cpu::notes::write".to_string()],
            5 => vec!["g".to_string(), "locks::clh::acquire".to_string()],
            _ => panic!("nothing is there"),
        });
        assert_eq!((tally.trace, tally.all()), (7, 21));
        let rows: Vec<_> =
            tally.rows().into_iter().map(|r| (r.function, r.own, r.inclusive)).collect();
        let expected = [("f", 7, 14), (WAITING, 4, 4), ("h", 3, 5), ("g", 0, 9)];
        assert_eq!(rows, expected.map(|(name, own, all)| (name.to_string(), own, all)));
        let own: u64 = tally.rows().iter().map(|row| row.own).sum();
        assert_eq!(own + tally.trace, tally.all());
    }
}
