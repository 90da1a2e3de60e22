//! What a panic leaves in the log: its reason first, and behind it the place, in one line that
//! holds both, however long they are.

use abi::log::TEXT_BYTES;
use core::fmt::{self, Display, Write};

/// Bytes of a path that are shown at most, from its end.
const MOST_PATH: usize = 40;

/// Components of a path that are shown at most.
const COMPONENTS: usize = 3;

/// Stands behind a reason that has no room.
const CUT: &str = "...";

/// A panic, shown as `panicked: REASON, at FILE:LINE:COLUMN`.
pub(crate) struct Panicked<'a, R> {
    /// Why.
    pub reason: R,
    /// Path of the source file.
    pub file: &'a str,
    /// Its line and column, from 1.
    pub place: [u32; 2],
}

impl<R: Display> Display for Panicked<'_, R> {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let (file, [line, column]) = (tail(self.file), self.place);
        let digits = |number: u32| number.checked_ilog10().unwrap_or(0) as usize + 1;
        let place = ", at ::".len() + file.len() + digits(line) + digits(column);
        f.write_str("panicked: ")?;
        let room = TEXT_BYTES - "panicked: ".len() - place - CUT.len();
        let mut reason = OneLine { f, room, gap: false, begun: false };
        if write!(reason, "{}", self.reason).is_err() {
            f.write_str(CUT)?;
        }
        write!(f, ", at {file}:{line}:{column}")
    }
}

/// The last components of a path.
fn tail(path: &str) -> &str {
    let begin = path.rmatch_indices('/').nth(COMPONENTS - 1).map_or(0, |(at, _)| at + 1);
    let shown = &path[begin..];
    let begin = shown.len().saturating_sub(MOST_PATH);
    (begin..).find_map(|at| shown.get(at..)).unwrap_or_default()
}

/// Writes a text of several lines as one.
struct OneLine<'a, 'f> {
    f: &'a mut fmt::Formatter<'f>,
    /// Bytes that may follow.
    room: usize,
    /// Whether a line has ended, and the next one has not begun.
    gap: bool,
    /// Whether there was anything but gaps.
    begun: bool,
}

impl OneLine<'_, '_> {
    fn put(&mut self, c: char) -> fmt::Result {
        self.room = self.room.checked_sub(c.len_utf8()).ok_or(fmt::Error)?;
        self.f.write_char(c)
    }
}

impl Write for OneLine<'_, '_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for c in text.chars() {
            self.gap |= c.is_control();
            if c.is_control() || self.gap && c == ' ' {
                continue;
            }
            if self.gap && self.begun {
                self.put(';')?;
                self.put(' ')?;
            }
            (self.gap, self.begun) = (false, true);
            self.put(c)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::{String, ToString};

    fn told(reason: &str, file: &str) -> String {
        let place = [u32::MAX, u32::MAX];
        let told = Panicked { reason, file, place }.to_string();
        assert!(told.len() <= TEXT_BYTES, "{told}");
        told
    }

    #[test]
    fn reason_and_place_stand_in_one_line_however_long_they_are() {
        let place = [17, 4];
        let short = Panicked { reason: "no door", file: "src/lib.rs", place }.to_string();
        assert_eq!(short, "panicked: no door, at src/lib.rs:17:4");
        let deep = "/home/somebody/projects/2026/plants/".repeat(9) + "plant/pump/src/lib.rs";
        let told = told("it is too hot", &deep);
        assert_eq!(told, "panicked: it is too hot, at pump/src/lib.rs:4294967295:4294967295");
    }

    #[test]
    fn what_is_too_long_is_cut_and_the_rest_stays() {
        for name in ["a", "\u{e9}"].map(|letter| letter.repeat(200)) {
            let told = told(&"r\u{e9}ason ".repeat(50), &(name + ".rs"));
            assert!(told.starts_with("panicked: r\u{e9}ason r"), "{told}");
            assert!(told.contains("..., at ") && told.contains(".rs:4294967295:"), "{told}");
        }
        assert!(told("", "").starts_with("panicked: , at :"));
    }

    #[test]
    fn lines_become_one() {
        let compared = "assertion `left == right` failed\n  left: 1\n right: 2\n";
        let told = told(compared, "a.rs");
        assert!(told.starts_with("panicked: assertion `left == right` failed; left: 1; right: 2,"));
    }
}
