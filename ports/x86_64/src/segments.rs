//! Segments, the task state and the interrupt table.

use crate::machine::write_msr;
use core::arch::asm;
use core::cell::UnsafeCell;
use core::mem::size_of;

/// Kernel code selector. The order of the table is what `syscall` and `sysret` expect.
pub const KERNEL_CODE: u16 = 0x08;
const KERNEL_DATA: u16 = 0x10;
const USER_BASE: u16 = 0x18;
const TASK: u16 = 0x30;

const STAR: u32 = 0xc000_0081;
const LSTAR: u32 = 0xc000_0082;
const FMASK: u32 = 0xc000_0084;
const GS_BASE: u32 = 0xc000_0101;
const KERNEL_GS_BASE: u32 = 0xc000_0102;
/// Flags cleared by `syscall`: trap, interrupt, direction, I/O privilege, nested task, alignment.
const CLEARED: u64 = 0x4_7700;

#[repr(C, packed(4))]
struct Task {
    reserved: u32,
    stacks: [u64; 3],
    reserved_1: u64,
    faults: [u64; 7],
    reserved_2: u64,
    reserved_3: u16,
    io_map: u16,
}

#[repr(C)]
#[derive(Clone, Copy)]
struct Gate {
    low: u16,
    selector: u16,
    stack: u8,
    kind: u8,
    middle: u16,
    high: u32,
    reserved: u32,
}

struct Tables {
    segments: UnsafeCell<[u64; 8]>,
    task: UnsafeCell<Task>,
    gates: UnsafeCell<[Gate; 256]>,
}

// SAFETY: written once, at boot, by the only CPU; then only the CPU reads them.
unsafe impl Sync for Tables {}

const NO_GATE: Gate =
    Gate { low: 0, selector: 0, stack: 0, kind: 0, middle: 0, high: 0, reserved: 0 };

static TABLES: Tables = Tables {
    segments: UnsafeCell::new([0; 8]),
    task: UnsafeCell::new(Task {
        reserved: 0,
        stacks: [0; 3],
        reserved_1: 0,
        faults: [0; 7],
        reserved_2: 0,
        reserved_3: 0,
        io_map: size_of::<Task>() as u16,
    }),
    gates: UnsafeCell::new([NO_GATE; 256]),
};

#[repr(C, packed)]
struct Pointer {
    limit: u16,
    base: u64,
}

/// Where an interrupt or exception goes.
pub struct Vector {
    /// Its number.
    pub number: u8,
    /// Address of its entry code.
    pub entry: u64,
    /// Which of the fault stacks it runs on, from 1, since the current one may be unusable.
    pub stack: Option<u8>,
    /// Whether user mode may raise it by instruction.
    pub from_user: bool,
}

/// Loads segments, task state and interrupt table.
///
/// # Safety
/// Called once, at boot, interrupts off; entries and stacks are valid.
pub unsafe fn load(trap_stack: u64, fault_stacks: [u64; 2], vectors: impl Iterator<Item = Vector>) {
    let [first, second] = fault_stacks;
    // SAFETY: the only writer, as the caller promises; the tables are static, so the CPU may
    // keep reading them, and the selectors loaded are those that they define.
    unsafe {
        let task = TABLES.task.get();
        (&raw mut (*task).stacks).write_unaligned([trap_stack, 0, 0]);
        (&raw mut (*task).faults).write_unaligned([first, second, 0, 0, 0, 0, 0]);
        let (base, limit) = (task as u64, size_of::<Task>() as u64 - 1);
        let low =
            limit & 0xffff | (base & 0xff_ffff) << 16 | 0x89 << 40 | (base >> 24 & 0xff) << 56;
        *TABLES.segments.get() = [
            0,
            0x00af_9b00_0000_ffff,
            0x00cf_9300_0000_ffff,
            0,
            0x00cf_f300_0000_ffff,
            0x00af_fb00_0000_ffff,
            low,
            base >> 32,
        ];
        let gates = &mut *TABLES.gates.get();
        for vector in vectors {
            gates[vector.number as usize] = gate(&vector);
        }
        let segments = Pointer { limit: 8 * 8 - 1, base: TABLES.segments.get() as u64 };
        let interrupts = Pointer { limit: 256 * 16 - 1, base: TABLES.gates.get() as u64 };
        asm!(
            "lgdt [{segments}]", "lidt [{interrupts}]",
            "push {code}", "lea {scratch}, [rip + 2f]", "push {scratch}", "retfq", "2:",
            "mov ss, {data:x}", "mov ds, {null:x}", "mov es, {null:x}",
            "ltr {task:x}", "lldt {null:x}",
            segments = in(reg) &segments, interrupts = in(reg) &interrupts,
            code = in(reg) u64::from(KERNEL_CODE), data = in(reg) u64::from(KERNEL_DATA),
            null = in(reg) 0u64, task = in(reg) u64::from(TASK), scratch = out(reg) _,
        );
    }
}

fn gate(vector: &Vector) -> Gate {
    Gate {
        low: vector.entry as u16,
        selector: KERNEL_CODE,
        stack: vector.stack.unwrap_or(0),
        kind: if vector.from_user { 0xee } else { 0x8e },
        middle: (vector.entry >> 16) as u16,
        high: (vector.entry >> 32) as u32,
        reserved: 0,
    }
}

/// Says where system calls go and which memory belongs to this CPU.
///
/// # Safety
/// `entry` is system call entry code; `cpu` is what it and the trap code expect in GS.
pub unsafe fn set_entry(entry: u64, cpu: u64) {
    let star = u64::from(USER_BASE | 3) << 48 | u64::from(KERNEL_CODE) << 32;
    // SAFETY: promised by the caller.
    unsafe {
        write_msr(STAR, star);
        write_msr(LSTAR, entry);
        write_msr(FMASK, CLEARED);
        write_msr(GS_BASE, cpu);
        write_msr(KERNEL_GS_BASE, 0);
    }
}
