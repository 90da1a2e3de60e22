//! The twin: Giusto as a deterministic simulation inside a process.
//!
//! The kernel's core and the programs are the very source that runs on other machines. Each thread
//! is a coroutine; time is virtual and passes only where a program computes
//! ([`rt::system::work`]) and where the kernel takes a step, by a table of `Costs`. A software
//! page table makes mappings and faults work. With `chaos` set, interrupts and delays are injected
//! by seed at every work boundary and preemption point. A run depends on its [`Run`] alone.
//!
//! | file | what |
//! |---|---|
//! | `meter.rs`, `costs.rs` | virtual time, what each step costs, the log of steps |
//! | `hardware.rs`, `processor.rs` | memory, IRQs, a console; what each CPU has |
//! | `port.rs`, `locking.rs` | the kernel's port, under each lock policy |
//! | `sections.rs` | how long the kernel is locked |
//! | `order.rs`, `cpus.rs` | several CPUs: which one goes on, and where they go on |
//! | `barriers.rs` | barriers that weakly ordered processors need |
//! | `lines.rs` | which CPU has which line of memory, and what moving one costs |
//! | `transactions.rs` | sections that are undone |
//! | `attached.rs` | devices: where their registers are, when they interrupt |
//! | `paging.rs`, `context.rs` | page tables, saved registers |
//! | `program.rs` | what programs see as their machine |
//! | `fiber.rs` | coroutines |
//! | `machine_code.rs`, `window.rs` | programs that are machine code; their pages in this process |
//! | `signals.rs` | what the host refuses to programs |
//! | `board.rs` | entering the kernel, event by event |
//! | `run.rs` | a whole run, from archive to outcome |
//! | `programs.rs` | the table of programs |
//! | `typist.rs` | what is typed because of what is printed |
//! | `serve.rs` | answers the laboratory; a twin's `main` is written where it is built |
//!
//! [`Run`]: twin_protocol::Run

mod attached;
mod barriers;
mod board;
mod context;
mod costs;
mod cpus;
mod fiber;
mod functions;
mod hardware;
mod kernels;
mod lines;
mod locking;
mod machine_code;
mod memory;
mod meter;
mod order;
mod paging;
mod port;
mod processor;
mod program;
mod programs;
mod run;
mod sections;
mod serve;
mod signals;
mod standing;
mod transactions;
mod typist;
mod window;

pub use programs::Program;
pub use run::run;
pub use serve::serve;
pub use typist::Ask;

use rt::arch::hosted;
use twin_protocol::About;

/// What the twin consists of.
pub fn about() -> About {
    let names = |names: &[&str]| names.iter().map(|name| name.to_string()).collect();
    let programs = (0..).zip(programs::all());
    About {
        kernels: names(kernels::KERNELS),
        locked_kernels: names(kernels::LOCKED_KERNELS),
        text: hosted::TEXT,
        work: machine_code::WORK,
        programs: programs.map(|(at, (name, _))| (name.to_string(), hosted::text(at))).collect(),
    }
}
