//! Events of rt-app: what a phase does.

use super::Reader;
use super::rt_app::{span, text, time};
use crate::set::Instruction::{Compute, Delay, Lock, Signal, Unlock, Wait};
use crate::set::{Instruction, Object, Operand, Time};
use jsonc_parser::ast::{self, ObjectProp, Value};
use std::collections::BTreeMap;

/// Steps, and behind them the period of the timer that is waited for then, if there is one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Part {
    pub code: Vec<Instruction>,
    pub period: Option<u64>,
}

/// The kind of an event: keys that occur several times are told apart by numbers at their ends.
fn kind(prop: &ObjectProp) -> String {
    prop.name.as_str().trim_end_matches(|char: char| char.is_ascii_digit()).to_string()
}

/// Finds with which mutex each condition is waited for, anywhere in the file.
pub(super) fn collect_waits(object: &ast::Object, waits: &mut BTreeMap<String, String>) {
    for prop in &object.properties {
        let Value::Object(own) = &prop.value else { continue };
        let of = |key: &str| own.get_string(key).map(|text| text.value.to_string());
        match (["wait", "sync"].contains(&kind(prop).as_str()), of("ref"), of("mutex")) {
            (true, Some(condition), Some(mutex)) => drop(waits.insert(condition, mutex)),
            _ => collect_waits(own, waits),
        }
    }
}

/// What events do, in parts that timers end. What comes behind the last timer is a part without.
pub(super) fn parts(
    reader: &mut Reader,
    waits: &BTreeMap<String, String>,
    task: &str,
    events: &[&ObjectProp],
) -> Vec<Part> {
    let mut parts = vec![Part::default()];
    for prop in events {
        let code = match kind(prop).as_str() {
            "timer" => {
                let period = timer(reader, prop);
                parts.last_mut().into_iter().for_each(|part| part.period = period);
                parts.push(Part::default());
                continue;
            }
            "signal" => signal(reader, waits, prop),
            _ => event(reader, task, prop),
        };
        parts.last_mut().into_iter().for_each(|part| part.code.extend(code.iter().cloned()));
    }
    let is_empty = |part: &Part| part.code.is_empty() && part.period.is_none();
    if parts.last().is_some_and(is_empty) {
        parts.pop();
    }
    parts
}

/// The steps of an event that needs no others.
fn event(reader: &mut Reader, task: &str, prop: &ObjectProp) -> Vec<Instruction> {
    let fixed = |reader: &mut Reader| time(reader, prop).map(Time::Fixed);
    match kind(prop).as_str() {
        "run" | "runtime" => fixed(reader).map(Compute).into_iter().collect(),
        "sleep" => fixed(reader).map(Delay).into_iter().collect(),
        "lock" => mutex(reader, prop).map(Lock).into_iter().collect(),
        "unlock" => mutex(reader, prop).map(Unlock).into_iter().collect(),
        "wait" => pair(reader, prop).map(|[mutex, it]| Wait(mutex, it)).into_iter().collect(),
        "sync" => {
            let pair = pair(reader, prop);
            let steps = |[m, it]: [Operand; 2]| [Lock(m), Signal(m, it), Wait(m, it), Unlock(m)];
            pair.map(steps).into_iter().flatten().collect()
        }
        event => {
            let what = format!("task `{task}`: there is no event `{event}`");
            let help = "run, runtime, sleep, timer, lock, unlock, wait, signal and sync there are";
            reader.refuse(&span(prop), what, help);
            Vec::new()
        }
    }
}

fn mutex(reader: &mut Reader, prop: &ObjectProp) -> Option<Operand> {
    let name = text(reader, prop)?;
    Some(reader.object(&name, Object::Mutex, &span(prop)))
}

/// The mutex and the condition of a wait.
fn pair(reader: &mut Reader, prop: &ObjectProp) -> Option<[Operand; 2]> {
    let own = prop.value.as_object();
    let of = |key: &str| own?.get_string(key).map(|text| text.value.to_string());
    let (Some(condition), Some(mutex)) = (of("ref"), of("mutex")) else {
        let help = "write { \"ref\": \"condition\", \"mutex\": \"mutex\" }";
        reader.refuse(&span(prop), "a wait needs a condition and a mutex", help);
        return None;
    };
    let mutex = reader.object(&mutex, Object::Mutex, &span(prop));
    Some([mutex, reader.object(&condition, Object::Condition, &span(prop))])
}

fn signal(
    reader: &mut Reader,
    waits: &BTreeMap<String, String>,
    prop: &ObjectProp,
) -> Vec<Instruction> {
    let Some(condition) = text(reader, prop) else { return Vec::new() };
    let Some(mutex) = waits.get(&condition) else {
        reader.note(&span(prop), format!("no task waits for `{condition}`: it is not signalled"));
        return Vec::new();
    };
    let mutex = reader.object(mutex, Object::Mutex, &span(prop));
    let condition = reader.object(&condition, Object::Condition, &span(prop));
    vec![Signal(mutex, condition)]
}

/// The period of a timer.
fn timer(reader: &mut Reader, prop: &ObjectProp) -> Option<u64> {
    let at = span(prop);
    let own = prop.value.as_object();
    let period = own.and_then(|own| own.get("period")).and_then(|period| time(reader, period));
    if period.unwrap_or(0) == 0 {
        let help = "write { \"ref\": \"tick\", \"period\": 10000 }";
        reader.refuse(&at, "a timer needs a period in microseconds", help);
        return None;
    }
    let mode = own.and_then(|own| own.get_string("mode"));
    if mode.is_none_or(|mode| mode.value != "absolute") {
        let what = "timers are absolute: a release that comes while a job runs is kept";
        reader.note(&at, what);
    }
    period
}
