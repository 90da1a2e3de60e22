//! Kernels that take samples: these tell the truth about time that the kernel spends with
//! interrupts off.

use super::builds::Builds;
use super::job::Job;
use crate::cli::Group;
use crate::experiment::{self, Asked, Emulated, Session};
use crate::image::Watch;
use crate::machine::{EMULATOR, Sampling};
use anyhow::{Context, Result, bail};

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

/// Samples of the usual machine.
pub fn jobs() -> Vec<Job> {
    let job = |kernel: &'static str| {
        let name = format!("samples agree with counted instructions under {kernel}");
        let work = move |_: &mut _| agrees(&Emulated::new(Asked::seed(1)), kernel);
        let builds = Builds::of(EMULATOR, Watch::Samples.into());
        Job::new(Group::Target, name, work).builds(builds).seconds(10.0)
    };
    KERNELS.map(job).into()
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
