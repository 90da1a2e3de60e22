//! Why a task does not fit, what would, and what is to blame.

use super::blocking::{self, Delay};
use super::decided::name;
use super::room;
use analysis::tree::{LeafReport, Report, ServerReport};
use analysis::{Verdict, time};
use manifest::spell_duration;

/// The path or name of what is to blame that a task does not fit: what nothing limits, a budget for
/// which another would fit, or the task.
pub fn blamed<'a>(report: &'a Report, leaf: &'a LeafReport) -> &'a str {
    match &leaf.verdict {
        Verdict::Unlimited { by } => by,
        Verdict::NoSupply { of } => match server(report, of).map(|server| &server.verdict) {
            Some(Verdict::Unlimited { by }) => by,
            _ => of,
        },
        _ => advised(report, leaf).next().map_or(&leaf.path, |(server, _)| &server.path),
    }
}

fn server<'a>(report: &'a Report, path: &str) -> Option<&'a ServerReport> {
    report.servers.iter().find(|server| server.path == path)
}

/// Why it does not fit, and what would.
pub fn reason(report: &Report, leaf: &LeafReport, delays: &[Delay]) -> String {
    let task = name(&leaf.path);
    let why = match &leaf.verdict {
        Verdict::Fits { .. } | Verdict::NotAsked => String::new(),
        Verdict::Late { bound, excess } => {
            let [bound, deadline, by, has] =
                [*bound, leaf.deadline, excess.instant, excess.supply].map(time);
            let demand = time(u64::try_from(excess.demand).unwrap_or(u64::MAX));
            format!(
                "`{task}` can take {bound}, and has {deadline}: within {by}, {demand} of work come \
                 before its end, and {has} of CPU time are sure."
            )
        }
        Verdict::Exceeded(excess) => {
            let [by, has] = [excess.instant, excess.supply].map(time);
            let demand = time(u64::try_from(excess.demand).unwrap_or(u64::MAX));
            format!(
                "`{task}` can be late: within {by}, {demand} of work can be due, and {has} of CPU \
                 time are sure."
            )
        }
        Verdict::Unbounded => format!(
            "`{task}` falls behind without end: what comes before it, and its own jobs, are more \
             work than there is CPU time in the long run."
        ),
        Verdict::Unlimited { by } => unlimited(task, by),
        Verdict::Unprotected { why } => format!("`{task}` has no bound: {why}"),
        Verdict::Short { .. } => room::reason(task, &leaf.verdict),
        Verdict::NoGuarantee => {
            format!("`{task}` runs when others leave time: nothing is guaranteed to it.")
        }
        Verdict::NoSupply { of } => no_supply(report, task, of),
        Verdict::Unknown(error) => format!("`{task}` is not decided: {error}."),
    };
    let shared = blocking::of(delays, task).map_or(String::new(), Delay::reason);
    why + &shared + &advice(report, leaf)
}

fn unlimited(task: &str, by: &str) -> String {
    format!(
        "`{by}` is as urgent as `{task}` or more, and nothing limits it: give it a `budget`, or \
         `execution` and `period`, or a lower `priority`."
    )
}

/// Why what is above a task has no CPU time for sure.
fn no_supply(report: &Report, task: &str, of: &str) -> String {
    if let Some(server) = server(report, of) {
        return match &server.verdict {
            Verdict::Unlimited { by } => unlimited(name(of), by),
            verdict => format!(
                "`{task}` has no CPU time for sure: the budget of `{}`, {} in {}, is {verdict}.",
                name(of),
                time(server.budget),
                time(server.period)
            ),
        };
    }
    let above = of.rsplit_once('/').map_or(of, |(above, _)| above);
    let classes = report.classes.iter().filter(|class| class.path == above || class.path == of);
    // The outermost that does not fit: one that fits is no reason.
    let class = classes.min_by_key(|class| class.fits);
    let why = class.map_or("", |class| class.reason.as_str());
    format!("`{task}` has no CPU time for sure: {why}.")
}

/// What would fit instead.
fn advice(report: &Report, leaf: &LeafReport) -> String {
    let mut advice = String::new();
    for (server, nearest) in advised(report, leaf) {
        let (name, nearest) = (name(&server.path), spell_duration(nearest));
        advice += &format!(" It fits with `budget = \"{nearest}\"` for `{name}`.");
    }
    let shorter = leaf.largest_execution.map(|longest| longest / 1_000 * 1_000);
    if let Some(shorter) = shorter.filter(|shorter| *shorter > 0) {
        advice += &format!(" It fits with jobs of {} at most.", spell_duration(shorter));
    }
    advice
}

/// The servers around a task that have another budget than would fit, with that.
fn advised<'a>(
    report: &'a Report,
    leaf: &'a LeafReport,
) -> impl Iterator<Item = (&'a ServerReport, u64)> {
    let above = |server: &&ServerReport| leaf.path.starts_with(&format!("{}/", server.path));
    report.servers.iter().filter(above).filter_map(|server| {
        Some((server, server.nearest.filter(|nearest| *nearest != server.budget)?))
    })
}
