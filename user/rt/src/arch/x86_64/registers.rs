//! What a program finds in its registers behind each way out of the kernel. A probe gives every
//! register but the stack pointer a value of its own, enters the kernel one way or another, and
//! compares all of them when it is back.

use super::{Outcome, simd_matches, simd_write};
use abi::call::{Timeout, ipc};
use abi::{Info, Status};
use core::arch::naked_asm;
use core::sync::atomic::AtomicU64;
use core::sync::atomic::Ordering::Relaxed;

/// The registers that probes look at, in the order in which they keep them.
pub const REGISTERS: [&str; 17] = [
    "rax", "rcx", "rdx", "rbx", "rbp", "rsi", "rdi", "r8", "r9", "r10", "r11", "r12", "r13", "r14",
    "r15", "flags", "vectors",
];
const RAX: usize = 0;
const RCX: usize = 1;
const RDX: usize = 2;
const RSI: usize = 5;
const RDI: usize = 6;
const R8: usize = 7;
const R9: usize = 8;
const R10: usize = 9;
const R11: usize = 10;
const R12: usize = 11;
const FLAGS: usize = 15;
const VECTORS: usize = 16;

/// General registers and flags.
pub type Registers = [u64; 16];

/// The flags that a program may set and that hurt no other, with interrupts on.
const OWN_FLAGS: u64 = 0x20_0ed7;
/// Which flags are compared: not the one that a debugger uses to go on.
const COMPARED: u64 = !0x1_0000;
/// What the vector registers hold.
const PATTERN: u64 = 0x0123_4567_89ab_cdee;
/// Length of the instructions that the ways consist of.
const LENGTH: u64 = 2;

/// A value that a register has nowhere else.
const fn own(register: usize) -> u64 {
    if register == FLAGS { OWN_FLAGS } else { 0x0a00_c0de_0000_0101 * (register as u64 + 1) }
}

/// Whether a value may be an address of the kernel.
fn is_of_kernel(value: u64) -> bool {
    value >> 47 == 0x1_ffff
}

/// Goes one way with these registers, and leaves in them what is there behind it; the first
/// register that is not right then.
fn go(registers: &mut Registers, way: u64, right: impl Fn(usize, u64) -> bool) -> Option<usize> {
    simd_write(PATTERN);
    // SAFETY: each way ends in `store`, and every register is restored.
    unsafe { pass(registers, way) };
    if !simd_matches(PATTERN).0 {
        return Some(VECTORS);
    }
    (RAX..=FLAGS).find(|register| match *register {
        FLAGS => (registers[FLAGS] ^ OWN_FLAGS) & COMPARED != 0,
        register => !right(register, registers[register]),
    })
}

/// Makes a system call with these arguments and message words of its own: the outcome, and the
/// first register that then holds anything but what `docs/system-calls.md` says.
pub fn call_and_look(number: u64, arguments: &[u64]) -> (Outcome, Option<usize>) {
    let mut registers = core::array::from_fn(own);
    registers[RAX] = number;
    for (register, argument) in [RDI, RSI, RDX, R8, R9, R10].into_iter().zip(arguments) {
        registers[register] = *argument;
    }
    let way = system_call as *const () as u64;
    let wrong = go(&mut registers, way, |register, value| match register {
        RCX => value == way + LENGTH,
        R11 => (value ^ OWN_FLAGS) & COMPARED == 0,
        RAX | RSI | RDI | R12.. => !is_of_kernel(value),
        _ => value == 0,
    });
    // What has failed has no results.
    let failed = registers[RAX] != 0;
    let results = [RSI, RDI].into_iter().find(|register| failed && registers[*register] != 0);
    let outcome = Outcome {
        status: Status(registers[RAX]),
        badge: registers[RDI],
        info: Info(registers[RSI]),
        words: core::array::from_fn(|i| registers[R12 + i]),
    };
    (outcome, wrong.or(results))
}

/// Raises a fault, whose handler is to let the thread go on where `resume` says: the first register
/// that has changed.
pub fn fault_and_look(resume: &AtomicU64) -> Option<usize> {
    let way = undefined_instruction as *const () as u64;
    resume.store(way + LENGTH, Relaxed);
    go(&mut core::array::from_fn(own), way, |register, value| value == own(register))
}

/// Executes `n` instructions that change nothing but a counter, which interrupts and a thread that
/// stops the thread may strike: the first register that has changed.
pub fn loop_and_look(n: u64) -> Option<usize> {
    let mut registers = core::array::from_fn(own);
    registers[RCX] = n;
    let way = counting as *const () as u64;
    go(&mut registers, way, |register, value| {
        value == if register == RCX { 0 } else { own(register) }
    })
}

