//! Whether the supervisor can make a program that makes no progress again in time, and what the
//! supervisor itself costs others.

use super::note::Note;
use super::shared::{OnCpu, reports};
use super::waits;
use abi::boot::ALL_CPUS;
use abi::reservation::{LEVELS, LONGEST, Server, Share};
use analysis::{Overheads, time};
use manifest::{Domain, Reservation, System};
use std::collections::BTreeSet;

/// What can keep the supervisor from making programs again whose heartbeats are missing.
pub fn notes(system: &System) -> Option<Note> {
    let watcher = &system.domains[system.supervisor?];
    let beats = |domain: &&Domain| domain.restart.as_ref().is_some_and(|it| it.heartbeat.is_some());
    let watched = system.domains.iter().find(beats)?;
    let may_hold = |domain: &&Domain| {
        domain.name != watcher.name
            && runs_on(system, domain, cpu_of(system, watcher))
            && level(system, domain, domain.max_priority)
                >= level(system, watcher, watcher.priority)
            && !is_limited(system, domain)
    };
    let holding = || system.domains.iter().filter(|it| may_hold(it));
    let first = holding().next()?;
    let names: Vec<String> = holding().map(|it| format!("`{}`", it.name)).collect();
    let text = format!(
        "programs whose heartbeats are missing, such as `{}`, are not restarted while {} runs, \
         which is as urgent as the supervisor or more and has no limit: give `[supervisor]` a \
         higher `priority`, or the other a lower one or a `budget`",
        watched.name,
        names.join(" or ")
    );
    Some(Note::new(&first.program_at, text))
}

/// How urgent threads of a domain that have this priority are below the root.
pub(super) fn level(system: &System, domain: &Domain, priority: u8) -> u16 {
    domain.reservation.map_or(priority.into(), |at| system.urgency_of(at))
}

/// Whether something around a domain's threads has a budget, or windows that leave time.
fn is_limited(system: &System, domain: &Domain) -> bool {
    let mut around = domain.reservation.into_iter().flat_map(|at| system.around(at));
    around.any(|at| {
        let node = &system.reservations[at];
        node.limit().is_some_and(|limit| limit.server != Server::ConstantSoft)
            || has_windows_alone(system, node)
    })
}

/// Whether a reservation is a partition that does not have the whole frame.
fn has_windows_alone(system: &System, node: &Reservation) -> bool {
    let (Share::Partition { number, .. }, Some(class)) = (node.share, node.class) else {
        return false;
    };
    let windows = &system.reservations[class].windows;
    number > 0 && windows.iter().any(|window| window.partition != number)
}

/// The CPU of a domain's first thread, which of the supervisor is the one that watches.
fn cpu_of(system: &System, domain: &Domain) -> u32 {
    let own = domain.reservation.map(|at| system.reservations[at].cpu);
    own.unwrap_or(domain.cpu)
}

/// Whether a domain's threads can run on a CPU.
pub(super) fn runs_on(system: &System, domain: &Domain, cpu: u32) -> bool {
    let own = cpu_of(system, domain);
    let may = domain.cpus.is_none_or(|cpus| cpus & 1 << cpu != 0);
    let is_one = waits::is_single(domain) || domain.reservation.is_some();
    if is_one { own == cpu || own == ALL_CPUS } else { may }
}

/// The paths of tasks that are late, or have no bound, by the supervisor alone: without it they
/// fit.
pub fn late_by_supervisor(
    system: &System,
    overheads: Overheads,
    cpus: &[OnCpu],
) -> BTreeSet<String> {
    let late = || cpus.iter().flat_map(|on| &on.report.leaves).filter(|it| !it.verdict.fits());
    let without = late().next().and_then(|_| without_supervisor(system));
    let Some(without) = without else { return BTreeSet::new() };
    let after = reports(&without, overheads);
    let fits = |path: &str| {
        let mut leaves = after.iter().flat_map(|on| &on.report.leaves);
        leaves.any(|leaf| leaf.path == path && leaf.verdict.fits())
    };
    late().filter(|leaf| fits(&leaf.path)).map(|leaf| leaf.path.clone()).collect()
}

