//! A short text that is put together.

use core::fmt;
use files::LONGEST_PATH;

/// A text of up to so many bytes as the longest path.
#[derive(Clone)]
pub struct Text {
    bytes: [u8; LONGEST_PATH],
    length: usize,
}

impl Text {
    /// An empty one.
    pub fn new() -> Text {
        Text { bytes: [0; LONGEST_PATH], length: 0 }
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        core::str::from_utf8(&self.bytes[..self.length]).unwrap_or("")
    }
}

impl fmt::Write for Text {
    fn write_str(&mut self, more: &str) -> fmt::Result {
        let room = self.bytes.get_mut(self.length..self.length + more.len()).ok_or(fmt::Error)?;
        room.copy_from_slice(more.as_bytes());
        self.length += more.len();
        Ok(())
    }
}
