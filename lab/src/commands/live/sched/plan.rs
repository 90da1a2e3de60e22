//! From `KEY=VALUE` to the changes that the running system is asked for, by the rules of manifests.

use super::super::words;
use super::target::Target;
use super::windows;
use crate::failure::{did_you_mean, usage};
use crate::live::{Picture, Reservation};
use abi::control::Change;
use abi::reservation::{
    Budget, Curve, LEAST_BUDGET, LEVELS, LONGEST, Policy, SHORTEST, SHORTEST_WINDOW, Server, Share,
    Timing,
};
use anyhow::Result;
use manifest::{spell_duration, spell_percent};
use units::{duration, percent};

/// One change, and what takes it back.
#[derive(Debug, PartialEq, Eq)]
pub struct Step {
    pub change: Change,
    pub undo: Change,
    /// What was written.
    pub words: String,
}

/// Keys of reservations.
const KEYS: [&str; 9] = [
    "priority",
    "budget",
    "period",
    "server",
    "deadline",
    "curve",
    "share",
    "windows",
    "major_frame",
];

/// The changes that these words ask for, in the order in which they are made.
pub fn steps(target: &Target, picture: &Picture, changes: &[String]) -> Result<Vec<Step>> {
    let pairs = changes.iter().map(|change| pair(change)).collect::<Result<Vec<_>>>()?;
    match target {
        Target::Thread { .. } => thread(target, picture, &pairs),
        Target::Reservation(one) => {
            let Some(slot) = one.slot else {
                let message = format!("{} cannot be changed: {}", one.name, immutable(one));
                return Err(usage(message));
            };
            let asked = Asked::of(&pairs)?;
            let steps = [share(one, slot, picture, &asked)?, limit(one, slot, &asked)?];
            let windows = (asked.windows.as_deref(), asked.major_frame);
            let rest = [timing(one, slot, &asked)?, windows::step(one, slot, picture, windows)?];
            Ok(steps.into_iter().chain(rest).flatten().collect())
        }
    }
}

/// Why the control domain holds no capability to it.
fn immutable(one: &Reservation) -> &'static str {
    match one.share {
        None => "it is the root of a CPU",
        Some(_) => "a program made it, and the control domain holds those of the manifest alone",
    }
}

fn pair(change: &str) -> Result<(&str, &str)> {
    let pair = change.split_once('=').map(|(key, value)| (key.trim(), value.trim()));
    let pair = pair.filter(|(key, value)| !key.is_empty() && !value.is_empty());
    pair.ok_or_else(|| usage(format!("`{change}` is not KEY=VALUE, such as budget=8ms")))
}

fn thread(target: &Target, picture: &Picture, pairs: &[(&str, &str)]) -> Result<Vec<Step>> {
    let Target::Thread { domain, thread, slot } = target else { return Ok(Vec::new()) };
    let name = &domain.name;
    let Some(thread) = thread else {
        return Err(usage(format!("domain {name} has no thread any more")));
    };
    let Some(slot) = *slot else {
        let message = format!(
            "the control domain holds no thread of {name}: it is supervised, or \
                               its own, or a program made it"
        );
        return Err(usage(message));
    };
    let step = |(key, value): &(&str, &str)| {
        if *key != "priority" {
            let hint = if KEYS.contains(key) {
                let known = picture.reservations.iter().any(|one| one.name == *name);
                let it = if known { format!("; reservation:{name} has") } else { String::new() };
                format!("a thread has no `{key}`{it}")
            } else {
                format!("a thread has no `{key}`, only `priority`")
            };
            return Err(usage(hint));
        }
        let priority = whole(key, value, u64::from(u8::MAX))?;
        if priority > domain.max_priority {
            let most = domain.max_priority;
            let message = format!(
                "threads of {name} may have priority {most} at most; \
                                   `max_priority` in the manifest says so"
            );
            return Err(usage(message));
        }
        Ok(Step {
            change: Change::Priority { slot, priority },
            undo: Change::Priority { slot, priority: thread.priority },
            words: format!("{key}={value}"),
        })
    };
    pairs.iter().map(step).collect()
}

