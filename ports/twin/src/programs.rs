//! The programs that a twin runs, by their index in one table.

pub use rt::arch::hosted::Program;
use std::sync::OnceLock;

static PROGRAMS: OnceLock<Vec<Program>> = OnceLock::new();

/// Adds programs to Giusto's own, before any of them is asked for.
pub fn add(further: &[Program]) {
    let all = || ::programs::PROGRAMS.iter().chain(further).copied().collect();
    PROGRAMS.get_or_init(all);
}

/// All programs.
pub fn all() -> &'static [Program] {
    PROGRAMS.get_or_init(|| ::programs::PROGRAMS.to_vec())
}
