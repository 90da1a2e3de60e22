//! Trains (S4-10, S4-11): a thread enters another domain at an entry that the domain exports, on a
//! stack of that domain, with its priority, time slice, reservation and charge, and returns.
//!
//! What the code at the entry finds: the train's word as first argument, the badge of the
//! capability as second one, and the message words; all other registers are zero or their initial
//! value, and so is the thread pointer. It has no message buffer.

use crate::call::{Call, SEND_TIMEOUT_SHIFT, Timeout};

/// The most stacks of one train.
pub const STACKS: u64 = 16;
/// How many domains a thread can have entered at a time, each from the one before.
pub const DEPTH: u32 = 16;
/// What the ends of stacks, and so their sizes, are multiples of.
pub const ALIGNMENT: u64 = 16;

/// The number word of a [`Call::TrainCall`] that waits so long for a stack.
pub const fn number(stack: Timeout) -> u64 {
    Call::TrainCall as u64 | (stack as u64) << SEND_TIMEOUT_SHIFT
}
