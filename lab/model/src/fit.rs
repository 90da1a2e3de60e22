//! Finding s and a for measured throughputs.
//!
//! Least squares of the throughputs, in the logarithms of both parameters, from several starts.
//! Points that name their think time share the service time and one `extra` that is added to all
//! think times: what a pass takes outside the lock beyond the delay that was asked for.

use crate::error::positive;
use crate::least_squares::{Minimum, Pair, minimise};
use crate::repairman::check_cpus;
use crate::start::starts;
use crate::{Distribution, Interval, ModelError, Repairman, Solution};
use serde::Serialize;

/// Starts from which the minimum is looked for, the best ones.
const STARTS: usize = 3;
/// A service time that is off its start by more than this factor has run away.
const FAR: f64 = 1e5;

/// A measured throughput.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Point {
    /// N.
    pub cpus: usize,
    /// X.
    pub throughput: f64,
    /// The delay between release and next request that was asked for, if it is known.
    pub think: Option<f64>,
}

/// A point beside the fitted curve.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Residual {
    /// The point.
    #[serde(flatten)]
    pub point: Point,
    /// What the model says.
    pub fitted: f64,
    /// Measured minus fitted.
    pub residual: f64,
}

impl Residual {
    fn of(point: Point, fitted: f64) -> Residual {
        Residual { point, fitted, residual: point.throughput - fitted }
    }

    /// The residual by what the model says.
    pub fn relative(&self) -> f64 {
        self.residual / self.fitted
    }
}

/// The share of the throughputs' variance that a model explains.
pub fn r_squared(residuals: &[Residual]) -> f64 {
    let mean = residuals.iter().map(|own| own.point.throughput).sum::<f64>();
    let mean = mean / residuals.len() as f64;
    let missed: f64 = residuals.iter().map(|own| own.residual.powi(2)).sum();
    let total: f64 = residuals.iter().map(|own| (own.point.throughput - mean).powi(2)).sum();
    1.0 - missed / total
}

/// The model that fits best.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Fit {
    /// The service times' distribution.
    pub distribution: Distribution,
    /// s.
    pub service: Interval,
    /// The standard error of s.
    pub service_error: f64,
    /// a; or, of points that name their think times, what is added to each.
    pub think: Interval,
    /// The standard error of that.
    pub think_error: f64,
    /// Whether [`Fit::think`] is what is added to the points' think times.
    pub is_extra: bool,
    /// The share of the throughputs' variance that the model explains.
    pub r_squared: f64,
    /// The standard deviation of the residuals, two degrees of freedom taken off.
    pub scatter: f64,
    /// Every point, in the order given.
    pub residuals: Vec<Residual>,
}

/// Fits s and a to at least three points.
///
/// ```
/// use model::{Distribution, Point, Repairman, fit};
/// let truth = Repairman::new(358.0, 2000.0).unwrap();
/// let point = |cpus| {
///     let throughput = truth.solve(cpus, Distribution::Exponential).unwrap().throughput;
///     Point { cpus, throughput, think: None }
/// };
/// let points: Vec<Point> = (1..=14).map(point).collect();
/// let found = fit(&points, Distribution::Exponential).unwrap();
/// assert!((found.service.value - 358.0).abs() < 1e-6);
/// // The same s, another delay.
/// let predicted = found.predict(4000.0, 14, Distribution::Exponential).unwrap();
/// assert!((predicted.throughput * 2e9 / 1e6 - 5.081).abs() < 0.001);
/// ```
pub fn fit(points: &[Point], distribution: Distribution) -> Result<Fit, ModelError> {
    check(points)?;
    let offsets = offsets(points);
    let scale = points.iter().map(|point| point.throughput).fold(0.0, f64::max);
    let model = |[service, think]: Pair, index: usize| {
        let model = Repairman::new(service.exp(), think.exp() + offsets[index]);
        let solved = model.and_then(|model| model.solve(points[index].cpus, distribution));
        solved.map_or(f64::NAN, |solution| solution.throughput)
    };
    let residuals = |at: Pair| -> Vec<f64> {
        let one = |(index, point): (usize, &Point)| (point.throughput - model(at, index)) / scale;
        points.iter().enumerate().map(one).collect()
    };
    let minimum = best(points, &offsets, &residuals)?;
    let variances = minimum.variances().ok_or(ModelError::Undetermined)?;
    let freedom = points.len() - 2;
    let variance = minimum.sum / freedom as f64;
    let values = minimum.at.map(f64::exp);
    let [service_error, think_error] =
        [0, 1].map(|index| values[index] * (variance * variances[index]).sqrt());
    let least = points.iter().filter_map(|point| point.think).reduce(f64::min);
    let residual = |(index, point): (usize, &Point)| Residual::of(*point, model(minimum.at, index));
    let residuals: Vec<Residual> = points.iter().enumerate().map(residual).collect();
    Ok(Fit {
        distribution,
        service: Interval::of(values[0], service_error, freedom),
        service_error,
        think: Interval::of(values[1] - least.unwrap_or(0.0), think_error, freedom),
        think_error,
        is_extra: least.is_some(),
        r_squared: r_squared(&residuals),
        scatter: variance.sqrt() * scale,
        residuals,
    })
}

