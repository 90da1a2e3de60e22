//! What a whole run took: time, and of the processors.

use std::time::Duration;

/// Of these, Linux counts this many in a second.
const TICKS: f64 = 100.0;
/// Where a process's own ticks stand behind its name, as user and as system; then those of
/// processes that it has waited for.
const COLUMNS: std::ops::Range<usize> = 11..15;

/// What a run took that began so long ago.
pub fn sentence(elapsed: Duration) -> String {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let processors = processors(&stat).map(|seconds| format!(", {seconds:.0} s of CPUs"));
    format!("took {:.0} s{}", elapsed.as_secs_f64(), processors.unwrap_or_default())
}

/// Seconds of processors that this process took, and all that have ended which it started.
fn processors(stat: &str) -> Option<f64> {
    // The name stands in parentheses, and may have blanks.
    let (_, behind) = stat.rsplit_once(')')?;
    let columns: Vec<&str> = behind.split_whitespace().collect();
    let ticks = columns.get(COLUMNS)?.iter().map(|ticks| ticks.parse::<f64>().ok());
    Some(ticks.sum::<Option<f64>>()? / TICKS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn own_seconds_and_those_of_others_are_added() {
        let stat = "7 (a (b) c) S 1 2 3 4 -1 5 6 0 7 0 100 20 3000 400 20 0 1";
        assert_eq!(processors(stat), Some(35.2));
        assert_eq!(processors("7 (a) S 1 2"), None);
        assert_eq!(processors(""), None);
        assert!(sentence(Duration::from_secs(3)).starts_with("took 3 s, "), "on Linux");
    }
}
