//! What threads on reservations share: bandwidth inheritance.
//!
//! A thread that holds what a job waits for runs on the job's leaf where that is more urgent than
//! its own. So what others execute for a job counts as the job's own execution, for all that see
//! its leaf; where the holder's own leaf is the more urgent one, the job waits for that leaf as it
//! does without sharing. So from a job's release to its end its leaf, or a more urgent one, runs
//! all the time, and of a less urgent task that section alone which it had begun before, or waited
//! for. Each of a job's sections can wait for one of each other task, all that came before it: of
//! those that hold the same, or what is held together with it.
//!
//! That holds as long as no leaf waits for budget: [`reason`] says where one can, or where the
//! kernel does not lend the most urgent leaf. Under service curves less urgent leaves run, too:
//! [`curves`] has what holds there.

mod budget;
mod curves;
mod reason;

use super::decided::{bound, name};
use super::tree::below_root;
use analysis::tree::{Class, Entity, LeafReport, Report};
use analysis::{Overheads, Task, Time, Verdict};
pub use budget::outstanding;
use manifest::{Section, Shared, System};
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
    /// Its thread's priority.
    priority: u32,
    sections: &'a [Section],
}

/// What tasks share, some of which are on reservations: a server, a mutex, or mutexes of which each
/// is held together with another one.
struct Lent<'u, 'a> {
    things: Vec<Thing>,
    users: Vec<&'u User<'a>>,
}

/// What a section holds.
fn things(section: &Section) -> Vec<Thing> {
    match &section.shared {
        Shared::Mutexes(all) => all.iter().copied().map(Thing::Mutex).collect(),
        Shared::Endpoint(endpoint) => vec![Thing::Server(*endpoint)],
    }
}

fn users(system: &System) -> Vec<User<'_>> {
    let mut all = Vec::new();
    for domain in &system.domains {
        let cpu = domain.cpu;
        if domain.load.is_some() {
            let (name, sections) = (format!("domain {}", domain.name), &domain.sections[..]);
            all.push(User { name, cpu, leaf: None, priority: domain.priority.into(), sections });
        }
        all.extend(domain.tasks.iter().map(|task| {
            let name = task.reservation.map(|at| &system.reservations[at].name);
            User {
                name: name.unwrap_or(&task.name).clone(),
                cpu,
                leaf: task.reservation,
                priority: task.priority.into(),
                sections: &task.sections,
            }
        }));
    }
    all
}

impl User<'_> {
    /// Its sections that hold any of these.
    fn holds(&self, shared: &[Thing]) -> impl Iterator<Item = &Section> {
        let is_one = |section: &&Section| things(section).iter().any(|it| shared.contains(it));
        self.sections.iter().filter(is_one)
    }

    /// The longest section that holds any of these, with the two context switches of each wait
    /// inside; none: it shares none of them.
    fn longest(&self, shared: &[Thing], context_switch: Time) -> Option<Time> {
        let length = |section: &Section| {
            let inner = 2 * (things(section).len().max(1) as Time - 1);
            section.length.saturating_add(context_switch.saturating_mul(inner))
        };
        self.holds(shared).map(length).max()
    }
}

/// All that is shared: each mutex with those that are held together with it, each server.
fn groups(system: &System, users: &[User]) -> Vec<Vec<Thing>> {
    let mutexes = (0..system.mutexes.len()).map(Thing::Mutex);
    let all = mutexes.chain((0..system.endpoints.len()).map(Thing::Server));
    let mut groups: Vec<Vec<Thing>> = all.map(|thing| vec![thing]).collect();
    for section in users.iter().flat_map(|user| user.sections) {
        let held = things(section);
        let is_held = |group: &Vec<Thing>| group.iter().any(|thing| held.contains(thing));
        if held.len() > 1 {
            let (joined, others): (Vec<_>, Vec<_>) = groups.into_iter().partition(is_held);
            groups = others;
            groups.push(joined.concat());
        }
    }
    groups
}

/// All that a task on a reservation shares, each with its users.
fn lent<'a, 'u>(system: &System, users: &'u [User<'a>]) -> Vec<Lent<'u, 'a>> {
    let of = |things: Vec<Thing>| {
        let users: Vec<&User> = users.iter().filter(|it| it.holds(&things).count() > 0).collect();
        users.iter().any(|user| user.leaf.is_some()).then_some(Lent { things, users })
    };
    groups(system, users).into_iter().filter_map(of).collect()
}

/// Whether a section is of what a task on a reservation shares.
pub fn is_lent(system: &System, section: &Section) -> bool {
    let users = users(system);
    let lent = lent(system, &users);
    things(section).iter().any(|thing| lent.iter().any(|one| one.things.contains(thing)))
}

