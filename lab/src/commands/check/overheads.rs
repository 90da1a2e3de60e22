//! What the kernel costs: from the manifest, or as a trace has measured it.

use crate::failure::usage;
use analysis::{Overheads, time};
use anyhow::Result;
use fs_err as fs;
use manifest::{System, TREE};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::path::Path;

/// What `trace --overheads` calls a tick.
const TICK: &str = "tick";

/// The part of `trace --json` that says what was measured.
#[derive(Deserialize)]
struct Trace {
    /// The kernel that ran. Files of before do not say it.
    kernel: Option<String>,
    /// Counter steps in a second.
    hz: u64,
    overheads: Vec<Measured>,
}

#[derive(Deserialize)]
struct Measured {
    cpu: u32,
    overhead: String,
    statistics: Option<Longest>,
}

#[derive(Deserialize)]
struct Longest {
    n: u64,
    max: u64,
}

/// What the kernel costs, and who says so.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Costs {
    /// The costs.
    pub overheads: Overheads,
    /// What they are of; none: the manifest.
    pub measured: Option<Origin>,
}

/// Where measured costs come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    /// The kernel that ran.
    kernel: String,
    /// The longest of each kind.
    kinds: Vec<Kind>,
}

/// The longest of a kind that was seen.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Kind {
    /// As `trace --overheads` calls it.
    kind: String,
    #[serde(rename = "longest_ns")]
    longest: u64,
    /// The CPU that took so long.
    cpu: u32,
    /// How often it was seen, on all CPUs.
    samples: u64,
}

impl From<Overheads> for Costs {
    fn from(overheads: Overheads) -> Costs {
        Costs { overheads, measured: None }
    }
}

/// The costs that a manifest gives.
pub fn given(system: &System) -> Overheads {
    let manifest::Overheads { release, context_switch, timer_interrupt } = system.overheads;
    Overheads { release, context_switch, timer_interrupt }
}

/// The costs in a file that `trace SYSTEM --overheads --json` has written: the longest of each, of
/// all CPUs.
pub fn measured(path: &Path) -> Result<Costs> {
    let shown = path.display();
    let text = fs::read_to_string(path).map_err(|error| usage(error.to_string()))?;
    let how = "write it by `./giusto trace SYSTEM --overheads --json`";
    let trace: Trace = serde_json::from_str(&text)
        .map_err(|error| usage(format!("{shown} has no overheads ({error}); {how}")))?;
    let Some(kernel) = &trace.kernel else {
        let message = format!("{shown} does not say which kernel it was measured under; {how}");
        return Err(usage(message));
    };
    of(&trace, kernel).map_err(|missing| {
        let mend = "measure a run in which it occurs: without its cost no bound holds";
        usage(format!("{shown} has no samples of `{missing}`; {mend}"))
    })
}

/// The longest costs in a trace; an error names one that was not seen. A timer's interrupt takes at
/// most what a tick takes, or what releases a thread and switches to it.
fn of(trace: &Trace, kernel: &str) -> Result<Costs, &'static str> {
    let longest = |kind: &'static str| {
        let own = trace.overheads.iter().filter(|measured| measured.overhead == kind);
        let seen = own.filter_map(|own| own.statistics.as_ref().map(|all| (all, own.cpu)));
        let samples = seen.clone().map(|(all, _)| all.n).sum();
        let (all, cpu) = seen.max_by_key(|(all, _)| all.max).ok_or(kind)?;
        let exact = u128::from(all.max) * 1_000_000_000;
        let longest = exact.div_ceil(u128::from(trace.hz.max(1)));
        let longest = u64::try_from(longest).unwrap_or(u64::MAX);
        Ok::<_, &str>(Kind { kind: kind.to_string(), longest, cpu, samples })
    };
    let [release, switch, decision] =
        [longest("release")?, longest("context switch")?, longest("scheduling")?];
    let tick = longest(TICK).ok();
    let context_switch = switch.longest.saturating_add(decision.longest);
    let whole = release.longest.saturating_add(context_switch);
    let timer_interrupt = tick.as_ref().map_or(whole, |tick| tick.longest.max(whole));
    let overheads = Overheads { release: release.longest, context_switch, timer_interrupt };
    let kinds = [release, switch, decision].into_iter().chain(tick).collect();
    Ok(Costs { overheads, measured: Some(Origin { kernel: kernel.to_string(), kinds }) })
}

impl Costs {
    /// Whether anything is counted.
    pub fn are_counted(&self) -> bool {
        self.overheads != Overheads::default()
    }

    /// Whether they are of the kernel that a system runs under: others cost something else.
    pub fn check(&self, system: &System) -> Result<()> {
        let runs = if system.needs_tree() { TREE } else { system.kernel.as_str() };
        match &self.measured {
            Some(origin) if origin.kernel != runs => Err(usage(format!(
                "the overheads were measured under kernel `{}`, and `{}` runs under `{runs}`: \
                 measure them by `./giusto trace SYSTEM --kernel {runs} --overheads --json`",
                origin.kernel, system.name
            ))),
            _ => Ok(()),
        }
    }

    /// Whether ticks were seen. A run has none in which no thread is queued behind another.
    fn has_ticks(&self) -> bool {
        let kinds = self.measured.iter().flat_map(|origin| &origin.kinds);
        kinds.into_iter().any(|kind| kind.kind == TICK)
    }

