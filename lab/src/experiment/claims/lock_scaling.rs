//! Claims about how lockings scale (S1-E02 to E04), judged by points of any machine.

use super::{judged, unobservable};
use crate::experiment::lock_scaling::{COMPARED, METRIC, Scene, hold};
use model::{Distribution, Fit, Repairman, fit};
use results::{Claim, Origin, Report};

/// Service times of the paper's bounds, in ticks: within a socket and across.
const EXTREMES: [f64; 2] = [323.0, 613.0];
/// By what share a simulated point may be off.
const SCATTER: f64 = 0.01;
/// Percent that a curve declines at least.
const DECLINE: f64 = 1.0;
/// CPUs below which passes find the lock in their own cache often (S1-13).
const FEW: usize = 4;
/// CPUs of the small machine.
const SMALL: usize = 4;

/// S1-C03 to C11.
pub fn all(report: &Report) -> Vec<Claim> {
    let scene = Scene::of(METRIC, &report.rows, &report.facts);
    let small = Scene::small(&report.rows, &report.facts);
    vec![
        one_service(&scene),
        between(report, &scene),
        enough_think(&scene),
        peak(&scene),
        transfers(report, &scene),
        alike(&scene),
        knee(&scene),
        small_with_think(&small),
        small_without(&small),
    ]
}

/// A claim that takes so many CPUs.
fn with_cpus(
    scene: &Scene,
    (id, statement): (&str, &str),
    needed: usize,
    judge: impl FnOnce(&Scene) -> Option<(bool, String)>,
) -> Claim {
    let most = scene.points.iter().map(|point| point.cpus).max();
    match most {
        Some(most) if most < needed => {
            let why = format!("at most {most} CPUs were measured, and the claim is about {needed}");
            unobservable(id, statement, &why)
        }
        _ => judged(id, statement, judge(scene)),
    }
}

/// A claim about the CPUs of all sockets, of which there must be several.
fn across_sockets(
    scene: &Scene,
    names: (&str, &str),
    judge: impl FnOnce(&Scene) -> Option<(bool, String)>,
) -> Claim {
    with_cpus(scene, names, (scene.in_socket + 1).max(FEW + 1), judge)
}

fn fitted(scene: &Scene) -> Option<Fit> {
    let points = scene.for_model("big", scene.in_socket);
    let fits = [Distribution::Exponential, Distribution::Deterministic]
        .map(|distribution| fit(&points, distribution).ok());
    fits.into_iter().flatten().max_by(|a, b| a.r_squared.total_cmp(&b.r_squared))
}

/// X by how much of `cpus` times that of one CPU.
fn share(scene: &Scene, locking: &str, think: u64, cpus: usize) -> Option<f64> {
    let one = scene.throughput(locking, think, 1)?;
    Some(scene.throughput(locking, think, cpus)? / (one * cpus as f64))
}

/// The number of CPUs with the highest X of a curve, and that X.
fn highest(curve: &[(usize, f64)]) -> Option<(usize, f64)> {
    curve.iter().copied().max_by(|a, b| a.1.total_cmp(&b.1))
}

fn one_service(scene: &Scene) -> Claim {
    let statement = "The model with one fitted service time matches every think time's curve \
                     within a socket";
    with_cpus(scene, ("S1-C03", statement), FEW, |scene| {
        let fit = fitted(scene)?;
        let off = |r: &model::Residual| (r.residual / r.fitted * 100.0).abs();
        let worst = fit.residuals.iter().map(off).fold(0.0, f64::max);
        let evidence = format!(
            "s = {:.0} ticks ({:?} service), r squared {:.5}, every point within {worst:.1} %",
            fit.service.value, fit.distribution, fit.r_squared
        );
        Some((fit.r_squared > 0.99, evidence))
    })
}

/// The service times between whose curves all points should lie, and by what share they may miss
/// them: the paper's, or, where the kernel's sections have another length, this machine's own.
fn bounds(report: &Report) -> Option<([f64; 2], f64)> {
    match report.origin {
        Origin::SIMULATED => {
            let [socket, all] = [hold::SOCKET, hold::ALL].map(|name| held(report, name));
            Some(([socket?, all?], SCATTER))
        }
        _ => Some((EXTREMES, 0.0)),
    }
}

/// For how many ticks the lock is held, by the name of the fact.
fn held(report: &Report, name: &str) -> Option<f64> {
    report.facts.iter().find(|fact| fact.name == name).map(|fact| fact.value as f64)
}

