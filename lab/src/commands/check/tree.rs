//! A system's reservations as the tree that is analysed.

use super::blocking;
use abi::boot::ALL_CPUS;
use abi::reservation::{Budget, Curve, Policy, Server as Kind, Share};
use analysis::tree::{Class, Entity, Inside, Open, Partition, Plain, Server, ServerKind, Shared};
use analysis::{Granularity, ServiceCurve, Task, Window};
use manifest::{Domain, Load, Reservation, System};

/// How long a node of a class of service curves runs at least before another one gets its turn, and
/// how late one can be served for that: the kernel's quantum.
pub const QUANTUM: u64 = 1_000_000;

/// What the name of a domain without a reservation begins with in messages.
const DOMAIN: &str = "domain ";

/// Whether there is something to decide: reservations, or domains whose jobs are known.
pub fn is_decidable(system: &System) -> bool {
    let has_jobs = |domain: &Domain| loads(domain).next().is_some();
    !system.reservations.is_empty() || system.domains.iter().any(has_jobs)
}

/// What is right below the root of a CPU, and the threads that have no reservation.
pub fn below_root(system: &System, cpu: u32) -> Vec<Entity> {
    let reservations = system.reservations_in(None, cpu);
    let own = reservations.into_iter().map(|index| entity(system, index));
    let without =
        |(_, domain): &(usize, &Domain)| domain.reservation.is_none() && domain.cpu == cpu;
    let domains = system.domains.iter().enumerate().filter(without);
    own.chain(domains.flat_map(|(index, _)| threads(system, index))).collect()
}

/// The class that all CPUs share. What has no limit in it is behind all that has one.
pub fn shared_class(system: &System) -> Class {
    let all = system.reservations_in(None, ALL_CPUS).into_iter();
    let (limited, others): (Vec<usize>, Vec<usize>) =
        all.partition(|index| limit(&system.reservations[*index]).is_some());
    let behind = others.iter().filter_map(|index| jobs(system, &system.reservations[*index]));
    Class::GlobalEdf {
        cpus: system.cpus,
        children: limited.iter().map(|index| entity(system, *index)).collect(),
        behind: behind.collect(),
    }
}

/// The threads of a domain that has no reservation.
fn threads(system: &System, index: usize) -> Vec<Entity> {
    let domain = &system.domains[index];
    let tasks = loads(domain).map(|(name, priority, load)| {
        let task = Task::new(&name, load.execution, load.period).deadline(load.deadline);
        Entity::Task(task.priority(priority.into()))
    });
    let tasks: Vec<Entity> = tasks.collect();
    if !tasks.is_empty() || !domain.tasks.is_empty() {
        return tasks;
    }
    let (name, priority) = (format!("{DOMAIN}{}", domain.name), domain.max_priority.into());
    // What a server does for callers is part of their jobs.
    let demand = blocking::only_serves(system, index).then(Vec::new);
    vec![Entity::Open(Open { name, priority, demand })]
}

/// What messages call the jobs of a domain without a reservation, with their priorities.
pub fn loads(domain: &Domain) -> impl Iterator<Item = (String, u8, Load)> {
    let own = domain.load.map(|load| (format!("{DOMAIN}{}", domain.name), domain.priority, load));
    let tasks = domain.tasks.iter().filter(|task| task.reservation.is_none());
    let tasks = tasks.map(|task| (task.name.clone(), task.priority, task.load));
    own.into_iter().chain(tasks)
}

/// A budget that is a limit.
pub fn limit(node: &Reservation) -> Option<Budget> {
    node.limit.filter(|limit| limit.budget < limit.period)
}

/// The task whose thread alone runs on a leaf, if the manifest has it.
pub fn task_on<'a>(system: &'a System, leaf: &Reservation) -> Option<&'a manifest::Task> {
    let is_here = |at: usize| std::ptr::eq(&raw const system.reservations[at], leaf);
    let mut tasks = system.domains.iter().flat_map(|domain| &domain.tasks);
    tasks.find(|task| task.reservation.is_some_and(is_here))
}

/// The longest execution time of the jobs of a leaf, if that is given.
fn execution(system: &System, leaf: &Reservation) -> Option<u64> {
    leaf.execution.or(task_on(system, leaf).map(|task| task.load.execution))
}

