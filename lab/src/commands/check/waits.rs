//! Waits by messages that may never end, or last long, by the rights that domains have.

use super::note::Note;
use super::watched;
use abi::Rights;
use abi::boot::ALL_CPUS;
use abi::object::Resource;
use abi::reservation::{Budget, Server};
use analysis::time;
use manifest::{Domain, Reaction, Reservation, System};

/// What is to be known of endpoints and of who serves them.
pub fn notes(system: &System) -> Vec<Note> {
    let mut notes = Vec::new();
    for (index, endpoint) in system.endpoints.iter().enumerate() {
        let name = &endpoint.name;
        let servers = system.servers(index);
        let callers: Vec<&Domain> =
            system.domains.iter().filter(|it| it.may(index, Rights::SEND)).collect();
        let handled = system.domains.iter().filter_map(|it| it.fault_handler.as_ref());
        let is_handler = handled.map(|handler| handler.endpoint).any(|it| it == index);
        if servers.is_empty()
            && let Some(caller) = callers.first()
        {
            let text = format!(
                "no domain may receive from endpoint `{name}`: a message of `{}` is never \
                 received, and waits there until it is ended, for instance by a deadline",
                caller.name
            );
            notes.push(Note::new(&caller.program_at, text));
        }
        if callers.is_empty()
            && !servers.is_empty()
            && !is_handler
            && endpoint.notification.is_none()
        {
            let server = &system.domains[servers[0]];
            let text = format!(
                "no domain may send to endpoint `{name}`, from which `{}` may receive",
                server.name
            );
            notes.push(Note::new(&server.program_at, text));
        }
        for server in servers.iter().map(|server| &system.domains[*server]) {
            if server.may(index, Rights::SEND) && servers.len() == 1 && is_single(server) {
                let text = format!(
                    "`{}` may call endpoint `{name}`, from which it alone may receive, with its \
                     only thread: such a call is never answered, unless the right is given away, \
                     and waits until it is ended, for instance by a deadline",
                    server.name
                );
                notes.push(Note::new(&server.program_at, text));
            }
            notes.extend(held(system, (name, index), server));
        }
    }
    notes.extend(cycle(system));
    notes.extend(watched::notes(system));
    notes
}

/// Whether a domain has one thread, and makes no other thread or domain that could answer it.
pub(super) fn is_single(domain: &Domain) -> bool {
    let more = [Resource::Threads, Resource::Domains];
    domain.threads == 1 && more.iter().all(|resource| domain.quota[*resource as usize] == 0)
}

/// How a server without a reservation lets its callers hold each other, under the kernel with the
/// tree: it runs on the time of the caller that it works for, if that is of its own CPU.
fn held(system: &System, (name, index): (&str, usize), server: &Domain) -> Option<Note> {
    if !system.needs_tree() || server.reservation.is_some() {
        return None;
    }
    let others = system.domains.iter().filter(|domain| domain.name != server.name);
    let callers: Vec<&Domain> = others.filter(|domain| domain.may(index, Rights::SEND)).collect();
    let limits = callers.iter().flat_map(|caller| limits(system, caller, server));
    let (caller, node, limit) = limits.max_by_key(|(_, _, limit)| limit.period - limit.budget)?;
    let class = match node.policy {
        Some(_) => format!(" by class `{}`", node.name),
        None => String::new(),
    };
    let has = if node.adaptive.is_some() { "can be left with" } else { "has" };
    let text = format!(
        "`{}` has no reservation: unless it says that it serves `{name}`, it runs on its caller's \
         time, and stands still when that is used up. `{}`, which {has} {} in {}{class}, can so \
         hold the callers behind it for {} each time",
        server.name,
        caller.name,
        time(limit.budget),
        time(limit.period),
        time(limit.period - limit.budget)
    );
    (callers.len() > 1).then(|| Note::new(&server.program_at, text))
}

/// What a domain runs on and lends to a server, with what is left of the budget at least: its own
/// reservation and the classes around it that stand still without budget.
fn limits<'a>(
    system: &'a System,
    domain: &'a Domain,
    server: &Domain,
) -> impl Iterator<Item = (&'a Domain, &'a Reservation, Budget)> {
    let may_lend = |own: &usize| {
        let cpu = system.reservations[*own].cpu;
        cpu != ALL_CPUS && watched::runs_on(system, server, cpu)
    };
    let own = domain.reservation.filter(may_lend);
    own.into_iter().flat_map(move |own| system.around(own)).filter_map(move |at| {
        let node = &system.reservations[at];
        let limit = node.limit()?;
        let stands_still = limit.server != Server::ConstantSoft && node.overrun == Reaction::Usual;
        let budget = node.adaptive.map_or(limit.budget, |own| own.least);
        stands_still.then_some((domain, node, Budget { budget, ..limit }))
    })
}

/// Domains that may call each other in a ring, each with a single endpoint's name.
fn cycle(system: &System) -> Option<Note> {
    let calls = |from: usize, to: usize| {
        from != to
            && (0..system.endpoints.len()).any(|endpoint| {
                system.domains[from].may(endpoint, Rights::SEND)
                    && system.domains[to].may(endpoint, Rights::RECEIVE)
            })
    };
    let count = system.domains.len();
    let mut path: Vec<usize> = Vec::new();
    let mut done = vec![false; count];
    for start in 0..count {
        if let Some(ring) = ring_from(start, &calls, &mut path, &mut done, count) {
            let name = |at: &usize| format!("`{}`", system.domains[*at].name);
            let names: Vec<String> = ring.iter().map(name).collect();
            let text = format!(
                "{} may call each other in a ring: while all threads of each wait for the next \
                 one, none goes on",
                names.join(", ")
            );
            return Some(Note::new(&system.domains[ring[0]].program_at, text));
        }
    }
    None
}

