//! The 16550 serial port.
//!
//! It interrupts on one line where it has received something, which is an IRQ of programs, and
//! where all that it was given is sent, which is the kernel's own. Each is let through in the port
//! itself, and the line while one of them is.

use crate::apic;
use crate::machine::{in8, out8};
use core::sync::atomic::AtomicU8;
use core::sync::atomic::Ordering::Relaxed;
use kernel::console::hex;
#[cfg(not(feature = "smp"))]
use locks::ObjectLock;
use locks::Pause;
use section::init;

/// The IRQ on which it interrupts.
pub const IRQ: u8 = 4;

const BASE: u16 = 0x3f8;
/// Its I/O ports.
pub const PORTS: core::ops::Range<u64> = BASE as u64..BASE as u64 + 8;
const DATA: u16 = BASE;
const INTERRUPTS: u16 = BASE + 1;
const FIFO: u16 = BASE + 2;
const LINE: u16 = BASE + 3;
const MODEM: u16 = BASE + 4;
const STATUS: u16 = BASE + 5;
/// In the status: a byte was received; the queue is empty; so is what it leads to.
const HAS_RECEIVED: u8 = 1;
const CAN_SEND: u8 = 0x20;
const IS_IDLE: u8 = 0x40;
/// Characters that fit into its queue.
const QUEUE: usize = 16;

/// A reason to interrupt: something was received.
const RECEIVED: u8 = 1;
/// A reason to interrupt: the queue is empty.
pub const SENT: u8 = 2;

/// The reasons that are let through.
static SOURCES: AtomicU8 = AtomicU8::new(0);

/// Interrupts change them outside the kernel's sections, calls inside.
#[cfg(feature = "smp")]
static LOCK: locks::Ticket = locks::Ticket::fixed();
#[cfg(not(feature = "smp"))]
static LOCK: () = ();

/// Sets the port up: 115200 baud, 8N1, no interrupts.
#[init]
pub fn set_up() {
    // SAFETY: the port's registers touch no memory.
    unsafe {
        out8(INTERRUPTS, 0);
        out8(LINE, 0x80);
        out8(DATA, 1);
        out8(INTERRUPTS, 0);
        out8(LINE, 3);
        out8(FIFO, 0xc7);
        out8(MODEM, 0x0b);
    }
}

fn status() -> u8 {
    // SAFETY: as in `set_up`.
    unsafe { in8(STATUS) }
}

/// Lets a reason through, or not.
#[inline(never)]
pub fn set_source(source: u8, on: bool) {
    LOCK.acquire::<Pause>();
    let before = SOURCES.load(Relaxed);
    let now = if on { before | source } else { before & !source };
    if now != before {
        SOURCES.store(now, Relaxed);
        // SAFETY: as in `set_up`.
        unsafe { out8(INTERRUPTS, now) };
        if now == 0 || before == 0 {
            apic::set_irq(IRQ, now != 0);
        }
    }
    LOCK.release();
}

/// Unmasks an IRQ of programs, or masks it: of the port's, that something was received.
#[inline(never)]
pub fn set_irq(irq: u8, enabled: bool) {
    match irq {
        IRQ => set_source(RECEIVED, enabled),
        _ => apic::set_irq(irq, enabled),
    }
}

/// Masks an IRQ that has come, and tells the controller that it is taken; false: the interrupt is
/// the kernel's own, of this port. What was received as well interrupts behind that.
#[inline(never)]
pub fn masks(irq: u8) -> bool {
    if irq == IRQ {
        let (sources, status) = (SOURCES.load(Relaxed), status());
        let is_sent = sources & SENT != 0 && status & CAN_SEND != 0;
        if is_sent || sources & RECEIVED == 0 || status & HAS_RECEIVED == 0 {
            return false;
        }
    }
    set_irq(irq, false);
    apic::end();
    true
}

/// How many characters can be sent without waiting.
pub fn room() -> usize {
    if status() & CAN_SEND != 0 { QUEUE } else { 0 }
}

/// Sends a character for which there is room.
pub fn put(byte: u8) {
    if byte == b'\n' {
        send(b'\r');
    }
    send(byte);
}

fn send(byte: u8) {
    // SAFETY: as in `set_up`.
    unsafe { out8(DATA, byte) };
}

/// Waits until all is sent.
pub fn flush() {
    while status() & IS_IDLE == 0 {
        core::hint::spin_loop();
    }
}

/// Sends text, waiting for the port where necessary: while the kernel boots, or panics.
#[inline(never)]
pub fn write(text: &[u8]) {
    // Also where each byte is a line's end, they fit into the port's queue.
    for part in text.chunks(QUEUE / 2) {
        while room() == 0 {
            core::hint::spin_loop();
        }
        part.iter().for_each(|byte| put(*byte));
    }
}

/// Sends text and a number in hexadecimal behind it, as [`write`] does.
#[inline(never)]
pub fn write_number(before: &[u8], value: u64) {
    write(before);
    write(&hex(value));
}

/// Takes a received byte, if there is one.
pub fn read() -> Option<u8> {
    // SAFETY: as in `set_up`.
    unsafe { (in8(STATUS) & HAS_RECEIVED != 0).then(|| in8(DATA)) }
}

/// The port as a text sink.
pub struct Uart;

impl core::fmt::Write for Uart {
    fn write_str(&mut self, text: &str) -> core::fmt::Result {
        write(text.as_bytes());
        Ok(())
    }

    /// Numbers and what they are padded with: the default would encode any character.
    fn write_char(&mut self, letter: char) -> core::fmt::Result {
        write(&[u8::try_from(letter).unwrap_or(b'?')]);
        Ok(())
    }
}
