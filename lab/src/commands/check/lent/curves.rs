//! Tasks that share on leaves of one class of service curves.
//!
//! A leaf whose thread waits is used by the owner, or it sleeps while the owner has a more urgent
//! one. So a job is served in segments: in each one leaf is ready all the time, the job's own or
//! one that is at least as urgent. What a leaf had before does not matter then: in each segment it
//! has its last slope after a delay ([`Segments`]). Segments end
//!
//! - when the job begins to wait, and when one that it waits for ends its section;
//! - when a more urgent one begins to wait behind it, and where that can be, when its own section
//!   ends.
//!
//! Less urgent owners delay a wait once: the mutex goes to the most urgent that waits. Of those at
//! least as urgent a single one does so once, too, since the job is next; of several each as often
//! as it locks the mutex while the job runs. Servers serve in the order of calls, each caller once.
//!
//! A thread that is back on its own leaf is behind its guarantee by up to a quantum, which comes
//! before what others in the class have; each leaf that can be lent another one once.

use super::{Lent, Thing, User, lent, users};
use crate::commands::check::tree::{QUANTUM, exact, jobs};
use abi::reservation::{Policy, Share};
use analysis::tree::{Class, Inside, Segments, Shared};
use analysis::{Granularity, Overheads, ServiceCurve, Time};
use manifest::System;

/// The class of service curves that all users' leaves are right in, if there is one.
pub fn class(system: &System, shared: &Lent) -> Option<usize> {
    let above = |user: &&User| system.reservations[user.leaf?].class;
    let class = shared.users.first().and_then(above)?;
    let is_curved = system.reservations[class].policy == Some(Policy::ServiceCurves);
    (is_curved && shared.users.iter().all(|user| above(user) == Some(class))).then_some(class)
}

/// What makes one leaf more urgent than another: the share that it has in the long run.
fn urgency(system: &System, user: &User) -> u32 {
    match user.leaf.map(|leaf| system.reservations[leaf].share) {
        Some(Share::Curve { share, .. }) => share.rest,
        _ => 0,
    }
}

/// Those of the other users that are at least as urgent as one, and those that are less.
fn others<'u, 'a>(
    system: &System,
    shared: &Lent<'u, 'a>,
    user: &User,
) -> (Vec<&'u User<'a>>, Vec<&'u User<'a>>) {
    let own = urgency(system, user);
    let others = shared.users.iter().copied().filter(|other| other.name != user.name);
    others.partition(|other| urgency(system, other) >= own)
}

/// How often segments of a job of a user end by what it shares so, and how long others execute for
/// it then.
pub fn waits(system: &System, shared: &Lent, user: &User, context_switch: Time) -> (Time, Time) {
    let (urgent, less) = others(system, shared, user);
    if urgent.is_empty() && less.is_empty() {
        return (0, 0);
    }
    let longest = |other: &&User| other.longest(&shared.things, context_switch).unwrap_or(0);
    let sum = |users: &[&User]| users.iter().map(longest).fold(0, Time::saturating_add);
    let sections = user.holds(&shared.things).count() as Time;
    let (ahead, first) = (urgent.len() as Time, Time::from(!less.is_empty()));
    if let Thing::Server(_) = shared.things[0] {
        let each = 2 + ahead + less.len() as Time + ahead;
        return (sections * each, sections.saturating_mul(sum(&urgent).saturating_add(sum(&less))));
    }
    let owner = less.iter().map(longest).max().unwrap_or(0);
    if ahead <= 1 {
        // It waits, an owner ends, the other one comes and ends, and comes behind it; it ends.
        let each = 1 + first + ahead * (1 + first + 1 + 1);
        return (sections * each, sections.saturating_mul(owner.saturating_add(sum(&urgent))));
    }
    let (mut ends, mut length) = (sections * (2 + first), sections.saturating_mul(owner));
    for other in &urgent {
        let locks = locks(system, shared, user, other);
        ends = ends.saturating_add(locks.saturating_mul(2));
        length = length.saturating_add(locks.saturating_mul(longest(other)));
    }
    (ends, length)
}

/// How often another task locks a mutex while a job of this one runs, if both are in time.
fn locks(system: &System, shared: &Lent, user: &User, other: &User) -> Time {
    let job = |user: &User| user.leaf.and_then(|leaf| jobs(system, &system.reservations[leaf]));
    let Some((own, job)) = job(user).zip(job(other)) else { return Time::MAX };
    let jobs = own.period.saturating_add(job.deadline).div_ceil(job.period.max(1));
    jobs.saturating_mul(other.holds(&shared.things).count() as Time)
}

