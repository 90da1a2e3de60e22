//! Series on the native machine, as samples of an experiment.

use super::{Hardware, Measured};
use crate::machine::native::Series;
use anyhow::{Context, Result};

/// What the rows count: a tick is too long for an operation.
pub const UNIT: &str = "hundredths of ticks";
/// How often the program is started: a start can be unlucky with where its memory lies.
pub const STARTS: u64 = 5;
/// Series of each size in a start.
const ROUNDS: &str = "15";

/// Runs series of some sizes and adds a sample for each start: the least hundredths of ticks of an
/// operation, since what the host does meanwhile only adds. `cases` name the sizes.
pub fn measure(
    measured: &mut Measured,
    setup: &Hardware,
    (kernel, metric): (&str, &str),
    options: &[&str],
    cases: &[(u64, String)],
) -> Result<()> {
    measured.unit = Some(UNIT.to_string());
    let sizes: Vec<String> = cases.iter().map(|(size, _)| size.to_string()).collect();
    let sizes = sizes.join(",");
    let mut samples = vec![Vec::new(); cases.len()];
    for start in 0..STARTS {
        let seed = (setup.asked.seed + start).to_string();
        let own = ["--kernel", kernel, "--sizes", &sizes, "--rounds", ROUNDS, "--seed", &seed];
        let arguments = [options, &own].concat();
        let host = setup.run::<Vec<Series>>(&arguments)?;
        measured.on_host(&host);
        for ((size, case), samples) in cases.iter().zip(&mut samples) {
            let series = host.found.iter().find(|series| series.size == *size);
            let series = series.with_context(|| format!("no series of size {size}"))?;
            let least = series.ticks.iter().min().with_context(|| format!("{case}: no series"))?;
            samples.push(least * 100 / series.operations.max(1));
        }
    }
    for ((_, case), samples) in cases.iter().zip(samples) {
        measured.samples.push(kernel, metric, case, samples);
    }
    Ok(())
}
