//! Latencies as OSADL plots them, a panel for each kernel: across in columns of equal width,
//! upwards how many samples, logarithmic, so that a single late one can be seen.

use crate::chart::{Axis, Body, Chart, Colour, Look, Panel, Scale, Series, Stroke};
use crate::figure::grouped;
use crate::grid::Case;
use crate::report::{WAKE_UP, distinct};
use crate::{Report, Samples, Summary};
use std::collections::BTreeMap;

/// Columns from 0 to the worst case, at most.
const COLUMNS: u64 = 120;
/// Where columns begin: below one sample, of which there is no logarithm of 0.
const FLOOR: f64 = 0.7;

/// One for each case that was measured; of a sweep, for its last value.
pub(super) fn all(report: &Report, samples: &Samples) -> Vec<Chart> {
    let series = samples.series.iter().filter(|series| series.metric == WAKE_UP);
    let cases = distinct(series.map(|series| series.case.as_str()));
    let is_last = |case: &&&str| {
        let this = Case::of(case);
        let mut sweep = cases.iter().map(|case| Case::of(case));
        !sweep.any(|other| other.place == this.place && other.value > this.value)
    };
    cases.iter().filter(is_last).filter_map(|case| one(report, samples, case)).collect()
}

fn one(report: &Report, samples: &Samples, case: &str) -> Option<Chart> {
    let of = |kernel: &str| {
        let mut series = samples.series.iter().filter(|series| series.metric == WAKE_UP);
        let own = series.find(|series| series.kernel == kernel && series.case == case)?;
        Some((Summary::of(&own.values)?, &own.values))
    };
    let kernels = report.kernels().into_iter().enumerate();
    let kernels: Vec<_> = kernels.filter_map(|(i, name)| Some((i, name, of(name)?))).collect();
    let (_, slowest, (worst, _)) = kernels.iter().max_by_key(|(_, _, (own, _))| own.max)?;
    let width = width(worst.max);
    let counts = || kernels.iter().map(|(_, _, (own, _))| own.n);
    let count = match (counts().min()?, counts().max()?) {
        (least, most) if least == most => grouped(most),
        (least, most) => format!("{} to {}", grouped(least), grouped(most)),
    };
    let panel = |(index, name, (summary, values)): &(usize, &str, (Summary, &Vec<u64>))| Panel {
        title: format!(
            "{name}: median {}, worst {}",
            summary.median.grouped(),
            grouped(summary.max)
        ),
        series: vec![Series {
            name: String::new(),
            look: Look { colour: Colour::Case(*index), stroke: Stroke::Columns(width) },
            points: columns(values, width),
            band: Vec::new(),
        }],
        marks: Vec::new(),
    };
    let unit = report.unit_of(WAKE_UP);
    let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
    let name: String = case.chars().map(plain).collect();
    let axis = |label: String, scale, from| Axis { label, scale, from, ..Axis::default() };
    let times = format!("wake-ups, of {count} under each kernel (logarithmic)");
    let late = format!("wake-up latency in {unit}, columns of {}", grouped(width));
    Some(Chart {
        name: format!("latency-{}", name.replace("--", "-")),
        title: format!("{case}: worst case {} {unit}, under {slowest}", grouped(worst.max)),
        body: Body::Panels {
            across: axis(late, Scale::Linear, None),
            upwards: axis(times, Scale::Logarithmic, Some(FLOOR)),
            panels: kernels.iter().map(panel).collect(),
        },
        ..Chart::default()
    })
}

/// How wide columns are: 1, 2 or 5 times a power of ten.
fn width(worst: u64) -> u64 {
    let decades = (0..u64::MAX.ilog10()).flat_map(|e| [1, 2, 5].map(|d| d * 10u64.pow(e)));
    decades.into_iter().find(|width| worst / width < COLUMNS).unwrap_or(u64::MAX)
}

/// How many samples fall into each column that has any.
fn columns(values: &[u64], width: u64) -> Vec<(f64, f64)> {
    let mut columns: BTreeMap<u64, u32> = BTreeMap::new();
    values.iter().for_each(|value| *columns.entry(value / width * width).or_default() += 1);
    columns.into_iter().map(|(from, count)| (from as f64, f64::from(count))).collect()
}
