//! Figures from the papers: data, to be drawn beside our own.

use serde::Deserialize;
use std::collections::BTreeMap;

const DATA: &str = include_str!("../data/paper.toml");

/// A figure of a paper with a number for each kernel.
#[derive(Clone, Debug, Deserialize)]
pub struct PaperFigure {
    /// Its ledger ID.
    pub id: String,
    /// The experiment that it stands beside.
    pub experiment: String,
    /// What it shows.
    pub title: String,
    /// The metric that it stands beside.
    pub metric: String,
    /// The case that its numbers are about.
    #[serde(default)]
    pub case: String,
    /// The kernel that everything is relative to.
    #[serde(default)]
    pub relative_to: String,
    /// What the paper's numbers count.
    #[serde(default)]
    pub unit: String,
    /// The paper's numbers, by kernel; none of a curve.
    #[serde(default)]
    pub values: BTreeMap<String, u64>,
}

impl PaperFigure {
    /// Whether it is a curve, of which the paper gives no numbers.
    pub fn is_curve(&self) -> bool {
        self.values.is_empty()
    }
}

#[derive(Deserialize)]
struct Data {
    figure: Vec<PaperFigure>,
}

/// The figures that stand beside an experiment.
pub fn figures(experiment: &str) -> Vec<PaperFigure> {
    let data: Data = toml::from_str(DATA).expect("the data in this crate is well-formed");
    data.figure.into_iter().filter(|figure| figure.experiment == experiment).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_data_is_complete() {
        let figures = ["ping-pong", "hot-potato", "ipc-queueing"].map(figures).concat();
        let ids: Vec<&str> = figures.iter().map(|figure| figure.id.as_str()).collect();
        assert_eq!(ids, ["S0-E04", "S0-E05", "S0-E06"]);
        for figure in figures.iter().filter(|figure| !figure.is_curve()) {
            assert_eq!(figure.values.len(), 9);
            assert!(figure.values.contains_key(&figure.relative_to));
            assert!(!figure.case.is_empty() && !figure.unit.is_empty());
        }
    }
}
