//! Standard output, where a reader may stop reading at any time.

use rustix::termios::tcgetwinsize;
use std::fmt::Display;
use std::io::Write;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Columns of the widest and of the narrowest text.
const MOST: usize = 100;
const LEAST: usize = 60;

static COLUMNS: AtomicUsize = AtomicUsize::new(MOST);

/// From now on text is as wide as the terminal, if standard output is one.
pub fn fit_terminal() {
    if let Ok(size) = tcgetwinsize(std::io::stdout()) {
        COLUMNS.store(fitting(size.ws_col.into()), Ordering::Relaxed);
    }
}

/// How wide text is to be on a terminal; one that does not say its width has none.
fn fitting(terminal: usize) -> usize {
    if terminal == 0 { MOST } else { terminal.clamp(LEAST, MOST) }
}

/// How wide text is to be.
pub fn columns() -> usize {
    COLUMNS.load(Ordering::Relaxed)
}

/// Prints a line. A closed pipe is no error: the exit status still tells how it went.
pub fn line(text: impl Display) {
    let _ = writeln!(std::io::stdout().lock(), "{text}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_as_wide_as_the_terminal_within_bounds() {
        assert_eq!([0, 20, 80, 300].map(fitting), [100, 60, 80, 100]);
    }
}