fn between(report: &Report, scene: &Scene) -> Claim {
    let statement = "Beyond a socket throughput falls below the prediction except with much think \
                     time, and stays between the curves of the least and the greatest s (the \
                     paper's: 323 and 613)";
    across_sockets(scene, ("S1-C04", statement), |scene| {
        let (fit, hertz) = (fitted(scene)?, scene.hertz);
        let (extremes, scatter) = bounds(report)?;
        let extra = if report.origin == Origin::SIMULATED { fit.think.value } else { 0.0 };
        let thinks = scene.thinks("big");
        // The two largest think times are the exception.
        let usual = thinks.iter().rev().skip(2).copied().filter(|think| *think > 0);
        let below = usual.clone().all(|think| {
            let beyond = scene.curve("big", think).into_iter().rfind(|p| p.0 > scene.in_socket);
            beyond.is_some_and(|(cpus, x)| {
                let predicted = fit.predict(think as f64, cpus, fit.distribution);
                predicted.is_ok_and(|predicted| x < predicted.throughput * hertz)
            })
        });
        let bound = |service: f64, think: u64, cpus: usize| {
            let model = Repairman::new(service, think as f64 + extra).ok()?;
            Some(model.solve(cpus, Distribution::Exponential).ok()?.throughput * hertz)
        };
        let (mut outside, mut farthest) = (Vec::new(), 0.0f64);
        for point in scene.points.iter().filter(|p| p.locking == "big" && p.cpus >= FEW) {
            let think = point.think.max(1);
            let [upper, lower] = extremes.map(|service| bound(service, think, point.cpus));
            let (lower, upper, x) = (lower?, upper?, point.throughput);
            let off = (1.0 - x / lower).max(x / upper - 1.0);
            if off > scatter && point.think > 0 {
                farthest = farthest.max(off * 100.0);
                outside.push(format!("{}x{}", point.think, point.cpus));
            }
        }
        let [least, greatest] = extremes;
        let mut evidence = format!("below the prediction at the most CPUs: {below}");
        evidence += &match outside.len() {
            0 => format!("; every point between the curves of {least:.0} and {greatest:.0} ticks"),
            count => format!(
                "; {count} points outside the curves of {least:.0} and {greatest:.0} ticks, by \
                 {farthest:.1} % at most, as think x CPUs: {}",
                outside.join(", ")
            ),
        };
        Some((below && outside.is_empty(), evidence))
    })
}

fn enough_think(scene: &Scene) -> Claim {
    let statement = "A think time of 4,000 scales to a socket but not to two, 16,000 to two";
    across_sockets(scene, ("S1-C05", statement), |scene| {
        let socket = share(scene, "big", 4000, scene.in_socket)?;
        let [both, more] =
            [4000, 16_000].map(|think| share(scene, "big", think, scene.most("big")));
        let (both, more) = (both?, more?);
        let evidence = format!(
            "of perfect scaling: 4,000 on one socket {socket:.2}, on all {both:.2}, 16,000 on all \
             {more:.2}; at the knee the model's is 0.75 to 0.8"
        );
        Some((socket >= 0.75 && both < 0.75 && more >= 0.75, evidence))
    })
}

fn peak(scene: &Scene) -> Claim {
    let statement = "The curve of think time 1,000 peaks near 7 CPUs, then declines slowly";
    with_cpus(scene, ("S1-C06", statement), 14, |scene| {
        let mut curve = scene.curve("big", 1000);
        curve.retain(|(cpus, _)| *cpus <= scene.in_socket);
        let (at, most) = highest(&curve)?;
        let (last, end) = *curve.last()?;
        let decline = (1.0 - end / most) * 100.0;
        let evidence = format!("the most at {at} CPUs; {decline:.1} % less at {last}");
        Some(((5..=9).contains(&at) && decline > DECLINE && decline < 25.0, evidence))
    })
}

fn transfers(report: &Report, scene: &Scene) -> Claim {
    let statement = "The time for which the lock is held is dominated by line transfers";
    across_sockets(scene, ("S1-C07", statement), |_| {
        let [one, socket, all] =
            [hold::ONE, hold::SOCKET, hold::ALL].map(|name| held(report, name));
        let (one, socket, all) = (one?, socket?, all?);
        let of = |time: f64| (1.0 - one / time) * 100.0;
        let evidence = format!(
            "ticks: {one} on one CPU, {socket} within a socket ({:.0} % transfers), {all} across \
             ({:.0} %); the paper: 164, 300, 600",
            of(socket),
            of(all)
        );
        Some((of(socket) >= 40.0 && of(all) >= 66.0, evidence))
    })
}

