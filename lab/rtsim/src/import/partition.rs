//! Which task runs on which CPU.

/// A CPU for each of these shares of one: the greatest first, each on the first CPU that has room
/// for it, or else on the one that has most.
pub(super) fn decreasing_first_fit(shares: &[f64], cpus: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..shares.len()).collect();
    order.sort_by(|one, other| shares[*other].total_cmp(&shares[*one]));
    let (mut used, mut seats) = (vec![0.0; cpus], vec![0; shares.len()]);
    for place in order {
        let fits = used.iter().position(|used| used + shares[place] <= 1.0 + 1e-9);
        let least = (0..cpus).min_by(|one, other| used[*one].total_cmp(&used[*other]));
        let cpu = fits.or(least).unwrap_or(0);
        used[cpu] += shares[place];
        seats[place] = cpu;
    }
    seats
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_greatest_are_placed_first() {
        assert_eq!(decreasing_first_fit(&[0.5, 0.6, 0.4, 0.3], 2), [1, 0, 0, 1]);
        assert_eq!(decreasing_first_fit(&[0.9, 0.8, 0.7], 2), [0, 1, 1], "where most room is");
    }
}
