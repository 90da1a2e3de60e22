//! How often each cost of the kernel is counted in a task's bound: for the jobs that come before
//! its end in its class and in classes without a budget around it, its own among them, and for all
//! timer interrupts of its CPU, in a time as long as the bound. What servers around it pay is in
//! when they have their budgets.

use super::blocking;
use super::decided::{bound, name};
use super::shared::OnCpu;
use super::tree::below_root;
use crate::commands::{spaced, table};
use abi::boot::ALL_CPUS;
use analysis::tree::{Child, Class, Entity, LeafReport, Report, interrupts};
use analysis::{Overheads, Task, Time, time};
use manifest::System;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// The costs with how often each is counted, by the paths of tasks; of none if nothing costs
/// anything, or CPUs share a class.
pub struct Counted {
    overheads: Overheads,
    tasks: BTreeMap<String, Times>,
}

/// How often a job is released, a thread switched to, and a timer's interrupt served.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Times {
    pub(super) releases: u128,
    pub(super) switches: u128,
    pub(super) interrupts: u128,
}

impl Times {
    fn and(self, other: Times) -> Times {
        Times {
            releases: self.releases + other.releases,
            switches: self.switches + other.switches,
            interrupts: self.interrupts + other.interrupts,
        }
    }

    /// So many jobs, each with this many switches for waiting.
    fn jobs(jobs: u128, waits: Time) -> Times {
        let switches = jobs.saturating_mul(2 * (1 + u128::from(waits)));
        Times { releases: jobs, switches, interrupts: 0 }
    }
}

impl Counted {
    /// Of each task that has a bound.
    pub fn of(system: &System, overheads: Overheads, cpus: &[OnCpu]) -> Counted {
        let mut tasks = BTreeMap::new();
        let are_apart = cpus.iter().all(|on| on.cpu != ALL_CPUS);
        for on in cpus.iter().filter(|_| are_apart && overheads != Overheads::default()) {
            let class = Class::FixedPriority(below_root(system, on.cpu));
            let waits = blocking::waits(system);
            for leaf in &on.report.leaves {
                let (Some(length), _) = bound(leaf) else { continue };
                let path: Vec<&str> = leaf.path.split('/').skip(1).collect();
                let Some(times) = (Within { length, waits: &waits }).before(&class, &path) else {
                    continue;
                };
                let interrupts = all_interrupts(&class, length);
                tasks.insert(leaf.path.clone(), Times { interrupts, ..times });
            }
        }
        Counted { overheads, tasks }
    }

    /// Each cost with its times.
    fn rows(&self, path: &str) -> Option<[(&'static str, Time, u128); 3]> {
        let Overheads { release, context_switch, timer_interrupt } = self.overheads;
        let Times { releases, switches, interrupts } = *self.tasks.get(path)?;
        Some([
            ("release", release, releases),
            ("context switch", context_switch, switches),
            ("timer interrupt", timer_interrupt, interrupts),
        ])
    }

    /// A table for a CPU; empty if nothing is counted.
    pub fn text(&self, report: &Report) -> String {
        let mut rows = table(&["counted for", "release", "context switch", "timer interrupt"]);
        for leaf in &report.leaves {
            let Some(costs) = self.rows(&leaf.path) else { continue };
            let [release, switch, interrupt] =
                costs.map(|(_, cost, times)| format!("{} x {times}", time(cost)));
            rows.add_row([name(&leaf.path).to_string(), release, switch, interrupt]);
        }
        spaced(rows)
    }

    /// What is counted for a task, for programs.
    pub fn document(&self, leaf: &LeafReport) -> Value {
        let cost = |(cost, each, times): (&str, Time, u128)| {
            let times = u64::try_from(times).ok();
            json!({"cost": cost, "each_ns": each, "times": times})
        };
        let rows = self.rows(&leaf.path);
        json!(rows.map_or(Vec::new(), |rows| rows.map(cost).to_vec()))
    }
}

/// A time, in which jobs are counted.
struct Within<'a> {
    length: Time,
    waits: &'a BTreeMap<String, Time>,
}

