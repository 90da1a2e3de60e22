//! The first instructions of a handler. The host changes few of a program's registers for it, and
//! compiled code needs two more: no checks of alignment, and the base of FS, by which this process
//! finds what is a host thread's own.

use super::handle;
use crate::memory::HOST;
use libc::{REG_RIP, SYS_arch_prctl, c_int, c_void, siginfo_t, ucontext_t};
use std::arch::{asm, naked_asm};
use std::mem::offset_of;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

/// All flags but the one that has alignment checked.
const UNCHECKED: i32 = !(1 << 18);
/// Sets the base of FS.
const ARCH_SET_FS: i32 = 0x1002;
/// Where a handler finds the address of the instruction that was stopped.
const INSTRUCTION: usize = offset_of!(ucontext_t, uc_mcontext) + 8 * REG_RIP as usize;

/// The base of FS of the only host thread that runs machine code.
static STORAGE: AtomicU64 = AtomicU64::new(0);

pub fn keep_storage() {
    let base: u64;
    // SAFETY: the first word there holds its own address, as the ABI says.
    unsafe { asm!("mov {}, fs:[0]", out(reg) base, options(nostack, readonly)) };
    STORAGE.store(base, Relaxed);
}

/// Has [`handle`] find this process as it left it, whatever machine code has done.
#[unsafe(naked)]
pub extern "C" fn enter(signal: c_int, info: *mut siginfo_t, context: *mut c_void) {
    naked_asm!(
        "pushfq",
        "and dword ptr [rsp], {unchecked}",
        "popfq",
        // Code of this process leaves the base as it is.
        "mov rax, [rdx + {instruction}]",
        "shr rax, {host}",
        "jnz 2f",
        "push rdi",
        "push rsi",
        "push rdx",
        "mov edi, {set}",
        "mov rsi, [rip + {storage}]",
        "mov eax, {call}",
        "syscall",
        "pop rdx",
        "pop rsi",
        "pop rdi",
        "2: jmp {handle}",
        unchecked = const UNCHECKED,
        instruction = const INSTRUCTION,
        host = const HOST.trailing_zeros(),
        set = const ARCH_SET_FS,
        storage = sym STORAGE,
        call = const SYS_arch_prctl,
        handle = sym handle,
    )
}

const _: () = assert!(HOST.is_power_of_two());
