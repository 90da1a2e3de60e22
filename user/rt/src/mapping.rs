//! Memory that the program makes or gets at run time, mapped, used and unmapped.
//!
//! ```no_run
//! use rt::prelude::*;
//! use rt::{At, Mapping, MemoryObject, SlotPool, Window};
//!
//! # fn example(env: &Env) -> Result<(), Error> {
//! let (pool, window) = (SlotPool::new(env), Window::new(env));
//! let memory = MemoryObject::create(&pool, 2)?;
//! let page = Mapping::new(&memory, At::Window(window), Rights::READ | Rights::WRITE)?;
//! page.set(0, 42);
//! page.write(8, b"some text");
//! assert_eq!(page.get(0), 42);
//! # Ok(())
//! # } // unmapped, and the memory's frames are free again
//! ```

use crate::memory::{self, Range};
use crate::shared::Words;
use crate::{OwnedSlot, Slot, SlotPool, Window, arch, cap};
use abi::{Error, PAGE, Rights};
use core::sync::atomic::AtomicU64;

/// A memory object in a slot of its own. One that this program created is destroyed when this is
/// dropped, and with it all its mappings in other domains; of one that was received only the
/// capability is deleted.
#[derive(Debug)]
pub struct MemoryObject {
    slot: OwnedSlot,
    pages: u64,
    created: bool,
}

impl MemoryObject {
    /// Creates memory of zeroed pages, 1 to 512.
    ///
    /// # Errors
    ///
    /// [`Error::PoolExhausted`] (also if no slot is free), [`Error::QuotaExceeded`],
    /// [`Error::InvalidArgument`] for a number of pages that no memory has.
    pub fn create(pool: &SlotPool, pages: u64) -> Result<MemoryObject, Error> {
        let slot = pool.try_take()?;
        memory::create(slot.slot(), pages)?;
        Ok(MemoryObject { slot, pages, created: true })
    }

    /// Memory whose capability was received in a slot, and how many of its pages to use: the
    /// capability does not tell how many there are. Mapping more is refused.
    pub fn received(slot: OwnedSlot, pages: u64) -> MemoryObject {
        MemoryObject { slot, pages, created: false }
    }

    /// The slot of its capability, for instance to send it.
    pub fn slot(&self) -> Slot {
        self.slot.slot()
    }

    /// How many pages there are, or are used.
    pub fn pages(&self) -> u64 {
        self.pages
    }
}

impl Drop for MemoryObject {
    fn drop(&mut self) {
        if self.created && !arch::panics() {
            // It may be gone already.
            let _ = cap::destroy(self.slot());
        }
    }
}

/// Where a mapping goes.
#[derive(Clone, Copy)]
pub enum At {
    /// At the first free place of a window.
    Window(Window),
    /// At an address, a multiple of [`PAGE`] at which nothing is mapped.
    Address(u64),
}

enum Memory<'m> {
    Lent(&'m MemoryObject),
    Owned(MemoryObject),
}

/// A memory object that is mapped into the program's domain, as shared words. It is unmapped when
/// this is dropped, and its slot and addresses are given back.
///
/// All access is by relaxed atomic words within bounds, so it is safe whatever other threads and
/// domains do. If the memory is destroyed by another holder, or the mapping by its slot's number,
/// an access is a fault of this thread: its fault handler gets a message, and without one the
/// thread is suspended.
pub struct Mapping<'m> {
    memory: Memory<'m>,
    slot: OwnedSlot,
    words: Words,
    window: Option<Window>,
    rights: Rights,
}

