//! Probes: what a program may not do, tried all the same.
//!
//! A probe first leaves, in a word that its fault handler can read, the address at which it can
//! go on. A handler that refuses lets the thread continue there; the probe then reports that it
//! did not get through.

use super::{Instruction, LENGTH, PROBING, machine};
use abi::message::FaultKind;
use abi::{Rights, call::Call};
use core::sync::atomic::{AtomicU64, Ordering};

fn announce(resume: &AtomicU64) {
    resume.store(PROBING + LENGTH, Ordering::Relaxed);
}

/// Reads a word; none if that was refused.
pub fn read(address: u64, resume: &AtomicU64) -> Option<u64> {
    announce(resume);
    machine().reach(address, Rights::READ, true).map(|word| word.load(Ordering::Relaxed))
}

/// Writes a word; whether it went through.
pub fn write(address: u64, value: u64, resume: &AtomicU64) -> bool {
    announce(resume);
    let word = machine().reach(address, Rights::WRITE, true);
    word.is_some_and(|word| {
        word.store(value, Ordering::Relaxed);
        true
    })
}

/// Calls the code at an address; whether it returned.
pub fn execute(address: u64, resume: &AtomicU64) -> bool {
    announce(resume);
    let Some(word) = machine().reach(address & !7, Rights::EXECUTE, true) else { return false };
    let bytes = word.load(Ordering::Relaxed).to_le_bytes();
    let returns = bytes[address as usize % 8] == RETURN[0];
    if !returns {
        machine().fault(FaultKind::Instruction, false);
    }
    returns
}

/// Uses an address as the stack; whether a push went through.
pub fn push(address: u64, resume: &AtomicU64) -> bool {
    write(address.wrapping_sub(8) & !7, 0, resume)
}

/// Makes a null system call with an address as the stack pointer; whether it returned.
pub fn enter_with_stack(_address: u64, resume: &AtomicU64) -> bool {
    announce(resume);
    let outcome = machine().call(Call::Null as u64, [0; 6], [0; 4]);
    outcome.status.result().is_ok()
}

/// The word that the thread pointer points to.
pub fn thread_word() -> u64 {
    let word = machine().reach(machine().thread_pointer(), Rights::READ, false);
    word.map_or(0, |word| word.load(Ordering::Relaxed))
}

/// Executes an instruction that does not exist.
pub fn undefined() {
    machine().fault(FaultKind::Instruction, false);
}

/// Length of the instruction of [`undefined`].
pub const UNDEFINED_BYTES: u64 = LENGTH;

/// Machine code that returns at once: something to map and to execute.
pub const RETURN: [u8; 1] = [0xc3];

const FORBIDDEN: [(&str, FaultKind); 3] = [
    ("hlt", FaultKind::Instruction),
    ("undefined instruction", FaultKind::Instruction),
    ("division by zero", FaultKind::Arithmetic),
];

/// Names of the forbidden instructions.
pub const PRIVILEGED: &[&str] = &[FORBIDDEN[0].0, FORBIDDEN[1].0, FORBIDDEN[2].0];

/// Tries the forbidden instruction with this index; whether it went through.
pub fn privileged(index: usize, _address: u64, resume: &AtomicU64) -> bool {
    announce(resume);
    machine().fault(FORBIDDEN[index].1, false);
    false
}

/// Least number of debug faults that [`debug_traps`] raises.
pub const DEBUG_TRAPS: u64 = 5;

/// Raises debug faults, after each of which the handler is to resume the thread where it was;
/// whether all went so.
pub fn debug_traps(resume: &AtomicU64) -> bool {
    announce(resume);
    for _ in 0..DEBUG_TRAPS {
        machine().fault(FaultKind::Debug, true);
    }
    true
}

/// Whether a program can turn interrupts off: this machine has no flag for it.
pub fn dangerous_flags() -> bool {
    false
}

/// Fills the vector state with a pattern.
pub fn simd_write(pattern: u64) {
    machine().vector().set(pattern);
}

/// Whether the state still is as [`simd_write`] left it with this pattern, and whether any of it
/// is.
pub fn simd_matches(pattern: u64) -> (bool, bool) {
    let same = machine().vector().get() == pattern;
    (same, same)
}

/// A small server for a domain without a program: code for any address that answers each call on
/// slot 1 with the first word plus one, for ever.
pub fn tiny_server() -> &'static [u8] {
    const CODE: [u8; 8] = Instruction::Server.word().to_le_bytes();
    &CODE
}
