//! Latencies as OSADL plots them: across in linear bins of one unit, upwards how many samples,
//! logarithmic, so that a single late one can be seen; the worst case is in the headline.

use super::{Area, Drawn, RULE, WIDTH, colour_of, legend, text};
use crate::figure::grouped;
use crate::grid::Case;
use crate::report::{WAKE_UP, distinct};
use crate::{Report, Samples};
use plotters::prelude::*;
use plotters::style::text_anchor::HPos;
use std::collections::BTreeMap;

/// Pixels down.
pub(super) const HEIGHT: u32 = 320;
/// Where a bar begins: below one sample, of which there is no logarithm of 0.
const BASE: f64 = 0.7;
/// Pixels across that bins have.
const ROOM: u64 = WIDTH as u64 - 80;

/// The samples of a case.
pub(super) struct Tail<'a> {
    case: &'a str,
    unit: &'a str,
    kernels: Vec<Kernel<'a>>,
}

struct Kernel<'a> {
    name: &'a str,
    colour: RGBColor,
    /// Samples of each value.
    bins: BTreeMap<u64, u64>,
}

impl Kernel<'_> {
    fn worst(&self) -> u64 {
        self.bins.last_key_value().map_or(0, |(value, _)| *value)
    }
}

impl<'a> Tail<'a> {
    /// One for each case that was measured; of a sweep, for its last value.
    pub fn all(report: &'a Report, samples: &'a Samples) -> Vec<Tail<'a>> {
        let series = || samples.series.iter().filter(|series| series.metric == WAKE_UP);
        let cases = distinct(series().map(|series| series.case.as_str()));
        let is_last = |case: &&str| {
            let this = Case::of(case);
            let mut sweep = cases.iter().map(|case| Case::of(case));
            !sweep.any(|other| other.place == this.place && other.value > this.value)
        };
        let names = report.kernels();
        let of_case = |case: &'a str| {
            let kernel = |(index, name): (usize, &&'a str)| {
                let own = series().find(|s| s.kernel == *name && s.case == case)?;
                let mut bins = BTreeMap::new();
                own.values.iter().for_each(|value| *bins.entry(*value).or_insert(0) += 1);
                Some(Kernel { name, colour: colour_of(index), bins })
            };
            let kernels = names.iter().enumerate().filter_map(kernel).collect();
            Tail { case, unit: &report.unit, kernels }
        };
        cases.iter().copied().filter(is_last).map(of_case).collect()
    }

    /// The file name, without its ending.
    pub fn name(&self) -> String {
        let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
        let case: String = self.case.chars().map(plain).collect();
        format!("latency-{}", case.replace("--", "-"))
    }

    /// The headline.
    pub fn title(&self) -> String {
        let Some(worst) = self.kernels.iter().max_by_key(|kernel| kernel.worst()) else {
            return self.case.to_string();
        };
        let (case, unit) = (self.case, self.unit);
        format!("{case}: worst case {} {unit}, under {}", grouped(worst.worst()), worst.name)
    }

    pub fn draw(&self, area: &Area) -> Drawn {
        let names: Vec<String> = self
            .kernels
            .iter()
            .map(|kernel| format!("{} {}", kernel.name, grouped(kernel.worst())))
            .collect();
        let colours = self.kernels.iter().map(|kernel| kernel.colour);
        let entries: Vec<_> = names.iter().map(String::as_str).zip(colours).collect();
        let (head, body) = area.split_vertically(legend::height(&entries));
        legend::draw(&head, (60, 14), &entries)?;
        let across = self.kernels.iter().map(Kernel::worst).max().unwrap_or(0) + 1;
        let counts = self.kernels.iter().flat_map(|kernel| kernel.bins.values());
        let most = counts.copied().max().unwrap_or(1) as f64;
        let mut chart = ChartBuilder::on(&body)
            .margin_right(20)
            .margin_top(12)
            .x_label_area_size(44)
            .y_label_area_size(60)
            .build_cartesian_2d(0.0..across as f64, (BASE..most * 1.5).log_scale())?;
        chart
            .configure_mesh()
            .disable_x_mesh()
            .light_line_style(TRANSPARENT)
            .bold_line_style(RULE)
            .axis_style(RULE)
            .label_style(text(12, HPos::Center))
            .x_label_formatter(&|value| grouped(*value as u64))
            .y_label_formatter(&|value| grouped(*value as u64))
            .x_desc(format!("late by ({}, bins of 1; upwards samples, logarithmic)", self.unit))
            .draw()?;
        for kernel in &self.kernels {
            for run in outline(&kernel.bins, across) {
                chart.draw_series([PathElement::new(run, kernel.colour)])?;
            }
        }
        Ok(())
    }
}

