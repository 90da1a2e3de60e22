//! Rows of a report in forms that other tools read.

use crate::cli::Format;
use anyhow::Result;
use fs_err as fs;
use results::{Report, Row};
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Writes the rows of a report into a run's directory, once for each format; the files.
pub fn export(directory: &Path, report: &Report, formats: &[Format]) -> Result<Vec<PathBuf>> {
    let rows: Vec<Cells> = report.rows.iter().map(|row| cells(report, row)).collect();
    let columns: Vec<&str> = rows.first().into_iter().flatten().map(|(name, _)| &**name).collect();
    let objects = || rows.iter().map(|row| row.iter().cloned().collect::<Map<String, Value>>());
    let write = |format: &Format| {
        let (extension, text) = match format {
            Format::Csv => ("csv", csv(&columns, &rows)?),
            Format::Json => {
                ("json", serde_json::to_string_pretty(&objects().collect::<Vec<_>>())? + "\n")
            }
            Format::Markdown => ("md", markdown(&columns, &rows)),
        };
        let path = directory.join("rows").with_extension(extension);
        fs::write(&path, text)?;
        Ok(path)
    };
    formats.iter().map(write).collect()
}

/// A row: names of columns with their values.
type Cells = Vec<(String, Value)>;

/// The cells of a row, the same columns for all rows: a parameter that the row lacks is null.
fn cells(report: &Report, row: &Row) -> Cells {
    let mut cells = Cells::new();
    let mut add = |name: &str, value: Value| cells.push((name.to_string(), value));
    add("experiment", json!(report.experiment));
    add("machine", json!(report.machine));
    add("kind", json!(report.origin.name()));
    add("kernel", json!(row.kernel));
    add("metric", json!(row.metric));
    add("case", json!(row.case));
    let names: BTreeSet<&String> = report.rows.iter().flat_map(|r| r.parameters.keys()).collect();
    for name in names {
        add(name, json!(row.parameters.get(name)));
    }
    add("unit", json!(report.unit));
    let summary = json!(row.summary);
    for name in ["n", "min", "q1", "median", "mean", "q3", "max", "stddev"] {
        add(name, summary[name].clone());
    }
    for name in ["processor", "caches"] {
        add(name, json!(report.host.get(name)));
    }
    add("seed", json!(report.seed));
    add("commit", json!(report.commit));
    cells
}

/// A cell as text; nothing for null.
fn text((_, value): &(String, Value)) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

fn csv(columns: &[&str], rows: &[Cells]) -> Result<String> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(columns)?;
    for row in rows {
        writer.write_record(row.iter().map(text))?;
    }
    Ok(String::from_utf8(writer.into_inner()?)?)
}

fn markdown(columns: &[&str], rows: &[Cells]) -> String {
    let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
    let head = line(columns.iter().map(ToString::to_string).collect());
    let rule = line(columns.iter().map(|_| "---".to_string()).collect());
    let escaped = |cell| text(cell).replace('|', "\\|");
    let body = rows.iter().map(|row| line(row.iter().map(escaped).collect()));
    head + &rule + &body.collect::<String>()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::testing::report;

    #[test]
    fn rows_have_a_column_for_each_parameter() {
        let rows = [
            ("fastpath", "hop", "threads=8 messages=1", 230),
            ("fastpath", "hop", "a | \"b\", c", 240),
        ];
        let report = report("twin", &rows);
        let directory = tempfile::tempdir().unwrap();
        let all = [Format::Csv, Format::Json, Format::Markdown];
        let files = export(directory.path(), &report, &all).unwrap();
        let read = |place: usize| fs::read_to_string(&files[place]).unwrap();
        let [csv, json, markdown] = std::array::from_fn(read);
        let mut reader = csv::Reader::from_reader(csv.as_bytes());
        let head = reader.headers().unwrap().clone();
        let place = |name: &str| head.iter().position(|own| own == name).unwrap();
        let found: Vec<_> = reader.records().map(Result::unwrap).collect();
        assert_eq!([&found[0][place("threads")], &found[0][place("median")]], ["8", "230"]);
        assert_eq!([&found[1][place("threads")], &found[1][place("case")]], ["", "a | \"b\", c"]);
        let json: Value = serde_json::from_str(&json).unwrap();
        assert_eq!((&json[0]["messages"], &json[1]["messages"]), (&json!(1), &Value::Null));
        assert_eq!(markdown.lines().count(), 4);
        assert!(markdown.contains("a \\| \"b\", c"));
    }
}
