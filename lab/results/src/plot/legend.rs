//! A row of names with their colours.

use super::{Area, Drawn, colour_of, colour_of_system, text};
use crate::grid::Grid;
use plotters::prelude::*;
use plotters::style::text_anchor::HPos;

/// Every kernel, then every system.
pub(super) fn entries<'a>(grid: &Grid<'a>) -> Vec<(&'a str, RGBColor)> {
    let kernels = grid.kernels.iter().enumerate().map(|(i, name)| (*name, colour_of(i)));
    let systems = grid.systems.iter().enumerate();
    kernels.chain(systems.map(|(i, name)| (*name, colour_of_system(i)))).collect()
}

/// Draws the legend from a point to the right.
pub(super) fn draw(area: &Area, (x, y): (i32, i32), entries: &[(&str, RGBColor)]) -> Drawn {
    let mut x = x;
    for (name, colour) in entries {
        area.draw(&Rectangle::new([(x, y - 5), (x + 10, y + 5)], colour.filled()))?;
        area.draw(&Text::new(name.to_string(), (x + 16, y), text(13, HPos::Left)))?;
        x += 40 + 7 * i32::try_from(name.chars().count())?;
    }
    Ok(())
}