/// The outlines of bars that stand together. Of bins that fall on one pixel the highest is drawn.
fn outline(bins: &BTreeMap<u64, u64>, across: u64) -> Vec<Vec<(f64, f64)>> {
    let width = (across as f64 / ROOM as f64).max(1.0);
    let mut columns: BTreeMap<u64, u64> = BTreeMap::new();
    for (value, count) in bins {
        let column = columns.entry((*value as f64 / width) as u64).or_default();
        *column = (*column).max(*count);
    }
    let mut runs: Vec<Vec<(f64, f64)>> = Vec::new();
    let mut end = None;
    for (column, count) in columns {
        let (from, to) = (column as f64 * width, (column + 1) as f64 * width);
        if end != Some(column) {
            runs.push(vec![(from, BASE)]);
        }
        if let Some(run) = runs.last_mut() {
            if end == Some(column) {
                run.pop();
            }
            run.extend([(from, count as f64), (to, count as f64), (to, BASE)]);
        }
        end = Some(column + 1);
    }
    runs
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::micro;

    fn measured() -> (Report, Samples) {
        let mut samples = Samples::default();
        let mut late = vec![400; 900];
        late.extend([401, 402, 402, 12_345]);
        for (case, values) in
            [("call threads=50", vec![1, 2]), ("call threads=250", late), ("idle", vec![300; 5])]
        {
            samples.push("fastpath", WAKE_UP, case, values.clone());
            samples.push("strict-eager", WAKE_UP, case, vec![500; 10]);
        }
        let (mut report, _) = micro();
        report.rows = samples.rows();
        (report, samples)
    }

    #[test]
    fn the_worst_case_is_in_the_headline() {
        let (report, samples) = measured();
        let tails = Tail::all(&report, &samples);
        let heads: Vec<_> = tails.iter().map(|tail| (tail.name(), tail.title())).collect();
        expect_test::expect![[r#"
            [
                (
                    "latency-call-threads-250",
                    "call threads=250: worst case 12,345 instructions, under fastpath",
                ),
                (
                    "latency-idle",
                    "idle: worst case 500 instructions, under strict-eager",
                ),
            ]
        "#]]
        .assert_debug_eq(&heads);
    }

    #[test]
    fn the_plots_are_among_the_others() {
        let (report, samples) = measured();
        let plots = super::super::plots(&report, Some(&samples)).unwrap();
        let plot = plots.iter().find(|plot| plot.name == "latency-call-threads-250").unwrap();
        assert!(plot.svg.contains("fastpath 12,345") && plot.svg.contains("bins of 1"));
        assert!(super::super::plots(&report, None).unwrap().iter().all(|p| p.name != plot.name));
    }

    #[test]
    fn bars_that_touch_share_an_outline_and_a_far_one_has_its_own() {
        let bins = BTreeMap::from([(10, 5), (11, 2), (20, 1)]);
        let runs = outline(&bins, 100);
        let first =
            vec![(10.0, BASE), (10.0, 5.0), (11.0, 5.0), (11.0, 2.0), (12.0, 2.0), (12.0, BASE)];
        assert_eq!(runs, [first, vec![(20.0, BASE), (20.0, 1.0), (21.0, 1.0), (21.0, BASE)]]);
        // Far apart, on a wide axis: one pixel shows the higher of its bins.
        let wide = outline(&BTreeMap::from([(0, 3), (1, 7), (50_000, 1)]), 100_000);
        assert_eq!((wide.len(), wide[0][1].1), (2, 7.0));
    }
}
