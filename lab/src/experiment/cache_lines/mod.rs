//! `cache-lines`: what a modified cache line takes from where it is to a CPU (S1-14).

mod measure;

use super::claim::fact;
use super::parameter::Parameter;
use super::{Cpus, Experiment, Measure};
use model::Topology;
use results::Report;

/// The experiment.
pub static EXPERIMENT: Experiment = Experiment {
    name: "cache-lines",
    about: "Ticks of a load by cache level and distance between CPUs",
    ledger: &["S1-14"],
    machines: &[Measure::Hardware(measure::measure)],
    cpus: Cpus::Any,
    kernels: &[NO_KERNEL],
    metrics: &["L1", "L2", "L3", "memory", PING],
    cases: &[LOCAL, WITHIN, ACROSS],
    parameters: &[Parameter::count("rounds", [10, 100_000], &[2000], "of each measurement")],
    conditions: &[("loads", "up to 4096 in random order, each waiting for the one before")],
    caches: "cold: each line was last written where the case says",
    notes: &[
        "A CPU modifies all lines of a buffer that fills the level, then one reads them: itself \
         (local), or another of its socket or of the next. Ticks are the counter's, whose rate \
         need not be the processor's.",
        "`ping` is one line that two CPUs increment in turn, one way: the transfer, seeing it, and \
         taking the line to write.",
    ],
    ..Experiment::USUAL
};

const NO_KERNEL: &str = "no-kernel";
const PING: &str = "ping";
const LOCAL: &str = "local";
const WITHIN: &str = "within a socket";
const ACROSS: &str = "across sockets";
const SOCKETS: &str = "sockets";
const IN_SOCKET: &str = "CPUs in a socket";

/// What a report says about the ways between CPUs, in ticks; nothing if there was one CPU.
pub fn topology(report: &Report) -> Option<Topology> {
    if report.experiment != EXPERIMENT.name {
        return None;
    }
    let ticks = |case| Some(report.median(NO_KERNEL, "L1", case)?.as_f64());
    let count = |name| Some(fact(report, name)? as usize);
    let [within, across] = [WITHIN, ACROSS].map(ticks);
    Some(Topology {
        sockets: count(SOCKETS)?,
        per_socket: count(IN_SOCKET)?,
        within: within.or(across)?,
        across: across.or(within)?,
    })
}

#[cfg(test)]
mod tests {
    use super::{EXPERIMENT, IN_SOCKET, LOCAL, NO_KERNEL, SOCKETS, WITHIN, topology};
    use crate::experiment::testing::{fact, report};

    #[test]
    fn a_host_of_one_socket_has_one_way() {
        let rows = [(NO_KERNEL, "L1", LOCAL, 5), (NO_KERNEL, "L1", WITHIN, 53)];
        let mut measured = report("native", &rows);
        assert_eq!(topology(&measured), None);
        measured.experiment = EXPERIMENT.name.to_string();
        measured.facts = vec![fact(SOCKETS, 1), fact(IN_SOCKET, 2)];
        let expected = model::Topology { sockets: 1, per_socket: 2, within: 53.0, across: 53.0 };
        assert_eq!(topology(&measured), Some(expected));
        measured.rows.pop();
        assert_eq!(topology(&measured), None);
    }
}
