use super::{
    COUNT, EVENT, EVENT_WORST, EXPERIMENT, FRAMES, IDLE_USED, IN_EACH, JITTER, LOADS, PARTITIONS,
    RESPONSE, START, VIAS, event_case, window_case,
};
use crate::experiment::measured::recording;
use crate::experiment::service_curves::lines;
use crate::experiment::{Boots, Measured};
use crate::machine::Outcome;
use crate::systems::set;
use anyhow::{Context, Result};
use manifest::{System, spell_duration};
use results::{Case, Curves, Limit, Source};

/// The frame of the manifest, and from when on frames are recorded, in nanoseconds.
const WRITTEN: u64 = 10_000_000;
const BEGIN: u64 = 60_000_000;
/// Metrics of the recordings.
const STARTS: u16 = 1;
const RESPONSES: u16 = 2;
const EVENTS: u16 = 3;
/// The reservation that gets idle time.
const IDLE: &str = "idle-time";

pub fn measure(setup: &impl Boots, kernel: &str) -> Result<Measured> {
    let mut measured = Measured::default();
    let frames = setup.asked.numbers("frame").unwrap_or(FRAMES.to_vec());
    let count = setup.asked.number("frames", COUNT);
    let boot = |change: &dyn Fn(&mut System), frame| {
        setup.boot_changed(EXPERIMENT.name, kernel, &mut |system| {
            lay_out(system, frame, count);
            change(system);
        })
    };
    for (number, frame) in frames.iter().copied().enumerate() {
        for load in LOADS {
            let outcome = boot(&|system| beside(system, load), frame)?;
            windows(&mut measured, &outcome, kernel, load, frame)?;
        }
        let vias = if number == 0 { &VIAS[..] } else { &VIAS[..IN_EACH] };
        for (via, leaf) in vias {
            let outcome = boot(&|system| handle(system, via, leaf), frame)?;
            let delays = delays(&outcome, "handler", kernel, EVENTS)?;
            let (case, worst) = (event_case(via, frame), delays.iter().max().copied());
            measured.samples.push(kernel, EVENT_WORST, &case, worst.into_iter().collect());
            measured.samples.push(kernel, EVENT, &case, delays);
        }
    }
    measured.units.insert(IDLE_USED.to_string(), "ppm".to_string());
    let worst = |via: &str, frame| measured.median(kernel, EVENT_WORST, &event_case(via, frame));
    let first = frames[0];
    let mut limits = limits(worst("background", first)?, &|via| worst(via, first))?;
    for &frame in &frames {
        limits.push(waits_for_window(frame, worst("partition", frame)?));
    }
    let curves = curves(&frames, &|via, frame| worst(via, frame).ok());
    (measured.limits, measured.curves) = (limits, vec![curves]);
    Ok(measured)
}

/// Frames of this length, so many of which are recorded.
fn lay_out(system: &mut System, frame: u64, count: u64) {
    for window in system.reservations.iter_mut().flat_map(|node| &mut node.windows) {
        window.end = window.end * frame / WRITTEN;
    }
    for (name, value) in [("frame", frame), ("begin", BEGIN), ("work", frame / 5)] {
        set(system, name, &value.to_string());
    }
    let offset = (frame / 2).to_string();
    set_of(system, PARTITIONS[1], "offset", &offset);
    // The meter reads in no frame that is recorded; before the last time the last events are
    // handled, and all recordings are complete.
    let readings = [BEGIN - 2_000_000, BEGIN + (count + 1) * frame, BEGIN + (count + 4) * frame];
    let at = readings.map(|reading| reading.div_ceil(1_000_000).to_string()).join(" ");
    set(system, "at", &at);
}

/// Gives one domain's program an argument.
fn set_of(system: &mut System, domain: &str, name: &str, value: &str) {
    let own = system.domains.iter_mut().filter(|one| one.name == domain);
    let args = own.flat_map(|one| &mut one.args).filter(|(own, _)| own == name);
    args.for_each(|(_, text)| *text = value.to_string());
}

/// Tasks beside a load, and no events.
fn beside(system: &mut System, load: &str) {
    const NEVER: &str = "3600000";
    set(system, "events", "0");
    if load == LOADS[0] {
        set_of(system, IDLE, "after", NEVER);
    }
    if load == LOADS[2] {
        set(system, "overruns", "1");
    }
}