impl Fit {
    /// The fitted model with another delay: a itself or, where points named their think times,
    /// what is asked for, to which the extra is added.
    pub fn model(&self, think: f64) -> Result<Repairman, ModelError> {
        let extra = if self.is_extra { self.think.value } else { 0.0 };
        Repairman::new(self.service.value, think + extra)
    }

    /// The solution of that model.
    pub fn predict(
        &self,
        think: f64,
        cpus: usize,
        distribution: Distribution,
    ) -> Result<Solution, ModelError> {
        self.model(think)?.solve(cpus, distribution)
    }

    /// Points that name their think times beside what the model says of them.
    pub fn beside(&self, points: &[Point]) -> Result<Vec<Residual>, ModelError> {
        let beside = |point: &Point| {
            let think = point.think.ok_or(ModelError::Mixed)?;
            let solution = self.predict(think, point.cpus, self.distribution)?;
            Ok(Residual::of(*point, solution.throughput))
        };
        points.iter().map(beside).collect()
    }

    /// The think times that the points speak of, each once: of points that name none, the fitted
    /// a.
    pub fn thinks(&self) -> Vec<f64> {
        let mut thinks: Vec<f64> =
            self.residuals.iter().filter_map(|residual| residual.point.think).collect();
        if !self.is_extra {
            thinks.push(self.think.value);
        }
        thinks.sort_by(f64::total_cmp);
        thinks.dedup();
        thinks
    }

    /// Whether the uncertainty of a parameter includes zero: the points hardly tell it.
    pub fn is_vague(&self) -> bool {
        self.service.low <= 0.0 || !self.is_extra && self.think.low <= 0.0
    }
}

fn check(points: &[Point]) -> Result<(), ModelError> {
    if points.len() < 3 {
        return Err(ModelError::TooFew(points.len()));
    }
    for (index, point) in points.iter().enumerate() {
        check_cpus(point.cpus)?;
        let refuse = |what, must, value| ModelError::Point { index: index + 1, what, must, value };
        if positive("", point.throughput).is_err() {
            return Err(refuse("throughput", "a number above zero", point.throughput));
        }
        if let Some(think) = point.think
            && !(think.is_finite() && think >= 0.0)
        {
            return Err(refuse("think time", "zero or more", think));
        }
    }
    let named = points.iter().filter(|point| point.think.is_some()).count();
    let same = named == 0 || named == points.len();
    same.then_some(()).ok_or(ModelError::Mixed)
}

/// By how much each point's think time exceeds the least.
fn offsets(points: &[Point]) -> Vec<f64> {
    let least = points.iter().filter_map(|point| point.think).fold(f64::INFINITY, f64::min);
    points.iter().map(|point| point.think.map_or(0.0, |think| think - least)).collect()
}

/// The least of the minima from several starts.
fn best(
    points: &[Point],
    offsets: &[f64],
    residuals: &dyn Fn(Pair) -> Vec<f64>,
) -> Result<Minimum, ModelError> {
    let sum = |at: Pair| residuals(at).iter().map(|residual| residual * residual).sum::<f64>();
    let mut starts: Vec<(f64, Pair)> = starts(points, offsets)
        .into_iter()
        .map(|pair| pair.map(f64::ln))
        .map(|at| (sum(at), at))
        .collect();
    starts.sort_by(|one, other| one.0.total_cmp(&other.0));
    let first = starts[0].1;
    let minima = starts.into_iter().take(STARTS).map(|(_, start)| minimise(start, residuals));
    let best = minima.min_by(|one, other| one.sum.total_cmp(&other.sum));
    let best = best.ok_or(ModelError::Undetermined)?;
    let near = |index: usize| (best.at[index] - first[index]).abs() < FAR.ln();
    let found = best.sum.is_finite() && near(0) && near(1);
    found.then_some(best).ok_or(ModelError::Undetermined)
}

#[cfg(test)]
mod tests {
    use super::*;
    use Distribution::{Deterministic, Exponential};
    use analysis::Random;
    use proptest::prelude::*;

    /// Points of a model, each multiplied with a number of its own.
    fn points(
        truth: &Repairman,
        distribution: Distribution,
        think: Option<f64>,
        mut noise: impl FnMut() -> f64,
    ) -> Vec<Point> {
        let mut point = |cpus| {
            let throughput = truth.solve(cpus, distribution).unwrap().throughput * noise();
            Point { cpus, throughput, think }
        };
        (1..=14).map(&mut point).collect()
    }

