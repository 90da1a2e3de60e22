//! Segments, the task state and the interrupt table.

use crate::address;
use crate::machine::write_msr;
use crate::paging::PAGE;
use core::arch::asm;
use core::cell::UnsafeCell;
use core::mem::size_of;
use section::init;

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

/// What is a CPU's own.
struct Own {
    segments: UnsafeCell<[u64; 8]>,
    task: UnsafeCell<Task>,
}

struct Tables {
    own: [Own; CPUS],
    gates: UnsafeCell<[Gate; 256]>,
}

// SAFETY: each part is written once, at boot, by one CPU after the other; then CPUs read them.
unsafe impl Sync for Tables {}

/// CPUs that an image can have.
pub const CPUS: usize = if cfg!(feature = "smp") { 8 } else { 1 };

/// Pages of a CPU's stacks, and which of them are guards.
const STACK_PAGES: u64 = 10;
const GUARDS: [u64; 3] = [0, 5, 8];

/// Whether this page of the stacks is a guard.
#[init]
pub fn is_guard(page: u64) -> bool {
    GUARDS.contains(&(page % STACK_PAGES))
}

unsafe extern "C" {
    static __boot_stack_top: u8;
    static __fault_stack_top: u8;
    static __trap_stack_top: u8;
}

/// The tops of a CPU's stacks.
pub struct Stacks {
    /// For the kernel.
    pub kernel: u64,
    fault: u64,
    trap: u64,
}

/// A CPU's stacks.
#[init]
pub fn stacks(number: u32) -> Stacks {
    let at = u64::from(number) * STACK_PAGES * PAGE;
    Stacks {
        kernel: address(&raw const __boot_stack_top) + at,
        fault: address(&raw const __fault_stack_top) + at,
        trap: address(&raw const __trap_stack_top) + at,
    }
}

const NO_GATE: Gate =
    Gate { low: 0, selector: 0, stack: 0, kind: 0, middle: 0, high: 0, reserved: 0 };

static TABLES: Tables = Tables {
    own: [const {
        Own {
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
        }
    }; CPUS],
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
/// Called once on each CPU, at boot, interrupts off; entries and the second fault stack, if it is
/// not 0, are valid.
#[init]
pub unsafe fn load(number: u32, second_stack: u64, vectors: impl Iterator<Item = Vector>) {
    let stacks = stacks(number);
    let own = &TABLES.own[number as usize];
    // SAFETY: the only writer, as the caller promises; the tables are static, so the CPU may
    // keep reading them, and the selectors loaded are those that they define.
    unsafe {
        let task = own.task.get();
        (&raw mut (*task).stacks).write_unaligned([stacks.trap, 0, 0]);
        let faults = [stacks.fault, second_stack, 0, 0, 0, 0, 0];
        (&raw mut (*task).faults).write_unaligned(faults);
        let (base, limit) = (task as u64, size_of::<Task>() as u64 - 1);
        let low =
            limit & 0xffff | (base & 0xff_ffff) << 16 | 0x89 << 40 | (base >> 24 & 0xff) << 56;
        *own.segments.get() = [
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
        let segments = Pointer { limit: 8 * 8 - 1, base: own.segments.get() as u64 };
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

#[init]
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
#[init]
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
