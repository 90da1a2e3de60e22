//! The longest waits: how long each thread waited for what, and for whom.

use super::Waits;
use crate::{Lives, Names, Trace};
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt;

/// How often a thread waited for something, and how long at most.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LongestWait {
    /// The thread's name.
    pub thread: String,
    /// What it waited for, with the chain behind it as the longest wait began:
    /// `mutex 0x80 held by robot/logger`.
    pub what: String,
    /// How often.
    pub times: u64,
    /// When the longest began, in ns since boot.
    #[serde(rename = "from_ns")]
    pub from: u64,
    /// How long it was, in ns; of one that has not ended, up to the trace's end.
    #[serde(rename = "longest_ns")]
    pub longest: u64,
}

impl fmt::Display for LongestWait {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let LongestWait { thread, what, times, from, longest } = self;
        let often = if *times == 1 { "once".to_string() } else { format!("{times} times") };
        write!(f, "{thread} waited {longest} ns for {what} ({often}, this from {from} ns on)")
    }
}

/// The longest wait of each thread for each mutex, condition, answer, turn and stack, the
/// longest first.
pub fn longest_waits(trace: &Trace, names: &Names) -> Vec<LongestWait> {
    let lives = Lives::of(trace, names);
    let waits = Waits::of(trace, &lives);
    let end = trace.span().map_or(0, |(_, end)| end);
    let mut found: BTreeMap<_, LongestWait> = BTreeMap::new();
    for (thread, of) in &waits.by_thread {
        let mut begun = 0;
        for wait in of.iter().map(|wait| &waits.all[*wait]) {
            if !wait.goes_on {
                begun = wait.first;
            }
            let from = trace.moments[begun].ns;
            let longest = wait.last.map_or(end, |last| trace.moments[last].ns) - from;
            let key = (lives.at(*thread, begun), wait.what);
            let entry = found.entry(key).or_insert_with(|| LongestWait {
                thread: names.thread(&lives, *thread, begun),
                what: String::new(),
                times: 0,
                from,
                longest: 0,
            });
            entry.times += u64::from(!wait.goes_on);
            if longest > entry.longest || entry.what.is_empty() {
                let what = waits.words(&lives, names, *thread, begun);
                (entry.from, entry.longest) = (from, longest);
                entry.what =
                    what.unwrap_or_else(|| names.what(&lives, (*thread, begun), wait.what));
            }
        }
    }
    let mut found: Vec<LongestWait> = found.into_values().collect();
    found.sort_by_key(|wait| std::cmp::Reverse(wait.longest));
    found
}
