//! Whole trees: the ledger's examples, and numbers that mean nothing.

use analysis::tree::{Class, Entity, Inside, Open, Partition, Plain, Server, ServerKind, Shared};
use analysis::{
    Granularity, Limits, Overheads, ServiceCurve, Stream, Supply, Task, Tree, Verdict, Window,
    analyse,
};
use proptest::prelude::*;

const MS: u64 = 1_000_000;

fn server(name: &str, kind: ServerKind, budget: u64, period: u64, class: Class) -> Entity {
    let name = name.to_string();
    Entity::Server(Server { name, kind, period, budget, priority: 1, class })
}

fn task(name: &str, execution: u64, period: u64, priority: u32) -> Entity {
    Entity::Task(Task::new(name, execution, period).priority(priority))
}

/// S1 of ledger S2B-E01, with a budget.
fn case_study(budget: u64) -> Tree {
    let tasks = vec![task("a", 31 * MS, 200 * MS, 2), task("b", 31 * MS, 400 * MS, 1)];
    let class = Class::FixedPriority(tasks);
    let servers = vec![server("S1", ServerKind::Periodic, budget, 100 * MS, class)];
    Tree::new("cpu", Class::FixedPriority(servers))
}

#[test]
fn the_case_study_fits_and_says_by_how_much() {
    let report = analyse(&case_study(39 * MS));
    assert!(report.fits(), "{report}");
    let s1 = &report.servers[0];
    assert_eq!(s1.smallest, Some(31 * MS));
    // Alone it has its budget at once, so four come whole within 400, in which there is work for
    // 31 + 31 + 31.
    assert_eq!(s1.nearest, Some(23_250_000));
    // Ledger S2B-04: 39.37, which is above the paper's budget.
    let line = s1.smallest_linear.unwrap();
    assert!((39_370_000..39_371_000).contains(&line), "{line}");
    assert_eq!(analysis::minimal_budget(100 * MS, 200 * MS, 31 * MS), Ok(Some(line)));
}

#[test]
fn the_whole_case_study_fits_with_light_tasks() {
    let pair = |name: &str, periods: [u64; 2]| {
        let task = |period: u64| Entity::Task(Task::new(name, MS, period * MS));
        Class::Edf(periods.map(task).into())
    };
    let inner = |name: &str, budget, period, periods| {
        server(name, ServerKind::Periodic, budget * MS, period * MS, pair(name, periods))
    };
    let servers = vec![
        inner("S3", 4, 20, [40, 200]),
        inner("S4", 15, 100, [350, 200]),
        inner("S5", 10, 75, [350, 150]),
    ];
    let mut tree = case_study(39 * MS);
    let Class::FixedPriority(entities) = &mut tree.class else { panic!("another class") };
    let s2 = server("S2", ServerKind::Periodic, 6 * MS, 10 * MS, Class::Edf(servers));
    entities.push(s2);
    if let Entity::Server(s2) = &mut entities[1] {
        s2.priority = 2;
    }
    let report = analyse(&tree);
    assert!(report.fits(), "{report}");
    assert_eq!((report.classes.len(), report.servers.len(), report.leaves.len()), (6, 5, 8));
}

