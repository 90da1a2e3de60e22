//! Responses of tasks against their bounds, as a chart and as text: from one run, or how they are
//! distributed over several.

use crate::chart::{Bar, Body, Chart, Colour, Group, Look, Stroke};
use crate::statistics::percentile;
use crate::{fitted, plain_table};
use std::io;

/// Characters across from nothing to the bound, in text.
const CELLS: u64 = 15;
/// Characters beyond the bound, at most.
const BEYOND: u64 = 3;

/// A task with its responses. Times are in nanoseconds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bounded {
    /// Its name.
    pub name: String,
    /// What no response passes by the analysis; none if that says nothing.
    pub bound: Option<u64>,
    /// Within which time a job has to end, for what has no bound.
    pub deadline: u64,
    /// The longest response of each run.
    pub longest: Vec<u64>,
}

impl Bounded {
    /// Whether a response was longer than the bound.
    pub fn exceeds(&self) -> bool {
        self.bound.is_some_and(|bound| self.worst() > bound)
    }

    /// The longest response of all runs; 0 without any.
    pub fn worst(&self) -> u64 {
        self.longest.iter().copied().max().unwrap_or(0)
    }

    /// The longest response of a run which that many percent of the runs do not exceed.
    pub fn percentile(&self, percent: usize) -> u64 {
        percentile(&self.longest, percent).unwrap_or(0)
    }

    /// What its responses are drawn against: the bound, or else the deadline.
    fn limit(&self) -> u64 {
        self.bound.unwrap_or(self.deadline).max(1)
    }

    /// What stands for the limit, with its length in words.
    fn spelt_limit(&self, spell: &dyn Fn(u64) -> String) -> String {
        match self.bound {
            Some(bound) => format!("bound {}", spell(bound)),
            None => format!("no bound, deadline {}", spell(self.deadline)),
        }
    }

    /// From the median of the runs on, what is drawn: a name, a time, and a colour.
    fn drawn(&self) -> Vec<(&'static str, u64, Colour)> {
        let longest = ("longest", self.worst(), Colour::Case(0));
        if self.longest.len() < 2 {
            return vec![longest];
        }
        let median = ("median", self.percentile(50), Colour::Case(3));
        vec![median, ("95 %", self.percentile(95), Colour::Case(1)), longest]
    }

    fn group(&self, spell: &dyn Fn(u64) -> String) -> Group {
        let limit = self.limit() as f64;
        let bar = |(name, time, colour): (&str, u64, Colour)| {
            let share = 100.0 * time as f64 / limit;
            Bar { value: share, label: format!("{name} {}, {share:.1} %", spell(time)), colour }
        };
        let bound = Bar { value: 100.0, label: self.spelt_limit(spell), colour: Colour::System(1) };
        let bars = self.drawn().into_iter().map(bar).chain([bound]).collect();
        Group { title: self.name.clone(), bars }
    }

    /// A line of characters that ends at the bound: `#` up to the median, `+` up to what 95 % do
    /// not exceed, `-` up to the longest, and `!` for what is beyond the bound.
    fn line(&self) -> String {
        let cell = |time: u64| (u128::from(time) * u128::from(CELLS)).div_ceil(self.limit().into());
        let [median, most, worst] = [self.percentile(50), self.percentile(95), self.worst()];
        let letter = |at: u64| match u128::from(at) {
            at if at <= cell(median) => '#',
            at if at <= cell(most) => '+',
            at if at <= cell(worst) => '-',
            _ => '.',
        };
        let beyond = cell(worst).saturating_sub(CELLS.into()).min(BEYOND.into()) as usize;
        (1..=CELLS).map(letter).chain(['|']).chain(std::iter::repeat_n('!', beyond)).collect()
    }
}

/// The responses of all tasks as SVG, in percent of their bounds; `spell` puts nanoseconds into
/// words, and `origin` says where the figures come from.
pub fn bounded_svg(
    tasks: &[Bounded],
    spell: &dyn Fn(u64) -> String,
    origin: &str,
) -> io::Result<String> {
    let look = |colour| Look { colour, stroke: Stroke::Columns(1) };
    let mut legend: Vec<(Look, String)> = Vec::new();
    for (name, _, colour) in tasks.first().map(Bounded::drawn).unwrap_or_default() {
        let several = if name == "longest" { "longest response" } else { name };
        legend.push((look(colour), several.to_string()));
    }
    legend.push((look(Colour::System(1)), "bound by the analysis, 100 %".to_string()));
    let chart = Chart {
        name: "responses".to_string(),
        title: "Responses against their bounds".to_string(),
        legend,
        body: Body::Bars(tasks.iter().map(|task| task.group(spell)).collect()),
        origin: origin.to_string(),
    };
    chart.svg()
}

