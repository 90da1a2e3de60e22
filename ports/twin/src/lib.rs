//! The twin: Giusto as a deterministic simulation inside a process.
//!
//! The kernel's core and the programs are the very source that runs on other machines. Each thread
//! is a coroutine; time is virtual and passes only where a program computes
//! ([`rt::system::work`]) and where the kernel takes a step, by a table of [`Costs`]. A software
//! page table makes mappings and faults work. With `chaos` set, interrupts and delays are injected
//! by seed at every work boundary and preemption point. A run depends on the archive and the
//! [`Options`] alone.
//!
//! | file | what |
//! |---|---|
//! | `meter.rs`, `costs.rs` | virtual time, what each step costs, the log of steps |
//! | `hardware.rs`, `processor.rs` | memory, interrupt lines, a console; what each CPU has |
//! | `port.rs`, `locking.rs` | the kernel's port, under each guarding |
//! | `sections.rs` | how long the kernel is locked |
//! | `order.rs`, `cpus.rs` | several CPUs: which one goes on, and where they go on |
//! | `lines.rs` | which CPU has which line of memory, and what moving one costs |
//! | `transactions.rs` | sections that are undone |
//! | `paging.rs`, `context.rs` | page tables, saved registers |
//! | `program.rs` | what programs see as their machine |
//! | `fiber.rs` | coroutines |
//! | `board.rs` | entering the kernel, event by event |
//! | `run.rs` | a whole run, from archive to outcome |

mod board;
mod context;
mod costs;
mod cpus;
mod fiber;
mod hardware;
mod kernels;
mod lines;
mod locking;
mod memory;
mod meter;
mod order;
mod paging;
mod port;
mod processor;
mod program;
mod rng;
mod run;
mod sections;
mod transactions;

pub use costs::{Costs, Entry};
pub use kernel::step::{Queue, Step};
pub use kernels::{KERNELS, LOCKED_KERNELS};
pub use lines::Topology;
pub use locking::LOCKINGS;
pub use run::{Calls, End, Options, Outcome, run};
pub use sections::{Scatter, Sections, Service};
pub use transactions::Refused;

use rt::arch::hosted;

/// Names of the programs that the twin can run.
pub fn programs() -> impl Iterator<Item = &'static str> {
    programs::PROGRAMS.iter().map(|(name, _)| *name)
}

/// The text of a program: words for its first addresses, which begin at [`TEXT`].
pub fn text(program: &str) -> Option<[u64; 2]> {
    let index = programs::PROGRAMS.iter().position(|(name, _)| *name == program)?;
    Some(hosted::text(index as u32))
}

/// Where a program's text lies, which is also where it begins.
pub const TEXT: u64 = hosted::TEXT;
