//! Least squares in two parameters: Gauss-Newton steps, damped where they would lead uphill
//! (Levenberg-Marquardt). The Jacobian comes from central differences.

/// Half of a difference's step, in a parameter of the order of 1.
const STEP: f64 = 1e-5;
/// Most steps.
const STEPS: usize = 200;
/// Columns of the Jacobian whose angle has a squared sine below this are taken for parallel.
const PARALLEL: f64 = 1e-12;
/// A parameter that alone changes the residuals by less than the root of this is lost in rounding.
const MUTE: f64 = 1e-16;

/// Both parameters.
pub type Pair = [f64; 2];

/// Where the sum of squares is least.
pub struct Minimum {
    pub at: Pair,
    /// The sum of squares.
    pub sum: f64,
    /// J'J there, by `[00, 01, 11]`.
    normal: [f64; 3],
}

/// Goes downhill from a start; `residuals` are measured minus predicted.
pub fn minimise(start: Pair, residuals: &dyn Fn(Pair) -> Vec<f64>) -> Minimum {
    let mut at = start;
    let mut own = residuals(at);
    let mut sum = squares(&own);
    let mut damping = 1e-3;
    for _ in 0..STEPS {
        let jacobian = jacobian(at, residuals);
        let normal = normal(&jacobian);
        let gradient: Pair = [0, 1]
            .map(|parameter| jacobian.iter().zip(&own).map(|(row, r)| row[parameter] * r).sum());
        let [a, b, c] = normal;
        let step = solve([a * (1.0 + damping), b, c * (1.0 + damping)], gradient);
        // Both parameters are logarithms: further than this is another world.
        let [x, y] = step.map(|step| if step.is_finite() { step.clamp(-2.0, 2.0) } else { 0.0 });
        let next = [at[0] - x, at[1] - y];
        let there = residuals(next);
        let less = squares(&there);
        if less < sum {
            let gain = sum - less;
            (at, own, sum) = (next, there, less);
            damping = (damping / 10.0).max(1e-12);
            if gain <= 1e-15 * sum && x.abs().max(y.abs()) < 1e-10 {
                break;
            }
        } else if x.abs().max(y.abs()) < 1e-14 || damping > 1e12 {
            break;
        } else {
            damping *= 10.0;
        }
    }
    Minimum { at, sum, normal: normal(&jacobian(at, residuals)) }
}

impl Minimum {
    /// The diagonal of (J'J)^-1, which times the residuals' variance is the parameters' variance;
    /// `None` if the parameters cannot be told apart.
    pub fn variances(&self) -> Option<Pair> {
        let [a, b, c] = self.normal;
        let determinant = a * c - b * b;
        let least = MUTE * a.max(c);
        let apart = determinant > PARALLEL * a * c && determinant > least;
        apart.then(|| [c / determinant, a / determinant])
    }
}

fn squares(residuals: &[f64]) -> f64 {
    residuals.iter().map(|residual| residual * residual).sum()
}

/// A row for each residual.
fn jacobian(at: Pair, residuals: &dyn Fn(Pair) -> Vec<f64>) -> Vec<Pair> {
    let [x, y] = at;
    let slope = |high: Pair, low: Pair| -> Vec<f64> {
        let (high, low) = (residuals(high), residuals(low));
        high.iter().zip(low).map(|(high, low)| (high - low) / (2.0 * STEP)).collect()
    };
    let first = slope([x + STEP, y], [x - STEP, y]);
    let second = slope([x, y + STEP], [x, y - STEP]);
    first.into_iter().zip(second).map(|(x, y)| [x, y]).collect()
}

fn normal(jacobian: &[Pair]) -> [f64; 3] {
    let sum = |of: fn(&Pair) -> f64| jacobian.iter().map(of).sum();
    [sum(|row| row[0] * row[0]), sum(|row| row[0] * row[1]), sum(|row| row[1] * row[1])]
}

/// x with `[[a, b], [b, c]] x = right`.
fn solve([a, b, c]: [f64; 3], right: Pair) -> Pair {
    let determinant = a * c - b * b;
    [(c * right[0] - b * right[1]) / determinant, (a * right[1] - b * right[0]) / determinant]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_curved_valley_is_followed_to_its_end() {
        // Rosenbrock's function.
        let residuals = |[x, y]: Pair| vec![1.0 - x, 10.0 * (y - x * x)];
        let minimum = minimise([-1.2, 1.0], &residuals);
        assert!(minimum.sum < 1e-20, "{}", minimum.sum);
        assert!((minimum.at[0] - 1.0).abs() < 1e-9 && (minimum.at[1] - 1.0).abs() < 1e-9);
    }

    #[test]
    fn a_straight_line_has_the_textbooks_variances() {
        // y = p + q x at x = 0, 1, 2, 3: (J'J)^-1 = [[0.7, -0.3], [-0.3, 0.2]].
        let y = [1.0, 2.9, 5.2, 6.9];
        let residuals = |[p, q]: Pair| (0..4).map(|x| y[x] - p - q * x as f64).collect::<Vec<_>>();
        let minimum = minimise([0.0, 0.0], &residuals);
        assert!((minimum.at[0] - 1.0).abs() < 1e-6 && (minimum.at[1] - 2.0).abs() < 1e-6);
        let [p, q] = minimum.variances().unwrap();
        assert!((p - 0.7).abs() < 1e-6 && (q - 0.2).abs() < 1e-6);
    }

    #[test]
    fn parameters_that_only_count_together_are_found_out() {
        let residuals = |[x, y]: Pair| vec![x + y - 1.0, 2.0 * (x + y) - 2.0];
        assert!(minimise([3.0, 4.0], &residuals).variances().is_none());
        let residuals = |[x, _]: Pair| vec![x - 1.0, 2.0 * x - 2.0];
        assert!(minimise([3.0, 4.0], &residuals).variances().is_none());
    }
}
