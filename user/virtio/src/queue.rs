//! A split queue: a table of descriptors, a ring of requests for the device (available), and one of
//! those that it has done with (used).

use crate::Shared;
use core::sync::atomic::Ordering::{Acquire, Release, SeqCst};
use core::sync::atomic::fence;

/// A descriptor has a successor.
const NEXT: u64 = 1;
/// The device writes to the buffer.
const WRITE: u64 = 2;
/// In the flags of the used ring: the device need not be notified.
const NO_NOTIFY: u16 = 1;

/// Where the parts of a queue begin, in bytes from its first word, whose address is a multiple
/// of 16.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// The available ring.
    pub available: u64,
    /// The used ring.
    pub used: u64,
    /// Bytes of all of it.
    pub bytes: u64,
}

impl Layout {
    /// That of a queue with so many descriptors. No word has parts of two rings, of which the
    /// device writes one.
    pub const fn of(size: usize) -> Layout {
        let size = size as u64;
        let available = 16 * size;
        let used = (available + 6 + 2 * size).next_multiple_of(8);
        Layout { available, used, bytes: (used + 6 + 8 * size).next_multiple_of(16) }
    }
}

/// A buffer of a request.
#[derive(Clone, Copy, Debug)]
pub struct Buffer {
    /// Its physical address.
    pub address: u64,
    /// Its bytes.
    pub bytes: u32,
    /// The device writes it; else it reads it.
    pub writes: bool,
}

impl Buffer {
    /// A buffer that the device reads.
    pub fn read(address: u64, bytes: usize) -> Buffer {
        Buffer { address, bytes: bytes as u32, writes: false }
    }

    /// A buffer that the device writes.
    pub fn written(address: u64, bytes: usize) -> Buffer {
        Buffer { address, bytes: bytes as u32, writes: true }
    }
}

/// A request that is back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Used<T> {
    /// What was submitted with it.
    pub request: T,
    /// How many bytes the device says that it has written.
    pub bytes: u32,
}

/// The device has written into the queue what no device may. It has to be reset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Broken {
    /// More requests are back than it had.
    Count,
    /// A request is back that it did not have.
    Request,
    /// It says that it has written more than there was room for.
    Length,
}

/// What the driver knows of a descriptor.
struct Own<T> {
    /// The next one of its chain, or the next free one.
    next: u16,
    /// Of the first one of a chain that the device has: how many there are.
    chain: u16,
    /// The bytes that the device may write into the chain.
    room: u32,
    /// Of the first one of a chain that the device has.
    request: Option<T>,
}

/// A queue of `N` descriptors, a power of two; `T` is what the driver knows of a request.
pub struct Queue<S, T, const N: usize> {
    memory: S,
    own: [Own<T>; N],
    /// The first free descriptor, and how many there are.
    free: (u16, u16),
    /// Entries of the available ring so far, and those of the used ring that were looked at.
    available: u16,
    used: u16,
    /// Requests that the device has.
    requests: u16,
    broken: Option<Broken>,
    lies: u64,
}

impl<S: Shared, T, const N: usize> Queue<S, T, N> {
    /// Where its parts are.
    pub const LAYOUT: Layout = Layout::of(N);

    /// An empty queue in memory of [`Layout::bytes`], which the device does not use yet.
    pub fn new(memory: S) -> Queue<S, T, N> {
        const { assert!(N.is_power_of_two() && N <= 1 << 15) };
        let own = core::array::from_fn(|_| Own { next: 0, chain: 0, room: 0, request: None });
        let (free, broken) = ((0, 0), None);
        let mut queue =
            Queue { memory, own, free, available: 0, used: 0, requests: 0, broken, lies: 0 };
        queue.reset(|_| ());
        queue
    }

    /// Makes it empty when the device has been reset, and tells what that one had.
    pub fn reset(&mut self, mut lost: impl FnMut(T)) {
        (0..Self::LAYOUT.bytes as usize / 8).for_each(|word| self.memory.store(word, 0));
        for (index, own) in (1..).zip(&mut self.own) {
            (own.next, own.chain) = (index, 0);
            own.request.take().into_iter().for_each(&mut lost);
        }
        self.free = (0, N as u16);
        (self.available, self.used, self.requests, self.broken) = (0, 0, 0, None);
    }