#[test]
fn a_budget_that_is_too_small_is_explained() {
    // Alone it would have its budget early in each period, and that would do.
    assert!(analyse(&case_study(25 * MS)).fits());
    let beside = |budget, hog| {
        let mut tree = case_study(budget);
        let Class::FixedPriority(entities) = &mut tree.class else { panic!("another class") };
        entities.push(task("hog", hog, 100 * MS, 9));
        analyse(&tree)
    };
    let report = beside(25 * MS, 75 * MS);
    assert!(!report.fits());
    let s1 = &report.classes[1];
    assert_eq!((s1.path.as_str(), s1.fits), ("cpu/S1", false));
    let reason = "`a` is late: response up to 256ms; demand 31ms by 200ms, supply 25ms";
    assert_eq!(s1.reason, reason);
    assert_eq!(report.servers[0].smallest, Some(31 * MS));
    assert_eq!(report.servers[0].nearest, None, "the hog leaves no more");
    let room = beside(20 * MS, 60 * MS);
    let nearest = room.servers[0].nearest.expect("there is one");
    assert!(nearest > 20 * MS && beside(nearest, 60 * MS).fits(), "{nearest}");
    assert!(!beside(nearest - 1, 60 * MS).fits());
    assert_eq!(report.leaves[1].largest_execution, Some(25 * MS));
    let text = report.to_string();
    assert!(text.contains("smallest budget 31ms") && text.contains("would fit with 25ms"));
    let fits = beside(31 * MS, 69 * MS);
    assert!(fits.fits(), "{fits}");
}

fn plain(name: &str, priority: u32, class: Class) -> Entity {
    Entity::Class(Plain { name: name.into(), priority, class })
}

fn open(name: &str, priority: u32) -> Entity {
    Entity::Open(Open { name: name.into(), priority, demand: None })
}

fn verdicts(class: Class) -> Vec<Verdict> {
    analyse(&Tree::new("cpu", class)).leaves.into_iter().map(|leaf| leaf.verdict).collect()
}

#[test]
fn a_class_without_a_budget_is_as_if_its_tasks_stood_there() {
    let [a, b, c, d] =
        [task("a", 3, 20, 9), task("b", 5, 30, 8), task("c", 7, 50, 7), task("d", 9, 90, 6)];
    let flat = verdicts(Class::FixedPriority(vec![a.clone(), b.clone(), c.clone(), d.clone()]));
    let inner = plain("inner", 8, Class::FixedPriority(vec![b, c]));
    let nested = verdicts(Class::FixedPriority(vec![a, inner, task("d", 9, 90, 6)]));
    assert_eq!(nested, [0, 3, 1, 2].map(|place: usize| flat[place].clone()));
    assert!(flat.iter().all(Verdict::fits));
}

#[test]
fn what_has_no_limit_takes_all_from_those_below() {
    let class = |priority| {
        let inner = plain("frames", 5, Class::FixedPriority(vec![task("b", 1, 50, 0)]));
        Class::FixedPriority(vec![open("spins", priority), task("a", 3, 20, 7), inner])
    };
    let report = analyse(&Tree::new("cpu", class(6)));
    let of = "cpu/frames".to_string();
    assert_eq!(report.leaves[0].verdict, Verdict::Fits { bound: 3, slack: 17 });
    assert_eq!(report.leaves[1].verdict, Verdict::NoSupply { of });
    assert!(!report.fits() && report.classes[0].reason.contains("`spins`"), "{report}");
    assert!(analyse(&Tree::new("cpu", class(4))).fits(), "it is below both");
    let asks_nothing = Class::FixedPriority(vec![
        open("spins", 6),
        plain("frames", 5, Class::FixedPriority(vec![open("b", 0)])),
    ]);
    assert!(analyse(&Tree::new("cpu", asks_nothing)).fits());
}

#[test]
fn others_reckon_with_what_a_task_may_use() {
    let limited = Task::new("a", 3, 20).priority(2).limit(6);
    let beside = |policy: fn(Vec<Entity>) -> Class| {
        let tasks = vec![Entity::Task(limited.clone()), task("b", 4, 20, 1)];
        verdicts(policy(tasks))
    };
    let fits = |bound| Verdict::Fits { bound, slack: 20 - bound };
    assert_eq!(beside(Class::FixedPriority), [fits(3), fits(10)]);
    assert_eq!(beside(Class::Edf), [fits(7), fits(10)]);
    let late = Task::new("a", 3, 20).limit(17);
    let demand = Class::Edf(vec![Entity::Task(late), task("b", 4, 20, 1)]);
    let verdicts = verdicts(demand);
    assert!(verdicts[0].fits() && !verdicts[1].fits(), "{verdicts:?}");
}