    fn near(found: f64, truth: f64) -> bool {
        (found / truth - 1.0).abs() < 1e-6
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(ProptestConfig::default().cases.div_ceil(6)))]
        #[test]
        fn a_models_own_points_lead_back_to_it(
            service in 1e-9..1e4f64, ratio in 1.0..40.0f64, sharp: bool
        ) {
            let distribution = if sharp { Deterministic } else { Exponential };
            let truth = Repairman::new(service, service * ratio).unwrap();
            let found = fit(&points(&truth, distribution, None, || 1.0), distribution).unwrap();
            prop_assert!(near(found.service.value, service), "{:?}", found.service);
            prop_assert!(near(found.think.value, service * ratio), "{:?}", found.think);
            prop_assert!(found.r_squared > 1.0 - 1e-9);
            prop_assert!(!found.is_vague());
        }
    }

    #[test]
    fn noise_stays_within_the_interval() {
        for distribution in [Exponential, Deterministic] {
            let truth = Repairman::new(358.0, 2000.0).unwrap();
            let mut held = 0;
            for seed in 0..100 {
                let mut random = Random::of(seed);
                // The difference of two exponential times: symmetrical, of a few percent.
                let noise = || 1.0 + random.exponential(0.01) - random.exponential(0.01);
                let found = fit(&points(&truth, distribution, None, noise), distribution).unwrap();
                held += usize::from(found.service.holds(358.0));
                held += usize::from(found.think.holds(2000.0));
                assert!(found.r_squared > 0.99, "{}", found.r_squared);
                let far = |interval: Interval, truth: f64| {
                    (interval.value - truth).abs() > 3.0 * interval.reach()
                };
                assert!(!far(found.service, 358.0) && !far(found.think, 2000.0), "seed {seed}");
            }
            // 95 % of 200, less what chance and unequal noise may take.
            assert!(held >= 176, "{held} of 200");
        }
    }

    #[test]
    fn several_delays_share_s_and_what_is_added() {
        let mut all = Vec::new();
        for delay in [0.0, 500.0, 4000.0, 32000.0] {
            let truth = Repairman::new(358.0, delay + 210.0).unwrap();
            all.extend(points(&truth, Exponential, Some(delay), || 1.0));
        }
        let found = fit(&all, Exponential).unwrap();
        assert!(found.is_extra && near(found.service.value, 358.0), "{:?}", found.service);
        assert!(near(found.think.value, 210.0), "{:?}", found.think);
        assert_eq!(found.thinks(), [0.0, 500.0, 4000.0, 32000.0]);
        let exact = Repairman::new(358.0, 8210.0).unwrap().solve(28, Exponential).unwrap();
        let predicted = found.predict(8000.0, 28, Exponential).unwrap();
        assert!(near(predicted.throughput, exact.throughput));
    }

    #[test]
    fn the_wrong_distribution_leaves_residuals() {
        let truth = Repairman::new(358.0, 2000.0).unwrap();
        let own = points(&truth, Deterministic, None, || 1.0);
        let [right, wrong] = [Deterministic, Exponential].map(|shape| fit(&own, shape).unwrap());
        assert!(wrong.scatter > 1000.0 * right.scatter);
        assert!(wrong.r_squared < 0.9999 && wrong.r_squared > 0.9);
        let residuals = wrong.residuals.iter();
        let squares: f64 = residuals.map(|own| own.residual * own.residual).sum();
        assert!(near((squares / 12.0).sqrt(), wrong.scatter));
    }

    #[test]
    fn points_that_tell_nothing_are_refused() {
        let point = |cpus, throughput| Point { cpus, throughput, think: None };
        let refused = |points: &[Point]| fit(points, Exponential).unwrap_err();
        assert_eq!(refused(&[]), ModelError::TooFew(0));
        assert_eq!(refused(&[point(1, 1.0), point(2, 2.0)]), ModelError::TooFew(2));
        let same = [point(4, 1.0), point(4, 1.01), point(4, 0.99)];
        assert_eq!(refused(&same), ModelError::Undetermined);
        let saturated = [point(512, 1.0), point(768, 1.0), point(1024, 1.0)];
        assert_eq!(refused(&saturated), ModelError::Undetermined);
        for wrong in [0.0, -1.0, f64::NAN] {
            let error = refused(&[point(1, 1.0), point(2, wrong), point(3, 1.0)]);
            assert!(error.to_string().starts_with("point 2: the throughput must"), "{error}");
        }
        let named = Point { think: Some(5.0), ..point(3, 1.0) };
        assert_eq!(refused(&[point(1, 1.0), point(2, 1.0), named]), ModelError::Mixed);
        let negative = Point { think: Some(-5.0), ..point(3, 1.0) };
        assert!(matches!(refused(&[negative; 3]), ModelError::Point { .. }));
        assert!(matches!(refused(&[point(0, 1.0); 3]), ModelError::Cpus { .. }));
    }
}
