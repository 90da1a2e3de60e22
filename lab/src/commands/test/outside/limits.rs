//! Limits of a test: on how late threads wake, on jobs, budgets and heartbeats, and what a run says
//! to them. All are written in the same way.

use crate::accounts::{Account, Accounts};
use crate::commands::trace::names;
use crate::failure::did_you_mean;
use crate::restarts::Restarts;
use crate::worked;
use anyhow::{Context, Result, bail, ensure};
use manifest::{Problems, Reservation, Source, System, spell_duration, spell_percent};
use std::fmt;
use toml::{Spanned, Value};
use trace::Traces;
use units::{NANOSECONDS, percent, scaled};

/// Bytes of the trace that a run is judged by.
pub const TRACE: u64 = 64 << 20;

/// What a limit is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Figure {
    /// How late threads wake, by domain.
    Latency,
    /// How many jobs of a reservation are late.
    Misses,
    /// How often a reservation's budget is used up.
    Overruns,
    /// How long a job of a reservation takes from its release to its end.
    Response,
    /// How many jobs of a reservation end.
    Jobs,
    /// How much CPU time a reservation has: in the run, as a time or a part, or in any window of
    /// some length.
    Budgets,
    /// How many heartbeats a domain misses.
    Heartbeats,
}

/// A limit.
#[derive(Clone, Debug)]
pub struct Limit {
    figure: Figure,
    /// Of a domain or a reservation; none: of all that have no limit of their own.
    name: Option<String>,
    least: Option<Amount>,
    most: Option<Amount>,
}

/// So much, and how it was written.
#[derive(Clone, Debug)]
struct Amount {
    value: u64,
    /// Whether it is a part of the run, in millionths.
    is_part: bool,
    /// The length of the windows that it is about, in ns; none: the whole run.
    window: Option<u64>,
    text: String,
}

/// What a run has left to judge limits by.
pub struct Evidence<'a> {
    pub system: &'a System,
    pub accounts: &'a Accounts,
    pub restarts: &'a Restarts,
    /// The bytes of its trace, where there is one.
    pub trace: Option<&'a Vec<u8>>,
}

/// What was measured.
struct Measured {
    value: u64,
    /// What it is a part of.
    whole: u64,
    /// In words: what, and when.
    told: String,
    /// Why it is so, if that is known.
    why: String,
}

impl Figure {
    fn key(self) -> &'static str {
        match self {
            Figure::Latency => "latency",
            Figure::Misses => "misses",
            Figure::Overruns => "overruns",
            Figure::Response => "response",
            Figure::Jobs => "jobs",
            Figure::Budgets => "budgets",
            Figure::Heartbeats => "heartbeats",
        }
    }

    /// An amount of it, as it is to be written.
    fn example(self) -> &'static str {
        match self {
            Figure::Latency | Figure::Response => "\"50us\"",
            Figure::Budgets => "\"50us\", \"25%\" or \"50us in 1ms\"",
            Figure::Misses | Figure::Overruns | Figure::Jobs | Figure::Heartbeats => "10",
        }
    }

    /// Whether a part of the run in which nothing is computed falsifies it.
    fn needs_work(self) -> bool {
        matches!(self, Figure::Latency | Figure::Misses | Figure::Response | Figure::Budgets)
    }

    /// An amount of it.
    fn amount(self, value: &Value) -> Option<Amount> {
        let time = |text: &str| {
            let ns = scaled(text, &NANOSECONDS).filter(|ns| *ns >= 1.0)?;
            Some(ns as u64)
        };
        let (mut is_part, mut window) = (false, None);
        let number = match (self, value) {
            (Figure::Misses | Figure::Overruns | Figure::Jobs | Figure::Heartbeats, number) => {
                u64::try_from(number.as_integer()?).ok()?
            }
            (Figure::Budgets, Value::String(text)) if text.ends_with('%') => {
                is_part = true;
                percent(text)?.into()
            }
            (Figure::Budgets, Value::String(text)) if text.contains(" in ") => {
                let (text, length) = text.split_once(" in ")?;
                window = Some(time(length)?);
                time(text)?
            }
            (_, text) => time(text.as_str()?)?,
        };
        let text = value.as_str().map_or_else(|| value.to_string(), String::from);
        Some(Amount { value: number, is_part, window, text })
    }

    /// Why a system has no such figure of this name.
    fn lacks(self, system: &System, name: &str) -> Option<String> {
        let what = match self {
            Figure::Latency | Figure::Heartbeats => {
                let names = || system.domains.iter().map(|domain| domain.name.as_str());
                let Some(at) = names().position(|known| known == name) else {
                    let hint = did_you_mean(name, names());
                    return Some(format!("no domain is called `{name}`{hint}"));
                };
                let beats = |it: &manifest::Domain| {
                    it.restart.as_ref().is_some_and(|restart| restart.heartbeat.is_some())
                };
                let fits = self == Figure::Latency || beats(&system.domains[at]);
                return (!fits).then(|| format!("domain `{name}` has no heartbeat"));
            }
            Figure::Misses => "a deadline",
            Figure::Overruns => "a budget",
            Figure::Response | Figure::Jobs => "jobs",
            Figure::Budgets => "that name",
        };
        let fits = |node: &&Reservation| match self {
            Figure::Misses => node.timing.is_some(),
            Figure::Overruns => node.limit.is_some(),
            Figure::Response | Figure::Jobs => node.policy.is_none(),
            _ => true,
        };
        let fitting = || system.reservations.iter().filter(fits).map(|node| node.name.as_str());
        let hint = did_you_mean(name, fitting());
        let is_missing = !fitting().any(|known| known == name);
        is_missing.then(|| format!("no reservation `{name}` has {what}{hint}"))
    }
}

