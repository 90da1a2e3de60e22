//! The layout of a domain's log: lines that its program writes, for the host to read after the run.
//!
//! A log is a shared memory object of 64-bit words: a header of [`HEADER_WORDS`], then records of
//! [`RECORD_WORDS`], each a line. Line n lies at place n modulo the room, so that the last ones
//! stay. Only the domain writes there, and nothing in it can be trusted: a reader knows from the
//! manifest whose log it is.

/// First word of a log that a program has opened.
pub const MAGIC: u64 = u64::from_le_bytes(*b"GIUSTOL1");

/// Words in the header.
pub const HEADER_WORDS: usize = 16;
/// Words in a record: the line's number from 1, 0 while it is being written; the counter; level and
/// length; the text.
pub const RECORD_WORDS: usize = 16;
/// The longest text in bytes.
pub const TEXT_BYTES: usize = 8 * (RECORD_WORDS - TEXT);

/// Header word with [`MAGIC`].
pub const WORD_MAGIC: usize = 0;
/// Header word with the number of lines so far.
pub const WORD_LINES: usize = 1;
/// Header word with the counter's frequency in Hz.
pub const WORD_HZ: usize = 2;
/// Header word with what the counter was at instant 0.
pub const WORD_BOOT: usize = 3;

/// Word of a record with the line's number.
pub const NUMBER: usize = 0;
/// Word of a record with the counter.
pub const TIME: usize = 1;
/// Word of a record with the [`Shape`].
pub const SHAPE: usize = 2;
/// First word of a record's text.
pub const TEXT: usize = 3;

/// How important a line is; the smaller, the more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Something has failed.
    Error = 1,
    /// Something is not as it should be.
    Warn = 2,
    /// What happens, in large steps.
    Info = 3,
    /// What happens, in small steps.
    Debug = 4,
}

impl Level {
    /// All of them, the most important first.
    pub const ALL: [Level; 4] = [Level::Error, Level::Warn, Level::Info, Level::Debug];

    /// What it is called.
    pub const fn name(self) -> &'static str {
        match self {
            Level::Error => "error",
            Level::Warn => "warn",
            Level::Info => "info",
            Level::Debug => "debug",
        }
    }
}

/// What a record's text is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// How important it is.
    pub level: Level,
    /// Its bytes, [`TEXT_BYTES`] at most.
    pub length: usize,
    /// Whether it was longer.
    pub cut: bool,
}

impl Shape {
    /// The shape as a word.
    pub const fn word(self) -> u64 {
        self.level as u64 | (self.length as u64) << 8 | (self.cut as u64) << 16
    }

    /// The shape in a word; `None` if it is none.
    pub fn from_word(word: u64) -> Option<Shape> {
        let level = Level::ALL.into_iter().find(|level| *level as u64 == word & 0xff)?;
        let (length, cut) = ((word >> 8 & 0xff) as usize, word >> 16);
        let sound = length <= TEXT_BYTES && cut <= 1;
        sound.then_some(Shape { level, length, cut: cut == 1 })
    }
}

/// What the kernel tells the console of one CPU where all threads wait and nothing will end a wait.
pub const STUCK: &str = "every thread waits, and nothing will happen";
