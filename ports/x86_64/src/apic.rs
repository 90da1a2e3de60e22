//! The local APIC with its timer, and the I/O APIC with the device IRQs.

use crate::machine::{out8, read_msr, write_msr};
use crate::paging::direct;
use crate::pvh::Stretch;
use locks::{Indexed, Pause, Registers};
use section::init;

/// Physical address of the I/O APIC.
pub const IO_APIC: u64 = 0xfec0_0000;
/// Physical address of the local APIC.
pub const LOCAL_APIC: u64 = 0xfee0_0000;
/// Addresses that are no device memory: of I/O APICs, of which there may be more than one, of
/// interrupts, and of HyperTransport. A write to any of the second interrupts a CPU by a vector of
/// the writer's choice. The last lead to interrupts and to configuration where a processor has
/// HyperTransport; they are refused on all.
pub const RESERVED: [Stretch; 3] = [
    Stretch { at: IO_APIC, bytes: 1 << 20 },
    Stretch { at: LOCAL_APIC, bytes: 1 << 20 },
    Stretch { at: 0xfd_0000_0000, bytes: 12 << 30 },
];
/// Interrupt vector of IPIs. The timer goes before them: a CPU that others interrupt again and
/// again still serves its deadlines.
#[cfg(feature = "smp")]
pub const IPI: u8 = 0x20;
/// Interrupt vector of the timer.
pub const TIMER: u8 = 0x21;
/// Interrupt vector of IRQ 0; all vectors in use lie in one word of the request register.
pub const IRQ_0: u8 = 0x22;
/// Vector of the end of a time slice, for emulators. It has the lowest priority: a CPU that gets
/// on by a few instructions in each slice takes its other interrupts first. Preemption points do
/// not look for it. The processor has no exception of this number.
pub const SLICE: u8 = 0x1f;
/// Vector of interrupts that were withdrawn.
pub const SPURIOUS: u8 = 0xff;
/// Device IRQs.
pub const IRQS: u8 = 24;
#[cfg(feature = "smp")]
const _: () = assert!(SLICE < IPI && IPI < TIMER && TIMER < IRQ_0);

/// The vector after the last IRQ.
pub const END_OF_IRQS: u8 = IRQ_0 + IRQS;

const BASE_MSR: u32 = 0x1b;
const END: u64 = 0xb0;
#[cfg(feature = "smp")]
const COMMAND: u64 = 0x300;
#[cfg(feature = "smp")]
const ASSERT: u32 = 1 << 14;
const SPURIOUS_VECTOR: u64 = 0xf0;
const REQUESTS: u64 = 0x200 + 0x10 * (TIMER as u64 / 32);
const TIMER_VECTOR: u64 = 0x320;
const INITIAL_COUNT: u64 = 0x380;
const CURRENT_COUNT: u64 = 0x390;
const DIVIDE: u64 = 0x3e0;
const DIVIDE_BY_1: u32 = 0xb;
const MASKED: u32 = 1 << 16;
/// Level-triggered: a request that comes while the IRQ is masked is not lost.
const LEVEL: u32 = 1 << 15;

#[inline(always)]
fn write(register: u64, value: u32) {
    // SAFETY: a device register in the direct map, mapped uncached by `paging`.
    unsafe { direct::<u32>(LOCAL_APIC + register).write_volatile(value) };
}

#[inline(always)]
fn read(register: u64) -> u32 {
    // SAFETY: as in `write`.
    unsafe { direct::<u32>(LOCAL_APIC + register).read_volatile() }
}

/// Sets the controllers up, all IRQs masked, and silences the legacy ones.
#[init]
pub fn set_up() {
    // SAFETY: the legacy controllers' mask registers; the APIC stays at its address.
    unsafe {
        out8(0x21, 0xff);
        out8(0xa1, 0xff);
    }
    set_up_own();
    for irq in 0..IRQS {
        route_irq(irq, 0);
        set_irq(irq, false);
    }
}

/// Sets this CPU's controller up.
#[init]
pub fn set_up_own() {
    // SAFETY: the APIC stays at its address.
    unsafe { write_msr(BASE_MSR, read_msr(BASE_MSR) | 1 << 11) };
    write(SPURIOUS_VECTOR, 0x100 | u32::from(SPURIOUS));
    write(DIVIDE, DIVIDE_BY_1);
    write(TIMER_VECTOR, u32::from(TIMER));
}

