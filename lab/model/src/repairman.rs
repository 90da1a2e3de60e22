//! The machine-repairman model: one lock, N CPUs.

use crate::error::positive;
use crate::{ModelError, deterministic, exponential};
use serde::Serialize;
use std::ops::RangeInclusive;

/// The greatest number of CPUs.
pub const MOST_CPUS: usize = 1024;

/// Loads that are reckoned with.
const LOADS: RangeInclusive<f64> = 1e-9..=1e9;

/// How service times scatter around their mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Distribution {
    /// Exponentially (M/M/1//N): the paper's model; the knee is round.
    Exponential,
    /// Not at all (M/D/1//N): the knee is sharper, and real locks are nearer to it.
    Deterministic,
}

impl Distribution {
    /// What it is called.
    pub fn name(self) -> &'static str {
        match self {
            Distribution::Exponential => "exponential",
            Distribution::Deterministic => "deterministic",
        }
    }

    /// What queueing theory calls the model.
    pub fn kendall(self) -> &'static str {
        match self {
            Distribution::Exponential => "M/M/1//N",
            Distribution::Deterministic => "M/D/1//N",
        }
    }
}

/// A lock and what its users do in between.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Repairman {
    service: f64,
    think: f64,
}

/// What some number of CPUs comes to.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Solution {
    /// N.
    pub cpus: usize,
    /// X: passes through the lock per unit of time.
    pub throughput: f64,
    /// w: the mean number of CPUs that hold the lock or wait for it.
    pub at_lock: f64,
    /// R: the mean time from asking for the lock to having released it.
    pub response: f64,
    /// The share of time in which the lock is held: 1 - P_0.
    pub busy: f64,
    /// P_k for k = 0..=N: the share of time in which k CPUs hold the lock or wait for it.
    pub states: Vec<f64>,
}

impl Repairman {
    /// A lock that is held for `service`, hand-off included, by CPUs that do without it for a
    /// mean of `think`.
    pub fn new(service: f64, think: f64) -> Result<Repairman, ModelError> {
        let (service, think) = (positive("service", service)?, positive("think", think)?);
        let load = service / think;
        let known = LOADS.contains(&load);
        known.then_some(Repairman { service, think }).ok_or(ModelError::Load(load))
    }

    /// s.
    pub fn service(&self) -> f64 {
        self.service
    }

    /// a.
    pub fn think(&self) -> f64 {
        self.think
    }

    /// rho = s/a.
    pub fn load(&self) -> f64 {
        self.service / self.think
    }

    /// N* = 1 + a/s: where the asymptotes meet.
    pub fn knee(&self) -> f64 {
        1.0 + self.think / self.service
    }

    /// 1/s, which no throughput exceeds.
    pub fn saturation(&self) -> f64 {
        1.0 / self.service
    }

    /// N/(a + s): the throughput of CPUs that never wait.
    pub fn unhindered(&self, cpus: usize) -> f64 {
        cpus as f64 / (self.think + self.service)
    }

    /// The lower of both asymptotes, an upper bound.
    pub fn bound(&self, cpus: usize) -> f64 {
        self.unhindered(cpus).min(self.saturation())
    }

    /// The exact state of equilibrium with so many CPUs, 1 to [`MOST_CPUS`].
    pub fn solve(&self, cpus: usize, distribution: Distribution) -> Result<Solution, ModelError> {
        check_cpus(cpus)?;
        let states = match distribution {
            Distribution::Exponential => exponential::states(cpus, self.load()),
            Distribution::Deterministic => deterministic::states(cpus, self.load()),
        };
        Ok(self.solution(states))
    }

    /// What follows from the states.
    fn solution(&self, states: Vec<f64>) -> Solution {
        // 1 - P_0 as a sum keeps its digits where P_0 is nearly 1.
        let busy: f64 = states[1..].iter().rev().sum();
        let at_lock: f64 = states.iter().enumerate().map(|(k, share)| k as f64 * share).sum();
        let throughput = busy / self.service;
        let response = at_lock / throughput;
        Solution { cpus: states.len() - 1, throughput, at_lock, response, busy, states }
    }
}

