//! Text for people.

use crate::arch::{self, ANY, word};
use crate::{Slot, system};
use abi::Error;
use abi::call::Call;
use core::fmt::{self, Write};

/// The longest text that one system call writes.
const CHUNK: usize = 32;
/// How long text waits before it is tried again, in nanoseconds.
const PAUSE: u64 = 1_000_000;

/// The console that a capability names.
#[derive(Clone, Copy)]
pub struct Console {
    slot: Slot,
}

impl Console {
    /// The console in a slot; silent with [`Slot::NONE`].
    pub fn new(slot: Slot) -> Console {
        Console { slot }
    }

    /// Writes formatted text; see [`print!`](crate::print) and [`println!`](crate::println). Where
    /// there is no room for it, it sleeps for a millisecond and tries again: under the kernel
    /// `tree` a job ends so ([`Console::write_chunk`] never waits).
    pub fn print(&self, text: fmt::Arguments) {
        let mut chunks = Chunks { console: *self, bytes: [0; CHUNK], len: 0 };
        let _ = chunks.write_fmt(text);
        chunks.flush();
    }

    /// The next byte that was typed, if there is one.
    pub fn read(&self) -> Option<u8> {
        let a = [word(self.slot.word()), ANY, ANY, ANY, ANY, ANY];
        let outcome = arch::syscall(Call::ConsoleRead as u64, a, [ANY; 4]);
        outcome.status.result().ok().map(|()| outcome.badge as u8)
    }

    /// Writes at most 32 bytes. It never waits for the console.
    ///
    /// # Errors
    ///
    /// [`Error::Timeout`]: as much of the caller's domain waits for the console as may; nothing is
    /// written.
    pub fn write_chunk(&self, bytes: &[u8]) -> Result<(), Error> {
        let mut chunk = [0; CHUNK];
        let len = bytes.len().min(CHUNK);
        chunk[..len].copy_from_slice(&bytes[..len]);
        let mut words = [0; 4];
        for (word, bytes) in words.iter_mut().zip(chunk.chunks_exact(8)) {
            *word = bytes.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte));
        }
        let a = [word(self.slot.word()), word(len as u64), ANY, ANY, ANY, ANY];
        arch::syscall(Call::ConsoleWrite as u64, a, arch::words(words)).status.result()
    }
}

/// Text on its way to the console, gathered so that few system calls carry it.
struct Chunks {
    console: Console,
    bytes: [u8; CHUNK],
    len: usize,
}

impl Chunks {
    fn flush(&mut self) {
        if self.len > 0 && self.console.slot != Slot::NONE {
            // A program that may not write cannot report it.
            while self.console.write_chunk(&self.bytes[..self.len]) == Err(Error::Timeout) {
                system::sleep(PAUSE);
            }
        }
        self.len = 0;
    }
}

impl Write for Chunks {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for &byte in text.as_bytes() {
            self.bytes[self.len] = byte;
            self.len += 1;
            if self.len == CHUNK {
                self.flush();
            }
        }
        Ok(())
    }
}

/// Prints to a console: `print!(console, "{n} left")`.
#[macro_export]
macro_rules! print {
    ($console:expr, $($text:tt)*) => { $console.print(format_args!($($text)*)) };
}

/// Prints a line to a console.
#[macro_export]
macro_rules! println {
    ($console:expr) => { $console.print(format_args!("\n")) };
    ($console:expr, $($text:tt)*) => {
        $console.print(format_args!("{}\n", format_args!($($text)*)))
    };
}
