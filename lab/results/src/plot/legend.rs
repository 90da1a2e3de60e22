//! A row of names with their colours.

use super::{Area, Drawn, WIDTH, colour_of, colour_of_system, text};
use crate::grid::Grid;
use plotters::prelude::*;
use plotters::style::text_anchor::HPos;

/// Every kernel, then every system.
pub(super) fn entries<'a>(grid: &Grid<'a>) -> Vec<(&'a str, RGBColor)> {
    let kernels = grid.kernels.iter().enumerate().map(|(i, name)| (*name, colour_of(i)));
    kernels.chain(systems(grid)).collect()
}

/// Every system.
pub(super) fn systems<'a>(grid: &Grid<'a>) -> Vec<(&'a str, RGBColor)> {
    let systems = grid.systems.iter().enumerate();
    systems.map(|(i, name)| (*name, colour_of_system(i))).collect()
}

/// Pixels between two rows.
const ROW: i32 = 18;

/// Pixels down that a legend takes.
pub(super) fn height(entries: &[(&str, RGBColor)]) -> i32 {
    if entries.is_empty() {
        return 0;
    }
    10 + ROW * (1 + places((60, 0), entries).last().map_or(0, |(_, y)| y / ROW))
}

/// Where each entry begins, row by row.
fn places((left, top): (i32, i32), entries: &[(&str, RGBColor)]) -> Vec<(i32, i32)> {
    let (mut x, mut y) = (left, top);
    let mut places = Vec::new();
    for (name, _) in entries {
        let width = 40 + 7 * name.chars().count() as i32;
        if x > left && x + width > WIDTH as i32 {
            (x, y) = (left, y + ROW);
        }
        places.push((x, y));
        x += width;
    }
    places
}

/// Draws the legend from a point to the right, in as many rows as it takes.
pub(super) fn draw(area: &Area, at: (i32, i32), entries: &[(&str, RGBColor)]) -> Drawn {
    for ((name, colour), (x, y)) in entries.iter().zip(places(at, entries)) {
        area.draw(&Rectangle::new([(x, y - 5), (x + 10, y + 5)], colour.filled()))?;
        area.draw(&Text::new(name.to_string(), (x + 16, y), text(13, HPos::Left)))?;
    }
    Ok(())
}
