//! `cache-lines`: what a modified cache line takes from where it is to a CPU (S1-14).

use super::{Cpus, Experiment, Hardware, Measure, Measured};
use crate::machine::native::Lines;
use anyhow::Result;
use model::Topology;
use results::{Fact, Report};

/// The experiment.
pub static EXPERIMENT: Experiment = Experiment {
    name: "cache-lines",
    about: "Ticks of a load by cache level and distance, and of a line between two CPUs",
    ledger: &["S1-14"],
    machines: &[Measure::Hardware(measure)],
    cpus: Cpus::Any,
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
};

const NO_KERNEL: &str = "no-kernel";
const PING: &str = "ping";
const LOCAL: &str = "local";
const WITHIN: &str = "within a socket";
const ACROSS: &str = "across sockets";
const SOCKETS: &str = "sockets";
const IN_SOCKET: &str = "CPUs in a socket";

fn measure(setup: &Hardware, kernel: &str) -> Result<Measured> {
    let cpus = match &setup.asked.cpus {
        Some(cpus) => cpus.iter().copied().max().unwrap_or(1),
        None => std::thread::available_parallelism()?.get(),
    };
    let options = ["lines", "--cpus", &cpus.to_string(), "--rounds", "2000"];
    let host = setup.run::<Lines>(&options)?;
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
        measured.samples.join(kernel, &level.level, place, ticks);
        if !sizes.contains(&(&level.level, level.bytes)) {
            sizes.push((&level.level, level.bytes));
        }
    }
    for ping in &host.found.pings {
        let [a, b] = ping.between;
        measured.samples.join(kernel, PING, distance(a, b), ping.ticks.clone());
    }
    let mut sockets = host.sockets.clone();
    sockets.sort_unstable();
    sockets.dedup();
    measured.facts.push(fact(SOCKETS, sockets.len() as u64, "", "with CPUs to use"));
    measured.facts.push(fact(IN_SOCKET, host.in_socket() as u64, "", "that may be used"));
    measured.facts.extend(sizes.into_iter().map(|(level, bytes)| {
        fact(&format!("{level} buffer"), bytes, "bytes", "what was written and then read")
    }));
    Ok(measured)
}

fn fact(name: &str, value: u64, unit: &str, note: &str) -> Fact {
    let [name, unit, note] = [name, unit, note].map(str::to_string);
    Fact { name, value, unit, note }
}

/// What a report says about the ways between CPUs, in ticks; nothing if there was one CPU.
pub fn topology(report: &Report) -> Option<Topology> {
    if report.experiment != EXPERIMENT.name {
        return None;
    }
    let ticks = |case| Some(report.median(NO_KERNEL, "L1", case)?.as_f64());
    let count = |name: &str| Some(report.facts.iter().find(|fact| fact.name == name)?.value);
    let [within, across] = [WITHIN, ACROSS].map(ticks);
    Some(Topology {
        sockets: count(SOCKETS)? as usize,
        per_socket: count(IN_SOCKET)? as usize,
        within: within.or(across)?,
        across: across.or(within)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::claims_testing::report;

    #[test]
    fn a_host_of_one_socket_has_one_way() {
        let rows = [(NO_KERNEL, "L1", LOCAL, 5), (NO_KERNEL, "L1", WITHIN, 53)];
        let mut measured = report("native", &rows);
        assert_eq!(topology(&measured), None);
        measured.experiment = EXPERIMENT.name.to_string();
        measured.facts = vec![fact(SOCKETS, 1, "", ""), fact(IN_SOCKET, 2, "", "")];
        let expected = Topology { sockets: 1, per_socket: 2, within: 53.0, across: 53.0 };
        assert_eq!(topology(&measured), Some(expected));
        measured.rows.pop();
        assert_eq!(topology(&measured), None);
    }
}
