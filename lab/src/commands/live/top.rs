//! `top`: what a running system does, round after round.

mod rows;
mod screen;

use super::{Live, words};
use crate::cli;
use crate::commands::print_json;
use crate::failure::Verdict;
use crate::live::Picture;
use crate::output;
use anyhow::Result;
use screen::{Screen, Woken};
use serde_json::{Value, json};

/// Watches until the rounds are over, the user quits or the system ends.
pub fn top(asked: &cli::Top, as_json: bool) -> Result<Verdict> {
    let live = Live::open(&asked.which)?;
    let rounds = asked.rounds.or(as_json.then_some(1)).unwrap_or(u32::MAX);
    let mut before = live.picture(false)?;
    let screen = Screen::enter(as_json);
    let mut documents = Vec::new();
    let mut end = Verdict::Held;
    for round in 0..rounds {
        match screen.wait(asked.delay) {
            Woken::Time => {}
            Woken::Quit => break,
            Woken::Interrupted => {
                end = Verdict::Interrupted;
                break;
            }
        }
        let now = match live.picture(false) {
            Ok(now) => now,
            Err(_) if live.has_ended() => break,
            Err(error) => return Err(error),
        };
        match as_json {
            true => documents.push(document(&before, &now)),
            false => screen.show(&text(&before, &now, screen.is_live()), round),
        }
        before = now;
    }
    drop(screen);
    if as_json {
        print_json(&json!({"rounds": documents}));
    } else if live.has_ended() {
        output::line("the system has ended");
    }
    Ok(end)
}

fn text(before: &Picture, now: &Picture, is_live: bool) -> String {
    let quit = if is_live { "   q quits" } else { "" };
    let rows = rows::rows(before, now).join("\n");
    format!("{}{quit}\n\n{rows}\n", words::headline(now))
}

/// What happened in a round, for programs.
fn document(before: &Picture, now: &Picture) -> Value {
    let span = now.now.saturating_sub(before.now);
    let reservations = now.reservations.iter().map(|one| {
        let had = rows::Had::of(one, before);
        json!({
            "name": one.name,
            "in": one.class,
            "service_ns": had.service,
            "cpu_percent": words::percent(had.service, span),
            "limit": one.limit.map(|_| words::limit(one)),
            "throttled": one.throttled,
            "overruns": had.overruns,
            "jobs": had.jobs,
            "missed": had.missed,
            "overrun": one.reactions[0],
            "miss": one.reactions[1],
        })
    });
    let threads = rows::threads(before, now).into_iter().map(|(domain, thread, had)| {
        json!({
            "domain": domain.name,
            "index": thread.index,
            "name": thread.name,
            "state": thread.state,
            "priority": thread.priority,
            "effective_priority": thread.effective_priority,
            "cpu_time_ns": had,
        })
    });
    json!({
        "system": now.system,
        "pid": now.pid,
        "kernel": now.kernel,
        "now_ns": now.now,
        "span_ns": span,
        "complete": !now.cut,
        "reservations": reservations.collect::<Vec<_>>(),
        "threads": threads.collect::<Vec<_>>(),
    })
}
