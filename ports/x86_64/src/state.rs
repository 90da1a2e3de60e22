//! The few statics of the port.

use crate::clock::Clock;
use crate::port::X86;
use core::cell::Cell;
use kernel::entry::Machine;

/// The machine.
pub struct Shared(pub X86);

// SAFETY: one CPU, and the kernel runs with interrupts off.
unsafe impl Sync for Shared {}

/// The machine.
pub static PORT: Shared = Shared(X86 {
    clock: Clock::new(),
    text: Cell::new(0),
    boot: Cell::new(0),
    #[cfg(feature = "statistics")]
    statistics: kernel::statistics::Statistics::new(),
});

struct Entered(Cell<Option<Machine<X86>>>);

// SAFETY: as for `Shared`.
unsafe impl Sync for Entered {}

static MACHINE: Entered = Entered(Cell::new(None));

/// What the core is entered with, once [`set_machine`] has been called.
#[inline(always)]
pub fn machine() -> Machine<X86> {
    match MACHINE.0.get() {
        Some(machine) => machine,
        // SAFETY: entry code is reachable only after `set_machine`.
        None => unsafe { core::hint::unreachable_unchecked() },
    }
}

/// Says what the core is entered with.
pub fn set_machine(machine: Machine<X86>) {
    MACHINE.0.set(Some(machine));
}
