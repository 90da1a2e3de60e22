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

impl Curves {
    /// Curves of these cases, with what the axes across and upwards show.
    pub fn of(
        name: impl Into<String>,
        title: impl Into<String>,
        [across, upwards]: [&str; 2],
        cases: Vec<Case>,
    ) -> Curves {
        let (name, title) = (name.into(), title.into());
        let (across, upwards) = (across.to_string(), upwards.to_string());
        Curves { name, title, across, upwards, cases, marks: Vec::new() }
    }
}

impl Case {
    /// A case of one source.
    pub fn of(
        name: impl Into<String>,
        source: Source,
        points: impl IntoIterator<Item = (f64, f64)>,
    ) -> Case {
        Case { name: name.into(), trails: vec![Points::of(source, points)] }
    }
}

impl Points {
    /// Points without a band.
    pub fn of(source: Source, points: impl IntoIterator<Item = (f64, f64)>) -> Points {
        Points { source, points: points.into_iter().collect(), band: Vec::new() }
    }
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
    /// What a trace shows at each instant.
    Traced,
    /// Releases of jobs that were late.
    Late,
    /// A processor.
    Measured,
    /// What an analysis says.
    Analysed,
    /// What came of it when it was played.
    Played,
    /// What programs have set, which holds until the next point.
    Set,
}

impl Source {
    /// All of them with how they are drawn and what they are called; the first are lowest.
    const ALL: [(Source, Stroke, &'static str); 12] = [
        (Source::Bound, Stroke::Thin, "asymptotes, knee N*"),
        (Source::Exponential, Stroke::Full, "predicted, exponential"),
        (Source::Deterministic, Stroke::Dashed, "predicted, deterministic"),
        (Source::Simulated, Stroke::Rings, "simulated"),
        (Source::SimulatedDeterministic, Stroke::Crosses, "simulated, deterministic"),
        (Source::HandOffs, Stroke::Triangles, "simulated hand-offs"),
        (Source::Traced, Stroke::Full, "traced"),
        (Source::Late, Stroke::Crosses, "a late job"),
        (Source::Measured, Stroke::Dots, "measured"),
        (Source::Analysed, Stroke::Full, "the analysis accepts"),
        (Source::Played, Stroke::Dashed, "nothing missed when played"),
        (Source::Set, Stroke::Full, "as it was set"),
    ];
}

impl Curves {
    /// The chart as SVG; `origin` says where the figures come from.
    pub fn svg(&self, origin: &str) -> io::Result<String> {
        self.chart(origin).svg()
    }

    pub(crate) fn chart(&self, origin: &str) -> Chart {
        Curves::together(std::slice::from_ref(self), origin)
    }

    /// Curves as charts: those of one name behind each other are panels of one chart, whose title
    /// is what their titles have before a colon.
    pub(crate) fn charts(all: &[Curves], origin: &str) -> Vec<Chart> {
        let groups = all.chunk_by(|one, next| one.name == next.name);
        groups.map(|group| Curves::together(group, origin)).collect()
    }

    fn together(group: &[Curves], origin: &str) -> Chart {
        let Some(first) = group.first() else { return Chart::default() };
        let axis = |label: &str| Axis { label: label.to_string(), ..Axis::default() };
        let (across, upwards) = (axis(&first.across), axis(&first.upwards));
        let mut legend = Vec::new();
        let panels = group.iter().map(|curves| {
            let series = curves.series(&mut legend);
            let title = curves.title.split_once(": ").filter(|_| group.len() > 1);
            let title = title.map_or_else(String::new, |(_, own)| own.to_string());
            Panel { title, series, marks: curves.marks.clone() }
        });
        let panels = panels.collect();
        let title = match first.title.split_once(": ") {
            Some((all, _)) if group.len() > 1 => all,
            _ => &first.title,
        };
        Chart {
            name: first.name.clone(),
            title: title.to_string(),
            legend,
            body: Body::Panels { across, upwards, panels },
            origin: origin.to_string(),
        }
    }

    /// What is drawn in a panel; the legend gets what it lacks.
    fn series(&self, legend: &mut Vec<(Look, String)>) -> Vec<Series> {
        let mut series = Vec::new();
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
            let entry = (Look { colour: Colour::Ink, stroke }, what.to_string());
            if series.len() > before && !legend.contains(&entry) {
                legend.push(entry);
            }
        }
        series
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
    fn curves_of_one_name_are_panels_of_one_chart() {
        let curves = |name: &str, title: &str| Curves {
            name: name.into(),
            title: title.into(),
            cases: vec![Case { name: "a".into(), trails: vec![points(Source::Traced)] }],
            ..Curves::default()
        };
        let all = [curves("x", "all: one"), curves("x", "all: two"), curves("y", "alone: it")];
        let charts = Curves::charts(&all, "a test");
        let titles: Vec<&str> = charts.iter().map(|chart| chart.title.as_str()).collect();
        assert_eq!(titles, ["all", "alone: it"]);
        let svg = charts[0].svg().unwrap();
        for (name, times) in [("one", 1), ("two", 1), ("traced", 1), ("a", 2)] {
            assert_eq!(svg.matches(&format!("\n{name}\n")).count(), times, "{name}");
        }
    }

    #[test]
    fn old_curves_are_read() {
        let old = r#"{"source": "simulated", "points": [[1.0, 2.0], [2.0, 3.0]]}"#;
        assert_eq!(serde_json::from_str::<Points>(old).unwrap(), points(Source::Simulated));
    }
}
