//! Measured points beside what the queueing model says of them.

use super::{COMPARED, Scene};
use crate::experiment::Measured;
use model::{Distribution, Fit, fit};
use results::{Case, Curves, Fact, Origin, Points, Source};

/// The locking that the model is about.
const MODELLED: &str = "big";
/// What the axis upwards shows.
const UPWARDS: &str = "million messages per second";

/// Fits the model and adds what it finds, and plots. The origin says whether the points are a
/// processor's or a simulation's.
pub fn add(measured: &mut Measured, scene: &Scene, origin: Origin) {
    let both = [Distribution::Exponential, Distribution::Deterministic];
    model(measured, "", scene, origin, &both);
    lockings(measured, "", scene, origin);
}

/// Fits the model with these distributions to points of one socket, and adds what it finds: facts,
/// residuals and a plot. The label, if any, tells these points from others.
pub fn model(
    measured: &mut Measured,
    label: &str,
    scene: &Scene,
    origin: Origin,
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
    measured.curves.push(by_think(label, scene, &fits, origin));
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

/// A name with a label, if there is one.
fn labelled(name: &str, label: &str) -> String {
    if label.is_empty() { name.to_string() } else { format!("{name}-{label}") }
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
        label => format!("sections of {label} length, model"),
    };
    let name = match fit.distribution {
        Distribution::Exponential => "exponential",
        Distribution::Deterministic => "deterministic",
    };
    let fact = |what: &str, value: f64, unit: &str, note: String| Fact {
        name: format!("{of}, {name}: {what}"),
        value: value.abs().round() as u64,
        unit: unit.to_string(),
        note,
    };
    let bounds = |interval: &model::Interval| {
        format!("95 % from {:.1} to {:.1}", interval.low, interval.high)
    };
    let added =
        if fit.think.value < 0.0 { "taken off think times" } else { "added to think times" };
    measured.facts.extend([
        fact("service", fit.service.value, "ticks", bounds(&fit.service)),
        fact(added, fit.think.value, "ticks", bounds(&fit.think)),
        fact("r squared", fit.r_squared * 1e6, "millionths", "over all think times".to_string()),
    ]);
    let line = |residual: &model::Residual| {
        let (point, percent) = (residual.point, residual.residual / residual.fitted * 100.0);
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

/// Throughput of one locking, a case for each think time that the model is fitted to. Without any a
/// lone CPU is so fast that the other curves would be flat; that is a plot of its own.
fn by_think(label: &str, scene: &Scene, fits: &[Fit], origin: Origin) -> Curves {
    let case = |think: u64| {
        let own = scene.curve(MODELLED, think);
        let mut trails = vec![points(source_of(origin), own.iter().copied())];
        for fit in fits {
            let at = |(cpus, _): &(usize, f64)| {
                let solved = fit.predict(think as f64, *cpus, fit.distribution).ok()?;
                Some((*cpus, solved.throughput * scene.hertz))
            };
            trails.push(points(source(fit), own.iter().filter_map(at)));
        }
        Case { name: format!("think {think}"), trails }
    };
    Curves {
        name: labelled(&format!("throughput-{MODELLED}"), label),
        title: labelled(
            &format!("Messages a second under locking {MODELLED}, by mean think time in ticks"),
            label,
        ),
        across: "CPUs".to_string(),
        upwards: UPWARDS.to_string(),
        cases: scene.thinks(MODELLED).into_iter().rev().filter(|t| *t > 0).map(case).collect(),
    }
}

/// Throughput at one think time, a case for each locking that several CPUs can have.
fn by_locking(label: &str, scene: &Scene, think: u64, source: Source) -> Option<Curves> {
    let of = |locking: &str| {
        let own = scene.curve(locking, think);
        let trails = vec![points(source, own.iter().copied())];
        (own.len() > 1).then(|| Case { name: locking.to_string(), trails })
    };
    let cases: Vec<Case> = scene.lockings().into_iter().filter_map(of).collect();
    (!cases.is_empty()).then(|| Curves {
        name: labelled(&format!("throughput-think-{think}"), label),
        title: labelled(&format!("Messages a second at think time {think}, by locking"), label),
        across: "CPUs".to_string(),
        upwards: UPWARDS.to_string(),
        cases,
    })
}

fn points(source: Source, of: impl Iterator<Item = (usize, f64)>) -> Points {
    Points { source, points: of.map(|(cpus, x)| (cpus as f64, x / 1e6)).collect() }
}

#[cfg(test)]
mod tests {
    use super::super::Point;
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
        add(&mut measured, &made_up(), Origin::HARDWARE);
        let value = |name: &str| measured.facts.iter().find(|f| f.name == name).unwrap().value;
        assert_eq!(value("model, exponential: service"), 358);
        assert_eq!(value("model, exponential: added to think times"), 20);
        assert_eq!(value("model, exponential: r squared"), 1_000_000);
        assert_eq!(measured.curves[0].cases.len(), 3);
        let sources = |case: &Case| case.trails.iter().map(|t| t.source).collect::<Vec<_>>();
        let expected = [Source::Measured, Source::Exponential, Source::Deterministic];
        assert_eq!(sources(&measured.curves[0].cases[0]), expected);
    }

    #[test]
    fn too_few_points_are_a_note() {
        let mut measured = Measured::default();
        let mut scene = made_up();
        scene.points.truncate(2);
        add(&mut measured, &scene, Origin::SIMULATED);
        assert!(measured.notes[0].starts_with("the model cannot be fitted"));
        assert_eq!(measured.curves[0].cases[0].trails[0].source, Source::Simulated);
    }
}
