//! Experiments with service curves (S4): `sharing-dynamics` and `decoupled-delay`.

pub mod delay;
pub mod sharing;
#[cfg(test)]
mod tests;

use super::claim::Ours::{Each, Same};
use anyhow::{Context, Result, ensure};

/// The kernel that has a scheduling tree.
const KERNELS: [&str; 1] = [manifest::TREE];
/// The paper's machine, and ours.
const MACHINE: (&str, &str, super::claim::Ours) = (
    "machine",
    "Sun Ultra-1, Solaris 2.7, one CPU",
    Each(["emulated: an instruction is a nanosecond", "simulated: work takes its time", ""]),
);
/// How long a program runs at least.
const QUANTUM: (&str, &str, super::claim::Ours) =
    ("quantum", "not stated; 1 ms in the ledger's model", Same("1 ms"));

/// The words behind a first one, of all lines that begin with it: the last is a number.
pub fn lines<'a>(console: &'a str, first: &str, words: usize) -> Result<Vec<(Vec<&'a str>, u64)>> {
    let mut found = Vec::new();
    for line in console.lines() {
        let mut parts = line.split_whitespace();
        if parts.next() != Some(first) {
            continue;
        }
        let mut parts: Vec<&str> = parts.collect();
        ensure!(parts.len() == words, "`{line}` is not what the program prints");
        let number = parts.pop().and_then(|word| word.parse().ok());
        found.push((parts, number.with_context(|| format!("`{line}` ends with no number"))?));
    }
    ensure!(!found.is_empty(), "the run printed no line `{first}`");
    Ok(found)
}
