//! `twin`: the fuzzer, replays of its runs, and the simulation's speed.

use super::print_json;
use crate::cli::{Fuzz, Replay, Speed, Twin};
use crate::failure::{Verdict, usage};
use crate::fuzz::{self, Plan, Reach, Spelled};
use crate::output;
use crate::progress::Step;
use anyhow::Result;
use serde_json::json;
use std::time::{Duration, Instant};
use twin_protocol::End;

/// Steps of the kernel that a replay shows, the last ones.
const SHOWN: usize = 40;

/// Does what the command line says.
pub fn twin(twin: &Twin, as_json: bool) -> Result<Verdict> {
    match twin {
        Twin::Fuzz(asked) => run_fuzz(asked, as_json),
        Twin::Replay(asked) => replay(asked, as_json),
        Twin::Speed(asked) => speed(asked, as_json),
    }
}

fn run_fuzz(asked: &Fuzz, as_json: bool) -> Result<Verdict> {
    let step = Step::start("fuzzing the system-call interface");
    let started = Instant::now();
    let limit = asked.minutes.map(|minutes| Duration::from_secs(minutes * 60));
    let mut reach = Reach::default();
    let mut seed = asked.seed;
    loop {
        let over = match limit {
            Some(limit) => started.elapsed() > limit,
            None => reach.steps >= asked.steps,
        };
        if over {
            break;
        }
        step.detail(&format!("seed {seed:#x}, {} steps", reach.steps));
        let plan = Plan::of(seed, asked.cpus, asked.locking.as_deref())?;
        if let Err(failure) = fuzz::run(&plan, &mut reach) {
            if as_json {
                print_json(&json!({"held": false, "seed": seed, "failure": failure}));
            } else {
                output::line(format_args!("seed {seed:#x}: {failure}"));
                let cpus = asked.cpus;
                output::line(format_args!(
                    "replay it with: ./giusto twin replay {seed:#x} --cpus {cpus}"
                ));
            }
            return Ok(Verdict::Failed);
        }
        seed += 1;
    }
    let missing = reach.missing();
    if as_json {
        print_json(&json!({
            "held": true,
            "seeds": [asked.seed, seed],
            "cpus": asked.cpus,
            "steps": reach.steps,
            "seconds": started.elapsed().as_secs_f64(),
            "reach": reach.summary(),
            "missing": missing,
        }));
        return Ok(Verdict::Held);
    }
    output::line(format_args!(
        "seeds {:#x} to {:#x}: {} steps in {:.1} s, every invariant held after each",
        asked.seed,
        seed - 1,
        reach.steps,
        started.elapsed().as_secs_f64()
    ));
    let (all, done) = reach.calls();
    output::line(format_args!(
        "{all} system calls, {done} did what was asked; {} runs ended by a program; at most {} \
         threads blocked at once",
        reach.shutdowns, reach.most_blocked
    ));
    for missing in &missing {
        output::line(format_args!("not reached: {missing}"));
    }
    Ok(Verdict::Held)
}

fn replay(asked: &Replay, as_json: bool) -> Result<Verdict> {
    let plan = Plan::of(asked.seed, asked.cpus, asked.locking.as_deref())?;
    if !as_json {
        output::line(&plan);
    }
    let outcome = fuzz::outcome(&plan, Some(Spelled(SHOWN)))?;
    let shown = &outcome.spelled;
    let end = fuzz::judge(&outcome.end);
    if as_json {
        print_json(&json!({
            "seed": asked.seed,
            "plan": plan.to_string(),
            "end": format!("{:?}", outcome.end),
            "held": end.is_ok(),
            "steps": outcome.entries,
            "events": outcome.events,
            "time": outcome.time,
            "trace": fuzz::fingerprint(&outcome.log),
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
            fuzz::fingerprint(&outcome.log)
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
    for kernel in manifest::KERNELS {
        if asked.kernel.as_deref().is_none_or(|asked| asked == kernel) {
            let (events, seconds) = match asked.cpus {
                1 => fuzz::speed(kernel, asked.check)?,
                cpus => fuzz::speed_on(kernel, cpus, asked.check)?,
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
