//! What the tasks of a system share, as the analysis sees it.

use crate::commands::check::lent;
use crate::commands::check::tree::loads;
use abi::Rights;
use abi::reservation::Inheritance;
use analysis::Time;
use analysis::blocking::{Protocol, Section, Sharer};
use manifest::{Domain, Protocol as Given, Section as Part, Shared, System, Target};
use std::collections::BTreeSet;

/// The tasks of all CPUs with what they share. What is shared has a number: first the mutexes, then
/// the servers of the endpoints.
pub struct Shares {
    /// The tasks.
    pub tasks: Vec<Of>,
    /// The protocol of each.
    pub protocols: Vec<Protocol>,
    /// What each is, and its name.
    pub names: Vec<(&'static str, String)>,
    /// Why a wait for it has no bound, if it has none.
    unprotected: Vec<Option<String>>,
}

/// One task.
pub struct Of {
    /// What messages call it.
    pub name: String,
    /// Its CPU.
    pub cpu: u32,
    /// Its deadline, in ns.
    pub deadline: Time,
    /// What it shares.
    pub sharer: Sharer,
    /// How often its job can have to wait for another one, or calls a server.
    pub waits: Time,
}

impl Shares {
    /// What the tasks of a system share, where a context switch takes so many ns: a section that
    /// holds several mutexes can wait inside, which is two of them each time.
    pub fn of(system: &System, context_switch: Time) -> Shares {
        let mutexes = system.mutexes.len();
        let mut tasks = Vec::new();
        for domain in &system.domains {
            let own = domain.tasks.iter().filter(|task| task.reservation.is_none());
            let own = own.map(|task| &task.sections[..]);
            let sections = domain.load.map(|_| &domain.sections[..]).into_iter().chain(own);
            for ((name, priority, load), parts) in loads(domain).zip(sections) {
                let section = |part: &Part| {
                    let mutexes = numbers(&part.shared, mutexes);
                    let inner = 2 * (mutexes.len() as Time - 1) * context_switch;
                    Section { mutexes, length: part.length.saturating_add(inner) }
                };
                let parts = parts.iter().filter(|part| !lent::is_lent(system, part));
                let sections: Vec<Section> = parts.map(section).collect();
                let waits = sections.iter().map(|section| section.mutexes.len() as Time).sum();
                let sharer = Sharer { priority: priority.into(), period: load.period, sections };
                tasks.push(Of { name, cpu: domain.cpu, deadline: load.deadline, sharer, waits });
            }
        }
        let names = system.mutexes.iter().map(|mutex| ("mutex", mutex.name.clone()));
        let served = system.endpoints.iter().map(|endpoint| ("endpoint", endpoint.name.clone()));
        let mut shares = Shares {
            protocols: Vec::new(),
            unprotected: Vec::new(),
            names: names.chain(served).collect(),
            tasks,
        };
        for number in 0..shares.names.len() {
            let (protocol, why) = match number.checked_sub(mutexes) {
                None => shares.of_mutex(inherited(system, number), number),
                Some(endpoint) => shares.of_server(system, endpoint, number),
            };
            shares.protocols.push(protocol);
            shares.unprotected.push(why);
        }
        shares
    }

    fn users(&self, number: usize) -> Vec<&Of> {
        let holds = |section: &Section| section.mutexes.contains(&number);
        self.tasks.iter().filter(|task| task.sharer.sections.iter().any(holds)).collect()
    }

    fn of_mutex(&self, given: Given, number: usize) -> (Protocol, Option<String>) {
        let users = self.users(number);
        let priority = |task: &&&Of| task.sharer.priority;
        let (high, low) = (users.iter().max_by_key(priority), users.iter().min_by_key(priority));
        let highest = high.map_or(0, |task| task.sharer.priority);
        let protocol = match given {
            Given::Ceiling(ceiling) => Protocol::Ceiling(ceiling.map_or(highest, u32::from)),
            Given::Inheritance | Given::Nothing => Protocol::Inheritance,
        };
        let cpus: BTreeSet<u32> = users.iter().map(|task| task.cpu).collect();
        let name = &self.names[number].1;
        let why = match (high, low) {
            _ if cpus.len() > 1 => Some(format!(
                "tasks of several CPUs share `{name}`, and for that no bound is known."
            )),
            (Some(high), Some(low)) if given == Given::Nothing && low.sharer.priority < highest => {
                Some(format!(
                    "`{}` can wait for `{}` to give up `{name}`, whose owner inherits nothing, so \
                     that all between them delay both. Use an `InheritMutex` or a \
                     `CeilingMutex`, and say so by its `protocol`.",
                    high.name, low.name
                ))
            }
            _ => None,
        };
        (protocol, why)
    }

