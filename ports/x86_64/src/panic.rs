//! The end of a kernel that found itself wrong: a message and raw return addresses, which the
//! laboratory turns into names.

use crate::paging::PAGE;
use crate::port::exit;
use crate::segments::is_guard;
use crate::state;
use crate::uart::{Uart, write, write_number};
use abi::boot::EXIT_PANIC;
use core::arch::asm;
use core::fmt::Write;
use core::panic::PanicInfo;
use core::ptr::with_exposed_provenance;
use core::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// Words that are shown at most.
const DEPTH: u32 = 48;

/// A panic while panicking just ends the run.
static PANICKING: AtomicBool = AtomicBool::new(false);

unsafe extern "C" {
    static __image: u8;
    static __text_end: u8;
    static __stacks: u8;
    static __image_end: u8;
}

#[panic_handler]
fn panic(info: &PanicInfo) -> ! {
    empty_console();
    if PANICKING.swap(true, Relaxed) {
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

/// What waits for the console goes before the message. Tried once: this may be what panics.
#[inline(never)]
pub fn empty_console() {
    static TRIED: AtomicBool = AtomicBool::new(false);
    if !TRIED.swap(true, Relaxed)
        && let Some(kernel) = state::kernel()
    {
        kernel.console.empty(kernel.port);
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
