//! Measured points beside what the queueing model says of them.

use super::{COMPARED, Scene};
use crate::experiment::Measured;
use crate::experiment::measured::fact;
use model::{Distribution, Fit, fit};
use results::{Case, Curves, Origin, Points, Source};
use std::collections::BTreeSet;

/// The locking that the model is about.
const MODELLED: &str = "big";
/// How sections may scatter.
pub const BOTH: [Distribution; 2] = [Distribution::Exponential, Distribution::Deterministic];
/// What the axis upwards shows.
const UPWARDS: &str = "million messages per second";

/// Fits the model with these distributions to points of one socket, and adds what it finds: facts
/// and residuals. The label, if any, tells these points from others.
pub fn fits(
    measured: &mut Measured,
    label: &str,
    scene: &Scene,
    distributions: &[Distribution],
) -> Vec<Fit> {
    let within = if scene.in_socket > 0 { scene.in_socket } else { usize::MAX };
    let mut fits = Vec::new();
    for distribution in distributions {
        match fit(&scene.for_model(MODELLED, within), *distribution) {
            Ok(fit) => fits.push(fit),
            Err(error) => {
                measured.notes.push(format!("the model cannot be fitted: {error}"));
            }
        }
    }
    for fit in &fits {
        tell(measured, label, fit, scene);
    }
    fits
}

/// Plots lockings beside each other.
pub fn lockings(measured: &mut Measured, label: &str, scene: &Scene, origin: Origin) {
    for think in [COMPARED, 500, 0] {
        measured.curves.extend(by_locking(label, scene, think, source_of(origin)));
    }
}

fn source_of(origin: Origin) -> Source {
    if origin == Origin::HARDWARE { Source::Measured } else { Source::Simulated }
}

/// A name for files with a label, if there is one.
fn labelled(name: &str, label: &str) -> String {
    if label.is_empty() { name.to_string() } else { format!("{name}-{label}") }
}

/// A title with a label, if there is one.
fn titled(title: &str, label: &str) -> String {
    if label.is_empty() { title.to_string() } else { format!("{title} ({label})") }
}

fn source(fit: &Fit) -> Source {
    match fit.distribution {
        Distribution::Exponential => Source::Exponential,
        Distribution::Deterministic => Source::Deterministic,
    }
}

/// Facts and residuals of a fit.
fn tell(measured: &mut Measured, label: &str, fit: &Fit, scene: &Scene) {
    let of = match label {
        "" => "model".to_string(),
        "paper" => "sections of the paper's length, model".to_string(),
        label => format!("sections of {label} length, model"),
    };
    let name = fit.distribution.name();
    let found = |what: &str, value: f64, unit: &str, note: String| {
        fact(format!("{of}, {name}: {what}"), value.abs().round() as u64, unit, note)
    };
    let bounds = |interval: &model::Interval| {
        format!("95 % from {:.1} to {:.1}", interval.low, interval.high)
    };
    let added =
        if fit.think.value < 0.0 { "taken off think times" } else { "added to think times" };
    measured.facts.extend([
        found("service", fit.service.value, "ticks", bounds(&fit.service)),
        found(added, fit.think.value, "ticks", bounds(&fit.think)),
        found("r squared", fit.r_squared * 1e6, "millionths", "over all think times".to_string()),
    ]);
    let line = |residual: &model::Residual| {
        let (point, percent) = (residual.point, residual.relative() * 100.0);
        format!("{}x{}: {percent:+.1} %", point.think.unwrap_or(0.0), point.cpus)
    };
    let all: Vec<String> = fit.residuals.iter().map(line).collect();
    measured.notes.push(format!(
        "Residuals of {of}, {name}, with one service time, as think x CPUs, in percent of the \
         prediction (scatter {:.0} messages per second): {}.",
        fit.scatter * scene.hertz,
        all.join(", ")
    ));
}

