//! Starting the other CPUs, in images that are built for several (S1-04).
//!
//! One after the other they come out of the code in `secondary.s`, load what is theirs and wait.
//! When the system is built and the first CPU leaves for its first program, all go.

use crate::paging::{KERNEL_ROOT, direct};
use crate::port::X86;
use crate::{address, apic, fpu, machine, protection, segments, state, traps};
use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use core::sync::atomic::{AtomicU32, AtomicU64};
use kernel::cpu::Cpu;
use kernel::events::Machine;
use kernel::port::Port;
use kernel::system::System;
use section::init;

core::arch::global_asm!(include_str!("secondary.s"));

unsafe extern "C" {
    static others_begin: u8;
    static others_end: u8;
}

/// Where their first instructions lie, in the first MiB; `secondary.s` knows.
const OTHERS: u64 = 0x8000;
/// Offset of what it takes from there.
const VALUES: u64 = 8;
/// How long a CPU may take to arrive, in counter steps: seconds.
const PATIENCE: u64 = 10_000_000_000;

/// CPUs that have arrived.
static ARRIVED: AtomicU32 = AtomicU32::new(0);
/// 1 once all may go.
static GO: AtomicU32 = AtomicU32::new(0);

/// Starts all CPUs but this one; they wait for [`go`].
#[init]
pub fn start<S: System<Port = X86>>(machine: Machine<X86>) {
    let (begin, end) = (address(&raw const others_begin), address(&raw const others_end));
    // SAFETY: RAM that nothing uses, in the direct map, and code of this image.
    unsafe {
        let from = core::ptr::with_exposed_provenance::<u8>(begin as usize);
        core::ptr::copy_nonoverlapping(from, direct::<u8>(OTHERS), (end - begin) as usize);
    }
    for cpu in machine.kernel.cpus.get().iter().skip(1) {
        let stack = segments::stacks(cpu.number).kernel - 16;
        cpu.local.stack.set(stack);
        let entry = arrive::<S> as extern "sysv64" fn(u64) -> !;
        let values = direct::<AtomicU64>(OTHERS + VALUES);
        for (n, value) in [stack, entry as *const () as u64, cpu.number.into()].iter().enumerate() {
            // SAFETY: the three words behind the copy of the code.
            unsafe { (*values.add(n)).store(*value, Relaxed) };
        }
        apic::wake(cpu.number, (OTHERS >> 12) as u8);
        let begun = machine::counter();
        while ARRIVED.load(Acquire) < cpu.number {
            assert!(machine::counter() - begun < PATIENCE, "CPU {} does not start", cpu.number);
            core::hint::spin_loop();
        }
    }
}

/// Lets the CPUs that have started go.
pub fn go() {
    GO.store(1, Release);
}

/// Where a CPU comes from `secondary.s`, on its own stack.
#[init]
extern "sysv64" fn arrive<S: System<Port = X86>>(number: u64) -> ! {
    // SAFETY: the tables that the first CPU has built.
    unsafe { machine::load_root(KERNEL_ROOT.load(Relaxed)) };
    let machine = state::machine_of_first();
    let cpu = machine.kernel.cpu(number as u32);
    set_up::<S>(cpu);
    wait::<S>(Machine { kernel: machine.kernel, cpu })
}

/// Readies a CPU.
#[init]
pub fn set_up<S: System<Port = X86>>(cpu: &'static Cpu<X86>) {
    protection::set_up();
    fpu::lock();
    apic::set_up_own();
    cpu.local.myself.set(Some(cpu));
    // SAFETY: called once for each CPU, on it, interrupts off.
    unsafe {
        segments::load(cpu.number, 0, traps::vectors::<S>());
        segments::set_entry(crate::entry::address::<S>(), &raw const *cpu as u64);
    }
}

/// Waits, then enters the kernel. Not part of what vanishes after boot.
#[inline(never)]
fn wait<S: System<Port = X86>>(machine: Machine<X86>) -> ! {
    ARRIVED.store(machine.cpu.number, Release);
    while GO.load(Acquire) == 0 {
        core::hint::spin_loop();
    }
    // SAFETY: the same tables again: the code that only boot needs is gone from them.
    unsafe { machine::load_root(KERNEL_ROOT.load(Relaxed)) };
    if X86::TRACE != 0 && machine.cpu.traced.get() {
        begin::<S::Observed>(machine)
    }
    begin::<S>(machine)
}

/// Makes the first decision of a CPU and leaves for it.
fn begin<S: System<Port = X86>>(machine: Machine<X86>) -> ! {
    // SAFETY: interrupts are off, and this CPU has no other entry.
    let next = unsafe { kernel::events::start::<S>(machine) };
    crate::entry::leave::<S>(next)
}
