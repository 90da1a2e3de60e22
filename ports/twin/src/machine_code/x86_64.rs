//! Registers, and how the host is entered and left.

use super::WORK;
use super::device::{Ended, Registers};
use crate::attached::REGISTER;
use crate::context::{Regs, Trap};
use crate::hardware::Hardware;
use crate::memory::HOST;
use crate::signals::{self, Inside, Refusal};
use abi::Rights;
use abi::message::FaultKind;
use libc::{
    REG_EFL, REG_ERR, REG_R8, REG_R9, REG_R10, REG_R12, REG_R13, REG_R14, REG_R15, REG_RAX,
    REG_RDI, REG_RDX, REG_RIP, REG_RSI, REG_RSP, REG_TRAPNO, c_int, c_ulong, greg_t,
};
use std::arch::asm;
use std::io;
use std::ops::RangeInclusive;
use std::sync::atomic::Ordering::Relaxed;
use twin_protocol::{LOOPS, NO_REGISTER};

const ARGUMENTS: [c_int; 6] = [REG_RDI, REG_RSI, REG_RDX, REG_R8, REG_R9, REG_R10];
const WORDS: [c_int; 4] = [REG_R12, REG_R13, REG_R14, REG_R15];

/// The flag by which the processor stops behind one instruction.
pub(super) const SINGLE_STEP: greg_t = 1 << 8;
/// The flag by which it refuses addresses that are no multiples of what is accessed there, and the
/// exception.
pub(super) const CHECKS_ALIGNMENT: greg_t = 1 << 18;
const ALIGNMENT_CHECK: u64 = 17;
/// The exception of a page that is not mapped so, and bits of its error code.
const PAGE_FAULT: u64 = 14;
const WRITES: u64 = 1 << 1;
const FETCHES: u64 = 1 << 4;
/// Bytes in front of an instruction's opcode: segments, REX, widths, repetition and LOCK.
const PREFIXES: [RangeInclusive<u8>; 8] = [
    0x26..=0x26,
    0x2e..=0x2e,
    0x36..=0x36,
    0x3e..=0x3e,
    0x40..=0x4f,
    0x64..=0x67,
    0xf0..=0xf0,
    0xf2..=0xf3,
];

