//! Instructions without a name in the language.

use core::arch::asm;

/// Reads the time stamp counter.
#[inline(always)]
pub fn counter() -> u64 {
    let (low, high): (u64, u64);
    // SAFETY: reads a counter; the upper halves of both registers become zero.
    unsafe { asm!("rdtsc", out("rax") low, out("rdx") high, options(nomem, nostack)) };
    high << 32 | low
}

/// Writes a byte to an I/O port.
///
/// # Safety
/// The device behind the port does nothing to memory that is in use.
pub unsafe fn out8(port: u16, value: u8) {
    // SAFETY: passed on to the caller.
    unsafe { asm!("out dx, al", in("dx") port, in("al") value, options(nomem, nostack)) };
}

/// Reads a byte from an I/O port.
///
/// # Safety
/// As for [`out8`].
pub unsafe fn in8(port: u16) -> u8 {
    let value;
    // SAFETY: passed on to the caller.
    unsafe { asm!("in al, dx", in("dx") port, out("al") value, options(nomem, nostack)) };
    value
}

/// Writes 16 bits to an I/O port.
///
/// # Safety
/// As for [`out8`].
pub unsafe fn out16(port: u16, value: u16) {
    // SAFETY: passed on to the caller.
    unsafe { asm!("out dx, ax", in("dx") port, in("ax") value, options(nomem, nostack)) };
}

/// Reads 16 bits from an I/O port.
///
/// # Safety
/// As for [`out8`].
pub unsafe fn in16(port: u16) -> u16 {
    let value;
    // SAFETY: passed on to the caller.
    unsafe { asm!("in ax, dx", in("dx") port, out("ax") value, options(nomem, nostack)) };
    value
}

/// Writes 32 bits to an I/O port.
///
/// # Safety
/// As for [`out8`].
pub unsafe fn out32(port: u16, value: u32) {
    // SAFETY: passed on to the caller.
    unsafe { asm!("out dx, eax", in("dx") port, in("eax") value, options(nomem, nostack)) };
}

/// Reads 32 bits from an I/O port.
///
/// # Safety
/// As for [`out8`].
pub unsafe fn in32(port: u16) -> u32 {
    let value;
    // SAFETY: passed on to the caller.
    unsafe { asm!("in eax, dx", in("dx") port, out("eax") value, options(nomem, nostack)) };
    value
}

/// Writes a model-specific register.
///
/// # Safety
/// The register and the value leave the kernel's own state intact.
pub unsafe fn write_msr(register: u32, value: u64) {
    let (low, high) = (value as u32, (value >> 32) as u32);
    // SAFETY: passed on to the caller.
    unsafe {
        asm!("wrmsr", in("ecx") register, in("eax") low, in("edx") high, options(nostack));
    }
}

/// Reads a model-specific register.
///
/// # Safety
/// The register exists.
pub unsafe fn read_msr(register: u32) -> u64 {
    let (low, high): (u32, u32);
    // SAFETY: passed on to the caller.
    unsafe {
        asm!("rdmsr", in("ecx") register, out("eax") low, out("edx") high,
             options(nomem, nostack));
    }
    u64::from(high) << 32 | u64::from(low)
}

/// Loads the root of the page tables.
///
/// # Safety
/// The tables map the kernel as it is mapped now.
#[inline(always)]
pub unsafe fn load_root(root: u64) {
    // SAFETY: passed on to the caller.
    unsafe { asm!("mov cr3, {}", in(reg) root, options(nostack)) };
}

/// Forgets the translation of one address.
#[inline(always)]
pub fn forget_page(at: u64) {
    // SAFETY: dropping a cached translation changes no state that Rust knows of.
    unsafe { asm!("invlpg [{}]", in(reg) at, options(nostack)) };
}

/// The address of the last page fault.
pub fn fault_address() -> u64 {
    let address;
    // SAFETY: reads a register.
    unsafe { asm!("mov {}, cr2", out(reg) address, options(nomem, nostack)) };
    address
}

/// Stops for ever, interrupts off.
pub fn halt() -> ! {
    loop {
        // SAFETY: nothing runs after this.
        unsafe { asm!("cli", "hlt", options(nomem, nostack)) };
    }
}
