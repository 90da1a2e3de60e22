//! What the machine itself must refuse.

use super::{Attempts, RESUME, SECRET, TRAPS, VAULT};
use rt::{arch, system, thread};

/// Addresses of the kernel, of nothing, and of no kind.
const FOREIGN: [u64; 16] = [
    0,
    8,
    0xff8,
    0x1000,
    abi::USER_TOP - 8,
    abi::USER_TOP,
    0x7fff_ffff_fff8,
    0x8000_0000_0000,
    0x8000_0000_0000_0000,
    0xffff_0000_0000_0000,
    0xffff_8000_0000_0000,
    0xffff_8000_0010_0000,
    0xffff_ffff_8000_0000,
    0xffff_ffff_8010_0000,
    0xffff_ffff_ffff_f000,
    u64::MAX - 7,
];

pub fn privileged(attempts: &mut Attempts) {
    let address = attempts.notes.address();
    for i in 0..arch::PRIVILEGED.len() {
        attempts.fault(|resume| arch::privileged(i, address, resume));
    }
}

pub fn memory(attempts: &mut Attempts) {
    let vault = attempts.notes.get(VAULT);
    for address in FOREIGN.into_iter().chain([vault, vault + 8]) {
        attempts.fault(|resume| arch::read(address, resume).is_some());
        attempts.fault(|resume| arch::write(address, 0x0bad, resume));
        attempts.fault(|resume| arch::execute(address, resume));
    }
    // Its own memory: text is not written, data not executed, the environment not written.
    let (text, data) = (0x20_0000, attempts.notes.address());
    let buffer = attempts.env.buffer_address(0);
    attempts.fault(|resume| arch::write(text, 0x0bad, resume));
    attempts.fault(|resume| arch::execute(data, resume));
    attempts.fault(|resume| arch::execute(buffer, resume));
    attempts.fault(|resume| arch::read(buffer + abi::PAGE - 4, resume).is_some());
}

pub fn stacks(attempts: &mut Attempts) {
    for address in FOREIGN {
        attempts.fault(|resume| arch::push(address, resume));
        // The kernel must not touch the stack of the thread that enters it.
        let entered = arch::enter_with_stack(address, attempts.notes.word(RESUME));
        attempts.attempt(entered);
    }
}

pub fn flags(attempts: &mut Attempts) {
    attempts.attempt(!arch::dangerous_flags());
    let before = attempts.notes.get(TRAPS);
    let stepped = arch::debug_traps(attempts.notes.word(RESUME));
    attempts.attempt(stepped && attempts.notes.get(TRAPS) - before >= arch::DEBUG_TRAPS);
}

pub fn vectors(attempts: &mut Attempts) {
    for round in 0..20 {
        let mine = !SECRET ^ round;
        arch::simd_write(mine);
        // Lets the judge run, once by a fault and once by time.
        attempts.fault(|resume| arch::read(0, resume).is_some());
        system::sleep(50_000);
        attempts.attempt(!arch::simd_matches(SECRET).1);
        arch::simd_write(mine);
        attempts.fault(|resume| arch::read(0, resume).is_some());
        attempts.attempt(thread::yield_now().is_ok() && arch::simd_matches(mine).0);
    }
}
