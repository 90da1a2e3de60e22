//! The figures that decide.

use super::claims::FEW;
use super::points::hold;
use super::{COMPARED, METRIC, Scene};
use crate::experiment::claim::{fact as held, most};
use model::{Distribution, Fit, Repairman, Residual, fit};
use results::Report;

pub use hold::{ALL as HELD_ALL, SOCKET as HELD_SOCKET};

/// Think times for which the paper draws bounds.
const BOUNDED: [u64; 2] = [500, 4000];
/// The think time to which the paper fits the model.
const FITTED: u64 = 2000;
/// The paper's model.
const MODEL: Distribution = Distribution::Exponential;
/// CPUs of the small machine.
const SMALL: usize = 4;

/// Points of the large machine.
pub fn large(report: &Report) -> Scene {
    Scene::of(METRIC, &report.rows, &report.facts)
}

/// Points with sections as long as the paper's, where there are some.
pub fn as_paper(report: &Report) -> Scene {
    Scene::as_paper(&report.rows, &report.facts)
}

/// Points of the small machine.
pub fn small(report: &Report) -> Scene {
    Scene::small(&report.rows, &report.facts)
}

/// Why a claim about so many CPUs cannot be judged, if it cannot.
pub fn too_few(scene: &Scene, needed: usize) -> Option<String> {
    let most = scene.points.iter().map(|point| point.cpus).max()?;
    (most < needed)
        .then(|| format!("at most {most} CPUs were measured, and the claim is about {needed}"))
}

/// Why a claim about several sockets cannot be judged, if it cannot.
pub fn one_socket(scene: &Scene) -> Option<String> {
    too_few(scene, (scene.in_socket + 1).max(FEW + 1))
}

/// Why a claim about the small machine cannot be judged, if it cannot.
pub fn not_small(scene: &Scene) -> Option<String> {
    let why = format!("the claim is about a machine of {SMALL} CPUs, not {}", scene.cpus);
    if scene.cpus > SMALL { Some(why) } else { too_few(scene, SMALL) }
}

/// The model fitted as the paper does: to one curve within a socket.
pub fn fitted(scene: &Scene) -> Option<Fit> {
    let mut points = scene.for_model("big", scene.in_socket);
    points.retain(|point| point.think == Some(FITTED as f64));
    fit(&points, MODEL).ok()
}

/// What it found.
pub fn fitted_service(scene: &Scene) -> Option<String> {
    Some(format!("s = {:.0} ticks, fitted to think time {FITTED}", fitted(scene)?.service.value))
}

/// Points of the other curves within a socket beside what the fit predicts.
fn predictions(scene: &Scene) -> Option<Vec<Residual>> {
    let mut points = scene.for_model("big", scene.in_socket);
    points.retain(|point| point.think != Some(FITTED as f64));
    fitted(scene)?.beside(&points).ok()
}

/// The share of the variance of the other curves that the fit predicts.
pub fn predicted_share(scene: &Scene) -> Option<f64> {
    Some(model::r_squared(&predictions(scene)?))
}

/// The other curves' residuals on [`FEW`] and more CPUs, in percent of the prediction: the root of
/// the mean square, by think time.
fn residuals_of_curves(scene: &Scene) -> Option<Vec<(u64, f64)>> {
    let residuals = predictions(scene)?;
    let thinks = scene.thinks("big").into_iter().filter(|think| ![0, FITTED].contains(think));
    let curve = |think: u64| {
        let is_own = |point: model::Point| point.think == Some(think as f64) && point.cpus >= FEW;
        let own = residuals.iter().filter(|residual| is_own(residual.point));
        let squares: Vec<f64> = own.map(|residual| residual.relative().powi(2)).collect();
        let mean = squares.iter().sum::<f64>() / squares.len() as f64;
        (think, mean.sqrt() * 100.0)
    };
    Some(thinks.map(curve).collect())
}

/// Those of the worst curve.
pub fn worst_residual(scene: &Scene) -> Option<f64> {
    residuals_of_curves(scene)?.into_iter().map(|(_, off)| off).reduce(f64::max)
}

/// Those of all curves, in words.
pub fn residuals(scene: &Scene) -> Option<String> {
    let each = residuals_of_curves(scene)?.into_iter();
    let each: Vec<String> = each.map(|(think, off)| format!("{think}: {off:.1} %")).collect();
    Some(format!("{}; residuals of each, {}", fitted_service(scene)?, each.join(", ")))
}

/// X by how much of what so many CPUs get that never wait, N/(a + s) with the fitted s.
pub fn efficiency(scene: &Scene, think: u64, cpus: usize) -> Option<f64> {
    let unhindered = fitted(scene)?.model(think as f64).ok()?.unhindered(cpus);
    Some(scene.throughput("big", think, cpus)? / (unhindered * scene.hertz))
}