impl<'m> Mapping<'m> {
    /// Maps memory with [`Rights::READ`], or with [`Rights::WRITE`] too.
    ///
    /// # Errors
    ///
    /// [`Error::AddressInUse`]: the address is, or the window has no such place left;
    /// [`Error::PoolExhausted`]: no free slot in the memory's pool, or no mapping in the kernel's;
    /// and those of [`memory::map`].
    pub fn new(memory: &'m MemoryObject, at: At, rights: Rights) -> Result<Mapping<'m>, Error> {
        Mapping::of(Memory::Lent(memory), at, rights)
    }

    fn of(memory: Memory<'m>, at: At, rights: Rights) -> Result<Mapping<'m>, Error> {
        let object = memory.object();
        let (of, pages) = (object.slot(), object.pages);
        let slot = object.slot.pool().try_take()?;
        let map = |address| {
            let range = Range { memory: of, first: 0, pages, address };
            memory::map(slot.slot(), Slot::NONE, range, rights)
        };
        let (address, window) = match at {
            At::Address(address) => (address, map(address).map(|()| None)?),
            At::Window(window) => (place(window, pages, map)?, Some(window)),
        };
        let words = Words::at(address, pages * PAGE);
        Ok(Mapping { memory, slot, words, window, rights })
    }

    /// The memory.
    pub fn memory(&self) -> &MemoryObject {
        self.memory.object()
    }

    /// The address of the first word.
    pub fn address(&self) -> u64 {
        self.words.address()
    }

    /// How many words there are.
    pub fn len(&self) -> usize {
        self.words.len()
    }

    /// Whether there are none, which is never.
    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// One word.
    ///
    /// # Panics
    ///
    /// If there are not so many.
    #[inline(always)]
    #[track_caller]
    pub fn get(&self, index: usize) -> u64 {
        self.words.get(index)
    }

    /// Changes one word.
    ///
    /// # Panics
    ///
    /// If there are not so many, or the mapping is not writable.
    #[inline(always)]
    #[track_caller]
    pub fn set(&self, index: usize, value: u64) {
        self.writable().set(index, value);
    }

    /// One word itself, to be read and written.
    ///
    /// # Panics
    ///
    /// If there are not so many, or the mapping is not writable.
    #[track_caller]
    pub fn word(&self, index: usize) -> &AtomicU64 {
        self.writable().word(index)
    }

    /// Copies bytes out, from the one at `offset` on; see [`Words::read`].
    ///
    /// # Panics
    ///
    /// If they are not all there.
    #[track_caller]
    pub fn read(&self, offset: usize, into: &mut [u8]) {
        self.words.read(offset, into);
    }

    /// Copies bytes in, from the one at `offset` on; see [`Words::write`].
    ///
    /// # Panics
    ///
    /// If there is no room, or the mapping is not writable.
    #[track_caller]
    pub fn write(&self, offset: usize, bytes: &[u8]) {
        self.writable().write(offset, bytes);
    }

    /// Changes the rights.
    ///
    /// # Errors
    ///
    /// Those of [`memory::protect`]; the rights stay.
    pub fn protect(&mut self, rights: Rights) -> Result<(), Error> {
        memory::protect(self.slot.slot(), rights)?;
        self.rights = rights;
        Ok(())
    }

    #[inline(always)]
    #[track_caller]
    fn writable(&self) -> &Words {
        assert!(self.rights.contains(Rights::WRITE), "the mapping is read-only");
        &self.words
    }
}

impl Mapping<'static> {
    /// [`Mapping::new`] that keeps the memory itself, to be stored as one; if it fails the memory
    /// is dropped.
    ///
    /// # Errors
    ///
    /// Those of [`Mapping::new`].
    pub fn owning(memory: MemoryObject, at: At, rights: Rights) -> Result<Self, Error> {
        Mapping::of(Memory::Owned(memory), at, rights)
    }

    /// Keeps the mapping for as long as the program lives; its words can then be passed around.
    pub fn keep(self) -> Words {
        let words = self.words;
        core::mem::forget(self);
        words
    }
}

impl Drop for Mapping<'_> {
    fn drop(&mut self) {
        if arch::panics() {
            return;
        }
        let gone = match cap::destroy(self.slot.slot()) {
            Ok(()) => true,
            Err(error) => matches!(error, Error::Stale | Error::NoCapability),
        };
        // Addresses that may still be mapped are not handed out again.
        if let Some(window) = self.window.filter(|_| gone) {
            window.give(self.words.address(), self.memory.object().pages);
        }
    }
}

impl Memory<'_> {
    fn object(&self) -> &MemoryObject {
        match self {
            Memory::Lent(object) => object,
            Memory::Owned(object) => object,
        }
    }
}

/// Maps at the first place of a window where nothing is mapped. What the program has mapped into
/// the window by address is passed over.
fn place(window: Window, pages: u64, map: impl Fn(u64) -> Result<(), Error>) -> Result<u64, Error> {
    let mut from = 0;
    loop {
        let address = window.take(from, pages).ok_or(Error::AddressInUse)?;
        match map(address) {
            Ok(()) => return Ok(address),
            Err(error) => {
                window.give(address, pages);
                if error != Error::AddressInUse {
                    return Err(error);
                }
                from = address + PAGE;
            }
        }
    }
}