fn whole(key: &str, value: &str, most: u64) -> Result<u64> {
    let number = value.parse().ok().filter(|number| *number <= most);
    number.ok_or_else(|| usage(format!("`{key}` is a number from 0 to {most}, not `{value}`")))
}

/// A time, or none.
fn time(key: &str, value: &str, least: u64) -> Result<u64> {
    let time = duration(value).filter(|time| (least..=LONGEST).contains(time));
    time.ok_or_else(|| {
        let least = spell_duration(least);
        usage(format!("`{key}` is a time of {least} or more, such as 10ms, not `{value}`"))
    })
}

/// What is asked of a reservation; the inner none of some stands for `none`.
#[derive(Default)]
struct Asked {
    priority: Option<u16>,
    budget: Option<Option<u64>>,
    period: Option<u64>,
    server: Option<Server>,
    deadline: Option<Option<u64>>,
    curve: Option<Option<Curve>>,
    share: Option<Curve>,
    windows: Option<String>,
    major_frame: Option<u64>,
}

impl Asked {
    fn of(pairs: &[(&str, &str)]) -> Result<Asked> {
        let mut asked = Asked::default();
        for (index, (key, value)) in pairs.iter().enumerate() {
            if pairs[..index].iter().any(|(other, _)| other == key) {
                return Err(usage(format!("`{key}` is given twice")));
            }
            match *key {
                "priority" => {
                    asked.priority = Some(whole(key, value, u64::from(LEVELS) - 1)? as u16);
                }
                "budget" if *value == "none" => asked.budget = Some(None),
                "budget" => asked.budget = Some(Some(time(key, value, LEAST_BUDGET)?)),
                "period" => asked.period = Some(time(key, value, SHORTEST)?),
                "server" => asked.server = Some(server(value)?),
                "deadline" if *value == "none" => asked.deadline = Some(None),
                "deadline" => asked.deadline = Some(Some(time(key, value, SHORTEST)?)),
                "curve" if *value == "none" => asked.curve = Some(None),
                "curve" => asked.curve = Some(Some(curve(key, value)?)),
                "share" => asked.share = Some(curve(key, value)?),
                "windows" => asked.windows = Some((*value).to_string()),
                "major_frame" => asked.major_frame = Some(time(key, value, SHORTEST_WINDOW)?),
                _ => {
                    let (keys, hint) = (KEYS.join(", "), did_you_mean(key, KEYS));
                    return Err(usage(format!("there is no key `{key}`, only {keys}{hint}")));
                }
            }
        }
        Ok(asked)
    }
}

fn server(value: &str) -> Result<Server> {
    let found = Server::ALL.into_iter().find(|server| words::server(*server) == value);
    found.ok_or_else(|| {
        let all = Server::ALL.map(words::server);
        let (names, hint) = (all.join(", "), did_you_mean(value, all));
        usage(format!("there is no server `{value}`, only {names}{hint}"))
    })
}

/// A curve of one slope, or of two with the instant between.
fn curve(key: &str, value: &str) -> Result<Curve> {
    let parts: Vec<&str> = value.split(',').map(str::trim).collect();
    let slope = |text: &str| percent(text).filter(|slope| *slope <= abi::reservation::WHOLE);
    let read = match parts[..] {
        [one] => slope(one).map(Curve::linear),
        [first, bend, rest] => slope(first)
            .zip(slope(rest))
            .zip(duration(bend))
            .map(|((slope, rest), bend)| Curve { slope, bend, rest }),
        _ => None,
    };
    read.filter(|curve| curve.rest > 0 && curve.bend <= LONGEST).ok_or_else(|| {
        usage(format!(
            "`{key}` is a part of the CPU above zero, such as 20%, or one that changes, \
                       such as 60%,10ms,20%; not `{value}`"
        ))
    })
}

/// What messages call the way in which a class chooses.
fn goes_by(one: &Reservation) -> String {
    let class = one.class.as_deref().unwrap_or("its class");
    format!("{class} goes by {}", one.above.map_or("?", words::policy))
}