/// N*, the knee at the think time at which lockings are compared.
pub fn knee(scene: &Scene) -> Option<f64> {
    Some(fitted(scene)?.model(COMPARED as f64).ok()?.knee())
}

/// X by how much of `cpus` times that of one CPU.
pub fn share(scene: &Scene, locking: &str, think: u64, cpus: usize) -> Option<f64> {
    let one = scene.throughput(locking, think, 1)?;
    Some(scene.throughput(locking, think, cpus)? / (one * cpus as f64))
}

/// The same on all CPUs.
pub fn on_all(scene: &Scene, locking: &str, think: u64) -> Option<f64> {
    share(scene, locking, think, scene.most(locking))
}

/// X under the big lock by that under fine-grained ones, on the small machine.
pub fn over_fine(scene: &Scene, think: u64) -> Option<f64> {
    let [big, fine] = ["big", "fine"].map(|name| scene.throughput(name, think, SMALL));
    Some(big? / fine?)
}

/// The number of CPUs with the highest X of a curve, and that X.
pub fn highest(curve: &[(usize, f64)]) -> Option<(usize, f64)> {
    curve.iter().copied().max_by(|a, b| a.1.total_cmp(&b.1))
}

/// The curve of think time 1,000 within a socket.
pub fn peaked(scene: &Scene) -> Vec<(usize, f64)> {
    let mut curve = scene.curve("big", 1000);
    curve.retain(|(cpus, _)| *cpus <= scene.in_socket);
    curve
}

/// For how long the lock is held on one CPU, by how long elsewhere.
pub fn held_over(report: &Report, name: &str) -> Option<f64> {
    Some(held(report, hold::ONE)? / held(report, name)?)
}

/// For how long the lock is held.
pub fn held_times(report: &Report) -> Option<String> {
    let [one, socket, all] = [hold::ONE, hold::SOCKET, hold::ALL].map(|name| held(report, name));
    let (one, socket, all) = (one?, socket?, all?);
    Some(format!("ticks: {one} on one CPU, {socket} within a socket, {all} across"))
}

/// The greatest X on all CPUs by the prediction, over all think times but none and the two
/// largest.
pub fn most_of_prediction(scene: &Scene) -> Option<f64> {
    let fit = fitted(scene)?;
    let cpus = scene.most("big");
    let thinks = scene.thinks("big");
    let usual = thinks.into_iter().rev().skip(2).filter(|think| *think > 0);
    let shares = usual.map(|think| {
        let predicted = fit.predict(think as f64, cpus, MODEL).ok()?;
        Some(scene.throughput("big", think, cpus)? / (predicted.throughput * scene.hertz))
    });
    most(shares)
}

/// The least and the greatest time for which the lock is held with [`FEW`] CPUs and more.
fn extremes(report: &Report) -> Option<[f64; 2]> {
    let [least, greatest] = [hold::LEAST, hold::GREATEST].map(|name| held(report, name));
    Some([least?, greatest?])
}

/// Those, in words.
pub fn bounds(report: &Report) -> Option<String> {
    let [least, greatest] = extremes(report)?;
    let service = fitted_service(&as_paper(report))?;
    Some(format!("the lock is held for {least} to {greatest} ticks; {service}"))
}

/// Why a claim about bounds cannot be judged, if it cannot.
pub fn unbounded(report: &Report) -> Option<String> {
    let why = "this machine does not tell for how long the lock is held";
    let untold = extremes(report).is_none().then(|| why.to_string());
    one_socket(&as_paper(report)).or(untold)
}

/// By how many percent the farthest point of [`FEW`] and more CPUs lies outside the curves of
/// the least and the greatest service time.
pub fn farthest_outside(report: &Report) -> Option<f64> {
    let (scene, extremes) = (as_paper(report), extremes(report)?);
    let bound = |service: f64, think: u64, cpus: usize| {
        let model = Repairman::new(service, think as f64).ok()?;
        Some(model.solve(cpus, MODEL).ok()?.throughput * scene.hertz)
    };
    let points = scene.points.iter();
    let points =
        points.filter(|p| p.locking == "big" && p.cpus >= FEW && BOUNDED.contains(&p.think));
    let off = points.map(|point| {
        let [upper, lower] = extremes.map(|service| bound(service, point.think, point.cpus));
        let off = (1.0 - point.throughput / lower?).max(point.throughput / upper? - 1.0);
        Some(off.max(0.0) * 100.0)
    });
    most(off)
}
