//! What threads on reservations share: bandwidth inheritance.
//!
//! A thread that holds what a job waits for runs on the job's leaf where that is more urgent than
//! its own. So what others execute for a job counts as the job's own execution, for all that see
//! its leaf; where the holder's own leaf is the more urgent one, the job waits for that leaf as it
//! does without sharing. Each of a job's sections can wait for one of each other task: all that
//! came before it, and no more, since holders wait for nothing.
//!
//! That holds among leaves of one class of priorities or deadlines, whose threads can run at any
//! time that the class can. A budget that may end, or be put off by a wait, is not known to last.

use super::decided::name;
use super::tree::{below_root, limit};
use abi::reservation::{Inheritance, Policy};
use analysis::tree::{Class, Entity, Report};
use analysis::{Overheads, Task, Time, Verdict};
use manifest::{Protocol, Section, Shared, System};
use std::collections::BTreeMap;

/// What excludes jobs from each other.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Thing {
    Mutex(usize),
    Server(usize),
}

/// A task that shares something.
struct User<'a> {
    /// What messages call it: a reservation by its name.
    name: String,
    cpu: u32,
    /// The leaf that its thread runs on; none: that of its priority.
    leaf: Option<usize>,
    sections: &'a [Section],
}

/// What a section holds.
fn things(section: &Section) -> Vec<Thing> {
    match &section.shared {
        Shared::Mutexes(all) => all.iter().copied().map(Thing::Mutex).collect(),
        Shared::Endpoint(endpoint) => vec![Thing::Server(*endpoint)],
    }
}

fn users(system: &System) -> Vec<User<'_>> {
    let of_domain = |domain: &'_ manifest::Domain| -> Vec<(String, Option<usize>)> {
        let own = domain.load.map(|_| (format!("domain {}", domain.name), None));
        let task = |task: &manifest::Task| {
            let leaf = task.reservation.map(|at| system.reservations[at].name.clone());
            (leaf.unwrap_or(task.name.clone()), task.reservation)
        };
        own.into_iter().chain(domain.tasks.iter().map(task)).collect()
    };
    let mut all = Vec::new();
    for domain in &system.domains {
        let own = domain.load.map(|_| &domain.sections[..]);
        let sections = own.into_iter().chain(domain.tasks.iter().map(|task| &task.sections[..]));
        for ((name, leaf), sections) in of_domain(domain).into_iter().zip(sections) {
            all.push(User { name, cpu: domain.cpu, leaf, sections });
        }
    }
    all
}

impl User<'_> {
    /// The longest section that holds a thing; none: it does not share that.
    fn longest(&self, thing: Thing) -> Option<Time> {
        let holds = self.sections.iter().filter(|section| things(section).contains(&thing));
        holds.map(|section| section.length).max()
    }
}

/// All that a task on a reservation shares, each with its users.
fn lent<'a, 'u>(system: &System, users: &'u [User<'a>]) -> Vec<(Thing, Vec<&'u User<'a>>)> {
    let mutexes = (0..system.mutexes.len()).map(Thing::Mutex);
    let all = mutexes.chain((0..system.endpoints.len()).map(Thing::Server));
    let of = |thing: Thing| {
        let users: Vec<&User> = users.iter().filter(|it| it.longest(thing).is_some()).collect();
        users.iter().any(|user| user.leaf.is_some()).then_some((thing, users))
    };
    all.filter_map(of).collect()
}

/// Whether a section is of what a task on a reservation shares.
pub fn is_lent(system: &System, section: &Section) -> bool {
    let users = users(system);
    let lent = lent(system, &users);
    things(section).iter().any(|thing| lent.iter().any(|(other, _)| other == thing))
}

/// How often a job of each task can have to wait for what is so shared, and for how long others
/// execute for it then.
fn waits(system: &System) -> BTreeMap<String, (Time, Time)> {
    let users = users(system);
    let lent = lent(system, &users);
    let mut all = BTreeMap::new();
    for user in &users {
        let (mut times, mut length) = (0, 0);
        for thing in user.sections.iter().flat_map(things) {
            let Some((_, others)) = lent.iter().find(|(other, _)| *other == thing) else {
                continue;
            };
            let others = others.iter().filter(|other| other.name != user.name);
            let each = others.filter_map(|other| other.longest(thing));
            length = each.fold(length, Time::saturating_add);
            times += 1;
        }
        if times > 0 {
            all.insert(user.name.clone(), (times, length));
        }
    }
    all
}

/// How often a job of each task can have to wait for what a task on a reservation shares.
pub fn times(system: &System) -> BTreeMap<String, Time> {
    waits(system).into_iter().map(|(name, (times, _))| (name, times)).collect()
}

/// Adds to each job what others execute for it, with two context switches each time.
pub fn inflate(system: &System, overheads: &Overheads, class: &mut Class) {
    let waits = waits(system);
    let switches = overheads.context_switch.saturating_mul(2);
    class.each_task(&mut |task: &mut Task| {
        if let Some((times, length)) = waits.get(&task.name) {
            let more = switches.saturating_mul(*times).saturating_add(*length);
            task.execution = task.execution.saturating_add(more);
        }
    });
}

/// What waits for something without a bound has none, nor has what is no more urgent.
pub fn ask(system: &System, cpu: u32, report: &mut Report) {
    let users = users(system);
    let lent = lent(system, &users);
    let here = |users: &[&User]| users.iter().any(|user| user.cpu == cpu);
    // What has no bound can take that of others away, which share something else.
    for _ in 0..lent.len() {
        for (thing, users) in lent.iter().filter(|(_, users)| here(users)) {
            let why = why(system, *thing, users);
            if let Some(why) = why.or_else(|| late(report, system, *thing, users)) {
                unprotect(report, &below_root(system, cpu), users, &why);
            }
        }
    }
}

