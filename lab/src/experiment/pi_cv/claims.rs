//! S2G-C01 to S2G-C03.

use super::{CALLS, CLIENTS, PAPER, PI, RESPONSE, SERVER, Shape, client_case, server_case};
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
    ("server", "computes for 20 a call", Same("the same; S2G-C03: for 5, 20 and 80")),
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

/// How much of the first client's mean response conditions take away, in percent, by the length
/// of calls.
fn gains(report: &Report) -> [Option<f64>; CALLS.len()] {
    CALLS.map(|call| change(report, 1, Shape { call, ..PAPER }, |all| all.mean).map(|up| -up))
}

/// Both tables, side by side.
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
    Some(format!("n/min/mean/max in units: {}; {}", mutexes?, conditions?))
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
        claim("S2G-C03", "it is worth the more, the longer a call is", SETTING)
            .figure("gain of Client1, longer call less next one", "points", |r| {
                let gains = gains(r);
                let more = gains.windows(2).map(|pair| Some(pair[1]? - pair[0]?));
                least(more.collect::<Vec<_>>())
            })
            .lies(Above(0.0), "S2G-C03: grows with the time of waiting; critical sections stay")
            .remark(|r| {
                let gains = gains(r).into_iter().map(|gain| Some(format!("{:.1}", gain?)));
                let gains = gains.collect::<Option<Vec<_>>>()?.join(", ");
                let calls = CALLS.map(|call| call.to_string()).join(", ");
                Some(format!("calls of {calls}: mean of Client1 shorter by {gains} %"))
            }),
    ]
}