    /// Requests that the device has.
    pub fn requests(&self) -> usize {
        self.requests.into()
    }

    /// How many buffers there is room for.
    pub fn room(&self) -> usize {
        if self.broken.is_some() { 0 } else { self.free.1.into() }
    }

    /// How often the device has broken the queue.
    pub fn lies(&self) -> u64 {
        self.lies
    }

    /// Hands a request over: buffers that the device reads come before those that it writes. It
    /// comes back if there is no room for it, or nothing in it.
    pub fn submit(&mut self, buffers: &[Buffer], request: T) -> Result<(), T> {
        let empty = buffers.is_empty() || buffers.iter().any(|buffer| buffer.bytes == 0);
        if empty || buffers.len() > self.room() {
            return Err(request);
        }
        let first = self.free.0;
        let (mut at, mut room) = (first, 0_u32);
        for (left, buffer) in (0..buffers.len()).rev().zip(buffers) {
            let next = self.own[usize::from(at)].next;
            let link = if left > 0 { NEXT << 32 | u64::from(next) << 48 } else { 0 };
            let flags = if buffer.writes { WRITE << 32 } else { 0 };
            self.memory.store(2 * usize::from(at), buffer.address);
            self.memory.store(2 * usize::from(at) + 1, u64::from(buffer.bytes) | flags | link);
            room = room.saturating_add(if buffer.writes { buffer.bytes } else { 0 });
            at = next;
        }
        let chain = buffers.len() as u16;
        self.free = (at, self.free.1 - chain);
        let own = &mut self.own[usize::from(first)];
        (own.chain, own.room, own.request) = (chain, room, Some(request));
        self.requests += 1;
        let slot = u64::from(self.available) % N as u64;
        self.set_half(Self::LAYOUT.available + 4 + 2 * slot, first);
        self.available = self.available.wrapping_add(1);
        // The device sees the count behind the entry and what that names.
        fence(Release);
        self.set_half(Self::LAYOUT.available + 2, self.available);
        Ok(())
    }

    /// Whether the device wants to be notified of what was submitted.
    pub fn wants_notification(&self) -> bool {
        // The device looks at the ring again behind its own change of this.
        fence(SeqCst);
        self.half(Self::LAYOUT.used) & NO_NOTIFY == 0
    }

    /// The next request that is back, if any is. Behind an error there is none until the reset.
    pub fn take(&mut self) -> Result<Option<Used<T>>, Broken> {
        if let Some(broken) = self.broken {
            return Err(broken);
        }
        let told = self.half(Self::LAYOUT.used + 2);
        let back = told.wrapping_sub(self.used);
        if back == 0 {
            return Ok(None);
        }
        let used = if back > self.requests { Err(Broken::Count) } else { self.take_next() };
        if let Err(broken) = used {
            self.broken = Some(broken);
            self.lies += 1;
        }
        used.map(Some)
    }

    fn take_next(&mut self) -> Result<Used<T>, Broken> {
        // The entry is there since it was counted.
        fence(Acquire);
        let slot = u64::from(self.used) % N as u64;
        let at = Self::LAYOUT.used + 4 + 8 * slot;
        let (id, bytes) = (self.word(at), self.word(at + 4));
        let first = usize::try_from(id).unwrap_or(N);
        let own = self.own.get_mut(first).ok_or(Broken::Request)?;
        if own.request.is_some() && bytes > own.room {
            return Err(Broken::Length);
        }
        let request = own.request.take().ok_or(Broken::Request)?;
        let chain = core::mem::take(&mut own.chain);
        let mut last = first;
        for _ in 1..chain {
            last = self.own[last].next.into();
        }
        self.own[last].next = self.free.0;
        self.free = (first as u16, self.free.1 + chain);
        self.requests -= 1;
        self.used = self.used.wrapping_add(1);
        Ok(Used { request, bytes })
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
