//! Reservations in the manifest's words, and as JSON.

use crate::live::{Picture, Reservation};
use abi::reservation::{Budget, Policy, Server, Share};
use manifest::{spell_curve, spell_duration};
use serde_json::{Value, json};

/// What it is among its siblings, in short.
pub fn share(one: &Reservation) -> String {
    match one.share {
        None => String::new(),
        Some(Share::Priority(priority)) => format!("prio {priority}"),
        Some(Share::Deadline) => {
            let own = one.limit.map(|limit| limit.period);
            let due = one.timing.map(|timing| timing.deadline).or(own);
            due.map_or("deadline".to_string(), |due| format!("due {}", spell_duration(due)))
        }
        Some(Share::Curve { guaranteed: None, share }) => format!("share {}", spell_curve(share)),
        Some(Share::Curve { guaranteed: Some(own), .. }) => spell_curve(own),
        Some(Share::Partition { number: 0, .. }) => "background".to_string(),
        Some(Share::Partition { number, .. }) => format!("partition {number}"),
    }
}

/// What it may use at most, in short; a dash without a limit.
pub fn limit(one: &Reservation) -> String {
    let spelled = |limit: Budget| {
        format!("{}/{}", spell_duration(limit.budget), spell_duration(limit.period))
    };
    one.limit.map_or("-".to_string(), spelled)
}

/// How manifests call a policy.
pub fn policy(policy: Policy) -> &'static str {
    match policy {
        Policy::FixedPriority => "priorities",
        Policy::EarliestDeadline => "edf",
        Policy::ServiceCurves => "curves",
        Policy::Partitions => "partitions",
    }
}

/// How manifests call a server.
pub fn server(server: Server) -> &'static str {
    match server {
        Server::Periodic => "periodic",
        Server::Constant => "constant",
        Server::ConstantSoft => "constant-soft",
        Server::Sporadic => "sporadic",
    }
}

/// A part of a whole in percent, with one digit behind the point.
pub fn percent(part: u64, whole: u64) -> f64 {
    (1000.0 * part as f64 / whole.max(1) as f64).round() / 10.0
}

/// A reservation as JSON.
pub fn document(one: &Reservation) -> Value {
    let priority = match one.share {
        Some(Share::Priority(priority) | Share::Partition { priority, .. }) => Some(priority),
        _ => None,
    };
    json!({
        "name": one.name,
        "in": one.class,
        "policy": one.policy.map(policy),
        "share": share(one),
        "priority": priority,
        "server": one.limit.map(|limit| server(limit.server)),
        "budget_ns": one.limit.map(|limit| limit.budget),
        "period_ns": one.limit.map(|limit| limit.period),
        "deadline_ns": one.timing.map(|timing| timing.deadline),
        "separation_ns": one.timing.map(|timing| timing.period),
        "windows": one.windows.iter().map(|window| json!({
            "end_ns": window.end, "partition": window.partition,
        })).collect::<Vec<_>>(),
        "throttled": one.throttled,
        "service_ns": one.service,
        "overruns": one.overruns,
        "jobs": one.jobs,
        "missed": one.missed,
        "worst_ns": one.worst,
        "overrun": one.reactions[0],
        "miss": one.reactions[1],
    })
}

/// A line about the whole.
pub fn headline(picture: &Picture) -> String {
    let Picture { system, pid, kernel, now, cpus, .. } = picture;
    let cpus = if *cpus > 1 { format!(", {cpus} CPUs") } else { String::new() };
    let seconds = *now as f64 / 1e9;
    format!("{system} (pid {pid}), kernel {kernel}{cpus}, up {seconds:.1} s")
}
