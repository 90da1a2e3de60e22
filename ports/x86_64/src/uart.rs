//! The 16550 serial port, polled for output.

use crate::machine::{in8, out8};
use section::init;

const BASE: u16 = 0x3f8;
const DATA: u16 = BASE;
const INTERRUPTS: u16 = BASE + 1;
const FIFO: u16 = BASE + 2;
const LINE: u16 = BASE + 3;
const MODEM: u16 = BASE + 4;
const STATUS: u16 = BASE + 5;
const RECEIVED: u8 = 1;
const CAN_SEND: u8 = 0x20;

/// Sets the port up: 115200 baud, 8N1, an interrupt for each byte received.
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
        out8(INTERRUPTS, 1);
    }
}

/// Sends text, waiting for the port where necessary.
#[inline(never)]
pub fn write(text: &[u8]) {
    // Also where each byte is a line's end, they fit into the port's queue of 16.
    for part in text.chunks(8) {
        // SAFETY: as in `set_up`.
        while unsafe { in8(STATUS) } & CAN_SEND == 0 {
            core::hint::spin_loop();
        }
        for byte in part {
            if *byte == b'\n' {
                send(b'\r');
            }
            send(*byte);
        }
    }
}

/// Sends a byte for which there is room.
fn send(byte: u8) {
    // SAFETY: as in `set_up`.
    unsafe { out8(DATA, byte) };
}

/// Takes a received byte, if there is one.
pub fn read() -> Option<u8> {
    // SAFETY: as in `set_up`.
    unsafe { (in8(STATUS) & RECEIVED != 0).then(|| in8(DATA)) }
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
