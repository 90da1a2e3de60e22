//! What a message takes in the simulation, by locking.

use super::measure::{added_fact, tell_of_transactions};
use super::{BASE, METRIC, barriers, case};
use crate::experiment::lock_scaling::Pairs;
use crate::experiment::measured::fact;
use crate::experiment::{Measured, Simulated};
use crate::machine::{self, Simulation};
use anyhow::Result;
use manifest::LOCKINGS;
use results::Fact;

/// Units of time in which messages are counted.
const WINDOW: u64 = 2_000_000;

/// Simulates each locking that the twin has of a kernel; of some it has none but the usual one.
pub fn measure(setup: &Simulated, kernel: &str) -> Result<Measured> {
    let mut measured = Measured::default();
    if kernel == manifest::KERNELS[0] {
        tell_of_transactions(&mut measured, true);
        for locking in ["big", "fine"] {
            measured.facts.push(barriers_of(setup, kernel, locking)?);
        }
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

/// How many memory barriers a round trip takes where processors order memory weakly: those of one
/// run that are not in a shorter one.
fn barriers_of(setup: &Simulated, kernel: &str, locking: &str) -> Result<Fact> {
    let simulation = &Simulation { weakly_ordered: true, ..Simulation::default() };
    let run = |windows| {
        let (window, cpus) = (WINDOW, 1);
        let pairs = Pairs { locking, think: 0, cpus, window, windows, simulation };
        let passed = pairs.run(setup, kernel)?;
        anyhow::Ok((passed.messages.iter().sum::<u64>(), passed.seen.barriers))
    };
    let ((fewer, before), (messages, after)) = (run(1)?, run(2)?);
    let trips = (messages - fewer) as f64 / 2.0;
    let each = ((after - before) as f64 / trips).round() as u64;
    let note = "as on ARMv7, one for each side of an access that is ordered";
    Ok(fact(barriers(locking), each, "", note))
}
