//! What the kernel costs: from the manifest, or as a trace has measured it.

use crate::failure::usage;
use analysis::Overheads;
use anyhow::Result;
use fs_err as fs;
use manifest::System;
use serde::Deserialize;
use std::path::Path;

/// The part of `trace --json` that says what was measured.
#[derive(Deserialize)]
struct Trace {
    /// Counter steps in a second.
    hz: u64,
    overheads: Vec<Measured>,
}

#[derive(Deserialize)]
struct Measured {
    overhead: String,
    statistics: Option<Longest>,
}

#[derive(Deserialize)]
struct Longest {
    max: u64,
}

/// The costs that a manifest gives.
pub fn given(system: &System) -> Overheads {
    let manifest::Overheads { release, context_switch, timer_interrupt } = system.overheads;
    Overheads { release, context_switch, timer_interrupt }
}

/// The costs in a file that `trace SYSTEM --overheads --json` has written: the longest of each, of
/// all CPUs.
pub fn measured(path: &Path) -> Result<Overheads> {
    let shown = path.display();
    let text = fs::read_to_string(path).map_err(|error| usage(error.to_string()))?;
    let trace: Trace = serde_json::from_str(&text).map_err(|error| {
        let how = "write it by `./giusto trace SYSTEM --overheads --json`";
        usage(format!("{shown} has no overheads ({error}); {how}"))
    })?;
    of(&trace).map_err(|missing| {
        let mend = "measure a run in which it occurs: without its cost no bound holds";
        usage(format!("{shown} has no samples of `{missing}`; {mend}"))
    })
}

/// The longest costs in a trace; an error names one that was not seen. A timer's interrupt takes at
/// most what a tick takes, or what releases a thread and switches to it.
fn of(trace: &Trace) -> Result<Overheads, &'static str> {
    let longest = |kind: &'static str| {
        let own = trace.overheads.iter().filter(|measured| measured.overhead == kind);
        let longest = own.filter_map(|measured| Some(measured.statistics.as_ref()?.max)).max();
        let exact = |steps: u64| u128::from(steps) * 1_000_000_000;
        let time = |steps| exact(steps).div_ceil(u128::from(trace.hz.max(1)));
        longest.map(|steps| u64::try_from(time(steps)).unwrap_or(u64::MAX)).ok_or(kind)
    };
    let release = longest("release")?;
    let context_switch = longest("context switch")?.saturating_add(longest("scheduling")?);
    let whole = release.saturating_add(context_switch);
    let timer_interrupt = longest("tick").map_or(whole, |tick| tick.max(whole));
    Ok(Overheads { release, context_switch, timer_interrupt })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trace(rows: &str) -> Trace {
        serde_json::from_str(&format!("{{\"hz\": 3000000000, \"overheads\": [{rows}]}}")).unwrap()
    }

    fn row(kind: &str, max: u64) -> String {
        format!("{{\"cpu\": 0, \"overhead\": \"{kind}\", \"statistics\": {{\"max\": {max}}}}}")
    }

    #[test]
    fn the_longest_of_all_cpus_counts() {
        let rows = [row("release", 3000), row("release", 3001), row("context switch", 900)];
        let decides = [row("scheduling", 300)];
        let found = of(&trace(&[&rows[..], &decides].concat().join(",")));
        let expected = Overheads { release: 1001, context_switch: 400, timer_interrupt: 1401 };
        assert_eq!(found, Ok(expected));
        let ticks = [row("tick", 6000)];
        let found = of(&trace(&[&rows[..], &decides, &ticks].concat().join(",")));
        assert_eq!(found, Ok(Overheads { timer_interrupt: 2000, ..expected }));
    }

    #[test]
    fn what_was_not_seen_is_named() {
        let none = "{\"overhead\": \"context switch\", \"statistics\": null}";
        assert_eq!(of(&trace(&[&row("release", 1), none].join(","))), Err("context switch"));
        let rows = [row("release", 1), row("context switch", 2), row("tick", 3)];
        assert_eq!(of(&trace(&rows.join(","))), Err("scheduling"));
        assert!(measured(Path::new("no-such-file")).unwrap_err().is::<crate::failure::Usage>());
    }
}