impl Amount {
    /// What was measured, in the unit of this amount.
    fn of(&self, measured: &Measured) -> u64 {
        if self.is_part { part(measured.value, measured.whole) } else { measured.value }
    }
}

impl fmt::Display for Amount {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// Millionths.
fn part(value: u64, whole: u64) -> u64 {
    (u128::from(value) * 1_000_000 / u128::from(whole.max(1))) as u64
}

/// Reads the limits of a figure: one for all, or by name; each is what there is at most, or
/// `{ least = , most = }`.
pub fn read(
    (figure, value): (Figure, &Spanned<Value>),
    system: &System,
    source: &Source,
) -> Result<Vec<Limit>> {
    let (key, example) = (figure.key(), figure.example());
    let problem = |message: String| {
        let help = format!(
            "write {key} = {{ name = {example} }}, which is at most so much, or in the place of \
             that {{ least = , most = }}"
        );
        Problems(vec![source.problem(&value.span(), message, help)])
    };
    let limit = |name: Option<&String>, value: &Value| {
        let amount = |value: &Value| {
            let wrong = || problem(format!("`{key}`: {value} is not an amount such as {example}"));
            figure.amount(value).ok_or_else(wrong)
        };
        if let Some(why) = name.and_then(|name| figure.lacks(system, name)) {
            return Err(problem(format!("`{key}`: {why}")));
        }
        let mut limit = Limit { figure, name: name.cloned(), least: None, most: None };
        let Value::Table(ends) = value else {
            limit.most = Some(amount(value)?);
            return Ok(limit);
        };
        for (end, value) in ends {
            match end.as_str() {
                "least" => limit.least = Some(amount(value)?),
                "most" => limit.most = Some(amount(value)?),
                other => return Err(problem(format!("`{other}` is neither `least` nor `most`"))),
            }
        }
        Ok(limit)
    };
    let limits: Result<Vec<Limit>, Problems> = match value.get_ref() {
        Value::Table(each) => each.iter().map(|(name, value)| limit(Some(name), value)).collect(),
        all if figure == Figure::Latency => limit(None, all).map(|limit| vec![limit]),
        other => Err(problem(format!("`{key}`: {other} is of no name"))),
    };
    Ok(limits?)
}

impl Limit {
    /// Whether it is judged by a trace.
    pub fn is_traced(&self) -> bool {
        let mut amounts = self.least.iter().chain(&self.most);
        self.figure == Figure::Latency || amounts.any(|amount| amount.window.is_some())
    }

    /// The domains that it is about, if it means nothing unless one of them computes.
    pub fn workers<'a>(&self, system: &'a System) -> Option<Vec<&'a str>> {
        let name = self.name.as_ref().filter(|_| self.figure.needs_work())?;
        let domains = match self.figure {
            Figure::Latency => {
                let domains = system.domains.iter().filter(|domain| domain.name == *name);
                domains.map(|domain| domain.name.as_str()).collect()
            }
            _ => worked::of_reservation(system, name),
        };
        Some(domains).filter(|domains| !domains.is_empty())
    }

    /// How a run is traced that shows it, beside what any trace takes.
    pub fn tracing(&self) -> Option<String> {
        let most = self.most.as_ref().filter(|_| self.figure == Figure::Latency)?;
        Some(format!(" --auto {most}"))
    }

    /// Judges a run. What was not measured does not hold.
    pub fn judge(&self, evidence: &Evidence) -> Result<()> {
        for (amount, is_least) in [(&self.least, true), (&self.most, false)] {
            let Some(amount) = amount else { continue };
            let measured = match amount.window {
                None => self.measure(evidence)?,
                Some(window) => self.windowed((window, is_least), evidence)?,
            };
            let (key, Measured { told, why, .. }) = (self.figure.key(), &measured);
            let value = amount.of(&measured);
            let holds = if is_least { value >= amount.value } else { value <= amount.value };
            let limit = if is_least { "at least" } else { "at most" };
            ensure!(holds, "`{key}` is to be {limit} {amount}: {told}{why}");
        }
        Ok(())
    }

    /// The least or most that a reservation had in any window of a length.
    fn windowed(&self, (ns, is_least): (u64, bool), evidence: &Evidence) -> Result<Measured> {
        let (system, name) = (evidence.system, self.name.as_deref().unwrap_or_default());
        let traces = traces(evidence)?;
        let node = system.reservations.iter().position(|node| node.name == name);
        let found = node.and_then(|at| trace::windows(&traces.all, &names(system), at, ns));
        let [least, most] = found.context("the run was shorter than the window")?;
        let trace::Window { from, time } = if is_least { least } else { most };
        let told = format!(
            "`{name}` had {} in the {} from {} on",
            spelled(time),
            spelled(ns),
            spell_duration(from)
        );
        Ok(Measured { value: time, whole: 0, told, why: String::new() })
    }

    fn measure(&self, evidence: &Evidence) -> Result<Measured> {
        match (self.figure, &self.name) {
            (Figure::Latency, name) => latency(name.as_deref(), evidence),
            (Figure::Heartbeats, Some(name)) => heartbeats(name, evidence.restarts),
            (figure, name) => {
                let name = name.as_deref().unwrap_or_default();
                let account = evidence.accounts.of(name);
                let account = account.with_context(|| {
                    format!("nothing is known of `{name}`: it is gone, or no program ended the run")
                })?;
                accounted(figure, account, evidence.accounts.now_ns)
            }
        }
    }
}