/// The same system with a supervisor that takes next to nothing.
fn without_supervisor(system: &System) -> Option<System> {
    let at = system.supervisor?;
    let mut without = system.clone();
    let domain = &mut without.domains[at];
    (domain.priority, domain.max_priority) = (0, 0);
    if let Some(own) = domain.reservation {
        let node = &mut without.reservations[own];
        let limit = node.limit.as_mut()?;
        (limit.budget, limit.period) = (1, LONGEST);
        node.share = Share::Priority(LEVELS - 1);
    }
    Some(without)
}

/// What is said of a task that is late by the supervisor.
pub fn reason(system: &System) -> String {
    let Some(domain) = system.supervisor.map(|at| &system.domains[at]) else {
        return String::new();
    };
    let limit = domain.reservation.and_then(|at| system.reservations[at].limit);
    match limit {
        Some(limit) => {
            let [budget, period] = [limit.budget, limit.period].map(time);
            format!(
                " Without the supervisor, which has {budget} in {period} before all others, it \
                 fits: give `[supervisor]` a smaller `budget`."
            )
        }
        None => format!(
            " Without the supervisor, which runs at priority {} without a limit, it fits: give \
             supervised domains a `max_priority`, and `[supervisor]` a `priority`, below its own.",
            domain.priority
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::check::decided::decide;

    /// A watched program of priority 50, and another one: its priority, CPU, and budget in
    /// milliseconds of 20; 20 is none.
    fn watched(beats: bool, other: (u8, u32), supervisor: Option<u8>) -> System {
        let beats = if beats { "heartbeat = \"20ms\"\n" } else { "" };
        let supervisor = supervisor
            .map_or(String::new(), |priority| format!("[supervisor]\npriority = {priority}\n"));
        let text = format!(
            "[system]\nname = \"a\"\ncpus = 2\n{supervisor}[[domain]]\nname = \"beater\"\n\
             program = \"busy\"\npriority = 50\nrestart = \"on-failure\"\n{beats}\
             [[domain]]\nname = \"hog\"\nprogram = \"busy\"\npriority = {}\ncpu = {}\n",
            other.0, other.1
        );
        manifest::parse("a.toml", &text).unwrap_or_else(|wrong| panic!("{wrong}"))
    }

    #[test]
    fn who_hides_a_missing_heartbeat_is_named() {
        for beats in [false, true] {
            for priority in [0, 49, 50, 51, 52, 100, 255] {
                for cpu in [0, 1] {
                    for supervisor in [None, Some(51), Some(100), Some(255)] {
                        let own = supervisor.unwrap_or(51);
                        let system = watched(beats, (priority, cpu), supervisor);
                        let said = notes(&system).is_some_and(|note| note.text.contains("`hog`"));
                        let expected = beats && cpu == 0 && priority >= own;
                        assert_eq!(said, expected, "{beats} {priority} {cpu} {supervisor:?}");
                    }
                }
            }
        }
    }

    /// A loop of 1 kHz in a supervised system with reservations; budgets in microseconds of 1 ms,
    /// and what the supervisor has of 20 ms.
    fn looped(execution: u64, supervisor: Option<u64>) -> System {
        let own = supervisor
            .map_or(String::new(), |budget| format!("[supervisor]\nbudget = \"{budget}us\"\n"));
        let text = format!(
            "[system]\nname = \"a\"\n{own}[[reservation]]\nname = \"loop\"\npriority = 301\n\
             execution = \"{execution}us\"\nperiod = \"1ms\"\ndeadline = \"1ms\"\n[[domain]]\n\
             name = \"control\"\nprogram = \"busy\"\npriority = 1\nreservation = \"loop\"\n\
             restart = \"on-failure\"\n"
        );
        manifest::parse("a.toml", &text).unwrap_or_else(|wrong| panic!("{wrong}"))
    }

    #[test]
    fn a_supervisor_that_makes_a_loop_late_is_named() {
        for execution in [100, 300, 600, 999, 1_001] {
            for supervisor in [None, Some(50), Some(200), Some(450)] {
                let system = looped(execution, supervisor);
                let decided = decide(&system, Overheads::default()).expect("a loop");
                let all = execution + supervisor.unwrap_or(1_000);
                let text = decided.text();
                let named = text.contains("Without the supervisor");
                assert_eq!(decided.fits(), all <= 1_000, "{text}");
                assert_eq!(named, all > 1_000 && execution <= 1_000, "{text}");
            }
        }
    }
}
