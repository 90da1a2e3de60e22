//! What classes promise, near to all that they have: against exact fractions, and the same in the
//! kernel's tree and in the laboratory's check.

use abi::reservation::{Budget, Policy, Server as Kind, Share};
use policies::tree::{Frame, Node, Tree, TreeCpu};
use proptest::prelude::*;

const MS: u64 = 1_000_000;

/// The least budget that the kernel takes, in microseconds.
const LEAST: u64 = abi::reservation::LEAST_BUDGET / 1_000;

/// A budget and a period.
type Bandwidth = (u64, u64);

/// Whether the tree admits such servers into a class of EDF with this budget.
fn tree_admits((budget, period): Bandwidth, servers: &[Bandwidth]) -> bool {
    let mut nodes = vec![Node::vacant(); servers.len() + 4];
    let mut frames = vec![Frame::EMPTY; 1];
    let mut cpus = vec![TreeCpu::NEW; 2];
    let mut tree = Tree::new(&mut nodes, &mut frames, &mut cpus, 10 * MS, MS);
    let root = tree.root(0);
    let class = tree.create(root, Some(Policy::EarliestDeadline), Share::Priority(0)).unwrap();
    tree.set_budget(class, Some(Budget::new(Kind::Periodic, budget, period)), 0).unwrap();
    servers.iter().all(|(budget, period)| {
        let leaf = tree.create(class, None, Share::Deadline).unwrap();
        tree.set_budget(leaf, Some(Budget::new(Kind::Constant, *budget, *period)), 0).is_ok()
    })
}

/// Whether a manifest may say so. Durations there are whole microseconds.
fn check_admits((budget, period): Bandwidth, servers: &[Bandwidth]) -> bool {
    let head = format!(
        "[system]\nname = \"full\"\n\n[[reservation]]\nname = \"class\"\npolicy = \"edf\"\n\
         priority = 301\nbudget = \"{budget}us\"\nperiod = \"{period}us\"\n"
    );
    let leaf = |(index, (budget, period)): (usize, &Bandwidth)| {
        format!(
            "\n[[reservation]]\nname = \"leaf{index}\"\nin = \"class\"\nserver = \"constant\"\n\
             budget = \"{budget}us\"\nperiod = \"{period}us\"\n\n[[domain]]\n\
             name = \"domain{index}\"\nprogram = \"busy\"\npriority = 1\n\
             reservation = \"leaf{index}\"\n"
        )
    };
    let leaves: String = servers.iter().enumerate().map(leaf).collect();
    match manifest::parse("full.toml", &(head + &leaves)) {
        Ok(_) => true,
        Err(problems) => {
            let told = problems.to_string();
            assert!(told.contains("by its budget, and `class` has"), "{told}");
            false
        }
    }
}

/// Fractions of budgets that fill one of a class exactly, or miss it by one in the last.
fn nearly_full() -> impl Strategy<Value = (Bandwidth, Vec<Bandwidth>)> {
    let part = (LEAST..1_000u64, 1_001..4_000_000u64);
    let parts = prop::collection::vec(part, 1..3);
    (parts, 1_000..4_000_000u64, 0..3u64, LEAST..1_000u64, 1_000..4_000_000u64).prop_map(
        |(mut parts, period, more, budget, of)| {
            let class = (budget.max(of / 3), of);
            // What is left of the class, by the last one's period.
            let common: u128 = parts.iter().map(|(_, period)| u128::from(*period)).product();
            let used: u128 =
                parts.iter().map(|(part, of)| u128::from(*part) * common / u128::from(*of)).sum();
            let has = u128::from(class.0) * common / u128::from(of);
            let left = has.saturating_sub(used) * u128::from(period) / common;
            parts.push(((left as u64 + more).clamp(LEAST + 1, period - 1) - 1, period));
            (class, parts)
        },
    )
}

/// What servers have together above a class, times the common denominator, and that.
fn above((budget, period): Bandwidth, servers: &[Bandwidth]) -> (i128, i128) {
    let all = || servers.iter().map(|(_, period)| *period).chain([period]);
    let common: i128 = all().map(i128::from).product();
    let part = |(budget, period): &Bandwidth| common / i128::from(*period) * i128::from(*budget);
    (servers.iter().map(part).sum::<i128>() - part(&(budget, period)), common)
}

proptest! {
    /// What fits is admitted. What is admitted exceeds its class by less than a part of 2^56 of a
    /// CPU for each server and for the class.
    #[test]
    fn classes_promise_what_they_have((class, servers) in nearly_full()) {
        let scaled = |(budget, period): Bandwidth| (budget * 1_000, period * 1_000);
        let inside: Vec<Bandwidth> = servers.iter().copied().map(scaled).collect();
        let admitted = tree_admits(scaled(class), &inside);
        let (above, common) = above(class, &servers);
        prop_assert!(admitted || above > 0, "{servers:?} fit into {class:?}");
        let most = (common * (servers.len() as i128 + 1)) >> 56;
        prop_assert!(!admitted || above <= most, "{servers:?} in {class:?}");
        prop_assert_eq!(check_admits(class, &servers), admitted, "{:?} in {:?}", servers, class);
    }

    /// Equal parts fill a class, whatever it has.
    #[test]
    fn equal_parts_fill_a_class(
        count in 1..9u64, budget in LEAST..4_000u64, of in 1..9_000u64,
    ) {
        // A budget that is its period is no limit.
        let of = of.max(100);
        let class = (budget.min(of - 1) * count, of * count);
        let servers = vec![(class.0 / count, class.1); count as usize];
        let scaled = |(budget, period): Bandwidth| (budget * 1_000, period * 1_000);
        let inside: Vec<Bandwidth> = servers.iter().copied().map(scaled).collect();
        prop_assert!(tree_admits(scaled(class), &inside));
        prop_assert!(check_admits(class, &servers));
        let mut more = servers.clone();
        more[0].0 += 1;
        prop_assume!(more[0].0 < more[0].1);
        let inside: Vec<Bandwidth> = more.iter().copied().map(scaled).collect();
        prop_assert!(!tree_admits(scaled(class), &inside) && !check_admits(class, &more));
    }
}

/// Thirds, right below each other and side by side.
#[test]
fn thirds_fill_a_class() {
    for (class, servers) in [
        ((1_000, 3_000), vec![(1_000, 3_000)]),
        ((300, 300), vec![(100, 300); 3]),
        ((100, 300), vec![(100, 900); 3]),
        ((2_000, 7_000), vec![(1_000, 7_000), (100, 700)]),
    ] {
        let inside: Vec<Bandwidth> = servers.iter().map(|(b, p)| (b * 1_000, p * 1_000)).collect();
        assert!(tree_admits((class.0 * 1_000, class.1 * 1_000), &inside), "{servers:?}");
        assert!(check_admits(class, &servers), "{servers:?}");
    }
}
