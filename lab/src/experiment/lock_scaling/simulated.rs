//! The points that the twin gives: pairs on up to two sockets, the same with sections as long as
//! the paper's, on the small machine, and with sections that scatter as in the queueing model.

use super::pairs::{self, Pairs};
use super::points::{ARM, PAPER, facts, hold};
use super::{COMPARED, METRIC, Scene, THINK, curves, points};
use crate::experiment::measured::fact;
use crate::experiment::{Measured, Simulated};
use crate::failure::usage;
use crate::machine::{LARGE, SMALL, Simulation};
use crate::progress::Step;
use anyhow::Result;
use manifest::{LOCKINGS, NO_LOCKING};
use model::{Distribution, Fit};
use results::{Limit, Origin};
use twin_protocol::{Scatter, Sections, Service, Topology, Transfers};

/// Numbers of CPUs without `--cpus`.
const USUAL: [usize; 8] = [1, 2, 4, 7, 10, 14, 20, 28];
/// Those of the think time whose curve has a peak within a socket (S1-C06).
const PEAKED: (u64, [usize; 16]) = (1000, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 20, 28]);
/// Windows of each point, and messages in each, about.
const WINDOWS: u64 = 5;
const IN_WINDOW: u64 = 20_000;
/// Units that a message takes at least besides thinking, about: a pass through the lock.
const PASS: u64 = 300;
/// The mean length of sections that scatter: the paper's fitted s.
const SERVICE: u64 = 358;
/// Sections as long as the paper's (S1-13): 164 cycles, and 1.69 lines from the lock's last owner.
/// That number of lines is between 1.5 and 2 and makes sections of 358 cycles within a socket.
const AS_PAPER: Service = Service {
    mean: 164,
    scatter: Scatter::Deterministic,
    transfers: Some(Transfers { topology: LARGE, hundredths: 169 }),
};
/// By how many percent the model may miss a point of theirs.
const NEAR: f64 = 2.0;
/// The least r squared of one service time for all think times within a socket.
const EXPLAINED: f64 = 0.99;

/// Units in which shared lines are looked for.
const WATCHED: u64 = 1_000_000;

/// Sections that scatter in a way: the metric, and the model's name of it.
struct Shape {
    metric: &'static str,
    scatter: Scatter,
    distribution: Distribution,
}

const SHAPES: [Shape; 2] = [
    Shape {
        metric: points::EXPONENTIAL,
        scatter: Scatter::Exponential,
        distribution: Distribution::Exponential,
    },
    Shape {
        metric: points::DETERMINISTIC,
        scatter: Scatter::Deterministic,
        distribution: Distribution::Deterministic,
    },
];

/// Simulates all points, and says what they mean.
pub fn measure(setup: &Simulated, kernel: &str) -> Result<Measured> {
    let (large, small) = (LARGE, SMALL);
    let most = (large.sockets * large.per_socket) as usize;
    let asked = setup.asked.cpus.as_deref();
    if let Some(wrong) = asked.and_then(|cpus| cpus.iter().find(|cpus| **cpus > most)) {
        let why = format!("{wrong} CPUs were asked for, and the simulated machine has {most}");
        return Err(usage(why));
    }
    let mut run = Run { setup, kernel, measured: Measured::default(), held: Vec::new() };
    run.measured.unit = Some("messages per second".to_string());
    let cpus = asked.unwrap_or(&USUAL);
    let within = |topology| Simulation { topology: Some(topology), ..Simulation::default() };
    let own = Family { metric: METRIC, simulation: within(large), outside: 0 };
    run.simulate(&own, cpus, &|locking, think| locking == "big" || think == COMPARED)?;
    run.as_paper(asked)?;
    let few: Vec<usize> = (1..=small.per_socket as usize).collect();
    let few: Vec<usize> = match asked {
        Some(asked) => few.into_iter().filter(|cpus| asked.contains(cpus)).collect(),
        None => few,
    };
    let simulation = Simulation { weakly_ordered: true, ..within(small) };
    let arm = Family { metric: ARM, simulation, outside: 0 };
    run.simulate(&arm, &few, &|locking, think| locking != "elided" && [0, 500].contains(&think))?;
    for shape in &SHAPES {
        let service = Service { mean: SERVICE, scatter: shape.scatter, transfers: None };
        let simulation = Simulation { service: Some(service), ..Simulation::default() };
        let family = Family { metric: shape.metric, simulation, outside: 0 };
        run.simulate(&family, cpus, &|locking, think| locking == "big" && think > 0)?;
    }
    run.shared(cpus)?;
    Ok(run.report())
}

