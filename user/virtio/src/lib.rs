//! Virtio devices (version 1), for drivers in user mode: split queues, and the transport by
//! memory-mapped registers.
//!
//! The device is not trusted. Whatever it writes into a queue, the driver gets back only what it has
//! handed over, each once and no longer than it was, or learns that the queue is [`Broken`].
//! Everything that the driver needs to know it keeps for itself.
#![no_std]
#![forbid(unsafe_code)]

pub mod mmio;
pub mod queue;

pub use queue::{Broken, Buffer, Queue, Token, Used};

/// Memory that the device reads and writes as well: words of 64 bits.
pub trait Shared {
    /// What a word has.
    fn load(&self, word: usize) -> u64;
    /// Changes a word.
    fn store(&self, word: usize, value: u64);
}

impl<S: Shared> Shared for &S {
    fn load(&self, word: usize) -> u64 {
        (*self).load(word)
    }
    fn store(&self, word: usize, value: u64) {
        (*self).store(word, value);
    }
}
