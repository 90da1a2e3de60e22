//! Kernels that take samples: systems run as without, and the samples tell the truth about time
//! that the kernel spends with interrupts off.

use super::suite::Suite;
use crate::commands::test::target::SYSTEMS;
use crate::experiment::{self, Asked, Emulated, Session};
use crate::image::{Extra, Images};
use crate::machine::{self, Boot, Console, Machine, Mode, Sampling};
use crate::progress::Step;
use crate::systems;
use anyhow::{Context, Result, bail};
use std::time::Duration;

/// As often as the port admits.
const OFTEN: Sampling = Sampling { period: 10_000, seed: 3 };
/// As usual.
const USUAL: Sampling = Sampling { period: 25_000, seed: 1 };
/// Kernels whose messages take the same steps in the load as in ping-pong.
const KERNELS: [&str; 2] = ["fastpath", "direct-lazy"];
/// Instructions of the program's own in what ping-pong measures, at most.
const STUBS: f64 = 40.0;
/// Instructions that ticks and preemptions add to a round trip of the load, at most.
const TICKS: f64 = 15.0;
/// Standard errors that a figure may be off.
const ERRORS: f64 = 3.0;

const TIMEOUT: Duration = Duration::from_secs(120);

/// Checks the usual machine.
pub fn check(suite: &mut Suite) {
    let setup = Emulated::new(Asked::seed(1));
    let images = match setup.images(Some(Extra::Profile)) {
        Ok(images) => images,
        Err(error) => return suite.broken("kernels that take samples", format!("{error:#}")),
    };
    for board in setup.machine().boards() {
        for kernel in [manifest::KERNELS[0], manifest::KERNELS[manifest::KERNELS.len() - 1]] {
            for system in SYSTEMS {
                if suite.is_over() {
                    return;
                }
                let name = format!("{system} under {kernel} on {board}, with samples");
                let result = run(setup.machine(), images, board, kernel, system);
                suite.record(name, result.map_err(|error| format!("{error:#}")));
            }
        }
    }
    for kernel in KERNELS {
        let name = format!("samples agree with counted instructions under {kernel}");
        let _step = Step::start(&name);
        let result = agrees(&setup, kernel);
        suite.record(name, result.map_err(|error| format!("{error:#}")));
    }
}

/// A system ends well, and samples fell into programs and into the kernel at work.
fn run(
    machine: &dyn Machine,
    images: &Images,
    board: &str,
    kernel: &str,
    system: &str,
) -> Result<()> {
    let outcome = machine::boot(&Boot {
        machine,
        board,
        images,
        system: &systems::load(system)?,
        kernel,
        icount: Some(1),
        console: Console::CAPTURE,
        timeout: Some(TIMEOUT),
        inspect: false,
        log: false,
        sampling: Some(OFTEN),
        simulation: Default::default(),
        slices: true,
    })?;
    if let Some(failure) = outcome.failure() {
        bail!(failure);
    }
    let samples = outcome.samples.context("there are no samples")?;
    for mode in [Mode::User, Mode::Kernel] {
        if !samples.taken.iter().any(|sample| sample.mode == mode) {
            bail!("{} samples, but none in mode {mode:?}", samples.taken.len());
        }
    }
    Ok(())
}

/// Kernel instructions of a round trip, by samples and as ping-pong counts them.
fn agrees(setup: &Emulated, kernel: &str) -> Result<()> {
    let found = experiment::round_trip_by_samples(setup, kernel, USUAL)?;
    let ping = experiment::find("ping-pong").context("there is no ping-pong")?;
    let measured = Session::new(Asked::seed(1)).measure(ping.usual(), kernel)?;
    let pair = ["call", "reply-wait"].map(|metric| {
        let series = measured.samples.series.iter().find(|series| {
            series.metric == metric && series.case == "across words=0" && series.kernel == kernel
        });
        series.and_then(|series| series.values.iter().min().copied())
    });
    let [Some(call), Some(reply)] = pair else { bail!("ping-pong lacks rows") };
    within((call + reply) as f64, found)
}

/// Whether samples and count agree within the error of the former.
fn within(counted: f64, (sampled, error): (f64, f64)) -> Result<()> {
    let (low, high) = (counted - STUBS - ERRORS * error, counted + TICKS + ERRORS * error);
    if !(low..=high).contains(&sampled) {
        bail!("{sampled:.0} +- {error:.0} by samples, {counted} counted with the program's stubs");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_that_miss_the_kernel_do_not_agree() {
        assert!(within(215.0, (190.0, 6.0)).is_ok());
        assert!(within(215.0, (150.0, 6.0)).is_err());
        assert!(within(215.0, (260.0, 6.0)).is_err());
        assert!(within(215.0, (0.0, 0.0)).is_err(), "nothing inside the kernel");
    }
}
