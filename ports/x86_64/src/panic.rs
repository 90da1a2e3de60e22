//! The end of a kernel that found itself wrong: a message and raw return addresses, which the
//! laboratory turns into names.

use crate::machine::halt;
use crate::paging::PAGE;
use crate::port::exit;
use crate::segments::is_guard;
use crate::state;
use crate::uart::{Uart, write, write_number};
use abi::boot::EXIT_PANIC;
use core::arch::asm;
use core::arch::x86_64::__cpuid;
use core::fmt::Write;
use core::panic::PanicInfo;
use core::ptr::with_exposed_provenance;
use core::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};

/// Words that are shown at most.
const DEPTH: u32 = 48;

/// The CPU that panics, as the number of its APIC and one; 0: none does.
static PANICKING: AtomicU32 = AtomicU32::new(0);

unsafe extern "C" {
    static __image: u8;
    static __text_end: u8;
    static __stacks: u8;
    static __image_end: u8;
}

#[panic_handler]
fn panic(info: &PanicInfo) -> ! {
    /// A panic behind this just ends the run.
    static TELLS: AtomicBool = AtomicBool::new(false);
    begin_panic();
    if TELLS.swap(true, Relaxed) {
        exit(EXIT_PANIC);
    }
    let mut out = Uart;
    // Strings go around the formatter: its padding of strings would be a tenth of the kernel's
    // cold text. Writing to the port cannot fail.
    write(b"\nKERNEL PANIC: ");
    let _ = out.write_fmt(format_args!("{}", info.message()));
    if let Some(at) = info.location() {
        write(b"\n  at ");
        write(at.file().as_bytes());
        let _ = write!(out, ":{}", u64::from(at.line()));
    }
    write(b"\n");
    write(b"backtrace:");
    backtrace(|address| write_number(b" ", address as u64));
    write(b"\n");
    exit(EXIT_PANIC)
}

/// This CPU panics. Others that do so leave the console to the first one. What waits for that goes
/// before the message. Tried once: this may be what panics.
#[inline(never)]
pub fn begin_panic() {
    let me = 1 + (__cpuid(1).ebx >> 24);
    match PANICKING.compare_exchange(0, me, Relaxed, Relaxed) {
        Ok(_) => {
            if let Some(kernel) = state::kernel() {
                kernel.console.empty(kernel.port);
            }
        }
        Err(first) if first == me => {}
        Err(_) => halt(),
    }
}

/// Visits the words on the stack that may be return addresses, up to the end of the stack. The
/// laboratory drops what does not follow a call.
fn backtrace(mut visit: impl FnMut(usize)) {
    let stack: usize;
    // SAFETY: reads a register.
    unsafe { asm!("mov {}, rsp", out(reg) stack, options(nomem, nostack)) };
    let stacks = (&raw const __stacks).addr()..(&raw const __image_end).addr();
    let code = (&raw const __image).addr()..(&raw const __text_end).addr();
    let mut left = DEPTH;
    for at in (stack..stacks.end).step_by(size_of::<usize>()) {
        if left == 0 || at < stacks.start || is_guard((at - stacks.start) as u64 / PAGE) {
            return;
        }
        // SAFETY: within the kernel's stacks, aligned, and not in a page that is not mapped.
        let word = unsafe { with_exposed_provenance::<usize>(at).read() };
        if code.contains(&word) {
            visit(word);
            left -= 1;
        }
    }
}
