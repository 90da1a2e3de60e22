//! What the laboratory and the twin say to each other: plain data, and how it is framed.
//!
//! The twin is a program of the host. A socket is its standard input: a [`Request`] comes in, a
//! [`Reply`] goes out, until the laboratory closes it. What the machine prints goes to the standard
//! output, if that is asked for.
#![forbid(unsafe_code)]

mod frame;
mod options;
mod outcome;
mod topology;

pub use frame::{receive, send};
pub use options::{Devices, Options, Scatter, Service, Transfers};
pub use outcome::{Calls, Doing, End, Outcome, Sections};
pub use topology::Topology;

use serde::{Deserialize, Serialize};

/// The detail of a fault of kind `Other`: a program that is machine code has run for long, and time
/// has not passed.
pub const LOOPS: u64 = u64::from_le_bytes(*b"LOOPS\0\0\0");

/// The detail of another one: machine code has written to a device, but not one register whole.
pub const NO_REGISTER: u64 = u64::from_le_bytes(*b"REGISTER");

/// What the laboratory asks for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Request {
    /// What the twin consists of.
    About,
    /// A run.
    Run(Box<Run>),
    /// What is typed, as an answer to [`Reply::Printed`].
    Typed(Typed),
}

/// Boots an archive and runs it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Run {
    /// The words of the boot archive.
    pub archive: Vec<u64>,
    /// What else the run depends on.
    pub options: Options,
    /// The words of the archive in which the kernel leaves the physical addresses of memory
    /// objects that are wanted, with their bytes.
    pub wanted: Vec<(usize, u64)>,
}

/// What is typed at the console because of a line.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Typed {
    /// What is typed, at the instant at which the line was printed.
    pub text: Vec<u8>,
    /// Whether further lines are to be told.
    pub listens: bool,
}

/// What the twin answers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Reply {
    /// To [`Request::About`].
    About(About),
    /// To [`Request::Run`]: what is left of it.
    Ran(Box<Outcome>),
    /// In a run that listens, a line that was printed: [`Request::Typed`] is to answer it.
    Printed(String),
    /// The run cannot be: why.
    Refused(String),
    /// The twin itself failed: what it said.
    Failed(String),
}

/// What the twin consists of.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct About {
    /// Names of the kernels that it can run on one CPU without locks.
    pub kernels: Vec<String>,
    /// Names of those that it can run under a locking.
    pub locked_kernels: Vec<String>,
    /// Where the text of a program lies, which is also where it begins.
    pub text: u64,
    /// The number of the system call by which a program that is machine code computes.
    pub work: u64,
    /// Its programs: names, and words for the first addresses of the text.
    pub programs: Vec<(String, [u64; 3])>,
}
