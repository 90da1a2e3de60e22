//! Memory by address, through the machine's page tables.

use super::{machine, std};
use abi::{PAGE, Rights};
use core::sync::atomic::{AtomicU64, Ordering};
use std::boxed::Box;
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::thread_local;
use std::vec::Vec;

/// The longest text, in pages.
const PAGES: u64 = 64;

thread_local! {
    /// Texts that programs have read: few differ, and they keep their references for ever.
    static TEXTS: RefCell<BTreeSet<&'static [u8]>> = const { RefCell::new(BTreeSet::new()) };
}

/// The shared word at an address, to be used with these rights.
#[inline]
pub(crate) fn word(address: u64, rights: Rights) -> &'static AtomicU64 {
    loop {
        // A handler that refuses sends a thread that is not probing elsewhere.
        if let Some(word) = machine().reach(address, rights, false) {
            return word;
        }
    }
}

/// What a device's register has.
pub(crate) fn read_register(address: u64) -> u64 {
    machine().read_register(address)
}

/// Writes to a device's register.
pub(crate) fn write_register(address: u64, value: u64) {
    machine().write_register(address, value);
}

/// What a device's register of 32 bits has: a half of one that the machine knows.
pub(crate) fn read_register_32(address: u64) -> u32 {
    (read_register(address & !7) >> (8 * (address & 4))) as u32
}

/// Writes to a device's register of 32 bits.
pub(crate) fn write_register_32(address: u64, value: u32) {
    let (at, shift) = (address & !7, 8 * (address & 4));
    let other = read_register(at) & !(u64::from(u32::MAX) << shift);
    write_register(at, other | u64::from(value) << shift);
}

/// The bytes of a text that does not change, from an address to its NUL.
pub(crate) fn text(address: u64) -> &'static [u8] {
    let mut bytes = Vec::new();
    for at in (0..PAGES * PAGE).step_by(8).map(|offset| address.wrapping_add(offset)) {
        let word = word(at, Rights::READ).load(Ordering::Relaxed).to_le_bytes();
        let end = word.iter().position(|&byte| byte == 0);
        bytes.extend_from_slice(&word[..end.unwrap_or(8)]);
        if end.is_some() {
            break;
        }
    }
    TEXTS.with_borrow_mut(|texts| match texts.get(bytes.as_slice()) {
        Some(text) => text,
        None => {
            let text: &[u8] = Box::leak(bytes.into_boxed_slice());
            texts.insert(text);
            text
        }
    })
}
