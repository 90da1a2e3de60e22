//! Measured points out of a CSV file.

use super::units::Units;
use crate::failure::{did_you_mean, usage};
use anyhow::Result;
use model::{MOST_CPUS, Point};
use std::fs;
use std::path::Path;

/// The columns that are known; the last may be missing.
const COLUMNS: [&str; 3] = ["cpus", "throughput", "think"];

/// The points of a file, times in cycles and throughputs per cycle.
pub fn read(path: &Path, units: &Units) -> Result<Vec<Point>> {
    let name = path.display().to_string();
    let text =
        fs::read_to_string(path).map_err(|error| usage(format!("cannot read {name}: {error}")))?;
    parse(&name, &text, units.per_second).map_err(usage)
}

fn parse(name: &str, text: &str, per_second: Option<f64>) -> Result<Vec<Point>, String> {
    // Editors on some systems begin a file with a mark of its encoding.
    let text = text.trim_start_matches('\u{feff}');
    let rows = text.lines().map(str::trim).enumerate();
    let mut rows = rows
        .filter(|(_, row)| !row.is_empty() && !row.starts_with('#'))
        .map(|(index, row)| (format!("{name}:{}", index + 1), row));
    let Some((place, header)) = rows.next() else {
        return Err(format!("{name}:1: the file is empty; it begins with `cpus,throughput`"));
    };
    let columns = columns(&place, header)?;
    let mut points = Vec::new();
    let mut last = place;
    for (place, row) in rows {
        points.push(point(&place, row, &columns, per_second.unwrap_or(1.0))?);
        last = place;
    }
    if per_second.is_none() && points.iter().any(|point| point.throughput > 1.0) {
        let mend = "if throughputs are per second, give the clock rate, such as --hz 2GHz";
        return Err(format!("{name}: more than one pass per cycle is too fast for a lock; {mend}"));
    }
    match points.len() {
        0 => Err(format!("{last}: no points follow; a fit needs at least 3")),
        1 | 2 => Err(format!("{last}: a fit needs at least 3 points, not {}", points.len())),
        _ => Ok(points),
    }
}

/// The columns that a header names.
fn columns(place: &str, header: &str) -> Result<Vec<&'static str>, String> {
    let mut columns: Vec<&'static str> = Vec::new();
    for name in header.split(',').map(|name| name.trim().to_lowercase()) {
        let Some(known) = COLUMNS.into_iter().find(|known| *known == name) else {
            let hint = did_you_mean(&name, COLUMNS);
            let known = "the first line names the columns: cpus, throughput and perhaps think";
            return Err(format!("{place}: there is no column `{name}`{hint}; {known}"));
        };
        if columns.contains(&known) {
            return Err(format!("{place}: the column `{known}` appears twice; remove one"));
        }
        columns.push(known);
    }
    match COLUMNS[..2].iter().find(|needed| !columns.contains(needed)) {
        Some(missing) => Err(format!("{place}: the column `{missing}` is missing; add it")),
        None => Ok(columns),
    }
}

/// The point of a row.
fn point(place: &str, row: &str, columns: &[&str], rate: f64) -> Result<Point, String> {
    let fields: Vec<&str> = row.split(',').map(str::trim).collect();
    if fields.len() != columns.len() {
        let (have, want) = (fields.len(), columns.len());
        return Err(format!("{place}: {have} fields, but the first line names {want} columns"));
    }
    let field = |name: &str| {
        let index = columns.iter().position(|column| *column == name)?;
        Some(fields[index])
    };
    let number = |name: &str, must: &str, good: &dyn Fn(f64) -> bool| match field(name) {
        None => Ok(None),
        Some(text) => {
            let number = text.parse().ok().filter(|number: &f64| number.is_finite());
            let number = number.filter(|number| good(*number));
            number.map(Some).ok_or_else(|| format!("{place}: {name} must be {must}, not `{text}`"))
        }
    };
    let whole = |number: f64| number.fract() == 0.0 && (1.0..=MOST_CPUS as f64).contains(&number);
    let must = format!("a whole number from 1 to {MOST_CPUS}");
    let cpus = number("cpus", &must, &whole)?.unwrap_or_default();
    let throughput = number("throughput", "a number above zero", &|number| number > 0.0)?;
    let throughput = throughput.unwrap_or_default() / rate;
    let think = number("think", "zero or more cycles", &|number| number >= 0.0)?;
    Ok(Point { cpus: cpus as usize, throughput, think })
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
            ("1,2\n", "f.csv:1:", "no column `1`"),
            ("cpu,throughput\n", "f.csv:1:", "did you mean `cpus`?"),
            ("cpus\n", "f.csv:1:", "`throughput` is missing"),
            ("cpus,cpus,throughput\n", "f.csv:1:", "twice"),
            (head, "f.csv:1:", "at least 3"),
            (&format!("{head}1,1\n2,2\n"), "f.csv:3:", "at least 3 points, not 2"),
            (&format!("{head}1,1\n\n2\n"), "f.csv:4:", "1 fields"),
            (&format!("{head}1,fast\n"), "f.csv:2:", "not `fast`"),
            (&format!("{head}0,1\n"), "f.csv:2:", "from 1 to 1024, not `0`"),
            (&format!("{head}1.5,1\n"), "f.csv:2:", "not `1.5`"),
            (&format!("{head}1,-1\n"), "f.csv:2:", "above zero, not `-1`"),
            (&format!("{head}1,NaN\n"), "f.csv:2:", "not `NaN`"),
            ("cpus,throughput,think\n1,1,\n", "f.csv:2:", "zero or more cycles, not ``"),
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
