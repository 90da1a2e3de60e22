//! Bars to the right, in groups.

use super::{Area, Drawn, Group, RULE, WIDTH, text};
use plotters::prelude::*;
use plotters::style::text_anchor::HPos;

/// Pixels down of a bar.
const BAR: i32 = 13;
/// Pixels between two groups.
const GAP: i32 = 10;

/// Pixels down that the groups take.
pub(super) fn height(groups: &[Group]) -> i32 {
    groups.iter().map(|group| group.bars.len() as i32 * BAR + GAP).sum()
}

pub(super) fn draw(area: &Area, groups: &[Group]) -> Drawn {
    let longest = |length: &dyn Fn(&Group) -> usize| groups.iter().map(length).max().unwrap_or(0);
    let left = 20 + 7 * longest(&|group| group.title.chars().count()) as i32;
    let label = |group: &Group| group.bars.iter().map(|bar| bar.label.len()).max().unwrap_or(0);
    let right = 14 + 7 * longest(&label) as i32;
    let bars = groups.iter().flat_map(|group| &group.bars);
    let most = bars.map(|bar| bar.value).fold(f64::MIN_POSITIVE, f64::max);
    let room = f64::from(WIDTH as i32 - left - right);
    let mut y = GAP / 2;
    for group in groups {
        let middle = y + BAR * group.bars.len() as i32 / 2;
        area.draw(&Text::new(group.title.clone(), (left - 10, middle), text(13, HPos::Right)))?;
        for bar in &group.bars {
            let end = left + (bar.value / most * room).round().max(1.0) as i32;
            let corners = [(left, y + 1), (end, y + BAR - 1)];
            area.draw(&Rectangle::new(corners, bar.colour.rgb().filled()))?;
            let at = (end + 6, y + BAR / 2);
            area.draw(&Text::new(bar.label.clone(), at, text(11, HPos::Left)))?;
            y += BAR;
        }
        y += GAP;
    }
    Ok(area.draw(&PathElement::new(vec![(left, 0), (left, y - GAP / 2)], RULE))?)
}