impl Solution {
    /// N - w: the mean number of CPUs that think. `X` is also this number over `a`.
    pub fn thinking(&self) -> f64 {
        let thinking = |(k, share): (usize, &f64)| (self.cpus - k) as f64 * share;
        self.states.iter().enumerate().map(thinking).sum()
    }
}

/// Refuses what cannot be reckoned with.
pub(crate) fn check_cpus(cpus: usize) -> Result<(), ModelError> {
    let good = (1..=MOST_CPUS).contains(&cpus);
    good.then_some(()).ok_or(ModelError::Cpus { cpus, most: MOST_CPUS })
}

#[cfg(test)]
mod tests {
    use super::*;
    use Distribution::{Deterministic, Exponential};
    use proptest::prelude::*;

    const CPUS: [usize; 8] = [1, 2, 4, 7, 10, 14, 20, 28];

    /// s, a, X in millions a second at 2 GHz for each of [`CPUS`], 1/s likewise, N*.
    type Row = (f64, f64, [f64; 8], f64, f64);

    #[rustfmt::skip]
    const TABLE: [Row; 12] = [
        (358.0, 500.0, [2.331, 3.971, 5.364, 5.584, 5.587, 5.587, 5.587, 5.587], 5.587, 2.4),
        (358.0, 1000.0, [1.473, 2.754, 4.564, 5.496, 5.584, 5.587, 5.587, 5.587], 5.587, 3.8),
        (358.0, 2000.0, [0.848, 1.658, 3.118, 4.703, 5.411, 5.580, 5.587, 5.587], 5.587, 6.6),
        (358.0, 4000.0, [0.459, 0.912, 1.794, 3.029, 4.094, 5.081, 5.557, 5.587], 5.587, 12.2),
        (358.0, 8000.0, [0.239, 0.478, 0.951, 1.652, 2.337, 3.212, 4.371, 5.346], 5.587, 23.3),
        (358.0, 16000.0, [0.122, 0.244, 0.488, 0.853, 1.216, 1.698, 2.411, 3.333], 5.587, 45.7),
        (358.0, 32000.0, [0.062, 0.124, 0.247, 0.432, 0.617, 0.864, 1.233, 1.723], 5.587, 90.4),
        (323.0, 500.0, [2.430, 4.212, 5.870, 6.186, 6.192, 6.192, 6.192, 6.192], 6.192, 2.5),
        (323.0, 4000.0, [0.463, 0.920, 1.816, 3.089, 4.227, 5.386, 6.114, 6.192], 6.192, 13.4),
        (613.0, 500.0, [1.797, 2.757, 3.236, 3.263, 3.263, 3.263, 3.263, 3.263], 3.263, 1.8),
        (613.0, 4000.0, [0.434, 0.852, 1.627, 2.548, 3.065, 3.249, 3.263, 3.263], 3.263, 7.5),
        (613.0, 16000.0, [0.120, 0.240, 0.479, 0.835, 1.184, 1.637, 2.271, 2.930], 3.263, 27.1),
    ];

    #[test]
    fn the_ledgers_table_comes_out_digit_by_digit() {
        for (service, think, printed, saturation, knee) in TABLE {
            let model = Repairman::new(service, think).unwrap();
            let millions = |throughput: f64| format!("{:.3}", throughput * 2e3);
            for (cpus, printed) in CPUS.into_iter().zip(printed) {
                let solution = model.solve(cpus, Exponential).unwrap();
                let case = format!("s={service} a={think} N={cpus}");
                assert_eq!(millions(solution.throughput), format!("{printed:.3}"), "{case}");
            }
            assert_eq!(millions(model.saturation()), format!("{saturation:.3}"));
            assert_eq!(format!("{:.1}", model.knee()), format!("{knee:.1}"));
        }
    }

