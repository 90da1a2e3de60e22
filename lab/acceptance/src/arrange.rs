//! A set under a policy: what the analysis is asked about, and what is played.

use crate::arrivals::{Arrivals, Miss, RIVAL};
use crate::player::{PlayError, play};
use crate::{Policy, QUANTUM, Time, global};
use abi::reservation::LEAST_PART;
use analysis::global::{Sufficient, density, interference};
use analysis::tree::fits;
use analysis::tree::{Class, Entity, Inside, Open, Partition, Server, ServerKind, Shared, Tree};
use analysis::{Granularity, Limits, Random, ServiceCurve, Steps, Task, Window};

/// Terms of one test: what takes longer counts as rejected. Some ten times what most need.
const LIMITS: Limits = Limits { test: 20_000, total: 1_000_000 };
/// A whole CPU, in ns of CPU time per second.
const WHOLE: Time = 1_000_000_000;
/// The finest slope that the scheduling tree has.
const FINEST: Time = 1_000;

/// A set under a policy.
#[derive(Clone, Debug)]
pub struct Arranged {
    /// What runs on each CPU; nothing under global EDF.
    pub trees: Vec<Tree>,
    /// The set, where tasks have no CPU of their own.
    pub everywhere: Vec<Task>,
    /// How many CPUs there are.
    pub cpus: usize,
    /// The first releases of the set and of its rival that are the worst, so far as is known.
    pub critical: (Time, Time),
}

/// Arranges a set, whose shortest possible period is `shortest`. Servers, frames and rivals have
/// half of that as their period, and half of that as their budget; where a set has half of a CPU,
/// its jobs take half as long, rounded up.
pub fn arrange(policy: Policy, tasks: &[Task], cpus: usize, shortest: Time) -> Arranged {
    let period = shortest / 2;
    let half = period / 2;
    let one = |class: Class, critical| Arranged {
        trees: vec![tree(class)],
        everywhere: Vec::new(),
        cpus: 1,
        critical,
    };
    // A budget that came at once, and then as late as it can.
    let late = (half, period);
    let own = || halved(tasks);
    match policy {
        Policy::FixedPriority => one(Class::FixedPriority(entities(tasks)), (0, 0)),
        Policy::Edf => one(Class::Edf(entities(tasks)), (0, 0)),
        Policy::PeriodicServer => one(below_rival(ServerKind::Periodic, own(), period), late),
        Policy::SporadicServer => one(below_rival(ServerKind::Sporadic, own(), period), late),
        Policy::HardCbs => one(beside_server(own(), period), late),
        Policy::Windows => one(in_windows(own(), period), (half, 0)),
        Policy::CurveOfClass => one(under_curve(own()), (half, 0)),
        Policy::SoftCbs => one(in_own_servers(tasks), (0, 0)),
        Policy::ServiceCurves => one(under_own_curves(tasks), (0, 0)),
        Policy::PartitionedEdf => {
            let parts = partitioned(tasks, cpus);
            let trees = parts.iter().map(|part| tree(Class::Edf(entities(part)))).collect();
            Arranged { trees, everywhere: Vec::new(), cpus, critical: (0, 0) }
        }
        Policy::GlobalEdf => {
            Arranged { trees: Vec::new(), everywhere: tasks.to_vec(), cpus, critical: (0, 0) }
        }
    }
}

impl Arranged {
    /// Whether the analysis accepts it. What it does not decide within its limits it rejects.
    pub fn is_accepted(&self) -> bool {
        if self.everywhere.is_empty() {
            return self.trees.iter().all(fits);
        }
        let cpus = self.cpus as u32;
        let shown = |found| matches!(found, Ok(Sufficient::Fits(_)));
        shown(density(&self.everywhere, cpus))
            || shown(interference(&self.everywhere, &[], cpus, &mut Steps::new(LIMITS.test)))
    }

