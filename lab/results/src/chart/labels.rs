//! Names at the right ends of curves, apart from each other.

use super::{Area, Colour, Drawn, text};
use plotters::prelude::*;
use plotters::style::text_anchor::HPos;
use std::ops::Range;

/// Pixels across that names take.
pub(super) const ROOM: i32 = 118;
/// Pixels down from name to name.
const STEP: i32 = 15;
/// Pixels across from the end of a curve to its name.
const GAP: i32 = 26;

/// A name, its colour, and how far down its curve ends.
pub(super) type Label<'a> = (&'a str, Colour, i32);

/// Draws the names beside the ends of their curves, each tied to its own, within the heights.
pub(super) fn draw(area: &Area, x: i32, mut labels: Vec<Label>, heights: Range<i32>) -> Drawn {
    labels.sort_by_key(|(_, _, end)| *end);
    let wanted: Vec<i32> = labels.iter().map(|(_, _, end)| *end).collect();
    for ((name, colour, end), y) in labels.into_iter().zip(spread(&wanted, heights)) {
        let tie = vec![(x + 4, end), (x + 10, end), (x + GAP - 8, y), (x + GAP - 3, y)];
        area.draw(&PathElement::new(tie, colour.rgb()))?;
        area.draw(&Text::new(name.to_string(), (x + GAP, y), text(13, HPos::Left)))?;
    }
    Ok(())
}

/// Places near the wanted ones, which are in order, but a step apart and within the heights, if
/// these have room for all: downwards as far as needed, then back from the lower edge.
fn spread(wanted: &[i32], heights: Range<i32>) -> Vec<i32> {
    let mut places = wanted.to_vec();
    let mut next = heights.start;
    for place in &mut places {
        *place = (*place).max(next);
        next = *place + STEP;
    }
    let mut last = heights.end;
    for place in places.iter_mut().rev() {
        *place = (*place).min(last);
        last = *place - STEP;
    }
    places
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn names_stay_where_there_is_room() {
        assert_eq!(spread(&[10, 40, 90], 0..200), [10, 40, 90]);
        assert_eq!(spread(&[50, 50, 50], 0..200), [50, 65, 80]);
        assert_eq!(spread(&[200, 200], 0..200), [185, 200]);
        assert_eq!(spread(&[2, 3], 10..200), [10, 25]);
    }

    proptest! {
        #[test]
        fn names_never_touch(mut wanted in prop::collection::vec(0..300i32, 1..12)) {
            wanted.sort_unstable();
            let places = spread(&wanted, 20..280);
            prop_assert!(places.windows(2).all(|two| two[1] - two[0] >= STEP));
            prop_assert!(places.iter().all(|place| (20..=280).contains(place)));
        }
    }
}