/// The jobs of a leaf, if it has any and it is known how long they take.
pub fn jobs(system: &System, node: &Reservation) -> Option<Task> {
    let (limit, given) = (limit(node), execution(system, node));
    let load = task_on(system, node).map(|task| task.load);
    let asked = node.timing.is_some() || given.is_some();
    let execution = given.or(limit.map(|limit| limit.budget)).filter(|_| asked)?;
    let period = node.timing.map(|timing| timing.period).or(load.map(|load| load.period));
    let period = period.or(node.limit.map(|limit| limit.period))?;
    let deadline = node.timing.map(|timing| timing.deadline).or(load.map(|load| load.deadline));
    let deadline = deadline.unwrap_or(period);
    let task = Task::new(&node.name, execution, period).deadline(deadline);
    Some(match limit {
        Some(limit) => task.limit(limit.budget),
        None => task,
    })
}

/// Whether a leaf's jobs have a deadline, and nothing says how long they take.
pub fn is_unknown(system: &System, node: &Reservation) -> bool {
    node.timing.is_some() && jobs(system, node).is_none()
}

/// Whether nothing is known of when what is in a class is served: its own budget follows demand, or
/// budgets in it do and it goes by EDF, where each counts for all others.
pub fn is_adaptive(system: &System, class: usize) -> bool {
    let node = &system.reservations[class];
    let children = system.reservations_in(Some(class), node.cpu);
    let follow = || children.iter().any(|child| system.reservations[*child].adaptive.is_some());
    node.adaptive.is_some() || node.policy == Some(Policy::EarliestDeadline) && follow()
}

/// What a node may use at most; if its budget follows demand, the most that it can become.
fn most(system: &System, index: usize) -> Option<Budget> {
    let limit = limit(&system.reservations[index])?;
    Some(Budget { budget: system.most_budget(index).unwrap_or(limit.budget), ..limit })
}

/// What a node is under fixed priorities or EDF.
fn entity(system: &System, index: usize) -> Entity {
    let node = &system.reservations[index];
    let (name, priority) = (node.name.clone(), priority(node));
    match (most(system, index), node.policy) {
        (Some(limit), Some(policy)) => server(node, limit, class(system, index, policy)),
        (None, Some(policy)) => {
            Entity::Class(Plain { name, priority, class: class(system, index, policy) })
        }
        (Some(limit), None) => match jobs(system, node).filter(|_| node.adaptive.is_none()) {
            // Its budget is whole at each release, so it never waits for that.
            Some(task) if has_whole_budget(system, node, limit) => {
                Entity::Task(task.priority(priority))
            }
            task => server(node, limit, alone(node, task)),
        },
        (None, None) => match jobs(system, node) {
            Some(task) => Entity::Task(task.priority(priority)),
            // It may use all of its period.
            None if node.share == Share::Deadline => {
                let timing = node.timing.map_or((1, 1), |it| (it.period, it.deadline));
                Entity::Task(Task::new(&name, timing.0, timing.0).deadline(timing.1))
            }
            None => Entity::Open(Open { name, priority, demand: None }),
        },
    }
}

/// Whether each job of a leaf, a period behind the one before, finds its budget whole.
fn has_whole_budget(system: &System, node: &Reservation, limit: Budget) -> bool {
    let above = match node.class {
        Some(class) => system.reservations[class].policy,
        None => (node.cpu == ALL_CPUS).then_some(Policy::EarliestDeadline),
    };
    match limit.server {
        Kind::Sporadic => true,
        Kind::Constant | Kind::ConstantSoft => above == Some(Policy::EarliestDeadline),
        Kind::Periodic => false,
    }
}

/// The budget of a leaf whose jobs find it whole, and the execution time of these; 0 where that is
/// as long as the budget has room for.
pub fn execution_within(system: &System, leaf: &str) -> Option<(u64, u64)> {
    let node = system.reservations.iter().find(|node| node.name == leaf)?;
    let limit = limit(node).filter(|limit| has_whole_budget(system, node, *limit))?;
    node.adaptive.is_none().then(|| (limit.budget, execution(system, node).unwrap_or(0)))
}

fn server(node: &Reservation, limit: Budget, class: Class) -> Entity {
    let kind = match limit.server {
        Kind::Periodic => ServerKind::Periodic,
        Kind::Constant => ServerKind::HardCbs,
        Kind::ConstantSoft => ServerKind::SoftCbs,
        Kind::Sporadic => ServerKind::Sporadic,
    };
    Entity::Server(Server {
        name: node.name.clone(),
        kind,
        period: limit.period,
        budget: limit.budget,
        priority: priority(node),
        class,
    })
}

/// A class of one leaf.
fn alone(node: &Reservation, task: Option<Task>) -> Class {
    let name = node.name.clone();
    let leaf = task.map_or(Entity::Open(Open { name, priority: 0, demand: None }), Entity::Task);
    Class::FixedPriority(vec![leaf])
}

