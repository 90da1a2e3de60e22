//! The budget of a leaf that shares, which must never be used up.
//!
//! What a sporadic server has used comes back a period behind the wake-up before it, and a leaf
//! wakes up anew behind each wait, and whenever it is lent. So while a job runs, what all jobs have
//! used that ended less than a period ago may not have come back; a budget for all of these is
//! enough. The kernel keeps a number of parts that come back; of more it puts some off.

use super::{Lent, User, executed, lent, reason, users};
use crate::commands::check::tree::{jobs as jobs_of, limit};
use analysis::{Overheads, Time};
use manifest::{Reservation, System};
use std::collections::BTreeSet;

/// Parts of a budget of which none is put off.
pub const PARTS: Time = 8;

/// How many jobs of a leaf can have used budget that has not come back, the running one included.
pub fn jobs(system: &System, leaf: &Reservation) -> Option<Time> {
    let (limit, job) = (limit(leaf)?, jobs_of(system, leaf)?);
    Some(limit.period.saturating_add(job.deadline).div_ceil(job.period.max(1)))
}

/// How often the leaf of a user wakes up for one job at most: at its release, whenever it is lent
/// to a less urgent one, once to each, and behind each wait. Waits are for these, once for each,
/// and for equals.
pub fn parts(system: &System, lent: &[Lent], user: &User) -> Option<Time> {
    let own = reason::way(system, user);
    let (mut sections, mut below, mut is_equal) = (0, BTreeSet::new(), false);
    for shared in lent.iter().filter(|one| user.holds(&one.things).count() > 0) {
        sections += user.holds(&shared.things).count() as Time;
        for other in shared.users.iter().filter(|other| other.name != user.name) {
            let way = reason::way(system, other);
            let apart = own.iter().zip(&way).take_while(|(own, other)| own == other).count();
            let node = way.get(apart).map(|at| reason::priority(system, *at));
            let priority = reason::priority(system, *own.get(apart)?);
            let beside = node.unwrap_or(other.priority);
            is_equal |= beside == priority;
            if beside < priority {
                below.insert(&other.name);
            }
        }
    }
    let lends = below.len() as Time;
    let waits = if is_equal { sections } else { sections.min(lends) };
    Some(1 + lends + waits)
}

/// Of a leaf that shares and has a budget of its own: how many jobs' use that has to hold, and what
/// others execute for each.
pub fn outstanding(system: &System, overheads: &Overheads, leaf: &str) -> Option<(Time, Time)> {
    let node = system.reservations.iter().find(|node| node.name == leaf)?;
    let users = users(system);
    let is_shared = |one: &Lent| one.users.len() > 1 && one.users.iter().any(|it| it.name == leaf);
    lent(system, &users).iter().any(is_shared).then_some(())?;
    let more = executed(system, overheads).get(leaf).copied().unwrap_or(0);
    Some((jobs(system, node)?, more))
}

/// Whether any that share have a budget of their own.
pub fn has_any(system: &System, shared: &Lent) -> bool {
    let mut leaves = shared.users.iter().filter_map(|user| user.leaf);
    leaves.any(|leaf| limit(&system.reservations[leaf]).is_some())
}
