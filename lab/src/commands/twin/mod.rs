//! `twin`: the fuzzer, replays of its runs, and the simulation's speed.

mod fuzz;

use super::print_json;
use crate::cli::{Replay, Speed, Twin};
use crate::failure::{Verdict, usage};
use crate::fuzz::{Plan, Spelled, fingerprint, judge, outcome};
use crate::output;
use crate::progress::Step;
use anyhow::Result;
use serde_json::json;
use twin_protocol::End;

/// Steps of the kernel that a replay shows, the last ones.
const SHOWN: usize = 40;

/// Does what the command line says.
pub fn twin(twin: &Twin, as_json: bool) -> Result<Verdict> {
    match twin {
        Twin::Fuzz(asked) => fuzz::fuzz(asked, as_json),
        Twin::Replay(asked) => replay(asked, as_json),
        Twin::Speed(asked) => speed(asked, as_json),
    }
}

fn replay(asked: &Replay, as_json: bool) -> Result<Verdict> {
    let plan = Plan::on(asked.seed, &asked.on)?;
    if !as_json {
        output::line(&plan);
    }
    let outcome = outcome(&plan, Some(Spelled(SHOWN)))?;
    let shown = &outcome.spelled;
    let end = judge(&outcome.end);
    if as_json {
        print_json(&json!({
            "seed": asked.seed,
            "plan": plan.to_string(),
            "end": format!("{:?}", outcome.end),
            "held": end.is_ok(),
            "steps": outcome.entries,
            "events": outcome.events,
            "time": outcome.time,
            "trace": fingerprint(&outcome.log),
            "last": shown,
            "console": outcome.console,
        }));
    } else {
        output::line(&outcome.console);
        shown.iter().for_each(|step| output::line(format_args!("  {step}")));
        output::line(format_args!(
            "{} steps, {} kernel events, time {}, trace {:016x}",
            outcome.entries,
            outcome.events,
            outcome.time,
            fingerprint(&outcome.log)
        ));
        match &end {
            Ok(()) => output::line(format_args!("it held: {}", spell(&outcome.end))),
            Err(failure) => output::line(format_args!("it failed: {failure}")),
        }
    }
    Ok(if end.is_ok() { Verdict::Held } else { Verdict::Failed })
}

fn spell(end: &End) -> String {
    match end {
        End::Done(status) => format!("a program ended the run with status {status}"),
        End::Deadlock(cpus) => format!("CPUs {cpus:?} wait for each other in the kernel"),
        End::Stuck => "every thread waits for ever".to_string(),
        End::Limit => "the limit on steps was reached".to_string(),
        End::Panic(message) => message.clone(),
    }
}

fn speed(asked: &Speed, as_json: bool) -> Result<Verdict> {
    let _step = Step::start("measuring the twin's speed");
    let mut rates = Vec::new();
    for kernel in manifest::ALL_KERNELS {
        if asked.kernel.as_deref().is_none_or(|asked| asked == kernel) {
            let (events, seconds) = match asked.cpus {
                1 => crate::fuzz::speed(kernel, asked.check)?,
                cpus => crate::fuzz::speed_on(kernel, cpus, asked.check)?,
            };
            rates.push((kernel, events, seconds));
        }
    }
    if rates.is_empty() {
        return Err(usage("no such kernel"));
    }
    if as_json {
        let rate = |(kernel, events, seconds): &(&str, u64, f64)| {
            json!({"kernel": kernel, "events": events, "seconds": seconds,
                "events_per_second": *events as f64 / seconds})
        };
        let rates: Vec<_> = rates.iter().map(rate).collect();
        print_json(&json!({"checked": asked.check, "cpus": asked.cpus, "rates": rates}));
        return Ok(Verdict::Held);
    }
    for (kernel, events, seconds) in rates {
        let millions = events as f64 / seconds / 1e6;
        output::line(format_args!("{kernel:13} {millions:7.1} million kernel events a second"));
    }
    Ok(Verdict::Held)
}
