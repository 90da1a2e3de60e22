//! x86_64.
//!
//! | | in | out |
//! |---|---|---|
//! | `rax` | number word | status |
//! | `rdi`, `rsi` | arguments 0, 1 | badge and descriptor, or results |
//! | `rdx`, `r8`, `r9`, `r10` | arguments 2 to 5 | zero |
//! | `r12` to `r15` | message words | message words |
//! | `rbx`, `rbp` | | zero |
//! | `rcx`, `r11` | | destroyed |
//!
//! The kernel preserves stack pointer, flags and vector registers; `rbx` and `rbp` cannot be
//! operands of inline assembly, so the stub saves them on the stack.

#[cfg(feature = "alloc")]
mod heap;
mod probe;
mod registers;

pub use probe::*;
pub use registers::*;

use super::{Outcome, Word};
use crate::Env;
use crate::train::{self, Entry, Visitor};
use abi::call::Call;
use abi::{Info, Status};
use core::arch::{asm, naked_asm};

/// Whether the program is in the midst of a panic: a panic ends the thread at once here, so no
/// destructor runs in one.
#[inline(always)]
pub const fn panics() -> bool {
    false
}

/// Enters the kernel.
#[inline(always)]
pub fn syscall(number: u64, a: [Word; 6], w: [Word; 4]) -> Outcome {
    let (status, badge, info): (u64, Word, Word);
    let (w0, w1, w2, w3): (Word, Word, Word, Word);
    // SAFETY: the kernel changes no memory of the program except through objects that it shares
    // (atomics), and the operands name every register that it destroys. It sets all outputs.
    unsafe {
        asm!(
            "push rbx",
            "push rbp",
            "syscall",
            "pop rbp",
            "pop rbx",
            inlateout("rax") number => status,
            inlateout("rdi") a[0] => badge,
            inlateout("rsi") a[1] => info,
            inlateout("rdx") a[2] => _,
            inlateout("r8") a[3] => _,
            inlateout("r9") a[4] => _,
            inlateout("r10") a[5] => _,
            inlateout("r12") w[0] => w0,
            inlateout("r13") w[1] => w1,
            inlateout("r14") w[2] => w2,
            inlateout("r15") w[3] => w3,
            lateout("rcx") _,
            lateout("r11") _,
        );
        Outcome {
            status: Status(status),
            badge: badge.assume_init(),
            info: Info(info.assume_init()),
            words: [w0.assume_init(), w1.assume_init(), w2.assume_init(), w3.assume_init()],
        }
    }
}

/// The cycle counter. No memory access moves across it.
#[inline(always)]
pub fn counter() -> u64 {
    let now: u64;
    // SAFETY: user mode may read the counter; nothing else changes.
    unsafe {
        asm!("rdtsc", "shl rdx, 32", "or rax, rdx", out("rax") now, out("rdx") _,
            options(nostack));
    }
    now
}

/// Executes `n` instructions that do nothing, within one.
#[inline(always)]
pub fn work(n: u64) {
    // SAFETY: counts a register down.
    unsafe {
        asm!("2:", "dec {n}", "jg 2b", n = inout(reg) n / 2 => _, options(nomem, nostack));
    }
}

/// Executes `n` instructions that do nothing, within 32. Branches are rare, so that an emulator
/// is quick.
#[inline(always)]
pub fn long_work(n: u64) {
    // SAFETY: counts a register down.
    unsafe {
        asm!(
            "jmp 3f", "2:", ".rept 30", "nop", ".endr", "3:", "sub {n}, 32", "jg 2b",
            n = inout(reg) n => _, options(nomem, nostack),
        );
    }
}

/// Two counter reads with nothing between them but putting the first one aside, as around a
/// system call: what measuring alone costs.
pub fn counter_pair() -> (u64, u64) {
    let (before, after): (u64, u64);
    // SAFETY: as in `counter`.
    unsafe {
        asm!("rdtsc", "shl rdx, 32", "or rax, rdx", "mov {before}, rax", "rdtsc", "shl rdx, 32",
            "or rax, rdx", before = out(reg) before, out("rax") after, out("rdx") _,
            options(nostack));
    }
    (before, after)
}

/// Writes the low half of the cycle counter into a word, over and over.
pub fn stamp_for_ever(stamp: &core::sync::atomic::AtomicU64) -> ! {
    // SAFETY: the loop writes only the referenced word.
    unsafe {
        asm!("2:", "rdtsc", "mov dword ptr [rdi], eax", "jmp 2b", in("rdi") stamp.as_ptr(),
            options(noreturn));
    }
}

/// The program's first instruction: the address of the environment text is the argument.
#[cfg(target_os = "none")]
#[unsafe(naked)]
#[unsafe(no_mangle)]
extern "C" fn _start() -> ! {
    unsafe extern "C" {
        fn program_main(environment: u64) -> !;
    }
    naked_asm!("xor ebp, ebp", "call {}", "ud2", sym program_main)
}

/// The address of a further thread's first instruction.
pub(crate) fn thread_entry() -> u64 {
    thread_start as *const () as u64
}

/// The word that stands for a thread's function on its stack.
pub(crate) fn function(work: fn(&Env, u64)) -> u64 {
    work as usize as u64
}

/// The address of a train's first instruction.
pub(crate) fn train_entry() -> u64 {
    train_start as *const () as u64
}

/// The word that stands for what visitors run.
pub(crate) fn visitor<E: Entry>() -> u64 {
    visit::<E> as *const () as u64
}

/// A visitor's first instruction. Its registers are the address of the train's record (function,
/// environment, argument), the badge, and the message words; its stack is empty.
#[unsafe(naked)]
extern "C" fn train_start() -> ! {
    naked_asm!(
        "mov rax, [rdi]",
        "mov rdx, [rdi + 8]",
        "mov rcx, [rdi + 16]",
        "mov rdi, r12",
        "mov r8, r13",
        "mov r9, r14",
        // An argument, and once more for the alignment.
        "push r15",
        "push r15",
        "call rax",
        "ud2",
    )
}

/// A visitor's first compiled function, by way of the record.
extern "C" fn visit<E: Entry>(
    w0: u64,
    badge: u64,
    environment: u64,
    argument: u64,
    w1: u64,
    w2: u64,
    w3: u64,
) -> ! {
    leave(train::run::<E>(Visitor { badge, argument, environment }, [w0, w1, w2, w3]))
}

/// Returns to where the thread has entered its domain. It does so once.
#[inline(always)]
fn leave([w0, w1, w2, w3]: [u64; 4]) -> ! {
    // SAFETY: as in `syscall`; the thread goes on where it has entered, or ends.
    unsafe {
        asm!(
            "mov r12, rsi",
            "mov r13, rdx",
            "mov r14, r8",
            "mov r15, r9",
            "xor edi, edi",
            "syscall",
            "and rsp, -16",
            "call {}",
            sym refused,
            in("rax") Call::TrainReturn as u64,
            in("rsi") w0,
            in("rdx") w1,
            in("r8") w2,
            in("r9") w3,
            options(noreturn),
        );
    }
}

/// The kernel has no place to return to.
#[cold]
extern "C" fn refused() -> ! {
    crate::exit()
}

/// A further thread's first instruction. On its stack, from the stack pointer up: entry
/// function, environment text, argument, and one word that keeps the stack aligned.
#[unsafe(naked)]
extern "C" fn thread_start() -> ! {
    naked_asm!("pop rdi", "pop rsi", "pop rdx", "pop rcx", "xor ebp, ebp", "call {}", "ud2",
        sym crate::thread::begin)
}
