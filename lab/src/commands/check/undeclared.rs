//! What tasks may wait for by their rights, and the manifest does not say of them: a bound holds
//! only as long as they do not.

use super::tree::loads;
use abi::Rights;
use manifest::{Domain, Section, Shared, System, Target};
use std::collections::BTreeSet;

/// What a task may wait for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Undeclared {
    /// Endpoints that it may call.
    pub calls: Vec<String>,
    /// Memory that it shares with other domains and may write: mutexes can lie there.
    pub memories: Vec<String>,
}

impl Undeclared {
    /// Of a task, or of what runs on a reservation.
    pub fn of(system: &System, task: &str) -> Undeclared {
        let (mut calls, mut memories) = (BTreeSet::new(), BTreeSet::new());
        for (at, domain, sections) in runners(system, task) {
            let declares = |endpoint: usize| {
                sections.iter().any(|section| section.shared == Shared::Endpoint(endpoint))
            };
            let may = |endpoint: &usize| domain.may(*endpoint, Rights::SEND);
            calls.extend((0..system.endpoints.len()).filter(may).filter(|it| !declares(*it)));
            let others = |memory: usize| others(system, at, memory);
            let is_open =
                |memory: &usize| others(*memory).any(|other| !share_mutex(sections, other));
            let own = (0..system.memories.len()).filter(|memory| writes(domain, *memory));
            memories.extend(own.filter(is_open));
        }
        let endpoint = |at: usize| system.endpoints[at].name.clone();
        let memory = |at: usize| system.memories[at].name.clone();
        Undeclared {
            calls: calls.into_iter().map(endpoint).collect(),
            memories: memories.into_iter().map(memory).collect(),
        }
    }

    /// Whether there is nothing.
    pub fn is_empty(&self) -> bool {
        self.calls.is_empty() && self.memories.is_empty()
    }

    /// What it must not do, behind "unless it".
    pub fn text(&self) -> String {
        let names = |all: &[String]| {
            all.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
        };
        let calls = (!self.calls.is_empty()).then(|| format!("calls {}", names(&self.calls)));
        let waits = (!self.memories.is_empty())
            .then(|| format!("waits in memory {}", names(&self.memories)));
        calls.into_iter().chain(waits).collect::<Vec<_>>().join(" or ")
    }
}

/// The domains in which a task runs, with what the manifest says that it shares.
fn runners<'a>(
    system: &'a System,
    task: &'a str,
) -> impl Iterator<Item = (usize, &'a Domain, &'a [Section])> {
    let node = system.reservations.iter().position(|node| node.name == task);
    system.domains.iter().enumerate().filter_map(move |(at, domain)| {
        if node.is_some() {
            let task = domain.tasks.iter().find(|own| own.reservation == node);
            let sections = task.map_or(&domain.sections[..], |own| &own.sections[..]);
            let is_here = task.is_some() || node == domain.reservation;
            return is_here.then_some((at, domain, sections));
        }
        let of_task = domain.tasks.iter().find(|own| own.name == task);
        let sections = of_task.map_or(&domain.sections[..], |own| &own.sections[..]);
        loads(domain).any(|(name, ..)| name == task).then_some((at, domain, sections))
    })
}

/// Whether a domain may write a memory, mapped for it or by itself.
fn writes(domain: &Domain, memory: usize) -> bool {
    let maps = domain.maps.iter().map(|map| (map.memory, map.rights));
    let caps = domain.caps.iter().filter_map(|cap| match cap.target {
        Target::Memory(at) => Some((at, cap.rights)),
        _ => None,
    });
    maps.chain(caps).any(|(at, rights)| at == memory && rights.contains(Rights::WRITE))
}

/// The other domains that may write a memory. The supervisor holds what it makes anew, and waits
/// for nothing in it.
fn others(system: &System, own: usize, memory: usize) -> impl Iterator<Item = &Domain> {
    let all = system.domains.iter().enumerate();
    let all = all.filter(move |(at, _)| *at != own && Some(*at) != system.supervisor);
    all.map(|(_, domain)| domain).filter(move |domain| writes(domain, memory))
}

/// Whether a task declares a mutex that another domain declares too: that it may wait there is
/// known.
fn share_mutex(sections: &[Section], other: &Domain) -> bool {
    let mutexes = |sections: &[Section]| -> BTreeSet<usize> {
        let of = |section: &Section| match &section.shared {
            Shared::Mutexes(all) => all.clone(),
            Shared::Endpoint(_) => Vec::new(),
        };
        sections.iter().flat_map(of).collect()
    };
    let theirs = other.tasks.iter().flat_map(|task| mutexes(&task.sections));
    let theirs: BTreeSet<usize> = theirs.chain(mutexes(&other.sections)).collect();
    !mutexes(sections).is_disjoint(&theirs)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two domains; the first has two tasks of which one declares what it does.
    fn system(rights: [&str; 2], declares: &str) -> System {
        let domain = |name: &str, rights: &str, tasks: &str| {
            let map = match rights {
                "" => String::new(),
                _ => format!("maps = [{{ memory = \"m\", rights = \"{rights}\" }}]\n"),
            };
            format!(
                "[[domain]]\nname = \"{name}\"\nprogram = \"busy\"\npriority = 50\nthreads = 2\n\
                 {map}\
                 caps = [{{ name = \"door\", endpoint = \"door\", rights = [\"send\"] }}]\n{tasks}"
            )
        };
        let task = |name: &str, sections: &str| {
            format!(
                "[[domain.task]]\nname = \"{name}\"\npriority = 40\nexecution = \"1ms\"\n\
                 period = \"9ms\"\nsections = [{sections}]\n"
            )
        };
        let tasks = task("says", declares) + &task("hides", "");
        let other = task("other", "{ mutex = \"lock\", length = \"1us\" }");
        let text = "[system]\nname = \"a\"\n[[endpoint]]\nname = \"door\"\n[[memory]]\n\
                    name = \"m\"\nsize = \"4K\"\n\
                    [[mutex]]\nname = \"lock\"\nprotocol = \"ceiling\"\n\
                    [[domain]]\nname = \"server\"\nprogram = \"busy\"\npriority = 45\n\
                    caps = [{ name = \"door\", endpoint = \"door\", rights = [\"receive\"] }]\n"
            .to_string();
        let text =
            text + &domain("first", rights[0], &tasks) + &domain("second", rights[1], &other);
        manifest::parse("a.toml", &text).unwrap_or_else(|wrong| panic!("{wrong}"))
    }

    /// What one task declares says nothing of another one.
    #[test]
    fn each_task_declares_for_itself() {
        let calls = "{ endpoint = \"door\", length = \"1us\" }";
        let system = system(["", ""], calls);
        assert!(Undeclared::of(&system, "says").is_empty());
        assert_eq!(Undeclared::of(&system, "hides").text(), "calls `door`");
    }

    /// Memory counts if both may write it, and no mutex of both is declared.
    #[test]
    fn shared_memory_is_named() {
        let locks = "{ mutex = \"lock\", length = \"1us\" }";
        for first in ["", "r", "rw"] {
            for second in ["", "r", "rw"] {
                let system = system([first, second], locks);
                let said = Undeclared::of(&system, "hides").memories;
                assert_eq!(!said.is_empty(), first == "rw" && second == "rw", "{first}, {second}");
                assert!(Undeclared::of(&system, "says").memories.is_empty());
            }
        }
        let both = system(["rw", "rw"], "");
        assert_eq!(Undeclared::of(&both, "says").text(), "calls `door` or waits in memory `m`");
    }
}
