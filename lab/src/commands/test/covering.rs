//! Covering arrays: few rows in which every two values of every two factors meet.

use std::collections::BTreeSet;

/// Chooses from all rows that are `allowed`, where a row gives each factor one of so many values,
/// some in which any two values meet that meet in one of them. Greedy: each row covers as many new
/// pairs as any, the first of these.
pub fn pairwise(values: &[usize], allowed: impl Fn(&[usize]) -> bool) -> Vec<Vec<usize>> {
    let rows: Vec<Vec<usize>> = all(values).into_iter().filter(|row| allowed(row)).collect();
    let mut missing: BTreeSet<Pair> = rows.iter().flat_map(|row| pairs(row)).collect();
    let mut chosen = Vec::new();
    while !missing.is_empty() {
        let gain = |row: &&Vec<usize>| pairs(row).filter(|pair| missing.contains(pair)).count();
        let best = rows.iter().rev().max_by_key(gain).expect("a pair comes from a row");
        pairs(best).for_each(|pair| {
            missing.remove(&pair);
        });
        chosen.push(best.clone());
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

/// Two factors with their values.
type Pair = [(usize, usize); 2];

fn pairs(row: &[usize]) -> impl Iterator<Item = Pair> {
    let later = move |first: usize| (first + 1..row.len()).map(move |second| [first, second]);
    (0..row.len()).flat_map(later).map(|pair| pair.map(|factor| (factor, row[factor])))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_covered(rows: &[Vec<usize>], pair: Pair) -> bool {
        rows.iter().any(|row| pair.iter().all(|(factor, value)| row[*factor] == *value))
    }

    #[test]
    fn every_pair_is_covered_by_few_rows() {
        let values = [9, 4, 4, 3, 2];
        let rows = pairwise(&values, |_| true);
        for row in all(&values) {
            assert!(pairs(&row).all(|pair| is_covered(&rows, pair)), "{row:?}");
        }
        assert_eq!(all(&values).len(), 864);
        assert!((36..=48).contains(&rows.len()), "{} rows", rows.len());
    }

    #[test]
    fn no_row_is_forbidden_and_what_is_left_is_covered() {
        // As one CPU goes with the first locking, and several with the others.
        let allowed = |row: &[usize]| (row[0] == 0) == (row[1] == 0);
        let rows = pairwise(&[4, 4, 3], allowed);
        assert!(rows.iter().all(|row| allowed(row)));
        for row in all(&[4, 4, 3]).iter().filter(|row| allowed(row)) {
            assert!(pairs(row).all(|pair| is_covered(&rows, pair)), "{row:?}");
        }
        assert!(!is_covered(&rows, [(0, 0), (1, 2)]));
    }

    #[test]
    fn nothing_comes_of_nothing() {
        assert_eq!(pairwise(&[2, 2], |_| false), Vec::<Vec<usize>>::new());
        assert_eq!(pairwise(&[3], |_| true), Vec::<Vec<usize>>::new());
    }
}