/// Plots the throughput of one locking, a case for each think time that the model is fitted to:
/// points, by where they are from, and what each fit predicts for their numbers of CPUs. Without
/// any think time a lone CPU is so fast that the other curves would be flat; that is another plot.
pub fn thinks(measured: &mut Measured, label: &str, shown: &[(Origin, &Scene)], fits: &[Fit]) {
    let Some((_, first)) = shown.first() else { return };
    let case = |think: u64| {
        let of = |(origin, scene): &(Origin, &Scene)| {
            points(source_of(*origin), scene.curve(MODELLED, think).into_iter())
        };
        let mut trails: Vec<Points> = shown.iter().map(of).collect();
        let all = shown.iter().flat_map(|(_, scene)| scene.curve(MODELLED, think));
        let numbers: BTreeSet<usize> = all.map(|(cpus, _)| cpus).collect();
        for fit in fits {
            let at = |cpus: &usize| {
                let solved = fit.predict(think as f64, *cpus, fit.distribution).ok()?;
                Some((*cpus, solved.throughput * first.hertz))
            };
            trails.push(points(source(fit), numbers.iter().filter_map(at)));
        }
        Case { name: format!("think {think}"), trails }
    };
    let title = format!("Messages a second under locking {MODELLED}, by mean think time in ticks");
    measured.curves.push(Curves::of(
        labelled(&format!("throughput-{MODELLED}"), label),
        titled(&title, label),
        ["CPUs", UPWARDS],
        first.thinks(MODELLED).into_iter().rev().filter(|t| *t > 0).map(case).collect(),
    ));
}

/// Throughput at one think time, a case for each locking that several CPUs can have.
fn by_locking(label: &str, scene: &Scene, think: u64, source: Source) -> Option<Curves> {
    let of = |locking: &str| {
        let own = scene.curve(locking, think);
        let trails = vec![points(source, own.iter().copied())];
        (own.len() > 1).then(|| Case { name: locking.to_string(), trails })
    };
    let cases: Vec<Case> = scene.lockings().into_iter().filter_map(of).collect();
    let name = labelled(&format!("throughput-think-{think}"), label);
    let title = titled(&format!("Messages a second at think time {think}, by locking"), label);
    (!cases.is_empty()).then(|| Curves::of(name, title, ["CPUs", UPWARDS], cases))
}

fn points(source: Source, of: impl Iterator<Item = (usize, f64)>) -> Points {
    Points::of(source, of.map(|(cpus, x)| (cpus as f64, x / 1e6)))
}

#[cfg(test)]
mod tests {
    use super::super::points::Point;
    use super::*;
    use model::Repairman;

    /// What a lock with exponential service of 358 ticks gives.
    fn made_up() -> Scene {
        let mut points = Vec::new();
        for think in [500, 2000, 8000] {
            for cpus in [1, 2, 4, 8] {
                let model = Repairman::new(358.0, think as f64 + 20.0).unwrap();
                let solved = model.solve(cpus, Distribution::Exponential).unwrap();
                let throughput = solved.throughput * 2e9;
                points.push(Point { locking: "big".into(), think, cpus, throughput });
            }
        }
        Scene { points, hertz: 2e9, cpus: 8, in_socket: 8 }
    }

    #[test]
    fn one_service_time_is_found_for_all_think_times() {
        let mut measured = Measured::default();
        let scene = made_up();
        let fits = fits(&mut measured, "", &scene, &BOTH);
        let more = Point { locking: "big".into(), think: 500, cpus: 16, throughput: 5.0 };
        let more = Scene { points: vec![more], ..scene.clone() };
        let shown = [(Origin::HARDWARE, &scene), (Origin::SIMULATED, &more)];
        thinks(&mut measured, "", &shown, &fits);
        let value = |name: &str| measured.facts.iter().find(|f| f.name == name).unwrap().value;
        assert_eq!(value("model, exponential: service"), 358);
        assert_eq!(value("model, exponential: added to think times"), 20);
        assert_eq!(value("model, exponential: r squared"), 1_000_000);
        assert_eq!(measured.curves[0].cases.len(), 3);
        let least = &measured.curves[0].cases[2];
        assert_eq!(least.name, "think 500");
        let trails: Vec<_> = least.trails.iter().map(|t| (t.source, t.points.len())).collect();
        let predicted = [(Source::Exponential, 5), (Source::Deterministic, 5)];
        assert_eq!(trails[..2], [(Source::Measured, 4), (Source::Simulated, 1)]);
        assert_eq!(trails[2..], predicted);
    }

    #[test]
    fn too_few_points_are_a_note() {
        let mut measured = Measured::default();
        let mut scene = made_up();
        scene.points.truncate(2);
        let fits = fits(&mut measured, "", &scene, &BOTH);
        assert!(fits.is_empty());
        thinks(&mut measured, "", &[(Origin::SIMULATED, &scene)], &fits);
        assert!(measured.notes[0].starts_with("the model cannot be fitted"));
        assert_eq!(measured.curves[0].cases[0].trails[0].source, Source::Simulated);
    }
}
