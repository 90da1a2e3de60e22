//! State that a switch moves only for threads that have it: x87 and SSE registers, and the
//! thread pointer. A thread that has neither never pays more than one test.
//!
//! The registers stay in the CPU after their thread is left and are locked (CR0.TS) for all
//! others; they are saved when another thread needs them. A thread without the mark traps on its
//! first such instruction and gets the mark.

use crate::context::{Context, Kept, special};
use crate::machine::write_msr;
use core::arch::asm;
use core::cell::Cell;
use core::ptr;

const FS_BASE: u32 = 0xc000_0100;

/// What of a thread's special state is in the CPU.
#[derive(Default)]
pub struct Special {
    /// Bits of [`special`] that are in force for the current thread.
    pub live: Cell<u64>,
    /// Whose x87 and SSE registers the CPU holds.
    owner: Cell<Option<&'static Context>>,
}

impl Special {
    /// Puts the state of `next` in force.
    #[inline(never)]
    pub fn switch(&self, next: &'static Context) {
        let (old, new) = (self.live.get(), next.special.get());
        if new & special::FPU != 0 {
            // SAFETY: the owner's area is that of a pool slot, which lives for ever; nothing
            // else in the kernel uses these registers.
            unsafe {
                asm!("clts", options(nomem, nostack));
                if !self.owner.get().is_some_and(|owner| ptr::eq(owner, next)) {
                    if let Some(owner) = self.owner.get() {
                        asm!("fxsave64 [{}]", in(reg) owner.fpu.0.get(), options(nostack));
                    }
                    asm!("fxrstor64 [{}]", in(reg) next.fpu.0.get(), options(nostack));
                    self.owner.set(Some(next));
                }
            }
        } else if old & special::FPU != 0 {
            lock();
        }
        if (old | new) & special::POINTER != 0 {
            // SAFETY: the base of FS, which the kernel does not use.
            unsafe { write_msr(FS_BASE, next.pointer.get()) };
        }
        self.live.set(new);
    }

    /// The thread may run on another CPU next: its registers are saved if they are here.
    #[cfg(feature = "smp")]
    pub fn save_lazy_state(&self, thread: &Context) {
        if self.owner.get().is_some_and(|owner| ptr::eq(owner, thread)) {
            self.owner.set(None);
            // SAFETY: the area of a thread that this CPU still runs; the registers are unlocked.
            unsafe { asm!("clts", "fxsave64 [{}]", in(reg) thread.fpu.0.get(), options(nostack)) };
        }
    }

    /// The current thread enters another domain, where it has none of this.
    #[cold]
    pub fn put_aside(&self, thread: &Context, kept: &Kept) {
        if self.owner.get().is_some_and(|owner| ptr::eq(owner, thread)) {
            self.owner.set(None);
            // SAFETY: the area of the thread, to which the registers belong.
            unsafe { asm!("clts", "fxsave64 [{}]", in(reg) thread.fpu.0.get(), options(nostack)) };
            // The way out locks the registers, which are in force, for a thread without the mark.
            self.live.set(self.live.get() | special::FPU);
        }
        // SAFETY: no reference to either area exists, and they are not the same.
        unsafe { ptr::copy_nonoverlapping(thread.fpu.0.get(), kept.fpu.0.get(), 1) };
        thread.reset_fpu();
        kept.special.set(thread.special.take());
        kept.pointer.set(thread.pointer.take());
    }

    /// The thread is back from another domain: what it had there is void.
    #[cold]
    pub fn take_back(&self, thread: &Context, kept: &Kept) {
        self.forget(thread);
        // SAFETY: as in `put_aside`.
        unsafe { ptr::copy_nonoverlapping(kept.fpu.0.get(), thread.fpu.0.get(), 1) };
        if kept.special.get() & special::FPU == 0 {
            thread.reset_fpu();
        }
        thread.special.set(kept.special.take());
        thread.pointer.set(kept.pointer.take());
    }

    /// The thread is gone: its registers are not to be saved.
    pub fn forget(&self, thread: &Context) {
        if self.owner.get().is_some_and(|owner| ptr::eq(owner, thread)) {
            self.owner.set(None);
        }
    }
}

/// Makes the next x87 or SSE instruction trap.
pub fn lock() {
    // SAFETY: sets CR0.TS; the kernel uses none of the registers that it locks.
    unsafe {
        asm!(
            "mov {cr0}, cr0", "or {cr0}, 8", "mov cr0, {cr0}",
            cr0 = out(reg) _, options(nomem, nostack),
        );
    }
}