    #[test]
    fn what_is_no_time_or_no_number_of_cpus_is_refused() {
        for wrong in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(matches!(
                Repairman::new(wrong, 1.0),
                Err(ModelError::Time { what: "service", .. })
            ));
            assert!(matches!(
                Repairman::new(1.0, wrong),
                Err(ModelError::Time { what: "think", .. })
            ));
        }
        assert_eq!(Repairman::new(1e10, 1.0), Err(ModelError::Load(1e10)));
        let model = Repairman::new(1.0, 1.0).unwrap();
        for wrong in [0, MOST_CPUS + 1] {
            for distribution in [Exponential, Deterministic] {
                let refused = Err(ModelError::Cpus { cpus: wrong, most: MOST_CPUS });
                assert_eq!(model.solve(wrong, distribution), refused);
            }
        }
    }

    /// Checks what holds of every solution.
    fn check(model: &Repairman, solution: &Solution) {
        let Solution { cpus, throughput, at_lock, response, busy, states } = solution;
        let near = |a: f64, b: f64| (a - b).abs() <= 1e-9 * a.abs().max(b.abs());
        let case = format!("{model:?} N={cpus}");
        assert!(states.iter().all(|share| (0.0..=1.0).contains(share)), "{case}");
        assert!(near(states.iter().sum(), 1.0), "{case}");
        // Both forms of (5), and Little's law in both forms.
        assert!(near(*throughput, solution.thinking() / model.think()), "{case}");
        assert!(near(at_lock + solution.thinking(), *cpus as f64), "{case}");
        let other = *cpus as f64 / throughput - model.think();
        assert!((response - other).abs() <= 1e-9 * (response + model.think()), "{case}");
        assert!(*throughput <= model.bound(*cpus) * (1.0 + 1e-12), "{case}");
        assert!(*response >= model.service() * (1.0 - 1e-12), "{case}");
        assert!(*busy <= 1.0 + 1e-12, "{case}");
    }

    #[test]
    fn extremes_neither_overflow_nor_lose_digits() {
        for load in [1e-9, 1e-6, 1e-3, 1.0 / 1024.0, 0.5, 1.0, 30.0, 1e3, 1e6, 1e9] {
            let model = Repairman::new(load, 1.0).unwrap();
            for cpus in [1, 2, 3, 64, MOST_CPUS] {
                for distribution in [Exponential, Deterministic] {
                    check(&model, &model.solve(cpus, distribution).unwrap());
                }
            }
        }
    }

    proptest! {
        #[test]
        fn both_distributions_keep_the_laws(
            cpus in 1..80usize, service in 1e-3..1e3f64, exponent in -6.0..6.0f64
        ) {
            let model = Repairman::new(service, service * 10f64.powf(exponent)).unwrap();
            let [exponential, deterministic] = [Exponential, Deterministic]
                .map(|distribution| model.solve(cpus, distribution).unwrap());
            check(&model, &exponential);
            check(&model, &deterministic);
            prop_assert!(deterministic.throughput >= exponential.throughput * (1.0 - 1e-12));
        }

        #[test]
        fn more_cpus_never_get_less_through(
            cpus in 1..60usize, service in 1.0..1e3f64, exponent in -6.0..6.0f64
        ) {
            let model = Repairman::new(service, service * 10f64.powf(exponent)).unwrap();
            for distribution in [Exponential, Deterministic] {
                let [fewer, more] =
                    [cpus, cpus + 1].map(|cpus| model.solve(cpus, distribution).unwrap());
                prop_assert!(more.throughput >= fewer.throughput * (1.0 - 1e-12));
                prop_assert!(more.at_lock >= fewer.at_lock);
            }
        }

        #[test]
        fn one_cpu_never_waits(service in 1e-3..1e6f64, think in 1e-3..1e6f64) {
            let model = Repairman::new(service, think).unwrap();
            for distribution in [Exponential, Deterministic] {
                let alone = model.solve(1, distribution).unwrap();
                let exact = 1.0 / (think + service);
                prop_assert!((alone.throughput - exact).abs() <= 1e-12 * exact);
                prop_assert!((alone.response - service).abs() <= 1e-12 * service);
            }
        }
    }
}