impl Within<'_> {
    /// What comes before the end of a job in a class, and the job.
    fn before(&self, class: &Class, path: &[&str]) -> Option<Times> {
        let (first, rest) = path.split_first()?;
        let (entities, by_priority) = match class {
            Class::FixedPriority(entities) => (entities, true),
            Class::Edf(entities) => (entities, false),
            Class::GlobalEdf { .. } => return None,
            Class::ServiceCurves { .. } | Class::Windows { .. } => {
                let mut children = class.children().into_iter().filter(|(name, _)| name == first);
                return children.find_map(|(_, child)| match (child, child.class()) {
                    (Child::Task(task), _) if rest.is_empty() => Some(self.of_task(task)),
                    (_, inside) => self.before(inside?, rest),
                });
            }
        };
        entities.iter().enumerate().filter(|(_, it)| it.name() == *first).find_map(|(at, own)| {
            let inside = match own {
                Entity::Task(task) if rest.is_empty() => self.of_task(task),
                Entity::Class(plain) => self.before(&plain.class, rest)?,
                Entity::Server(server) => return self.before(&server.class, rest),
                Entity::Task(_) | Entity::Open(_) => return None,
            };
            let is_first = |other: &Entity| !by_priority || other.priority() >= own.priority();
            let others = entities.iter().enumerate().filter(|(other, _)| *other != at);
            let others = others.map(|(_, other)| other).filter(|other| is_first(other));
            Some(others.map(|other| self.of_entity(other)).fold(inside, Times::and))
        })
    }

    fn of_task(&self, task: &Task) -> Times {
        let jobs = times(self.length, task.jitter, task.period);
        Times::jobs(jobs, self.waits.get(&task.name).copied().unwrap_or(0))
    }

    fn of_entity(&self, entity: &Entity) -> Times {
        match entity {
            Entity::Task(task) => self.of_task(task),
            Entity::Server(server) => {
                let periods = times(self.length, 0, server.period);
                Times::jobs(periods * u128::from(server.activations()), 0)
            }
            Entity::Class(plain) => self.of_class(&plain.class),
            Entity::Open(_) => Times::default(),
        }
    }

    fn of_class(&self, class: &Class) -> Times {
        let each = class.children().into_iter().map(|(_, child)| match child {
            Child::Task(task) => self.of_task(task),
            Child::Server(server) => self.of_entity(&Entity::Server(server.clone())),
            Child::Class(class) => self.of_class(class),
            Child::Open => Times::default(),
        });
        each.fold(Times::default(), Times::and)
    }
}

/// How often something comes in a time, at most.
fn times(length: Time, jitter: Time, period: Time) -> u128 {
    (u128::from(length) + u128::from(jitter)).div_ceil(u128::from(period.max(1)))
}

/// The timer interrupts of all in a class.
fn all_interrupts(class: &Class, length: Time) -> u128 {
    let one = Overheads { timer_interrupt: 1, ..Overheads::default() };
    let mut streams = Vec::new();
    interrupts(class, &one, &mut streams);
    let each = streams.iter();
    each.map(|one| times(length, one.jitter, one.period) * u128::from(one.cost)).sum()
}

#[cfg(test)]
mod tests {
    use crate::commands::check::decided::decide;
    use analysis::{Overheads, Random};
    use serde_json::Value;

    /// Of jobs that end within their periods, what is counted is the bound: executions, what
    /// blocks, and each cost so often as is said.
    #[test]
    fn what_is_counted_is_the_bound() {
        let mut random = Random::of(7);
        let mut compared = 0;
        for _ in 0..40 {
            let mut text = "[system]\nname = \"a\"\n[[mutex]]\nname = \"lock\"\n\
                [[domain]]\nname = \"d\"\nprogram = \"busy\"\npriority = 200\nthreads = 4\n"
                .to_string();
            let mut tasks = Vec::new();
            for task in 0..4u64 {
                let period = 1_000 * (2 + task * 3 + random.below(9));
                let execution = 20 + random.below(period / 5);
                let locks = match random.below(2) {
                    0 => "",
                    _ => "sections = [{ mutex = \"lock\", length = \"7us\" }]\n",
                };
                text += &format!(
                    "[[domain.task]]\nname = \"t{task}\"\npriority = {}\n\
                     execution = \"{execution}us\"\nperiod = \"{period}us\"\n{locks}",
                    100 - 10 * (task / 2 * 2)
                );
                tasks.push((execution * 1_000, period * 1_000, task / 2));
            }
            let system = manifest::parse("a.toml", &text).unwrap_or_else(|wrong| panic!("{wrong}"));
            let cost = |random: &mut Random| random.below(3_000);
            let (release, context_switch) = (cost(&mut random), cost(&mut random));
            let overheads = Overheads { release, context_switch, timer_interrupt: 1_500 };
            let document = decide(&system, overheads).expect("there are tasks").document();
            for task in document["cpus"][0]["tasks"].as_array().expect("tasks") {
                let number = |value: &Value| value.as_u64().expect("a number");
                let at: usize = task["name"].as_str().and_then(|it| it[1..].parse().ok()).unwrap();
                let Some(bound) = task["bound_ns"].as_u64() else { continue };
                if bound > tasks[at].1 {
                    continue;
                }
                let costs = task["overheads"].as_array().expect("costs are counted").iter();
                let kernel: u64 =
                    costs.map(|it| number(&it["each_ns"]) * number(&it["times"])).sum();
                let before = tasks.iter().filter(|(.., group)| *group <= tasks[at].2);
                let work: u64 = before.map(|(own, period, _)| bound.div_ceil(*period) * own).sum();
                assert_eq!(bound, work + number(&task["blocking_ns"]) + kernel, "{text}{task}");
                compared += 1;
            }
        }
        assert!(compared > 60, "{compared}");
    }
}
