//! The lines that were entered last.

use super::line::LONGEST;

/// How many lines are kept.
const LINES: usize = 8;

/// The last lines, and how far back the user has gone among them.
pub struct History {
    lines: [[u8; LONGEST]; LINES],
    lengths: [usize; LINES],
    /// Lines so far; each takes the place of the oldest.
    count: usize,
    /// 0: the user has not gone back.
    back: usize,
}

impl History {
    pub fn new() -> History {
        History { lines: [[0; LONGEST]; LINES], lengths: [0; LINES], count: 0, back: 0 }
    }

    /// The line that was entered `back` lines ago, from 1.
    fn line(&self, back: usize) -> &[u8] {
        let place = (self.count - back) % LINES;
        &self.lines[place][..self.lengths[place]]
    }

    /// Keeps a line that was entered, unless it is empty or the same as the one before.
    pub fn keep(&mut self, line: &[u8]) {
        self.back = 0;
        if line.is_empty() || self.count > 0 && self.line(1) == line {
            return;
        }
        let place = self.count % LINES;
        self.lines[place][..line.len()].copy_from_slice(line);
        self.lengths[place] = line.len();
        self.count += 1;
    }

    /// The line before the one that is shown, if one is kept.
    pub fn older(&mut self) -> Option<&[u8]> {
        if self.back == self.count.min(LINES) {
            return None;
        }
        self.back += 1;
        Some(self.line(self.back))
    }

    /// The line behind the one that is shown; behind the last one comes an empty line.
    pub fn newer(&mut self) -> Option<&[u8]> {
        self.back = self.back.checked_sub(1)?;
        Some(if self.back == 0 { &[] } else { self.line(self.back) })
    }
}
