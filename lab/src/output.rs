//! Standard output and standard error, whose readers may stop reading at any time.

use rustix::termios::tcgetwinsize;
use std::fmt::Display;
use std::io::Write;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Columns of text that is not on a terminal.
const USUAL: usize = 80;
/// Columns of the narrowest and of the widest text.
const BOUNDS: (usize, usize) = (60, 160);

static COLUMNS: AtomicUsize = AtomicUsize::new(USUAL);

/// From now on text is as wide as `COLUMNS` says or the terminal is, if standard output is one.
pub fn fit_terminal() {
    let asked = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    let terminal = || tcgetwinsize(std::io::stdout()).ok().map(|size| size.ws_col.into());
    COLUMNS.store(fitting(asked.or_else(terminal)), Ordering::Relaxed);
}

/// How wide text is to be where this is known; a terminal of no width does not say it.
fn fitting(known: Option<usize>) -> usize {
    let (least, most) = BOUNDS;
    known.filter(|columns| *columns > 0).map_or(USUAL, |columns| columns.clamp(least, most))
}

/// How wide text is to be.
pub fn columns() -> usize {
    COLUMNS.load(Ordering::Relaxed)
}

/// Prints a line. A closed pipe is no error: the exit status still tells how it went.
pub fn line(text: impl Display) {
    let _ = writeln!(std::io::stdout().lock(), "{text}");
}

/// Prints on standard error, likewise.
pub fn error(text: impl Display) {
    let _ = write!(std::io::stderr().lock(), "{text}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_as_wide_as_the_terminal_within_bounds() {
        let widths = [None, Some(0), Some(20), Some(100), Some(300)].map(fitting);
        assert_eq!(widths, [80, 80, 60, 100, 160]);
    }
}