#[test]
fn a_background_partition_runs_before_less_urgent_ones() {
    let partition = |name: &str, windows: Vec<Window>, is_background, urgency: u32, class| {
        let urgency = (urgency, urgency);
        Partition { name: name.into(), windows, is_background, urgency, class }
    };
    let frame = |background: u32, inside: Vec<Entity>, gap: Vec<Window>| Class::Windows {
        frame: 100,
        partitions: vec![
            partition(
                "own",
                vec![Window { offset: 0, duration: 50 }],
                false,
                5,
                Class::FixedPriority(vec![task("a", 10, 200, 0)]),
            ),
            partition("rest", gap, true, background, Class::FixedPriority(inside)),
        ],
    };
    let gap = || vec![Window { offset: 50, duration: 50 }];
    let fits = |bound, deadline: u64| Verdict::Fits { bound, slack: deadline - bound };
    let light = || vec![task("b", 7, 200, 0)];
    assert_eq!(verdicts(frame(4, light(), gap())), [fits(60, 200), fits(57, 200)]);
    assert_eq!(verdicts(frame(5, light(), gap())), [fits(67, 200), fits(57, 200)], "a tie");
    let found = verdicts(frame(4, light(), vec![]));
    assert_eq!(found, [fits(60, 200), Verdict::NoSupply { of: "cpu/rest".into() }]);
    let spins = || vec![open("spins", 0)];
    assert_eq!(verdicts(frame(4, spins(), vec![])), [fits(60, 200)]);
    assert!(!analyse(&Tree::new("cpu", frame(5, spins(), vec![]))).fits());
}

#[test]
fn a_server_without_its_budget_promises_nothing() {
    let mut tree = case_study(31 * MS);
    let Class::FixedPriority(entities) = &mut tree.class else { panic!("another class") };
    entities.push(task("hog", 80 * MS, 100 * MS, 9));
    let report = analyse(&tree);
    assert!(report.leaves[0].verdict.fits(), "the hog itself");
    let verdicts = report.leaves[1..].iter().map(|leaf| leaf.verdict.clone());
    let none = Verdict::NoSupply { of: "cpu/S1".into() };
    assert_eq!(verdicts.collect::<Vec<_>>(), [none.clone(), none]);
    assert_eq!(report.classes[1].supply, None);
}

#[test]
fn overheads_are_added_where_they_are_said_to_be() {
    let mut tree = Tree::new(
        "cpu",
        Class::FixedPriority(vec![task("a", 100, 1_000, 2), task("b", 100, 2_000, 1)]),
    );
    tree.overheads = Overheads { release: 1, context_switch: 10, timer_interrupt: 7 };
    let bounds: Vec<_> = analyse(&tree).leaves.into_iter().map(|leaf| leaf.verdict).collect();
    // 100 + 1 + 2 * 10 each, and an interrupt for each of both releases.
    let fits = |bound, deadline| Verdict::Fits { bound, slack: deadline - bound };
    assert_eq!(bounds, [fits(135, 1_000), fits(256, 2_000)]);
    let frame = |windows: Vec<Window>| Partition {
        name: "p".into(),
        windows,
        is_background: false,
        urgency: (0, 0),
        class: Class::FixedPriority(vec![task("a", 100, 2_000, 0)]),
    };
    tree.class = Class::Windows {
        frame: 1_000,
        partitions: vec![frame(vec![Window { offset: 0, duration: 500 }])],
    };
    // The gap, and what the window loses at its beginning.
    let bound = 500 + 17 + 121 + 7;
    assert_eq!(analyse(&tree).leaves[0].verdict, fits(bound, 2_000));
}

