//! Trees of two levels, whose schedules are played with random arrivals.

use crate::played_servers::{Dice, longest};
use crate::tasks::task;
use analysis::tree::{Class, Entity, Server, ServerKind};
use analysis::{Random, Task, Tree, Verdict, analyse};
use proptest::prelude::*;

/// A task that asks for little.
fn light() -> impl Strategy<Value = Task> {
    (task(2), 1..4u64).prop_map(|(task, factor)| {
        let execution = task.execution.min(2);
        let period = (task.period + 6) * factor;
        let deadline = task.deadline * factor + 8;
        Task { execution, period, deadline, blocking: 0, ..task }
    })
}

prop_compose! {
    fn server(kinds: &'static [ServerKind])(
        period in 4..12u64, share in 1..4u64, priority in 0..4u32,
        kind in prop::sample::select(kinds), by_deadline in any::<bool>(),
        tasks in prop::collection::vec(light(), 1..3),
    ) -> Entity {
        let tasks = match kind {
            ServerKind::SoftCbs => tasks[..1].to_vec(),
            _ => tasks,
        };
        let entities = tasks.into_iter().map(Entity::Task).collect();
        let class = if by_deadline { Class::Edf(entities) } else { Class::FixedPriority(entities) };
        let budget = (period / (share + 1)).max(1);
        Entity::Server(Server { name: "server".into(), kind, period, budget, priority, class })
    }
}

fn entities(kinds: &'static [ServerKind]) -> impl Strategy<Value = Vec<Entity>> {
    let entity = prop_oneof![1 => light().prop_map(Entity::Task), 3 => server(kinds)];
    prop::collection::vec(entity, 1..4)
}

/// No task of a played tree takes longer than its bound.
fn bounds_hold(root: Class, seed: u64) -> Result<(), TestCaseError> {
    let report = analyse(&Tree::new("cpu", root.clone()));
    let played = longest(&root, 1_500, &mut Dice(Random::of(seed)));
    prop_assert_eq!(report.leaves.len(), played.len());
    for (leaf, played) in report.leaves.iter().zip(played) {
        if let Verdict::Fits { bound, .. } | Verdict::Late { bound, .. } = leaf.verdict {
            prop_assert!(played <= bound as i64, "{played} of {}\n{report}", leaf.path);
        }
    }
    Ok(())
}

proptest! {
    #[test]
    fn bounds_hold_under_fixed_priorities(
        entities in entities(&[ServerKind::Periodic, ServerKind::Sporadic]), seed in any::<u64>(),
    ) {
        bounds_hold(Class::FixedPriority(entities), seed)?;
    }

    #[test]
    fn bounds_hold_under_edf(
        entities in entities(&[
            ServerKind::Periodic, ServerKind::Sporadic, ServerKind::HardCbs, ServerKind::SoftCbs,
        ]),
        seed in any::<u64>(),
    ) {
        bounds_hold(Class::Edf(entities), seed)?;
    }
}
