//! Leaves that are lent (S2G-05, S4-07): which are more urgent, what is charged, and that no third
//! leaf has less.

use super::random::Dice;
use super::*;
use proptest::prelude::*;

/// Leaves below service curves, of which some run on one leaf of fixed priority for a while.
struct Town<'a, 'b> {
    tree: &'a mut Tree<'b>,
    lent: NodeId,
    away: Option<NodeId>,
    now: u64,
}

impl<'a, 'b> Town<'a, 'b> {
    fn new(tree: &'a mut Tree<'b>) -> Town<'a, 'b> {
        let lent = tree.create(tree.root(0), None, Share::Priority(20)).expect("fits");
        Town { tree, lent, away: None, now: 0 }
    }

    /// A leaf's thread runs on the lent leaf from now on.
    fn lend(&mut self, own: NodeId) {
        assert_eq!(self.tree.lend(own, self.now), Ok(()));
        self.tree.block(own, self.now, false);
        self.tree.wake(self.lent, self.now);
        self.away = Some(own);
    }

    /// It is back on its own.
    fn take_back(&mut self) {
        let own = self.away.take().expect("one is away");
        self.tree.block(self.lent, self.now, false);
        self.tree.wake(own, self.now);
        assert_eq!(self.tree.take_back(own, self.now), Ok(()));
        self.tree.check();
    }

    /// Decides as the kernel does, until an instant.
    fn run(&mut self, time: u64) {
        let end = self.now + time;
        while self.now < end {
            let pick = decide(self.tree, self.now);
            let is_lent = pick.leaf == Some(self.lent);
            self.tree.charge_too(0, self.away.filter(|_| is_lent));
            self.tree.check();
            self.now = pick.until.min(end);
        }
        self.tree.account(0, end);
    }

    fn had(&self, leaf: NodeId) -> u64 {
        self.tree.service(leaf)
    }
}

fn share(millionths: u32) -> Share {
    Share::Curve { guaranteed: None, share: Curve::linear(millionths) }
}

#[test]
fn more_urgent_is_what_the_class_says_in_which_they_part() {
    let mut storage = Storage::new(32);
    let mut tree = storage.tree();
    let fixed = class(&mut tree, Policy::FixedPriority);
    let [low, high] = [1, 2].map(|priority| leaf(&mut tree, fixed, Share::Priority(priority)));
    let curves = tree.create(fixed, Some(Policy::ServiceCurves), Share::Priority(2)).expect("fits");
    let [less, more] = [100_000, 200_000].map(|slope| leaf(&mut tree, curves, share(slope)));
    let deadlines = class(&mut tree, Policy::EarliestDeadline);
    let [soon, late] = [1, 2].map(|n| {
        let at = leaf(&mut tree, deadlines, Share::Deadline);
        let timing = Timing { deadline: n * 10 * MS, period: 20 * MS };
        assert_eq!(tree.set_timing(at, Some(timing), 0), Ok(()));
        tree.wake(at, 0);
        at
    });
    let windows = class(&mut tree, Policy::Partitions);
    let [one, two] = [1, 2]
        .map(|number| leaf(&mut tree, windows, Share::Partition { number, priority: number }));
    for (above, below) in [(high, low), (less, low), (more, low), (more, less), (soon, late)] {
        assert!(tree.is_more_urgent(above, below), "{above:?} {below:?}");
        assert!(!tree.is_more_urgent(below, above), "{below:?} {above:?}");
    }
    for (one, other) in [(one, two), (two, one), (high, more), (more, high), (low, low)] {
        assert!(!tree.is_more_urgent(one, other), "{one:?} {other:?}");
    }
    // The later one's deadline has come nearer than that of the next job of the other one.
    tree.block(soon, 5 * MS, true);
    tree.wake(soon, 15 * MS);
    assert!(tree.is_more_urgent(late, soon), "a deadline of a job that has ended counts");
    // All of these classes are below a root of fixed priorities.
    let below_root = |at| tree.priority_below_root(at);
    let above = below_root(fixed);
    assert_eq!([high, less, curves, fixed].map(below_root), [above; 4]);
    assert_eq!([tree.root(0), NodeId(u32::MAX)].map(below_root), [0; 2]);
}