/// Tasks beside the background's load, and events.
fn handle(system: &mut System, via: &str, leaf: &str) {
    let leaf = system.reservations.iter().position(|node| node.name == leaf);
    let handler = system.domains.iter_mut().filter(|domain| domain.name == "handler");
    handler.for_each(|handler| handler.reservation = leaf);
    if via == "moved" {
        set(system, "signalled", "1");
        set(system, "events", "1");
    }
}

fn delays(outcome: &Outcome, memory: &str, kernel: &str, metric: u16) -> Result<Vec<u64>> {
    let recording = recording(outcome, memory, kernel)?;
    let mut cases = results::delays(&recording, metric)?;
    cases.remove(&0).with_context(|| format!("`{memory}` has no case 0"))
}

/// Rows of the tasks beside a load.
fn windows(
    measured: &mut Measured,
    outcome: &Outcome,
    kernel: &str,
    load: &str,
    frame: u64,
) -> Result<()> {
    // A task that never waits records nothing.
    let overruns = usize::from(load == LOADS[2]);
    for partition in &PARTITIONS[overruns..] {
        let case = window_case(partition, load, frame);
        let starts = delays(outcome, partition, kernel, STARTS)?;
        let (least, most) = (starts.iter().min(), starts.iter().max());
        let jitter = most.zip(least).map(|(most, least)| most - least);
        measured.samples.push(kernel, JITTER, &case, jitter.into_iter().collect());
        measured.samples.push(kernel, START, &case, starts);
        let responses = delays(outcome, partition, kernel, RESPONSES)?;
        measured.samples.push(kernel, RESPONSE, &case, responses);
    }
    if load == LOADS[1] {
        let case = format!("load={load} frame={}", spell_duration(frame));
        measured.samples.push(kernel, IDLE_USED, &case, vec![idle_used(&outcome.console)?]);
    }
    Ok(())
}

/// What the background had of the idle time between the first two readings, in millionths.
fn idle_used(console: &str) -> Result<u64> {
    let readings = lines(console, "had", 3)?;
    let mut instants: Vec<u64> =
        readings.iter().filter_map(|(words, _)| words[0].parse().ok()).collect();
    instants.dedup();
    let [begin, end] = [0, 1].map(|at| instants.get(at).copied().unwrap_or(0));
    let had = |name: Option<&str>, at: u64| -> u64 {
        let is_wanted = |words: &[&str]| {
            words[0] == at.to_string() && name.map_or(words[1] != IDLE, |name| words[1] == name)
        };
        readings.iter().filter(|(words, _)| is_wanted(words)).map(|(_, had)| had).sum()
    };
    let between = |name: Option<&str>| had(name, end).saturating_sub(had(name, begin));
    let idle = (1_000 * (end - begin)).checked_sub(between(None)).filter(|idle| *idle > 0);
    let idle = idle.context("the readings leave no idle time")?;
    Ok(1_000_000 * between(Some(IDLE)) / idle)
}

/// The rules of the background partition that no claim is about: a tie goes to it, what is below
/// the task waits for that, and a thread may be moved there.
fn limits(background: f64, worst: &dyn Fn(&str) -> Result<f64>) -> Result<Vec<Limit>> {
    let limit = |via: &str, bound, least| -> Result<Limit> {
        let name = format!("{EVENT_WORST}, {via}");
        Ok(Limit { least, ..Limit::most(name, worst(via)?, bound, "instructions") })
    };
    Ok(vec![
        limit("equal", 2.0 * background, false)?,
        limit("below", 100.0 * background, true)?,
        limit("moved", 10.0 * background, false)?,
    ])
}

/// In a partition an event may wait for the next window, a part of the frame: that the background
/// does not go by the frame is not for want of such events.
pub fn waits_for_window(frame: u64, worst: f64) -> Limit {
    let name = format!("{EVENT_WORST}, {}", event_case("partition", frame));
    Limit::least(name, worst, frame as f64 / 4.0, "instructions")
}

/// How late events are handled, by the length of the frame.
fn curves(frames: &[u64], worst: &dyn Fn(&str, u64) -> Option<f64>) -> Curves {
    let of = |(via, _): (&str, &str)| {
        let at = |frame: &u64| Some((*frame as f64 / 1_000_000.0, worst(via, *frame)? / 1_000.0));
        Case::of(via, Source::Measured, frames.iter().filter_map(at))
    };
    Curves::of(
        "event-latency",
        "Longest time from an event to its handler, by the partition that it is in",
        ["major frame in ms", "thousands of instructions"],
        VIAS[..IN_EACH].iter().copied().map(of).collect(),
    )
}
