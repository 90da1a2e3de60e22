//! S2D-C02 and S2D-C03.

use super::{
    EVENT_WORST, FRAMES, IDLE_USED, JITTER, LOADS, PARTITIONS, RESPONSE, START, event_case,
    window_case,
};
use crate::experiment::claim::Ours::{Each, Same};
use crate::experiment::claim::{Setting, Spec, claim, least, median, most};
use manifest::spell_duration;
use results::Bound::{AtLeast, AtMost};
use results::Report;

const SETTING: Setting = &[
    (
        "machine",
        "PikeOS; none is measured",
        Each(["emulated: an instruction is a nanosecond", "simulated: work takes its time", ""]),
    ),
    ("frame", "windows, planned offline", Same("5, 10 and 20 ms; two windows and two gaps")),
    (
        "background",
        "tau_0, active beside each partition, and more urgent on a tie",
        Same("the same: a thread that never waits below the tasks, a handler above them"),
    ),
    (
        "event",
        "an interrupt routine raises a thread of tau_0",
        Same("a timer wakes a thread there, at 16 phases of the frame"),
    ),
];

fn figure(report: &Report, metric: &str, case: &str) -> Option<f64> {
    median(report, manifest::TREE, metric, case)
}

/// The greatest of all partitions and frames.
fn over_windows(of: impl Fn(&str, u64) -> Option<f64> + Copy) -> Option<f64> {
    let all = FRAMES.into_iter().flat_map(|frame| PARTITIONS.map(|partition| (partition, frame)));
    most(all.map(|(partition, frame)| of(partition, frame)))
}

/// By how much a figure differs beside a load from what it is alone.
fn moved(report: &Report, metric: &str, load: &str, partition: &str, frame: u64) -> Option<f64> {
    let of = |load: &str| figure(report, metric, &window_case(partition, load, frame));
    Some((of(load)? - of(LOADS[0])?).abs())
}

fn worst(report: &Report, via: &str, frame: u64) -> Option<f64> {
    figure(report, EVENT_WORST, &event_case(via, frame))
}

pub fn claims() -> Vec<Spec> {
    let [shortest, .., longest] = FRAMES;
    const BLOCKS: &str = "claim index: window jitter 0; the emulator takes interrupts between its \
         translated blocks, of up to 120 instructions here";
    const SWITCH: &str = "the same, and a switch from a thread that runs instead of the idle one";
    const INDEPENDENT: &str = "claim index: latency independent of the MTF, which is longer by 15 \
         million; events of few phases meet other blocks and switches";
    let switch = |report: &Report| {
        over_windows(|partition, frame| {
            figure(report, START, &window_case(partition, LOADS[1], frame))
        })
    };
    vec![
        claim("S2D-C02a", "the background can use all idle time of windows", SETTING)
            .figure("idle time that it had, least", "%", |report| {
                let used = |frame| {
                    let case = format!("load={} frame={}", LOADS[1], spell_duration(frame));
                    Some(figure(report, IDLE_USED, &case)? / 10_000.0)
                };
                least(FRAMES.map(used))
            })
            .lies(AtLeast(99.0), "S2D-C02: all of it; 1 % for what the kernel itself takes"),
        claim("S2D-C02b", "windows begin and tasks end as without it", SETTING)
            .figure("jitter of windows beside it", "instructions", |report| {
                over_windows(|partition, frame| {
                    figure(report, JITTER, &window_case(partition, LOADS[1], frame))
                })
            })
            .lies(AtMost(150.0), BLOCKS)
            .figure("response, with it less without", "instructions", |report| {
                over_windows(|partition, frame| moved(report, RESPONSE, LOADS[1], partition, frame))
            })
            .lies(AtMost(250.0), SWITCH)
            .figure("start of two, where one overruns", "instructions", |report| {
                most(FRAMES.map(|frame| moved(report, START, LOADS[2], PARTITIONS[1], frame)))
            })
            .lies(AtMost(250.0), SWITCH),
        claim("S2D-C03", "an event's latency there does not go by the frame", SETTING)
            .figure("worst, by the start of a window", "times", move |report| {
                let worst = most(FRAMES.map(|frame| worst(report, "background", frame)));
                Some(worst? / switch(report)?)
            })
            .lies(AtMost(2.0), "an interrupt and a switch: the start of a window is one of each")
            .figure("worst, longest less shortest frame", "instructions", move |report| {
                let at = |frame| worst(report, "background", frame);
                Some((at(longest)? - at(shortest)?).abs())
            })
            .lies(AtMost(250.0), INDEPENDENT),
    ]
}
