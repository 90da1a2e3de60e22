//! The native machine: the kernel's core on host threads that are pinned to CPUs.
//!
//! A run boots a real system ([`board`]) and gives each CPU a [`driver`], which enters the kernel
//! through the functions that any port's entry code calls, with the registers of a client or a
//! server, and goes on as the thread that comes back. There is no user mode, no page table and no
//! timer; a CPU interrupts another one by a flag that its driver polls between system calls.
//!
//! ```text
//! main -> request -> cost | scaling | lines -> JSON
//!                      \      |
//!                       board -> driver -> kernel::entry
//! ```

pub mod archive;
pub mod board;
pub mod context;
pub mod cost;
pub mod counter;
pub mod driver;
pub mod kernels;
pub mod lines;
pub mod pin;
pub mod port;
pub mod request;
pub mod scaling;
pub mod space;
pub mod think;
