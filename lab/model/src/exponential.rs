//! Exponential service: M/M/1//N.
//!
//! Balance across the cut between k and k + 1 CPUs at the lock: `P_k (N - k)/a = P_{k+1}/s`.
//! Hence `t_0 = 1, t_{k+1} = t_k (N - k) rho` and `P_k = t_k / sum t`. The terms span more than
//! floats do, so they are scaled down together when one grows large. What then falls to zero has
//! a share of time below [`LARGE`]'s inverse.

/// Terms are scaled down from here.
const LARGE: f64 = 1e200;

/// P_k for k = 0..=N.
pub fn states(cpus: usize, load: f64) -> Vec<f64> {
    let mut terms = Vec::with_capacity(cpus + 1);
    terms.push(1.0);
    for k in 0..cpus {
        let term: f64 = terms[k] * (cpus - k) as f64 * load;
        terms.push(term);
        if term > LARGE {
            terms.iter_mut().for_each(|earlier| *earlier /= term);
        }
    }
    normalised(terms)
}

/// Shares of their sum.
pub fn normalised(mut terms: Vec<f64>) -> Vec<f64> {
    let sum: f64 = terms.iter().sum();
    terms.iter_mut().for_each(|term| *term /= sum);
    terms
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// P_k by (3) in whole numbers: `p^k q^(N-k) N!/(N-k)!` for rho = p/q.
    fn plain(cpus: u32, p: u128, q: u128) -> Vec<f64> {
        let falling = |k: u32| (cpus - k + 1..=cpus).map(u128::from).product::<u128>();
        let terms: Vec<u128> =
            (0..=cpus).map(|k| p.pow(k) * q.pow(cpus - k) * falling(k)).collect();
        let sum: u128 = terms.iter().sum();
        terms.iter().map(|term| *term as f64 / sum as f64).collect()
    }

    proptest! {
        #[test]
        fn the_recurrence_is_the_formula(cpus in 1..10u32, p in 1..1000u128, q in 1..1000u128) {
            let states = states(cpus as usize, p as f64 / q as f64);
            let plain = plain(cpus, p, q);
            prop_assert_eq!(states.len(), plain.len());
            for (ours, exact) in states.iter().zip(plain) {
                prop_assert!((ours - exact).abs() <= 1e-13 * exact);
            }
        }
    }

    #[test]
    fn the_largest_system_under_the_highest_load_is_all_queue() {
        let states = states(1024, 1e6);
        // One CPU thinks for a share of rho^-1 of the time, to first order.
        assert!((states[1023] / states[1024] - 1e-6).abs() < 1e-15);
        assert!(states[1024] > 0.999998 && states[0] == 0.0);
    }
}
