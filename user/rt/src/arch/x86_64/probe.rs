//! Probes: what user mode may not do, tried all the same, and the state that must not leak.
//!
//! A probe first leaves, in a word that its fault handler can read, the address at which it can
//! go on. A handler that refuses lets the thread continue there; the probe then reports that it
//! did not get through. Stack pointer and the registers in use survive.

use core::arch::asm;
use core::sync::atomic::AtomicU64;

/// Tries instructions; whether they went through. `$address` is in `rax`, `$value` in `rdx`.
macro_rules! attempt {
    ($resume:expr, $address:expr, $value:expr, $($instruction:literal),+) => {{
        let through: u64;
        let value: u64;
        // SAFETY: all registers but the stack pointer are declared destroyed, and that one is
        // restored; what the instructions do to memory or machine is the caller's experiment.
        unsafe {
            asm!(
                "push rbx",
                "push rbp",
                "lea rcx, [rip + 2f]",
                "mov [r12], rcx",
                "mov r13, rsp",
                "xor r14d, r14d",
                $($instruction,)+
                "mov r14d, 1",
                "2:",
                "mov rsp, r13",
                "pop rbp",
                "pop rbx",
                inout("r12") $resume.as_ptr() => _,
                inlateout("rax") $address => _,
                inlateout("rdx") $value => value,
                out("r14") through,
                out("rcx") _, out("rdi") _, out("rsi") _, out("r8") _, out("r9") _, out("r10") _,
                out("r11") _, out("r13") _, out("r15") _,
            );
        }
        (through != 0, value)
    }};
}

/// Reads a word; none if that was refused.
pub fn read(address: u64, resume: &AtomicU64) -> Option<u64> {
    let (through, value) = attempt!(resume, address, 0u64, "mov rdx, [rax]");
    through.then_some(value)
}

/// Writes a word; whether it went through.
pub fn write(address: u64, value: u64, resume: &AtomicU64) -> bool {
    attempt!(resume, address, value, "mov [rax], rdx").0
}

/// Calls the code at an address; whether it returned.
pub fn execute(address: u64, resume: &AtomicU64) -> bool {
    attempt!(resume, address, 0u64, "call rax").0
}

/// Uses an address as the stack; whether a push went through.
pub fn push(address: u64, resume: &AtomicU64) -> bool {
    attempt!(resume, address, 0u64, "mov rsp, rax", "push rdx").0
}

/// Makes a null system call with an address as the stack pointer; whether it returned.
pub fn enter_with_stack(address: u64, resume: &AtomicU64) -> bool {
    let null = abi::call::Call::Null as u64;
    attempt!(resume, address, null, "mov rsp, rax", "mov rax, rdx", "syscall", "mov rsp, r13").0
}

/// Reads from an address that says where the program has panicked.
pub fn panicked(address: u64) {
    // SAFETY: reads a word and drops it. Where the program has mapped something there, nothing
    // happens; else it faults, which touches no memory of the program.
    unsafe { asm!("mov {0}, [{0}]", inout(reg) address => _, options(nostack, readonly)) };
}

/// Executes an instruction that does not exist.
#[inline(always)]
pub fn undefined() {
    // SAFETY: raises a fault and does nothing else; the handler skips it.
    unsafe { asm!("ud2", options(nostack, preserves_flags)) };
}

/// Length of the instruction of [`undefined`].
pub const UNDEFINED_BYTES: u64 = 2;

/// Machine code that returns at once: something to map and to execute.
pub const RETURN: [u8; 1] = [0xc3];

macro_rules! privileged {
    ($($name:literal: $($instruction:literal),+;)+) => {
        /// Names of the forbidden instructions.
        pub const PRIVILEGED: &[&str] = &[$($name),+];

        /// Tries the forbidden instruction with this index; whether it went through. Its memory
        /// operand, if any, is at `address`.
        pub fn privileged(index: usize, address: u64, resume: &AtomicU64) -> bool {
            const TRIES: &[fn(u64, &AtomicU64) -> bool] = &[$({
                fn attempt(address: u64, resume: &AtomicU64) -> bool {
                    attempt!(resume, address, 0u64, $($instruction),+).0
                }
                attempt
            }),+];
            TRIES[index](address, resume)
        }
    };
}

