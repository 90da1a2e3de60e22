//! Trees of up to three levels: against the model, and what always holds.

use super::*;
use proptest::prelude::*;
use std::ops::Range;
use std::vec;

/// A tree with what is wanted in it.
pub type Case = (Vec<Server>, Vec<Option<u64>>);

/// Chances of a server: its period, parts of it as budgets, importance, what is taken, what it
/// asked for and wants now.
pub type Seed = (u64, [u32; 3], u32, u32, Option<u64>, Option<u64>);

fn seed(periods: Range<u64>, most: u64) -> impl Strategy<Value = Seed> {
    let numbers = prop::option::of(0..most);
    (
        periods,
        prop::array::uniform3(0u32..1_000),
        0u32..4,
        prop_oneof![2 => Just(0), 1 => 0u32..20_000],
        numbers.clone(),
        numbers,
    )
}

/// Which server each one is in: none is the fixed class.
fn shape() -> impl Strategy<Value = Vec<Option<usize>>> {
    let inner = prop::collection::vec(0usize..3, 0..3);
    prop::collection::vec(inner, 1..4).prop_map(|tops| {
        let mut shape = vec![None; tops.len()];
        for (top, inner) in tops.iter().enumerate() {
            for leaves in inner {
                let class = shape.len();
                shape.push(Some(top));
                shape.extend(vec![Some(class); *leaves]);
            }
        }
        shape.truncate(MOST);
        shape
    })
}

/// Budgets that fit, from the leaves on; none is below `floor`.
fn tree(shape: &[Option<usize>], seeds: &[Seed], slack: u64, floor: u64) -> Case {
    let mut servers: Vec<Server> = Vec::new();
    for (class, (period, _, importance, ..)) in shape.iter().zip(seeds) {
        let above = class.map_or(Above::Fixed { class: 5, supply: 0 }, Above::Adaptive);
        servers.push(Server { above, ..soft(0, *importance, [0, 0, *period]) });
    }
    for at in (0..shape.len()).rev() {
        let (period, parts, _, taken, asked, _) = seeds[at];
        let part = |part: u32, of: u64| (u128::from(of) * u128::from(part) / 1_000) as u64;
        let is_class = shape.contains(&Some(at));
        servers[at].taken = if is_class { taken } else { 0 };
        let sum = |of: fn(&Server) -> u64| {
            let inside = children(&servers, Above::Adaptive(at));
            inside.map(|child| model::rate(of(&servers[child]), servers[child].within)).sum()
        };
        let server = &servers[at];
        let (least, inside) = (sum(|it| it.least), sum(|it| it.budget));
        let least = server.budget_for(least).max(floor);
        // Every server brings up to 3 % of a CPU more than what is in it has.
        let budget = server.budget_for(inside).max(least) + part(parts[0], period / 32);
        let least = least + part(parts[1], budget - least);
        let asked = asked.unwrap_or(budget);
        servers[at] = Server { budget, least, asked, ..*server };
    }
    let budgets: Vec<u64> = servers.iter().map(|it| it.budget).collect();
    let (used, _) = model::sums(&servers, &budgets, Above::Fixed { class: 5, supply: 0 });
    let supply = (used + (1_000_000 - used) * slack / 1_000) as u32;
    for server in servers.iter_mut().filter(|it| matches!(it.above, Above::Fixed { .. })) {
        server.above = Above::Fixed { class: 5, supply };
    }
    (servers, seeds[..shape.len()].iter().map(|seed| seed.5).collect())
}

/// Trees of servers with these periods, in which less than `most` is wanted.
pub fn trees(periods: Range<u64>, most: u64, floor: u64) -> impl Strategy<Value = Case> {
    let seeds = prop::collection::vec(seed(periods, most), MOST);
    (shape(), seeds, 0u64..1_000)
        .prop_map(move |(shape, seeds, slack)| tree(&shape, &seeds, slack, floor))
}

/// What a server could keep without taking from others: what it had, or what it asks for by now.
fn entitled(server: &Server, is_due: bool, asked: u64) -> u64 {
    if is_due { server.budget.min(asked.max(server.least)) } else { server.budget }
}

