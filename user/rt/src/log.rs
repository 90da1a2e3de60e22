//! Lines for people that stay: the log of a program's domain ([`abi::log`]), which the laboratory
//! shows after the run, however that has ended.
//!
//! A line costs its formatting and some stores into memory that only this domain writes: no system
//! call, no waiting, whatever other programs do.

use crate::{Words, arch, system};
use abi::call::Fact;
pub use abi::log::Level;
use abi::log::{
    HEADER_WORDS, MAGIC, NUMBER, RECORD_WORDS, SHAPE, Shape, TEXT, TEXT_BYTES, TIME, WORD_BOOT,
    WORD_HZ, WORD_LINES, WORD_MAGIC,
};
use core::fmt::{self, Write};
use core::sync::atomic::{Ordering, fence};

/// The log of a domain, which all its threads may write.
#[derive(Clone, Copy)]
pub struct Log {
    words: Option<Words>,
}

impl Log {
    /// Opens the log in this memory; silent without memory, or if it has no room for a line.
    pub(crate) fn open(words: Option<Words>) -> Log {
        let words = words.filter(|words| words.len() >= HEADER_WORDS + RECORD_WORDS);
        if let Some(words) = words {
            let (hz, boot) = system::fact(Fact::CounterHz).unwrap_or((0, 0));
            words.set(WORD_HZ, hz);
            words.set(WORD_BOOT, boot);
            words.set(WORD_MAGIC, MAGIC);
        }
        Log { words }
    }

    /// Writes a line with the present time: the first 104 bytes of a text. See
    /// [`info!`](crate::info). The oldest line goes when there is no room.
    pub fn line(&self, level: Level, text: fmt::Arguments) {
        let Some(words) = self.words else { return };
        let mut line = Line { words: [0; TEXT_WORDS], length: 0, cut: false };
        // What does not fit is cut off.
        let _ = line.write_fmt(text);
        let time = arch::counter();
        let room = (words.len() - HEADER_WORDS) / RECORD_WORDS;
        let number = words.add(WORD_LINES, 1);
        let at = HEADER_WORDS + (number % room as u64) as usize * RECORD_WORDS;
        let record = words.part(at, RECORD_WORDS);
        // A run may end at any store: a line counts from when its number stands there.
        record.set(NUMBER, 0);
        fence(Ordering::Release);
        record.set(TIME, time);
        record.set(SHAPE, Shape { level, length: line.length, cut: line.cut }.word());
        for (index, word) in line.words[..line.length.div_ceil(8)].iter().enumerate() {
            record.set(TEXT + index, *word);
        }
        fence(Ordering::Release);
        record.set(NUMBER, number + 1);
    }
}

const TEXT_WORDS: usize = RECORD_WORDS - TEXT;

/// A text as words.
struct Line {
    words: [u64; TEXT_WORDS],
    length: usize,
    cut: bool,
}

impl Write for Line {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for &byte in text.as_bytes() {
            if self.length == TEXT_BYTES {
                self.cut = true;
                return Err(fmt::Error);
            }
            self.words[self.length / 8] |= u64::from(byte) << (self.length % 8 * 8);
            self.length += 1;
        }
        Ok(())
    }
}

/// Logs that something has failed: `error!(log, "no answer: {error:?}")`.
#[macro_export]
macro_rules! error {
    ($log:expr, $($text:tt)*) => {
        $log.line($crate::log::Level::Error, format_args!($($text)*))
    };
}

/// Logs that something is not as it should be.
#[macro_export]
macro_rules! warn {
    ($log:expr, $($text:tt)*) => {
        $log.line($crate::log::Level::Warn, format_args!($($text)*))
    };
}

/// Logs what happens, in large steps: `info!(log, "temperature {t}")`.
#[macro_export]
macro_rules! info {
    ($log:expr, $($text:tt)*) => {
        $log.line($crate::log::Level::Info, format_args!($($text)*))
    };
}

/// Logs what happens, in small steps.
#[macro_export]
macro_rules! debug {
    ($log:expr, $($text:tt)*) => {
        $log.line($crate::log::Level::Debug, format_args!($($text)*))
    };
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::{BASE, arrives, install};
    use abi::{Info, PAGE};

    #[test]
    fn lines_stand_where_the_layout_says_and_the_last_ones_stay() {
        let machine = install(1);
        machine.answer([arrives(1000, Info(77), [0; 4])]);
        let words = Words::at(BASE, PAGE);
        let log = Log::open(Some(words));
        assert_eq!([words.get(WORD_MAGIC), words.get(WORD_HZ)], [MAGIC, 1000]);
        assert_eq!(words.get(WORD_BOOT), 77);
        let room = (words.len() - HEADER_WORDS) / RECORD_WORDS;
        assert_eq!(room, 31);
        for n in 0..=room {
            info!(log, "line {n}");
        }
        warn!(log, "{}", "x".repeat(TEXT_BYTES + 1));
        let line = |at: usize| words.part(HEADER_WORDS + at * RECORD_WORDS, RECORD_WORDS);
        assert_eq!(words.get(WORD_LINES), 33);
        assert_eq!([line(0).get(NUMBER), line(1).get(NUMBER), line(2).get(NUMBER)], [32, 33, 3]);
        assert_eq!(line(0).get(TEXT), u64::from_le_bytes(*b"line 31\0"));
        let shape = |at| Shape::from_word(line(at).get(SHAPE)).unwrap();
        assert_eq!(shape(0), Shape { level: Level::Info, length: 7, cut: false });
        assert_eq!(shape(1), Shape { level: Level::Warn, length: TEXT_BYTES, cut: true });
        assert_eq!(machine.made().len(), 1, "a line takes no system call");
    }

    #[test]
    fn without_room_it_is_silent() {
        let machine = install(1);
        error!(Log::open(None), "nothing");
        debug!(Log::open(Some(Words::at(BASE, 8 * HEADER_WORDS as u64))), "nothing");
        assert!(machine.made().is_empty());
    }
}
