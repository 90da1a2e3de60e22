//! Curves and points against a number, such as a throughput against CPUs: what was measured, what
//! a model says and what a simulation says on one plot. Colours tell cases apart, named at the
//! right; strokes tell what is drawn, named above.

use super::{Area, Drawn, INK, RULE, WIDTH, colour_of, image, labels, text};
use plotters::prelude::*;
use plotters::style::text_anchor::HPos;
use std::io;

/// Pixels down.
const HEIGHT: u32 = 460;
/// Pixels to the left of everything.
const MARGIN: i32 = 10;
/// Pixels between there and the axis upwards.
const LEFT: i32 = 64;
/// Pixels above the plot, for the names of strokes.
const HEAD: i32 = 26;
/// Pixels below it, for the axis.
const FOOT: i32 = 46;
/// Pixels across that the name of a mark takes.
const MARK: i32 = 56;

/// How a trail is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stroke {
    /// A full line.
    Full,
    /// A dashed line.
    Dashed,
    /// A thin grey line.
    Thin,
    /// Filled circles.
    Dots,
    /// Open circles.
    Rings,
    /// Crosses.
    Crosses,
    /// Triangles.
    Triangles,
}

/// A curve, or points.
#[derive(Clone, Debug, PartialEq)]
pub struct Trail {
    /// The case, which has a colour of its own.
    pub case: usize,
    /// How it is drawn.
    pub stroke: Stroke,
    /// Across and up, in ascending order.
    pub points: Vec<(f64, f64)>,
}

/// A place with a name.
#[derive(Clone, Debug, PartialEq)]
pub struct Mark {
    /// Across and up.
    pub at: (f64, f64),
    /// The name.
    pub name: String,
}

/// A plot of trails.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Chart {
    /// Names of the cases.
    pub cases: Vec<String>,
    /// What each stroke stands for.
    pub strokes: Vec<(Stroke, String)>,
    /// What is drawn; the first are lowest.
    pub trails: Vec<Trail>,
    /// What is marked.
    pub marks: Vec<Mark>,
    /// What the axis across shows.
    pub across: String,
    /// What the axis upwards shows.
    pub upwards: String,
    /// Where the figures come from, for the lower edge.
    pub origin: String,
}

impl Chart {
    /// The plot as SVG.
    pub fn svg(&self) -> io::Result<String> {
        image(HEIGHT, &self.origin, &|area| self.draw(area))
    }

    fn draw(&self, area: &Area) -> Drawn {
        self.draw_head(area)?;
        let (_, body) = area.split_vertically(HEAD);
        let points = || self.trails.iter().flat_map(|trail| &trail.points);
        let last = points().map(|(x, _)| *x).fold(1.0, f64::max);
        let most = points().map(|(_, y)| *y).fold(f64::MIN_POSITIVE, f64::max);
        let mut chart = ChartBuilder::on(&body)
            .margin_left(MARGIN)
            .margin_right(labels::ROOM)
            .margin_top(16)
            .x_label_area_size(FOOT)
            .y_label_area_size(LEFT)
            .build_cartesian_2d(0.0..last, 0.0..most * 1.06)?;
        chart
            .configure_mesh()
            .disable_x_mesh()
            .light_line_style(TRANSPARENT)
            .bold_line_style(RULE)
            .axis_style(RULE)
            .label_style(text(12, HPos::Center))
            .x_labels((last as usize).min(16))
            .x_label_formatter(&|value| plain(*value))
            .y_label_formatter(&|value| plain(*value))
            .x_desc(&*self.across)
            .y_desc(&*self.upwards)
            .draw()?;
        let mut ends: Vec<Option<(i32, i32)>> = vec![None; self.cases.len()];
        for trail in &self.trails {
            let colour = colour_of(trail.case);
            let points = || trail.points.iter().copied();
            match trail.stroke {
                Stroke::Full => {
                    chart.draw_series(LineSeries::new(points(), colour.stroke_width(2)))?;
                }
                Stroke::Dashed => {
                    let style = colour.stroke_width(2);
                    chart.draw_series(DashedLineSeries::new(points(), 5, 4, style))?;
                }
                Stroke::Thin => {
                    chart.draw_series(LineSeries::new(points(), GREY.stroke_width(1)))?;
                }
                _ => {
                    let places = points().map(|point| chart.backend_coord(&point));
                    for place in places.collect::<Vec<_>>() {
                        symbol(area, place, trail.stroke, colour)?;
                    }
                }
            }
            let end = trail.points.last().map(|end| chart.backend_coord(end).1);
            if let (Some(end), Some(known)) = (end, ends.get_mut(trail.case))
                && trail.stroke != Stroke::Thin
            {
                known.get_or_insert((WIDTH as i32 - labels::ROOM, end));
            }
        }
        let places: Vec<_> = self.marks.iter().map(|mark| chart.backend_coord(&mark.at)).collect();
        self.draw_marks(area, &places)?;
        let named = self.cases.iter().enumerate().zip(ends);
        let ends = named.filter_map(|((case, name), end)| Some((&**name, colour_of(case), end?)));
        labels::draw(area, ends.collect(), HEAD + 14..HEIGHT as i32 - FOOT)
    }