/// Two equal leaves, one of which is on a lent leaf for 5 ms of each 20.
fn equal_leaves(inheritance: Inheritance) -> (u64, u64) {
    let mut storage = Storage::new(8);
    let mut tree = storage.tree();
    tree.set_inheritance(inheritance);
    let curves = class(&mut tree, Policy::ServiceCurves);
    let [one, other] = [500_000; 2].map(|slope| leaf(&mut tree, curves, share(slope)));
    let mut town = Town::new(&mut tree);
    for leaf in [one, other] {
        town.tree.wake(leaf, 0);
    }
    for _ in 0..50 {
        town.run(15 * MS);
        town.lend(one);
        town.run(5 * MS);
        town.take_back();
    }
    (town.had(one) + town.had(town.lent), town.had(other))
}

#[test]
fn what_is_charged_to_both_makes_up_for_lent_time() {
    let (one, other) = equal_leaves(Inheritance::Charged);
    assert!(one.abs_diff(other) <= 10 * MS, "{one} {other}");
    let (one, other) = equal_leaves(Inheritance::Leaves);
    assert!(one - other >= 200 * MS, "{one} {other}");
}

/// A class of which the only leaf is lent another one for a moment, while it is behind, keeps its
/// place, and so does the leaf; else both join in the middle.
#[test]
fn an_inner_class_is_active_while_something_in_it_is() {
    for inheritance in [Inheritance::Charged, Inheritance::Leaves] {
        let mut storage = Storage::new(8);
        let mut tree = storage.tree();
        tree.set_inheritance(inheritance);
        let curves = class(&mut tree, Policy::ServiceCurves);
        let inner = tree.create(curves, Some(Policy::ServiceCurves), share(500_000)).expect("fits");
        let own = leaf(&mut tree, inner, share(500_000));
        let other = leaf(&mut tree, curves, share(500_000));
        let mut town = Town::new(&mut tree);
        for leaf in [other, own] {
            town.tree.wake(leaf, 0);
        }
        town.run(MS);
        let before = town.tree.nodes[inner.index()].fair.virtual_time;
        town.lend(own);
        town.run(US);
        town.take_back();
        let after = town.tree.nodes[inner.index()].fair.virtual_time;
        match inheritance {
            Inheritance::Charged => assert_eq!(after, before),
            _ => assert!(after - before >= u128::from(500 * US), "{after}"),
        }
    }
}

/// What the lent leaf cannot give is not saved up: a leaf whose thread has waited there for a
/// second is not served before its sibling for long.
#[test]
fn time_that_was_waited_for_is_not_saved_up() {
    let mut storage = Storage::new(8);
    let mut tree = storage.tree();
    let curves = class(&mut tree, Policy::ServiceCurves);
    let [own, other] = [500_000; 2].map(|slope| leaf(&mut tree, curves, share(slope)));
    let mut town = Town::new(&mut tree);
    is_lent(&mut town, [own, other], true);
    assert_eq!(town.had(town.lent), MS, "the budget of the lent leaf holds");
    town.take_back();
    let before = town.had(other);
    town.run(10 * MS);
    assert!(town.had(other) - before >= 3 * MS, "its sibling starves");
}

const LEAVES: usize = 4;

