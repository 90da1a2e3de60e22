//! Curves that belong together: what was measured, what a simulation and what a model say.

use crate::chart::{Axis, Body, Chart, Colour, Look, Mark, Panel, Series, Stroke};
use serde::{Deserialize, Serialize};
use std::io;

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
    /// Places with a name.
    #[serde(skip)]
    pub marks: Vec<Mark>,
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
    /// Across, and both ends of the confidence interval there; may be empty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub band: Vec<(f64, f64, f64)>,
}

/// Where points come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Source {
    /// What no throughput passes: the asymptotes of a queueing model.
    Bound,
    /// The queueing model with exponential service.
    Exponential,
    /// The queueing model with deterministic service.
    Deterministic,
    /// A simulated machine, or a simulation with exponential service.
    Simulated,
    /// A simulation with deterministic service.
    SimulatedDeterministic,
    /// A simulation of hand-offs between caches.
    HandOffs,
    /// A processor.
    Measured,
    /// What programs have set, which holds until the next point.
    Set,
}

impl Source {
    /// All of them with how they are drawn and what they are called; the first are lowest.
    const ALL: [(Source, Stroke, &'static str); 8] = [
        (Source::Bound, Stroke::Thin, "asymptotes, knee N*"),
        (Source::Exponential, Stroke::Full, "predicted, exponential"),
        (Source::Deterministic, Stroke::Dashed, "predicted, deterministic"),
        (Source::Simulated, Stroke::Rings, "simulated"),
        (Source::SimulatedDeterministic, Stroke::Crosses, "simulated, deterministic"),
        (Source::HandOffs, Stroke::Triangles, "simulated hand-offs"),
        (Source::Measured, Stroke::Dots, "measured"),
        (Source::Set, Stroke::Full, "as it was set"),
    ];
}

impl Curves {
    /// The chart as SVG; `origin` says where the figures come from.
    pub fn svg(&self, origin: &str) -> io::Result<String> {
        self.chart(origin).svg()
    }

    pub(crate) fn chart(&self, origin: &str) -> Chart {
        let (mut series, mut legend) = (Vec::new(), Vec::new());
        let mut unnamed: Vec<&str> = self.cases.iter().map(|case| case.name.as_str()).collect();
        for (source, stroke, what) in Source::ALL {
            let of = |case: &'_ Case| {
                case.trails.iter().filter(|t| t.source == source).cloned().collect::<Vec<_>>()
            };
            let before = series.len();
            for (index, case) in self.cases.iter().enumerate() {
                for Points { points, band, .. } in of(case) {
                    // The first that is no asymptote has the case's name at its end.
                    let is_bound = source == Source::Bound;
                    let name = if is_bound { "" } else { std::mem::take(&mut unnamed[index]) };
                    let colour = if is_bound { Colour::Faint } else { Colour::Case(index) };
                    let (name, look) = (name.to_string(), Look { colour, stroke });
                    series.push(Series { name, look, points, band });
                }
            }
            if series.len() > before {
                legend.push((Look { colour: Colour::Ink, stroke }, what.to_string()));
            }
        }
        let axis = |label: &str| Axis { label: label.to_string(), ..Axis::default() };
        let panel = Panel { series, marks: self.marks.clone(), ..Panel::default() };
        let (across, upwards) = (axis(&self.across), axis(&self.upwards));
        Chart {
            name: self.name.clone(),
            title: self.title.clone(),
            legend,
            body: Body::Panels { across, upwards, panels: vec![panel] },
            origin: origin.to_string(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn points(source: Source) -> Points {
        Points { source, points: vec![(1.0, 2.0), (2.0, 3.0)], band: Vec::new() }
    }

    #[test]
    fn a_source_that_says_nothing_is_not_named() {
        let case = |name: &str, trails| Case { name: name.into(), trails };
        let both = vec![points(Source::Measured), points(Source::Exponential)];
        let curves = Curves {
            cases: vec![
                case("think 500", both),
                case("think 4,000", vec![points(Source::Measured)]),
            ],
            ..Curves::default()
        };
        let svg = curves.svg("a test").unwrap();
        for name in ["measured", "predicted, exponential", "think 500", "think 4,000", "a test"] {
            assert_eq!(svg.matches(&format!("\n{name}\n")).count(), 1, "{name}");
        }
        assert!(!svg.contains("simulated"));
        assert_eq!(svg.matches("<circle").count(), 2 * 2 + 1);
    }

    #[test]
    fn old_curves_are_read() {
        let old = r#"{"source": "simulated", "points": [[1.0, 2.0], [2.0, 3.0]]}"#;
        assert_eq!(serde_json::from_str::<Points>(old).unwrap(), points(Source::Simulated));
    }
}
