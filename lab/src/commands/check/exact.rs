//! `check` against exact tests, computed in the plainest way, where tasks share nothing.

use super::decided::decide;
use analysis::{Overheads, Random};
use std::fmt::Write;

/// How many sets there are for each policy.
const SETS: u64 = 500;
/// Periods, in ms, and what all of them divide.
const PERIODS: [u64; 8] = [4, 5, 6, 8, 10, 12, 15, 20];
const HYPERPERIOD: u64 = 120;

/// Execution time, period and deadline of a task, in ms.
type Task = [u64; 3];

fn drawn(random: &mut Random) -> Vec<Task> {
    let task = |random: &mut Random| {
        let period = PERIODS[random.below(PERIODS.len() as u64) as usize];
        let execution = 1 + random.below(period / 3 + 1);
        [execution, period, period - random.below((period - execution) / 2 + 1)]
    };
    (0..2 + random.below(3)).map(|_| task(random)).collect()
}

/// Whether each task, the most urgent first, ends in time when all are released at once, ms by ms.
fn by_priorities(tasks: &[Task]) -> bool {
    (0..tasks.len()).all(|index| {
        let mut left = vec![0; index + 1];
        for now in 0..tasks[index][2] {
            for (left, [execution, period, _]) in left.iter_mut().zip(tasks) {
                *left += if now % period == 0 { *execution } else { 0 };
            }
            if let Some(first) = left.iter_mut().find(|left| **left > 0) {
                *first -= 1;
            }
            if left[index] == 0 {
                return true;
            }
        }
        false
    })
}

/// Whether what is due until an instant never exceeds it, up to the end of the hyperperiod.
fn by_deadlines(tasks: &[Task]) -> bool {
    let jobs = |until: u64, [_, period, deadline]: &Task| match until.checked_sub(*deadline) {
        Some(rest) => rest / period + 1,
        None => 0,
    };
    let demand = |until| tasks.iter().map(|task| jobs(until, task) * task[0]).sum::<u64>();
    let work: u64 =
        tasks.iter().map(|[execution, period, _]| execution * (HYPERPERIOD / period)).sum();
    work <= HYPERPERIOD && (1..=HYPERPERIOD).all(|until| demand(until) <= until)
}

fn manifest_of(tasks: &[Task], deadlines: bool) -> String {
    let mut text = "[system]\nname = \"a\"\n".to_string();
    if deadlines {
        text += "[[reservation]]\nname = \"edf\"\npolicy = \"edf\"\npriority = 300\n";
    }
    for (place, [execution, period, deadline]) in tasks.iter().enumerate() {
        let times = format!("period = \"{period}ms\"\ndeadline = \"{deadline}ms\"\n");
        let head = format!("[[domain]]\nname = \"t{place}\"\nprogram = \"busy\"\n");
        let (priority, execution) = (100 - place, format!("\"{execution}ms\"\n"));
        match deadlines {
            true => write!(
                text,
                "[[reservation]]\nname = \"r{place}\"\nin = \"edf\"\nexecution = {execution}{times}\
                 {head}priority = 1\nreservation = \"r{place}\"\n"
            ),
            false => write!(text, "{head}priority = {priority}\nexecution = {execution}{times}"),
        }
        .expect("it is text");
    }
    text
}

/// None that the exact test rejects is accepted, and of those that it accepts 99 in 100 at least.
fn agrees(deadlines: bool, exact: fn(&[Task]) -> bool) {
    let mut random = Random::of(u64::from(deadlines));
    let [mut good, mut bad, mut accepted] = [0; 3];
    for _ in 0..SETS {
        let tasks = drawn(&mut random);
        let text = manifest_of(&tasks, deadlines);
        // Classes that promise more than they have are refused.
        let fits = manifest::parse("a.toml", &text).is_ok_and(|system| {
            decide(&system, Overheads::default()).expect("there are tasks").fits()
        });
        match exact(&tasks) {
            true => (good, accepted) = (good + 1, accepted + u64::from(fits)),
            false => {
                bad += 1;
                assert!(!fits, "{tasks:?}");
            }
        }
    }
    assert!(good >= SETS / 5 && bad >= SETS / 5, "{good} good sets, {bad} others");
    assert!(100 * accepted >= 99 * good, "{accepted} of {good}");
}

#[test]
fn fixed_priorities_are_decided_exactly() {
    agrees(false, by_priorities);
}

#[test]
fn deadlines_are_decided_exactly() {
    agrees(true, by_deadlines);
}
