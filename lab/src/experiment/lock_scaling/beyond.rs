//! What more CPUs than the host has would do: the twin, with sections as long as the model found.

use super::{Scene, THINK, points};
use crate::experiment::pairs::Pairs;
use crate::experiment::{Asked, Hardware, Simulated};
use crate::machine::Simulation;
use crate::progress::Step;
use anyhow::Result;
use model::Fit;
use twin_protocol::{Scatter, Service};

/// Numbers of CPUs.
const CPUS: [usize; 5] = [1, 2, 4, 8, 16];
/// Messages of a point, about: throughput scatters by less than 1 %.
const MESSAGES: u64 = 20_000;
/// Messages by which a lone CPU's way into the twin's kernel is found.
const ALONE: u64 = 1000;

/// Simulates all points of the big lock with think times, in the host's ticks: exponential sections
/// of the fitted length, and think times that are longer by what the fit adds to them.
pub fn simulate(setup: &Hardware, kernel: &str, scene: &Scene, fit: &Fit) -> Result<Scene> {
    let setup = Simulated::new(Asked::seed(setup.asked.seed));
    let mean = fit.service.value.max(1.0).round() as u64;
    let pass = |scatter, think: u64, cpus: usize, window: u64| -> Result<u64> {
        let service = Some(Service { mean, scatter });
        let simulation = &Simulation { service, ..Simulation::default() };
        let pairs = Pairs { locking: "big", think, cpus, window, windows: 1, simulation };
        Ok(pairs.run(&setup, kernel)?.messages[0])
    };
    // What the twin takes besides is part of what the fit adds.
    let window = ALONE * mean;
    let own = (window / pass(Scatter::Deterministic, 0, 1, window)?).saturating_sub(mean);
    let added = fit.think.value.round() as i64 - own as i64;
    let step = Step::start("simulating more CPUs");
    let mut points = Vec::new();
    for think in THINK.into_iter().filter(|think| *think > 0) {
        for cpus in CPUS {
            step.detail(&points::case("big", think, cpus));
            let thinks = think.saturating_add_signed(added);
            let window = MESSAGES * ((thinks + mean) / cpus as u64).max(mean);
            let passed = pass(Scatter::Exponential, thinks, cpus, window)?;
            let throughput = passed as f64 / window as f64 * scene.hertz;
            points.push(points::Point { locking: "big".to_string(), think, cpus, throughput });
        }
    }
    Ok(Scene { points, ..scene.clone() })
}
