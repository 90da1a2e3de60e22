//! Curves: what the model says for several numbers of CPUs.

use crate::{Distribution, ModelError, Repairman, Service, Simulated, Simulation, Solution};
use serde::Serialize;

/// What the model says under one distribution.
#[derive(Clone, Debug, Serialize)]
pub struct Curve {
    /// The distribution.
    pub distribution: Distribution,
    /// s and a.
    pub model: Repairman,
    /// N*.
    pub knee: f64,
    /// 1/s.
    pub saturation: f64,
    /// For each number of CPUs.
    pub solutions: Vec<Solution>,
    /// The same, simulated; empty if that was not asked for.
    pub simulated: Vec<Simulated>,
}

impl Curve {
    /// The curve of a model; with a seed each point is simulated, too.
    pub fn of(
        model: Repairman,
        distribution: Distribution,
        cpus: &[usize],
        seed: Option<u64>,
    ) -> Result<Curve, ModelError> {
        let solve = |cpus: &usize| model.solve(*cpus, distribution);
        let service = match distribution {
            Distribution::Exponential => Service::Exponential(model.service()),
            Distribution::Deterministic => Service::Deterministic(model.service()),
        };
        let simulate = |seed| {
            let run =
                move |cpus: &usize| Simulation::new(*cpus, model.think(), service, seed).run();
            cpus.iter().map(run).collect::<Result<_, _>>()
        };
        Ok(Curve {
            distribution,
            model,
            knee: model.knee(),
            saturation: model.saturation(),
            solutions: cpus.iter().map(solve).collect::<Result<_, _>>()?,
            simulated: seed.map(simulate).transpose()?.unwrap_or_default(),
        })
    }

    /// CPUs and throughput from one CPU to the most of the curve, or of very many those that it
    /// has: what a plot draws.
    pub fn line(&self) -> Vec<(usize, f64)> {
        const DENSE: usize = 256;
        let most = self.solutions.last().map_or(0, |solution| solution.cpus);
        if most > DENSE {
            return self.solutions.iter().map(|own| (own.cpus, own.throughput)).collect();
        }
        let solve = |cpus| Some((cpus, self.model.solve(cpus, self.distribution).ok()?.throughput));
        (1..=most).filter_map(solve).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_curve_is_solved_and_simulated_at_the_same_places() {
        let model = Repairman::new(358.0, 4000.0).unwrap();
        let curve = |seed| Curve::of(model, Distribution::Exponential, &[1, 7, 14], seed).unwrap();
        let (solved, both) = (curve(None), curve(Some(1)));
        assert!(solved.simulated.is_empty() && solved.solutions == both.solutions);
        for (solution, simulated) in both.solutions.iter().zip(&both.simulated) {
            assert_eq!(solution.cpus, simulated.cpus);
            let off = simulated.throughput.value / solution.throughput - 1.0;
            assert!(off.abs() < 0.02, "{off}");
        }
        let line = solved.line();
        assert_eq!((line.len(), line[6].1), (14, solved.solutions[1].throughput));
        assert!(Curve::of(model, Distribution::Exponential, &[0], None).is_err());
    }
}
