//! The system that is fuzzed under the kernel `tree`: the same one with reservations.

use super::SYSTEM;
use crate::systems;
use anyhow::{Context, Result};
use manifest::System;
use toml::{Table, Value};

/// Reservations on a CPU and such as all CPUs share, and who may use them in which way.
const TREE: &str = r#"
# Threads without a reservation come before and behind what all CPUs share.
shared_priority = 60
reservation = [
    { name = "group", in = "cpus", policy = "fixed-priority", budget = "400us", period = "1ms" },
    { name = "anywhere", in = "cpus", budget = "300us", period = "1ms" },
    { name = "grouped", in = "group", priority = 3 },
    { name = "deadlines", policy = "edf", priority = 90 },
    { name = "due", in = "deadlines", budget = "200us", period = "1ms" },
]
caps = [
    { name = "cpus", reservation = "cpus", rights = ["divide", "copy"] },
    { name = "root", reservation = "cpu0", rights = ["divide", "copy"] },
    { name = "group", reservation = "group", rights = ["control", "divide", "reserve"] },
    { name = "deadlines", reservation = "deadlines" },
    { name = "anywhere", reservation = "anywhere" },
    { name = "due", reservation = "due", rights = ["control", "reserve"] },
]
"#;

/// The same on the second CPU alone.
#[cfg(test)]
pub const SECOND: &str = r#"
reservation = [
    { name = "group", cpu = 1, priority = 65, policy = "fixed-priority" },
    { name = "anywhere", cpu = 1, priority = 60, budget = "300us", period = "1ms" },
    { name = "grouped", in = "group", priority = 3 },
    { name = "deadlines", cpu = 1, policy = "edf", priority = 90 },
    { name = "due", in = "deadlines", budget = "200us", period = "1ms" },
]
caps = [
    { name = "root", reservation = "cpu1", rights = ["divide", "copy"] },
    { name = "group", reservation = "group", rights = ["control", "divide", "reserve"] },
    { name = "deadlines", reservation = "deadlines" },
    { name = "anywhere", reservation = "anywhere" },
    { name = "due", reservation = "due", rights = ["control", "reserve"] },
]
"#;

/// Who runs on what from the beginning: the first domains of the system.
const USED: [&str; 3] = ["anywhere", "grouped", "due"];
/// Reservations that each domain may make.
const QUOTA: i64 = 3;

/// The system on so many CPUs, of which the manifest is kept.
pub fn system(cpus: u32) -> Result<System> {
    with(TREE, 0, cpus)
}

/// The system with such reservations, those of a CPU being of this one.
pub fn with(tree: &str, cpu: u32, cpus: u32) -> Result<System> {
    let text = std::fs::read_to_string(systems::path(SYSTEM)?)?;
    let mut all: Table = toml::from_str(&text)?;
    let mut tree: Table = toml::from_str(tree)?;
    let caps = tree.remove("caps").and_then(|caps| caps.as_array().cloned());
    let caps = caps.context("they are there")?;
    let general = table(all.get_mut("system"))?;
    general.insert("cpus".to_string(), Value::Integer(cpus.into()));
    if let Some(priority) = tree.remove("shared_priority") {
        general.insert("shared_priority".to_string(), priority);
    }
    let domains = all.get_mut("domain").and_then(Value::as_array_mut).context("it has domains")?;
    for (nth, domain) in domains.iter_mut().enumerate() {
        let domain = table(Some(domain))?;
        if domain.get("program").and_then(Value::as_str) != Some(SYSTEM) {
            continue;
        }
        let own = domain.get_mut("caps").and_then(Value::as_array_mut);
        own.context("it has capabilities")?.extend(caps.iter().cloned());
        let quota = table(domain.get_mut("quota"))?;
        quota.insert("reservations".to_string(), Value::Integer(QUOTA));
        if let Some(used) = USED.get(nth) {
            domain.insert("reservation".to_string(), Value::String((*used).to_string()));
            domain.insert("cpu".to_string(), Value::Integer(cpu.into()));
        }
    }
    all.extend(tree);
    Ok(manifest::parse(SYSTEM, &toml::to_string(&all)?)?)
}

fn table(value: Option<&mut Value>) -> Result<&mut Table> {
    value.and_then(Value::as_table_mut).context("it is a table")
}