    fn of_server(
        &self,
        system: &System,
        endpoint: usize,
        number: usize,
    ) -> (Protocol, Option<String>) {
        let users = self.users(number);
        let highest = users.iter().max_by_key(|task| task.sharer.priority);
        let servers = system.servers(endpoint);
        let (Some(highest), Some(server)) = (highest, servers.first()) else {
            return (Protocol::Inheritance, None);
        };
        let (server, priority) = (&system.domains[*server], highest.sharer.priority);
        let why = if users.iter().any(|task| task.cpu != server.cpu) {
            Some(format!(
                "`{}` is on another CPU than a task that calls it, and for that no bound is known.",
                server.name
            ))
        } else if server.reservation.is_some() {
            Some(format!(
                "`{}` runs on a reservation, and calls to it have no bound. Leave its \
                 `reservation` out, so that it runs by its priority.",
                server.name
            ))
        } else if u32::from(server.priority) < priority {
            Some(format!(
                "`{}` has priority {}, and `{}`, which calls it, {priority}: all between them \
                 delay both. Give it a `priority` of {priority} at least.",
                server.name, server.priority, highest.name
            ))
        } else if !system.needs_tree() && manifest::switches_directly(&system.kernel) {
            Some(format!(
                "kernel `{}` switches from `{}` to the caller that it answers, whoever is ready: a \
                 less urgent one delays all that are above it. Say `kernel = \"strict-lazy\"`.",
                system.kernel, server.name
            ))
        } else {
            None
        };
        (Protocol::Ceiling(server.max_priority.into()), why)
    }

    /// Why a task has no bound, if that is so: it waits without end, or a more urgent one does, so
    /// that its jobs come closer to each other.
    pub fn unprotected(&self, ceilings: &[u32], task: &Of) -> Option<String> {
        let mut all = self.unprotected.iter().enumerate();
        all.find_map(|(number, why)| {
            let is_here = self.users(number).iter().any(|user| user.cpu == task.cpu);
            why.clone().filter(|_| is_here && ceilings[number] >= task.sharer.priority)
        })
    }
}

/// What the owner of a mutex has of those that wait: nothing, where leaves are not lent.
fn inherited(system: &System, mutex: usize) -> Given {
    match (system.mutexes[mutex].protocol, system.inheritance) {
        (Given::Inheritance, Inheritance::None) => Given::Nothing,
        (protocol, _) => protocol,
    }
}

/// The numbers of what a section holds.
fn numbers(shared: &Shared, mutexes: usize) -> Vec<usize> {
    match shared {
        Shared::Mutexes(all) => all.clone(),
        Shared::Endpoint(endpoint) => vec![mutexes + endpoint],
    }
}

/// Whether a domain does nothing but answer calls that are sections of tasks.
pub fn only_serves(system: &System, index: usize) -> bool {
    let domain = &system.domains[index];
    let endpoints: Vec<usize> = (0..system.endpoints.len())
        .filter(|endpoint| domain.may(*endpoint, Rights::RECEIVE))
        .collect();
    let is_called = |endpoint: &usize| {
        let is_alone = system.endpoints[*endpoint].notification.is_none();
        let others = system.domains.iter().filter(|it| it.may(*endpoint, Rights::SEND));
        let faults = system.domains.iter().filter_map(|it| it.fault_handler.as_ref());
        is_alone
            && others.clone().count() > 0
            && others.clone().all(|it| it.cpu == domain.cpu && calls(it, *endpoint))
            && faults.map(|handler| handler.endpoint).all(|it| it != *endpoint)
    };
    let wakes = domain.caps.iter().any(|cap| {
        let signalled = matches!(cap.target, Target::Notification(_));
        matches!(cap.target, Target::Timer(_) | Target::Interrupt(_))
            || signalled && cap.rights.contains(Rights::RECEIVE)
    });
    loads(domain).next().is_none()
        && !endpoints.is_empty()
        && !wakes
        && endpoints.iter().all(is_called)
}

fn calls(domain: &Domain, endpoint: usize) -> bool {
    let tasks = domain.tasks.iter().flat_map(|task| &task.sections);
    let mut all = domain.sections.iter().chain(tasks);
    all.any(|section| section.shared == Shared::Endpoint(endpoint))
}