/// In which segments the jobs of a leaf are served, if it shares so.
fn segments(system: &System, all: &[Lent], leaf: &str, overheads: &Overheads) -> Option<Segments> {
    let mut found: Option<Segments> = None;
    for shared in all.iter().filter(|one| class(system, one).is_some()) {
        let Some(user) = shared.users.iter().find(|user| user.name == leaf) else { continue };
        let (ends, _) = waits(system, shared, user, overheads.context_switch);
        let segments = found.get_or_insert_with(|| Segments { count: 1, by: Vec::new() });
        segments.count = segments.count.saturating_add(ends);
        let (urgent, _) = others(system, shared, user);
        segments.by.extend(urgent.iter().filter_map(|other| curve(system, other)));
    }
    found.filter(|segments| segments.count > 1)
}

fn curve(system: &System, user: &User) -> Option<ServiceCurve> {
    match system.reservations[user.leaf?].share {
        Share::Curve { guaranteed, .. } => exact(guaranteed?),
        _ => None,
    }
}

/// Whether a leaf's thread can be lent another one of its class, which is more urgent.
fn is_away(system: &System, all: &[Lent], leaf: &str) -> bool {
    all.iter().filter(|one| class(system, one).is_some()).any(|shared| {
        let own = shared.users.iter().find(|user| user.name == leaf);
        own.is_some_and(|own| {
            shared.users.iter().any(|other| urgency(system, other) > urgency(system, own))
        })
    })
}

/// Says in which segments jobs are served, and how late all in a class are for those of it that are
/// back on their leaves.
pub fn divide(system: &System, overheads: &Overheads, class: &mut Class) {
    let users = users(system);
    let all = lent(system, &users);
    let mut away = |granularity: &mut Granularity, children: &mut [Shared]| {
        let late = count_away(system, &all, children).saturating_mul(QUANTUM);
        granularity.non_preemptive = granularity.non_preemptive.saturating_add(late);
        for child in children.iter_mut().filter(|child| matches!(child.inside, Inside::Task(_))) {
            child.segments = segments(system, &all, &child.name, overheads);
        }
    };
    class.each_of_curves(&mut away);
}

/// How many leaves can be lent others below these children, those of classes of curves included.
fn count_away(system: &System, all: &[Lent], children: &[Shared]) -> Time {
    let count = |child: &Shared| match &child.inside {
        Inside::Task(_) | Inside::Open => Time::from(is_away(system, all, &child.name)),
        Inside::Class(Class::ServiceCurves { children, .. }) => count_away(system, all, children),
        Inside::Class(_) => 0,
    };
    children.iter().map(count).sum()
}

#[cfg(test)]
mod tests {
    use crate::commands::check::decided::decide;
    use analysis::Overheads;

    /// A leaf: its curve in percent, the execution and period of its jobs in ms, and its sections.
    type Leaf<'a> = (&'a str, u64, [u64; 2], &'a str);

    /// Bounds in us of leaves in a class of service curves, which share mutexes or a server.
    fn bounds(leaves: &[Leaf], from: &str, to: &str) -> Vec<Option<u64>> {
        let mut text = "[system]\nname = \"a\"\n[[mutex]]\nname = \"m\"\n[[mutex]]\nname = \"n\"\n\
             [[endpoint]]\nname = \"e\"\nserves = true\n[[endpoint]]\nname = \"f\"\n\
             [[domain]]\nname = \"server\"\nprogram = \"busy\"\npriority = 5\n\
             caps = [{ name = \"e\", endpoint = \"e\", rights = [\"receive\"] }]\n\
             [[reservation]]\nname = \"class\"\npolicy = \"service-curves\"\npriority = 300\n"
            .to_string();
        let threads = leaves.len();
        let mut tasks = format!(
            "[[domain]]\nname = \"d\"\nprogram = \"busy\"\npriority = 9\nthreads = {threads}\n\
             caps = [{{ name = \"e\", endpoint = \"e\", rights = [\"send\"] }}]\n"
        );
        for (name, curve, [execution, period], sections) in leaves {
            text += &format!(
                "[[reservation]]\nname = \"{name}\"\nin = \"class\"\ncurve = \"{curve}%\"\n"
            );
            tasks += &format!(
                "[[domain.task]]\nname = \"task-{name}\"\npriority = 9\nreservation = \"{name}\"\n\
                 execution = \"{execution}ms\"\nperiod = \"{period}ms\"\nsections = [{sections}]\n"
            );
        }
        let text = text + &tasks;
        assert!(text.contains(from), "{from}");
        let text = text.replace(from, to);
        let system = manifest::parse("a.toml", &text).unwrap_or_else(|wrong| panic!("{wrong}"));
        let bounds = decide(&system, Overheads::default()).expect("there are tasks").bounds();
        leaves.iter().map(|(name, ..)| bounds.get(*name).map(|bound| bound / 1_000)).collect()
    }