privileged! {
    "hlt": "hlt";
    "cli": "cli";
    "sti": "sti";
    "in": "mov dx, 0x3f8", "in al, dx";
    "out": "mov dx, 0xf4", "mov al, 1", "out dx, al";
    "ins": "mov rdi, rax", "mov dx, 0x3f8", "insb";
    "outs": "mov rsi, rax", "mov dx, 0x3f8", "outsb";
    "read cr0": "mov rdx, cr0";
    "read cr2": "mov rdx, cr2";
    "read cr3": "mov rdx, cr3";
    "write cr0": "mov cr0, rax";
    "write cr3": "mov cr3, rax";
    "write cr4": "mov cr4, rax";
    "write cr8": "mov cr8, rax";
    "read dr7": "mov rdx, dr7";
    "write dr7": "mov dr7, rax";
    "wrmsr": "mov ecx, 0xc0000082", "xor eax, eax", "xor edx, edx", "wrmsr";
    "rdmsr": "mov ecx, 0xc0000080", "rdmsr";
    "rdpmc": "xor ecx, ecx", "rdpmc";
    "lgdt": "lgdt [rax]";
    "lidt": "lidt [rax]";
    "lldt": "xor edx, edx", "lldt dx";
    "ltr": "mov edx, 0x28", "ltr dx";
    "lmsw": "xor edx, edx", "lmsw dx";
    "clts": "clts";
    "invlpg": "invlpg [rax]";
    "invd": "invd";
    "wbinvd": "wbinvd";
    "swapgs": "swapgs";
    "sysretq": "lea rcx, [rip + 2f]", "mov r11d, 0x202", "sysretq";
    "sysexit": "lea rdx, [rip + 2f]", "mov rcx, rsp", "sysexitq";
    "sysenter": "sysenter";
    "xsetbv": "xor ecx, ecx", "mov eax, 7", "xor edx, edx", "xsetbv";
    "monitor": "xor ecx, ecx", "xor edx, edx", "monitor";
    "mwait": "xor eax, eax", "xor ecx, ecx", "mwait";
    "rsm": "rsm";
    "vmmcall": "vmmcall";
    "vmrun": "vmrun";
    "iretq to the kernel": "lea rcx, [rip + 2f]", "mov rdx, rsp", "push 0x10", "push rdx",
        "push 0x3202", "push 0x08", "push rcx", "iretq";
    "far return to the kernel": "lea rcx, [rip + 2f]", "push 0x08", "push rcx", "retfq";
    "load kernel ss": "mov edx, 0x10", "mov ss, dx";
    "int 0x00": "int 0x00";
    "int 0x02": "int 0x02";
    "int 0x08": "int 0x08";
    "int 0x0d": "int 0x0d";
    "int 0x0e": "int 0x0e";
    "int 0x20": "int 0x20";
    "int 0x21": "int 0x21";
    "int 0x30": "int 0x30";
    "int 0x40": "int 0x40";
    "int 0x80": "int 0x80";
    "int 0xf0": "int 0xf0";
    "int 0xff": "int 0xff";
    "undefined instruction": "ud2";
    "division by zero": "xor edx, edx", "xor ecx, ecx", "div rcx";
}

/// Least number of debug faults that [`debug_traps`] raises: a breakpoint, then steps.
pub const DEBUG_TRAPS: u64 = 5;

/// Raises debug faults, after each of which the handler is to resume the thread where it was;
/// whether all went so.
pub fn debug_traps(resume: &AtomicU64) -> bool {
    attempt!(
        resume,
        0u64,
        0u64,
        "int3",
        "pushfq",
        "or qword ptr [rsp], 0x100",
        "popfq",
        "nop",
        "pushfq",
        "and qword ptr [rsp], -0x101",
        "popfq"
    )
    .0
}

/// Makes a null system call with each dangerous flag set (trap, direction, nested task,
/// alignment check, resume); whether interrupts can be turned off by the way.
pub fn dangerous_flags() -> bool {
    let mut after: u64 = 0x200;
    for flags in [0x400u64, 0x4000, 0x4_0000, 0x1_0000, 0x4_4400, 0x100] {
        after &= null_call_with_flags(flags | 0x202);
    }
    // Interrupts off, and the I/O privilege that would allow it.
    after & null_call_with_flags(0x3002) & 0x200 == 0
}

fn null_call_with_flags(flags: u64) -> u64 {
    let after: u64;
    // SAFETY: a null system call; the flags are restored before compiled code goes on.
    unsafe {
        asm!(
            "push rbx", "push rbp", "pushfq",
            "push rdi", "popfq",
            "syscall",
            "pushfq", "pop rax",
            "popfq", "pop rbp", "pop rbx",
            inlateout("rax") abi::call::Call::Null as u64 => after,
            inlateout("rdi") flags => _,
            lateout("rsi") _, lateout("rdx") _, lateout("r8") _, lateout("r9") _,
            lateout("r10") _, lateout("rcx") _, lateout("r11") _, lateout("r12") _,
            lateout("r13") _, lateout("r14") _, lateout("r15") _,
        );
    }
    after
}