/// Points that are simulated alike.
struct Family {
    metric: &'static str,
    simulation: Simulation,
    /// What a message takes outside the lock, which think times are shortened by.
    outside: u64,
}

/// What has been simulated so far.
struct Run<'a> {
    setup: &'a Simulated,
    kernel: &'a str,
    measured: Measured,
    /// Sections of the large machine under the big lock, by metric, think time and number of CPUs.
    held: Vec<((&'static str, u64, usize), Sections)>,
}

impl Run<'_> {
    /// Simulates the big lock with sections as long as the paper's.
    fn as_paper(&mut self, asked: Option<&[usize]>) -> Result<()> {
        let simulation = Simulation { service: Some(AS_PAPER), ..Simulation::default() };
        let outside = pairs::outside(self.setup, self.kernel)?;
        let family = Family { metric: PAPER, simulation, outside };
        let (peaked, more) = PEAKED;
        let others = |locking: &str, think| locking == "big" && think > 0 && think != peaked;
        self.simulate(&family, asked.unwrap_or(&USUAL), &others)?;
        let it = |locking: &str, think| locking == "big" && think == peaked;
        self.simulate(&family, asked.unwrap_or(&more), &it)
    }

    /// Simulates the points of a family that are wanted, by locking and think time.
    fn simulate(
        &mut self,
        family: &Family,
        cpus: &[usize],
        wanted: &dyn Fn(&str, u64) -> bool,
    ) -> Result<()> {
        let Family { metric, simulation, outside } = family;
        let step = Step::start(format!("simulating {metric}"));
        let asked = &self.setup.asked;
        let thinks = asked.numbers("think").unwrap_or(THINK.to_vec());
        let windows = asked.number("windows", WINDOWS);
        for locking in LOCKINGS.into_iter().filter(|locking| *locking != NO_LOCKING) {
            for think in thinks.iter().copied().filter(|think| wanted(locking, *think)) {
                for cpus in cpus.iter().copied() {
                    let case = points::case(locking, think, cpus);
                    step.detail(&case);
                    let window = IN_WINDOW * ((think + PASS) / cpus as u64).max(PASS);
                    let (asked, think) = (think, think.saturating_sub(*outside));
                    let pairs = Pairs { locking, think, cpus, window, windows, simulation };
                    let passed = pairs.run(self.setup, self.kernel)?;
                    let rate = |messages: &u64| messages * passed.hertz / window;
                    let values = passed.messages.iter().map(rate).collect();
                    self.measured.samples.push(self.kernel, metric, &case, values);
                    if [METRIC, PAPER].contains(metric) && locking == "big" {
                        self.held.push(((*metric, asked, cpus), passed.seen.sections));
                    }
                }
            }
        }
        Ok(())
    }

    /// How many lines of kernel memory several CPUs share, one of them writing, while messages are
    /// under way.
    fn shared(&mut self, cpus: &[usize]) -> Result<()> {
        let Some(cpus) = cpus.iter().copied().filter(|cpus| *cpus > 1).min() else { return Ok(()) };
        let (think, window, windows) = (COMPARED, WATCHED, 3);
        let simulation =
            &Simulation { observed: Some(WATCHED..2 * WATCHED), ..Simulation::default() };
        for locking in LOCKINGS.into_iter().filter(|locking| *locking != NO_LOCKING) {
            let pairs = Pairs { locking, think, cpus, window, windows, simulation };
            let seen = pairs.run(self.setup, self.kernel)?.seen;
            let note = format!("written by one and touched by another of {cpus}");
            let name = format!("{locking}: lines that CPUs share");
            self.measured.facts.push(fact(name, seen.shared.len() as u64, "", note));
        }
        Ok(())
    }

    /// Facts, limits and curves.
    fn report(mut self) -> Measured {
        let large = LARGE;
        let in_socket = large.per_socket as usize;
        self.machine("CPUs of the large machine; the small one has 4", &large);
        let rows = self.measured.samples.rows();
        let scene = Scene::of(METRIC, &rows, &self.measured.facts);
        self.lock_held(&scene, in_socket);
        self.extremes();
        let measured = &mut self.measured;
        let fits = curves::fits(measured, "", &scene, &curves::BOTH);
        curves::thinks(measured, "", &[(Origin::SIMULATED, &scene)], &fits);
        curves::lockings(measured, "", &scene, Origin::SIMULATED);
        let best = fits.iter().map(|fit| fit.r_squared).reduce(f64::max);
        let best = best.filter(|_| scene.most("big") >= in_socket);
        measured.limits.extend(best.map(|r_squared| {
            let value = (r_squared * 1e5).floor() / 1e5;
            Limit::least("r squared of one service time within a socket", value, EXPLAINED, "")
        }));
        let paper = Scene::of(PAPER, &rows, &measured.facts);
        let fits = curves::fits(measured, "paper", &paper, &curves::BOTH);
        curves::thinks(measured, "paper", &[(Origin::SIMULATED, &paper)], &fits);
        let small = Scene::small(&rows, &measured.facts);
        curves::lockings(measured, "arm", &small, Origin::SIMULATED);
        for shape in &SHAPES {
            let name = shape.distribution.name();
            let scene = Scene::of(shape.metric, &rows, &measured.facts);
            let scene = Scene { in_socket: 0, ..scene };
            let fits = curves::fits(measured, name, &scene, &[shape.distribution]);
            curves::thinks(measured, name, &[(Origin::SIMULATED, &scene)], &fits);
            measured.limits.extend(fits.iter().map(|fit| near(name, fit)));
        }
        self.measured
    }

    fn machine(&mut self, note: &str, topology: &Topology) {
        let Topology { sockets, per_socket, .. } = *topology;
        let all: u64 = self.measured.samples.series.iter().map(|s| s.values.len() as u64).sum();
        self.measured.facts.extend([
            fact(facts::HERTZ, 1_000_000_000, "per second", "modelled instructions"),
            fact(facts::CPUS, (sockets * per_socket).into(), "", note),
            fact(facts::IN_SOCKET, per_socket.into(), "", "of those"),
            fact("windows", all, "", "in all"),
        ]);
    }

    /// How long the lock is held: by one CPU, and where it never rests.
    fn lock_held(&mut self, scene: &Scene, in_socket: usize) {
        for ((_, think, cpus), sections) in self.held.iter().filter(|(at, _)| at.0 == METRIC) {
            let count = sections.count as f64;
            let (mean, again) = (sections.time as f64 / count, sections.same as f64 / count);
            let whole = scene.throughput("big", *think, *cpus).map_or(0.0, |x| scene.hertz / x);
            let (name, value) = match (*think, *cpus) {
                (0, 1) => (hold::ONE, mean),
                (hold::THINK, n) if n == in_socket => (hold::SOCKET, whole),
                (hold::THINK, n) if n == scene.cpus => (hold::ALL, whole),
                _ => continue,
            };
            let again = again * 100.0;
            let note = format!("section {mean:.0}, the same CPU again {again:.0} %");
            self.measured.facts.push(fact(name, value.round() as u64, "ticks", note));
        }
    }
}