    /// Plays it until `length` behind the first critical release: at the critical instant, and if
    /// nothing is missed with sporadic arrivals. The first miss.
    ///
    /// # Errors
    /// The tree refuses it, or asks for decisions without end.
    pub fn played(&self, length: Time, random: Random) -> Result<Option<Miss>, PlayError> {
        let (own, rival) = self.critical;
        for mut arrivals in [Arrivals::Critical { own, rival }, Arrivals::Sporadic(random)] {
            if let Some(miss) = self.play(&mut arrivals, own + length)? {
                return Ok(Some(miss));
            }
        }
        Ok(None)
    }

    fn play(&self, arrivals: &mut Arrivals, horizon: Time) -> Result<Option<Miss>, PlayError> {
        if self.everywhere.is_empty() {
            let classes: Vec<&Class> = self.trees.iter().map(|tree| &tree.class).collect();
            return play(&classes, arrivals, horizon);
        }
        Ok(global::play(&self.everywhere, self.cpus, arrivals, horizon))
    }
}

fn tree(class: Class) -> Tree {
    Tree { limits: LIMITS, ..Tree::new("cpu", class) }
}

fn entities(tasks: &[Task]) -> Vec<Entity> {
    tasks.iter().cloned().map(Entity::Task).collect()
}

fn halved(tasks: &[Task]) -> Vec<Task> {
    let halved = |task: &Task| {
        let execution = task.execution.div_ceil(2);
        Task { execution, limit: execution, ..task.clone() }
    };
    tasks.iter().map(halved).collect()
}

fn open(name: &str) -> Entity {
    Entity::Open(Open { name: name.to_string(), priority: 0, demand: None })
}

/// The set under fixed priorities; whatever it leaves is used up.
fn greedy(tasks: &[Task]) -> Class {
    let mut all = entities(tasks);
    all.push(open("filler"));
    Class::FixedPriority(all)
}

fn server(name: &str, kind: ServerKind, period: Time, class: Class) -> Entity {
    let (name, budget) = (name.to_string(), period / 2);
    Entity::Server(Server { name, kind, period, budget, priority: 1, class })
}

/// A server, and a task before it that leaves no more than its budget.
fn below_rival(kind: ServerKind, tasks: Vec<Task>, period: Time) -> Class {
    let rival = Task::new(RIVAL, period - period / 2, period).priority(2);
    Class::FixedPriority(vec![Entity::Task(rival), server("own", kind, period, greedy(&tasks))])
}

/// Two servers of half of the CPU under EDF.
fn beside_server(tasks: Vec<Task>, period: Time) -> Class {
    let rival = Class::FixedPriority(vec![open("rival's")]);
    let kind = ServerKind::HardCbs;
    Class::Edf(vec![
        server("own", kind, period, greedy(&tasks)),
        server("other", kind, period, rival),
    ])
}

fn in_windows(tasks: Vec<Task>, frame: Time) -> Class {
    let half = frame / 2;
    let partition = |name: &str, offset, duration, class| Partition {
        name: name.to_string(),
        windows: vec![Window { offset, duration }],
        is_background: false,
        urgency: (0, 0),
        class,
    };
    let rival = Class::FixedPriority(vec![open("rival's")]);
    let own = partition("own", 0, half, Class::FixedPriority(entities(&tasks)));
    let partitions = vec![own, partition("other", half, frame - half, rival)];
    Class::Windows { frame, partitions }
}

fn granularity() -> Granularity {
    Granularity { quantum: QUANTUM, non_preemptive: QUANTUM }
}

fn shared(name: &str, rate: Time, inside: Inside) -> Shared {
    Shared { name: name.to_string(), curve: ServiceCurve::rate(rate).ok(), inside, segments: None }
}

fn under_curve(tasks: Vec<Task>) -> Class {
    let own = shared("own", WHOLE / 2, Inside::Class(greedy(&tasks)));
    let children = vec![own, shared("other", WHOLE / 2, Inside::Open)];
    Class::ServiceCurves { granularity: granularity(), children }
}

