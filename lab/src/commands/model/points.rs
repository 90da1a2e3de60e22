//! Measured points out of a CSV file.

use super::units::Units;
use crate::failure::usage;
use anyhow::Result;
use csv::{ErrorKind, ReaderBuilder, StringRecord, Trim};
use model::{MOST_CPUS, Point};
use serde::Deserialize;
use std::path::Path;

/// A line; the last column may be missing.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    cpus: usize,
    throughput: f64,
    think: Option<f64>,
}

/// The points of a file, times in cycles and throughputs per cycle.
pub fn read(path: &Path, units: &Units) -> Result<Vec<Point>> {
    let name = path.display().to_string();
    let text = std::fs::read_to_string(path)
        .map_err(|error| usage(format!("cannot read {name}: {error}")))?;
    parse(&name, &text, units.per_second).map_err(usage)
}

fn parse(name: &str, text: &str, per_second: Option<f64>) -> Result<Vec<Point>, String> {
    let mut reader =
        ReaderBuilder::new().comment(Some(b'#')).trim(Trim::All).from_reader(text.as_bytes());
    // The reader counts from where it was before it skipped lines without fields.
    let line = |at: Option<&csv::Position>| {
        let from = at.map_or(1, csv::Position::line);
        let rows = text.lines().map(str::trim).zip(1u64..).skip(from as usize - 1);
        let mut rows = rows.filter(|(row, _)| !row.is_empty() && !row.starts_with('#'));
        rows.next().map_or(from, |(_, line)| line)
    };
    let wrong = |error: csv::Error| format!("{name}:{}: {}", line(error.position()), told(&error));
    let headers = reader.headers().map_err(wrong)?;
    if headers.is_empty() {
        return Err(format!("{name}:1: the file is empty; it begins with `cpus,throughput`"));
    }
    let headers: StringRecord = headers.iter().map(str::to_lowercase).collect();
    reader.set_headers(headers.clone());
    let mut points = Vec::new();
    for record in reader.into_records() {
        let record = record.map_err(wrong)?;
        let row = record.deserialize(Some(&headers)).map_err(wrong)?;
        let refused = |why| format!("{name}:{}: {why}", line(record.position()));
        points.push(point(row, per_second.unwrap_or(1.0)).map_err(refused)?);
    }
    if per_second.is_none() && points.iter().any(|point| point.throughput > 1.0) {
        let mend = "if throughputs are per second, give the clock rate, such as --hz 2GHz";
        return Err(format!("{name}: more than one pass per cycle is too fast for a lock; {mend}"));
    }
    match points.len() {
        count @ 0..3 => Err(format!("{name}: a fit needs at least 3 points, not {count}")),
        _ => Ok(points),
    }
}

/// What is wrong with a line.
fn told(error: &csv::Error) -> String {
    match error.kind() {
        ErrorKind::Deserialize { err, .. } => err.to_string(),
        ErrorKind::UnequalLengths { expected_len, len, .. } => {
            format!("{len} fields, but the first line names {expected_len} columns")
        }
        _ => error.to_string(),
    }
}

/// The point of a row.
fn point(Row { cpus, throughput, think }: Row, rate: f64) -> Result<Point, String> {
    if !(1..=MOST_CPUS).contains(&cpus) {
        return Err(format!("cpus must be a whole number from 1 to {MOST_CPUS}, not `{cpus}`"));
    }
    if !throughput.is_finite() || throughput <= 0.0 {
        return Err(format!("throughput must be a number above zero, not `{throughput}`"));
    }
    match think.filter(|think| !think.is_finite() || *think < 0.0) {
        Some(think) => Err(format!("think must be zero or more cycles, not `{think}`")),
        None => Ok(Point { cpus, throughput: throughput / rate, think }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(text: &str) -> String {
        parse("f.csv", text, Some(2e9)).unwrap_err()
    }

    #[test]
    fn columns_come_in_any_order() {
        let text = "\u{feff}# of this night\nThink, throughput ,cpus\r\n\n0,1e6,1\n500, 2e6,2\n\
                    0,2.5e6,3\n";
        let points = parse("f.csv", text, Some(1e9)).unwrap();
        assert_eq!(points[1], Point { cpus: 2, throughput: 2e-3, think: Some(500.0) });
        let points = parse("f.csv", "cpus,throughput\n1,0.1\n2,0.2\n3,0.3", None).unwrap();
        assert_eq!(points[2], Point { cpus: 3, throughput: 0.3, think: None });
    }

    #[test]
    fn every_mistake_is_named_with_its_place() {
        let head = "cpus,throughput\n";
        for (text, place, what) in [
            ("", "f.csv:1:", "empty"),
            ("\n# nothing\n", "f.csv:1:", "empty"),
            ("1,2\n1,2\n", "f.csv:2:", "unknown field `1`"),
            ("cpu,throughput\n1,2\n", "f.csv:2:", "expected one of `cpus`"),
            ("cpus\n1\n", "f.csv:2:", "missing field `throughput`"),
            ("cpus,cpus,throughput\n1,1,1\n", "f.csv:2:", "duplicate field `cpus`"),
            (head, "f.csv:", "at least 3"),
            (&format!("{head}1,1\n2,2\n"), "f.csv:", "at least 3 points, not 2"),
            (&format!("{head}1,1\n\n2\n"), "f.csv:4:", "1 fields"),
            (&format!("{head}1,fast\n"), "f.csv:2:", "field 1: invalid float"),
            (&format!("{head}0,1\n"), "f.csv:2:", "from 1 to 1024, not `0`"),
            (&format!("{head}1.5,1\n"), "f.csv:2:", "field 0: invalid digit"),
            (&format!("{head}1,-1\n"), "f.csv:2:", "above zero, not `-1`"),
            (&format!("{head}1,NaN\n"), "f.csv:2:", "not `NaN`"),
            ("cpus,throughput,think\n1,1,-2\n", "f.csv:2:", "zero or more cycles, not `-2`"),
        ] {
            let error = refused(text);
            assert!(error.starts_with(place) && error.contains(what), "{error}");
        }
    }

    #[test]
    fn throughputs_per_second_need_the_clock_rate() {
        let error = parse("f.csv", "cpus,throughput\n1,5e6\n2,6e6\n3,7e6", None).unwrap_err();
        assert!(error.contains("--hz 2GHz"), "{error}");
    }
}