proptest! {
    /// Leaves are lent for any time, with and without a limit. Those that never are share what is
    /// left by their slopes; what one that is has had on its own leaf is no more than that, and
    /// with what it has had on the lent one, if that has no limit, no less.
    #[test]
    fn no_third_leaf_has_less(seed in any::<u64>(), is_limited in any::<bool>()) {
        let mut dice = Dice(seed);
        let mut storage = Storage::new(LEAVES + 4);
        let mut tree = storage.tree();
        let curves = class(&mut tree, Policy::ServiceCurves);
        let slopes: [u32; LEAVES] = core::array::from_fn(|_| 20_000 + dice.below(220_000) as u32);
        let leaves = slopes.map(|slope| leaf(&mut tree, curves, share(slope)));
        let mut town = Town::new(&mut tree);
        let limits = Budget::new(Server::Constant, 2 * MS, 20 * MS);
        if is_limited {
            assert_eq!(town.tree.set_budget(town.lent, Some(limits), 0), Ok(()));
        }
        leaves.iter().for_each(|leaf| assert!(town.tree.wake(*leaf, 0)));
        let mut extra = 0;
        for _ in 0..100 {
            if dice.below(2) == 0 && town.away.is_none() {
                town.lend(leaves[0]);
            } else if town.away.is_some() {
                town.take_back();
            }
            let before = town.had(town.lent);
            town.run(1 + dice.below(15 * MS));
            extra += town.had(town.lent) - before;
            let by_slope = |time: u64, at: usize| {
                i128::from(time) * 1_000_000 / i128::from(slopes[at])
            };
            let had = |at: usize| by_slope(town.had(leaves[at]), at);
            let quanta = |one, other| by_slope(QUANTUM, one) + by_slope(QUANTUM, other) + 4;
            for one in 1..LEAVES {
                for other in 1..LEAVES {
                    prop_assert!((had(one) - had(other)).abs() <= quanta(one, other));
                }
                prop_assert!(had(0) <= had(one) + quanta(0, one), "more than its share");
                let all = had(0) + by_slope(extra, 0);
                prop_assert!(is_limited || all + quanta(0, one) >= had(one), "less than its share");
            }
            if is_limited {
                let most = (town.now / (20 * MS) + 2) * 2 * MS;
                prop_assert!(town.had(town.lent) <= most, "more than the lent leaf's budget");
            }
        }
        let all: u64 = leaves.iter().map(|leaf| town.had(*leaf)).sum();
        prop_assert_eq!(all + town.had(town.lent), town.now, "time is lost, or had twice");
    }

    /// Guarantees hold: a leaf that is ready all the time has what it is promised of the time that
    /// the lent leaf leaves, by any thread that uses that, and however it is charged.
    #[test]
    fn guarantees_of_others_hold(seed in any::<u64>(), is_charged in any::<bool>()) {
        let mut dice = Dice(seed);
        let mut storage = Storage::new(LEAVES + 4);
        let mut tree = storage.tree();
        if !is_charged {
            tree.set_inheritance(Inheritance::Leaves);
        }
        let curves = class(&mut tree, Policy::ServiceCurves);
        let slopes: [u32; LEAVES] = core::array::from_fn(|_| 20_000 + dice.below(100_000) as u32);
        let linear = |slope| Share::curve(Curve::linear(slope));
        let leaves = slopes.map(|slope| leaf(&mut tree, curves, linear(slope)));
        let mut town = Town::new(&mut tree);
        leaves.iter().for_each(|leaf| assert!(town.tree.wake(*leaf, 0)));
        for _ in 0..100 {
            if dice.below(2) == 0 && town.away.is_none() {
                town.lend(leaves[dice.below(2) as usize]);
            } else if town.away.is_some() {
                town.take_back();
            }
            // Below what the guarantees leave free in the long run.
            let time = if town.away.is_some() { dice.below(4 * MS) } else { dice.below(15 * MS) };
            town.run(1 + time);
            for at in 2..LEAVES {
                let left = town.now - town.had(town.lent);
                let promised = u128::from(left) * u128::from(slopes[at]) / 1_000_000;
                let had = town.had(leaves[at]) + 2 * QUANTUM;
                prop_assert!(u128::from(had) >= promised, "{had} of {promised}");
            }
        }
    }
}

/// A neighbour in the class of a leaf that is lent another one has its part of the class's share:
/// it was not asked whether the thread may use other time.
#[test]
fn neighbours_in_the_class_of_an_own_leaf_have_no_less() {
    let had = |lends: bool, sleeps: bool| {
        let mut storage = Storage::new(16);
        let mut tree = storage.tree();
        let curves = class(&mut tree, Policy::ServiceCurves);
        let inner = tree.create(curves, Some(Policy::ServiceCurves), share(100_000)).expect("fits");
        let own = leaf(&mut tree, inner, share(500_000));
        let neighbour = leaf(&mut tree, inner, share(500_000));
        let other = leaf(&mut tree, curves, share(900_000));
        let mut town = Town::new(&mut tree);
        let limits = Budget::new(Server::Constant, 2 * MS, 10 * MS);
        assert_eq!(town.tree.set_budget(town.lent, Some(limits), 0), Ok(()));
        for leaf in [own, neighbour, other] {
            town.tree.wake(leaf, 0);
        }
        town.run(100 * MS);
        if sleeps {
            town.tree.block(neighbour, town.now, true);
        }
        match lends {
            true => town.lend(own),
            false => town.tree.block(own, town.now, true),
        }
        let before = town.had(neighbour);
        town.run(1_000 * MS);
        if sleeps {
            if lends {
                town.take_back();
            }
            town.tree.block(own, town.now, true);
            town.tree.wake(neighbour, town.now);
            town.run(1_000 * MS);
        }
        town.had(neighbour) - before
    };
    // The lent leaf takes a fifth of the CPU at most: of the rest the class has a tenth.
    assert!(had(true, false) >= 70 * MS, "{} of 80 ms while it is lent", had(true, false) / MS);
    assert!(had(true, true) >= 90 * MS, "{} of 100 ms when it wakes", had(true, true) / MS);
}

