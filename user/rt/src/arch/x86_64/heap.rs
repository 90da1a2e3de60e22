//! The heap of a program: the memory that the key `heap` of its domain gives it, and no more.
//! Taking and giving back are O(1), whatever was taken before (two-level segregated fit).

use crate::time::Units;
use crate::{start, time};
use core::alloc::{GlobalAlloc, Layout};
use core::cell::UnsafeCell;
use core::ptr::{self, NonNull, slice_from_raw_parts_mut};
use core::sync::atomic::{AtomicBool, Ordering};
use rlsf::Tlsf;

/// Free blocks by size: up to 512 MiB, each power of two in 16 classes.
type Blocks = Tlsf<'static, u32, u16, 24, 16>;

/// All threads of the program take from it.
#[global_allocator]
static HEAP: Heap = Heap {
    taken: AtomicBool::new(false),
    state: UnsafeCell::new(State { begun: false, blocks: Blocks::new() }),
};

struct Heap {
    /// Whether a thread is using the state.
    taken: AtomicBool,
    state: UnsafeCell<State>,
}

struct State {
    begun: bool,
    blocks: Blocks,
}

// SAFETY: the state is reached by `Heap::with` alone, which lets one thread in at a time.
unsafe impl Sync for Heap {}

impl Heap {
    fn with<R>(&self, work: impl FnOnce(&mut Blocks) -> R) -> R {
        while self.taken.swap(true, Ordering::Acquire) {
            // The other thread may be a lower one on this CPU: to spin would keep it from ending.
            time::sleep(20.us());
        }
        // SAFETY: this thread has found `taken` false and set it, so no other is here.
        let state = unsafe { &mut *self.state.get() };
        if !state.begun && !state.begin() {
            self.taken.store(false, Ordering::Release);
            panic!("the program has no heap: give its domain a `heap` in the manifest");
        }
        let result = work(&mut state.blocks);
        self.taken.store(false, Ordering::Release);
        result
    }
}

impl State {
    /// Takes the program's heap; whether it has one.
    #[cold]
    fn begin(&mut self) -> bool {
        let Some((address, bytes)) = start::environment().heap() else { return false };
        let start = ptr::with_exposed_provenance_mut(address as usize);
        let block = slice_from_raw_parts_mut(start, bytes as usize);
        let block = NonNull::new(block).expect("no heap begins at address 0");
        // SAFETY: the kernel has mapped this memory for the heap alone, readable and writable, for
        // as long as the program lives, and it is given to the allocator once.
        self.begun = unsafe { self.blocks.insert_free_block_ptr(block) }.is_some();
        self.begun
    }
}

// SAFETY: blocks come from an allocator that hands each byte out once, as aligned as was asked for.
unsafe impl GlobalAlloc for Heap {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let block = self.with(|blocks| blocks.allocate(layout));
        block.map_or(ptr::null_mut(), NonNull::as_ptr)
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        let Some(block) = NonNull::new(block) else { return };
        // SAFETY: the caller passes what `alloc` has returned for this layout.
        self.with(|blocks| unsafe { blocks.deallocate(block, layout.align()) });
    }
}
