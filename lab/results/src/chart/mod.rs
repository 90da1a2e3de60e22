//! Charts as data, and as SVG: they use no system font and refer to nothing outside themselves.
//!
//! Colours are fixed names that the page overrides in the dark; the background stays clear.

mod axis;
mod bars;
mod labels;
mod panel;

pub use axis::{Axis, Scale};
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use std::error::Error;
use std::io;

/// Pixels across: few, so that text can be read where a chart is made to fit a narrow screen.
const WIDTH: u32 = 640;
/// Pixels down of a line of text.
const ROW: i32 = 18;

/// A chart.
#[derive(Clone, Debug, Default)]
pub struct Chart {
    /// A name for files, without an ending.
    pub name: String,
    /// What it shows.
    pub title: String,
    /// What looks stand for.
    pub legend: Vec<(Look, String)>,
    /// What is drawn.
    pub body: Body,
    /// Where the figures come from, for the lower edge.
    pub origin: String,
}

/// What a chart draws.
#[derive(Clone, Debug)]
pub enum Body {
    /// Panels that share their axes.
    Panels {
        /// What is across.
        across: Axis,
        /// What is upwards.
        upwards: Axis,
        /// The panels, row by row.
        panels: Vec<Panel>,
    },
    /// Bars to the right, in groups.
    Bars(Vec<Group>),
}

impl Default for Body {
    fn default() -> Body {
        Body::Bars(Vec::new())
    }
}

/// Series under one title.
#[derive(Clone, Debug, Default)]
pub struct Panel {
    /// What it shows; empty where the chart's title says it.
    pub title: String,
    /// What is drawn; the first are lowest.
    pub series: Vec<Series>,
    /// Places with a name.
    pub marks: Vec<Mark>,
}

/// A curve, points, or the columns of a histogram.
#[derive(Clone, Debug)]
pub struct Series {
    /// What stands at its right end; empty for nothing.
    pub name: String,
    /// How it is drawn.
    pub look: Look,
    /// Across and up, in ascending order.
    pub points: Vec<(f64, f64)>,
    /// Across, and from where to where figures scatter there; may be empty.
    pub band: Vec<(f64, f64, f64)>,
}

/// A place with a name.
#[derive(Clone, Debug, PartialEq)]
pub struct Mark {
    /// Across and up.
    pub at: (f64, f64),
    /// The name.
    pub name: String,
}

/// Bars with one title.
#[derive(Clone, Debug)]
pub struct Group {
    /// What they show.
    pub title: String,
    /// From top to bottom.
    pub bars: Vec<Bar>,
}

/// A bar.
#[derive(Clone, Debug)]
pub struct Bar {
    /// How long it is.
    pub value: f64,
    /// What stands at its end.
    pub label: String,
    /// Its colour.
    pub colour: Colour,
}

/// How a series is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Look {
    /// Its colour.
    pub colour: Colour,
    /// Its stroke.
    pub stroke: Stroke,
}

/// Lines and symbols.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stroke {
    /// A full line.
    Full,
    /// A dashed line.
    Dashed,
    /// A thin line.
    Thin,
    /// Filled circles.
    Dots,
    /// Open circles.
    Rings,
    /// Crosses.
    Crosses,
    /// Triangles.
    Triangles,
    /// Columns so wide.
    Columns(u64),
}

/// Colours by what they tell apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Colour {
    /// One of our kernels or cases.
    Case(usize),
    /// A system that they are compared with.
    System(usize),
    /// The colour of text.
    Ink,
    /// What stays in the background.
    Faint,
}

/// Text.
const INK: RGBColor = RGBColor(31, 41, 55);
/// Lines of the grid.
const RULE: RGBColor = RGBColor(209, 213, 219);

/// Paul Tol's muted colours, which stay apart for colour-blind readers.
const CASES: [RGBColor; 9] = [
    RGBColor(0x33, 0x22, 0x88),
    RGBColor(0x88, 0xcc, 0xee),
    RGBColor(0x11, 0x77, 0x33),
    RGBColor(0xdd, 0xcc, 0x77),
    RGBColor(0xcc, 0x66, 0x77),
    RGBColor(0x88, 0x22, 0x55),
    RGBColor(0xaa, 0x44, 0x99),
    RGBColor(0x44, 0xaa, 0x99),
    RGBColor(0x99, 0x99, 0x33),
];

const SYSTEMS: [RGBColor; 3] =
    [RGBColor(107, 114, 128), RGBColor(173, 178, 188), RGBColor(148, 130, 110)];

impl Colour {
    fn rgb(self) -> RGBColor {
        match self {
            Colour::Case(index) => CASES[index % CASES.len()],
            Colour::System(index) => SYSTEMS[index % SYSTEMS.len()],
            Colour::Ink => INK,
            Colour::Faint => RGBColor(107, 114, 128),
        }
    }
}

type Drawn = Result<(), Box<dyn Error + Send + Sync>>;
type Area<'a> = DrawingArea<SVGBackend<'a>, plotters::coord::Shift>;