/// The same for ever: for a thread that is made to go on at [`dump`].
pub fn loop_for_ever() {
    let way = spinning as *const () as u64;
    go(&mut core::array::from_fn(own), way, |_, _| true);
}

/// Where a thread stores the [`Registers`] that it then has right below its stack pointer, and
/// sleeps for ever.
pub fn dump() -> u64 {
    store_and_sleep as *const () as u64
}

/// The first register that is not as [`loop_for_ever`] keeps it.
pub fn looped(registers: &Registers) -> Option<usize> {
    (RAX..=FLAGS).find(|register| {
        let mask = if *register == FLAGS { COMPARED } else { u64::MAX };
        (registers[*register] ^ own(*register)) & mask != 0
    })
}

/// The first register of a thread that was made to go on at [`dump`] instead of behind its
/// [`call_and_look`] that holds anything but zero, what it had, or one of these words.
pub fn left_by_call(registers: &Registers, words: &[u64]) -> Option<usize> {
    (RAX..FLAGS).find(|register| {
        let value = registers[*register];
        let known = match *register {
            RCX => value == dump(),
            R11 => (value ^ OWN_FLAGS) & COMPARED == 0,
            register => value == own(register),
        };
        value != 0 && !known && !words.contains(&value)
    })
}

/// Loads all registers, goes a way, and stores all registers as they are then.
///
/// # Safety
/// `registers` can be written, and `way` is the address of code that ends in `store`.
#[unsafe(naked)]
unsafe extern "sysv64" fn pass(registers: *mut Registers, way: u64) {
    naked_asm!(
        "push rbx",
        "push rbp",
        "push r12",
        "push r13",
        "push r14",
        "push r15",
        "pushfq",
        "push rdi",
        "push rsi",
        "push [rdi + 120]",
        "popfq",
        "mov rax, [rdi]",
        "mov rcx, [rdi + 8]",
        "mov rdx, [rdi + 16]",
        "mov rbx, [rdi + 24]",
        "mov rbp, [rdi + 32]",
        "mov rsi, [rdi + 40]",
        "mov r8, [rdi + 56]",
        "mov r9, [rdi + 64]",
        "mov r10, [rdi + 72]",
        "mov r11, [rdi + 80]",
        "mov r12, [rdi + 88]",
        "mov r13, [rdi + 96]",
        "mov r14, [rdi + 104]",
        "mov r15, [rdi + 112]",
        "mov rdi, [rdi + 48]",
        "ret",
    )
}

/// The end of each way: behind the return address of `pass`, the stack holds what it pushed.
#[unsafe(naked)]
extern "sysv64" fn store() {
    naked_asm!(
        "xchg rax, [rsp]",
        "mov [rax + 8], rcx",
        "mov [rax + 16], rdx",
        "mov [rax + 24], rbx",
        "mov [rax + 32], rbp",
        "mov [rax + 40], rsi",
        "mov [rax + 48], rdi",
        "mov [rax + 56], r8",
        "mov [rax + 64], r9",
        "mov [rax + 72], r10",
        "mov [rax + 80], r11",
        "mov [rax + 88], r12",
        "mov [rax + 96], r13",
        "mov [rax + 104], r14",
        "mov [rax + 112], r15",
        "pushfq",
        "pop [rax + 120]",
        "pop rcx",
        "mov [rax], rcx",
        "popfq",
        "pop r15",
        "pop r14",
        "pop r13",
        "pop r12",
        "pop rbp",
        "pop rbx",
        "ret",
    )
}

#[unsafe(naked)]
extern "sysv64" fn system_call() {
    naked_asm!("syscall", "jmp {}", sym store)
}

#[unsafe(naked)]
extern "sysv64" fn undefined_instruction() {
    naked_asm!("ud2", "jmp {}", sym store)
}

#[unsafe(naked)]
extern "sysv64" fn counting() {
    naked_asm!("2:", "loop 2b", "jmp {}", sym store)
}

#[unsafe(naked)]
extern "sysv64" fn spinning() {
    naked_asm!("2:", "jmp 2b")
}

#[unsafe(naked)]
extern "sysv64" fn store_and_sleep() {
    naked_asm!(
        "pushfq", "push r15", "push r14", "push r13", "push r12", "push r11", "push r10", "push r9",
        "push r8", "push rdi", "push rsi", "push rbp", "push rbx", "push rdx", "push rcx",
        "push rax",
        "2:", "mov eax, {sleep}", "xor edi, edi", "xor esi, esi", "mov rdx, -1", "syscall",
        "jmp 2b",
        sleep = const ipc(Timeout::Never, Timeout::At),
    )
}
