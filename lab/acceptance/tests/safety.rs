//! What is accepted misses nothing, whatever the parameters; and what should not have been
//! accepted is caught.

use acceptance::{Arranged, Parameters, Point, Policy, SHARD, Tally, arrange, run};
use analysis::Task;
use analysis::tree::{Class, Entity, analyse, fits};
use proptest::prelude::*;

const MS: u64 = 1_000_000;

fn parameters(policies: &[Policy]) -> Parameters {
    let policies = policies.to_vec();
    Parameters { policies, sets: SHARD, shortest: 10 * MS, longest: 100 * MS, deadline: 100 }
}

fn point(policy: Policy, utilisation: u64) -> Point {
    Point { cpus: if policy.is_for(1) { 1 } else { 4 }, tasks: 5, utilisation }
}

fn refuted(tally: &Tally) -> u64 {
    tally.counts.iter().map(|(_, counts)| counts.refuted).sum()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn what_is_accepted_misses_nothing(
        shortest in 4 * MS..20 * MS, decades in 1..30u64, deadline in 10..=100u64, sets in 1..20u64,
        cpus in 1..5usize, tasks in 2..9usize, utilisation in 20..=100u64, seed in any::<u64>(),
    ) {
        let longest = shortest * decades;
        let policies = Policy::ALL.to_vec();
        let parameters = Parameters { policies, sets, shortest, longest, deadline };
        let point = Point { cpus, tasks, utilisation };
        let tally = run(&parameters, seed, point, 0, Arranged::is_accepted).unwrap();
        prop_assert_eq!(tally.counters, vec![]);
        for (policy, counts) in tally.counts {
            prop_assert!(policy.is_for(cpus) && counts.sets == sets);
            prop_assert_eq!(counts.accepted + counts.pessimistic, counts.met);
            prop_assert!(!policy.is_exact() || counts.pessimistic == 0, "{:?}", policy);
        }
    }

    #[test]
    fn the_quick_decision_is_that_of_the_report(
        utilisation in 40..=100u64, set in 0..1_000_000u64,
    ) {
        for policy in Policy::ALL.into_iter().filter(|policy| *policy != Policy::GlobalEdf) {
            let point = point(policy, utilisation);
            let (tasks, _) = point.draw(&parameters(&[policy]), 1, set).unwrap();
            for tree in arrange(policy, &tasks, point.cpus, 10 * MS).trees {
                prop_assert_eq!(fits(&tree), analyse(&tree).fits(), "{:?}", policy);
            }
        }
    }
}

/// The tasks' share of a CPU is all that this analysis looks at.
fn by_utilisation(arranged: &Arranged) -> bool {
    let of_tasks = |tasks: &[Task]| -> f64 {
        tasks.iter().map(|task| task.execution as f64 / task.period as f64).sum()
    };
    let share = |class: &Class| match class {
        Class::FixedPriority(entities) | Class::Edf(entities) => {
            let task = |entity: &Entity| match entity {
                Entity::Task(task) => Some(task.clone()),
                _ => None,
            };
            of_tasks(&entities.iter().filter_map(task).collect::<Vec<_>>())
        }
        _ => 0.0,
    };
    let own = arranged.trees.iter().all(|tree| share(&tree.class) <= 1.0);
    own && of_tasks(&arranged.everywhere) <= arranged.cpus as f64
}

#[test]
fn an_unsafe_analysis_is_caught_under_each_policy() {
    for policy in Policy::ALL {
        // Under EDF utilisation decides, unless deadlines are short.
        let parameters = Parameters { deadline: 60, ..parameters(&[policy]) };
        let found = [90, 98].map(|utilisation| {
            run(&parameters, 1, point(policy, utilisation), 0, by_utilisation).unwrap()
        });
        let counters: Vec<_> = found.iter().flat_map(|tally| &tally.counters).collect();
        assert!(!counters.is_empty(), "{policy:?}");
        assert_eq!(counters.len() as u64, found.iter().map(refuted).sum::<u64>());
        assert!(counters[0].miss.contains("is due at"), "{counters:?}");
    }
}

#[test]
fn a_set_is_the_same_whatever_else_is_run() {
    const OWN: Policy = Policy::FixedPriority;
    let run = |policies: &[Policy], seed| {
        let tally = run(&parameters(policies), seed, point(OWN, 90), 0, |_| true).unwrap();
        tally.counts.into_iter().find(|(policy, _)| *policy == OWN)
    };
    assert_eq!(run(&[OWN], 7), run(&Policy::ALL, 7));
    assert_ne!(run(&[OWN], 7), run(&[OWN], 8));
}