    const LONG: &str = "{ mutex = \"m\", length = \"1ms\" }";
    const SHORT: &str = "{ mutex = \"m\", length = \"200us\" }";
    const CALL: &str = "{ endpoint = \"e\", length = \"200us\" }";

    /// Of two, the less urgent is served in five segments: before the wait, while the other one has
    /// the mutex, on its own leaf, on the other's that waits, and behind that. The more urgent one
    /// in three. Leaves are one quantum later for the one that comes back, also those that share
    /// nothing.
    #[test]
    fn segments_are_counted_by_hand() {
        let one = ("one", 20, [1, 200], SHORT);
        let two = ("two", 40, [2, 300], LONG);
        let third = ("third", 10, [1, 500], "");
        let all = [one, two, third];
        let (slow, fast) = (5 * 12_000 + 2_000 * 5, 3 * 7_000 + 2_200 * 5 / 2);
        assert_eq!(bounds(&all, "a", "a"), [Some(slow), Some(fast), Some(22_000)]);
        // Equals lend each other nothing, and none is away: one quantum less each time.
        let equal = ("two", 20, [2, 300], LONG);
        let of_both = [5 * 11_000 + 2_000 * 5, 5 * 11_000 + 2_200 * 5].map(Some);
        assert_eq!(bounds(&[one, equal], "a", "a"), of_both);
        // Without anything to share, or others that do, it is one piece.
        let alone = [Some(10_000 + 1_000), None, Some(21_000)];
        let silent = bounds(&[("one", 20, [1, 200], SHORT), ("two", 40, [2, 300], "")], "a", "a");
        assert_eq!(silent[0], alone[0]);
    }

    /// With two that are at least as urgent, each passes as often as it locks within a period: in
    /// 1,000 ms four jobs of one, and three of the other.
    #[test]
    fn several_that_are_more_urgent_pass_as_often_as_they_come() {
        let two = ("two", 20, [1, 400], SHORT);
        let three = ("three", 30, [1, 500], LONG);
        let all = [("one", 10, [1, 1_000], SHORT), two, three];
        let locks = 4 + 3;
        let work = 1_000 + 4 * 200 + 3 * 1_000;
        let later = 2_000 * 10 + 1_000 + 2 * 1_000;
        let expected = (1 + 2 + 2 * locks) * later + work * 10;
        assert_eq!(bounds(&all, "a", "a")[0], Some(expected));
        // The one between is passed by one, and waits for one less urgent owner.
        let later = 2_000 * 5 + 1_000 + 2 * 1_000;
        let work = 1_000 + 1_000 + 200;
        assert_eq!(bounds(&all, "a", "a")[1], Some((1 + 6) * later + work * 5));
    }

    /// At a server each other one goes before once, the less urgent ones too.
    #[test]
    fn calls_are_served_in_their_order() {
        let two = ("two", 20, [1, 400], CALL);
        let three = ("three", 40, [1, 500], CALL);
        let all = [("one", 20, [1, 1_000], CALL), two, three];
        let later = 2_000 * 5 / 2 + 1_000 + 2 * 1_000;
        let expected = (1 + 4) * later + (1_000 + 2 * 200) * 5 / 2;
        assert_eq!(bounds(&all, "a", "a")[2], Some(expected));
        assert_eq!(bounds(&all, "serves = true\n", ""), [None; 3]);
    }

    #[test]
    fn what_is_not_counted_has_no_bound() {
        let both = "{ mutexes = [\"m\", \"n\"], length = \"200us\" }";
        let one = ("one", 20, [1, 200], both);
        let two = ("two", 40, [2, 300], LONG);
        assert_eq!(bounds(&[one, two], "a", "a"), [None; 2]);
        let one = ("one", 20, [1, 200], SHORT);
        let inner = "[[reservation]]\nname = \"inner\"\nin = \"class\"\ncurve = \"40%\"\n\
             policy = \"service-curves\"\n[[reservation]]\nname = \"two\"\nin = \"inner\"\n";
        let leaf = "[[reservation]]\nname = \"two\"\nin = \"class\"\n";
        assert_eq!(bounds(&[one, two], leaf, inner), [None; 2]);
        let without = "in = \"class\"\nshare = \"40%\"";
        assert_eq!(bounds(&[one, two], "in = \"class\"\ncurve = \"40%\"", without), [None; 2]);
    }
}
