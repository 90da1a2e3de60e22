//! The machine's RAM: zeroed, and given back when the run is over.

use abi::PAGE;
use kernel::arena::Arena;
use kernel::port::Frame;
use std::alloc::{Layout, alloc_zeroed, dealloc, handle_alloc_error};

/// Physical address of the first frame.
pub const BASE: u64 = 0x100_0000;

/// Some RAM. It is allocated with a page to spare and aligned here: zeroed memory of a larger
/// alignment would be written to, every page of it.
pub struct Ram {
    start: *mut u8,
    layout: Layout,
    pages: usize,
}

impl Ram {
    /// So many zeroed pages.
    pub fn new(pages: usize) -> Ram {
        let bytes = (pages + 1) * PAGE as usize;
        let layout = Layout::from_size_align(bytes, align_of::<u64>())
            .expect("a size that fits into the address space");
        // SAFETY: the layout is not empty.
        let start = unsafe { alloc_zeroed(layout) };
        if start.is_null() {
            handle_alloc_error(layout);
        }
        Ram { start, layout, pages }
    }

    /// The frames, and an arena over all of them.
    ///
    /// # Safety
    /// Called once, and neither result is used once the RAM is dropped.
    pub unsafe fn hand_out(&self) -> (&'static [Frame], Arena) {
        // SAFETY: zeroed, aligned, within the allocation and made of atomics; that it lives long
        // enough is up to the caller. What the arena makes objects of is not used as frames.
        unsafe {
            let start = self.start.add(self.start.align_offset(PAGE as usize));
            let frames = std::slice::from_raw_parts(start.cast::<Frame>(), self.pages);
            (frames, Arena::new(start, self.pages * PAGE as usize, BASE))
        }
    }
}

impl Drop for Ram {
    fn drop(&mut self) {
        // SAFETY: allocated with this layout.
        unsafe { dealloc(self.start, self.layout) };
    }
}
