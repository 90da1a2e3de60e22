//! A class of the analysis as nodes of the scheduling tree.

use crate::Time;
use abi::reservation::{
    Budget, Curve, Policy, Server as Kind, Share, Timing, WHOLE, Window as Slot,
};
use analysis::tree::{Class, Entity, Inside, Partition, Server, ServerKind};
use analysis::{ServiceCurve, Task};
use policies::tree::{Frame, NodeId, Tree, TreeError};

/// What stands where in the tree.
#[derive(Debug, Default)]
pub struct Planted {
    /// Leaves of tasks.
    pub tasks: Vec<(NodeId, Task)>,
    /// Leaves that are always ready.
    pub open: Vec<NodeId>,
}

/// Makes the nodes of a class: the root's children if the class is of fixed priorities, else a
/// class below the root. Time begins at 0.
///
/// # Errors
/// Those of admission: the tree refuses what it cannot promise.
pub fn plant(tree: &mut Tree<'_>, cpu: usize, class: &Class) -> Result<Planted, TreeError> {
    let root = tree.root(cpu);
    let mut planted = Planted::default();
    let at = match class {
        Class::FixedPriority(_) => root,
        _ => tree.create(root, Some(policy(class)), Share::Priority(0))?,
    };
    children(tree, at, class, &mut planted)?;
    Ok(planted)
}

/// Nodes of a class, itself included.
pub fn size(class: &Class) -> usize {
    let entity = |entity: &Entity| match entity {
        Entity::Task(_) | Entity::Open(_) => 1,
        Entity::Server(server) => size(&server.class),
        Entity::Class(plain) => size(&plain.class),
    };
    let below: usize = match class {
        Class::FixedPriority(entities)
        | Class::Edf(entities)
        | Class::GlobalEdf { children: entities, .. } => entities.iter().map(entity).sum(),
        Class::ServiceCurves { children, .. } => {
            let inside = |inside: &Inside| match inside {
                Inside::Class(class) => size(class),
                Inside::Task(_) | Inside::Open => 1,
            };
            children.iter().map(|child| inside(&child.inside)).sum()
        }
        Class::Windows { partitions, .. } => partitions.iter().map(|one| size(&one.class)).sum(),
    };
    below + 1
}

fn policy(class: &Class) -> Policy {
    match class {
        Class::FixedPriority(_) => Policy::FixedPriority,
        Class::Edf(_) | Class::GlobalEdf { .. } => Policy::EarliestDeadline,
        Class::ServiceCurves { .. } => Policy::ServiceCurves,
        Class::Windows { .. } => Policy::Partitions,
    }
}

fn children(
    tree: &mut Tree<'_>,
    at: NodeId,
    class: &Class,
    planted: &mut Planted,
) -> Result<(), TreeError> {
    match class {
        Class::FixedPriority(entities) => entities.iter().try_for_each(|entity| {
            let share = Share::Priority(u16::try_from(priority(entity)).unwrap_or(u16::MAX));
            self::entity(tree, at, share, entity, planted)
        }),
        Class::Edf(entities) | Class::GlobalEdf { children: entities, .. } => entities
            .iter()
            .try_for_each(|entity| self::entity(tree, at, Share::Deadline, entity, planted)),
        Class::ServiceCurves { children, .. } => children.iter().try_for_each(|child| {
            let share = match child.curve.as_ref().map(curve) {
                Some(curve) => Share::curve(curve),
                None => Share::Curve { guaranteed: None, share: Curve::linear(WHOLE) },
            };
            match &child.inside {
                Inside::Task(task) => leaf(tree, at, share, Some(task), planted),
                Inside::Open => leaf(tree, at, share, None, planted),
                Inside::Class(class) => below(tree, at, share, class, planted).map(drop),
            }
        }),
        Class::Windows { frame, partitions } => {
            tree.set_frame(at, windows(*frame, partitions)?, 0)?;
            (1..).zip(partitions).try_for_each(|(number, partition)| {
                let number = if partition.is_background { 0 } else { number };
                let priority = u16::try_from(partition.urgency.1).unwrap_or(u16::MAX);
                let share = Share::Partition { number, priority };
                below(tree, at, share, &partition.class, planted).map(drop)
            })
        }
    }
}

fn priority(entity: &Entity) -> u32 {
    match entity {
        Entity::Task(task) => task.priority,
        Entity::Server(server) => server.priority,
        Entity::Class(plain) => plain.priority,
        Entity::Open(open) => open.priority,
    }
}

fn entity(
    tree: &mut Tree<'_>,
    at: NodeId,
    share: Share,
    entity: &Entity,
    planted: &mut Planted,
) -> Result<(), TreeError> {
    match entity {
        Entity::Task(task) => leaf(tree, at, share, Some(task), planted),
        Entity::Open(_) => leaf(tree, at, share, None, planted),
        Entity::Class(plain) => below(tree, at, share, &plain.class, planted).map(drop),
        Entity::Server(server) => {
            let own = tree.create(at, Some(policy(&server.class)), share)?;
            tree.set_budget(own, Some(budget(server)), 0)?;
            children(tree, own, &server.class, planted)
        }
    }
}

fn leaf(
    tree: &mut Tree<'_>,
    at: NodeId,
    share: Share,
    task: Option<&Task>,
    planted: &mut Planted,
) -> Result<(), TreeError> {
    let own = tree.create(at, None, share)?;
    match task {
        Some(task) => {
            let timing = Timing { deadline: task.deadline, period: task.period };
            tree.set_timing(own, Some(timing), 0)?;
            planted.tasks.push((own, task.clone()));
        }
        None => planted.open.push(own),
    }
    Ok(())
}

fn below(
    tree: &mut Tree<'_>,
    at: NodeId,
    share: Share,
    class: &Class,
    planted: &mut Planted,
) -> Result<NodeId, TreeError> {
    let own = tree.create(at, Some(policy(class)), share)?;
    children(tree, own, class, planted)?;
    Ok(own)
}

fn budget(server: &Server) -> Budget {
    let kind = match server.kind {
        ServerKind::Periodic => Kind::Periodic,
        ServerKind::HardCbs => Kind::Constant,
        ServerKind::SoftCbs => Kind::ConstantSoft,
        ServerKind::Sporadic => Kind::Sporadic,
    };
    Budget::new(kind, server.budget, server.period)
}

/// The tree's slopes are in millionths; what is finer is rounded up, so that no less is promised.
fn curve(curve: &ServiceCurve) -> Curve {
    let [first, rest] = [curve.first(), curve.long_run()].map(|slope| slope.div_ceil(1_000) as u32);
    Curve { slope: first, bend: curve.bend(), rest }
}

/// Windows of all partitions, and gaps for the background alone.
fn windows(frame: Time, partitions: &[Partition]) -> Result<Frame, TreeError> {
    let mut all: Vec<(Time, Time, u16)> = Vec::new();
    for (number, partition) in (1..).zip(partitions).filter(|(_, part)| !part.is_background) {
        let own = partition.windows.iter();
        all.extend(own.map(|window| (window.offset, window.offset + window.duration, number)));
    }
    all.sort_unstable();
    let (mut slots, mut end) = (Vec::new(), 0);
    for (from, to, partition) in all {
        if from > end {
            slots.push(Slot { end: from, partition: 0 });
        }
        slots.push(Slot { end: to, partition });
        end = to;
    }
    if end < frame {
        slots.push(Slot { end: frame, partition: 0 });
    }
    Frame::new(&slots, 0)
}
