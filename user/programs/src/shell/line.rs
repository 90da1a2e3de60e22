//! A line on the terminal that is being edited.

use rt::{Console, print};

/// What fits behind the prompt on 80 columns.
pub const LONGEST: usize = 71;

/// What has been typed of a line.
pub struct Line {
    console: Console,
    bytes: [u8; LONGEST],
    len: usize,
    /// Where the next character goes.
    cursor: usize,
}

impl Line {
    /// An empty line.
    pub fn new(console: Console) -> Line {
        Line { console, bytes: [0; LONGEST], len: 0, cursor: 0 }
    }

    /// All of it.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes[..self.len]
    }

    /// Forgets what was typed, but leaves it on the terminal.
    pub fn clear(&mut self) {
        (self.len, self.cursor) = (0, 0);
    }

    /// Puts a character at the cursor, if there is room.
    pub fn insert(&mut self, byte: u8) {
        if self.len < LONGEST {
            self.bytes.copy_within(self.cursor..self.len, self.cursor + 1);
            self.bytes[self.cursor] = byte;
            self.len += 1;
            print!(self.console, "{}", text(&self.bytes[self.cursor..self.len]));
            self.cursor += 1;
            self.back(self.len - self.cursor);
        }
    }

    /// Takes the character before the cursor out.
    pub fn erase(&mut self) {
        if self.cursor > 0 {
            self.bytes.copy_within(self.cursor..self.len, self.cursor - 1);
            (self.len, self.cursor) = (self.len - 1, self.cursor - 1);
            let tail = text(&self.bytes[self.cursor..self.len]);
            print!(self.console, "\x08{tail} ");
            self.back(tail.len() + 1);
        }
    }

    /// Moves the cursor to the left.
    pub fn left(&mut self) {
        if self.cursor > 0 {
            self.cursor -= 1;
            self.back(1);
        }
    }

    /// Moves the cursor to the right.
    pub fn right(&mut self) {
        if self.cursor < self.len {
            print!(self.console, "{}", text(&self.bytes[self.cursor..][..1]));
            self.cursor += 1;
        }
    }

    /// Becomes another line.
    pub fn replace(&mut self, new: &[u8]) {
        self.back(self.cursor);
        let surplus = self.len.saturating_sub(new.len());
        print!(self.console, "{}{:surplus$}", text(new), "");
        self.back(surplus);
        self.bytes[..new.len()].copy_from_slice(new);
        (self.len, self.cursor) = (new.len(), new.len());
    }

    /// Moves the terminal's cursor.
    fn back(&self, count: usize) {
        print!(self.console, "{:\x08<count$}", "");
    }
}

/// A line's characters, which are ASCII.
pub fn text(bytes: &[u8]) -> &str {
    core::str::from_utf8(bytes).unwrap_or_default()
}