/// How often a job of each task can have to wait for what is so shared, or moves to another leaf
/// for that, and for how long others execute for it then.
fn waits(system: &System, context_switch: Time) -> BTreeMap<String, (Time, Time)> {
    let users = users(system);
    let lent = lent(system, &users);
    let mut all = BTreeMap::new();
    for user in &users {
        let (mut times, mut length) = (0, 0);
        for shared in lent.iter().filter(|one| curves::class(system, one).is_some()) {
            if user.holds(&shared.things).count() > 0 {
                let (ends, more) = curves::waits(system, shared, user, context_switch);
                (times, length) = (times + ends, more.saturating_add(length));
            }
        }
        let others = || lent.iter().filter(|one| curves::class(system, one).is_none());
        for held in user.sections.iter().map(things) {
            let is_here = |one: &&Lent| held.iter().any(|thing| one.things.contains(thing));
            let Some(shared) = others().find(is_here) else { continue };
            let others = shared.users.iter().filter(|other| other.name != user.name);
            let each = others.filter_map(|other| other.longest(&shared.things, context_switch));
            length = each.fold(length, Time::saturating_add);
            times += held.len() as Time;
        }
        if times > 0 {
            all.insert(user.name.clone(), (times, length));
        }
    }
    all
}

/// How often a job of each task can have to wait for what a task on a reservation shares.
pub fn times(system: &System) -> BTreeMap<String, Time> {
    waits(system, 0).into_iter().map(|(name, (times, _))| (name, times)).collect()
}

/// What others execute for a job of each task, with two context switches each time.
fn executed(system: &System, overheads: &Overheads) -> BTreeMap<String, Time> {
    let switches = overheads.context_switch.saturating_mul(2);
    let all = waits(system, overheads.context_switch).into_iter();
    let with = |(times, length)| switches.saturating_mul(times).saturating_add(length);
    all.map(|(name, waits)| (name, with(waits))).collect()
}

/// Adds to each job what others execute for it, and says how it is served then.
pub fn inflate(system: &System, overheads: &Overheads, class: &mut Class) {
    let executed = executed(system, overheads);
    class.each_task(&mut |task: &mut Task| {
        if let Some(more) = executed.get(&task.name) {
            task.execution = task.execution.saturating_add(*more);
        }
    });
    curves::divide(system, overheads, class);
}

/// What waits for something without a bound has none, nor has what is no more urgent.
pub fn ask(system: &System, cpu: u32, report: &mut Report) {
    let users = users(system);
    let lent = lent(system, &users);
    let here = |shared: &&Lent| shared.users.iter().any(|user| user.cpu == cpu);
    let below = below_root(system, cpu);
    // What has no bound can take that of others away, which share something else.
    for _ in 0..lent.len() {
        for shared in lent.iter().filter(here) {
            if let Some(why) = reason::why(system, &lent, shared) {
                unprotect(report, &below, &shared.users, &why, |leaf| bound(leaf).0.is_some());
            } else if let Some(why) = reason::late(report, system, shared) {
                // One that is late is for the time that is said, if no budget can hold it.
                let is_late_at_most = !budget::has_any(system, shared);
                let loses = |leaf: &LeafReport| {
                    leaf.verdict.fits() || bound(leaf).0.is_some() && !is_late_at_most
                };
                unprotect(report, &below, &shared.users, &why, loses);
            }
        }
    }
}

/// Those that share, and all that is no more urgent below the root of the CPU, have no bound, if
/// they are of those that lose it.
fn unprotect(
    report: &mut Report,
    below: &[Entity],
    users: &[&User],
    why: &str,
    loses: impl Fn(&LeafReport) -> bool,
) {
    let priority = |path: &str| {
        let top = path.split('/').nth(1);
        below.iter().find(|it| Some(it.name()) == top).map_or(0, Entity::priority)
    };
    let is_user = |path: &str| users.iter().any(|user| user.name == name(path));
    let paths = || report.leaves.iter().map(|leaf| leaf.path.as_str());
    let highest = paths().filter(|path| is_user(path)).map(priority).max().unwrap_or(u32::MAX);
    let reached: Vec<bool> = paths().map(|path| priority(path) <= highest).collect();
    for (leaf, reached) in report.leaves.iter_mut().zip(reached) {
        if reached && loses(leaf) {
            leaf.verdict = Verdict::Unprotected { why: why.to_string() };
            leaf.largest_execution = None;
            report.classes[0].fits = false;
        }
    }
}

#[cfg(test)]
mod curved;
#[cfg(test)]
mod played;
#[cfg(test)]
mod tests;
