//! What touches the machine, with a file for each kind of it: how a system call is made, how a
//! program and a thread begin, memory by address, the cycle counter, and probes that try what
//! user mode may not do.

#[cfg(target_os = "none")]
pub(crate) mod address;
#[cfg(not(target_os = "none"))]
pub mod hosted;
#[cfg(target_os = "none")]
pub(crate) mod note;
#[cfg(all(target_os = "none", target_arch = "x86_64"))]
mod x86_64;
#[cfg(not(target_os = "none"))]
pub use hosted::*;
#[cfg(all(target_os = "none", target_arch = "x86_64"))]
pub use x86_64::*;

use abi::{Info, Status};

/// A system call argument; an uninitialised one costs no instruction and passes whatever the
/// register holds.
#[cfg(target_os = "none")]
pub type Word = core::mem::MaybeUninit<u64>;

/// An argument that the call does not look at.
#[cfg(target_os = "none")]
pub const ANY: Word = Word::uninit();

/// What a system call returns.
#[derive(Clone, Copy, Debug)]
pub struct Outcome {
    /// Whether it was done.
    pub status: Status,
    /// The badge of the message that arrived, or the first result.
    pub badge: u64,
    /// The descriptor of the message that arrived, or the second result.
    pub info: Info,
    /// The message's first words; those beyond its length mean nothing.
    pub words: [u64; 4],
}

/// An argument with a value.
#[cfg(target_os = "none")]
#[inline(always)]
pub const fn word(value: u64) -> Word {
    Word::new(value)
}

/// Message words of which only the first `N` have a value.
#[inline(always)]
pub fn words<const N: usize>(values: [u64; N]) -> [Word; 4] {
    const { assert!(N <= 4) };
    let mut words = [ANY; 4];
    let mut i = 0;
    while i < N {
        words[i] = word(values[i]);
        i += 1;
    }
    words
}
