//! What the host and the program `control` say to each other through a memory while a system runs.
//!
//! The memory holds little-endian 64-bit words. The host writes a [`Command`] and then the number
//! of the request; the program answers with a status and with [rows](Row), and then writes the same
//! number. Numbers are written twice, inverted first: a number whose halves do not match is being
//! written. Either side takes the other's words for claims and checks them.

mod command;
mod row;

pub use command::{COMMAND_WORDS, Change, Command};
pub use row::{
    Domain, Held, MOST_WORDS, Machine, Malformed, Reservation, Row, Rows, Thread, Window,
};

/// First word, which the program writes when it is ready.
pub const MAGIC: u64 = u64::from_le_bytes(*b"GIUSTOC2");
/// Bytes of the memory.
pub const BYTES: u64 = 256 << 10;

/// The word with [`MAGIC`].
pub const WORD_MAGIC: usize = 0;
/// The host's word with the number of its last request, written behind its command.
pub const WORD_REQUEST: usize = 8;
/// The host's word with that number inverted.
pub const WORD_REQUEST_CHECK: usize = 9;
/// The host's first word of [`COMMAND_WORDS`] with the command.
pub const WORD_COMMAND: usize = 32;
/// The program's word with the number of the last request that it has answered.
pub const WORD_ANSWER: usize = 24;
/// The program's word with that number inverted.
pub const WORD_ANSWER_CHECK: usize = 25;
/// The program's word with the answer's status: 0, or the code of an [`Error`](crate::Error).
pub const WORD_STATUS: usize = 26;
/// The program's word with the number of words in the answer's rows.
pub const WORD_LENGTH: usize = 27;
/// The program's word that is 1 if there was no room for all rows.
pub const WORD_CUT: usize = 28;
/// The program's first word of rows.
pub const WORD_ROWS: usize = WORD_COMMAND + COMMAND_WORDS;

/// The number that these two words hold, if none of them is being written.
pub const fn number(word: u64, check: u64) -> Option<u64> {
    if word == !check { Some(word) } else { None }
}
