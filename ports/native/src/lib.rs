//! The native machine: the kernel's core on host threads that are pinned to CPUs.
//!
//! A run boots a real system ([`board`]) and gives each CPU a [`processor`], which enters the
//! kernel through the functions that any port's entry code calls, with the registers of the running
//! thread, and goes on as the thread that comes back. What threads do in between is played by a
//! [`driver`] (a client and a server), a [`ring`], a [`queue`] or a [`mix`] of clients. There is no
//! user mode, no page table and no timer; a CPU interrupts another one by a flag that its driver
//! polls between system calls.
//!
//! ```text
//! main -> request -> cost | scaling    series    mix    lines -> JSON
//!                          |            |         |
//!                        driver    ring | queue   |
//!                          |            |         |
//!                        board -> processor -> kernel::entry
//! ```

pub mod archive;
pub mod board;
pub mod context;
pub mod cost;
pub mod counter;
pub mod driver;
pub mod kernels;
pub mod lines;
pub mod mix;
pub mod pin;
pub mod port;
pub mod processor;
pub mod queue;
pub mod request;
pub mod ring;
pub mod scaling;
pub mod series;
pub mod space;
pub mod think;
