//! Virtio devices (version 1), for drivers in user mode: split queues, the transport by
//! memory-mapped registers, the drivers, and what their clients are written against.
//!
//! The device is not trusted. Whatever it writes into a queue, the driver gets back only what it
//! has handed over, each once and no longer than it was, or learns that the queue is [`Broken`].
//! What the driver has to know it keeps in its own memory.
#![no_std]
#![forbid(unsafe_code)]

pub mod block;
pub mod driver;
pub mod entropy;
mod memory;
pub mod mmio;
pub mod queue;

pub use memory::{Part, Shared};
pub use queue::{Broken, Buffer, Queue, Used};
