//! A report as a grid: metrics and cases down, kernels and other systems across.

use crate::report::{PAIR, PAIRED, distinct};
use crate::{Baseline, Figure, Report};

/// A report arranged for tables and plots.
pub(crate) struct Grid<'a> {
    /// Our kernels.
    pub kernels: Vec<&'a str>,
    /// The systems that they are compared with.
    pub systems: Vec<&'a str>,
    /// Metrics in the order of measuring, cases by place and parameter.
    pub lines: Vec<Line<'a>>,
}

/// One case of one metric.
pub(crate) struct Line<'a> {
    pub metric: &'a str,
    pub case: Case<'a>,
    /// By kernel.
    pub ours: Vec<Option<Cell>>,
    /// By system.
    pub theirs: Vec<Option<Figure>>,
}

/// A median and how far its samples scatter, where they do.
#[derive(Clone, Copy)]
pub(crate) struct Cell {
    pub figure: Figure,
    /// The standard deviation.
    pub stddev: Option<f64>,
    /// The quartiles.
    pub quartiles: Option<(Figure, Figure)>,
}

/// A case taken apart: `across words=4`.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Case<'a> {
    /// The whole text.
    pub text: &'a str,
    /// The text without its parameter.
    pub place: &'a str,
    /// What is swept, such as `words`; empty if nothing is.
    pub parameter: &'a str,
    /// The parameter's value.
    pub value: Option<u64>,
}

impl<'a> Case<'a> {
    pub fn of(text: &'a str) -> Case<'a> {
        let (place, last) = text.rsplit_once(' ').unwrap_or(("", text));
        let swept =
            last.split_once('=').and_then(|(name, value)| Some((name, value.parse().ok()?)));
        match swept {
            Some((parameter, value)) => Case { text, place, parameter, value: Some(value) },
            None => Case { text, place: text, parameter: "", value: None },
        }
    }
}

impl<'a> Grid<'a> {
    pub fn of(report: &'a Report) -> Grid<'a> {
        let mut metrics = distinct(report.rows.iter().map(|row| row.metric.as_str()));
        let measured = |metric: &str| metrics.contains(&metric);
        let comparable = |b: &&Baseline| measured(&b.metric) && b.unit == report.unit_of(&b.metric);
        let beside: Vec<&Baseline> = report.baselines.iter().filter(comparable).collect();
        if PAIRED.into_iter().all(measured) {
            metrics.push(PAIR);
        }
        let kernels = report.kernels();
        let systems = distinct(beside.iter().map(|baseline| baseline.system.as_str()));
        let lines = metrics.into_iter().flat_map(|metric| {
            let source = if metric == PAIR { PAIRED[0] } else { metric };
            let line = |case: Case<'a>| Line {
                metric,
                case,
                ours: kernels.iter().map(|kernel| cell(report, kernel, metric, case)).collect(),
                theirs: systems.iter().map(|s| theirs(&beside, s, metric, case)).collect(),
            };
            cases(report, &beside, source).into_iter().map(line).collect::<Vec<_>>()
        });
        Grid { lines: lines.collect(), kernels, systems }
    }

    /// The lines that a summary shows: of each sweep only the first value measured.
    pub fn shortest(&self) -> impl Iterator<Item = &Line<'a>> {
        let measured = |line: &&Line| line.ours.iter().any(Option::is_some);
        self.lines.iter().filter(measured).filter(move |line| {
            let mut sweep =
                self.lines.iter().filter(measured).filter(|other| {
                    (other.metric, other.case.place) == (line.metric, line.case.place)
                });
            sweep.all(|other| line.case.value <= other.case.value)
        })
    }
}

impl Line<'_> {
    /// What the line is about.
    pub fn title(&self) -> String {
        crate::report::key("", self.metric, self.case.text)
    }

    /// The first kernel's figure relative to the first system's.
    pub fn ratio(&self) -> Option<f64> {
        let ours = self.ours.first()?.as_ref()?.figure.as_f64();
        let theirs = self.theirs.first()?.as_ref()?.as_f64();
        (theirs > 0.0).then(|| ours / theirs)
    }
}