/// How urgent a node is, where its class goes by priorities or is of partitions.
pub fn priority(node: &Reservation) -> u32 {
    match node.share {
        Share::Priority(priority) | Share::Partition { priority, .. } => priority.into(),
        Share::Deadline | Share::Curve { .. } => 0,
    }
}

fn class(system: &System, index: usize, policy: Policy) -> Class {
    let cpu = system.reservations[index].cpu;
    let children = system.reservations_in(Some(index), cpu);
    if is_adaptive(system, index) {
        return alone(&system.reservations[index], None);
    }
    let entities = || children.iter().map(|child| entity(system, *child)).collect();
    match policy {
        Policy::FixedPriority => Class::FixedPriority(entities()),
        Policy::EarliestDeadline => by_deadline(system, index, &children),
        Policy::ServiceCurves => Class::ServiceCurves {
            granularity: Granularity { quantum: QUANTUM, non_preemptive: QUANTUM },
            children: children.iter().map(|child| shared(system, *child)).collect(),
        },
        Policy::Partitions => {
            let frame = system.reservations[index].windows.last().map_or(1, |window| window.end);
            let partitions = children.iter().map(|child| partition(system, *child, index));
            Class::Windows { frame, partitions: partitions.collect() }
        }
    }
}

/// A class of earliest deadlines. What has no limit in it is behind all that has one.
fn by_deadline(system: &System, index: usize, children: &[usize]) -> Class {
    let is_limited = |child: &usize| limit(&system.reservations[*child]).is_some();
    let (limited, others): (Vec<usize>, Vec<usize>) =
        children.iter().partition(|at| is_limited(at));
    let class = |children: &[usize]| {
        Class::Edf(children.iter().map(|child| entity(system, *child)).collect())
    };
    if limited.is_empty() || others.is_empty() {
        return class(children);
    }
    let name = &system.reservations[index].name;
    let part = |priority, children| {
        Entity::Class(Plain { name: name.clone(), priority, class: class(children) })
    };
    Class::FixedPriority(vec![part(1, &limited[..]), part(0, &others[..])])
}

/// What is in a node whose class gives it no priority and no deadline.
fn inside(system: &System, index: usize) -> Inside {
    let node = &system.reservations[index];
    let limited =
        |limit, class| Inside::Class(Class::FixedPriority(vec![server(node, limit, class)]));
    match (node.policy, limit(node)) {
        (Some(policy), None) => Inside::Class(class(system, index, policy)),
        (Some(policy), Some(limit)) => limited(limit, class(system, index, policy)),
        (None, limit) => match (jobs(system, node), limit) {
            (None, None) => Inside::Open,
            (None, Some(limit)) => limited(limit, alone(node, None)),
            (Some(task), Some(limit)) if !has_whole_budget(system, node, limit) => {
                limited(limit, alone(node, Some(task)))
            }
            (Some(task), _) => Inside::Task(task),
        },
    }
}

fn shared(system: &System, index: usize) -> Shared {
    let node = &system.reservations[index];
    let curve = match node.share {
        Share::Curve { guaranteed: Some(curve), .. } => exact(curve),
        _ => None,
    };
    Shared { name: node.name.clone(), curve, inside: inside(system, index), segments: None }
}

/// A curve whose slopes are in nanoseconds a second.
pub fn exact(curve: Curve) -> Option<ServiceCurve> {
    let [slope, rest] = [curve.slope, curve.rest].map(|slope| u64::from(slope) * 1_000);
    ServiceCurve::new(slope, curve.bend, rest).ok()
}

fn partition(system: &System, index: usize, frame: usize) -> Partition {
    let node = &system.reservations[index];
    let number = match node.share {
        Share::Partition { number, .. } => number,
        _ => 0,
    };
    let mut begin = 0;
    let mut windows = Vec::new();
    for window in &system.reservations[frame].windows {
        if window.partition == number {
            windows.push(Window { offset: begin, duration: window.end - begin });
        }
        begin = window.end;
    }
    let class = match inside(system, index) {
        Inside::Class(class) => class,
        Inside::Task(task) => alone(node, Some(task)),
        Inside::Open => alone(node, None),
    };
    let name = node.name.clone();
    Partition { name, windows, is_background: number == 0, urgency: urgency(system, index), class }
}

/// How urgent a partition is at least and at most: by its children under fixed priorities.
fn urgency(system: &System, index: usize) -> (u32, u32) {
    let node = &system.reservations[index];
    let own = (priority(node), priority(node));
    if node.policy != Some(Policy::FixedPriority) {
        return own;
    }
    let children = system.reservations_in(Some(index), node.cpu);
    let each = || children.iter().map(|child| priority(&system.reservations[*child]));
    each().min().zip(each().max()).unwrap_or(own)
}