    /// What is counted, and where that comes from.
    pub fn text(&self) -> String {
        let Overheads { release, context_switch, timer_interrupt } = self.overheads;
        if self.overheads == Overheads::default() {
            return "The kernel's own time is not counted: give it in `[analysis]`, or by \
                    `--overheads FILE`."
                .to_string();
        }
        let [release, switch, interrupt] = [release, context_switch, timer_interrupt].map(time);
        let counted = format!(
            "Counted of the kernel: release {release}, context switch {switch}, timer interrupt \
             {interrupt}"
        );
        let Some(Origin { kernel, kinds }) = &self.measured else {
            return format!("{counted}, by `[analysis]` of the manifest.");
        };
        let kind = |Kind { kind, longest, cpu, samples }: &Kind| {
            format!("{kind} {}, the longest of {samples}, on CPU {cpu}", time(*longest))
        };
        let kinds: Vec<String> = kinds.iter().map(kind).collect();
        let ticks = if self.has_ticks() { "" } else { " No tick was seen." };
        format!(
            "{counted}. Measured under kernel `{kernel}`: {}. A context switch is that with a \
             decision; a timer interrupt the longest tick, or a release with a switch.{ticks}",
            kinds.join("; ")
        )
    }

    /// The same for programs.
    pub fn document(&self) -> Value {
        let Overheads { release, context_switch, timer_interrupt } = self.overheads;
        json!({
            "release_ns": release,
            "context_switch_ns": context_switch,
            "timer_interrupt_ns": timer_interrupt,
            "kernel": self.measured.as_ref().map(|origin| &origin.kernel),
            "measured": self.measured.as_ref().map(|origin| &origin.kinds),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trace(rows: &str) -> Trace {
        let head = "\"kernel\": \"tree\", \"hz\": 3000000000";
        serde_json::from_str(&format!("{{{head}, \"overheads\": [{rows}]}}")).unwrap()
    }

    fn row(kind: &str, max: u64) -> String {
        let statistics = format!("{{\"n\": 2, \"max\": {max}}}");
        format!("{{\"cpu\": 0, \"overhead\": \"{kind}\", \"statistics\": {statistics}}}")
    }

    #[test]
    fn the_longest_of_all_cpus_counts() {
        let rows = [row("release", 3000), row("release", 3001), row("context switch", 900)];
        let decides = [row("scheduling", 300)];
        let all = |trace: &Trace| of(trace, "tree").map(|costs| costs.overheads);
        let found = all(&trace(&[&rows[..], &decides].concat().join(",")));
        let expected = Overheads { release: 1001, context_switch: 400, timer_interrupt: 1401 };
        assert_eq!(found, Ok(expected));
        let ticks = [row("tick", 6000)];
        let found = all(&trace(&[&rows[..], &decides, &ticks].concat().join(",")));
        assert_eq!(found, Ok(Overheads { timer_interrupt: 2000, ..expected }));
    }

    #[test]
    fn what_was_not_seen_is_named() {
        let none = "{\"cpu\": 0, \"overhead\": \"context switch\", \"statistics\": null}";
        let of = |rows: &[String]| of(&trace(&rows.join(",")), "tree");
        assert_eq!(of(&[row("release", 1), none.to_string()]), Err("context switch"));
        let rows = [row("release", 1), row("context switch", 2), row("tick", 3)];
        assert_eq!(of(&rows), Err("scheduling"));
        assert!(measured(Path::new("no-such-file")).unwrap_err().is::<crate::failure::Usage>());
    }

    #[test]
    fn each_figure_says_where_it_comes_from() {
        let rows = [row("release", 3000), row("context switch", 900), row("scheduling", 300)];
        let costs = of(&trace(&rows.join(",")), "tree").expect("all kinds are there");
        let text = costs.text();
        assert!(text.contains("Measured under kernel `tree`: release 1us, the longest of 2, on"));
        assert!(text.contains("context switch 300ns, the") && text.contains("scheduling 100ns"));
        assert_eq!(costs.document()["measured"][1]["longest_ns"], 300);
        let given = Costs::from(costs.overheads).text();
        assert!(given.ends_with("by `[analysis]` of the manifest."), "{given}");
    }

    #[test]
    fn ticks_that_were_not_seen_are_told() {
        let rows = [row("release", 1), row("context switch", 2), row("scheduling", 3)];
        let said =
            |rows: &[String]| of(&trace(&rows.join(",")), "tree").expect("what is needed").text();
        assert!(said(&rows).ends_with(" No tick was seen."));
        let ticks = [&rows[..], &[row("tick", 4)]].concat();
        assert!(!said(&ticks).contains("was seen."));
    }

    /// Costs of one kernel say nothing of another one.
    #[test]
    fn costs_of_another_kernel_are_refused() {
        let rows = [row("release", 1), row("context switch", 2), row("scheduling", 3)];
        let trace = trace(&rows.join(","));
        let domain = "[[domain]]\nname = \"a\"\nprogram = \"busy\"\npriority = 1\n";
        for kernel in manifest::ALL_KERNELS {
            let head = format!("[system]\nname = \"a\"\nkernel = \"{kernel}\"\n");
            let system = manifest::parse("a.toml", &(head + domain)).expect("it is right");
            for measured in manifest::ALL_KERNELS {
                let checked = of(&trace, measured).expect("all is there").check(&system);
                assert_eq!(checked.is_ok(), kernel == measured, "{kernel}, {measured}");
            }
            assert!(Costs::from(given(&system)).check(&system).is_ok());
        }
        let folder = tempfile::tempdir().expect("a folder");
        let old = folder.path().join("old.json");
        let text = format!("{{\"hz\": 1, \"overheads\": [{}]}}", rows.join(","));
        fs::write(&old, text).expect("it is written");
        let told = measured(&old).expect_err("no kernel").to_string();
        assert!(told.contains("does not say which kernel"), "{told}");
    }
}
