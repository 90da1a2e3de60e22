//! The few statics of the port.

use crate::clock::Clock;
use crate::port::X86;
use abi::layout::Layout;
use core::cell::Cell;
#[cfg(feature = "smp")]
use kernel::cpu::Cpu;
use kernel::events::Machine;
use kernel::kernel::Kernel;
use kernel::layout;
use section::init;

/// The machine.
pub struct Shared(pub X86);

// SAFETY: written while one CPU boots; then read, or touched inside the kernel's sections alone.
unsafe impl Sync for Shared {}

/// The machine.
pub static PORT: Shared = Shared(X86 {
    clock: Clock::new(),
    info: Cell::new(None),
    text: Cell::new(0),
    boot: Cell::new(0),
    #[cfg(feature = "statistics")]
    statistics: [const { locks::Line::new(kernel::statistics::Statistics::new()) };
        crate::segments::CPUS],
});

/// What the core is entered with on the first CPU, if it boots no more.
pub struct Entered(Cell<Option<Machine<X86>>>);

// SAFETY: as for `Shared`.
unsafe impl Sync for Entered {}

static MACHINE: Entered = Entered(Cell::new(None));

/// For debuggers: where all of the kernel is found from, and how.
#[repr(C)]
pub struct Found {
    machine: &'static Entered,
    layout: Layout,
}

/// What [`SYMBOL`](abi::layout::SYMBOL) means.
#[used]
#[unsafe(no_mangle)]
pub static LAYOUT: Found = Found { machine: &MACHINE, layout: layout::of::<X86>() };

/// What the core is entered with on this CPU, once its structure lies behind GS.
#[cfg(feature = "smp")]
#[inline(always)]
pub fn machine() -> Machine<X86> {
    let cpu: u64;
    // SAFETY: reads this CPU's structure, which GS leads to inside the kernel.
    let cpu = unsafe {
        core::arch::asm!(
            "mov {}, gs:[{myself}]", out(reg) cpu, myself = const crate::entry::MYSELF,
            options(nostack, preserves_flags, pure, readonly),
        );
        &*core::ptr::with_exposed_provenance::<Cpu<X86>>(cpu as usize)
    };
    Machine { kernel: machine_of_first().kernel, cpu }
}

/// What the core is entered with on the first CPU, once [`set_machine`] has been called.
#[inline(always)]
pub fn machine_of_first() -> Machine<X86> {
    match MACHINE.0.get() {
        Some(machine) => machine,
        // SAFETY: entry code is reachable only after `set_machine`.
        None => unsafe { core::hint::unreachable_unchecked() },
    }
}

/// The kernel, once it is carved.
pub fn kernel() -> Option<&'static Kernel<X86>> {
    MACHINE.0.get().map(|machine| machine.kernel)
}

#[cfg(not(feature = "smp"))]
pub use machine_of_first as machine;

/// The number of this CPU.
#[cfg(feature = "statistics")]
#[inline(always)]
pub fn number() -> u32 {
    if cfg!(feature = "smp") { machine().cpu.number } else { 0 }
}

/// Says what the core is entered with.
#[init]
pub fn set_machine(machine: Machine<X86>) {
    MACHINE.0.set(Some(machine));
}