/// Those that share, and all that is no more urgent below the root of the CPU, have no bound.
fn unprotect(report: &mut Report, below: &[Entity], users: &[&User], why: &str) {
    let priority = |path: &str| {
        let top = path.split('/').nth(1);
        below.iter().find(|it| Some(it.name()) == top).map_or(0, Entity::priority)
    };
    let is_user = |path: &str| users.iter().any(|user| user.name == name(path));
    let paths = || report.leaves.iter().map(|leaf| leaf.path.as_str());
    let highest = paths().filter(|path| is_user(path)).map(priority).max().unwrap_or(u32::MAX);
    let reached: Vec<bool> = paths().map(|path| priority(path) <= highest).collect();
    for (leaf, reached) in report.leaves.iter_mut().zip(reached) {
        if reached && leaf.verdict.fits() {
            leaf.verdict = Verdict::Unprotected { why: why.to_string() };
            leaf.largest_execution = None;
            report.classes[0].fits = false;
        }
    }
}

fn called(system: &System, thing: Thing) -> &str {
    match thing {
        Thing::Mutex(at) => &system.mutexes[at].name,
        Thing::Server(at) => &system.endpoints[at].name,
    }
}

/// Why waits for a thing have no bound, if that is so by the manifest alone.
fn why(system: &System, thing: Thing, users: &[&User]) -> Option<String> {
    of_thing(system, thing, users).or_else(|| of_leaves(system, thing, users))
}

/// The same by where its users run.
fn of_leaves(system: &System, thing: Thing, users: &[&User]) -> Option<String> {
    let what = called(system, thing);
    let of = |leaf: usize| &system.reservations[leaf];
    let leaves: Vec<usize> = users.iter().filter_map(|user| user.leaf).collect();
    let (leaf, class) = (leaves.first().map(|at| of(*at))?, of(*leaves.first()?).class);
    let is_apart = |user: &&&User| match user.leaf {
        Some(at) => of(at).class != class || user.cpu != leaf.cpu,
        None => class.is_some() || user.cpu != leaf.cpu,
    };
    let holds_more = |user: &&&User| {
        let own = user.sections.iter().map(things).filter(|things| things.contains(&thing));
        own.into_iter().any(|things| things.len() > 1)
    };
    let policy = class.map_or(Some(Policy::FixedPriority), |at| of(at).policy);
    let is_ordered = matches!(policy, Some(Policy::FixedPriority | Policy::EarliestDeadline));
    if let Some(user) = users.iter().find(is_apart) {
        Some(format!(
            "`{}` and `{}` share `{what}`, and are not of one class: a budget or a window of one \
             can hold the other. Put them into one class.",
            leaf.name, user.name
        ))
    } else if !is_ordered {
        Some(format!(
            "`{}` shares `{what}` in a class that goes neither by priorities nor by deadlines: a \
             thread that waits there leaves its turn to others.",
            leaf.name
        ))
    } else if let Some(at) = leaves.iter().find(|at| limit(of(**at)).is_some()) {
        Some(format!(
            "`{}` shares `{what}`, and its budget may be used up meanwhile, or comes back later \
             for each wait. Leave its `budget` out, or give one to its class.",
            of(*at).name
        ))
    } else {
        let user = users.iter().find(holds_more)?;
        let user = &user.name;
        Some(format!("`{user}` holds `{what}` with others, which a task on a reservation shares."))
    }
}

/// The same by what lends its users' leaves.
fn of_thing(system: &System, thing: Thing, users: &[&User]) -> Option<String> {
    let what = called(system, thing);
    let leaf = users.iter().find_map(|user| user.leaf).map(|at| &system.reservations[at])?;
    match thing {
        _ if system.inheritance == Inheritance::None => Some(format!(
            "with `inheritance = \"none\"` who holds `{what}` is lent no reservation."
        )),
        Thing::Server(endpoint) => of_server(system, endpoint, leaf.cpu),
        Thing::Mutex(mutex) => {
            let is_lent = system.mutexes[mutex].protocol == Protocol::Inheritance;
            (!is_lent).then(|| {
                format!(
                    "the owner of `{what}`, which a task on reservation `{}` shares, is lent \
                     nothing: a ceiling has no effect there. Use an `InheritMutex`, and leave \
                     `protocol` out.",
                    leaf.name
                )
            })
        }
    }
}

/// The same of a server.
fn of_server(system: &System, endpoint: usize, cpu: u32) -> Option<String> {
    let name = &system.endpoints[endpoint].name;
    let server = &system.domains[*system.servers(endpoint).first()?];
    if server.reservation.is_some() || server.cpu != cpu {
        Some(format!(
            "`{}` runs on a reservation or another CPU, and calls to it have no bound. Leave its \
             `reservation` out.",
            server.name
        ))
    } else if !system.endpoints[endpoint].serves {
        Some(format!(
            "who waits in the queue of `{name}` lends nothing to `{}`, unless that says that it \
             serves (`Serve`). Let it, and write `serves = true` for the endpoint.",
            server.name
        ))
    } else {
        None
    }
}

/// The same if a user may be late: it may be in its section for as long.
fn late(report: &Report, system: &System, thing: Thing, users: &[&User]) -> Option<String> {
    let is_late = |user: &&&User| {
        let mut own = report.leaves.iter().filter(|leaf| name(&leaf.path) == user.name);
        own.any(|leaf| !leaf.verdict.fits())
    };
    let user = users.iter().find(is_late)?;
    let what = called(system, thing);
    Some(format!("`{}`, which shares `{what}`, may be late or has no bound itself.", user.name))
}

#[cfg(test)]
mod played;
#[cfg(test)]
mod tests;
