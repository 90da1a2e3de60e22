//! `profile --exact` and `profile --event`: what every instruction did, instead of samples.

use super::{SHOWN, draw};
use crate::cli;
use crate::commands::trace::names;
use crate::commands::{fitted, print_json, run, table};
use crate::experiment::user_system;
use crate::failure::Verdict;
use crate::image::{self, Images};
use crate::machine::{Boot, Machine};
use crate::output;
use crate::profile::exact::{self, Event, Others, Part, WAITING};
use crate::profile::{Profile, Row, folded, line};
use crate::progress::Step;
use abi::trace::Keep;
use anyhow::{Context, Result};
use manifest::System;
use serde_json::json;
use std::time::Duration;

/// Bytes of the trace in which the longest section and the worst wake-up are found.
const TRACE: u64 = 32 << 20;

/// Shows who executed what in the longest section and in the worst wake-up of each CPU.
pub fn worst(
    asked: &cli::Profile,
    machine: &'static dyn Machine,
    mut system: System,
    event: Event,
    as_json: bool,
) -> Result<Verdict> {
    user_system::has_no_trace(&system)?;
    let names = names(&system);
    let memory = system.add_trace(TRACE, Keep::First);
    let images = image::build_for(machine, &system)?;
    let board = run::board(machine, asked.board.as_deref())?;
    let boot = || boot(asked, machine, board, &images, &system);
    let (parts, outcome) = {
        let _step = Step::start(format!("watching {}", system.name));
        exact::parts(&boot, (&memory, &names), event)?
    };
    if let Some(path) = &asked.flame {
        draw(path, &parts.iter().flat_map(stacks).collect::<Vec<_>>(), &system, event.name())?;
    }
    if as_json {
        let parts: Vec<_> = parts.iter().map(document).collect();
        print_json(&json!({
            "system": system.name,
            "kernel": outcome.kernel,
            "event": event.name(),
            "stretches": parts,
        }));
    } else {
        parts.iter().for_each(|part| show(part, event));
        output::line(format_args!("under {}, every instruction counted", outcome.kernel));
    }
    Ok(Verdict::Held)
}

/// A run on the machine that repeats exactly.
fn boot<'a>(
    asked: &'a cli::Profile,
    machine: &'a dyn Machine,
    board: &'a str,
    images: &'a Images,
    system: &'a System,
) -> Boot<'a> {
    Boot::new(machine, images, system)
        .board(board)
        .seed(asked.seed)
        .timeout(Duration::from_secs(asked.timeout))
}

/// The stacks of a stretch, below its title and, where there are several CPUs, its own.
fn stacks(part: &Part) -> Vec<String> {
    let cpu = part.others.map(|_| format!("CPU {}", part.stretch.cpu));
    let title = part.stretch.what.title().to_string();
    let rows = part.tally.stacks.iter();
    let stack = |stack| cpu.iter().chain([&title]).chain(stack);
    rows.map(|(functions, count)| line(stack(functions), *count)).collect()
}

fn document(part: &Part) -> serde_json::Value {
    let (idled, unseen) = if part.idled { (part.before, 0) } else { (0, part.before) };
    let mut document = json!({
        "stretch": part.stretch,
        "before_idling": idled,
        "counted": part.tally.all(),
        "writing_the_trace": part.tally.trace,
        "functions": part.tally.rows(),
    });
    if unseen > 0 {
        document["not_recorded"] = unseen.into();
    }
    if let Some(others) = part.others {
        document["other_cpus"] = json!(others);
    }
    document
}

fn show(part: &Part, event: Event) {
    let stretch = &part.stretch;
    output::line(format_args!(
        "{}: {} of {}, CPU {}, at {} ns",
        stretch.what.title(),
        stretch.measured,
        stretch.of,
        stretch.cpu,
        stretch.at_ns
    ));
    let mut functions = table(&["self", "inclusive", "function"]);
    let rows = part.tally.rows();
    rows.iter().take(SHOWN).for_each(|row| {
        functions.add_row([row.own.to_string(), row.inclusive.to_string(), row.function.clone()]);
    });
    output::line(fitted(functions).trim_end());
    if let Some(rest @ 1..) = rows.len().checked_sub(SHOWN) {
        output::line(format_args!("and {rest} further functions; --json has all"));
    }
    let all = part.tally.all();
    let before = match (part.before, part.idled) {
        (0, _) => String::new(),
        (steps, true) => format!("; behind {steps} steps, after which the CPU idled"),
        (steps, false) => format!("; behind {steps} steps, whose instructions are not recorded"),
    };
    let waiting = match rows.iter().find(|row| row.function == WAITING) {
        Some(row) => format!(" and {} to wait for the kernel's lock", row.own),
        None => String::new(),
    };
    let others = match part.others {
        Some(Others { steps: steps @ 1.., while_waiting }) => {
            format!("; other CPUs had {steps} steps, {while_waiting} of them during such a wait")
        }
        _ => String::new(),
    };
    output::line(format_args!(
        "{all} {}, {} of them to write the trace{waiting}{before}{others}\n",
        event.name(),
        part.tally.trace
    ));
}

/// Shows who had how many of all events of a run.
pub fn whole(
    asked: &cli::Profile,
    machine: &'static dyn Machine,
    system: &System,
    event: Event,
    as_json: bool,
) -> Result<Verdict> {
    let emulator = machine.emulator().context("this machine executes no instructions")?;
    let images = image::build_for(machine, system)?;
    let board = run::board(machine, asked.board.as_deref())?;
    let (codes, outcome) = {
        let _step = Step::start(format!("counting {} of {}", event.name(), system.name));
        exact::counts(boot(asked, machine, board, &images, system))?
    };
    let profile = Profile::of_events(&codes, event, emulator, &images, system)?;
    if let Some(path) = &asked.flame {
        draw(path, &folded(&profile), system, event.name())?;
    }
    if as_json {
        let rows = |rows: Vec<Row>| rows.iter().map(counted).collect::<Vec<_>>();
        print_json(&json!({
            "system": system.name,
            "kernel": outcome.kernel,
            "event": event.name(),
            "counted": profile.all,
            "domains": rows(profile.by_domain()),
            "functions": rows(profile.by_function()),
        }));
        return Ok(Verdict::Held);
    }
    let mut domains = table(&["domain", "%", event.name()]);
    for Row { domain, share, .. } in profile.by_domain() {
        domains.add_row([domain, format!("{:.2}", share.percent), share.samples.to_string()]);
    }
    output::line(fitted(domains).trim_end());
    output::line("");
    let mut functions = table(&["domain", "function", "%", event.name()]);
    let rows = profile.by_function();
    for Row { domain, function, share } in rows.iter().take(SHOWN) {
        let percent = format!("{:.2}", share.percent);
        let function = function.clone().unwrap_or_default();
        functions.add_row([domain.clone(), function, percent, share.samples.to_string()]);
    }
    output::line(fitted(functions).trim_end());
    output::line(format_args!(
        "\n{} {} under {}, all counted",
        profile.all,
        event.name(),
        outcome.kernel
    ));
    Ok(Verdict::Held)
}

/// A row of what was counted, which has no error.
fn counted(row: &Row) -> serde_json::Value {
    let Row { domain, function, share } = row;
    match function {
        Some(function) => json!({ "domain": domain, "function": function, "count": share.samples }),
        None => json!({ "domain": domain, "count": share.samples }),
    }
}
