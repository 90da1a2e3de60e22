//! What the figures mean, and what they do not.

use crate::report::{WAKE_UP, distinct};
use crate::{Origin, Report};
use maud::{Markup, html};

pub(super) fn notes(report: &Report) -> Markup {
    let latencies = report.rows.iter().any(|row| row.metric == WAKE_UP);
    html! {
        ul.notes {
            @match report.kind() {
                "emulated" => li {
                    "Emulated: a count is the length of the path. It sees no caches, no missing "
                    "translations and not what privileged, locked or serialising operations "
                    "cost, so compare counts with counts, and read the facts beside them."
                },
                "simulated" => li {
                    "Simulated: the kernel's own source runs on the host, and a model charges "
                    "each step that it takes. The order of steps is exact; what they cost is "
                    "the model's."
                },
                _ => li {
                    "Hardware: ticks of this host's counter, with its caches and its other load. "
                    "Figures differ from run to run; look at the quartiles, and compare only what "
                    "one run has measured."
                },
            }
            @if report.origin == Origin::HARDWARE {
                li { "Figures are medians. Warm-up rounds are not recorded." }
            } @else {
                li {
                    "Figures are medians, computed on the host from the counter values that the "
                    "programs recorded"
                    @if !latencies { "; what reading the counter costs is subtracted" }
                    ". Warm-up rounds are not recorded."
                }
            }
            li {
                "Quartiles are medians of the lower and the upper half. The standard deviation "
                "is shown where it is not 0; on a deterministic machine it mostly is."
            }
            @for note in &report.notes { li { (note) } }
            @for (system, note, metrics) in sources(report) {
                li {
                    strong { (system) }
                    @if !metrics.is_empty() { ", " (metrics.join(", ")) }
                    ": " (note) "."
                }
            }
        }
    }
}

/// Where each system's figures come from: its usual source first, then each exception with the
/// metrics that it concerns.
fn sources(report: &Report) -> Vec<(&str, &str, Vec<&str>)> {
    let mut sources = Vec::new();
    for system in distinct(report.baselines.iter().map(|baseline| baseline.system.as_str())) {
        let of_system = || report.baselines.iter().filter(move |b| b.system == system);
        let with = |note: &str| of_system().filter(|baseline| baseline.note == note).count();
        let mut notes = distinct(of_system().map(|baseline| baseline.note.as_str()));
        notes.sort_by_key(|note| usize::MAX - with(note));
        for (index, note) in notes.into_iter().enumerate() {
            let metrics = of_system().filter(|b| index > 0 && b.note == note);
            sources.push((system, note, distinct(metrics.map(|b| b.metric.as_str()))));
        }
    }
    sources
}
