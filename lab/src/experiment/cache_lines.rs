//! `cache-lines`: what a modified cache line takes from where it is to a CPU (S1-14).

use super::{Experiment, Measured, Setup};
use crate::machine::native::{self, Lines};
use anyhow::Result;
use results::Fact;

/// The experiment.
pub static EXPERIMENT: Experiment = Experiment {
    name: "cache-lines",
    about: "Ticks of a load by cache level and distance, and of a line between two CPUs",
    ledger: &["S1-14"],
    machines: &["native"],
    kernels: &[NO_KERNEL],
    metrics: &["L1", "L2", "L3", "memory", PING],
    cases: &[LOCAL, WITHIN, ACROSS],
    parameters: &[("loads", "up to 4096 in random order, each waiting for the one before")],
    notes: &[
        "A CPU modifies all lines of a buffer that fills the level, then one reads them: itself \
         (local), or another of its socket or of the next. Ticks are the counter's, whose rate \
         need not be the processor's.",
        "`ping` is one line that two CPUs increment in turn, one way: the transfer, seeing it, and \
         taking the line to write.",
    ],
    golden: false,
    modelled: false,
    claims: |_| Vec::new(),
    measure,
};

const NO_KERNEL: &str = "no-kernel";
const PING: &str = "ping";
const LOCAL: &str = "local";
const WITHIN: &str = "within a socket";
const ACROSS: &str = "across sockets";

fn measure(setup: &Setup, kernel: &str) -> Result<Measured> {
    let cpus = match &setup.cpus {
        Some(cpus) => cpus.iter().copied().max().unwrap_or(1),
        None => std::thread::available_parallelism()?.get(),
    };
    let options = ["lines", "--cpus", &cpus.to_string(), "--rounds", "2000"];
    let host = native::run::<Lines>(&setup.images.kernel, &options)?;
    let mut measured = Measured::default();
    measured.host.insert("processor".to_string(), host.processor.clone());
    measured.host.insert("counter".to_string(), format!("{} Hz", host.hertz));
    let socket = |cpu: usize| host.sockets.get(cpu).copied().unwrap_or(0);
    let distance = |a: usize, b: usize| match (a == b, socket(a) == socket(b)) {
        (true, _) => LOCAL,
        (_, true) => WITHIN,
        _ => ACROSS,
    };
    let mut sizes: Vec<(&str, u64)> = Vec::new();
    for level in &host.found.levels {
        let ticks = level.hundredths.iter().map(|hundredths| (hundredths + 50) / 100).collect();
        let place = distance(level.writer, level.reader);
        join(&mut measured, [kernel, &level.level, place], ticks);
        if !sizes.contains(&(&level.level, level.bytes)) {
            sizes.push((&level.level, level.bytes));
        }
    }
    for ping in &host.found.pings {
        let [a, b] = ping.between;
        join(&mut measured, [kernel, PING, distance(a, b)], ping.ticks.clone());
    }
    measured.facts.extend(sizes.into_iter().map(|(level, bytes)| Fact {
        name: format!("{level} buffer"),
        value: bytes,
        unit: "bytes".to_string(),
        note: "what was written and then read".to_string(),
    }));
    Ok(measured)
}

/// Adds samples to a row that may exist: all pairs of CPUs at the same distance are one.
fn join(measured: &mut Measured, [kernel, metric, case]: [&str; 3], values: Vec<u64>) {
    let series = &mut measured.samples.series;
    match series.iter_mut().find(|series| series.metric == metric && series.case == case) {
        Some(series) => series.values.extend(values),
        None => measured.samples.push(kernel, metric, case, values),
    }
}
