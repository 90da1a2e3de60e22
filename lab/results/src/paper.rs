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
    /// The case that it stands beside.
    pub case: String,
    /// The kernel that everything is relative to.
    pub relative_to: String,
    /// What the paper's numbers count.
    pub unit: String,
    /// The paper's numbers, by kernel.
    pub values: BTreeMap<String, u64>,
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
        let figures = figures("ping-pong");
        assert_eq!(figures.len(), 1);
        assert_eq!(figures[0].values.len(), 9);
        assert!(figures[0].values.contains_key(&figures[0].relative_to));
    }
}
