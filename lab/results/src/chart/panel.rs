//! Panels: curves, points, histograms, bands and marks between two axes.

use super::{
    Area, Axis, Colour, Drawn, Mark, Panel, ROW, RULE, Series, Stroke, WIDTH, labels, symbol, text,
};
use plotters::element::DashedPathElement;
use plotters::prelude::*;
use plotters::style::text_anchor::HPos;

/// Pixels down of a panel that is alone.
const ALONE: i32 = 390;
/// Pixels down of one among several.
const SMALL: i32 = 190;
/// Pixels to the left of a plot, for the axis.
const LEFT: i32 = 58;
/// Pixels below a plot, for the axis.
const FOOT: i32 = 24;
/// Pixels across that the name of a mark takes.
const MARK: i32 = 56;

/// Panels beside each other.
fn columns(panels: &[Panel]) -> usize {
    if panels.len() < 2 { 1 } else { 2 }
}

/// Pixels down that panels take, with the names of their axes.
pub(super) fn height(panels: &[Panel]) -> i32 {
    let rows = panels.len().div_ceil(columns(panels)) as i32;
    2 * ROW + if panels.len() < 2 { ALONE } else { rows * SMALL }
}

pub(super) fn draw(area: &Area, across: &Axis, upwards: &Axis, panels: &[Panel]) -> Drawn {
    let rows = panels.len().div_ceil(columns(panels)).max(1);
    let (_, height) = area.dim_in_pixel();
    let height = height as i32 - ROW / 2;
    area.draw(&Text::new(upwards.label.clone(), (8, ROW / 2), text(12, HPos::Left)))?;
    let middle = (LEFT + WIDTH as i32) / 2;
    area.draw(&Text::new(across.label.clone(), (middle, height), text(12, HPos::Center)))?;
    let body = area.clone().shrink((0, ROW), (WIDTH, (height - ROW - ROW / 2) as u32));
    let all = || panels.iter().flat_map(|panel| &panel.series);
    let points = || all().flat_map(|series| &series.points);
    let width = all().find_map(|series| match series.look.stroke {
        Stroke::Columns(width) => Some(width as f64),
        _ => None,
    });
    let xs = points().map(|(x, _)| x + width.unwrap_or(0.0));
    let bands = all().flat_map(|series| &series.band);
    let ys = points().map(|(_, y)| *y).chain(bands.flat_map(|(_, low, high)| [*low, *high]));
    let ranges = (across.range(xs, 0.0), upwards.range(ys, 0.06));
    for (panel, place) in panels.iter().zip(body.split_evenly((rows, columns(panels)))) {
        one(&place, (across, upwards), ranges, panel)?;
    }
    Ok(())
}

/// From which value to which an axis goes.
type Range = (f64, f64);

fn one(
    area: &Area,
    (across, upwards): (&Axis, &Axis),
    (xs, ys): (Range, Range),
    panel: &Panel,
) -> Drawn {
    let names = || panel.series.iter().filter(|series| !series.name.is_empty());
    let right = if names().next().is_some() { labels::ROOM } else { 14 };
    let (width, height) = area.dim_in_pixel();
    let top = if panel.title.is_empty() { 10 } else { ROW };
    let (right, bottom) = (width as i32 - right, height as i32 - FOOT);
    let pixel = |(x, y): (f64, f64)| {
        let x = f64::from(LEFT) + across.share(x, xs) * f64::from(right - LEFT);
        let y = f64::from(bottom) - upwards.share(y, ys) * f64::from(bottom - top);
        (x.round() as i32, y.round() as i32)
    };
    area.draw(&Text::new(panel.title.clone(), (LEFT, 8), text(12, HPos::Left)))?;
    for value in upwards.named(ys, f64::from(bottom - top) / 40.0) {
        let (_, y) = pixel((xs.0, value));
        area.draw(&PathElement::new(vec![(LEFT, y), (right, y)], RULE))?;
        area.draw(&Text::new(upwards.spell(value), (LEFT - 6, y), text(12, HPos::Right)))?;
    }
    for value in across.named(xs, f64::from(right - LEFT) / 80.0) {
        let (x, _) = pixel((value, ys.0));
        area.draw(&PathElement::new(vec![(x, bottom), (x, bottom + 4)], RULE))?;
        area.draw(&Text::new(across.spell(value), (x, bottom + 13), text(12, HPos::Center)))?;
    }
    area.draw(&PathElement::new(vec![(LEFT, top), (LEFT, bottom), (right, bottom)], RULE))?;
    let floor = pixel((xs.0, ys.0)).1;
    for series in &panel.series {
        draw_series(area, series, &pixel, floor)?;
    }
    draw_marks(area, &panel.marks, &pixel)?;
    let end = |series: &'_ Series| Some(pixel(*series.points.last()?).1);
    let named = names().filter_map(|s| Some((s.name.as_str(), s.look.colour, end(s)?)));
    labels::draw(area, right, named.collect(), top..bottom)
}

