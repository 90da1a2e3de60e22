//! Memory that others write too: shared words, message buffers, new stacks.
//!
//! All of it is reached as relaxed atomic words, which the kernel, other threads and other
//! domains may change at any time.

#[cfg(all(feature = "lock_api", target_os = "none"))]
#[allow(unsafe_code)]
pub mod lock;

use crate::Slot;
use crate::arch::address;
use abi::Rights;
use abi::message::{BUFFER_RECEIVE_SLOT, BUFFER_SEND_RIGHTS, BUFFER_SEND_SLOT, BUFFER_WORDS};
use core::sync::atomic::{AtomicU64, Ordering};

/// A run of shared 64-bit words.
#[derive(Clone, Copy)]
pub struct Words {
    address: u64,
    len: usize,
}

impl Words {
    /// The words at an address that the environment names as mapped.
    pub(crate) fn at(address: u64, bytes: u64) -> Words {
        assert!(address != 0 && address.is_multiple_of(8), "misaligned shared memory");
        Words { address, len: (bytes / 8) as usize }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// One word.
    #[inline(always)]
    #[track_caller]
    pub fn get(&self, index: usize) -> u64 {
        self.reach(index, Rights::READ).load(Ordering::Relaxed)
    }

    /// Changes one word.
    #[inline(always)]
    #[track_caller]
    pub fn set(&self, index: usize, value: u64) {
        self.reach(index, Rights::WRITE).store(value, Ordering::Relaxed);
    }

    /// Adds to one word and returns what it was.
    #[track_caller]
    pub fn add(&self, index: usize, value: u64) -> u64 {
        self.reach(index, Rights::WRITE).fetch_add(value, Ordering::Relaxed)
    }

    /// One word itself, to be read and written.
    #[track_caller]
    pub fn word(&self, index: usize) -> &'static AtomicU64 {
        self.reach(index, Rights::WRITE)
    }

    #[inline(always)]
    #[track_caller]
    fn reach(&self, index: usize, rights: Rights) -> &'static AtomicU64 {
        assert!(index < self.len, "word {index} of {}", self.len);
        address::word(self.address + 8 * index as u64, rights)
    }

    /// The address of the first word.
    pub fn address(&self) -> u64 {
        self.address
    }

    /// A part of them.
    #[track_caller]
    pub fn part(&self, from: usize, words: usize) -> Words {
        let fits = from.checked_add(words).is_some_and(|end| end <= self.len);
        assert!(fits, "{words} words from {from} of {}", self.len);
        Words { address: self.address + 8 * from as u64, len: words }
    }
}

/// A thread's message buffer: words from [`abi::message::REGISTER_WORDS`] on of its messages,
/// each at its own index, and the slots of capabilities that travel.
#[derive(Clone, Copy)]
pub struct Buffer(pub Words);

impl Buffer {
    /// The buffer at an address that the environment names.
    pub(crate) fn at(address: u64) -> Buffer {
        Buffer(Words::at(address, 8 * BUFFER_WORDS as u64))
    }

    /// Names the capability that the next message with
    /// [`Info::CAPABILITY`](abi::Info::CAPABILITY) carries, and what the receiver may get.
    pub fn offer(&self, slot: Slot, rights: Rights) {
        self.0.set(BUFFER_SEND_SLOT, slot.word());
        self.0.set(BUFFER_SEND_RIGHTS, u64::from(rights.0));
    }

    /// Names the free slot that takes the next capability that arrives; none with
    /// [`Slot::NONE`].
    pub fn accept(&self, slot: Slot) {
        self.0.set(BUFFER_RECEIVE_SLOT, slot.word());
    }

    /// The slot that takes the next capability; [`Slot::NONE`] if none does.
    pub fn accepting(&self) -> Slot {
        Slot(self.0.get(BUFFER_RECEIVE_SLOT) as u32)
    }
}

/// The text at an address, up to its NUL; what is not UTF-8 is left out.
pub(crate) fn text_at(address: u64) -> &'static str {
    if address == 0 {
        return "";
    }
    let bytes = address::text(address);
    match core::str::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => core::str::from_utf8(&bytes[..error.valid_up_to()]).unwrap_or(""),
    }
}
