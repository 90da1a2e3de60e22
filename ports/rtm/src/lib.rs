//! The processor's transactions (S1-10), for ports to x86.
#![cfg_attr(not(test), no_std)]

use core::arch::asm;
use core::arch::x86_64::{__cpuid, __cpuid_count};
use locks::{Abort, Attempt, Transactions};

/// What the status register keeps when a transaction has begun.
const STARTED: u32 = u32::MAX;

/// Bits of an abort's status; the uppermost byte is the code of an explicit one.
mod bit {
    pub const EXPLICIT: u32 = 1 << 0;
    pub const MAY_SUCCEED: u32 = 1 << 1;
    pub const CONFLICT: u32 = 1 << 2;
    pub const CAPACITY: u32 = 1 << 3;
}

/// The leaf of the processor's description that tells of transactions, and the bits in it.
const FEATURES: u32 = 7;
const HAS_TRANSACTIONS: u32 = 1 << 11;
/// Each transaction is undone: a mend of the microcode.
const ALWAYS_ABORTS: u32 = 1 << 11;

/// Restricted transactional memory.
pub struct Rtm;

impl Transactions for Rtm {
    const AVAILABLE: bool = true;

    fn is_usable() -> bool {
        if __cpuid(0).eax < FEATURES {
            return false;
        }
        let found = __cpuid_count(FEATURES, 0);
        found.ebx & HAS_TRANSACTIONS != 0 && found.edx & ALWAYS_ABORTS == 0
    }

    #[inline(always)]
    fn begin() -> Attempt {
        let status: u32;
        // SAFETY: asked for only where the processor has it. When the transaction is undone the
        // CPU goes on behind the instruction with all other registers and all memory as they were,
        // so that to the compiler nothing has happened but the status. Memory is not excepted:
        // no access moves across.
        unsafe { asm!("xbegin 2f", "2:", inout("eax") STARTED => status, options(nostack)) };
        match status {
            STARTED => Attempt::Started,
            status => Attempt::Aborted(cause(status)),
        }
    }

    #[inline(always)]
    fn commit() {
        // SAFETY: called in a transaction alone; no access moves across.
        unsafe { asm!("xend", options(nostack)) };
    }

    #[inline(always)]
    fn abort<const CODE: u8>() -> Abort {
        // SAFETY: in a transaction the CPU goes back to where that began, outside nothing happens.
        unsafe { asm!("xabort {}", const CODE, options(nostack)) };
        Abort::Explicit(CODE)
    }

    #[inline(always)]
    fn is_active() -> bool {
        let active: u8;
        // SAFETY: asks a question; only where the processor has transactions.
        unsafe { asm!("xtest", "setnz {}", out(reg_byte) active, options(nomem, nostack)) };
        active != 0
    }
}

/// Why a transaction was undone, by its status. What the program did itself comes first, and what
/// names a line or a set before what names nothing.
fn cause(status: u32) -> Abort {
    if status & bit::EXPLICIT != 0 {
        Abort::Explicit((status >> 24) as u8)
    } else if status & bit::CONFLICT != 0 {
        Abort::Conflict
    } else if status & bit::CAPACITY != 0 {
        Abort::Capacity
    } else if status & !bit::MAY_SUCCEED == 0 {
        Abort::Unexplained
    } else {
        Abort::Other
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use locks::LOCK_HELD;

    #[test]
    fn statuses_have_causes() {
        let code = u32::from(LOCK_HELD) << 24;
        for (status, expected) in [
            (code | bit::EXPLICIT, Abort::Explicit(LOCK_HELD)),
            (bit::CONFLICT | bit::MAY_SUCCEED, Abort::Conflict),
            (bit::CAPACITY, Abort::Capacity),
            (0, Abort::Unexplained),
            (bit::MAY_SUCCEED, Abort::Unexplained),
            (1 << 4, Abort::Other),
        ] {
            assert_eq!(cause(status), expected, "{status:#x}");
        }
    }

    #[test]
    fn a_transaction_that_commits_has_happened() {
        if !Rtm::is_usable() {
            eprintln!("this processor has no transactions: nothing was tried");
            return;
        }
        let mut done = 0;
        for _ in 0..1000 {
            match Rtm::begin() {
                Attempt::Started => {
                    assert!(Rtm::is_active());
                    done += 1;
                    Rtm::commit();
                }
                Attempt::Aborted(_) => {}
            }
            assert!(!Rtm::is_active());
        }
        assert!(done > 0, "no transaction of a thousand has committed");
    }
}