/// Both leaves run, and then the first is lent another one: for most of a second, nearly all of it
/// without budget there, or for an instant with some.
fn is_lent(town: &mut Town<'_, '_>, [own, other]: [NodeId; 2], is_limited: bool) {
    if is_limited {
        let limits = Budget::new(Server::Constant, MS, 1_000 * MS);
        assert_eq!(town.tree.set_budget(town.lent, Some(limits), 0), Ok(()));
    }
    for leaf in [own, other] {
        town.tree.wake(leaf, 0);
    }
    town.run(10 * MS);
    town.lend(own);
    town.run(if is_limited { 900 * MS } else { 10 * MS });
}

/// What the second of two leaves has in the 200 ms behind `comes_back`, which ends that the first
/// [`is_lent`] another one.
fn had_behind(
    town: &mut Town<'_, '_>,
    leaves: [NodeId; 2],
    is_limited: bool,
    comes_back: impl FnOnce(&mut Town<'_, '_>),
) -> u64 {
    is_lent(town, leaves, is_limited);
    comes_back(town);
    let before = town.had(leaves[1]);
    town.run(200 * MS);
    town.had(leaves[1]) - before
}

/// What a leaf was guaranteed while its thread waited for the lent leaf's budget does not come
/// later, before what its siblings are guaranteed.
#[test]
fn guarantees_are_not_saved_up() {
    for (is_limited, inner) in [(false, false), (true, false), (true, true)] {
        let mut storage = Storage::new(16);
        let mut tree = storage.tree();
        let curves = class(&mut tree, Policy::ServiceCurves);
        let half = Share::curve(Curve::linear(450_000));
        let other = leaf(&mut tree, curves, half);
        let own = match inner {
            false => leaf(&mut tree, curves, half),
            true => {
                let class = tree.create(curves, Some(Policy::FixedPriority), half).expect("fits");
                leaf(&mut tree, class, Share::Priority(1))
            }
        };
        let mut town = Town::new(&mut tree);
        let had = had_behind(&mut town, [own, other], is_limited, |town| town.take_back());
        assert!(had >= 85 * MS, "{} of 90 ms, {is_limited}, {inner}", had / MS);
    }
}

/// A sibling of a small share that has just come, and is the first, does not let a leaf that comes
/// back fall behind all others.
#[test]
fn a_small_sibling_does_not_save_time_up_for_it() {
    let mut storage = Storage::new(8);
    let mut tree = storage.tree();
    let curves = class(&mut tree, Policy::ServiceCurves);
    let leaves = [450_000; 2].map(|slope| leaf(&mut tree, curves, share(slope)));
    let small = leaf(&mut tree, curves, share(1));
    let mut town = Town::new(&mut tree);
    let had = had_behind(&mut town, leaves, true, |town| {
        town.tree.wake(small, town.now);
        town.run(10 * US);
        town.take_back();
    });
    assert!(had >= 85 * MS, "{} of 100 ms", had / MS);
}

/// Nor does one that comes back while no sibling is ready fall behind those that were.
#[test]
fn time_is_not_saved_up_while_siblings_sleep() {
    let mut storage = Storage::new(8);
    let mut tree = storage.tree();
    let curves = class(&mut tree, Policy::ServiceCurves);
    let leaves = [500_000; 2].map(|slope| leaf(&mut tree, curves, share(slope)));
    let mut town = Town::new(&mut tree);
    let had = had_behind(&mut town, leaves, true, |town| {
        town.tree.block(leaves[1], town.now, true);
        town.take_back();
        town.run(10 * US);
        town.tree.wake(leaves[1], town.now);
    });
    assert!(had >= 90 * MS, "{} of 100 ms", had / MS);
}
