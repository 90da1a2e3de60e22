//! Covering arrays: few rows in which any so many values of different factors meet.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};

/// Chooses from all rows that are `allowed`, where a row gives each factor one of so many values,
/// some in which any `strength` values meet that meet in one of them. Greedy: each row covers as
/// many new meetings as any, the first of these.
pub fn array(
    values: &[usize],
    strength: usize,
    allowed: impl Fn(&[usize]) -> bool,
) -> Vec<Vec<usize>> {
    let rows: Vec<Vec<usize>> = all(values).into_iter().filter(|row| allowed(row)).collect();
    let mut missing: BTreeSet<Meeting> =
        rows.iter().flat_map(|row| meetings(row, strength)).collect();
    let gain = |row: &[usize], missing: &BTreeSet<Meeting>| {
        meetings(row, strength).iter().filter(|meeting| missing.contains(*meeting)).count()
    };
    // What a row would cover only shrinks, so the first whose figure is still right is the best.
    let ranked = |(index, row): (usize, &Vec<usize>)| (gain(row, &missing), Reverse(index));
    let mut best: BinaryHeap<_> = rows.iter().enumerate().map(ranked).collect();
    let mut chosen = Vec::new();
    while !missing.is_empty() {
        let (before, Reverse(index)) = best.pop().expect("a meeting comes from a row");
        let row = &rows[index];
        let now = gain(row, &missing);
        if now < before {
            best.push((now, Reverse(index)));
            continue;
        }
        meetings(row, strength).iter().for_each(|meeting| {
            missing.remove(meeting);
        });
        chosen.push(row.clone());
    }
    chosen
}

/// Every row.
pub fn all(values: &[usize]) -> Vec<Vec<usize>> {
    let longer = |rows: Vec<Vec<usize>>, count: &usize| {
        let with = |row: &Vec<usize>, value| [&row[..], &[value]].concat();
        rows.iter().flat_map(|row| (0..*count).map(move |value| with(row, value))).collect()
    };
    values.iter().fold(vec![Vec::new()], longer)
}

/// Factors with their values.
type Meeting = Vec<(usize, usize)>;

/// The meetings of a row.
fn meetings(row: &[usize], strength: usize) -> Vec<Meeting> {
    let longer = |meetings: Vec<Meeting>, _| {
        let with = |meeting: Meeting| {
            let next = meeting.last().map_or(0, |(factor, _)| factor + 1);
            (next..row.len()).map(move |factor| [&meeting[..], &[(factor, row[factor])]].concat())
        };
        meetings.into_iter().flat_map(with).collect()
    };
    (0..strength).fold(vec![Vec::new()], longer)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_covered(rows: &[Vec<usize>], meeting: &[(usize, usize)]) -> bool {
        rows.iter().any(|row| meeting.iter().all(|(factor, value)| row[*factor] == *value))
    }

    #[test]
    fn every_meeting_is_covered_by_few_rows() {
        let values = [9, 4, 4, 3, 2];
        for (strength, few) in [(1, 9..=9), (2, 36..=48), (3, 144..=190), (5, 864..=864)] {
            let rows = array(&values, strength, |_| true);
            for row in all(&values) {
                for meeting in meetings(&row, strength) {
                    assert!(is_covered(&rows, &meeting), "{meeting:?}");
                }
            }
            assert!(few.contains(&rows.len()), "{} rows", rows.len());
        }
        assert_eq!(all(&values).len(), 864);
    }

    #[test]
    fn no_row_is_forbidden_and_what_is_left_is_covered() {
        // As one CPU goes with the first locking, and several with the others.
        let allowed = |row: &[usize]| (row[0] == 0) == (row[1] == 0);
        let rows = array(&[4, 4, 3], 2, allowed);
        assert!(rows.iter().all(|row| allowed(row)));
        for row in all(&[4, 4, 3]).iter().filter(|row| allowed(row)) {
            assert!(meetings(row, 2).iter().all(|pair| is_covered(&rows, pair)), "{row:?}");
        }
        assert!(!is_covered(&rows, &[(0, 0), (1, 2)]));
    }

    #[test]
    fn nothing_comes_of_nothing() {
        assert_eq!(array(&[2, 2], 2, |_| false), Vec::<Vec<usize>>::new());
        assert_eq!(array(&[3], 2, |_| true), Vec::<Vec<usize>>::new());
    }
}
