//! The machine's RAM: zeroed, and given back when the run is over.

use abi::PAGE;
use kernel::arena::Arena;
use kernel::port::Frame;
use std::alloc::{Layout, alloc_zeroed, dealloc, handle_alloc_error};

/// Physical address of the first frame.
pub const BASE: u64 = 0x100_0000;

/// Some RAM.
pub struct Ram {
    start: *mut u8,
    layout: Layout,
}

impl Ram {
    /// So many zeroed pages.
    pub fn new(pages: usize) -> Ram {
        let layout = Layout::from_size_align(pages.max(1) * PAGE as usize, PAGE as usize)
            .expect("a size that fits into the address space");
        // SAFETY: the layout is not empty.
        let start = unsafe { alloc_zeroed(layout) };
        if start.is_null() {
            handle_alloc_error(layout);
        }
        Ram { start, layout }
    }

    /// The frames, and an arena over all of them.
    ///
    /// # Safety
    /// Called once, and neither result is used once the RAM is dropped.
    pub unsafe fn hand_out(&self) -> (&'static [Frame], Arena) {
        let pages = self.layout.size() / PAGE as usize;
        // SAFETY: zeroed, aligned and made of atomics; that it lives long enough is up to the
        // caller. What the arena makes objects of is not used as frames.
        unsafe {
            let frames = std::slice::from_raw_parts(self.start.cast::<Frame>(), pages);
            (frames, Arena::new(self.start, self.layout.size(), BASE))
        }
    }
}

impl Drop for Ram {
    fn drop(&mut self) {
        // SAFETY: allocated with this layout.
        unsafe { dealloc(self.start, self.layout) };
    }
}