fn draw_series(
    area: &Area,
    series: &Series,
    pixel: &dyn Fn((f64, f64)) -> (i32, i32),
    floor: i32,
) -> Drawn {
    let colour = series.look.colour.rgb();
    let low = series.band.iter().map(|(x, low, _)| pixel((*x, *low)));
    let high = series.band.iter().rev().map(|(x, _, high)| pixel((*x, *high)));
    let band: Vec<_> = low.chain(high).collect();
    if !band.is_empty() {
        area.draw(&Polygon::new(band, colour.mix(0.15)))?;
    }
    let points = || series.points.iter().map(|point| pixel(*point));
    let line = |width| PathElement::new(points().collect::<Vec<_>>(), colour.stroke_width(width));
    match series.look.stroke {
        Stroke::Full => area.draw(&line(2))?,
        Stroke::Thin => area.draw(&line(1))?,
        Stroke::Dashed => {
            area.draw(&DashedPathElement::new(points(), 5, 4, colour.stroke_width(2)))?;
        }
        Stroke::Columns(width) => {
            let outline = outline(series, width as f64, pixel, floor);
            area.draw(&Polygon::new(outline.clone(), colour.mix(0.5)))?;
            area.draw(&PathElement::new(outline, colour.stroke_width(1)))?;
        }
        _ => points().try_for_each(|at| symbol(area, at, series.look))?,
    }
    Ok(())
}

/// The outline of columns, which stand on the floor and may touch each other.
fn outline(
    series: &Series,
    width: f64,
    pixel: &dyn Fn((f64, f64)) -> (i32, i32),
    floor: i32,
) -> Vec<(i32, i32)> {
    let mut outline: Vec<(i32, i32)> = Vec::new();
    for (x, y) in &series.points {
        let (from, to) = (pixel((*x, *y)), pixel((x + width, *y)));
        if let Some((end, _)) = outline.last().copied().filter(|(end, _)| *end != from.0) {
            outline.push((end, floor));
        }
        if outline.last().is_none_or(|(end, _)| *end != from.0) {
            outline.push((from.0, floor));
        }
        outline.extend([from, to]);
    }
    let end = outline.last().map(|(end, _)| (*end, floor));
    outline.extend(end);
    outline
}

/// Marks, each with its name unless that would cover another's.
fn draw_marks(area: &Area, marks: &[Mark], pixel: &dyn Fn((f64, f64)) -> (i32, i32)) -> Drawn {
    let mut named: Vec<(i32, i32)> = Vec::new();
    for mark in marks {
        let (x, y) = pixel(mark.at);
        let diamond = vec![(x - 4, y), (x, y - 4), (x + 4, y), (x, y + 4)];
        area.draw(&Polygon::new(diamond, Colour::Faint.rgb().filled()))?;
        let covers = |other: &(i32, i32)| (other.0 - x).abs() < MARK && (other.1 - y).abs() < 14;
        if !named.iter().any(covers) {
            named.push((x, y));
            area.draw(&Text::new(mark.name.clone(), (x, y - 12), text(12, HPos::Center)))?;
        }
    }
    Ok(())
}
