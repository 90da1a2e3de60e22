//! Memory by address: what the packer has put into the program's address space.

use abi::Rights;
use core::sync::atomic::AtomicU64;

/// The shared word at an address, to be used with these rights.
#[inline(always)]
pub(crate) fn word(address: u64, _rights: Rights) -> &'static AtomicU64 {
    // SAFETY: callers pass aligned addresses within ranges that the environment names: mapped for
    // as long as the program lives, and used for nothing else in it. Every access is atomic.
    unsafe { &*(address as *const AtomicU64) }
}

/// What a device's register has.
#[inline(always)]
pub(crate) fn read_register(address: u64) -> u64 {
    // SAFETY: callers pass aligned addresses of a page that the environment names: mapped for as
    // long as the program lives, and used for nothing else in it.
    unsafe { core::ptr::read_volatile(address as *const u64) }
}

/// Writes to a device's register.
#[inline(always)]
pub(crate) fn write_register(address: u64, value: u64) {
    // SAFETY: as above.
    unsafe { core::ptr::write_volatile(address as *mut u64, value) }
}

/// What a device's register of 32 bits has.
#[inline(always)]
pub(crate) fn read_register_32(address: u64) -> u32 {
    // SAFETY: as above.
    unsafe { core::ptr::read_volatile(address as *const u32) }
}

/// Writes to a device's register of 32 bits.
#[inline(always)]
pub(crate) fn write_register_32(address: u64, value: u32) {
    // SAFETY: as above.
    unsafe { core::ptr::write_volatile(address as *mut u32, value) }
}

/// The bytes of a text that does not change, from an address to its NUL.
pub(crate) fn text(address: u64) -> &'static [u8] {
    // SAFETY: callers pass the address of the environment: pages mapped readable for as long as
    // the program lives, not writable, with a NUL at the end of the text.
    unsafe { core::ffi::CStr::from_ptr(address as *const core::ffi::c_char).to_bytes() }
}
