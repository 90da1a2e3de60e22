//! The claim about wake-ups across CPUs (S2C-11).

use super::{judged, median};
use results::{Claim, Report, WAKE_UP};

/// The kernel whose rows decide.
const KERNEL: &str = "strict-eager";

/// S2C-C09.
pub fn all(report: &Report) -> Vec<Claim> {
    let statement = "An interrupt on one CPU that wakes a thread of another one shows a term, \
                     beyond the interrupt between CPUs itself, that a local timer never shows";
    vec![judged("S2C-C09", statement, remote_is_later(report))]
}

fn remote_is_later(report: &Report) -> Option<(bool, String)> {
    let [local, remote] =
        ["same CPU", "another CPU"].map(|case| median(report, KERNEL, WAKE_UP, case));
    let (local, remote) = (local?, remote?);
    Some((remote > local, format!("{local} on the same CPU, {remote} on another CPU")))
}
