//! The axis of time.

use super::Window;
use crate::Trace;

/// Columns from one mark of the ruler to the next.
const MARKS: usize = 20;

/// A time as people read it: `1.234 ms`.
pub(super) fn time(ns: u64) -> String {
    match ns {
        0..10_000 => format!("{ns} ns"),
        10_000..10_000_000 => format!("{} us", thousandths(ns)),
        10_000_000..10_000_000_000 => format!("{} ms", thousandths(ns / 1000)),
        _ => format!("{} s", thousandths(ns / 1_000_000)),
    }
}

/// A thousandth part with three decimals.
fn thousandths(value: u64) -> String {
    format!("{}.{:03}", value / 1000, value % 1000)
}

/// What is drawn and how long a column is.
pub(super) fn head(trace: &Trace, window: Window) -> String {
    let length = window.to - window.from;
    let column = length as f64 / window.columns as f64;
    let column = if column < 10_000.0 { format!("{column:.1} ns") } else { time(column as u64) };
    let cpus = match trace.held().len() {
        1 => format!("CPU {}", trace.cpu),
        cpus => format!("{cpus} CPUs"),
    };
    format!(
        "{} on {cpus}, {} to {} since boot; a column is {column}\n",
        trace.kernel,
        time(window.from),
        time(window.to),
    )
}

/// Marks with their distances from the window's beginning.
pub(super) fn ruler(window: Window) -> String {
    let mut ruler = String::new();
    for column in (0..window.columns).step_by(MARKS) {
        let mark = format!("|+{}", time(window.start(column) - window.from));
        let room = MARKS.min(window.columns - column);
        if mark.len() <= room {
            ruler += &format!("{mark:<room$}");
        }
    }
    ruler
}
