//! Memory by address: what the packer has put into the program's address space.

use core::sync::atomic::AtomicU64;

/// The shared words at an address.
pub(crate) fn words(address: u64, bytes: u64) -> &'static [AtomicU64] {
    assert!(address != 0 && address.is_multiple_of(8), "misaligned shared memory");
    // SAFETY: callers pass ranges that the environment names: mapped for as long as the program
    // lives, and used for nothing else in it. Every access is atomic.
    unsafe { core::slice::from_raw_parts(address as *const AtomicU64, (bytes / 8) as usize) }
}

/// The bytes of a text that nobody changes, from an address to the end of its page.
pub(crate) fn text(address: u64) -> &'static [u8] {
    let length = (abi::PAGE - address % abi::PAGE) as usize;
    // SAFETY: callers pass the address of the environment: a page mapped readable for as long as
    // the program lives, and writable for nobody.
    unsafe { core::slice::from_raw_parts(address as *const u8, length) }
}
