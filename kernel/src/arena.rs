//! RAM handed out once, at boot. After that the kernel has no allocator.

use crate::port::Port;
use core::mem::{align_of, size_of};
use section::init;

/// A stretch of RAM that the port has mapped and that nothing else uses.
///
/// Pools are carved from its low end; page frames are taken from its high end.
pub struct Arena {
    next: *mut u8,
    end: usize,
    offset: usize,
}

impl Arena {
    /// An arena over `bytes` of mapped memory at `start`, which has this physical address.
    ///
    /// # Safety
    /// The memory is mapped, writable, used by nothing else, and stays so for ever.
    #[init]
    pub unsafe fn new(start: *mut u8, bytes: usize, physical: u64) -> Arena {
        let offset = start.addr().wrapping_sub(physical as usize);
        Arena { next: start, end: start.addr() + bytes, offset }
    }

    /// Takes page frames in a row and returns the physical address of the first. What is in them
    /// is not defined. `None`: the RAM does not suffice.
    #[init]
    pub fn frames<P: Port>(&mut self, count: u64) -> Option<u64> {
        let bytes = usize::try_from(count.checked_mul(P::PAGE)?).ok()?;
        let first = self.end.checked_sub(bytes)? / P::PAGE as usize * P::PAGE as usize;
        if first < self.next.addr() {
            return None;
        }
        self.end = first;
        Some(first.wrapping_sub(self.offset) as u64)
    }

    /// Bytes left.
    pub fn left(&self) -> usize {
        self.end - self.next.addr()
    }

    /// Carves a slice, each element made by `make`. `None`: the RAM does not suffice.
    #[init]
    pub fn slice<T>(
        &mut self,
        length: usize,
        make: impl FnMut(&mut Arena, usize) -> Option<T>,
    ) -> Option<&'static [T]> {
        self.own(length, make).map(|slice| &*slice)
    }

    /// Carves a slice that has one owner, each element made by `make`. `None`: the RAM does not
    /// suffice.
    #[init]
    pub fn own<T>(
        &mut self,
        length: usize,
        mut make: impl FnMut(&mut Arena, usize) -> Option<T>,
    ) -> Option<&'static mut [T]> {
        let first = self.next.addr().checked_next_multiple_of(align_of::<T>().max(64))?;
        let end = first.checked_add(length.checked_mul(size_of::<T>())?)?;
        if end > self.end {
            return None;
        }
        let pointer = self.next.with_addr(first).cast::<T>();
        self.next = self.next.with_addr(end);
        for index in 0..length {
            let element = make(self, index)?;
            // SAFETY: the memory from `first` to `end` is this slice's alone, aligned, and each
            // element is written once before it is read.
            unsafe { pointer.add(index).write(element) };
        }
        // SAFETY: every element was written; the arena's memory lives for ever and is never
        // handed out again.
        Some(unsafe { core::slice::from_raw_parts_mut(pointer, length) })
    }

    /// Carves one value.
    #[init]
    pub fn one<T>(&mut self, value: T) -> Option<&'static T> {
        let mut value = Some(value);
        self.slice(1, |_, _| value.take())?.first()
    }
}
