//! Plots as SVG: they use no system font and refer to nothing outside themselves.
//!
//! Colours are fixed names that the page overrides in the dark; the background stays clear.

mod bars;
mod legend;
mod paper;
mod sweep;

use crate::Report;
use crate::grid::Grid;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use std::error::Error;
use std::io;

/// Text.
pub(crate) const INK: RGBColor = RGBColor(31, 41, 55);
/// Lines of the grid.
pub(crate) const RULE: RGBColor = RGBColor(209, 213, 219);
/// Pixels across.
const WIDTH: u32 = 860;

/// Our kernels.
const OURS: [RGBColor; 9] = [
    RGBColor(13, 148, 136),
    RGBColor(37, 99, 235),
    RGBColor(217, 119, 6),
    RGBColor(147, 51, 234),
    RGBColor(219, 39, 119),
    RGBColor(101, 163, 13),
    RGBColor(8, 145, 178),
    RGBColor(220, 38, 38),
    RGBColor(146, 64, 14),
];

/// Systems that they are compared with.
const THEIRS: [RGBColor; 3] =
    [RGBColor(107, 114, 128), RGBColor(173, 178, 188), RGBColor(148, 130, 110)];

/// A named SVG image.
pub(crate) struct Plot {
    /// The file name, without its ending.
    pub name: String,
    /// What it shows.
    pub title: String,
    /// The image.
    pub svg: String,
}

type Drawn = Result<(), Box<dyn Error + Send + Sync>>;
type Area<'a> = DrawingArea<SVGBackend<'a>, plotters::coord::Shift>;

/// All plots that a report's rows support.
pub(crate) fn plots(report: &Report) -> io::Result<Vec<Plot>> {
    let grid = Grid::of(report);
    let mut plots = Vec::new();
    let bars = bars::Bars::of(&grid);
    if bars.height() > 0 {
        let svg = image(bars.height(), |area| bars.draw(area))?;
        let title = format!("Median {} by kernel", report.unit);
        plots.push(Plot { name: "medians".into(), title, svg });
    }
    for sweep in sweep::Sweep::all(&grid) {
        let svg = image(sweep::HEIGHT, |area| sweep.draw(area))?;
        let parameter = sweep.parameter;
        let title = format!("{}: {} by {parameter}", sweep.metric, report.unit);
        plots.push(Plot { name: format!("{parameter}-{}", sweep.metric), title, svg });
    }
    for figure in crate::paper::figures(&report.experiment) {
        let Some(paper) = paper::Paper::of(report, figure) else { continue };
        let svg = image(paper.height(), |area| paper.draw(area))?;
        plots.push(Plot { name: paper.name(), title: paper.title(), svg });
    }
    Ok(plots)
}

fn image(height: u32, draw: impl FnOnce(&Area) -> Drawn) -> io::Result<String> {
    let mut svg = String::new();
    let area = SVGBackend::with_string(&mut svg, (WIDTH, height)).into_drawing_area();
    draw(&area).map_err(io::Error::other)?;
    area.present().map_err(io::Error::other)?;
    drop(area);
    Ok(svg)
}

fn colour_of(kernel: usize) -> RGBColor {
    OURS[kernel % OURS.len()]
}

fn colour_of_system(system: usize) -> RGBColor {
    THEIRS[system % THEIRS.len()]
}

/// A style for text that ends, centres or begins at its point.
fn text(size: i32, across: HPos) -> TextStyle<'static> {
    let style = TextStyle::from(("system-ui, sans-serif", size).into_font()).color(&INK);
    style.pos(Pos::new(across, VPos::Center))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{micro, ping_pong};

    #[test]
    fn each_experiment_gets_its_plots() {
        let names = |report: &Report| {
            let plots = plots(report).unwrap();
            plots.into_iter().map(|plot| plot.name).collect::<Vec<_>>()
        };
        assert_eq!(
            names(&ping_pong().0),
            ["medians", "words-call", "words-reply-wait", "words-pair"]
        );
        assert_eq!(names(&micro().0), ["medians"]);
        let (mut empty, _) = micro();
        empty.rows.clear();
        assert!(names(&empty).is_empty());
    }

    #[test]
    fn bars_carry_their_figures() {
        let plots = plots(&ping_pong().0).unwrap();
        for figure in ["240", "395", "1,406"] {
            assert!(plots[0].svg.contains(figure), "{figure} is not in the bar chart");
        }
        assert!(plots.iter().all(|plot| plot.svg.starts_with("<svg")));
    }
}
