//! From phases of rt-app to the jobs of a task.
//!
//! A job ends where its task waits for a timer. A task without timers has jobs one behind the
//! other.

use super::Reader;
use super::events::Part;
use crate::set::{Activation, Instruction, Phase, Task, Time};
use manifest::Span;

/// The most phases that a task may have here, and the most steps of a job.
const MOST: usize = 64;

/// What is run so many times, one behind the other.
pub(super) struct Segment {
    pub loops: i64,
    pub parts: Vec<Part>,
    pub at: Span,
}

/// A task of these segments, which are run so often, or again and again. None: what cannot be had
/// is noted.
pub(super) fn rounds(
    reader: &mut Reader,
    segments: Vec<Segment>,
    loops: i64,
    at: &Span,
) -> Option<Task> {
    let has_timer = segments.iter().flat_map(|it| &it.parts).any(|part| part.period.is_some());
    let is_one = segments.len() == 1;
    let (mut loops, mut phases, mut behind) = (loops, Vec::new(), Vec::new());
    for Segment { loops: own, parts, at } in segments {
        let own = match (own, is_one) {
            (own, true) if own < 0 => {
                loops = -1;
                1
            }
            (own, _) if own < 0 => {
                reader.refuse(&at, "a phase without an end has others behind it", "give it a loop");
                return None;
            }
            (own, _) => own as u64,
        };
        let fits = match (has_timer, &parts[..]) {
            (false, parts) => add_untimed(&mut phases, parts, own),
            (true, [only]) if only.period.is_some() => {
                add_timed(&mut phases, &mut behind, only, own)
            }
            (true, parts) => add_each(&mut phases, &mut behind, parts, own),
        };
        if !fits {
            let what = "a phase has too many different jobs";
            reader.refuse(&at, what, "repeat it less often, or with one timer at its end");
            return None;
        }
    }
    let mut phase = 0;
    if !behind.is_empty() {
        // A timer at the beginning alone: the jobs come behind it.
        match &mut phases[..] {
            [only] if only.code.is_empty() => {
                (phase, only.code) = (only.period.unwrap_or(0), behind);
            }
            _ => {
                reader.refuse(at, "events come behind the last timer", "put the timer last");
                return None;
            }
        }
    }
    task(reader, (phases, phase), loops, at)
}

/// Jobs one behind the other, all without a timer.
fn add_untimed(phases: &mut Vec<Phase>, parts: &[Part], loops: u64) -> bool {
    let code = parts.iter().flat_map(|part| part.code.iter().cloned()).collect();
    phases.push(Phase { jobs: loops, period: None, code });
    phases.len() <= MOST
}

/// Jobs with a timer at the end of each. What was left before it is part of the first one.
fn add_timed(
    phases: &mut Vec<Phase>,
    behind: &mut Vec<Instruction>,
    Part { code, period }: &Part,
    loops: u64,
) -> bool {
    let mut loops = loops;
    if loops > 0 && !behind.is_empty() {
        let first = behind.drain(..).chain(code.iter().cloned()).collect();
        phases.push(Phase { jobs: 1, period: *period, code: first });
        loops -= 1;
    }
    phases.push(Phase { jobs: loops, period: *period, code: code.clone() });
    phases.len() <= MOST
}

/// Jobs that differ, each one by itself.
fn add_each(
    phases: &mut Vec<Phase>,
    behind: &mut Vec<Instruction>,
    parts: &[Part],
    loops: u64,
) -> bool {
    for part in (0..loops.min(1 + MOST as u64)).flat_map(|_| parts) {
        behind.extend(part.code.iter().cloned());
        if part.period.is_some() {
            phases.push(Phase { jobs: 1, period: part.period, code: std::mem::take(behind) });
        }
    }
    phases.len() <= MOST && behind.len() <= MOST
}

fn task(
    reader: &mut Reader,
    (mut phases, phase): (Vec<Phase>, u64),
    loops: i64,
    at: &Span,
) -> Option<Task> {
    phases.retain(|one| one.jobs > 0 && (one.period.is_some() || !one.code.is_empty()));
    let in_a_round: u64 = phases.iter().map(|phase| phase.jobs).sum();
    if in_a_round == 0 || loops == 0 {
        reader.note(at, "a task without anything to do is left out");
        return None;
    }
    let activation = match phases.iter().filter_map(|phase| phase.period).min() {
        Some(period) => Activation::Period(period),
        None => Activation::Forever,
    };
    for phase in phases.iter_mut().filter(|phase| phase.code.is_empty()) {
        phase.code.push(Instruction::Compute(Time::Fixed(0)));
    }
    Some(Task {
        name: String::new(),
        priority: 1,
        activation,
        jobs: u64::try_from(loops).ok().map(|loops| loops.saturating_mul(in_a_round)),
        phase,
        deadline: None,
        budget: None,
        cpu: 0,
        by_deadline: false,
        phases,
    })
}
