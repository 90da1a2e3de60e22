//! What wires of a plant had, over time.

use crate::chart::{Axis, Body, Chart, Colour, Look, Panel, Series, Stroke};
use std::io;

/// Draws a table as CSV with a heading: seconds first, then a panel for each other column. Each is
/// drawn in parts of its own range, which its title says.
///
/// # Errors
///
/// It is no such table.
pub fn wires_svg(csv: &str, origin: &str) -> io::Result<String> {
    let mut lines = csv.lines();
    let names: Vec<&str> = lines.next().unwrap_or_default().split(',').collect();
    let row = |line: &str| line.split(',').map(str::parse).collect::<Result<Vec<f64>, _>>();
    let rows = lines.map(row).collect::<Result<Vec<_>, _>>().map_err(io::Error::other)?;
    if names.len() < 2 || rows.iter().any(|row| row.len() != names.len()) {
        return Err(io::Error::other("this is no table of wires"));
    }
    let panels = names.iter().enumerate().skip(1).map(|(column, name)| {
        let values = || rows.iter().map(|row| row[column]);
        let least = values().fold(0.0, f64::min);
        let most = values().fold(f64::NEG_INFINITY, f64::max).max(least);
        let part = |value: f64| if most > least { (value - least) / (most - least) } else { 0.0 };
        let points = rows.iter().map(|row| (row[0], part(row[column]))).collect();
        let look = Look { colour: Colour::Case(column - 1), stroke: Stroke::Full };
        Panel {
            title: format!("{name}: {least:.3} to {most:.3}"),
            series: vec![Series { name: String::new(), look, points, band: Vec::new() }],
            marks: Vec::new(),
        }
    });
    let axis = |label: &str| Axis { label: label.to_string(), ..Axis::default() };
    let chart = Chart {
        body: Body::Panels {
            across: axis("seconds"),
            upwards: axis("part of its range"),
            panels: panels.collect(),
        },
        origin: origin.to_string(),
        ..Chart::default()
    };
    chart.svg()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_wire_has_a_panel_with_its_range() {
        let svg = wires_svg("seconds,heat,level\n0.1,1,-2\n0.2,5,0\n", "here").expect("a table");
        assert!(svg.contains("heat: 0.000 to 5.000") && svg.contains("level: -2.000 to 0.000"));
        assert!(
            ["", "seconds\n1\n", "seconds,a\n1\n", "seconds,a\n1,x\n"]
                .iter()
                .all(|text| wires_svg(text, "").is_err())
        );
    }
}