impl Chart {
    /// The chart as SVG: legend, body, and at the lower edge where the figures come from.
    pub fn svg(&self) -> io::Result<String> {
        let places = legend_places(&self.legend);
        let head = places.last().map_or(0, |(_, y)| y + ROW - 4);
        let height = match &self.body {
            Body::Panels { panels, .. } => panel::height(panels),
            Body::Bars(groups) => bars::height(groups),
        };
        let mut svg = String::new();
        let size = (WIDTH, (head + height + ROW + 4) as u32);
        let area = SVGBackend::with_string(&mut svg, size).into_drawing_area();
        let body = area.clone().shrink((0, head), (WIDTH, height as u32));
        let drawn = draw_legend(&area, &self.legend, &places).and_then(|()| {
            match &self.body {
                Body::Panels { across, upwards, panels } => {
                    panel::draw(&body, across, upwards, panels)?;
                }
                Body::Bars(groups) => bars::draw(&body, groups)?,
            }
            let at = (WIDTH as i32 - 8, head + height + ROW / 2);
            Ok(area.draw(&Text::new(self.origin.clone(), at, text(11, HPos::Right)))?)
        });
        drawn.map_err(io::Error::other)?;
        area.present().map_err(io::Error::other)?;
        drop((area, body));
        Ok(svg)
    }
}

/// Where each entry of a legend begins, in as many rows as it takes.
fn legend_places(entries: &[(Look, String)]) -> Vec<(i32, i32)> {
    const LEFT: i32 = 60;
    let (mut x, mut y) = (LEFT, ROW / 2 + 4);
    let place = |(_, name): &(Look, String)| {
        let width = 46 + 7 * name.chars().count() as i32;
        if x > LEFT && x + width > WIDTH as i32 {
            (x, y) = (LEFT, y + ROW);
        }
        x += width;
        (x - width, y)
    };
    entries.iter().map(place).collect()
}

fn draw_legend(area: &Area, entries: &[(Look, String)], places: &[(i32, i32)]) -> Drawn {
    for ((look, name), (x, y)) in entries.iter().zip(places) {
        let (style, (x, y)) = (look.colour.rgb(), (*x, *y));
        match look.stroke {
            Stroke::Columns(_) => {
                area.draw(&Rectangle::new([(x + 6, y - 5), (x + 16, y + 5)], style.filled()))?;
            }
            Stroke::Full => rule(area, (x, x + 22), y, style.stroke_width(2))?,
            Stroke::Thin => rule(area, (x, x + 22), y, style.stroke_width(1))?,
            Stroke::Dashed => {
                for start in [x, x + 9, x + 18] {
                    rule(area, (start, start + 5), y, style.stroke_width(2))?;
                }
            }
            _ => symbol(area, (x + 12, y), *look)?,
        }
        area.draw(&Text::new(name.clone(), (x + 26, y), text(13, HPos::Left)))?;
    }
    Ok(())
}

fn rule(area: &Area, (from, to): (i32, i32), y: i32, style: ShapeStyle) -> Drawn {
    Ok(area.draw(&PathElement::new(vec![(from, y), (to, y)], style))?)
}

/// A point of a series.
fn symbol(area: &Area, at: (i32, i32), look: Look) -> Drawn {
    let style = look.colour.rgb().stroke_width(1);
    match look.stroke {
        Stroke::Rings => area.draw(&Circle::new(at, 4, style))?,
        Stroke::Crosses => area.draw(&Cross::new(at, 4, style))?,
        Stroke::Triangles => area.draw(&TriangleMarker::new(at, 5, style.filled()))?,
        _ => area.draw(&Circle::new(at, 3, style.filled()))?,
    }
    Ok(())
}

/// A style for text that ends, centres or begins at its point.
fn text(size: i32, across: HPos) -> TextStyle<'static> {
    let style = TextStyle::from(("system-ui, sans-serif", size).into_font());
    style.color(&INK).pos(Pos::new(across, VPos::Center))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Series of all strokes, of two cases.
    fn chart() -> Chart {
        let strokes = [Stroke::Full, Stroke::Dashed, Stroke::Thin, Stroke::Dots, Stroke::Rings];
        let look = |case, stroke| Look { colour: Colour::Case(case), stroke };
        let series = |case: usize, stroke| Series {
            name: if stroke == Stroke::Full { format!("a = {case}00") } else { String::new() },
            look: look(case, stroke),
            points: (1..=4).map(|x| (f64::from(x), f64::from(x) * (case as f64 + 1.0))).collect(),
            band: vec![(1.0, 0.5, 1.5), (4.0, 3.5, 4.5)],
        };
        let panel = Panel {
            title: "a panel".into(),
            series: strokes.iter().flat_map(|s| [series(1, *s), series(2, *s)]).collect(),
            marks: [2.0, 2.1, 4.0].map(|x| Mark { at: (x, 3.0), name: format!("N* = {x}") }).into(),
        };
        let axis = |label: &str| Axis { label: label.into(), ..Axis::default() };
        Chart {
            legend: strokes.iter().map(|s| (look(0, *s), format!("{s:?}"))).collect(),
            body: Body::Panels {
                across: axis("CPUs"),
                upwards: axis("passes"),
                panels: vec![panel],
            },
            origin: "a test".into(),
            ..Chart::default()
        }
    }

    #[test]
    fn everything_has_its_name() {
        let svg = chart().svg().unwrap();
        for name in ["a = 100", "a = 200", "Full", "Rings", "N* = 2", "N* = 4", "CPUs", "passes"] {
            assert!(svg.contains(name), "{name} is missing");
        }
        assert!(svg.contains("a panel") && svg.contains("a test"));
        assert!(!svg.contains("N* = 2.1"), "names cover each other");
        // Four points of both cases and a sample in the legend.
        assert_eq!(svg.matches("<circle").count(), 2 * (2 * 4 + 1));
    }

    #[test]
    fn nothing_to_draw_is_an_empty_chart() {
        assert!(Chart::default().svg().unwrap().starts_with("<svg"));
        let mut empty = chart();
        if let Body::Panels { panels, .. } = &mut empty.body {
            panels.clear();
        }
        assert!(empty.svg().unwrap().starts_with("<svg"));
    }
}
