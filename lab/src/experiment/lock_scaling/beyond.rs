//! What more CPUs than the host has would do: the twin, with sections as long as the model found.

use super::pairs::{self, Pairs};
use super::{Scene, THINK, points};
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

/// Simulates all points of the big lock with think times, in the host's ticks: exponential sections
/// of the fitted length, and think times that are longer by what the fit adds to them.
pub fn simulate(setup: &Hardware, kernel: &str, scene: &Scene, fit: &Fit) -> Result<Scene> {
    let setup = Simulated::new(Asked::seed(setup.asked.seed));
    let mean = fit.service.value.max(1.0).round() as u64;
    // What the twin takes besides is part of what the fit adds.
    let outside = pairs::outside(&setup, kernel)?;
    let added = fit.think.value.round() as i64 - outside as i64;
    let service = Some(Service { mean, scatter: Scatter::Exponential, transfers: None });
    let simulation = &Simulation { service, ..Simulation::default() };
    let step = Step::start("simulating more CPUs");
    let mut points = Vec::new();
    for think in THINK.into_iter().filter(|think| *think > 0) {
        for cpus in CPUS {
            step.detail(&points::case("big", think, cpus));
            let thinks = think.saturating_add_signed(added);
            let window = MESSAGES * ((thinks + mean) / cpus as u64).max(mean);
            let (locking, think, windows) = ("big", thinks, 1);
            let pairs = Pairs { locking, think, cpus, window, windows, simulation };
            let passed = pairs.run(&setup, kernel)?.messages[0];
            let throughput = passed as f64 / window as f64 * scene.hertz;
            points.push(points::Point { locking: "big".to_string(), think, cpus, throughput });
        }
    }
    Ok(Scene { points, ..scene.clone() })
}
