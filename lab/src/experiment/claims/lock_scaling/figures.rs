//! The figures that decide.

use super::FEW;
use crate::experiment::lock_scaling::{COMPARED, METRIC, Scene, hold};
use model::{Distribution, Fit, Repairman, fit};
use results::{Origin, Report};

pub use hold::{ALL as HELD_ALL, SOCKET as HELD_SOCKET};

/// Service times of the paper's bounds, in ticks: within a socket and across.
const EXTREMES: [f64; 2] = [323.0, 613.0];
/// CPUs of the small machine.
const SMALL: usize = 4;

/// Points of the large machine.
pub fn large(report: &Report) -> Scene {
    Scene::of(METRIC, &report.rows, &report.facts)
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

/// The model's best fit within a socket.
pub fn fitted(scene: &Scene) -> Option<Fit> {
    let points = scene.for_model("big", scene.in_socket);
    let fits = [Distribution::Exponential, Distribution::Deterministic]
        .map(|distribution| fit(&points, distribution).ok());
    fits.into_iter().flatten().max_by(|a, b| a.r_squared.total_cmp(&b.r_squared))
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

/// For how many ticks the lock is held, by the name of the fact.
fn held(report: &Report, name: &str) -> Option<f64> {
    report.facts.iter().find(|fact| fact.name == name).map(|fact| fact.value as f64)
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

/// The service times between whose curves all points should lie: the paper's, or, where the
/// kernel's sections have another length, this machine's own.
fn bounds(report: &Report) -> Option<[f64; 2]> {
    match report.origin {
        Origin::SIMULATED => {
            let [socket, all] = [hold::SOCKET, hold::ALL].map(|name| held(report, name));
            Some([socket?, all?])
        }
        _ => Some(EXTREMES),
    }
}

/// The greatest X on all CPUs by the prediction, over all think times but none and the two
/// largest.
pub fn most_of_prediction(scene: &Scene) -> Option<f64> {
    let fit = fitted(scene)?;
    let cpus = scene.most("big");
    let thinks = scene.thinks("big");
    let usual = thinks.into_iter().rev().skip(2).filter(|think| *think > 0);
    let shares = usual.map(|think| {
        let predicted = fit.predict(think as f64, cpus, fit.distribution).ok()?;
        Some(scene.throughput("big", think, cpus)? / (predicted.throughput * scene.hertz))
    });
    shares.collect::<Option<Vec<_>>>()?.into_iter().reduce(f64::max)
}

/// By how many percent the farthest point of [`FEW`] and more CPUs lies outside the curves of
/// the least and the greatest service time.
pub fn farthest_outside(report: &Report, scene: &Scene) -> Option<f64> {
    let fit = fitted(scene)?;
    let extremes = bounds(report)?;
    let extra = if report.origin == Origin::SIMULATED { fit.think.value } else { 0.0 };
    let bound = |service: f64, think: u64, cpus: usize| {
        let model = Repairman::new(service, think as f64 + extra).ok()?;
        Some(model.solve(cpus, Distribution::Exponential).ok()?.throughput * scene.hertz)
    };
    let points = scene.points.iter();
    let points = points.filter(|p| p.locking == "big" && p.cpus >= FEW && p.think > 0);
    let off = points.map(|point| {
        let [upper, lower] = extremes.map(|service| bound(service, point.think, point.cpus));
        let off = (1.0 - point.throughput / lower?).max(point.throughput / upper? - 1.0);
        Some(off.max(0.0) * 100.0)
    });
    off.collect::<Option<Vec<_>>>()?.into_iter().reduce(f64::max)
}

/// What there is of a knee near one socket at the think time that puts it there, if that is not
/// the one at which lockings are compared.
pub fn like_the_papers(scene: &Scene) -> Option<String> {
    let fit = fitted(scene)?;
    let knee = |think: u64| 1.0 + (think as f64 + fit.think.value) / fit.service.value;
    let away = |think: &u64| (knee(*think) / scene.in_socket as f64).ln().abs();
    let thinks = scene.thinks("big");
    let near = *thinks.iter().min_by(|a, b| away(a).total_cmp(&away(b)))?;
    let curve = scene.curve("big", near);
    let ((at, most), (last, end)) = (highest(&curve)?, *curve.last()?);
    (near != COMPARED).then(|| {
        format!(
            "the model's knee is at {:.0} CPUs there and at {:.0} with think time {near}, where \
             the most is at {at} CPUs, {:.0} % of it at {last}",
            knee(COMPARED),
            knee(near),
            end / most * 100.0
        )
    })
}
