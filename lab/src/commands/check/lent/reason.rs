//! Why waits for what a task on a reservation shares have no bound.

use super::budget::{PARTS, jobs, parts};
use super::{Lent, Thing, User, curves, things};
use crate::commands::check::decided::name;
use crate::commands::check::tree::limit;
use abi::reservation::{Inheritance, Policy, Server};
use analysis::tree::Report;
use manifest::{Protocol, Reservation, System};

fn called(system: &System, thing: Thing) -> &str {
    match thing {
        Thing::Mutex(at) => &system.mutexes[at].name,
        Thing::Server(at) => &system.endpoints[at].name,
    }
}

/// What messages call all that is shared.
fn spelt(system: &System, shared: &Lent) -> String {
    let all = shared.things.iter().map(|thing| format!("`{}`", called(system, *thing)));
    all.collect::<Vec<_>>().join(", ")
}

/// Why waits for something have no bound, if that is so by the manifest alone.
pub fn why(system: &System, lent: &[Lent], shared: &Lent) -> Option<String> {
    let mut things = shared.things.iter();
    let of_things = things.find_map(|thing| of_thing(system, shared, *thing));
    of_things.or_else(|| of_leaves(system, lent, shared))
}

/// The classes that a user is in, from below the root on, and its leaf.
pub fn way(system: &System, user: &User) -> Vec<usize> {
    let mut way: Vec<usize> = user.leaf.into_iter().flat_map(|leaf| system.around(leaf)).collect();
    way.reverse();
    way
}

/// The same by where its users run: from the class that all of them are in on, what runs is the
/// most urgent that is ready, and nothing waits for budget.
fn of_leaves(system: &System, lent: &[Lent], shared: &Lent) -> Option<String> {
    let (what, of) = (spelt(system, shared), |at: usize| &system.reservations[at]);
    let ways: Vec<Vec<usize>> = shared.users.iter().map(|user| way(system, user)).collect();
    let first = shared.users.iter().find(|user| user.leaf.is_some())?;
    let other = shared.users.iter().find(|user| user.name != first.name)?;
    let is_of_all = |depth: &usize| ways.iter().all(|way| way.get(*depth) == ways[0].get(*depth));
    let depth = (0..ways[0].len()).take_while(is_of_all).count();
    let classes = |from: usize| {
        let below = ways.iter().flat_map(move |way| way.iter().skip(from));
        below.map(|at| of(*at)).filter(|node| node.policy.is_some())
    };
    let is_ordered = |class: &&Reservation| {
        matches!(class.policy, Some(Policy::FixedPriority | Policy::EarliestDeadline))
    };
    let is_of_curves = curves::class(system, shared).is_some();
    if let Some(user) = shared.users.iter().find(|user| user.cpu != first.cpu) {
        Some(format!(
            "`{}` and `{}` share {what} from different CPUs, and a reservation is inherited on \
             its own CPU alone.",
            first.name, user.name
        ))
    } else if is_of_curves && are_several(system, shared) {
        Some(format!(
            "`{}` shares {what} under service curves, where it is not counted how often others go \
             before a job at mutexes that are held together, or at a server of several endpoints.",
            first.name
        ))
    } else if let Some(class) =
        classes(depth.saturating_sub(1)).filter(|_| !is_of_curves).find(|class| !is_ordered(class))
    {
        Some(unordered(first, &what, class))
    } else if let Some(class) = classes(depth).find(|class| limit(class).is_some()) {
        Some(format!(
            "`{}` and `{}` share {what}, and not all that share it are in `{}`, whose budget can \
             hold the others. Give its `budget` to a class around all of them.",
            first.name, other.name, class.name
        ))
    } else {
        let mut users = shared.users.iter();
        let of_budget = users.find_map(|user| of_budget(system, lent, shared, user));
        of_budget.or_else(|| of_order(system, shared, &ways))
    }
}

/// Whether mutexes are held together, or one server has several endpoints.
fn are_several(system: &System, shared: &Lent) -> bool {
    let serves_others = |thing: &Thing| match thing {
        Thing::Mutex(_) => false,
        Thing::Server(endpoint) => served_with(system, *endpoint) > 1,
    };
    shared.things.len() > 1 || shared.things.iter().any(serves_others)
}

/// Why those that share in a class have no bound that goes neither by priorities nor by deadlines.
fn unordered(user: &User, what: &str, class: &Reservation) -> String {
    let (name, class_name) = (&user.name, &class.name);
    match class.policy {
        Some(Policy::ServiceCurves) => format!(
            "`{name}` shares {what} in `{class_name}`, a class of service curves, and not all that \
             share it are directly in that class."
        ),
        _ => format!(
            "`{name}` shares {what} in `{class_name}`, a class of time partitions: a thread that \
             holds it there may be in another window."
        ),
    }
}

