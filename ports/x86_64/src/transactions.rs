//! The processor's transactions (S1-10).

use core::arch::asm;
use core::arch::x86_64::__cpuid_count;
use locks::{Abort, Attempt, Transactions};

/// Restricted transactional memory.
pub struct Rtm;

/// What `xbegin` leaves in eax when the transaction begins.
const STARTED: u32 = !0;
/// Bits of what it leaves there when it was undone.
const EXPLICIT: u32 = 1;
const CONFLICT: u32 = 1 << 2;
const CAPACITY: u32 = 1 << 3;

fn cause(status: u32) -> Abort {
    match status {
        _ if status & EXPLICIT != 0 => Abort::Explicit((status >> 24) as u8),
        _ if status & CONFLICT != 0 => Abort::Conflict,
        _ if status & CAPACITY != 0 => Abort::Capacity,
        0 => Abort::Unexplained,
        _ => Abort::Other,
    }
}

impl Transactions for Rtm {
    const AVAILABLE: bool = true;

    fn is_usable() -> bool {
        const LEAF: u32 = 7;
        const RTM: u32 = 1 << 11;
        __cpuid_count(0, 0).eax >= LEAF && __cpuid_count(LEAF, 0).ebx & RTM != 0
    }

    #[inline(always)]
    fn begin() -> Attempt {
        let mut status = STARTED;
        // SAFETY: called only where the processor has the instruction. An abort comes back to the
        // label with memory and registers as they were, but for eax.
        unsafe { asm!("xbegin 2f", "2:", inout("eax") status, options(nostack)) };
        match status {
            STARTED => Attempt::Started,
            status => Attempt::Aborted(cause(status)),
        }
    }

    #[inline(always)]
    fn commit() {
        // SAFETY: called in a transaction only.
        unsafe { asm!("xend", options(nostack)) };
    }

    #[inline(always)]
    fn abort<const CODE: u8>() -> Abort {
        // SAFETY: in a transaction it goes on behind `begin`; elsewhere it does nothing.
        unsafe { asm!("xabort {code}", code = const CODE, options(nostack)) };
        Abort::Explicit(CODE)
    }

    #[inline(always)]
    fn is_active() -> bool {
        let active: u8;
        // SAFETY: called only where the processor has the instruction.
        unsafe { asm!("xtest", "setnz {0}", out(reg_byte) active, options(nomem, nostack)) };
        active != 0
    }
}