/// The least rate for each task with which it is in time, (C + quantum)/(D - quantum), all smaller
/// in proportion if they do not fit together.
fn under_own_curves(tasks: &[Task]) -> Class {
    let least = |task: &Task| {
        let work = u128::from(task.execution + QUANTUM) * u128::from(WHOLE);
        let within = u128::from(task.deadline.saturating_sub(QUANTUM).max(1));
        let rate = work.div_ceil(within).min(WHOLE.into()) as Time;
        rate.next_multiple_of(FINEST)
    };
    let rates: Vec<Time> = tasks.iter().map(least).collect();
    let sum: Time = rates.iter().sum::<Time>().max(WHOLE);
    let fitting = |rate: Time| {
        let part = u128::from(rate) * u128::from(WHOLE) / u128::from(sum);
        (part as Time / FINEST * FINEST).max(FINEST)
    };
    let child = |(task, rate): (&Task, &Time)| {
        shared(&task.name, fitting(*rate), Inside::Task(task.clone()))
    };
    let children = tasks.iter().zip(&rates).map(child).collect();
    Class::ServiceCurves { granularity: granularity(), children }
}

/// The least budget Q for each task with which it is in time by a server of a quarter of its
/// period, P - Q + C P/Q = D, all smaller in proportion if they do not fit together.
fn in_own_servers(tasks: &[Task]) -> Class {
    // Scaled down, none is below the least budget.
    let floor = LEAST_PART * tasks.len() as Time;
    let least = |task: &Task| {
        let period = task.period / 4;
        let (work, span) = (task.execution as f64, task.deadline as f64 - period as f64);
        let root = (span * span + 4.0 * period as f64 * work).sqrt();
        let budget = ((root - span) / 2.0).ceil() as Time + 1;
        (period, budget.clamp(floor.min(period - 1), period - 1))
    };
    let servers: Vec<(Time, Time)> = tasks.iter().map(least).collect();
    let sum: f64 = servers.iter().map(|(period, budget)| *budget as f64 / *period as f64).sum();
    // Admission rounds each share up to a millionth.
    let room = 1.0 - 2e-6 * tasks.len() as f64;
    let scale = (room / sum).min(1.0);
    let entity = |(task, (period, budget)): (&Task, &(Time, Time))| {
        let budget = ((*budget as f64 * scale) as Time).max(LEAST_PART);
        Entity::Server(Server {
            name: task.name.clone(),
            kind: ServerKind::SoftCbs,
            period: *period,
            budget,
            priority: 0,
            class: Class::Edf(vec![Entity::Task(task.clone())]),
        })
    };
    Class::Edf(tasks.iter().zip(&servers).map(entity).collect())
}

/// First fit by falling utilisation, by the demand test; what fits nowhere goes where least is.
fn partitioned(tasks: &[Task], cpus: usize) -> Vec<Vec<Task>> {
    let share = |task: &Task| task.execution as f64 / task.period as f64;
    let load = |tasks: &[Task]| tasks.iter().map(share).sum::<f64>();
    let mut sorted: Vec<&Task> = tasks.iter().collect();
    sorted.sort_by(|a, b| share(b).total_cmp(&share(a)));
    let mut parts: Vec<Vec<Task>> = vec![Vec::new(); cpus];
    for task in sorted {
        let takes = |part: &Vec<Task>| {
            let with = [&part[..], std::slice::from_ref(task)].concat();
            load(&with) <= 1.0 && fits(&tree(Class::Edf(entities(&with))))
        };
        let least = || (0..cpus).min_by(|a, b| load(&parts[*a]).total_cmp(&load(&parts[*b])));
        let place = parts.iter().position(takes).or_else(least).unwrap_or(0);
        parts[place].push(task.clone());
    }
    parts.retain(|part| !part.is_empty());
    parts
}
