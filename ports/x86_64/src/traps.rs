//! Interrupts and exceptions.

use crate::apic;
use crate::context::{offset::*, special};
use crate::entry::{CURRENT, STACK, leave};
use crate::machine::fault_address;
use crate::panic::empty_console;
use crate::port::X86;
use crate::segments::Vector;
use crate::{state, uart};
use abi::message::FaultKind;
use core::arch::naked_asm;
use kernel::fault::Fault;
use kernel::port::Port;
use kernel::system::System;
use section::init;

const DEBUG: u64 = 1;
const NMI: u64 = 2;
const BREAKPOINT: u64 = 3;
const DOUBLE_FAULT: u64 = 8;
const NO_DEVICE: u64 = 7;
const PAGE_FAULT: u64 = 14;
const MACHINE_CHECK: u64 = 18;
/// Exceptions for which the CPU pushes an error code.
const WITH_CODE: u32 = 1 << 8 | 1 << 10 | 1 << 11 | 1 << 12 | 1 << 13 | 1 << 14 | 1 << 17 | 1 << 21;

/// Entry code of vector `N`: makes the stack frame uniform.
#[unsafe(naked)]
extern "sysv64" fn stub<S: System<Port = X86>, const N: u8, const CODE: bool>() {
    naked_asm!(
        ".if {code} == 0",
        "push 0",
        ".endif",
        "push {number}",
        "jmp {save}",
        code = const CODE as u8,
        number = const N as u64,
        save = sym save::<S>,
    )
}

/// Saves all user registers in the current context. The kernel itself is only ever interrupted
/// while idle or about to resume a thread whose registers all lie in its context, where nothing is
/// worth saving, or by its own fault.
#[unsafe(naked)]
extern "sysv64" fn save<S: System<Port = X86>>() {
    naked_asm!(
        "cld",
        // A program may have switched access checks off for itself; they are on for the kernel.
        "clac",
        "test byte ptr [rsp + 24], 3",
        "jz 2f",
        "swapgs",
        "push rbp",
        "mov rbp, gs:[{current}]",
        "mov [rbp + {rax}], rax",
        "mov [rbp + {rdi}], rdi",
        "mov [rbp + {rsi}], rsi",
        "mov [rbp + {rdx}], rdx",
        "mov [rbp + {rcx}], rcx",
        "mov [rbp + {rbx}], rbx",
        "mov [rbp + {r8}], r8",
        "mov [rbp + {r9}], r9",
        "mov [rbp + {r10}], r10",
        "mov [rbp + {r11}], r11",
        "mov [rbp + {r12}], r12",
        "mov [rbp + {r13}], r13",
        "mov [rbp + {r14}], r14",
        "mov [rbp + {r15}], r15",
        "pop qword ptr [rbp + {rbp_}]",
        "pop rdi",
        "pop rsi",
        "pop qword ptr [rbp + {rip}]",
        "pop rax",
        "pop qword ptr [rbp + {rflags}]",
        "pop qword ptr [rbp + {rsp}]",
        "mov rsp, gs:[{stack}]",
        "jmp {trap}",
        "2:",
        "mov rdi, [rsp]",
        "mov rsi, [rsp + 8]",
        "mov rdx, [rsp + 16]",
        "cmp rdi, {interrupts}",
        "jb 3f",
        "mov rsp, gs:[{stack}]",
        "jmp {trap}",
        "3:",
        "and rsp, -16",
        "call {kernel_fault}",
        "ud2",
        current = const CURRENT,
        stack = const STACK,
        rip = const RIP, rflags = const RFLAGS, rsp = const RSP,
        rax = const RAX, rdi = const RDI, rsi = const RSI, rdx = const RDX,
        r8 = const R8, r9 = const R9, r10 = const R10, r11 = const R11,
        r12 = const R12, r13 = const R13, r14 = const R14, r15 = const R15,
        rbx = const RBX, rbp_ = const RBP, rcx = const RCX,
        trap = sym trap::<S>,
        interrupts = const apic::SLICE,
        kernel_fault = sym kernel_fault,
    )
}

extern "sysv64" fn trap<S: System<Port = X86>>(number: u64, code: u64) -> ! {
    if X86::TRACE != 0 && state::machine().cpu.traced.get() {
        take::<S::Observed>(number, code)
    }
    take::<S>(number, code)
}

