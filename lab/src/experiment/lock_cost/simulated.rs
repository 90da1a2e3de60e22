//! What a message takes in the simulation, by locking.

use super::{BASE, METRIC, added_fact, case, tell_of_transactions};
use crate::experiment::pairs::Pairs;
use crate::experiment::{Measured, Simulated};
use crate::machine::{self, Simulation};
use anyhow::Result;
use manifest::LOCKINGS;

/// Units of time in which messages are counted.
const WINDOW: u64 = 2_000_000;

/// Simulates each locking that the twin has of a kernel; of some it has none but the usual one.
pub fn measure(setup: &Simulated, kernel: &str) -> Result<Measured> {
    let mut measured = Measured::default();
    if kernel == manifest::KERNELS[0] {
        tell_of_transactions(&mut measured, true);
    }
    let base = message(setup, kernel, BASE)?;
    let known = machine::about()?.locked_kernels.iter().any(|known| known == kernel);
    for locking in LOCKINGS.iter().filter(|locking| known || **locking == BASE) {
        let taken = message(setup, kernel, locking)?;
        measured.samples.push(kernel, METRIC, &case(locking), vec![taken.round() as u64]);
        if *locking != BASE {
            measured.facts.push(added_fact([kernel, locking], taken - base));
        }
    }
    Ok(measured)
}

/// The mean time that a message takes on one CPU, without any think time.
fn message(setup: &Simulated, kernel: &str, locking: &str) -> Result<f64> {
    let simulation = &Simulation::default();
    let (window, windows) = (WINDOW, 1);
    let pairs = Pairs { locking, think: 0, cpus: 1, window, windows, simulation };
    Ok(WINDOW as f64 / pairs.run(setup, kernel)?.messages[0] as f64)
}