/// The same by the budget of a user's leaf, which must never be used up.
fn of_budget(system: &System, lent: &[Lent], shared: &Lent, user: &User) -> Option<String> {
    let leaf = &system.reservations[user.leaf?];
    let limit = limit(leaf)?;
    let (name, what) = (&leaf.name, spelt(system, shared));
    let policy = leaf.class.map(|at| system.reservations[at].policy);
    let why = if policy.is_some_and(|policy| policy != Some(Policy::FixedPriority)) {
        "behind each wait it has another deadline".to_string()
    } else if leaf.adaptive.is_some() {
        "it follows demand".to_string()
    } else if limit.server != Server::Sporadic {
        "what comes back while it waits is lost. Say `server = \"sporadic\"`".to_string()
    } else if shared.things.len() > 1 || matches!(shared.things[0], Thing::Server(_)) {
        "the parts in which it comes back are not counted for calls, nor for mutexes that are held \
         together"
            .to_string()
    } else {
        let all = jobs(system, leaf).zip(parts(system, lent, user));
        let all = all.map_or(u64::MAX, |(jobs, parts)| jobs.saturating_mul(parts));
        if all <= PARTS {
            return None;
        }
        format!(
            "it can come back in {all} parts, one for each wait, where the kernel keeps {PARTS}"
        )
    };
    Some(format!(
        "`{name}` shares {what} and has a budget of its own: {why}. Leave its `budget` out, or \
         give one to its class."
    ))
}

/// The same by who lends, where more wait than the kernel compares of those that are as urgent
/// below the root as any on a reservation: of one mutex or two that a thread has, four of each.
fn of_order(system: &System, shared: &Lent, ways: &[Vec<usize>]) -> Option<String> {
    let held = |user: &&User| user.holds(&shared.things).map(|it| things(it).len()).max();
    let held = match shared.things[0] {
        Thing::Mutex(_) => shared.users.iter().filter_map(held).max()?,
        Thing::Server(at) => served_with(system, at),
    };
    let compared = [4, 4, 4, 2, 2].get(held).copied().unwrap_or(0);
    let key = |(user, way): (&&User, &Vec<usize>)| {
        let node = way.first().map(|at| priority(system, *at));
        node.unwrap_or(user.priority).min(u8::MAX.into())
    };
    let keys: Vec<u32> = shared.users.iter().zip(ways).map(key).collect();
    let leaves = keys.iter().zip(&shared.users).filter(|(_, user)| user.leaf.is_some());
    let waiting = |key: &u32| {
        let equals = keys.iter().filter(|other| *other == key).count();
        // One of them is not waiting, if there are no others.
        equals - usize::from(equals == keys.len())
    };
    let (_, user) = leaves.into_iter().find(|(key, _)| waiting(key) > compared)?;
    let (name, what) = (&user.name, spelt(system, shared));
    Some(format!(
        "`{name}` shares {what} with so many that its owner may not inherit the most urgent \
         reservation: the kernel compares {compared} that wait. Let fewer share it."
    ))
}

/// How many endpoints the server of one serves.
fn served_with(system: &System, endpoint: usize) -> usize {
    let all = 0..system.endpoints.len();
    let servers = system.servers(endpoint);
    all.filter(|other| system.servers(*other).iter().any(|it| servers.contains(it))).count()
}

/// A node's priority, where its class goes by these.
pub fn priority(system: &System, at: usize) -> u32 {
    crate::commands::check::tree::priority(&system.reservations[at])
}

/// The same by what lends its users' leaves.
fn of_thing(system: &System, shared: &Lent, thing: Thing) -> Option<String> {
    let what = called(system, thing);
    let leaf = shared.users.iter().find_map(|user| user.leaf).map(|at| &system.reservations[at])?;
    match thing {
        _ if system.inheritance == Inheritance::None => Some(format!(
            "with `inheritance = \"none\"` the holder of `{what}` inherits no reservation."
        )),
        Thing::Server(endpoint) => of_server(system, endpoint, leaf.cpu),
        Thing::Mutex(mutex) => {
            let is_lent = system.mutexes[mutex].protocol == Protocol::Inheritance;
            (!is_lent).then(|| {
                format!(
                    "the owner of `{what}`, which a task on reservation `{}` shares, is lent \
                     nothing. Use an `InheritMutex`, and leave `protocol` out.",
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
            "a caller that waits in the queue of `{name}` lends nothing to `{}`, unless that says \
             that it serves (`Serve`). Let it, and write `serves = true` for the endpoint.",
            server.name
        ))
    } else {
        None
    }
}

/// The same if a user may be late: it may be in its section for as long.
pub fn late(report: &Report, system: &System, shared: &Lent) -> Option<String> {
    let is_late = |user: &&&User| {
        let mut own = report.leaves.iter().filter(|leaf| name(&leaf.path) == user.name);
        own.any(|leaf| !leaf.verdict.fits())
    };
    let user = shared.users.iter().find(is_late)?;
    let what = spelt(system, shared);
    Some(format!("`{}`, which shares {what}, may be late or has no bound itself.", user.name))
}
