//! Each CPU with what is right below its root, and the class that all CPUs share.
//!
//! The shared class is decided first: what is more urgent on a CPU comes before it, wherever it
//! runs. Then each CPU is decided, on which anything of the shared class may run at any time.

use super::blocking::{self, Delay};
use super::tree::{below_root, limit, loads, shared_class};
use super::{lent, room};
use abi::boot::ALL_CPUS;
use abi::reservation::Policy;
use analysis::tree::{Class, Entity, LeafReport, Open, Report, Tree, demand, interrupts};
use analysis::{Overheads, Stream, Verdict};
use manifest::{Reservation, System};
use std::collections::BTreeSet;

/// What messages call the shared class.
const NAME: &str = "cpus";

/// The CPUs on which there is something to decide, [`ALL_CPUS`] among them if they share something.
fn cpus(system: &System) -> BTreeSet<u32> {
    let loads = system.domains.iter().filter(|domain| loads(domain).next().is_some());
    let used = system.reservations.iter().map(|reservation| reservation.cpu);
    loads.map(|domain| domain.cpu).chain(used).collect()
}

/// What is said of a CPU.
pub struct OnCpu {
    /// Its number, or [`ALL_CPUS`].
    pub cpu: u32,
    /// What fits there.
    pub report: Report,
    /// How long its tasks delay each other by what they share.
    pub delays: Vec<Delay>,
}

/// What is said of each CPU on which there is something to decide, and of [`ALL_CPUS`].
pub fn reports(system: &System, overheads: Overheads) -> Vec<OnCpu> {
    let mut all = decided(system, overheads);
    for OnCpu { cpu, report, .. } in &mut all {
        jobs_may_overlap(system, report);
        lent::ask(system, *cpu, report);
        room::ask(system, &overheads, *cpu, report);
        // A budget without room takes the bounds of those that share with it.
        lent::ask(system, *cpu, report);
    }
    all
}

/// What overlapping jobs of a leaf delay is not what was analysed, unless they are those of a leaf
/// without a limit, by priorities or deadlines, on one CPU: then nothing beside it has a bound.
fn jobs_may_overlap(system: &System, report: &mut Report) {
    let why = |leaf: &LeafReport| {
        let name = leaf.path.rsplit('/').next().unwrap_or(&leaf.path);
        let node = system.reservations.iter().find(|node| node.name == name)?;
        node.timing.filter(|timing| timing.deadline > timing.period)?;
        let why = overlapping(system, node)?;
        Some(format!(
            "the deadline of `{name}` is beyond its period, and {why}. Give it a `deadline` of its \
             `period` at most."
        ))
    };
    let Some(why) = report.leaves.iter().find_map(why) else { return };
    for leaf in report.leaves.iter_mut().filter(|leaf| leaf.verdict.fits()) {
        leaf.verdict = Verdict::Unprotected { why: why.clone() };
        leaf.largest_execution = None;
        report.classes[0].fits = false;
    }
}

/// Why jobs of a leaf that overlap have no bound, if they have none.
fn overlapping(system: &System, leaf: &Reservation) -> Option<&'static str> {
    let ordered = [Policy::FixedPriority, Policy::EarliestDeadline];
    let policy =
        leaf.class.map_or(Some(Policy::FixedPriority), |at| system.reservations[at].policy);
    if limit(leaf).is_some() {
        Some("its budget of a period may go unused while earlier deadlines go first")
    } else if leaf.cpu == ALL_CPUS || !policy.is_some_and(|policy| ordered.contains(&policy)) {
        Some("no analysis of its class knows jobs that overlap")
    } else {
        None
    }
}

