//! RTSim's task language (S2G-08): from text to a typed task set, and to a system that carries it
//! out on the kernel. What is wrong is told as with manifests: where, what and how to mend it.
//!
//! ```text
//! text -> tokens -> TaskSet -> manifest      a domain for each task, or a thread
//! rt-app, SimSo --> TaskSet
//!                   memories of a run -> Jobs
//! ```
#![forbid(unsafe_code)]

mod import;
mod jobs;
mod load;
mod parser;
mod set;
mod system;
mod token;

pub use import::{Imported, import};
pub use jobs::{Done, Jobs};
pub use parser::parse;
pub use set::{Activation, Instruction, Object, Operand, Phase, Task, TaskSet, Time};
pub use system::{END_NAME, Inheritance, Run, Scheduler};
pub use system::{begin, cpus, manifest, priority, step, thread};

#[cfg(test)]
mod tests;
