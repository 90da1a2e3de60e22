//! Raw samples: kept beside the summaries, so that every figure can be computed again.

use crate::{Row, Summary, parameters};

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
                parameters: parameters(&series.case),
                summary: Summary::of(&series.values)?,
            })
        };
        self.series.iter().filter_map(row).collect()
    }

    /// One line a sample, with its round.
    pub fn to_csv(&self) -> Result<Vec<u8>, csv::Error> {
        let mut csv = csv::Writer::from_writer(Vec::new());
        csv.write_record(HEAD)?;
        for Series { kernel, metric, case, values } in &self.series {
            for (round, value) in values.iter().enumerate() {
                csv.serialize((kernel, metric, case, round, value))?;
            }
        }
        csv.into_inner().map_err(|error| error.into_error().into())
    }

    /// Reads what [`Samples::to_csv`] has written.
    pub fn from_csv(csv: &[u8]) -> Result<Samples, csv::Error> {
        let mut samples = Samples::default();
        for line in csv::Reader::from_reader(csv).deserialize() {
            let (kernel, metric, case, round, value): (String, String, String, usize, u64) = line?;
            match samples.series.last_mut() {
                Some(last) if round > 0 => last.values.push(value),
                _ => samples.push(&kernel, &metric, &case, vec![value]),
            }
        }
        Ok(samples)
    }
}

/// The columns of a CSV file of samples.
const HEAD: [&str; 5] = ["kernel", "metric", "case", "round", "value"];

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
    fn csv_keeps_each_sample() {
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
        .assert_eq(std::str::from_utf8(&samples.to_csv().unwrap()).unwrap());
        let read = Samples::from_csv(&samples.to_csv().unwrap()).unwrap();
        assert_eq!(read.series[..], samples.series[..2], "what has no samples leaves no line");
        assert!(Samples::from_csv(b"kernel,metric\nfastpath,call\n").is_err());
        assert_eq!(samples.rows().len(), 2);
        assert_eq!(samples.rows()[0].summary.median.to_string(), "120.5");
    }
}