/// A share in five characters.
fn percent(share: f64) -> String {
    if share < 1_000.0 { format!("{share:.0}%") } else { ">999%".to_string() }
}

/// The same as a table; where times are spelt in six characters and names have sixteen it fits 80
/// columns.
pub fn bounded_text(tasks: &[Bounded], spell: &dyn Fn(u64) -> String, width: usize) -> String {
    let runs = tasks.first().map_or(0, |task| task.longest.len());
    let several: &[&str] = if runs > 1 { &["median", "95 %"] } else { &[] };
    let titles = [&["task"], several, &["longest", "bound", "of the bound", ""]].concat();
    let mut table = plain_table(&titles, width);
    for task in tasks {
        let mut cells = vec![task.name.clone()];
        cells.extend(task.drawn().into_iter().map(|(_, time, _)| spell(time)));
        let share = 100.0 * task.worst() as f64 / task.limit() as f64;
        match task.bound {
            Some(bound) => cells.extend([spell(bound), task.line(), percent(share)]),
            None => cells.extend(["-"; 3].map(str::to_string)),
        }
        table.add_row(cells);
    }
    fitted(table, 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn task(name: &str, bound: Option<u64>, longest: &[u64]) -> Bounded {
        Bounded { name: name.into(), bound, deadline: 5_000, longest: longest.to_vec() }
    }

    /// Without the margin of each line, which the expected text has none of.
    fn unmargined(text: &str) -> String {
        text.lines().map(|line| format!("{}\n", line.strip_prefix(' ').unwrap_or(line))).collect()
    }

    fn spell(time: u64) -> String {
        format!("{time}ns")
    }

    #[test]
    fn a_run_is_drawn_up_to_its_longest_response() {
        let tasks = [task("flight", Some(500), &[400]), task("slow", None, &[900])];
        let said = bounded_text(&tasks, &spell, 80);
        expect_test::expect![[r#"
             task    longest  bound  of the bound
             flight  400ns    500ns  ############...|  80%
             slow    900ns    -      -                 -
        "#]]
        .assert_eq(&unmargined(&said));
        let svg = bounded_svg(&tasks, &spell, "a test").unwrap();
        for name in ["flight", "longest 400ns, 80.0 %", "bound 500ns", "a test"] {
            assert!(svg.contains(name), "{name} is missing: {svg}");
        }
        assert!(svg.contains("no bound, deadline 5000ns") && !svg.contains("median"));
    }

    #[test]
    fn runs_are_a_distribution_and_what_exceeds_is_seen() {
        let runs: Vec<u64> = (1..=100).map(|run| run * 5).collect();
        let tasks = [task("even", Some(500), &runs), task("late", Some(400), &runs)];
        let said = bounded_text(&tasks, &spell, 80);
        expect_test::expect![[r#"
             task  median  95 %   longest  bound  of the bound
             even  250ns   475ns  500ns    500ns  ########+++++++|     100%
             late  250ns   475ns  500ns    400ns  ##########+++++|!!!  125%
        "#]]
        .assert_eq(&unmargined(&said));
        assert_eq!(tasks.each_ref().map(Bounded::exceeds), [false, true]);
        let svg = bounded_svg(&tasks, &spell, "a test").unwrap();
        for name in ["median 250ns, 50.0 %", "95 % 475ns, 95.0 %", "longest 500ns, 125.0 %"] {
            assert!(svg.contains(name), "{name} is missing");
        }
    }

    #[test]
    fn the_text_fits_80_columns_whatever_the_times_are() {
        let tasks = [
            task("sixteen-letters!", Some(987_654), &[123_456, 4_000_000_000]),
            task("b", None, &[1, 2]),
        ];
        let said = bounded_text(&tasks, &|_| "12.9ms".to_string(), 80);
        assert!(said.lines().all(|line| line.chars().count() <= 80), "{said}");
        assert!(said.contains('!'), "{said}");
    }
}