impl Run<'_> {
    /// How long the lock is held at least and at most with sections as long as the paper's.
    fn extremes(&mut self) {
        let own = self
            .held
            .iter()
            .filter(|((metric, _, cpus), _)| *metric == PAPER && *cpus >= hold::FEW);
        let means = own.map(|(_, sections)| sections.time as f64 / sections.count as f64);
        let (least, greatest) = means.fold((f64::INFINITY, 0.0f64), |(least, greatest), mean| {
            (least.min(mean), greatest.max(mean))
        });
        let note = format!("mean of a point with {} CPUs or more", hold::FEW);
        for (name, value) in [(hold::LEAST, least), (hold::GREATEST, greatest)] {
            if greatest > 0.0 {
                self.measured.facts.push(fact(name, value.round() as u64, "ticks", &*note));
            }
        }
    }
}

/// How far the farthest point may be from the model.
fn near(name: &str, fit: &Fit) -> Limit {
    let off = |residual: &model::Residual| (residual.relative() * 100.0).abs();
    let worst = fit.residuals.iter().map(off).fold(0.0, f64::max);
    let name = format!("sections of {name} length: the model misses a point by");
    Limit::most(name, (worst * 100.0).ceil() / 100.0, NEAR, "%")
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::{Point, Repairman, fit};

    #[test]
    fn sections_of_another_shape_are_farther_than_the_limit() {
        let point = |(think, cpus): (f64, usize)| {
            let model = Repairman::new(358.0, think).unwrap();
            let solved = model.solve(cpus, Distribution::Exponential).unwrap();
            Point { cpus, throughput: solved.throughput, think: Some(think) }
        };
        let places = [500.0, 2000.0, 8000.0]
            .into_iter()
            .flat_map(|think| [1, 2, 4, 8, 16].map(|cpus| (think, cpus)));
        let points: Vec<Point> = places.map(point).collect();
        let limit = |distribution| near("made-up", &fit(&points, distribution).unwrap());
        assert!(limit(Distribution::Exponential).held());
        assert!(!limit(Distribution::Deterministic).held());
    }
}
