//! Plots as SVG: they use no system font and refer to nothing outside themselves.
//!
//! Colours are fixed names that the page overrides in the dark; the background stays clear.

mod bars;
pub(crate) mod chart;
mod labels;
mod legend;
mod paper;
mod sweep;
mod tail;

use crate::grid::Grid;
use crate::report::{WAKE_UP, WAKE_UP_P99};
use crate::{Report, Samples};
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

/// Our kernels: Paul Tol's muted colours, which stay apart for colour-blind readers.
const OURS: [RGBColor; 9] = [
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

/// All plots that a report's rows support, and its samples if they are there.
pub(crate) fn plots(report: &Report, samples: Option<&Samples>) -> io::Result<Vec<Plot>> {
    if !report.curves.is_empty() {
        return drawn_curves(report);
    }
    let grid = Grid::of(report);
    let mut plots = Vec::new();
    let mut push = |name: String, title: String, height, draw: &dyn Fn(&Area) -> Drawn| {
        let svg = image(height, &report.stands_for(), draw)?;
        plots.push(Plot { name, title, svg });
        Ok::<(), io::Error>(())
    };
    let figures = crate::paper::figures(&report.experiment);
    for figure in &figures {
        if let Some(paper) = paper::Paper::of(report, figure) {
            push(paper.name(), paper.title(), paper.height(), &|area| paper.draw(area))?;
        }
    }
    for tail in samples.into_iter().flat_map(|samples| tail::Tail::all(report, samples)) {
        push(tail.name(), tail.title(), tail::HEIGHT, &|area| tail.draw(area))?;
    }
    for sweep in sweep::Sweep::all(&grid).into_iter().filter(|sweep| !is_usual(sweep.metric)) {
        let (metric, parameter) = (sweep.metric, sweep.parameter);
        let drawn = figures.iter().find(|figure| figure.metric == metric && figure.is_curve());
        let title = match drawn {
            Some(figure) => figure.title.clone(),
            None => format!("{metric}: {} by {parameter}", report.unit),
        };
        let name = format!("{parameter}-{metric}");
        push(name, title, sweep::HEIGHT, &|area| sweep.draw(area))?;
        if let Some(relative) = drawn.and_then(|figure| sweep.relative_to(&figure.relative_to)) {
            let name = format!("{parameter}-{metric}-relative");
            let title = format!("The same, in percent above {}", relative.base);
            push(name, title, sweep::HEIGHT, &|area| relative.draw(area))?;
        }
    }
    let bars = bars::Bars::of(&grid);
    if bars.is_worthwhile(&grid) && !grid.lines.iter().any(|line| is_usual(line.metric)) {
        let title = format!("Median {} by kernel", report.unit);
        push("medians".into(), title, bars.height(), &|area| bars.draw(area))?;
    }
    Ok(plots)
}

/// Plots of a report that says itself what is drawn together.
fn drawn_curves(report: &Report) -> io::Result<Vec<Plot>> {
    let plot = |curves: &crate::Curves| {
        let svg = curves.chart(&report.stands_for()).svg()?;
        Ok(Plot { name: curves.name.clone(), title: curves.title.clone(), svg })
    };
    report.curves.iter().map(plot).collect()
}

/// Whether a metric's median is what is usual, where only what is late is worth a look.
fn is_usual(metric: &str) -> bool {
    [WAKE_UP, WAKE_UP_P99].contains(&metric)
}

/// Pixels for the line that says where the figures come from.
const FOOT: u32 = 22;

fn image(height: u32, origin: &str, draw: &dyn Fn(&Area) -> Drawn) -> io::Result<String> {
    let mut svg = String::new();
    let size = (WIDTH, height + FOOT);
    let area = SVGBackend::with_string(&mut svg, size).into_drawing_area();
    let drawn = draw(&area.clone().shrink((0, 0), (WIDTH, height))).and_then(|()| {
        let at = (WIDTH as i32 - 8, (height + FOOT / 2) as i32);
        Ok(area.draw(&Text::new(origin.to_string(), at, text(11, HPos::Right)))?)
    });
    drawn.map_err(io::Error::other)?;
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
            let plots = plots(report, None).unwrap();
            plots.into_iter().map(|plot| plot.name).collect::<Vec<_>>()
        };
        assert_eq!(
            names(&ping_pong().0),
            ["words-call", "words-reply-wait", "words-pair", "medians"]
        );
        assert_eq!(names(&micro().0), ["medians"]);
        let (mut empty, _) = micro();
        empty.rows.clear();
        assert!(names(&empty).is_empty());
    }

    #[test]
    fn a_figure_of_a_paper_is_drawn_again_and_relative() {
        let mut samples = crate::Samples::default();
        for (kernel, cost) in [("direct-lazy", 600), ("strict-lazy", 720), ("ipc-heap", 590)] {
            for potatoes in [1, 10, 249] {
                let case = format!("potatoes={potatoes}");
                samples.push(kernel, "hop", &case, vec![cost + potatoes; 3]);
            }
        }
        let (mut report, _) = micro();
        report.experiment = "hot-potato".into();
        report.machine = "twin".into();
        report.origin = crate::Origin::SIMULATED;
        report.rows = samples.rows();
        let plots = plots(&report, None).unwrap();
        let names: Vec<_> = plots.iter().map(|plot| plot.name.as_str()).collect();
        assert_eq!(names, ["potatoes-hop", "potatoes-hop-relative"]);
        assert!(plots[0].title.contains("figures 5.3 and 5.4"));
        assert!(plots[0].svg.contains("does not begin at 0"));
        assert!(plots[1].svg.contains("+20 %") && plots[1].title.contains("direct-lazy"));
        for plot in plots {
            assert!(plot.svg.contains("on twin (simulated), instructions"));
            for kernel in ["direct-lazy", "strict-lazy", "ipc-heap"] {
                assert!(plot.svg.contains(kernel), "{kernel} is not in {}", plot.name);
            }
        }
    }

    #[test]
    fn bars_carry_their_figures() {
        let plots = plots(&ping_pong().0, None).unwrap();
        let bars = plots.iter().find(|plot| plot.name == "medians").unwrap();
        for figure in ["240", "395", "1,406", "on bench (emulated), instructions"] {
            assert!(bars.svg.contains(figure), "{figure} is not in the bar chart");
        }
        assert!(plots.iter().all(|plot| plot.svg.starts_with("<svg")));
    }
}
