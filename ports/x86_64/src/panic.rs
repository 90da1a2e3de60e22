//! The end of a kernel that found itself wrong: a message and raw return addresses, which the
//! laboratory turns into names.

use crate::port::exit;
use crate::uart::{Uart, write};
use abi::boot::EXIT_PANIC;
use core::arch::asm;
use core::fmt::Write;
use core::panic::PanicInfo;
use core::ptr::with_exposed_provenance;
use core::sync::atomic::{AtomicBool, Ordering::Relaxed};
use kernel::fault::hex;

const DEPTH: usize = 24;

/// A panic while panicking just ends the run.
static PANICKING: AtomicBool = AtomicBool::new(false);

unsafe extern "C" {
    static __stacks: u8;
    static __image_end: u8;
}

#[panic_handler]
fn panic(info: &PanicInfo) -> ! {
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
    backtrace(|address| {
        write(b" ");
        write(&hex(address as u64));
    });
    write(b"\n");
    exit(EXIT_PANIC)
}

/// Follows the chain of frame pointers as long as it stays within the kernel's stacks.
fn backtrace(mut visit: impl FnMut(usize)) {
    let mut frame: usize;
    // SAFETY: reads a register.
    unsafe { asm!("mov {}, rbp", out(reg) frame, options(nomem, nostack)) };
    let stacks = (&raw const __stacks).addr()..(&raw const __image_end).addr() - 16;
    for _ in 0..DEPTH {
        if !stacks.contains(&frame) || !frame.is_multiple_of(8) {
            return;
        }
        let words = with_exposed_provenance::<[usize; 2]>(frame);
        // SAFETY: within the kernel's stacks and aligned.
        let [next, address] = unsafe { words.read() };
        if address == 0 {
            return;
        }
        visit(address);
        frame = next;
    }
}