/// The word that the thread pointer points to.
pub fn thread_word() -> u64 {
    let word;
    // SAFETY: reads memory of the program, if the thread pointer was set to some; else it faults.
    unsafe { asm!("mov {}, fs:[0]", out(reg) word, options(nostack, readonly)) };
    word
}

/// Fills the vector and x87 state with a pattern.
pub fn simd_write(pattern: u64) {
    // SAFETY: compiled code on this target uses none of these registers.
    unsafe {
        asm!(
            "movq xmm0, {p}", "punpcklqdq xmm0, xmm0",
            "movdqa xmm1, xmm0", "movdqa xmm2, xmm0", "movdqa xmm3, xmm0", "movdqa xmm4, xmm0",
            "movdqa xmm5, xmm0", "movdqa xmm6, xmm0", "movdqa xmm7, xmm0", "movdqa xmm8, xmm0",
            "movdqa xmm9, xmm0", "movdqa xmm10, xmm0", "movdqa xmm11, xmm0",
            "movdqa xmm12, xmm0", "movdqa xmm13, xmm0", "movdqa xmm14, xmm0",
            "movdqa xmm15, xmm0",
            "fninit", "push {p}", "fild qword ptr [rsp]", "pop {p}",
            p = in(reg) pattern >> 1,
        );
    }
}

/// Whether the state still is as [`simd_write`] left it with this pattern, and whether any of it
/// is.
pub fn simd_matches(pattern: u64) -> (bool, bool) {
    let pattern = pattern >> 1;
    let mut seen = [0u64; 33];
    // SAFETY: stores sixteen registers and one x87 value into an array that holds them; the
    // x87 stack is reset, and nothing else uses it.
    unsafe {
        asm!(
            "movdqu [{s}], xmm0", "movdqu [{s} + 16], xmm1", "movdqu [{s} + 32], xmm2",
            "movdqu [{s} + 48], xmm3", "movdqu [{s} + 64], xmm4", "movdqu [{s} + 80], xmm5",
            "movdqu [{s} + 96], xmm6", "movdqu [{s} + 112], xmm7", "movdqu [{s} + 128], xmm8",
            "movdqu [{s} + 144], xmm9", "movdqu [{s} + 160], xmm10", "movdqu [{s} + 176], xmm11",
            "movdqu [{s} + 192], xmm12", "movdqu [{s} + 208], xmm13",
            "movdqu [{s} + 224], xmm14", "movdqu [{s} + 240], xmm15",
            "sub rsp, 112", "fnsave [rsp]", "mov {t}, [rsp + 28]", "add rsp, 112",
            "mov [{s} + 256], {t}", "fninit",
            s = in(reg) seen.as_mut_ptr(), t = out(reg) _,
        );
    }
    let bits = pattern.leading_zeros();
    // What the x87 unit holds is the pattern as an extended-precision significand.
    let significand = if pattern == 0 { 0 } else { pattern << bits };
    let same = seen[..32].iter().filter(|&&word| word == pattern).count()
        + usize::from(seen[32] == significand);
    (same == seen.len(), same > 0)
}

/// A small server for a domain without a program: machine code for any address that answers
/// each call on slot 1 with the first word plus one, for ever.
pub fn tiny_server() -> &'static [u8] {
    let (start, end): (*const u8, *const u8);
    // SAFETY: takes two addresses in the program's own text; the code between is skipped.
    unsafe {
        asm!(
            "lea {start}, [rip + 3f]", "lea {end}, [rip + 4f]", "jmp 4f",
            "3:", "xor esi, esi", "xor r12d, r12d", "mov eax, {receive}",
            "mov rdi, 0x100000000", "xor edx, edx", "syscall",
            "5:", "inc r12", "mov eax, {reply_wait}", "mov edi, 1", "mov esi, 1", "syscall",
            "test rax, rax", "je 5b", "jmp 3b",
            "4:",
            start = out(reg) start, end = out(reg) end,
            receive = const abi::call::Call::Ipc as u32,
            reply_wait = const abi::call::Call::ReplyWait as u32,
            options(nostack),
        );
        core::slice::from_raw_parts(start, end as usize - start as usize)
    }
}
