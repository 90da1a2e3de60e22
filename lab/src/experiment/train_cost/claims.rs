//! S4-C06.

use super::{COMPONENTS, EXPERIMENT, FORMS, LOADS, MESSAGE, ROUND_TRIP, case, loaded};
use crate::experiment::claim::Ours::{Machine, Same, Unit};
use crate::experiment::claim::{Setting, Spec, claim, least, median};
use crate::experiment::measured::CALL_REPLY;
use crate::machine::EMULATOR;
use results::Bound::AtLeast;
use results::Report;

const SETTING: Setting = &[
    ("machine", "Sun Ultra-1 at 167 MHz, Solaris 2.7, one CPU", Machine),
    ("unit", "microseconds", Unit("")),
    ("service", "the sum of integers, 3,000 calls", Same("the sum of four numbers, 3,000 calls")),
    ("train", "54.8 us of system time, the sum of six parts", Same("from question to answer")),
    (
        "what it is compared with",
        "the standard RPC service: marshalling, a socket, a server scheduled for itself",
        Same("marshalling as in Sun RPC, a queue in shared memory, a server scheduled for itself"),
    ),
    ("load", "not stated", Same("none; a program of a lower priority that never waits")),
];

/// How many times what a train takes another form takes, at the kernel where that is least.
fn times(report: &Report, form: &str, load: &str) -> Option<f64> {
    least(EXPERIMENT.kernels.iter().map(|kernel| {
        let of = |form: &str| median(report, kernel, ROUND_TRIP, &loaded(form, load));
        Some(of(form)? / of(FORMS[0])?)
    }))
}

/// What the simulation cannot tell.
fn priced(report: &Report) -> Option<String> {
    let why = "the simulation has a price for a system call, but none for what a train does in it";
    (report.machine != EMULATOR.name()).then(|| why.to_string())
}

/// The table of the paper beside ours, and a train by other forms.
fn table(report: &Report) -> Option<String> {
    const PAPER: [f64; 6] = [14.5, 8.6, 4.5, 13.1, 8.0, 6.1];
    let kernel = EXPERIMENT.kernels[0];
    let mean = |name: &str| {
        let own = report
            .rows
            .iter()
            .find(|row| row.kernel == kernel && row.metric == name && row.case == case(FORMS[0]))?;
        Some(own.summary.mean)
    };
    let both = COMPONENTS.into_iter().zip(PAPER);
    let both = both.map(|(name, paper)| Some(format!("{name} {paper} us {:.0}", mean(name)?)));
    let both = both.collect::<Option<Vec<_>>>()?.join(", ");
    let pair = |form: &str| {
        let halves = CALL_REPLY.map(|half| median(report, kernel, half, &case(form)));
        halves.into_iter().sum::<Option<f64>>()
    };
    let [train, endpoint, message] = [FORMS[0], FORMS[1], MESSAGE].map(pair);
    let (typed, bare) = (train? / endpoint?, train? / message?);
    Some(format!(
        "{kernel}, mean of the paper and ours: {both}; call and return are {typed:.2} times those \
         of a typed call, {bare:.2} times those of a bare one of four words"
    ))
}

/// The parts of S4-C06. Both are of cost: how long a server waits for its turn is no part of it.
pub fn claims() -> Vec<Spec> {
    const FIVE: &str = "S4-C06: the paper has about 10; at least 5 in the claim index";
    let [train, _, plain, queued] = FORMS;
    let [none, hog, below] = LOADS;
    let bare = move |report: &Report| {
        let bare = times(report, plain, none)?;
        Some(format!("without marshalling and queue, by bare messages, {bare:.1} times"))
    };
    let slices = move |report: &Report| {
        let waits = times(report, queued, hog)?;
        Some(format!(
            "beside a load that is as urgent the server waits for its turn: {waits:.0} times the \
             {train}, which is time and no cost"
        ))
    };
    vec![
        claim(
            "S4-C06a",
            "a train is at least five times cheaper than RPC, beside nothing",
            SETTING,
        )
        .hidden(priced)
        .figure("RPC by train, beside nothing", "times", move |r| times(r, queued, none))
        .lies(AtLeast(5.0), FIVE)
        .remark(move |r| Some(format!("{}; {}", bare(r)?, table(r)?))),
        claim("S4-C06b", "a train is at least five times cheaper than RPC, beside load", SETTING)
            .hidden(priced)
            .figure("RPC by train, beside load", "times", move |r| times(r, queued, below))
            .lies(AtLeast(5.0), FIVE)
            .remark(slices),
    ]
}