fn nothing(one: &Reservation, key: &str) -> anyhow::Error {
    usage(format!("`{key}` means nothing for {}: {}", one.name, goes_by(one)))
}

fn share(one: &Reservation, slot: u32, picture: &Picture, asked: &Asked) -> Result<Option<Step>> {
    let Some(old) = one.share else { return Ok(None) };
    let new = match old {
        Share::Priority(_) => asked.priority.map_or(old, Share::Priority),
        Share::Partition { number, priority } => {
            Share::Partition { number, priority: asked.priority.unwrap_or(priority) }
        }
        Share::Curve { guaranteed, share } => {
            let follows = guaranteed == Some(share);
            let guaranteed = asked.curve.unwrap_or(guaranteed);
            let followed = guaranteed.filter(|_| follows).unwrap_or(share);
            Share::Curve { guaranteed, share: asked.share.unwrap_or(followed) }
        }
        Share::Deadline => old,
    };
    let by_priority = matches!(old, Share::Priority(_) | Share::Partition { .. });
    let by_curve = matches!(old, Share::Curve { .. });
    for (key, is_asked, fits) in [
        ("priority", asked.priority.is_some(), by_priority),
        ("curve", asked.curve.is_some(), by_curve),
        ("share", asked.share.is_some(), by_curve),
    ] {
        if is_asked && !fits {
            return Err(nothing(one, key));
        }
    }
    let words = format!(
        "{} = {}",
        one.name,
        words::share(&Reservation { share: Some(new), ..one.clone() })
    );
    // Who goes before whom in a window is the class's: the kernel asks for the right to divide it.
    let divided =
        matches!(new, Share::Partition { .. }).then(|| class_slot(one, picture)).flatten();
    let [change, undo] = [new, old].map(|share| match divided {
        Some(class) => Change::Join { slot, class, share },
        None => Change::Share { slot, share },
    });
    Ok((new != old).then_some(Step { change, undo, words }))
}

/// The slot of the class that it is in.
fn class_slot(one: &Reservation, picture: &Picture) -> Option<u32> {
    let class = picture.reservations.iter().find(|it| Some(&it.name) == one.class.as_ref())?;
    class.slot
}

fn is_by_deadline(one: &Reservation) -> bool {
    one.above == Some(Policy::EarliestDeadline)
}

fn limit(one: &Reservation, slot: u32, asked: &Asked) -> Result<Option<Step>> {
    let old = one.limit;
    let deadline = asked.deadline.unwrap_or(one.timing.map(|timing| timing.deadline));
    let budget = asked.budget.unwrap_or(old.map(|limit| limit.budget));
    let Some(budget) = budget else {
        if asked.server.is_some() {
            return Err(usage(format!(
                "`server` means nothing for {}: it has no budget",
                one.name
            )));
        }
        if asked.budget.is_some() && is_by_deadline(one) && one.timing.is_none() {
            let message =
                format!("without a budget nothing gives {} a deadline: {}", one.name, goes_by(one));
            return Err(usage(message));
        }
        let [change, undo] = [None, old].map(|budget| Change::Budget { slot, budget });
        let words = format!("no budget of {}", one.name);
        return Ok(old.is_some().then_some(Step { change, undo, words }));
    };
    let period = asked.period.or(old.map(|limit| limit.period));
    let Some(period) = period.or(one.timing.map(|timing| timing.period)) else {
        return Err(usage(format!("`period` is missing: how often {} gets its budget", one.name)));
    };
    if budget > period {
        let [budget, period] = [budget, period].map(spell_duration);
        return Err(usage(format!("a budget of {budget} exceeds its period of {period}")));
    }
    let usual = match deadline {
        Some(deadline) if !is_by_deadline(one) || deadline != period => Server::Sporadic,
        _ if is_by_deadline(one) => Server::Constant,
        _ => Server::Periodic,
    };
    let server = asked.server.or(old.map(|limit| limit.server)).unwrap_or(usual);
    if is_by_deadline(one) && keeps_no_deadline(server, period, deadline) {
        let name = words::server(server);
        let message = format!(
            "a {name} server does not keep a deadline of {} in periods of {}: \
                               give deadline={1}, or server=sporadic",
            spell_duration(deadline.unwrap_or(0)),
            spell_duration(period)
        );
        return Err(usage(message));
    }
    let new = Budget { server, budget, period };
    let [change, undo] = [Some(new), old].map(|budget| Change::Budget { slot, budget });
    let [budget, span] = [budget, period].map(spell_duration);
    let words = format!("budget={budget} period={span}");
    Ok((Some(new) != old).then_some(Step { change, undo, words }))
}