/// Asks the host for a signal in place of a system call that is made below [`HOST`].
pub fn watch_calls() -> io::Result<()> {
    const SET_SYSCALL_USER_DISPATCH: c_int = 59;
    const ON: c_ulong = 1;
    const END: u64 = 1 << 47;
    let none: c_ulong = 0;
    // SAFETY: what is called from this process's own memory, the C library's included, stays what
    // it is.
    let done = unsafe { libc::prctl(SET_SYSCALL_USER_DISPATCH, ON, HOST, END - HOST, none) };
    if done == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Begins a thread's machine code, on a coroutine whose stack is left to signals' handlers.
pub fn begin(machine: &Hardware, regs: Regs, (at, stack): (u64, u64)) -> Refusal {
    let inside = Inside::enter();
    machine.open_window();
    signals::keep_storage();
    let [w0, w1, w2, w3] = regs.words;
    let further = [w0, w1, w2, w3, stack];
    let [a0, a1, a2, a3, a4, a5] = regs.args;
    // From here on the rest of this stack belongs to handlers.
    signals::use_own_stack();
    drop(inside);
    // SAFETY: what it jumps to is a program of the machine's, at addresses where nothing of this
    // process is; it does not come back. Signals are taken on the rest of this stack.
    unsafe {
        asm!(
            "mov r12, [rcx]", "mov r13, [rcx + 8]", "mov r14, [rcx + 16]", "mov r15, [rcx + 24]",
            "mov rsp, [rcx + 32]", "xor ebx, ebx", "xor ebp, ebp", "xor ecx, ecx", "jmp r11",
            in("rax") regs.number, in("rdi") a0, in("rsi") a1, in("rdx") a2, in("r8") a3,
            in("r9") a4, in("r10") a5, in("r11") at, in("rcx") further.as_ptr(),
            options(noreturn),
        )
    }
}

/// A signal has stopped the machine code of the running thread, because of an address or not. The
/// registers are those that it goes on with, when this returns.
pub fn stopped(signal: c_int, address: u64, registers: &mut Registers) {
    let machine = Hardware::current();
    // An access that is to be executed next stays that.
    if signal == libc::SIGVTALRM && !machine.loses_patience() {
        return;
    }
    let trap = match machine.end_step(signal == libc::SIGTRAP) {
        Some(Ended::Done) if signal == libc::SIGTRAP => {
            registers[REG_EFL as usize] &= !SINGLE_STEP;
            return;
        }
        Some(Ended::Again(before)) => {
            *registers = before;
            registers[REG_EFL as usize] |= SINGLE_STEP;
            return;
        }
        Some(Ended::Refused(before)) => {
            *registers = before;
            Some(fault(FaultKind::Other, NO_REGISTER, 0))
        }
        ended => {
            registers[REG_EFL as usize] &= if ended.is_some() { !SINGLE_STEP } else { !0 };
            cause(machine, signal, address, registers)
        }
    };
    let Some(trap) = trap else { return };
    save(machine, registers);
    match trap {
        Trap::Call => call(machine),
        trap => machine.stop(trap),
    }
    load(machine, registers);
    machine.open_window();
}

/// Why a signal has stopped the program; none: it goes on.
fn cause(
    machine: &Hardware,
    signal: c_int,
    address: u64,
    registers: &mut Registers,
) -> Option<Trap> {
    let [number, error] = [REG_TRAPNO, REG_ERR].map(|it| registers[it as usize] as u64);
    match signal {
        libc::SIGSYS => Some(Trap::Call),
        libc::SIGVTALRM => Some(fault(FaultKind::Other, LOOPS, 0)),
        _ if number == PAGE_FAULT => {
            let wanted = wanted(error);
            let goes_on = access_register(machine, address, wanted, registers)
                || machine.bring(address, wanted);
            (!goes_on).then(|| fault(FaultKind::Memory, address, u64::from(wanted.0)))
        }
        _ if number == ALIGNMENT_CHECK => {
            // The machine does not check alignment, whatever a program sets.
            registers[REG_EFL as usize] &= !CHECKS_ALIGNMENT;
            None
        }
        _ => Some(fault(kind(number), number, error)),
    }
}

/// An access to a device's register is the next thing that happens, or the thread goes on as it is
/// to by now. False: there is no register.
fn access_register(
    machine: &Hardware,
    address: u64,
    wanted: Rights,
    registers: &mut Registers,
) -> bool {
    if machine.register_at(address, wanted).is_none() {
        return false;
    }
    save(machine, registers);
    let before = machine.here().at.get();
    machine.compute(REGISTER);
    let stays = machine.here().at.get() == before;
    load(machine, registers);
    machine.open_window();
    match machine.register_at(address, wanted) {
        Some(register) if stays => {
            let reads = wanted != Rights::WRITE || reads_first(instruction(machine));
            let begun = machine.begin_step(register, (address, wanted), reads, registers);
            registers[REG_EFL as usize] |= if begun { SINGLE_STEP } else { 0 };
            begun
        }
        _ => true,
    }
}

fn fault(kind: FaultKind, detail: u64, code: u64) -> Trap {
    Trap::Fault { kind, detail, code, probing: false, trap: false }
}

/// What an exception is.
fn kind(number: u64) -> FaultKind {
    match number {
        0 | 4 | 16 | 19 => FaultKind::Arithmetic,
        1 | 3 => FaultKind::Debug,
        6 | 13 => FaultKind::Instruction,
        _ => FaultKind::Other,
    }
}

/// What an access was for.
fn wanted(error: u64) -> Rights {
    match () {
        () if error & FETCHES != 0 => Rights::EXECUTE,
        () if error & WRITES != 0 => Rights::WRITE,
        () => Rights::READ,
    }
}

/// The bytes of the running thread's next instruction, and those behind it.
fn instruction(machine: &Hardware) -> impl Iterator<Item = u8> {
    let bytes = machine.here().at.get().0..;
    bytes.map_while(|at| {
        let word = machine.word(at & !7, Rights::EXECUTE)?;
        Some(word.load(Relaxed).to_le_bytes()[(at % 8) as usize])
    })
}

/// Whether an instruction that writes to memory reads there before: what it writes depends on that.
pub(super) fn reads_first(instruction: impl Iterator<Item = u8>) -> bool {
    let mut opcode = instruction.skip_while(|byte| PREFIXES.iter().any(|it| it.contains(byte)));
    match (opcode.next(), opcode.next()) {
        // SHLD, SHRD, BTS, BTR, BTC, CMPXCHG, XADD, CMPXCHG8B.
        (Some(0x0f), Some(second)) => matches!(
            second,
            0xa4 | 0xa5 | 0xab..=0xad | 0xb0 | 0xb1 | 0xb3 | 0xba | 0xbb | 0xc0 | 0xc1 | 0xc7
        ),
        // ADD, OR, ADC, SBB, AND, SUB, XOR of a register, and of a constant; XCHG; shifts; NOT,
        // NEG; INC, DEC.
        (Some(first), _) => {
            first < 0x38 && first & 6 == 0
                || matches!(first, 0x80..=0x83 | 0x86 | 0x87 | 0xc0 | 0xc1 | 0xd0..=0xd3)
                || matches!(first, 0xf6 | 0xf7 | 0xfe | 0xff)
        }
        _ => false,
    }
}

/// A system call, with the arguments in the registers of the machine.
fn call(machine: &Hardware) {
    let regs = machine.here().regs.get();
    if regs.number == WORK {
        machine.here().worked.set(true);
        machine.here().regs.set(Regs { number: 0, ..regs });
        machine.compute(regs.args[0]);
    } else {
        machine.stop(Trap::Call);
        machine.count_call(regs.number);
    }
}

/// The machine's registers become those of the program.
fn save(machine: &Hardware, registers: &Registers) {
    let of = |place: c_int| registers[place as usize] as u64;
    let (args, words) = (ARGUMENTS.map(of), WORDS.map(of));
    machine.here().regs.set(Regs { number: of(REG_RAX), args, words });
    machine.here().at.set((of(REG_RIP), of(REG_RSP)));
}

/// The program's registers become those of the machine.
fn load(machine: &Hardware, registers: &mut Registers) {
    let me = machine.here();
    let Regs { number, args, words } = me.regs.get();
    let (at, stack) = me.at.get();
    let all = ARGUMENTS.into_iter().zip(args).chain(WORDS.into_iter().zip(words));
    for (place, value) in all.chain([(REG_RAX, number), (REG_RIP, at), (REG_RSP, stack)]) {
        registers[place as usize] = value as greg_t;
    }
}
