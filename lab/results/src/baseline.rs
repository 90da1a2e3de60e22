//! What other systems measure: data, kept apart from our own rows.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

const DATA: &str = include_str!("../data/baselines.toml");

/// A published or separately measured figure of another system.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Baseline {
    /// The system that was measured.
    pub system: String,
    /// The metric that it stands beside.
    pub metric: String,
    /// The case that it stands beside; empty for every case of the metric.
    pub case: String,
    /// The figure.
    pub value: u64,
    /// Its unit.
    pub unit: String,
    /// How it was measured.
    pub note: String,
}

impl Baseline {
    /// Whether the figure stands beside this case of this metric.
    pub(crate) fn is_beside(&self, metric: &str, case: &str) -> bool {
        self.metric == metric && (self.case.is_empty() || self.case == case)
    }
}

#[derive(Deserialize)]
struct Data {
    unit: String,
    systems: toml::Table,
    #[serde(flatten)]
    experiments: BTreeMap<String, Vec<Entry>>,
}

#[derive(Deserialize)]
struct Entry {
    metric: String,
    #[serde(default)]
    case: String,
    #[serde(default)]
    note: String,
    #[serde(flatten)]
    values: BTreeMap<String, u64>,
}

/// The figures that stand beside an experiment's rows, the most comparable system first.
pub fn baselines(experiment: &str) -> Vec<Baseline> {
    let data: Data = toml::from_str(DATA).expect("the tests read the same file");
    let mut baselines = Vec::new();
    for (system, source) in &data.systems {
        let source = source.as_str().unwrap_or_default();
        for entry in data.experiments.get(experiment).into_iter().flatten() {
            let Some(&value) = entry.values.get(system) else { continue };
            let note = if entry.note.is_empty() { source } else { &entry.note };
            baselines.push(Baseline {
                system: system.clone(),
                metric: entry.metric.clone(),
                case: entry.case.clone(),
                value,
                unit: data.unit.clone(),
                note: note.into(),
            });
        }
    }
    baselines
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(experiment: &str, system: &str, metric: &str, case: &str) -> Option<u64> {
        let baselines = baselines(experiment);
        let found = baselines.iter().find(|b| b.system == system && b.is_beside(metric, case));
        found.map(|baseline| baseline.value)
    }

    #[test]
    fn the_like_for_like_figures_are_there() {
        assert_eq!(value("ping-pong", "seL4", "call", "across words=0"), Some(184));
        assert_eq!(value("ping-pong", "seL4", "reply-wait", "same words=0"), Some(209));
        assert_eq!(value("ping-pong", "seL4 slow path", "call", "across words=0"), Some(720));
        assert_eq!(value("micro", "seL4", "fault-round-trip", ""), Some(1303));
        assert_eq!(value("micro", "seL4", "protect", "any case"), Some(734));
        assert_eq!(value("micro", "seL4", "cap-copy", ""), None);
        assert_eq!(baselines("no such experiment"), []);
    }

    #[test]
    fn every_figure_has_a_known_system_and_a_source() {
        let data: Data = toml::from_str(DATA).unwrap();
        for entry in data.experiments.values().flatten() {
            assert!(!entry.values.is_empty(), "{} has no figure", entry.metric);
            for system in entry.values.keys() {
                let source = data.systems.get(system).and_then(toml::Value::as_str);
                assert!(source.is_some_and(|source| !source.is_empty()), "{system}: no source");
            }
        }
    }

    #[test]
    fn an_exception_has_its_own_note() {
        let baselines = baselines("micro");
        let note = |metric| baselines.iter().find(|b| b.metric == metric).unwrap().note.as_str();
        assert!(note("null-call").contains("with its Meltdown window on"));
        assert!(note("yield").contains("no Meltdown window"));
    }
}
