//! Names at the right ends of curves, apart from each other.

use super::{Area, Drawn, text};
use plotters::prelude::*;
use plotters::style::text_anchor::HPos;
use std::ops::Range;

/// Pixels across that names take.
pub(super) const ROOM: i32 = 118;
/// Pixels down from name to name.
const STEP: i32 = 15;
/// Pixels across from the end of a curve to its name.
const GAP: i32 = 26;

/// A name, its colour, and where its curve ends.
pub(super) type Label<'a> = (&'a str, RGBColor, (i32, i32));

/// Draws the names beside the ends of their curves, each tied to its own, within the heights.
pub(super) fn draw(area: &Area, mut labels: Vec<Label>, heights: Range<i32>) -> Drawn {
    labels.sort_by_key(|(_, _, (_, y))| *y);
    let wanted: Vec<i32> = labels.iter().map(|(_, _, (_, y))| *y).collect();
    for ((name, colour, (x, end)), y) in labels.into_iter().zip(spread(&wanted, heights)) {
        let tie = vec![(x + 4, end), (x + 10, end), (x + GAP - 8, y), (x + GAP - 3, y)];
        area.draw(&PathElement::new(tie, colour))?;
        area.draw(&Text::new(name.to_string(), (x + GAP, y), text(13, HPos::Left)))?;
    }
    Ok(())
}

/// Places near the wanted ones, which are in order, but a step apart and within the heights, if
/// these have room for all.
fn spread(wanted: &[i32], heights: Range<i32>) -> Vec<i32> {
    // Groups of names that touch each other, each centred on what its names want.
    let mut groups: Vec<(i32, Vec<i32>)> = Vec::new();
    for want in wanted {
        groups.push(((*want).min(heights.end).max(heights.start), vec![*want]));
        while let [.., above, below] = groups.as_slice() {
            if above.0 + STEP * above.1.len() as i32 <= below.0 {
                break;
            }
            let mut members = above.1.clone();
            members.extend(&below.1);
            let count = members.len() as i32;
            let centre = members.iter().sum::<i32>() / count;
            let lowest = heights.end - STEP * (count - 1);
            let top = (centre - STEP * (count - 1) / 2).min(lowest).max(heights.start);
            groups.truncate(groups.len() - 2);
            groups.push((top, members));
        }
    }
    let places = groups
        .iter()
        .flat_map(|(top, members)| (0..members.len() as i32).map(move |index| top + STEP * index));
    places.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn names_stay_where_there_is_room() {
        assert_eq!(spread(&[10, 40, 90], 0..200), [10, 40, 90]);
        assert_eq!(spread(&[50, 50, 50], 0..200), [35, 50, 65]);
        assert_eq!(spread(&[200, 200], 0..200), [185, 200]);
        assert_eq!(spread(&[2, 3], 10..200), [10, 25]);
        assert!(spread(&[], 0..200).is_empty());
    }

    proptest! {
        #[test]
        fn names_never_touch(mut wanted in prop::collection::vec(0..300i32, 1..12)) {
            wanted.sort_unstable();
            let places = spread(&wanted, 20..280);
            prop_assert_eq!(places.len(), wanted.len());
            prop_assert!(places.windows(2).all(|two| two[1] - two[0] >= STEP));
            prop_assert!(places.iter().all(|place| (20..=280).contains(place)));
        }
    }
}
