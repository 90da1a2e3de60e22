//! A split queue: a table of descriptors, a ring of chains for the device, and one of chains that
//! it has done with.

use crate::Shared;
use core::sync::atomic::Ordering::{Acquire, Release, SeqCst};
use core::sync::atomic::fence;

/// A descriptor has a successor.
const NEXT: u64 = 1;
/// The device writes to the buffer.
const WRITE: u64 = 2;
/// In the flags of a ring: its reader need not be told of new entries.
const QUIET: u16 = 1;

/// Where the parts of a queue begin, in bytes from its first word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// The ring for the device.
    pub available: u64,
    /// The ring of what it has done with.
    pub used: u64,
    /// Bytes of all of it.
    pub bytes: u64,
}

impl Layout {
    /// That of a queue with so many descriptors.
    pub const fn of(size: usize) -> Layout {
        let available = 16 * size as u64;
        let used = (available + 6 + 2 * size as u64).next_multiple_of(8);
        Layout { available, used, bytes: (used + 6 + 8 * size as u64).next_multiple_of(8) }
    }
}

/// A part of a request.
#[derive(Clone, Copy, Debug)]
pub struct Buffer {
    /// Its physical address.
    pub address: u64,
    /// Its bytes.
    pub bytes: u32,
    /// The device writes it; else it reads it.
    pub writes: bool,
}

/// Names a request that the device has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token(u16);

/// A request that is back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Used {
    /// Which one.
    pub token: Token,
    /// How many bytes the device has written.
    pub bytes: u32,
}

/// The device has written into the queue what no device may: it is to be reset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Broken {
    /// More requests are back than it had.
    Count,
    /// A request is back that it did not have.
    Token,
    /// It has written more than there was room for.
    Length,
}

/// What the driver knows of a descriptor.
#[derive(Clone, Copy)]
struct Own {
    /// The next one of its chain, or the next free one.
    next: u16,
    /// Of the first one of a chain that the device has: the descriptors of the chain, else 0.
    chain: u16,
    /// The bytes that the device may write into the chain.
    room: u32,
}

/// A queue of `N` descriptors, a power of two.
pub struct Queue<S, const N: usize> {
    memory: S,
    own: [Own; N],
    /// The first free descriptor, and how many there are.
    free: (u16, u16),
    /// Entries of the ring for the device so far, and those of the other one that were looked at.
    available: u16,
    used: u16,
    /// Requests that the device has.
    requests: u16,
    broken: Option<Broken>,
}

impl<S: Shared, const N: usize> Queue<S, N> {
    /// Where its parts are.
    pub const LAYOUT: Layout = Layout::of(N);

    /// An empty queue in memory of [`Layout::bytes`], which the device does not use yet.
    pub fn new(memory: S) -> Queue<S, N> {
        const { assert!(N.is_power_of_two() && N <= 1 << 15) };
        (0..Self::LAYOUT.bytes as usize / 8).for_each(|word| memory.store(word, 0));
        let own = core::array::from_fn(|index| Own { next: index as u16 + 1, chain: 0, room: 0 });
        let free = (0, N as u16);
        Queue { memory, own, free, available: 0, used: 0, requests: 0, broken: None }
    }

    /// Requests that the device has.
    pub fn requests(&self) -> usize {
        self.requests.into()
    }

    /// How many buffers there is room for.
    pub fn room(&self) -> usize {
        self.free.1.into()
    }

    /// Hands a request over: those that the device reads come before those that it writes. `None`:
    /// there is no room for it, or nothing in it.
    pub fn submit(&mut self, buffers: &[Buffer]) -> Option<Token> {
        let count = u16::try_from(buffers.len()).ok()?;
        if count == 0 || count > self.free.1 || self.broken.is_some() {
            return None;
        }
        let first = self.free.0;
        let mut at = first;
        let mut room = 0_u32;
        for (index, buffer) in buffers.iter().enumerate() {
            let next = self.own[usize::from(at)].next;
            let more = if index + 1 < buffers.len() { NEXT } else { 0 };
            let writes = if buffer.writes { WRITE } else { 0 };
            let link = if more == 0 { 0 } else { u64::from(next) << 48 };
            self.memory.store(2 * usize::from(at), buffer.address);
            let flags = (more | writes) << 32;
            self.memory.store(2 * usize::from(at) + 1, u64::from(buffer.bytes) | flags | link);
            room = room.saturating_add(if buffer.writes { buffer.bytes } else { 0 });
            if more == 0 {
                self.free = (next, self.free.1 - count);
            }
            at = next;
        }
        let own = &mut self.own[usize::from(first)];
        (own.chain, own.room) = (count, room);
        self.requests += 1;
        let slot = u64::from(self.available) % N as u64;
        self.set_half(Self::LAYOUT.available + 4 + 2 * slot, first);
        self.available = self.available.wrapping_add(1);
        // What the entry names comes before it.
        fence(Release);
        self.set_half(Self::LAYOUT.available + 2, self.available);
        Some(Token(first))
    }

    /// Whether the device wants to be told of what was submitted.
    pub fn wants_notification(&self) -> bool {
        // The device looks at the ring again behind its own change of this.
        fence(SeqCst);
        self.half(Self::LAYOUT.used) & QUIET == 0
    }

    /// The next request that is back, if any is.
    pub fn take(&mut self) -> Result<Option<Used>, Broken> {
        if let Some(broken) = self.broken {
            return Err(broken);
        }
        let told = self.half(Self::LAYOUT.used + 2);
        let back = told.wrapping_sub(self.used);
        if back == 0 {
            return Ok(None);
        }
        let used = if back > self.requests { Err(Broken::Count) } else { self.take_next() };
        self.broken = used.err();
        used.map(Some)
    }

    fn take_next(&mut self) -> Result<Used, Broken> {
        // The entry is there since it was counted.
        fence(Acquire);
        let slot = u64::from(self.used) % N as u64;
        let at = Self::LAYOUT.used + 4 + 8 * slot;
        let (id, bytes) = (self.word(at), self.word(at + 4));
        let first = u16::try_from(id).ok().filter(|first| usize::from(*first) < N);
        let Some(first) = first else { return Err(Broken::Token) };
        let Own { chain, room, .. } = self.own[usize::from(first)];
        if chain == 0 {
            return Err(Broken::Token);
        }
        if bytes > room {
            return Err(Broken::Length);
        }
        self.own[usize::from(first)].chain = 0;
        let mut last = first;
        for _ in 1..chain {
            last = self.own[usize::from(last)].next;
        }
        self.own[usize::from(last)].next = self.free.0;
        self.free = (first, self.free.1 + chain);
        self.requests -= 1;
        self.used = self.used.wrapping_add(1);
        Ok(Used { token: Token(first), bytes })
    }

    fn half(&self, at: u64) -> u16 {
        (self.memory.load(at as usize / 8) >> (8 * (at % 8))) as u16
    }

    /// The driver alone writes to the words where this is used.
    fn set_half(&self, at: u64, value: u16) {
        let (word, shift) = (at as usize / 8, 8 * (at % 8));
        let others = self.memory.load(word) & !(0xffff << shift);
        self.memory.store(word, others | u64::from(value) << shift);
    }

    fn word(&self, at: u64) -> u32 {
        (self.memory.load(at as usize / 8) >> (8 * (at % 8))) as u32
    }
}