fn alike(scene: &Scene) -> Claim {
    let statement = "Transactions scale as fine-grained locks do: both linearly to all CPUs";
    with_cpus(scene, ("S1-C08", statement), FEW, |scene| {
        let most = scene.most("fine");
        let [elided, fine] = ["elided", "fine"].map(|name| share(scene, name, COMPARED, most));
        let (elided, fine) = (elided?, fine?);
        let evidence = format!(
            "of perfect scaling on {most} CPUs: elided {elided:.2}, fine-grained {fine:.2}"
        );
        Some((elided >= 0.95 && fine >= 0.95 && (elided / fine - 1.0).abs() <= 0.05, evidence))
    })
}

fn knee(scene: &Scene) -> Claim {
    let statement = "The big lock has its knee near one socket and a lower plateau across";
    across_sockets(scene, ("S1-C09", statement), |scene| {
        let half = share(scene, "big", COMPARED, scene.in_socket / 2)?;
        let socket = share(scene, "big", COMPARED, scene.in_socket)?;
        let ((at, most), (last, end)) = plateau(scene, COMPARED)?;
        let mut evidence = format!(
            "of perfect scaling: {half:.2} on half a socket, {socket:.2} on one; the most at {at} \
             CPUs, {:.0} % of it at {last}",
            end / most * 100.0
        );
        evidence += &like_the_papers(scene).unwrap_or_default();
        Some((half >= 0.9 && socket < 0.9 && at < last && end < 0.95 * most, evidence))
    })
}

/// Where the curve of a think time is highest, and where it ends: CPUs and X.
fn plateau(scene: &Scene, think: u64) -> Option<((usize, f64), (usize, f64))> {
    let curve = scene.curve("big", think);
    Some((highest(&curve)?, *curve.last()?))
}

/// What there is of a knee near one socket at the think time that puts it there, if that is not
/// the one at which lockings are compared.
fn like_the_papers(scene: &Scene) -> Option<String> {
    let fit = fitted(scene)?;
    let knee = |think: u64| 1.0 + (think as f64 + fit.think.value) / fit.service.value;
    let away = |think: &u64| (knee(*think) / scene.in_socket as f64).ln().abs();
    let thinks = scene.thinks("big");
    let near = *thinks.iter().min_by(|a, b| away(a).total_cmp(&away(b)))?;
    let ((at, most), (last, end)) = plateau(scene, near)?;
    (near != COMPARED).then(|| {
        format!(
            "; the model's knee is at {:.0} CPUs there and at {:.0} with think time {near}, where \
             the most is at {at} CPUs, {:.0} % of it at {last}",
            knee(COMPARED),
            knee(near),
            end / most * 100.0
        )
    })
}

/// A claim about the small machine.
fn on_small(
    scene: &Scene,
    (id, statement): (&str, &str),
    judge: impl FnOnce(&Scene) -> Option<(bool, String)>,
) -> Claim {
    if scene.cpus > SMALL {
        let why = format!("the claim is about a machine of {SMALL} CPUs, not {}", scene.cpus);
        return unobservable(id, statement, &why);
    }
    with_cpus(scene, (id, statement), SMALL, judge)
}

fn small_with_think(scene: &Scene) -> Claim {
    let statement = "On a small machine the big lock beats fine-grained ones with a think time of \
                     500 and scales linearly to 4 CPUs";
    on_small(scene, ("S1-C10", statement), |scene| {
        let [big, fine] = ["big", "fine"].map(|name| scene.throughput(name, 500, SMALL));
        let (big, fine, share) = (big?, fine?, share(scene, "big", 500, SMALL)?);
        let evidence = format!(
            "on 4 CPUs big {big:.0}, fine-grained {fine:.0} per second; big at {share:.2} of \
             perfect scaling"
        );
        Some((big > fine && share >= 0.9, evidence))
    })
}

fn small_without(scene: &Scene) -> Claim {
    let statement = "Without think time the big lock saturates at 3 CPUs and fine-grained ones \
                     overtake it";
    on_small(scene, ("S1-C11", statement), |scene| {
        let of = |name, cpus| scene.throughput(name, 0, cpus);
        let (three, four, fine) = (of("big", 3)?, of("big", 4)?, of("fine", 4)?);
        let evidence = format!(
            "big {three:.0} on 3 CPUs and {four:.0} on 4, fine-grained {fine:.0} per second"
        );
        Some((four < 1.05 * three && fine > four, evidence))
    })
}

#[cfg(test)]
mod tests;
