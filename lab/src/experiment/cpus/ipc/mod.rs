//! `cross-cpu-ipc`: messages, signals and moves between CPUs, beside the same on one CPU.

mod measure;

use super::{CHOICE, NOTE};
use crate::experiment::parameter::Parameter;
use crate::experiment::{Cpus, Experiment, Measure};

/// The experiment.
pub static EXPERIMENT: Experiment = Experiment {
    name: "cross-cpu-ipc",
    about: "A call with its reply, a signal and a move between two CPUs",
    ledger: &["S1-03", "S1-05", "S1-E01"],
    machines: &[Measure::Emulated(measure::measure)],
    cpus: Cpus::OneOf(&CHOICE),
    metrics: &[CALL_REPLY, NOTIFY, MIGRATE],
    cases: &[
        "1 CPU, no lock",
        "1 CPU, big lock",
        "1 CPU, fine locks",
        "1 CPU, elided lock",
        "1 CPU, unguarded",
        "same CPU",
        "two CPUs",
    ],
    parameters: &[Parameter::among("words", &[0, 4, 64], "of a message")],
    conditions: &[
        ("CPUs", "4, of which the other ones idle; 1 with and without the lock"),
        ("samples", "1000 of call-reply, 100 of the others"),
    ],
    notes: &[
        NOTE,
        "call-reply: a call and its reply, both CPUs' paths whole, without what the server does in \
         between. `1 CPU, no lock` is the usual image, `unguarded` the one for several less its \
         lock, `fine` and `elided` those with these locks, all other cases the one with one lock. \
         The emulator has no transactions: there the elided lock is taken.",
        "notify: from before the signal until the woken thread, which is higher, has the counter. \
         Where that is on another CPU the signalling thread's whole call is part of it.",
        "migrate: `caller` is until it runs on the other CPU, `waiting` a thread that waits.",
    ],
    golden: true,
    ..Experiment::USUAL
};

const CALL_REPLY: &str = "call-reply";
const NOTIFY: &str = "notify";
const MIGRATE: &str = "migrate";
