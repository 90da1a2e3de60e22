//! Standard output, where a reader may stop reading at any time.

use std::fmt::Display;
use std::io::Write;

/// Prints a line. A closed pipe is no error: the exit status still tells how it went.
pub fn line(text: impl Display) {
    let _ = writeln!(std::io::stdout().lock(), "{text}");
}
