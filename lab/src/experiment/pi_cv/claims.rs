//! S2G-C01 to S2G-C03.

use super::{
    CALLS, CLIENTS, CRITICALS, PAPER, PHASES, PI, RESPONSE, SERVER, Shape, client_case, reference,
    server_case,
};
use crate::experiment::claim::Ours::{Each, Same};
use crate::experiment::claim::{Setting, Spec, claim, least, median, percent_above};
use results::Bound::{Above, AtLeast, AtMost};
use results::{Report, Summary};

const KERNEL: &str = "fastpath";

const SETTING: Setting = &[
    (
        "machine",
        "RTSim, a simulator without a kernel",
        Each([
            "emulated: the kernel's threads and mutexes, an instruction is a nanosecond",
            "simulated: the kernel's threads and mutexes, steps have stated costs",
            "",
        ]),
    ),
    ("scheduler", "fixed priorities, one CPU", Same("the same")),
    ("clients", "3; periods 676, 683, 687; compute for 50", Same("the same; a unit is 100 us")),
    (
        "server",
        "computes for 20 a call",
        Same("the same; S2G-C03: 5, 20, 80, the last with its mutex locked too"),
    ),
    (
        "overheads",
        "lock, unlock 1; wait, signal, push, pop 2",
        Same("the same, and what the kernel takes; a wait that does not block takes nothing"),
    ),
    ("phases", "not stated", Same("0, 0, 0")),
    ("signal", "needs no mutex", Same("the signalling task owns the mutex meanwhile")),
];

fn summary<'r>(report: &'r Report, pi: &str, client: usize, shape: Shape) -> Option<&'r Summary> {
    let case = client_case(pi, client, shape);
    let row = report
        .rows
        .iter()
        .find(|row| row.kernel == KERNEL && row.metric == RESPONSE && row.case == case);
    row.map(|row| &row.summary)
}

/// By how many percent a figure of a client changes if conditions lend too.
fn change(
    report: &Report,
    client: usize,
    shape: Shape,
    figure: fn(&Summary) -> f64,
) -> Option<f64> {
    let [mutexes, conditions] = PI.map(|pi| summary(report, pi, client, shape).map(figure));
    Some(percent_above(conditions?, mutexes?))
}

/// The percentage of time in which the server had its clients' priorities.
fn lent(report: &Report, pi: &str) -> Option<f64> {
    let at = |priority: u64| median(report, KERNEL, SERVER, &server_case(pi, priority, PAPER));
    let clients = (1..=CLIENTS as u64).map(at).sum::<Option<f64>>()?;
    Some(100.0 * clients / (clients + at(CLIENTS as u64 + 1)?))
}

/// The longest call, with each share in a critical section.
const LONGEST: Shape = Shape { call: CALLS[CALLS.len() - 1], ..PAPER };

/// How many units of the first client's mean response conditions take away, by the length of calls.
fn units(report: &Report) -> [Option<f64>; CALLS.len()] {
    CALLS.map(|call| {
        let mean = |pi| Some(summary(report, pi, 1, Shape { call, ..PAPER })?.mean / 100.0);
        Some(mean(PI[0])? - mean(PI[1])?)
    })
}

/// The same in percent of the response with mutexes alone, for some calls.
fn percents<const N: usize>(report: &Report, shapes: [Shape; N]) -> [Option<f64>; N] {
    shapes.map(|shape| change(report, 1, shape, |all| all.mean).map(|up| -up))
}

/// The least difference of each figure and the one before it.
fn least_step(figures: &[Option<f64>]) -> Option<f64> {
    least(figures.windows(2).map(|pair| Some(pair[1]? - pair[0]?)).collect::<Vec<_>>())
}

fn listed(figures: &[Option<f64>]) -> Option<String> {
    let all = figures.iter().map(|figure| Some(format!("{:.1}", (*figure)?)));
    Some(all.collect::<Option<Vec<_>>>()?.join(", "))
}

/// Our figures and those of the ledger's model.
fn table(report: &Report) -> Option<String> {
    let of = |pi: &str| {
        let own = (1..=CLIENTS).map(|client| {
            let all = summary(report, pi, client, PAPER)?;
            let [least, mean, most] =
                [all.min as f64, all.mean, all.max as f64].map(|us| us / 100.0);
            Some(format!("{}/{least:.0}/{mean:.1}/{most:.0}", all.n))
        });
        Some(format!("{pi} {}", own.collect::<Option<Vec<_>>>()?.join(", ")))
    };
    let [mutexes, conditions] = PI.map(of);
    let own = format!("n/min/mean/max in units: {}; {}", mutexes?, conditions?);
    // The model is known for the usual phases.
    let [mutexes, conditions] = PI.map(|pi| Some(format!("{pi} {}", reference::told(pi)?)));
    Some(match report.set.contains_key(PHASES) {
        true => own,
        false => format!("{own}; the ledger's model: {}; {}", mutexes?, conditions?),
    })
}

pub fn claims() -> Vec<Spec> {
    let mean = |all: &Summary| all.mean;
    vec![
        claim(
            "S2G-C01",
            "the first client gains by it, mean and worst; the last one pays",
            SETTING,
        )
        .figure("mean of Client1, with it", "%", move |r| change(r, 1, PAPER, mean))
        .lies(AtMost(-15.0), "claim index: C1 mean -15 % or better")
        .figure("worst of Client1, with it", "%", |r| change(r, 1, PAPER, |s| s.max as f64))
        .lies(AtMost(-30.0), "claim index: C1 max -30 %")
        .figure("mean of Client3, with it", "%", move |r| change(r, 3, PAPER, mean))
        .lies(Above(0.0), "claim index: C3 mean up")
        .remark(table),
        claim("S2G-C02", "the server has its clients' priorities for much of the time", SETTING)
            .figure("of all time, with mutexes alone", "%", |r| lent(r, PI[0]))
            .lies(AtMost(1.0), "S2G-C02: almost none; the ledger's model has 0.2 %")
            .figure("with conditions too", "%", |r| lent(r, PI[1]))
            .lies(AtLeast(10.0), "S2G-C02: a significant fraction; the ledger's model has 13.8 %"),
        claim("S2G-C03a", "the longer a client waits for a call, the more it gains", SETTING)
            .figure("gain of Client1, longer call less next one", "units", |r| {
                least_step(&units(r))
            })
            .lies(Above(0.0), "S2G-C03: more time of waiting, the same critical sections")
            .remark(|r| {
                let (gains, calls) = (listed(&units(r))?, CALLS.map(|call| call.to_string()));
                let parts = listed(&percents(r, CALLS.map(|call| Shape { call, ..PAPER })))?;
                let calls = calls.join(", ");
                Some(format!(
                    "calls of {calls}: the mean of Client1 is shorter by {gains} units, which is \
                     {parts} % of it"
                ))
            }),
        claim("S2G-C03b", "it gains less where the same call is in a critical section", SETTING)
            .figure("gain of Client1, less of the call inside less next", "points", |r| {
                least_step(&percents(r, outside()))
            })
            .lies(Above(0.0), "S2G-C03: the same time of waiting, shorter critical sections")
            .remark(|r| {
                let gains = listed(&percents(r, outside()))?;
                Some(format!("100, 50 and 0 % of a call of 80 inside: shorter by {gains} %"))
            }),
    ]
}

/// The longest call, with less and less of it in a critical section.
fn outside() -> [Shape; CRITICALS.len()] {
    let mut criticals = CRITICALS;
    criticals.reverse();
    criticals.map(|critical| Shape { critical, ..LONGEST })
}