/// Of those with two deadlines, the kernel goes by that of the budget.
fn keeps_no_deadline(server: Server, period: u64, deadline: Option<u64>) -> bool {
    match (server, deadline) {
        (Server::Constant | Server::ConstantSoft, Some(deadline)) => deadline != period,
        (Server::Periodic, Some(_)) => true,
        _ => false,
    }
}

fn timing(one: &Reservation, slot: u32, asked: &Asked) -> Result<Option<Step>> {
    let old = one.timing;
    let deadline = asked.deadline.unwrap_or(old.map(|timing| timing.deadline));
    let limit = asked.budget.unwrap_or(one.limit.map(|limit| limit.budget));
    if deadline.is_none() && limit.is_none() && asked.period.is_some() {
        let message =
            format!("`period` means nothing for {}: it has neither budget nor deadline", one.name);
        return Err(usage(message));
    }
    if asked.deadline.is_some() && one.policy.is_some() {
        return Err(usage(format!(
            "`deadline` means nothing for {}: a class has no jobs",
            one.name
        )));
    }
    let period = asked.period.or(old.map(|timing| timing.period));
    let period = period.or(one.limit.map(|limit| limit.period));
    let new = match (deadline, period) {
        (None, _) => None,
        (Some(deadline), Some(period)) => Some(Timing { deadline, period }),
        (Some(_), None) => {
            let message = format!("`period` is missing: how often jobs of {} come", one.name);
            return Err(usage(message));
        }
    };
    if new.is_none() && old.is_some() && is_by_deadline(one) && limit.is_none() {
        return Err(usage(format!(
            "without its deadline nothing gives {} one: {}",
            one.name,
            goes_by(one)
        )));
    }
    let [change, undo] = [new, old].map(|timing| Change::Timing { slot, timing });
    let words = new.map_or("deadline=none".to_string(), |timing| {
        format!("deadline={}", spell_duration(timing.deadline))
    });
    Ok((new != old).then_some(Step { change, undo, words }))
}

/// What can be set of a reservation, as it is now.
pub fn settings(one: &Reservation, picture: &Picture) -> Vec<(&'static str, String)> {
    let spelled = |curve: Curve| {
        let [slope, rest] = [curve.slope, curve.rest].map(|slope| spell_percent(slope.into()));
        let bend = spell_duration(curve.bend);
        if curve.bend == 0 { rest } else { format!("{slope},{bend},{rest}") }
    };
    let mut settings = match one.share {
        Some(Share::Priority(priority) | Share::Partition { priority, .. }) => {
            vec![("priority", priority.to_string())]
        }
        Some(Share::Curve { guaranteed, share }) => vec![
            ("curve", guaranteed.map_or("none".to_string(), spelled)),
            ("share", spelled(share)),
        ],
        Some(Share::Deadline) | None => Vec::new(),
    };
    if let Some(Budget { server, budget, period }) = one.limit {
        settings.push(("budget", spell_duration(budget)));
        settings.push(("period", spell_duration(period)));
        settings.push(("server", words::server(server).to_string()));
    }
    if let Some(Timing { deadline, period }) = one.timing {
        settings.push(("deadline", spell_duration(deadline)));
        if one.limit.is_none() {
            settings.push(("period", spell_duration(period)));
        }
    }
    settings.extend(windows::settings(one, picture));
    settings
}
