//! The programs that a twin runs, by their index in one table.

pub use rt::arch::hosted::Program;
use std::sync::OnceLock;

/// Giusto's own.
#[cfg(feature = "programs")]
const OWN: &[Program] = ::programs::PROGRAMS;
#[cfg(not(feature = "programs"))]
const OWN: &[Program] = &[];

static PROGRAMS: OnceLock<Vec<Program>> = OnceLock::new();

/// Adds programs to Giusto's own, before any of them is asked for.
pub fn add(further: &[Program]) {
    let all = || OWN.iter().chain(further).copied().collect();
    PROGRAMS.get_or_init(all);
}

/// All programs.
pub fn all() -> &'static [Program] {
    PROGRAMS.get_or_init(|| OWN.to_vec())
}
