//! The Giusto microkernel core.
//!
//! The core names no machine. A port enters it through [`entry`] with a thread's saved registers
//! and switches to whichever thread comes back; [`port::Port`] is all that the core asks of it.
//! One message walks `entry` -> [`ipc`] -> [`sched`] and out again.
//!
//! Principles:
//! - Event-driven, run to completion, interrupts off: one kernel stack, no kernel threads.
//! - Two phases: a system call first checks everything and may fail, then commits and cannot.
//! - No heap: objects live in pools carved at boot; quotas say who may use how many.
//! - What is not O(1) has preemption points: it notes how far it came, and the thread issues its
//!   call again once the interrupt is served.
//! - Variants are types collected in [`system::System`]; code outside the message path is shared
//!   by all kernels in an image.
#![no_std]
#![deny(unsafe_code)]

#[allow(unsafe_code)]
pub mod access;
#[allow(unsafe_code)]
pub mod arena;
mod assertion;
pub mod boot;
pub mod console;
pub mod cost;
pub mod cpu;
#[allow(unsafe_code)]
pub mod entry;
#[allow(unsafe_code)]
pub mod events;
pub mod fault;
pub mod frames;
pub mod hidden;
pub mod invariants;
pub mod ipc;
pub mod kernel;
pub mod layout;
pub mod leaf;
pub mod list;
pub mod manage;
pub mod object;
pub mod order;
pub mod pool;
pub mod port;
pub mod quota;
pub mod report;
pub mod sched;
pub mod send_queue;
pub mod smp;
pub mod statistics;
pub mod system;
pub mod tlb;
pub mod tree;
pub mod variant;
pub mod waits;

pub use locks;