/// A time, however short.
fn spelled(ns: u64) -> String {
    if ns < 1_000 { format!("{ns}ns") } else { spell_duration(ns) }
}

/// The traces of a run, if they go up to its end.
fn traces(evidence: &Evidence) -> Result<Traces> {
    let bytes = evidence.trace.context("the run ended without a trace")?;
    let traces = Traces::decode(bytes)?;
    ensure!(traces.lost() == 0, "the trace was full before the run ended: shorten the run");
    Ok(traces)
}

/// What the kernel's accounts say.
fn accounted(figure: Figure, account: &Account, now: u64) -> Result<Measured> {
    let Account { name, jobs, missed, worst_ns, .. } = account;
    let (value, told) = match figure {
        Figure::Misses => {
            let (missed, latest) = (missed.unwrap_or(0), spelled(account.latest_ns));
            (missed, format!("{missed} jobs of `{name}` were late, one by {latest}"))
        }
        Figure::Overruns => {
            let times = account.overruns.unwrap_or(0);
            (times, format!("`{name}` used its budget up {times} times"))
        }
        Figure::Response => {
            // A job that is still late counts as one that has ended.
            ensure!(*jobs > 0 || *missed > Some(0), "no job of `{name}` has ended");
            (*worst_ns, format!("a job of `{name}` took {}", spelled(*worst_ns)))
        }
        Figure::Jobs => (*jobs, format!("{jobs} jobs of `{name}` ended")),
        _ => {
            let (had, share) = (account.service_ns, part(account.service_ns, now));
            (had, format!("`{name}` had {}, {}", spelled(had), spell_percent(share)))
        }
    };
    let told = format!("{told}, in a run of {}", spelled(now));
    Ok(Measured { value, whole: now, told, why: String::new() })
}

/// How many heartbeats were missed, by the supervisor's journal.
fn heartbeats(name: &str, restarts: &Restarts) -> Result<Measured> {
    ensure!(
        restarts.count == restarts.latest.len() as u64,
        "more has failed than the supervisor's journal keeps: shorten the run"
    );
    let missed = restarts.latest.iter().filter(|it| it.is_silence && it.domain == name);
    let value = missed.clone().count() as u64;
    let first = missed.map(|it| it.seen).min();
    let first = first.map(|at| format!(", the first by {}", spell_duration(at)));
    let told = format!("{name} missed {value}{}", first.unwrap_or_default());
    Ok(Measured { value, whole: 0, told, why: String::new() })
}

/// How late threads of a domain woke, or of all, by the trace.
fn latency(name: Option<&str>, evidence: &Evidence) -> Result<Measured> {
    let system = evidence.system;
    let traces = traces(evidence)?;
    let at = system.domains.iter().position(|domain| name == Some(domain.name.as_str()));
    let whose = name.unwrap_or("any thread");
    let wake_ups = trace::wakeups(&traces);
    let own = |wake_up: &&trace::WakeUp| match at {
        Some(at) => wake_up.domain == at as u32 + 1,
        None => true,
    };
    let worst = wake_ups.iter().filter(own).max_by_key(|wake_up| wake_up.latency());
    let Some(worst) = worst else { bail!("no wake-up of {whose} was seen by the clock") };
    let why = trace::explained(&traces, &names(system), worst);
    Ok(Measured {
        value: worst.latency(),
        whole: 0,
        told: format!(
            "{whose} woke {} ns late, at {}",
            worst.latency(),
            spell_duration(worst.sample.programmed)
        ),
        why: why.map_or(String::new(), |why| format!("\n{why}")),
    })
}

#[cfg(test)]
mod tests;