    /// What strokes stand for.
    fn draw_head(&self, area: &Area) -> Drawn {
        let (mut x, y) = (MARGIN + LEFT, HEAD / 2);
        for (stroke, name) in &self.strokes {
            match stroke {
                Stroke::Full | Stroke::Thin => {
                    let (colour, width) =
                        if *stroke == Stroke::Thin { (GREY, 1) } else { (INK, 2) };
                    let line = vec![(x, y), (x + 22, y)];
                    area.draw(&PathElement::new(line, colour.stroke_width(width)))?;
                }
                Stroke::Dashed => {
                    for start in [x, x + 9, x + 18] {
                        let dash = vec![(start, y), (start + 5, y)];
                        area.draw(&PathElement::new(dash, INK.stroke_width(2)))?;
                    }
                }
                symbols => symbol(area, (x + 14, y), *symbols, INK)?,
            }
            area.draw(&Text::new(name.clone(), (x + 28, y), text(13, HPos::Left)))?;
            x += 44 + 7 * name.chars().count() as i32;
        }
        Ok(())
    }

    /// Marks, each with its name unless that would cover another's.
    fn draw_marks(&self, area: &Area, places: &[(i32, i32)]) -> Drawn {
        let mut named: Vec<(i32, i32)> = Vec::new();
        for (mark, (x, y)) in self.marks.iter().zip(places) {
            let diamond = vec![(x - 4, *y), (*x, y - 4), (x + 4, *y), (*x, y + 4)];
            area.draw(&Polygon::new(diamond, GREY.filled()))?;
            let covers =
                |other: &(i32, i32)| (other.0 - x).abs() < MARK && (other.1 - y).abs() < 14;
            if !named.iter().any(covers) {
                named.push((*x, *y));
                area.draw(&Text::new(mark.name.clone(), (*x, y - 12), text(12, HPos::Center)))?;
            }
        }
        Ok(())
    }
}

/// Asymptotes and marks.
const GREY: RGBColor = RGBColor(107, 114, 128);

/// A point of a trail.
fn symbol(area: &Area, (x, y): (i32, i32), stroke: Stroke, colour: RGBColor) -> Drawn {
    let style = colour.stroke_width(1);
    match stroke {
        Stroke::Rings => area.draw(&Circle::new((x, y), 5, style))?,
        Stroke::Crosses => area.draw(&Cross::new((x, y), 4, style))?,
        Stroke::Triangles => area.draw(&TriangleMarker::new((x, y), 5, style))?,
        _ => area.draw(&Circle::new((x, y), 4, colour.filled()))?,
    }
    Ok(())
}

/// A figure on an axis, without digits that say nothing.
fn plain(value: f64) -> String {
    let rounded = format!("{value:.6}");
    let short = rounded.trim_end_matches('0').trim_end_matches('.');
    match short.split_once('.') {
        None => short.parse().map(crate::figure::grouped).unwrap_or(short.to_string()),
        Some(_) => short.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chart() -> Chart {
        let trail = |case, stroke| {
            let points = (1..=4).map(|x| (f64::from(x), f64::from(x * (case + 1)))).collect();
            Trail { case: case as usize, stroke, points }
        };
        let strokes = [Stroke::Full, Stroke::Dashed, Stroke::Thin, Stroke::Dots, Stroke::Rings];
        Chart {
            cases: vec!["a = 500".into(), "a = 4,000".into()],
            strokes: strokes.iter().map(|stroke| (*stroke, format!("{stroke:?}"))).collect(),
            trails: strokes.iter().flat_map(|s| [trail(0, *s), trail(1, *s)]).collect(),
            marks: [2.0, 2.1, 4.0].map(|x| Mark { at: (x, 3.0), name: format!("N* = {x}") }).into(),
            across: "CPUs".into(),
            upwards: "passes".into(),
            origin: "a test".into(),
        }
    }

    #[test]
    fn everything_has_its_name() {
        let svg = chart().svg().unwrap();
        for name in ["a = 500", "a = 4,000", "Full", "Rings", "N* = 2", "N* = 4", "CPUs", "passes"]
        {
            assert!(svg.contains(name), "{name} is missing");
        }
        assert!(!svg.contains("N* = 2.1"), "names cover each other");
        // Four points of both cases and a sample.
        assert_eq!(svg.matches("<circle").count(), 2 * (2 * 4 + 1));
    }

    #[test]
    fn nothing_to_draw_is_an_empty_plot() {
        assert!(Chart::default().svg().unwrap().starts_with("<svg"));
    }

    #[test]
    fn axes_have_no_spurious_digits() {
        for (value, shown) in [(0.5, "0.5"), (12_000.0, "12,000"), (0.1 + 0.2, "0.3"), (0.0, "0")] {
            assert_eq!(plain(value), shown);
        }
    }
}