/// Interrupts another CPU. Controllers are numbered as CPUs are.
#[cfg(feature = "smp")]
pub fn send_ipi(cpu: u32) {
    command(cpu, ASSERT | u32::from(IPI));
}

/// Starts another CPU at the page of this number.
#[cfg(feature = "smp")]
#[init]
pub fn wake(cpu: u32, page: u8) {
    const INIT: u32 = 0b101 << 8;
    const START: u32 = 0b110 << 8;
    command(cpu, ASSERT | INIT);
    command(cpu, ASSERT | START | u32::from(page));
}

#[cfg(feature = "smp")]
fn command(cpu: u32, what: u32) {
    const SENDING: u32 = 1 << 12;
    write(COMMAND + 0x10, cpu << 24);
    write(COMMAND, what);
    while read(COMMAND) & SENDING != 0 {
        core::hint::spin_loop();
    }
}

/// The IRQ of the interval timer, which takes the samples of a profile and ends time slices.
pub const INTERVAL_TIMER: u8 = 2;

/// Lets the interval timer through as a non-maskable interrupt.
#[cfg(feature = "profile")]
#[init]
pub fn route_samples() {
    const NON_MASKABLE: u32 = 0b100 << 8;
    program(INTERVAL_TIMER, NON_MASKABLE);
}

/// Unmasks a device IRQ, or masks it.
pub fn set_irq(irq: u8, enabled: bool) {
    program(irq, LEVEL | u32::from(IRQ_0 + irq) | if enabled { 0 } else { MASKED });
}

/// Lets a device IRQ come to a CPU from now on. Controllers are numbered as CPUs are.
pub fn route_irq(irq: u8, cpu: u32) {
    LINE_REGISTERS.write::<Pause, 1>([(register(irq) + 1, cpu << 24)]);
}

/// Lets the interval timer through to all CPUs.
#[cfg(feature = "smp")]
#[init]
pub fn route_slices() {
    const ALL: u32 = 0xff << 24;
    LINE_REGISTERS.write::<Pause, 1>([(register(INTERVAL_TIMER) + 1, ALL)]);
    program(INTERVAL_TIMER, u32::from(SLICE));
}

/// Programs an IRQ, but for the CPU that it comes to.
#[inline(always)]
fn program(irq: u8, what: u32) {
    LINE_REGISTERS.write::<Pause, 1>([(register(irq), what)]);
}

/// The first of the two registers of an IRQ; the second one names the CPU.
#[inline(always)]
fn register(irq: u8) -> u32 {
    0x10 + u32::from(irq) * 2
}

/// The I/O APIC, whose registers lie behind an index.
struct IoApic;

impl Indexed for IoApic {
    #[inline(always)]
    fn select(&self, index: u32) {
        // SAFETY: a device register in the direct map, mapped uncached by `paging`.
        unsafe { direct::<u32>(IO_APIC).write_volatile(index) };
    }
    #[inline(always)]
    fn write(&self, value: u32) {
        // SAFETY: as in `select`.
        unsafe { direct::<u32>(IO_APIC + 0x10).write_volatile(value) };
    }
}

/// Interrupts mask an IRQ outside the kernel's sections, calls unmask one inside.
#[cfg(feature = "smp")]
static LINE_REGISTERS: Registers<IoApic, locks::Ticket> =
    Registers::new(IoApic, locks::Ticket::fixed());
#[cfg(not(feature = "smp"))]
static LINE_REGISTERS: Registers<IoApic, ()> = Registers::new(IoApic, ());

/// Starts the timer; it counts down to its interrupt. 0 stops it.
#[inline(always)]
pub fn start_timer(count: u32) {
    write(INITIAL_COUNT, count);
}

/// What the timer has left to count.
pub fn timer_count() -> u32 {
    read(CURRENT_COUNT)
}

/// Whether an interrupt waits to be taken.
#[inline(always)]
pub fn pending() -> bool {
    read(REQUESTS) != 0
}

/// Tells the controller that an interrupt has been taken.
#[inline(always)]
pub fn end() {
    write(END, 0);
}
