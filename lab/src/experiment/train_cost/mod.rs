//! `train-cost`: what asking for a sum takes by a train, by a call, and by a server that is
//! scheduled for itself (S4-E05).

mod claims;
mod components;
mod measure;
#[cfg(test)]
mod tests;

use super::measured::CALL_REPLY;
use super::parameter::Parameter;
use super::{Experiment, Measure};

/// The experiment.
pub static EXPERIMENT: Experiment = Experiment {
    name: "train-cost",
    about: "A sum by train, by call, and by servers that are scheduled for themselves",
    ledger: &["S4-10", "S4-11", "S4-E05", "S4-C06", "X-08"],
    machines: &[Measure::Emulated(measure::emulated), Measure::Simulated(measure::simulated)],
    kernels: &["fastpath", "slowpath"],
    metrics: &METRICS,
    cases: &[],
    parameters: &[Parameter::count(
        "samples",
        [1, 4_000],
        &[3_000],
        "calls in each form; a tenth of them of the last two beside load",
    )
    .sets("rounds")],
    conditions: &[
        ("train", "the caller's thread runs the server's code on a stack of the server"),
        ("endpoint", "a typed call: the server's thread runs on the caller's time"),
        ("plain", "a message to a server that is scheduled for itself, and one back"),
        ("message", "a bare call of ping-pong across domains, with four words"),
        ("queued", "a marshalled message in a queue to such a server, and one back: an RPC"),
        ("load", "a program of all threads' priority that never waits; time slices of 1 ms"),
        ("load=below", "a program of a lower priority that never waits: what is asked costs"),
    ],
    notes: &[
        "Stubs and the addition of four numbers are contained in `round-trip`, and of the stubs \
         the part on its way in `call` and `reply-wait`; a train's return counts as `reply-wait`.",
        "Components are of a run under the kernel with a trace, less what its records took; each \
         contains one reading of the counter.",
    ],
    golden: true,
    claims: claims::claims,
    ..Experiment::USUAL
};

/// From the client's question to its answer.
const ROUND_TRIP: &str = "round-trip";
/// Parts of a call and its return, as Table 2 of the paper names them, each in the order of time.
///
/// | component | from | to |
/// |---|---|---|
/// | call initial | the client reads the counter | the kernel has saved what it must: `Enter` |
/// | entry to server | `Enter` | the thread is in the server's domain: `Exit` |
/// | entry to server user | `Exit`: registers and page tables | the server reads the counter |
/// | return initial | the server reads the counter again | `Enter` |
/// | reentry to client | `Enter` | `Exit` |
/// | reentry to client user | `Exit` | the client reads the counter |
const COMPONENTS: [&str; 6] = [
    "call-initial",
    "entry-to-server",
    "entry-to-server-user",
    "return-initial",
    "reentry-to-client",
    "reentry-to-client-user",
];
const METRICS: [&str; 9] = [
    ROUND_TRIP,
    CALL_REPLY[0],
    CALL_REPLY[1],
    COMPONENTS[0],
    COMPONENTS[1],
    COMPONENTS[2],
    COMPONENTS[3],
    COMPONENTS[4],
    COMPONENTS[5],
];
/// Forms of the service, in the order of the program's cases: the first two are timed.
const FORMS: [&str; 4] = ["train", "endpoint", "plain", "queued"];
const TIMED: usize = 2;
/// What it is called in cases where a call of ping-pong stands beside.
const MESSAGE: &str = "message";
/// What runs beside: nothing, or what never waits, as urgent or less.
const LOADS: [&str; 3] = ["none", "hog", "below"];

/// The case of a form beside a load.
fn loaded(form: &str, load: &str) -> String {
    format!("form={form} load={load}")
}

/// The case of a form alone.
fn case(form: &str) -> String {
    format!("form={form}")
}
