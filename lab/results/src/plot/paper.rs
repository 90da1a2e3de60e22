//! A paper's figure beside ours: both relative to one kernel, so that units do not matter.

use super::{Area, Drawn, INK, RULE, WIDTH, text};
use crate::Report;
use crate::paper::PaperFigure;
use plotters::prelude::*;
use plotters::style::text_anchor::HPos;

const LEFT: i32 = 130;
const RIGHT: i32 = 80;
const TOP: i32 = 40;
const BAR: i32 = 12;
const GAP: i32 = 10;
const OURS: RGBColor = RGBColor(13, 148, 136);
const THEIRS: RGBColor = RGBColor(173, 178, 188);

/// Bars of a figure: kernel, ours, theirs, each relative to the same kernel.
pub(super) struct Paper<'a> {
    figure: &'a PaperFigure,
    ours: String,
    bars: Vec<Bar>,
}

/// A kernel with its figure and the paper's, each with what it is relative to one of them.
struct Bar {
    kernel: String,
    ours: (f64, f64),
    theirs: (f64, f64),
}

impl<'a> Paper<'a> {
    /// The figure beside a report's rows; `None` without the kernel that it is relative to.
    pub fn of(report: &Report, figure: &'a PaperFigure) -> Option<Paper<'a>> {
        let median = |kernel: &str| {
            report.median(kernel, &figure.metric, &figure.case).map(|figure| figure.as_f64())
        };
        let base = median(&figure.relative_to).filter(|base| *base > 0.0)?;
        let their_base = *figure.values.get(&figure.relative_to)? as f64;
        let bar = |kernel: &&str| {
            let (ours, theirs) = (median(kernel)?, *figure.values.get(*kernel)? as f64);
            let kernel = kernel.to_string();
            Some(Bar { kernel, ours: (ours, ours / base), theirs: (theirs, theirs / their_base) })
        };
        let bars: Vec<_> = report.kernels().iter().filter_map(bar).collect();
        let ours = format!("ours: {} a {} on {}", report.unit, figure.metric, report.machine);
        (bars.len() > 1).then_some(Paper { figure, ours, bars })
    }

    pub fn name(&self) -> String {
        format!("paper-{}", self.figure.id)
    }

    pub fn title(&self) -> String {
        self.figure.title.clone()
    }

    /// Pixels down.
    pub fn height(&self) -> u32 {
        (TOP + self.bars.len() as i32 * (2 * BAR + GAP)) as u32
    }

    pub fn draw(&self, area: &Area) -> Drawn {
        let theirs = format!("the paper: {}", self.figure.unit);
        for (index, (name, colour)) in [(&self.ours, OURS), (&theirs, THEIRS)].iter().enumerate() {
            let (x, y) = (LEFT, 10 + 16 * index as i32);
            area.draw(&Rectangle::new([(x, y - 5), (x + 10, y + 5)], colour.filled()))?;
            area.draw(&Text::new(name.to_string(), (x + 16, y), text(13, HPos::Left)))?;
        }
        let most = self.bars.iter().flat_map(|bar| [bar.ours.1, bar.theirs.1]).fold(1.0, f64::max);
        let room = f64::from(WIDTH as i32 - LEFT - RIGHT);
        let mut y = TOP;
        for Bar { kernel, ours, theirs } in &self.bars {
            area.draw(&Text::new(kernel.clone(), (LEFT - 10, y + BAR), text(13, HPos::Right)))?;
            for ((figure, share), colour) in [(ours, OURS), (theirs, THEIRS)] {
                let end = LEFT + (share / most * room).round() as i32;
                area.draw(&Rectangle::new([(LEFT, y + 1), (end, y + BAR - 1)], colour.filled()))?;
                let label = format!("{share:.2} ({figure})");
                let at = (end + 6, y + BAR / 2);
                area.draw(&Text::new(label, at, text(12, HPos::Left).color(&INK)))?;
                y += BAR;
            }
            y += GAP;
        }
        area.draw(&PathElement::new(vec![(LEFT, TOP - 4), (LEFT, y - GAP + 4)], RULE))?;
        Ok(())
    }
}
