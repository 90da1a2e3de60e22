//! Jobs that messages release: what the analysis takes for granted of who sends them.

use super::note::Note;
use super::tree::{is_adaptive, jobs};
use super::waits::is_single;
use abi::Rights;
use analysis::time;
use manifest::{Domain, System};

/// For each program with a thread on a reservation of its own whose jobs are messages of others.
pub fn notes(system: &System) -> Vec<Note> {
    let mut notes = Vec::new();
    for server in system.domains.iter().filter(|it| is_single(it)) {
        let is_own = |leaf: &usize| {
            system.domains.iter().filter(|it| it.reservation == Some(*leaf)).count() == 1
        };
        let Some(leaf) = server.reservation.filter(is_own) else { continue };
        if system.around(leaf).any(|at| is_adaptive(system, at)) {
            continue;
        }
        let Some(task) = jobs(system, &system.reservations[leaf]) else { continue };
        for (index, endpoint) in system.endpoints.iter().enumerate() {
            let sends = |it: &&Domain| it.name != server.name && it.may(index, Rights::SEND);
            let senders: Vec<String> =
                system.domains.iter().filter(sends).map(|it| format!("`{}`", it.name)).collect();
            if server.may(index, Rights::RECEIVE) && !senders.is_empty() {
                let text = format!(
                    "each message to endpoint `{}` that `{}` receives releases a job of `{}`, \
                     whose bound is for those that come {} apart at least: {} may send there",
                    endpoint.name,
                    server.name,
                    system.reservations[leaf].name,
                    time(task.period),
                    senders.join(" or ")
                );
                notes.push(Note::new(&server.program_at, text));
            }
        }
    }
    notes
}
