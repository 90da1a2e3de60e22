//! Medians as grouped bars: one group a metric and case, one bar a kernel or system.

use super::{Area, Drawn, INK, RULE, WIDTH, colour_of, colour_of_system, legend, text};
use crate::Figure;
use crate::grid::{Grid, Line};
use plotters::prelude::*;
use plotters::style::text_anchor::HPos;

const LEFT: i32 = 190;
/// Room for the longest figure beside its bar.
const RIGHT: i32 = 70;
const BAR: i32 = 13;
const GAP: i32 = 10;

/// The bars of a report.
pub(super) struct Bars<'a> {
    legend: Vec<(&'a str, RGBColor)>,
    groups: Vec<(String, Vec<(Figure, RGBColor)>)>,
    most: f64,
}

impl<'a> Bars<'a> {
    pub fn of(grid: &Grid<'a>) -> Bars<'a> {
        let groups = grid.shortest().map(|line| (line.title(), bars(line))).collect::<Vec<_>>();
        let figures = groups.iter().flat_map(|(_, bars)| bars).map(|(figure, _)| figure.as_f64());
        let most = figures.fold(1.0, f64::max);
        Bars { legend: legend::entries(grid), groups, most }
    }

    /// Whether they show what no curve does: several operations, or what is not swept.
    pub fn is_worthwhile(&self, grid: &Grid) -> bool {
        self.groups.len() > 1 || grid.shortest().any(|line| line.case.value.is_none())
    }

    /// Where the first bar begins.
    fn top(&self) -> i32 {
        legend::height(&self.legend) + 8
    }

    /// Pixels down; 0 for an empty chart.
    pub fn height(&self) -> u32 {
        let groups =
            self.groups.iter().map(|(_, bars)| bars.len() as u32 * BAR as u32 + GAP as u32);
        let top = self.top() as u32;
        groups.reduce(|a, b| a + b).map_or(0, |groups| groups + top)
    }

    pub fn draw(&self, area: &Area) -> Drawn {
        legend::draw(area, (LEFT, 14), &self.legend)?;
        let room = f64::from(WIDTH as i32 - LEFT - RIGHT);
        let top = self.top();
        let mut y = top;
        for (title, bars) in &self.groups {
            let middle = y + BAR * bars.len() as i32 / 2;
            area.draw(&Text::new(title.clone(), (LEFT - 10, middle), text(13, HPos::Right)))?;
            for (figure, colour) in bars {
                let end = LEFT + (figure.as_f64() / self.most * room).round().max(1.0) as i32;
                let corners = [(LEFT, y + 1), (end, y + BAR - 1)];
                area.draw(&Rectangle::new(corners, colour.filled()))?;
                let label = Text::new(figure.grouped(), (end + 6, y + BAR / 2), figure_style());
                area.draw(&label)?;
                y += BAR;
            }
            y += GAP;
        }
        let axis = vec![(LEFT, top - 4), (LEFT, y - GAP + 4)];
        area.draw(&PathElement::new(axis, RULE))?;
        Ok(())
    }
}

fn figure_style() -> TextStyle<'static> {
    text(11, HPos::Left).color(&INK)
}

/// The figures of a line, ours before theirs.
fn bars(line: &Line) -> Vec<(Figure, RGBColor)> {
    let ours = line.ours.iter().enumerate();
    let ours = ours.filter_map(|(i, cell)| Some((cell.as_ref()?.figure, colour_of(i))));
    let theirs = line.theirs.iter().enumerate();
    let theirs = theirs.filter_map(|(i, figure)| Some(((*figure)?, colour_of_system(i))));
    ours.chain(theirs).collect()
}