#[test]
fn a_soft_server_serves_one_task() {
    let tasks = |count| Class::Edf(vec![task("a", 1, 100, 0); count]);
    let tree = |count| {
        let servers = vec![server("soft", ServerKind::SoftCbs, 5, 20, tasks(count))];
        Tree::new("cpu", Class::Edf(servers))
    };
    assert!(analyse(&tree(1)).fits());
    let report = analyse(&tree(2));
    assert!(!report.fits() && report.classes[1].reason.contains("soft"), "{report}");
    let tree = Tree::new(
        "cpu",
        Class::FixedPriority(vec![server("hard", ServerKind::HardCbs, 5, 20, tasks(1))]),
    );
    let report = analyse(&tree);
    assert!(report.classes[0].reason.contains("put it into a class of EDF"), "{report}");
}

#[test]
fn curves_are_admitted_level_by_level() {
    let percent = 10_000_000;
    let leaf = |name: &str, rate: u64, execution: u64| Shared {
        name: name.into(),
        curve: Some(ServiceCurve::rate(rate * percent).unwrap()),
        inside: Inside::Task(Task::new("t", execution, 100 * MS)),
        segments: None,
    };
    let granularity = Granularity { quantum: MS, non_preemptive: MS };
    let inner = |rate: u64| Shared {
        name: "C1".into(),
        curve: Some(ServiceCurve::rate(rate * percent).unwrap()),
        inside: Inside::Class(Class::ServiceCurves {
            granularity,
            children: vec![leaf("x", 20, 10 * MS), leaf("y", 20, 25 * MS)],
        }),
        segments: None,
    };
    let tree = |rate| {
        let children = vec![leaf("z", 50, 20 * MS), inner(rate)];
        Tree::new("cpu", Class::ServiceCurves { granularity, children })
    };
    let report = analyse(&tree(40));
    let verdicts: Vec<_> = report.leaves.iter().map(|leaf| leaf.verdict.clone()).collect();
    // (20 + 1)/0.5 + 1 and (10 + 1)/0.2 + 1, in ms; 25 ms of 100 are above 20 %.
    let fits = |bound| Verdict::Fits { bound: bound * MS, slack: (100 - bound) * MS };
    assert_eq!(verdicts, [fits(43), fits(56), Verdict::Unbounded]);
    assert_eq!(report.leaves[2].largest_execution, Some(20 * MS - MS / 5 - MS));
    let report = analyse(&tree(30));
    assert!(!report.classes[1].fits && report.classes[1].reason.contains("exceed"), "{report}");
    let report = analyse(&tree(60));
    assert!(!report.classes[0].fits && report.classes[0].reason.contains("exceed"), "{report}");
}

#[test]
fn a_class_under_a_curve_has_a_late_line() {
    let curve = ServiceCurve::new(0, 20 * MS, 500_000_000).unwrap();
    let inside = Inside::Class(Class::Edf(vec![task("a", 5 * MS, 100 * MS, 0)]));
    let children = vec![Shared { name: "edf".into(), curve: Some(curve), inside, segments: None }];
    let granularity = Granularity { quantum: MS, non_preemptive: MS };
    let report = analyse(&Tree::new("cpu", Class::ServiceCurves { granularity, children }));
    // 20 of the bend, 2 quanta at 50 %, the run without rescheduling, 5 at 50 %.
    let bound = (20 + 4 + 1 + 10) * MS;
    assert_eq!(report.leaves[0].verdict, Verdict::Fits { bound, slack: 100 * MS - bound });
}

#[test]
fn trees_that_are_too_deep_are_refused() {
    let mut class = Class::Edf(vec![task("a", 1, 1_000, 0)]);
    for _ in 0..40 {
        class = Class::Edf(vec![server("s", ServerKind::Periodic, 10, 10, class)]);
    }
    let report = analyse(&Tree::new("cpu", class));
    assert!(!report.fits() && report.classes[0].reason.contains("levels"));
}