fn decided(system: &System, overheads: Overheads) -> Vec<OnCpu> {
    let mut cpus = cpus(system);
    if !cpus.remove(&ALL_CPUS) {
        let alone = |cpu| of_cpu(system, overheads, cpu, None);
        return cpus.into_iter().map(alone).collect();
    }
    let class = shared_class(system);
    let mut before = Vec::new();
    interrupts_of_all(system, &overheads, &mut before);
    for entity in more_urgent(system) {
        // What nothing limits takes a CPU for ever.
        let all = vec![Stream { cost: u64::MAX, period: u64::MAX, jitter: 0 }];
        before.extend(demand(&Class::FixedPriority(vec![entity]), &overheads).unwrap_or(all));
    }
    let tree = Tree { overheads, interference: before, ..Tree::new(NAME, class.clone()) };
    let report = analysis::analyse(&tree);
    let uses = report.fits().then(|| demand(&class, &overheads)).flatten();
    let (name, priority) = (NAME.to_string(), system.shared_priority.into());
    let shared = Open { name, priority, demand: uses };
    let of_cpu = |cpu| of_cpu(system, overheads, cpu, Some((&class, &shared)));
    let of_all = OnCpu { cpu: ALL_CPUS, report, delays: Vec::new() };
    cpus.into_iter().map(of_cpu).chain([of_all]).collect()
}

/// What on any CPU comes before the shared class and may take all of that CPU.
pub fn without_limit(system: &System) -> Vec<String> {
    if !cpus(system).contains(&ALL_CPUS) {
        return Vec::new();
    }
    let none = Overheads::default();
    let urgent = more_urgent(system).into_iter();
    let unlimited = urgent
        .filter(|entity| demand(&Class::FixedPriority(vec![entity.clone()]), &none).is_none());
    unlimited.map(|entity| entity.name().to_string()).collect()
}

/// What on any CPU comes before the shared class, which goes first of equals.
fn more_urgent(system: &System) -> Vec<Entity> {
    let all = (0..system.cpus).flat_map(|cpu| below_root(system, cpu));
    all.filter(|entity| entity.priority() > system.shared_priority.into()).collect()
}

/// The timer interrupts of what runs on one CPU alone.
fn interrupts_of_all(system: &System, overheads: &Overheads, into: &mut Vec<Stream>) {
    for cpu in 0..system.cpus {
        interrupts(&Class::FixedPriority(below_root(system, cpu)), overheads, into);
    }
}

/// What is said of one CPU, beside which something is shared.
fn of_cpu(
    system: &System,
    overheads: Overheads,
    cpu: u32,
    shared: Option<(&Class, &Open)>,
) -> OnCpu {
    let mut below = below_root(system, cpu);
    let mut interference = Vec::new();
    if let Some((class, shared)) = shared {
        below.push(Entity::Open(shared.clone()));
        interrupts(class, &overheads, &mut interference);
    }
    let name = format!("cpu{cpu}");
    let mut class = Class::FixedPriority(below);
    lent::inflate(system, &overheads, &mut class);
    let tree = Tree::new(&name, class);
    let tree = Tree { overheads, interference, ..tree };
    let (report, delays) = blocking::analyse(system, cpu, tree);
    OnCpu { cpu, report, delays }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// More urgent than what all CPUs share: a class of a leaf, with a budget and without.
    #[test]
    fn a_budget_is_a_limit_in_each_class() {
        let classes = [
            ("fixed-priority", "priority = 1\n", ""),
            ("service-curves", "curve = \"30%\"\n", ""),
            ("partitions", "background = true\n", "major_frame = \"10ms\"\n"),
        ];
        for (policy, leaf, class) in classes {
            for (budget, named) in [("budget = \"1ms\"\nperiod = \"10ms\"\n", 0), ("", 1)] {
                let text = format!(
                    "[system]\nname = \"a\"\ncpus = 2\nshared_priority = 300\n\
                     [[reservation]]\nname = \"class\"\npolicy = \"{policy}\"\n{class}\
                     priority = 302\n[[reservation]]\nname = \"leaf\"\nin = \"class\"\n\
                     {leaf}{budget}\
                     [[reservation]]\nname = \"all\"\nin = \"cpus\"\nbudget = \"1ms\"\n\
                     period = \"10ms\"\n[[domain]]\nname = \"a\"\nprogram = \"busy\"\n\
                     priority = 1\nreservation = \"leaf\"\n"
                );
                let system = manifest::parse("a.toml", &text);
                let system = system.unwrap_or_else(|wrong| panic!("{wrong}\n{text}"));
                assert_eq!(without_limit(&system).len(), named, "{text}");
            }
        }
    }
}
