//! Deterministic service: M/D/1//N, exactly.
//!
//! Seen where a service ends, the number k of CPUs that stay behind is a Markov chain. During the
//! next service each of the N - k CPUs that think asks with probability `p = 1 - e^-rho`, so
//! `k' = k - 1 + Bin(N - k, p)`. No CPU left behind: the first to ask starts a service while N - 1
//! think, as if one had stayed behind.
//!
//! The chain goes down by single steps. Hence for the cut above j, with `T_n(m)` the probability
//! that at least m of n ask: `sum_{i<=j} pi_i T(i to above j) = pi_{j+1} e^(-rho (N-j-1))`. All
//! terms are positive, so no digits are lost. Equal rates up and down across each cut at any
//! time, `P_k (N - k)/a = X pi_k`, give the shares of time; `P_N` is what `X s = 1 - P_0` leaves.

use crate::exponential::normalised;

/// P_k for k = 0..=N.
pub fn states(cpus: usize, load: f64) -> Vec<f64> {
    let behind = behind(cpus, load);
    let count = cpus as f64;
    // X in services per service time, from the mean time between two ends of service.
    let throughput = 1.0 / (1.0 + behind[0] / (load * count));
    let share = |(k, share): (usize, &f64)| throughput * share / (load * (cpus - k) as f64);
    let mut states: Vec<f64> = behind.iter().enumerate().map(share).collect();
    let others: f64 = states[1..].iter().sum();
    states.push((throughput - others).max(0.0));
    states
}

/// pi_k for k = 0..N: how often a CPU that releases the lock leaves k behind.
fn behind(cpus: usize, load: f64) -> Vec<f64> {
    let tails = tails(cpus - 1, load);
    let mut terms = Vec::with_capacity(cpus);
    terms.push(1.0);
    for j in 0..cpus - 1 {
        // From i, of n CPUs that think at least m must ask to pass above j.
        let rise = |i: usize| match i {
            0 => tails[cpus - 1][j + 1],
            i => tails[cpus - i][j + 2 - i],
        };
        let up: f64 = terms.iter().enumerate().map(|(i, term)| term * rise(i)).sum();
        let term = up / (-load * (cpus - j - 1) as f64).exp();
        // A ratio beyond all floats leaves nothing of the earlier terms.
        if term > 1.0 {
            terms.iter_mut().for_each(|earlier| *earlier /= term);
        }
        terms.push(term.min(1.0));
    }
    normalised(terms)
}

/// T_n(m) for n = 0..=most and m = 0..=n: the probability that at least m of n CPUs ask during a
/// service. Pascal's rule adds positive terms only.
fn tails(most: usize, load: f64) -> Vec<Vec<f64>> {
    let (asks, thinks) = (-(-load).exp_m1(), (-load).exp());
    let mut rows = vec![vec![1.0]];
    for n in 1..=most {
        let before = &rows[n - 1];
        let at = |m: usize| before.get(m).copied().unwrap_or(0.0);
        let rest = (1..=n).map(|m| thinks * at(m) + asks * at(m - 1));
        let row = std::iter::once(1.0).chain(rest).collect();
        rows.push(row);
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The chain's equilibrium by steps from a start, with plain binomial probabilities.
    fn plain(cpus: usize, load: f64) -> Vec<f64> {
        let p = 1.0 - (-load).exp();
        let choose = |n: usize, m: usize| (0..m).map(move |i| (n - i) as f64 / (m - i) as f64);
        let chance = |n: usize, m: usize| {
            choose(n, m).product::<f64>() * p.powi(m as i32) * (1.0 - p).powi((n - m) as i32)
        };
        let mut shares = vec![1.0 / cpus as f64; cpus];
        for _ in 0..20_000 {
            let mut next = vec![0.0; cpus];
            for (k, share) in shares.iter().enumerate() {
                let from = k.max(1);
                for asking in 0..=cpus - from {
                    next[from - 1 + asking] += share * chance(cpus - from, asking);
                }
            }
            shares = next;
        }
        shares
    }

    #[test]
    fn two_cpus_by_hand() {
        for load in [1e-6, 0.1, 1.0, 20.0] {
            let quiet = f64::exp(-load);
            let behind = behind(2, load);
            assert!((behind[0] - quiet).abs() < 1e-15, "{load}");
            let busy: f64 = states(2, load)[1..].iter().sum();
            assert!((busy - 1.0 / (1.0 + quiet / (2.0 * load))).abs() < 1e-12 * busy, "{load}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig {
            cases: ProptestConfig::default().cases.div_ceil(10),
            ..ProptestConfig::default()
        })]
        #[test]
        fn the_cuts_balance_as_the_chain_does(cpus in 1..8usize, load in 0.01..3.0f64) {
            for (ours, plain) in behind(cpus, load).iter().zip(plain(cpus, load)) {
                prop_assert!((ours - plain).abs() < 1e-10);
            }
        }
    }

    #[test]
    fn throughputs_of_a_solver_with_sixty_digits() {
        // s, a, N, X a second at 2 GHz.
        for (service, think, cpus, exact) in [
            (358.0, 2000.0, 4, 3_220_644.3284115),
            (358.0, 4000.0, 14, 5_296_702.86984511),
            (358.0, 16_000.0, 28, 3_373_898.61519227),
            (613.0, 4000.0, 28, 3_262_642.7406199),
            (1.0, 1e6, 28, 55_999.9439993),
        ] {
            let busy: f64 = states(cpus, service / think)[1..].iter().sum();
            let found = busy / service * 2e9;
            assert!((found / exact - 1.0).abs() < 1e-12, "{found} for {exact}");
        }
    }

    #[test]
    fn at_low_load_the_infinite_queue_appears() {
        // Many CPUs that ask rarely: M/D/1 with utilisation u waits u s / 2 (1 - u).
        let (cpus, load) = (1024, 0.5 / 1024.0);
        let states = states(cpus, load);
        let busy: f64 = states[1..].iter().sum();
        let at_lock: f64 = states.iter().enumerate().map(|(k, share)| k as f64 * share).sum();
        let wait = at_lock / busy - 1.0;
        assert!((wait - busy / (2.0 * (1.0 - busy))).abs() < 0.01, "{wait} at {busy}");
    }

    #[test]
    fn at_the_highest_load_every_cpu_waits() {
        let states = states(1024, 1e6);
        assert!(states[1024] > 0.999998 && states[..1023].iter().sum::<f64>() < 1e-9);
    }
}
