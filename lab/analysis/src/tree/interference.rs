//! What a class takes from others: the demand of all in it, and its timer interrupts.

use super::{Child, Class, Entity, Inside, Partition, Server, ServerKind};
use crate::overheads::Overheads;
use crate::task::Stream;

/// All that a class can use, as streams; `None`: it may take all the time.
pub fn demand(class: &Class, overheads: &Overheads) -> Option<Vec<Stream>> {
    let of_all = |parts: Vec<Option<Vec<Stream>>>| {
        parts.into_iter().collect::<Option<Vec<_>>>().map(|parts| parts.concat())
    };
    match class {
        Class::FixedPriority(entities) | Class::Edf(entities) => {
            of_all(entities.iter().map(|entity| of_entity(entity, overheads)).collect())
        }
        // On one CPU each job may run at any time until it is due, if it is in time.
        Class::GlobalEdf { children, behind, .. } => {
            let late = |entity: &Entity| {
                let due = match entity {
                    Entity::Task(task) => task.deadline,
                    Entity::Server(server) => server.period,
                    Entity::Class(_) | Entity::Open(_) => 0,
                };
                let jitter = |of: Stream| Stream { jitter: of.jitter.saturating_add(due), ..of };
                let streams = of_entity(entity, overheads)?;
                Some(streams.into_iter().map(jitter).collect())
            };
            let all = children.iter().map(late);
            behind.is_empty().then(|| of_all(all.collect())).flatten()
        }
        Class::ServiceCurves { children, .. } => {
            let of_child = |inside: &Inside| match inside {
                Inside::Task(task) => Some(vec![overheads.inflate(task).at_its_limit().stream()]),
                Inside::Class(class) => demand(class, overheads),
                Inside::Open => None,
            };
            of_all(children.iter().map(|child| of_child(&child.inside)).collect())
        }
        Class::Windows { frame, partitions } => {
            let of_partition = |partition: &Partition| {
                demand(&partition.class, overheads).or_else(|| {
                    let window = |cost| Stream { cost, period: *frame, jitter: 0 };
                    let windows = partition.windows.iter().map(|own| window(own.duration));
                    (!partition.is_background).then(|| windows.collect())
                })
            };
            of_all(partitions.iter().map(of_partition).collect())
        }
    }
}

/// [`demand`], of one child under fixed priorities or EDF.
pub(super) fn of_entity(entity: &Entity, overheads: &Overheads) -> Option<Vec<Stream>> {
    match entity {
        Entity::Task(task) => Some(vec![overheads.inflate(task).at_its_limit().stream()]),
        Entity::Server(server) if server.kind == ServerKind::SoftCbs => None,
        Entity::Server(server) => {
            let each = overheads.per_job().saturating_mul(server.activations());
            let cost = server.budget.saturating_add(each);
            Some(vec![Stream { cost, period: server.period, jitter: 0 }])
        }
        Entity::Class(plain) => demand(&plain.class, overheads),
        Entity::Open(open) => open.demand.clone(),
    }
}

/// The timer interrupts of everything below a class.
pub fn interrupts(class: &Class, overheads: &Overheads, into: &mut Vec<Stream>) {
    for (_, child) in class.children() {
        match child {
            Child::Task(task) => {
                into.extend(overheads.interrupts(1, task.period, task.jitter));
            }
            Child::Server(server) => {
                into.extend(server_interrupts(server, overheads));
            }
            Child::Class(_) | Child::Open => {}
        }
        if let Some(class) = child.class() {
            interrupts(class, overheads, into);
        }
    }
}

/// A soft server's budget can end as often as it is used up, whatever its period.
fn server_interrupts(server: &Server, overheads: &Overheads) -> Option<Stream> {
    let period = match server.kind {
        ServerKind::SoftCbs => server.budget.min(server.period),
        _ => server.period,
    };
    overheads.interrupts(2 * server.activations(), period, 0)
}
