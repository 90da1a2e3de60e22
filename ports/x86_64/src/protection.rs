//! Protection that the CPU offers beyond page rights.

use crate::machine::{read_msr, write_msr};
use abi::boot::protection;
use core::arch::asm;
use core::arch::x86_64::__cpuid_count;
use section::init;

const EFER: u32 = 0xc000_0080;
const EFER_NO_EXECUTE: u64 = 1 << 11;
const CR0_WRITE_PROTECT: u64 = 1 << 16;
const CR4_UMIP: u64 = 1 << 11;
const CR4_SMEP: u64 = 1 << 20;
const CR4_SMAP: u64 = 1 << 21;

/// Sets up protection and the instructions that programs may use.
#[init]
pub fn set_up() {
    let umip = if __cpuid_count(7, 0).ecx & 1 << 2 != 0 { CR4_UMIP } else { 0 };
    // SAFETY: SMEP, SMAP (kernel code touches no user address), UMIP where there is one, FXSAVE
    // and SSE exceptions on, FSGSBASE off; x87 emulation off, numeric errors as exceptions,
    // monitoring for TS.
    unsafe {
        asm!(
            "mov {r}, cr4", "or {r}, {cr4}", "or {r}, {umip}", "mov cr4, {r}",
            "mov {r}, cr0", "and {r}, -5", "or {r}, 0x1002a", "mov cr0, {r}",
            r = out(reg) _, umip = in(reg) umip, cr4 = const 1 << 9 | 1 << 10 | 1 << 20 | 1 << 21,
            options(nomem, nostack),
        );
    }
    set_memory_types();
}

/// Lets the bits of a page table select these types of memory: write-back, write-combining,
/// uncached unless a range says otherwise, uncached; and the same once more. Without the register
/// the second one is write-through.
#[init]
fn set_memory_types() {
    const TYPES: u32 = 0x277;
    const HAS_TYPES: u32 = 1 << 16;
    const FOUR: u64 = 0x00_07_01_06;
    if __cpuid_count(1, 0).edx & HAS_TYPES != 0 {
        // SAFETY: no page has selected the second type so far, and the others stay.
        unsafe { write_msr(TYPES, FOUR << 32 | FOUR) };
    }
}

/// End of the physical addresses that the processor has: page tables hold no others.
#[init]
pub fn addresses() -> u64 {
    const WIDTHS: u32 = 0x8000_0008;
    1 << (__cpuid_count(WIDTHS, 0).eax & 0xff)
}

/// What is switched on, read back from the CPU.
#[init]
pub fn found() -> u64 {
    let (cr0, cr4): (u64, u64);
    // SAFETY: reads registers.
    let efer = unsafe {
        asm!("mov {}, cr0", "mov {}, cr4", out(reg) cr0, out(reg) cr4, options(nomem, nostack));
        read_msr(EFER)
    };
    let bit = |on: bool, bit: u64| if on { bit } else { 0 };
    bit(cr4 & CR4_SMEP != 0, protection::NO_USER_EXECUTE)
        | bit(cr4 & CR4_SMAP != 0, protection::NO_USER_ACCESS)
        | bit(cr0 & CR0_WRITE_PROTECT != 0, protection::WRITE_PROTECT)
        | bit(efer & EFER_NO_EXECUTE != 0, protection::NO_EXECUTE)
}
