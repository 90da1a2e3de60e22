//! Rings of buffers in memory that two domains share, for example a driver and a server.
//!
//! A *channel* carries bytes one way. It has buffers and two rings of descriptors: the [`Sender`]
//! fills buffers, the [`Receiver`] returns them. A [`link`] is a channel each way. The page
//! `docs/rings.md` has what a peer that died or lies leaves behind, `docs/internals/rings.md` the
//! layout.
//!
//! ```
//! # use std::sync::atomic::{AtomicU64, Ordering::Relaxed, Ordering::SeqCst, fence};
//! use ring::{Layout, Memory, Receiver, Sender};
//! # struct Shared([AtomicU64; LAYOUT.words()]);
//! # impl Memory for &Shared {
//! #     fn words(&self) -> usize { self.0.len() }
//! #     fn load(&self, word: usize) -> u64 { self.0[word].load(SeqCst) }
//! #     fn store(&self, word: usize, value: u64) { self.0[word].store(value, SeqCst) }
//! #     fn fence(&self) { fence(SeqCst) }
//! #     fn read(&self, from: usize, into: &mut [u8]) {
//! #         for (at, byte) in into.iter_mut().enumerate() {
//! #             *byte = self.0[(from + at) / 8].load(Relaxed).to_le_bytes()[(from + at) % 8];
//! #         }
//! #     }
//! #     fn write(&self, from: usize, bytes: &[u8]) {
//! #         for (at, part) in bytes.chunks(8).enumerate() {
//! #             let mut word = [0; 8];
//! #             word[..part.len()].copy_from_slice(part);
//! #             self.0[from / 8 + at].store(u64::from_le_bytes(word), Relaxed);
//! #         }
//! #     }
//! # }
//!
//! const LAYOUT: Layout = Layout::new(4, 64);
//! # let memory = Shared([const { AtomicU64::new(0) }; LAYOUT.words()]);
//! # let memory = &memory;
//! let (mut sender, mut receiver) = (Sender::new(memory, LAYOUT), Receiver::new(memory, LAYOUT));
//! # let signal = |_: bool| ();
//! // The two ends find each other, then name each other.
//! for _ in 0..2 {
//!     let _ = (receiver.receive(), sender.returned());
//!     signal(receiver.publish());
//!     signal(sender.publish());
//! }
//! assert_eq!(sender.returned(), Ok(None));
//!
//! assert!(sender.send(b"two words", 0));
//! signal(sender.publish());
//!
//! let held = receiver.receive().unwrap().expect("a buffer was filled");
//! let mut bytes = [0; 64];
//! assert_eq!(receiver.read(&held, &mut bytes), b"two words");
//! receiver.give_back(held, 0);
//! signal(receiver.publish());
//! ```
#![no_std]
#![forbid(unsafe_code)]

mod descriptor;
mod layout;
mod memory;
mod receiver;
mod sender;
mod session;

pub use layout::Layout;
pub use memory::{Memory, Side, link};
pub use receiver::{Held, Receiver};
pub use sender::{Owned, Returned, Sender};

/// What the peer has published that cannot be. The end takes the peer for dead until it begins
/// again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lie {
    /// More descriptors than there are buffers with the peer, or fewer than before.
    Count,
    /// A descriptor of a buffer that does not exist, or that the peer does not hold.
    Buffer,
    /// More bytes than a buffer has.
    Length,
}
