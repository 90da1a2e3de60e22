//! `pi-cv`: what clients of a server gain if conditions lend priorities too (S2G-E01).

mod claims;
mod measure;
mod reference;
mod task_set;
#[cfg(test)]
mod tests;

use super::parameter::Parameter;
use super::{Experiment, Measure};
use std::fmt;

/// The experiment.
pub static EXPERIMENT: Experiment = Experiment {
    name: "pi-cv",
    about: "Three clients of a server: mutexes inherit, conditions too",
    ledger: &["S2G-03", "S2G-08", "S2G-E01", "S2G-C01", "S2G-C02", "S2G-C03"],
    machines: &[Measure::Simulated(measure::measure), Measure::Emulated(measure::measure)],
    kernels: &["fastpath"],
    metrics: &[RESPONSE, SERVER],
    cases: &PI,
    parameters: &[
        Parameter::count(
            PHASES,
            [0, 100_000],
            &[0, 0, 0],
            "of the clients' first releases, in units: one for each",
        ),
        Parameter::count(CHAIN, [1, 6], &[1], "servers in a row, each a client of the next"),
        Parameter::count(CALL, [1, 400], &CALLS, "units that a server computes"),
        Parameter::count(CRITICAL, [0, 100], &CRITICALS, "percent of that with its mutex locked"),
    ],
    conditions: &[
        ("unit", "100 us; 200,000 of them"),
        ("clients", "priorities 1, 2, 3; periods 676, 683, 687; they compute for 50"),
        ("servers", "priorities from 4 on; each waits for the next call for ever"),
        (
            "overheads",
            "lock, unlock 1; signal, push, pop 2, with pointers too; a wait that blocks 2",
        ),
        ("pi=mutexes", "`lab rtsim --pi`: mutexes lend the priorities of those that wait"),
        ("pi=conditions", "`--pi --pi-cv`: replies' conditions lend to the server that answers"),
    ],
    notes: &[
        "`response` is from a client's release to the end of its job, `server-time` the time in \
         which the first server had an effective priority, by the trace. 100 us are a unit.",
        "A task that signals owns the mutex meanwhile; the model of the ledger asks for none. What \
         the kernel takes, some us for a job, is in all figures.",
    ],
    claims: claims::claims,
    deep: true,
    ..Experiment::USUAL
};

/// From a client's release to the end of its job.
const RESPONSE: &str = "response";
/// How long the first server had an effective priority.
const SERVER: &str = "server-time";
/// What lends: mutexes alone, or conditions too.
const PI: [&str; 2] = ["pi=mutexes", "pi=conditions"];
/// The parameters.
const PHASES: &str = "phases";
const CHAIN: &str = "chain";
const CALL: &str = "call";
/// Usual lengths of a call: the paper's is the second.
const CALLS: [u64; 3] = [5, 20, 80];
const CRITICAL: &str = "critical";
/// Usual shares of the longest call in a critical section, in percent: of others the first.
const CRITICALS: [u64; 3] = [0, 50, 100];
const PAPER: Shape = Shape { chain: 1, call: CALLS[1], critical: CRITICALS[0] };
/// Clients.
const CLIENTS: usize = 3;

/// What is called, and for how long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Shape {
    /// Servers in a row.
    chain: u64,
    /// Units that each computes for a call.
    call: u64,
    /// The percentage of these in which it has its mutex locked.
    critical: u64,
}

/// The case of a client's responses; clients count from 1.
fn client_case(pi: &str, client: usize, shape: Shape) -> String {
    format!("{pi} client={client} {shape}")
}

/// The case of the server's time at a priority of the file.
fn server_case(pi: &str, priority: u64, shape: Shape) -> String {
    format!("{pi} priority={priority} {shape}")
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let Shape { chain, call, critical } = self;
        write!(f, "chain={chain} call={call} critical={critical}")
    }
}
