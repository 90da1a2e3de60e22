//! `ps`: what a running system is doing.

use super::{Live, words};
use crate::accounts::then;
use crate::cli;
use crate::commands::print_json;
use crate::failure::Verdict;
use crate::live::{Picture, Reservation, Thread};
use crate::output;
use anyhow::Result;
use manifest::spell_size;
use results::{fitted, plain_table};
use serde_json::{Value, json};
use units::NANOSECONDS;

/// A space at which no line ends.
const GLUE: &str = "\u{a0}";

/// Shows domains, threads and reservations.
pub fn ps(asked: &cli::Ps, as_json: bool) -> Result<Verdict> {
    let picture = Live::open(&asked.which)?.picture(true)?;
    if as_json {
        print_json(&document(&picture));
    } else {
        output::line(text(&picture).trim_end());
    }
    Ok(Verdict::Held)
}

/// For people.
fn text(picture: &Picture) -> String {
    let mut text = words::headline(picture) + "\n\n" + &threads(picture);
    if !picture.reservations.is_empty() {
        text += "\n";
        text += &reservations(picture);
    }
    if picture.cut {
        text += "\nThere was no room for all: what is missing is not shown.\n";
    }
    text
}

fn threads(picture: &Picture) -> String {
    let titles = ["domain", "thread", "state", "prio", "max", "reservation", "CPU time", "stack"];
    let mut table = plain_table(&titles, output::columns());
    for domain in &picture.domains {
        if domain.threads.is_empty() {
            table.add_row([domain.name.as_str(), "-", "no thread"]);
        }
        for thread in &domain.threads {
            let stack = thread.stack.map(|[used, all]| {
                format!("{}/{}", spell_size(used.next_multiple_of(1 << 10)), spell_size(all))
            });
            table.add_row([
                domain.name.clone(),
                thread.called(),
                doing(thread),
                priority_of(thread),
                domain.max_priority.to_string(),
                thread.reservation.clone().unwrap_or("-".to_string()),
                thread.time.map_or("-".to_string(), time),
                stack.unwrap_or("-".to_string()),
            ]);
        }
    }
    fitted(table, 2)
}

/// Its state, and what it waits for, but for time.
fn doing(thread: &Thread) -> String {
    let awaited = thread.awaited.as_deref().filter(|awaited| *awaited != "time");
    awaited.map_or(thread.state.to_string(), |awaited| format!("{} {awaited}", thread.state))
}

/// Its own priority, and the one that is lent to it.
fn priority_of(thread: &Thread) -> String {
    match (thread.priority, thread.effective_priority) {
        (own, effective) if own == effective => own.to_string(),
        (own, effective) => format!("{own}>{effective}"),
    }
}

fn reservations(picture: &Picture) -> String {
    let titles = ["reservation", "share", "limit", "CPU %", "spent", "jobs", "late", "worst"];
    let mut table = plain_table(&titles, output::columns());
    for one in &picture.reservations {
        let is_leaf = one.policy.is_none();
        let [overrun, miss] = one.reactions.each_ref().map(Option::as_deref);
        let jobs = |number: u64| if is_leaf { number.to_string() } else { "-".to_string() };
        table.add_row([
            whole(name(one)),
            whole(words::share(one)),
            words::limit(one),
            format!("{:.1}", words::percent(one.service, picture.now)),
            one.limit.map_or("-".to_string(), |_| then(one.overruns.to_string(), overrun)),
            jobs(one.jobs),
            one.timing.map_or("-".to_string(), |_| then(one.missed.to_string(), miss)),
            one.worst.filter(|worst| is_leaf && *worst > 0).map_or("-".to_string(), time),
        ]);
    }
    fitted(table, 2).replace(GLUE, " ")
}

/// Its name at its depth, with the policy of a class.
pub fn name(one: &Reservation) -> String {
    let policy = one.policy.map(|policy| format!(" {}", words::policy(policy)));
    format!("{}{}{}", " ".repeat(one.depth), one.name, policy.unwrap_or_default())
}

/// A text that a table does not break.
fn whole(text: String) -> String {
    text.replace(' ', GLUE)
}

/// A time in three digits, rounded up.
pub fn time(nanoseconds: u64) -> String {
    let units = &NANOSECONDS[1..];
    let (name, unit) = units.iter().rev().find(|unit| nanoseconds >= unit.1).unwrap_or(&units[0]);
    let (mut digits, mut step) = (2, unit / 100);
    while digits > 0 && nanoseconds.div_ceil(step) >= 1_000 {
        (digits, step) = (digits - 1, step * 10);
    }
    let rounded = nanoseconds.div_ceil(step) * step;
    format!("{:.digits$}{name}", rounded as f64 / *unit as f64)
}

/// For programs.
fn document(picture: &Picture) -> Value {
    let domains = picture.domains.iter().map(|domain| {
        let threads = domain.threads.iter().map(|thread| {
            json!({
                "index": thread.index,
                "name": thread.name,
                "state": thread.state,
                "waits_for": thread.awaited,
                "priority": thread.priority,
                "effective_priority": thread.effective_priority,
                "reservation": thread.reservation,
                "cpu_time_ns": thread.time,
                "stack_used_bytes": thread.stack.map(|[used, _]| used),
                "stack_bytes": thread.stack.map(|[_, all]| all),
            })
        });
        json!({
            "name": domain.name,
            "max_priority": domain.max_priority,
            "slots_used": domain.slots[0],
            "slots": domain.slots[1],
            "threads": threads.collect::<Vec<_>>(),
        })
    });
    json!({
        "system": picture.system,
        "pid": picture.pid,
        "kernel": picture.kernel,
        "cpus": picture.cpus,
        "now_ns": picture.now,
        "complete": !picture.cut,
        "domains": domains.collect::<Vec<_>>(),
        "reservations": picture.reservations.iter().map(words::document).collect::<Vec<_>>(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lent_priority_stands_behind_the_own_one() {
        let shown = |priority, effective_priority| {
            priority_of(&Thread {
                index: 1,
                awaited: None,
                name: None,
                state: "ready",
                priority,
                effective_priority,
                reservation: None,
                time: None,
                stack: None,
            })
        };
        assert_eq!([shown(50, 50), shown(50, 200)], ["50", "50>200"]);
    }
}