/// The cases of a metric, of ours and theirs, by place and parameter.
fn cases<'a>(report: &'a Report, beside: &[&'a Baseline], metric: &str) -> Vec<Case<'a>> {
    let ours = report.rows.iter().filter(|row| row.metric == metric).map(|row| &*row.case);
    let theirs = beside.iter().filter(|baseline| baseline.metric == metric);
    let theirs = theirs.map(|baseline| &*baseline.case).filter(|case| !case.is_empty());
    let mut cases: Vec<Case> = distinct(ours.chain(theirs)).into_iter().map(Case::of).collect();
    let places = distinct(cases.iter().map(|case| case.place));
    cases.sort_by_key(|case| (places.iter().position(|place| *place == case.place), case.value));
    cases
}

fn cell(report: &Report, kernel: &str, metric: &str, case: Case) -> Option<Cell> {
    let figure = report.median(kernel, metric, case.text)?;
    let summary = report.row(kernel, metric, case.text).map(|row| row.summary);
    let stddev = summary.map(|own| own.stddev).filter(|stddev| *stddev > 0.0);
    let quartiles = summary.map(|own| (own.q1, own.q3)).filter(|(low, high)| low != high);
    Some(Cell { figure, stddev, quartiles })
}

fn theirs(beside: &[&Baseline], system: &str, metric: &str, case: Case) -> Option<Figure> {
    if metric == PAIR {
        let [call, reply] = PAIRED.map(|metric| theirs(beside, system, metric, case));
        return Some(call?.plus(reply?));
    }
    let mut of_system = beside.iter().filter(|baseline| baseline.system == system);
    let baseline = of_system.find(|baseline| baseline.is_beside(metric, case.text))?;
    Some(baseline.value.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{micro, ping_pong};

    #[test]
    fn takes_cases_apart() {
        let parts = |text| (Case::of(text).place, Case::of(text).value);
        assert_eq!(parts("across words=16"), ("across", Some(16)));
        assert_eq!(parts("words=0"), ("", Some(0)));
        assert_eq!(parts("hot cache"), ("hot cache", None));
        assert_eq!(parts("odd words=many"), ("odd words=many", None));
        assert_eq!(parts(""), ("", None));
    }

    #[test]
    fn cases_are_in_order_with_theirs_between() {
        let (report, _) = ping_pong();
        let grid = Grid::of(&report);
        let call = grid.lines.iter().filter(|line| line.metric == "call");
        let across = call.filter(|line| line.case.place == "across");
        let words: Vec<_> = across.filter_map(|line| line.case.value).collect();
        assert_eq!(words, [0, 4, 8, 10, 16, 32, 64]);
    }

    #[test]
    fn pairs_are_sums_on_both_sides() {
        let (report, _) = ping_pong();
        let grid = Grid::of(&report);
        let pair = grid.lines.iter().find(|line| line.title() == "pair across words=0").unwrap();
        assert_eq!(pair.ours[0].map(|cell| cell.figure), Some(240.into()));
        assert_eq!(pair.theirs, [Some(395.into()), Some(1406.into())]);
        assert!((pair.ratio().unwrap() - 240.0 / 395.0).abs() < 1e-12);
    }

    #[test]
    fn other_units_are_not_compared() {
        let (mut report, _) = ping_pong();
        report.unit = "cycles".into();
        let grid = Grid::of(&report);
        assert!(grid.systems.is_empty());
        assert!(grid.lines.iter().all(|line| line.ratio().is_none()));
    }

    #[test]
    fn a_summary_shows_the_shortest_messages() {
        let (report, _) = ping_pong();
        let titles: Vec<_> = Grid::of(&report).shortest().map(Line::title).collect();
        assert_eq!(titles.len(), 6);
        assert!(titles.iter().all(|title| title.ends_with(" words=0")));
        let (report, _) = micro();
        assert_eq!(Grid::of(&report).shortest().count(), report.rows.len());
    }
}