#[test]
fn a_tree_ends_when_its_steps_do() {
    let tasks = |primes: [u64; 3]| primes.map(|prime| task("a", prime / 3, prime, 0));
    let class = Class::Edf(tasks([1_000_000_007, 1_000_000_009, 998_244_353]).into());
    let mut tree = Tree::new("cpu", class);
    tree.interference = vec![Stream { cost: 9, period: 30_000_000_000, jitter: 0 }];
    tree.limits = Limits { test: 50, total: 200 };
    let report = analyse(&tree);
    assert!(!report.fits());
    assert!(report.to_string().contains("too long"), "{report}");
}

/// Numbers at which arithmetic breaks.
fn edge() -> impl Strategy<Value = u64> {
    prop::sample::select(vec![0, 1, 2, 3, 1_000, 1 << 32, 1 << 63, u64::MAX - 1, u64::MAX])
}

fn edge_task() -> impl Strategy<Value = Task> {
    prop::array::uniform5(edge()).prop_map(|[execution, period, deadline, jitter, blocking]| {
        Task::new("edge", execution, period).deadline(deadline).jitter(jitter).blocking(blocking)
    })
}

fn edge_class() -> impl Strategy<Value = Class> {
    let leaves = || prop::collection::vec(edge_task().prop_map(Entity::Task), 0..4);
    let leaf = prop_oneof![leaves().prop_map(Class::FixedPriority), leaves().prop_map(Class::Edf),];
    leaf.prop_recursive(3, 12, 3, |class| {
        let kinds =
            [ServerKind::Periodic, ServerKind::HardCbs, ServerKind::SoftCbs, ServerKind::Sporadic];
        let server = (prop::sample::select(kinds.to_vec()), edge(), edge(), class.clone())
            .prop_map(|(kind, budget, period, class)| server("edge", kind, budget, period, class));
        let entity = prop_oneof![edge_task().prop_map(Entity::Task), server];
        let entities = prop::collection::vec(entity, 0..3);
        let inside =
            prop_oneof![edge_task().prop_map(Inside::Task), class.clone().prop_map(Inside::Class),];
        let shared = (edge(), edge(), edge(), inside).prop_filter_map("a curve", |parts| {
            let (first, bend, rest, inside) = parts;
            let curve = ServiceCurve::new(first, bend, rest).ok()?;
            Some(Shared { name: "edge".into(), curve: Some(curve), inside, segments: None })
        });
        let partition = (edge(), edge(), class).prop_map(|(offset, duration, class)| Partition {
            name: "edge".into(),
            windows: vec![Window { offset, duration }],
            is_background: false,
            urgency: (0, 0),
            class,
        });
        prop_oneof![
            entities.clone().prop_map(Class::FixedPriority),
            entities.prop_map(Class::Edf),
            (edge(), edge(), prop::collection::vec(shared, 0..3)).prop_map(
                |(quantum, non_preemptive, children)| Class::ServiceCurves {
                    granularity: Granularity { quantum, non_preemptive },
                    children,
                }
            ),
            (edge(), prop::collection::vec(partition, 0..3))
                .prop_map(|(frame, partitions)| Class::Windows { frame, partitions }),
        ]
    })
}

proptest! {
    #[test]
    fn the_greatest_numbers_give_verdicts(
        class in edge_class(), costs in prop::array::uniform3(edge()),
        stream in prop::option::of(prop::array::uniform3(edge())), periodic in any::<bool>(),
    ) {
        let mut tree = Tree::new("cpu", class);
        let [release, context_switch, timer_interrupt] = costs;
        tree.overheads = Overheads { release, context_switch, timer_interrupt };
        let stream = stream.map(|[cost, period, jitter]| Stream { cost, period, jitter });
        tree.interference.extend(stream);
        if periodic {
            tree.supply = Supply::periodic(u64::MAX, 3).unwrap();
        }
        tree.limits = Limits { test: 2_000, total: 20_000 };
        let report = analyse(&tree);
        prop_assert!(!report.to_string().is_empty());
        for leaf in &report.leaves {
            if let Verdict::Fits { bound, slack } = leaf.verdict {
                prop_assert_eq!(bound.checked_add(slack), Some(leaf.deadline));
            }
        }
    }
}