/// One interrupt or exception from user mode or idle.
#[inline(always)]
fn take<S: System<Port = X86>>(number: u64, code: u64) -> ! {
    // Each kind of event reads it by itself: the longest would else have it spilled for all.
    let machine = state::machine;
    // SAFETY (each call into the core): entry code runs with interrupts off, once per entry.
    let next = match number as u8 {
        apic::TIMER => {
            apic::end();
            // SAFETY: see above.
            unsafe { kernel::events::timer::<S>(machine()) }
        }
        apic::IRQ_0..apic::END_OF_IRQS => {
            let irq = number as u8 - apic::IRQ_0;
            if uart::masks(irq) {
                // SAFETY: see above.
                unsafe { kernel::events::interrupt::<S>(machine(), irq) }
            } else {
                // SAFETY: see above.
                let next = unsafe { kernel::events::console::<S>(machine(), irq) };
                // Not before the port interrupts no more: the same would interrupt again.
                apic::end();
                next
            }
        }
        #[cfg(feature = "smp")]
        apic::IPI => {
            apic::end();
            // SAFETY: see above.
            unsafe { kernel::events::ipi::<S>(machine()) }
        }
        #[cfg(feature = "smp")]
        apic::SLICE => {
            apic::end();
            crate::time_sharing::turn();
            // SAFETY: see above.
            unsafe { kernel::events::spurious::<S>(machine()) }
        }
        apic::SPURIOUS => {
            // SAFETY: see above.
            unsafe { kernel::events::spurious::<S>(machine()) }
        }
        _ if number == NMI || number == MACHINE_CHECK => fail(number),
        _ if number == NO_DEVICE && !has_fpu() => {
            give_fpu();
            // SAFETY: see above.
            unsafe { kernel::events::spurious::<S>(machine()) }
        }
        _ => {
            // SAFETY: see above.
            unsafe { kernel::events::fault::<S>(machine(), describe(number, code)) }
        }
    };
    leave::<S>(next)
}

#[cold]
fn fail(number: u64) -> ! {
    panic!("the machine reports an error of its own, exception {number}")
}

fn has_fpu() -> bool {
    // SAFETY: between entries this CPU alone touches the current thread.
    let thread = unsafe { &*state::machine().cpu.current.get().address() };
    thread.context.special.get() & special::FPU != 0
}

/// The current thread has used an x87 or SSE instruction for the first time.
fn give_fpu() {
    // SAFETY: as in `has_fpu`.
    let thread = unsafe { &*state::machine().cpu.current.get().address() };
    thread.context.special.set(thread.context.special.get() | special::FPU);
}

fn describe(number: u64, code: u64) -> Fault {
    let (kind, detail) = match number {
        PAGE_FAULT => (FaultKind::Memory, fault_address()),
        0 | 4 | 16 | 19 => (FaultKind::Arithmetic, number),
        DEBUG | BREAKPOINT => (FaultKind::Debug, number),
        6 | 13 => (FaultKind::Instruction, number),
        _ => (FaultKind::Other, number),
    };
    Fault { kind, detail, code }
}

extern "sysv64" fn kernel_fault(number: u64, code: u64, at: u64) -> ! {
    empty_console();
    let address = if number == PAGE_FAULT { fault_address() } else { 0 };
    uart::write_number(b"exception ", number);
    uart::write_number(b", code ", code);
    uart::write_number(b", at ", at);
    uart::write_number(b", address ", address);
    panic!("an exception in the kernel")
}

/// In this image a non-maskable interrupt takes a sample, on the second fault stack.
const SAMPLED: bool = cfg!(feature = "profile");

/// The entry code of a vector: the usual one, unless it takes samples.
fn entry_of(number: u8, usual: u64) -> u64 {
    match u64::from(number) {
        #[cfg(feature = "profile")]
        NMI => crate::profile::entry as *const () as u64,
        _ => usual,
    }
}

/// All vectors in use, with entry code for one kernel.
#[init]
pub fn vectors<S: System<Port = X86>>() -> impl Iterator<Item = Vector> {
    macro_rules! entries {
        ($($number:literal)*) => {
            [$(stub::<S, $number, { $number < 32 && WITH_CODE >> ($number & 31) & 1 == 1 }>
                as *const () as u64),*]
        };
    }
    let low = entries!(
        0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31
        32 33 34 35 36 37 38 39 40 41 42 43 44 45 46 47 48 49 50 51 52 53 54 55 56 57
    );
    let numbered = low.into_iter().enumerate().map(|(number, entry)| (number as u8, entry));
    let spurious = stub::<S, { apic::SPURIOUS }, false> as *const () as u64;
    numbered.chain([(apic::SPURIOUS, spurious)]).map(|(number, entry)| Vector {
        number,
        entry: entry_of(number, entry),
        stack: match u64::from(number) {
            NMI if SAMPLED => Some(2),
            NMI | DOUBLE_FAULT | MACHINE_CHECK => Some(1),
            _ => None,
        },
        from_user: u64::from(number) == BREAKPOINT,
    })
}
