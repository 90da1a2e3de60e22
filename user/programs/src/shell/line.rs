//! Line editing.

use rt::{Console, print};

const LONGEST: usize = 80;
const BACKSPACE: u8 = 8;
const DELETE: u8 = 127;
/// End of transmission, which on an empty line ends the shell, as control-D or when the input
/// that is piped in is over.
const END: u8 = 4;
/// Control-U: forget the line.
const KILL: u8 = 21;

/// What has been typed of a line.
pub struct Line {
    bytes: [u8; LONGEST],
    len: usize,
    last: u8,
}

impl Line {
    /// An empty line.
    pub fn new() -> Line {
        Line { bytes: [0; LONGEST], len: 0, last: 0 }
    }

    /// Forgets what was typed.
    pub fn clear(&mut self) {
        self.len = 0;
    }

    /// Takes a byte and echoes it. Returns the line when it is complete.
    pub fn typed(&mut self, byte: u8, console: Console) -> Option<&str> {
        let last = core::mem::replace(&mut self.last, byte);
        match byte {
            // A carriage return and a line feed are one end of line.
            b'\n' if last == b'\r' => {}
            b'\r' | b'\n' => {
                print!(console, "\n");
                return core::str::from_utf8(&self.bytes[..self.len]).ok();
            }
            END if self.len == 0 => {
                print!(console, "exit\n");
                return Some("exit");
            }
            BACKSPACE | DELETE => self.erase(1, console),
            KILL => self.erase(self.len, console),
            b' '..=b'~' if self.len < LONGEST => {
                self.bytes[self.len] = byte;
                self.len += 1;
                print!(console, "{}", char::from(byte));
            }
            _ => {}
        }
        None
    }

    fn erase(&mut self, count: usize, console: Console) {
        for _ in 0..count.min(self.len) {
            self.len -= 1;
            print!(console, "\x08 \x08");
        }
    }
}
