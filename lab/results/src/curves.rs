//! Curves that belong together: what was measured, what a simulation and what a model say.

use crate::plot::chart::{Chart, Stroke, Trail};
use serde::{Deserialize, Serialize};

/// Curves on one plot.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Curves {
    /// A name for files.
    pub name: String,
    /// What they show.
    pub title: String,
    /// What the axis across shows.
    pub across: String,
    /// What the axis upwards shows.
    pub upwards: String,
    /// The cases, a colour each.
    pub cases: Vec<Case>,
}

/// A case of [`Curves`].
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Case {
    /// What is the case.
    pub name: String,
    /// What there is to say about it.
    pub trails: Vec<Points>,
}

/// Points of one source.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Points {
    /// Where they come from.
    pub source: Source,
    /// Across and up, in ascending order.
    pub points: Vec<(f64, f64)>,
}

/// Where points come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Source {
    /// A processor.
    Measured,
    /// A simulated machine.
    Simulated,
    /// The queueing model with exponential service.
    Exponential,
    /// The queueing model with deterministic service.
    Deterministic,
}

impl Source {
    /// All of them: the first are drawn lowest.
    const ALL: [Source; 4] =
        [Source::Exponential, Source::Deterministic, Source::Simulated, Source::Measured];

    fn stroke(self) -> Stroke {
        match self {
            Source::Measured => Stroke::Dots,
            Source::Simulated => Stroke::Rings,
            Source::Exponential => Stroke::Full,
            Source::Deterministic => Stroke::Dashed,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Source::Measured => "measured",
            Source::Simulated => "simulated",
            Source::Exponential => "predicted, exponential",
            Source::Deterministic => "deterministic",
        }
    }
}

impl Curves {
    /// The plot.
    pub fn chart(&self, origin: &str) -> Chart {
        let of = |source: Source| {
            let cases = self.cases.iter().enumerate();
            cases.flat_map(move |(case, own)| {
                let trails = own.trails.iter().filter(move |trail| trail.source == source);
                trails.map(move |trail| Trail {
                    case,
                    stroke: source.stroke(),
                    points: trail.points.clone(),
                })
            })
        };
        let used = Source::ALL.into_iter().filter(|source| of(*source).next().is_some());
        Chart {
            cases: self.cases.iter().map(|case| case.name.clone()).collect(),
            strokes: used.map(|source| (source.stroke(), source.name().to_string())).collect(),
            trails: Source::ALL.into_iter().flat_map(of).collect(),
            marks: Vec::new(),
            across: self.across.clone(),
            upwards: self.upwards.clone(),
            origin: origin.to_string(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_source_that_says_nothing_is_not_named() {
        let points = |source| Points { source, points: vec![(1.0, 2.0), (2.0, 3.0)] };
        let case = |name: &str, trails| Case { name: name.into(), trails };
        let curves = Curves {
            cases: vec![
                case("think 500", vec![points(Source::Measured), points(Source::Exponential)]),
                case("think 4,000", vec![points(Source::Measured)]),
            ],
            ..Curves::default()
        };
        let svg = curves.chart("a test").svg().unwrap();
        for name in ["measured", "predicted, exponential", "think 500", "think 4,000", "a test"] {
            assert!(svg.contains(name), "{name} is missing");
        }
        assert!(!svg.contains("simulated"));
        assert_eq!(svg.matches("<circle").count(), 2 * 2 + 1);
    }
}
