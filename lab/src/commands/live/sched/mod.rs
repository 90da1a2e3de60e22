//! `sched`: shows and changes how a running system is scheduled.

mod plan;
mod proof;
mod refusal;
mod target;
mod windows;

use super::{Live, ps, words};
use crate::cli;
use crate::commands::{print_json, wrapped};
use crate::failure::{Verdict, usage};
use crate::live::Picture;
use crate::output;
use abi::Error;
use abi::control::{Change, Command};
use anyhow::Result;
use plan::Step;
use serde_json::json;
use target::Target;

/// Shows or changes a reservation or a thread.
pub fn sched(asked: &cli::Sched, as_json: bool) -> Result<Verdict> {
    match asked {
        cli::Sched::Get { name, which } => {
            let live = Live::open(which)?;
            let picture = live.picture(false)?;
            show(&picture, &target::find(name, &live.entry, &picture)?, &[], as_json);
        }
        cli::Sched::Set { name, changes, which } => {
            let live = Live::open(which)?;
            let before = live.picture(false)?;
            let target = target::find(name, &live.entry, &before)?;
            spare(&target, &live.entry.control)?;
            let steps = plan::steps(&target, &before, changes)?;
            if let Some(why) = apply(&live, &before, &target, &steps)? {
                eprint!("{}", wrapped(&why, "error: ", "       "));
                if as_json {
                    print_json(&json!({"error": why}));
                }
                return Ok(Verdict::Failed);
            }
            let after = live.picture(false)?;
            let target = target::find(name, &live.entry, &after)?;
            let lost = proof::lost(&live.entry, &before, &after);
            show(&after, &target, &lost, as_json);
        }
    }
    Ok(Verdict::Held)
}

/// The control domain keeps what it was given: without CPU time it could not give it back.
fn spare(target: &Target, control: &str) -> Result<()> {
    let name = match target {
        Target::Reservation(one) => &one.name,
        Target::Thread { domain, .. } => &domain.name,
    };
    if name != control {
        return Ok(());
    }
    let message = format!("{name} does what `sched` asks, and keeps its CPU time for that");
    Err(usage(format!("{message}\n  `[control]` in the manifest gives it another amount")))
}

/// Does all steps, or none of them if one is refused, and says why.
fn apply(live: &Live, before: &Picture, target: &Target, steps: &[Step]) -> Result<Option<String>> {
    for (done, step) in steps.iter().enumerate() {
        let Some(error) = ask(live, step.change)? else { continue };
        let why = refusal::why(error, before, target, &step.change);
        // What was there before is admitted again, as nothing else was promised since.
        let undone = steps[..done].iter().rev().map(|step| ask(live, step.undo));
        let all = undone.collect::<Result<Vec<_>>>()?.iter().all(Option::is_none);
        let stays = if all { "it stays as it is" } else { "a part of the change stays" };
        return Ok(Some(format!("{} refuses {}: {why}; {stays}", before.system, step.words)));
    }
    Ok(None)
}

fn ask(live: &Live, change: Change) -> Result<Option<Error>> {
    Ok(live.channel.ask(Command::Set(change))?.refused)
}

fn show(picture: &Picture, target: &Target, notes: &[String], as_json: bool) {
    if as_json {
        let (kind, what) = match target {
            Target::Reservation(one) => ("reservation", words::document(one)),
            Target::Thread { domain, thread, .. } => {
                let priority = thread.map(|thread| thread.priority);
                let state = thread.map(|thread| thread.state);
                let reservation = thread.and_then(|thread| thread.reservation.as_ref());
                let what = json!({
                    "domain": domain.name, "priority": priority, "state": state,
                    "max_priority": domain.max_priority, "reservation": reservation,
                });
                ("thread", what)
            }
        };
        return print_json(&json!({
            "system": picture.system, "pid": picture.pid, "kernel": picture.kernel,
            "now_ns": picture.now, "notes": notes, kind: what,
        }));
    }
    match target {
        Target::Reservation(one) => output::line(reservation(picture, one).trim_end()),
        Target::Thread { domain, thread, .. } => {
            let what = thread.map_or("it has ended".to_string(), |thread| {
                let on = thread.reservation.as_ref().map(|name| {
                    format!(";\n  it runs on reservation {name}, whatever its priority")
                });
                let (priority, most) = (thread.priority, domain.max_priority);
                format!("priority={priority}, at most {most}{}", on.unwrap_or_default())
            });
            output::line(format_args!("thread of {}: {what}", domain.name));
        }
    }
    for note in notes {
        output::line(wrapped(note, "note: ", "      ").trim_end());
    }
}

/// A reservation: what can be set, as it is set, and what it has had.
fn reservation(picture: &Picture, one: &crate::live::Reservation) -> String {
    let class = one.class.as_ref().map(|class| format!(" in {class}")).unwrap_or_default();
    let kind = one.policy.map_or("reservation", |_| "class");
    let mut text = format!("{kind} {}{class}:", one.name);
    for (key, value) in plan::settings(one, picture) {
        text += &format!(" {key}={value}");
    }
    let share = words::percent(one.service, picture.now);
    text += &format!("\n  {share:.1} % of the CPU since boot");
    if one.limit.is_some() {
        text += &format!(", budget exhausted {} times{}", one.overruns, then(&one.reactions[0]));
    }
    if one.policy.is_none() {
        text += &format!(", {} jobs", one.jobs);
        let worst = one.worst.filter(|_| one.jobs > 0).map(ps::time);
        match (one.timing, worst) {
            (Some(_), Some(worst)) => {
                text += &format!(", {} late{}, worst {worst}", one.missed, then(&one.reactions[1]))
            }
            (None, Some(worst)) => text += &format!(", worst {worst}"),
            _ => {}
        }
    }
    text + "\n"
}

/// What follows, if that is not as usual.
fn then(reaction: &Option<String>) -> String {
    reaction.as_ref().map_or(String::new(), |reaction| format!(" (then {reaction})"))
}

#[cfg(test)]
mod tests;