/// A ring of calls that a search in depth comes upon.
fn ring_from(
    at: usize,
    calls: &impl Fn(usize, usize) -> bool,
    path: &mut Vec<usize>,
    done: &mut [bool],
    count: usize,
) -> Option<Vec<usize>> {
    if let Some(first) = path.iter().position(|on| *on == at) {
        return Some(path[first..].to_vec());
    }
    if std::mem::replace(&mut done[at], true) {
        return None;
    }
    path.push(at);
    let found = (0..count)
        .filter(|to| calls(at, *to))
        .find_map(|to| ring_from(to, calls, path, done, count));
    path.pop();
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(system: &System) -> String {
        notes(system).into_iter().map(|note| note.text + "\n").collect()
    }

    const RIGHTS: [&str; 4] = ["", "send", "receive", "send receive"];

    /// Two domains with these rights to one endpoint, and so many threads each.
    fn system(rights: [&str; 2], threads: u32) -> System {
        let mut text = "[system]\nname = \"waits\"\n[[endpoint]]\nname = \"door\"\n".to_string();
        for (name, rights) in ["first", "second"].into_iter().zip(rights) {
            let list: Vec<_> = rights.split(' ').map(|it| format!("\"{it}\"")).collect();
            let rights = format!("rights = [{}]", list.join(","));
            let cap = match list[0].as_str() {
                "\"\"" => String::new(),
                _ => format!("{{ name = \"door\", endpoint = \"door\", {rights} }}"),
            };
            text += &format!(
                "[[domain]]\nname = \"{name}\"\nprogram = \"hello\"\npriority = 50\n\
                 threads = {threads}\ncaps = [{cap}]\n"
            );
        }
        manifest::parse("waits.toml", &text).unwrap_or_else(|wrong| panic!("{wrong}"))
    }

    #[test]
    fn each_note_is_true() {
        for (first, second) in RIGHTS.into_iter().flat_map(|one| RIGHTS.map(|other| (one, other))) {
            for threads in [1, 2] {
                let notes = texts(&system([first, second], threads));
                let has = |right: &str| [first, second].map(|rights| rights.contains(right));
                let (sends, receives) = (has("send"), has("receive"));
                let any = |which: [bool; 2]| which[0] || which[1];
                let said = |words: &str| notes.contains(words);
                let case = format!("{first}; {second}; {threads}: {notes}");
                assert_eq!(said("no domain may receive"), any(sends) && !any(receives), "{case}");
                assert_eq!(said("no domain may send"), any(receives) && !any(sends), "{case}");
                let alone = |at: usize| sends[at] && receives[at] && !receives[1 - at];
                let itself = threads == 1 && (alone(0) || alone(1));
                assert_eq!(said("it alone may receive"), itself, "{case}");
                let ring = sends == [true; 2] && receives == [true; 2];
                assert_eq!(said("in a ring"), ring, "{case}");
            }
        }
    }

    /// Two callers, one in a class, and a server without a reservation: budgets in milliseconds of
    /// ten, ten for none.
    fn held_by(leaf: u64, class: u64, other: u64) -> System {
        let limit = |budget: u64| match budget {
            10 => String::new(),
            budget => format!("budget = \"{budget}ms\"\nperiod = \"10ms\"\n"),
        };
        let node = |name: &str, keys: &str, budget| {
            format!("[[reservation]]\nname = \"{name}\"\n{keys}{}", limit(budget))
        };
        let domain = |name: &str, right: &str, keys: &str| {
            format!(
                "[[domain]]\nname = \"{name}\"\nprogram = \"busy\"\npriority = 1\n{keys}caps = [\
                 {{ name = \"door\", endpoint = \"door\", rights = [\"{right}\"] }}]\n"
            )
        };
        let text = "[system]\nname = \"held\"\n[[endpoint]]\nname = \"door\"\n".to_string()
            + &node("class", "policy = \"fixed-priority\"\npriority = 302\n", class)
            + &node("one", "in = \"class\"\npriority = 2\n", leaf)
            + &node("two", "priority = 301\n", other)
            + &domain("first", "send", "reservation = \"one\"\n")
            + &domain("second", "send", "reservation = \"two\"\n")
            + &domain("server", "receive", "");
        manifest::parse("held.toml", &text).unwrap_or_else(|wrong| panic!("{wrong}"))
    }

    #[test]
    fn who_can_hold_the_others_is_true() {
        for leaf in [1, 4, 7, 10] {
            for class in [2, 4, 9, 10] {
                for other in [3, 8, 10] {
                    let notes = texts(&held_by(leaf, class, other));
                    let longest = 10 - leaf.min(class).min(other);
                    let case = format!("{leaf}, {class}, {other}: {notes}");
                    let said =
                        format!("can so hold the callers behind it for {longest}ms each time");
                    assert_eq!(notes.contains(&said), longest > 0, "{case}");
                    assert_eq!(notes.contains("can so hold"), longest > 0, "{case}");
                    let by_class = notes.contains("by class `class`");
                    assert!(!by_class || class <= leaf.min(other), "{case}");
                    assert!(by_class || longest == 0 || class >= leaf.min(other), "{case}");
                }
            }
        }
    }
}
