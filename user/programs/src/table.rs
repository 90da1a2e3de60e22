//! All programs by name, for machines that run them in their own process.

use rt::Env;

/// A program: its name, as its binary is called, and its function.
pub type Program = (&'static str, fn(&Env));

/// All programs: each has a binary in `src/bin`.
pub const PROGRAMS: &[Program] = include!(concat!(env!("OUT_DIR"), "/programs.rs"));