/// Whether it has no more than its least budget, in millionths of a CPU.
fn has_least(server: &Server, budget: u64) -> bool {
    server.rate(budget) == server.rate(server.least)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(ProptestConfig::default().cases * 2))]

    #[test]
    fn agrees_with_the_model((servers, wanted) in trees(1_000..6_000, 8_000, 1)) {
        let decision = decide(&servers, &wanted).expect("it fits");
        let (asked, budgets) = model::decide(&servers, &wanted);
        prop_assert_eq!(decision.asked(), asked);
        prop_assert_eq!(decision.budgets(), budgets);
    }

    /// In the order of the changes, no class promises more than it has at any moment.
    #[test]
    fn changes_can_be_made_one_by_one((servers, wanted) in trees(1_000..6_000, 8_000, 1)) {
        let decision = decide(&servers, &wanted).expect("it fits");
        let mut budgets: Vec<u64> = servers.iter().map(|it| it.budget).collect();
        for (at, budget) in decision.changes() {
            prop_assert_ne!(budgets[at], budget);
            budgets[at] = budget;
            prop_assert!(model::fits(&servers, &budgets));
        }
        prop_assert_eq!(&budgets[..], decision.budgets());
    }

    /// What no decision breaks, whatever is wanted. Periods are so long that a millionth of a CPU
    /// is a nanosecond or more: nothing is lost of that by rounding.
    #[test]
    fn rules_hold((servers, wanted) in trees(1_000_000..1 << 40, u64::MAX, 1)) {
        let decision = decide(&servers, &wanted).expect("it fits");
        let new = decision.budgets();
        prop_assert!(model::fits(&servers, new), "each class has that");
        let has_lost = |at: usize| {
            let own = &servers[at];
            let kept = entitled(own, wanted[at].is_some(), decision.asked()[at]);
            own.rate(new[at]) < own.rate(kept)
        };
        for (at, server) in servers.iter().enumerate() {
            prop_assert!((server.least..server.period).contains(&new[at]));
            if wanted[at].is_none() {
                prop_assert!(new[at] <= server.budget, "none gets more that was not asked");
            }
            if !has_lost(at) {
                continue;
            }
            let (promised, has) = model::sums(&servers, new, server.above);
            prop_assert_eq!(promised, has, "none loses while something is left");
            for other in children(&servers, server.above) {
                let is_less = model::is_less(&servers, other, at);
                prop_assert!(!is_less || has_least(&servers[other], new[other]), "least first");
            }
        }
    }

    /// What is due gets all that it asks for, unless its class has nothing left and less important
    /// siblings have their least.
    #[test]
    fn importance_decides((servers, wanted) in trees(1_000_000..1 << 40, 1 << 41, 1)) {
        let decision = decide(&servers, &wanted).expect("it fits");
        let new = decision.budgets();
        for at in (0..servers.len()).filter(|at| wanted[*at].is_some()) {
            let server = &servers[at];
            if new[at] >= decision.asked()[at].min(server.period - 1) {
                continue;
            }
            let (promised, has) = model::sums(&servers, new, server.above);
            prop_assert_eq!(promised, has, "something is left");
            let less = children(&servers, server.above)
                .filter(|other| model::is_less(&servers, *other, at));
            for other in less {
                prop_assert!(has_least(&servers[other], new[other]));
            }
        }
    }
}

/// Two classes of two servers each, the first one more important: what it wants inside decides in
/// which order others lose.
#[test]
fn classes_compete_before_their_children() {
    let inside = |class, importance| Server {
        above: Above::Adaptive(class),
        ..soft(0, importance, [MS, 2 * MS, 20 * MS])
    };
    let class = |importance| soft(600_000, importance, [MS, 3 * MS, 10 * MS]);
    let servers = [class(2), class(1), inside(0, 2), inside(0, 1), inside(1, 2), inside(1, 1)];
    // 30 % each, and in them 10 % each: the first one's more important child wants 25 % more.
    let wanted = [Some(0), None, Some(7 * MS), None, None, None];
    let decision = decide(&servers, &wanted).expect("it fits");
    let [first, second, ..] = *decision.budgets() else { panic!("six servers") };
    assert_eq!([first, second], [4_500_000, 1_500_000], "35 and 10 % in it; the other loses");
    assert_eq!(decision.budgets()[2..], [7 * MS, 2 * MS, 2 * MS, MS], "and in it, its lesser one");
    let order: Vec<usize> = decision.changes().map(|(at, _)| at).collect();
    assert_eq!(order, [5, 1, 0, 2], "children lose before their class, and get after it");
}
