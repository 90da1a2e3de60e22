//! Raw samples: kept beside the summaries, so that every figure can be computed again.

use crate::{Row, Summary};
use std::fmt::Write;

/// The samples of one case of one metric under one kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Series {
    /// The kernel that ran.
    pub kernel: String,
    /// What was measured.
    pub metric: String,
    /// Under which circumstances.
    pub case: String,
    /// One value a round.
    pub values: Vec<u64>,
}

/// All samples of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Samples {
    /// In the order of measuring.
    pub series: Vec<Series>,
}

impl Samples {
    /// Adds a series.
    pub fn push(&mut self, kernel: &str, metric: &str, case: &str, values: Vec<u64>) {
        let (kernel, metric, case) = (kernel.into(), metric.into(), case.into());
        self.series.push(Series { kernel, metric, case, values });
    }

    /// Adds samples to a series that may exist.
    pub fn join(&mut self, kernel: &str, metric: &str, case: &str, values: Vec<u64>) {
        let here = |series: &&mut Series| {
            (&*series.kernel, &*series.metric, &*series.case) == (kernel, metric, case)
        };
        match self.series.iter_mut().find(here) {
            Some(series) => series.values.extend(values),
            None => self.push(kernel, metric, case, values),
        }
    }

    /// A row for every series that has samples.
    pub fn rows(&self) -> Vec<Row> {
        let row = |series: &Series| {
            Some(Row {
                kernel: series.kernel.clone(),
                metric: series.metric.clone(),
                case: series.case.clone(),
                summary: Summary::of(&series.values)?,
            })
        };
        self.series.iter().filter_map(row).collect()
    }

    /// One line a sample, with its round.
    pub fn to_csv(&self) -> String {
        let mut csv = String::from("kernel,metric,case,round,value\n");
        for series in &self.series {
            let place = [&series.kernel, &series.metric, &series.case].map(|name| field(name));
            let place = place.join(",");
            for (round, value) in series.values.iter().enumerate() {
                // Writing to a string cannot fail.
                let _ = writeln!(csv, "{place},{round},{value}");
            }
        }
        csv
    }
}

/// A CSV field, quoted where it must be.
fn field(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_join_their_series() {
        let mut samples = Samples::default();
        for (case, value) in [("a", 1), ("b", 2), ("a", 3)] {
            samples.join("fastpath", "call", case, vec![value]);
        }
        let found: Vec<_> = samples.series.iter().map(|s| (&*s.case, &*s.values)).collect();
        assert_eq!(found, [("a", &[1, 3][..]), ("b", &[2][..])]);
    }

    #[test]
    fn csv_keeps_every_sample() {
        let mut samples = Samples::default();
        samples.push("fastpath", "call", "across words=0", vec![120, 121]);
        samples.push("odd,name", "a \"b\"", "", vec![7]);
        samples.push("fastpath", "empty", "", vec![]);
        expect_test::expect![[r#"
            kernel,metric,case,round,value
            fastpath,call,across words=0,0,120
            fastpath,call,across words=0,1,121
            "odd,name","a ""b""",,0,7
        "#]]
        .assert_eq(&samples.to_csv());
        assert_eq!(samples.rows().len(), 2);
        assert_eq!(samples.rows()[0].summary.median.to_string(), "120.5");
    }
}
