//! Random trees of all policies and servers, and random operations, against the plain model; the
//! same with extreme times and names, against the invariants alone.

use super::model::Model;
use super::*;
use abi::reservation::{LEAST_PART, SHORTEST};
use proptest::prelude::*;

/// Numbers that follow from a seed.
pub(super) struct Dice(pub(super) u64);

impl Dice {
    pub(super) fn below(&mut self, limit: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((u128::from(self.0 ^ self.0 >> 29) * u128::from(limit)) >> 64) as u64
    }

    pub(super) fn one_of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len() as u64) as usize]
    }

    fn curve(&mut self) -> Curve {
        let mut slope = || self.below(300_000) as u32;
        let (slope, rest) = (slope(), slope() + 1);
        Curve { slope, rest, bend: self.one_of(&[0, MS, 7 * MS]) }
    }

    /// A share for a child of such a class, now and then one for another.
    pub(super) fn share(&mut self, policy: Option<Policy>) -> Share {
        match if self.below(20) == 0 { Some(self.one_of(&Policy::ALL)) } else { policy } {
            Some(Policy::EarliestDeadline) => Share::Deadline,
            Some(Policy::ServiceCurves) => {
                let guaranteed = if self.below(3) == 0 { None } else { Some(self.curve()) };
                Share::Curve { guaranteed, share: self.curve() }
            }
            Some(Policy::Partitions) => {
                let number = self.below(4) as u16;
                Share::Partition { number, priority: self.below(4) as u16 }
            }
            _ => Share::Priority(self.below(4) as u16),
        }
    }

    pub(super) fn budget(&mut self) -> Option<Budget> {
        let period = SHORTEST + self.below(4 * MS);
        let budget = match self.below(8) {
            0 => return None,
            1 => period,
            2 => LEAST_PART + self.below(2),
            _ => self.below(period / 2),
        };
        Some(Budget::new(self.one_of(&Server::ALL), budget, period))
    }

    pub(super) fn timing(&mut self) -> Option<Timing> {
        let mut time = || SHORTEST + self.below(3 * MS);
        let timing = Timing { deadline: time(), period: time() };
        (self.below(4) > 0).then_some(timing)
    }

    pub(super) fn windows(&mut self) -> Vec<Window> {
        let mut end = 0;
        let mut window = |_| {
            end += abi::reservation::SHORTEST_WINDOW + self.below(2 * MS);
            Window { end, partition: self.below(4) as u16 }
        };
        (0..3).map(&mut window).collect()
    }
}

/// A tree and its model.
struct Pair<'a, 'b> {
    tree: &'a mut Tree<'b>,
    model: Model,
    dice: Dice,
    now: u64,
}

impl Pair<'_, '_> {
    fn any(&mut self) -> NodeId {
        let at = self.dice.below(self.model.nodes.len() as u64);
        self.model.nodes[at as usize].id
    }

    fn any_of(&mut self, is_class: bool) -> Option<NodeId> {
        let nodes = self.model.nodes.iter().filter(|node| node.policy.is_some() == is_class);
        let all: Vec<NodeId> = nodes.map(|node| node.id).collect();
        (!all.is_empty()).then(|| self.dice.one_of(&all))
    }

    fn create(&mut self) {
        let Some(parent) = self.any_of(true) else { return };
        let inner = self.model.depth(parent) < 4 && self.dice.below(2) == 0;
        let policy = inner.then(|| self.dice.one_of(&Policy::ALL));
        let share = self.dice.share(self.tree.policy(parent));
        let before = snapshot(self.tree);
        match self.tree.create(parent, policy, share) {
            Ok(id) => self.model.create(id, Some(parent), policy, share),
            Err(_) => assert!(snapshot(self.tree) == before),
        }
    }

    /// Changes both, or neither.
    fn change(&mut self, kind: u8) {
        let (at, now, before) = (self.any(), self.now, snapshot(self.tree));
        let parent = self.model.node(at).parent;
        let class = parent.map(|parent| self.model.node(parent).policy);
        let model = &mut self.model;
        let result = match kind {
            0 => {
                let result = self.tree.remove_node(at, now);
                result.map(|()| model.remove(at, now))
            }
            1 => {
                let budget = self.dice.budget();
                let result = self.tree.set_budget(at, budget, now);
                result.map(|()| model.set_budget(at, budget, now))
            }
            2 => {
                let timing = self.dice.timing();
                let result = self.tree.set_timing(at, timing, now);
                result.map(|()| model.set_timing(at, timing, now))
            }
            3 => {
                let share = self.dice.share(class.flatten());
                let result = self.tree.set_share(at, share, now);
                result.map(|()| model.change(at, now, |node| node.share = share))
            }
            4 => {
                let windows = self.dice.windows();
                let epoch = (now + self.dice.below(2 * MS)).saturating_sub(MS);
                let result = Frame::new(&windows, epoch);
                let result = result.and_then(|frame| self.tree.set_frame(at, frame, now));
                result.map(|()| {
                    model.account(now);
                    let node = model.node_mut(at);
                    (node.windows, node.seen) = ((windows, epoch), now);
                })
            }
            _ => {
                let Some(to) = self.any_of(true) else { return };
                let model = &mut self.model;
                let share = self.dice.share(model.node(to).policy);
                let deep = model.depth(to) >= 4;
                if deep {
                    return;
                }
                let result = self.tree.join(at, to, share, now);
                result.map(|()| model.join(at, to, share, now))
            }
        };
        if result.is_err() {
            assert!(snapshot(self.tree) == before, "an error has changed something");
        }
    }

    fn step(&mut self, kind: u8) {
        let now = self.now;
        match kind {
            0..=2 => self.create(),
            3..=8 => self.change(kind - 3),
            9..=16 => {
                let Some(leaf) = self.any_of(false) else { return };
                self.tree.wake(leaf, now);
                self.model.wake(leaf, now);
            }
            17..=20 => {
                let (Some(leaf), ends) = (self.any_of(false), self.dice.below(4) > 0) else {
                    return;
                };
                self.tree.block(leaf, now, ends);
                self.model.block(leaf, now, ends);
            }
            21 => {
                let Some(leaf) = self.any_of(false) else { return };
                self.tree.rotate(leaf, now);
                self.model.account(now);
            }
            22..=25 => self.change(1),
            26..=28 => self.lend(),
            _ => {
                let until = decide(self.tree, now).until.min(self.tree.first_instant(0));
                self.now += match self.dice.below(3) {
                    0 if until != NEVER => until - now + self.dice.below(300 * US),
                    1 => (until - now).min(self.dice.below(5 * MS)),
                    _ => (until - now).min(5 * MS),
                };
            }
        }
        self.agree();
    }

    /// A leaf is lent another one, or no longer. That is nothing to the model: readiness, budgets,
    /// jobs and service are as if it were not.
    fn lend(&mut self) {
        let Some(leaf) = self.any_of(false) else { return };
        let lent = self.tree.nodes[leaf.index()].fair.lent;
        if lent > 0 && self.dice.below(2) == 0 {
            assert_eq!(self.tree.take_back(leaf, self.now), Ok(()));
        } else {
            assert_eq!(self.tree.lend(leaf, self.now), Ok(()));
        }
        self.model.account(self.now);
    }

    /// What runs is charged to a leaf that is lent another one.
    fn charge_too(&mut self, pick: Pick) {
        let nodes = self.model.nodes.iter().map(|node| node.id).filter(|id| Some(*id) != pick.leaf);
        let is_lent = |id: &NodeId| self.tree.nodes[id.index()].fair.lent > 0;
        let lent: Vec<NodeId> = nodes.filter(is_lent).filter(|id| self.tree.is_leaf(*id)).collect();
        let helped = (!lent.is_empty()).then(|| self.dice.one_of(&lent));
        self.tree.charge_too(0, helped);
        self.tree.check();
    }

    /// Both decide, and are compared.
    fn agree(&mut self) {
        self.model.advance(self.now);
        self.tree.serve_all(0, self.now);
        let pick = decide(self.tree, self.now);
        self.model.choose(pick, self.now);
        self.model.compare(self.tree);
        self.charge_too(pick);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(ProptestConfig::default().cases * 4))]

    #[test]
    fn trees_agree_with_the_model(
        seeds in prop::collection::vec(any::<u64>(), 12),
        steps in prop::collection::vec((0u8..43, any::<u64>()), 20..300),
    ) {
        let mut storage = Storage::new(24);
        let mut tree = storage.tree();
        let mut pair = Pair { tree: &mut tree, model: Model::new(), dice: Dice(0), now: 0 };
        for (kind, seed) in seeds.into_iter().map(|seed| (0, seed)).chain(steps) {
            pair.dice = Dice(seed);
            pair.step(kind);
        }
    }

    /// What is deferred changes no choice: a copy of the tree that has served all instants chooses
    /// the same leaf, or an equal of it. Not of service curves, where what comes later begins at
    /// the virtual times that its siblings have then.
    #[test]
    fn what_is_deferred_changes_no_choice(
        seeds in prop::collection::vec(any::<u64>(), 16),
        steps in prop::collection::vec((0u8..24, any::<u64>()), 20..200),
    ) {
        let mut storage = Storage::new(24);
        let mut tree = storage.tree();
        add_partitions(&mut tree);
        let mut now = 0;
        for (kind, seed) in seeds.into_iter().map(|seed| (0, seed)).chain(steps) {
            let mut dice = Dice(seed);
            now += deferring_step(&mut tree, kind, &mut dice, now);
            let (mut nodes, mut frames, mut cpus, _) = snapshot(&tree);
            let (nodes, frames, cpus) = (&mut nodes[..], &mut frames[..], &mut cpus[..]);
            let Tree { free, free_frame, sequence, .. } = tree;
            let (chaos, slice, quantum) = (0, SLICE, QUANTUM);
            let inheritance = Inheritance::Charged;
            let mut eager = Tree {
                nodes,
                frames,
                cpus,
                plain: &mut [],
                free,
                free_frame,
                sequence,
                chaos,
                inheritance,
                in_steps: false,
                slice,
                quantum,
            };
            eager.serve_all(0, now);
            eager.check();
            let early = decide(&mut eager, now).leaf;
            let late = decide(&mut tree, now).leaf;
            prop_assert!(are_equals(&eager, early, late), "{:?} {:?}", early, late);
        }
    }

    /// No instant, name or parameter makes the tree panic, or breaks what must hold.
    #[test]
    fn extremes_break_nothing(
        steps in prop::collection::vec((0u8..35, any::<u64>()), 20..150),
    ) {
        let mut storage = Storage::new(16);
        let mut tree = storage.tree();
        for (kind, seed) in steps {
            let mut dice = Dice(seed);
            let now = extreme(&mut dice);
            extreme_step(&mut tree, kind, &mut dice, now);
            tree.check();
        }
    }
}

/// Small, large, or at an end.
fn extreme(dice: &mut Dice) -> u64 {
    match dice.below(8) {
        0 => u64::MAX - dice.below(3),
        1 => abi::reservation::LONGEST + dice.below(3) - 1,
        2 => dice.below(u64::MAX),
        3 => dice.below(3),
        _ => dice.below(100 * MS),
    }
}

fn extreme_step(tree: &mut Tree<'_>, kind: u8, dice: &mut Dice, now: u64) {
    let wild = [16, 17, u32::MAX - 1, u32::MAX];
    let name = |dice: &mut Dice| {
        let known = dice.below(16) as u32;
        NodeId(if dice.below(20) == 0 { dice.one_of(&wild) } else { known })
    };
    let (at, other) = (name(dice), name(dice));
    let any = |dice: &mut Dice, usual: u64| if dice.below(4) == 0 { extreme(dice) } else { usual };
    let share = |dice: &mut Dice, class: NodeId| {
        let usual = dice.share(tree.policy(class));
        let mut curve = || {
            let bend = any(dice, MS);
            Curve { slope: any(dice, 0) as u32, bend, rest: any(dice, 1) as u32 }
        };
        match usual {
            Share::Curve { .. } => Share::Curve { guaranteed: Some(curve()), share: curve() },
            usual => usual,
        }
    };
    match kind {
        0..=5 => {
            let class = (dice.below(2) == 0).then(|| dice.one_of(&Policy::ALL));
            let share = share(dice, at);
            let _ = tree.create(at, class, share);
        }
        6 => drop(tree.remove_node(at, now)),
        7..=8 => {
            let [budget, period] = [LEAST_PART, SHORTEST].map(|usual| any(dice, usual));
            let budget = Budget::new(dice.one_of(&Server::ALL), budget, period);
            let _ = tree.set_budget(at, Some(budget), now);
        }
        9 => {
            let [deadline, period] = [SHORTEST; 2].map(|usual| any(dice, usual));
            let _ = tree.set_timing(at, Some(Timing { deadline, period }), now);
        }
        10 => {
            let windows = [1, 2].map(|n| Window { end: any(dice, n * MS), partition: n as u16 });
            let frame = Frame::new(&windows, extreme(dice));
            let _ = frame.and_then(|frame| tree.set_frame(at, frame, now));
        }
        11 => {
            let class = tree.inspect(at).and_then(|state| state.parent);
            let share = share(dice, class.unwrap_or(at));
            let _ = tree.set_share(at, share, now);
        }
        12 => {
            let share = share(dice, other);
            let _ = tree.join(at, other, share, now);
        }
        13..=18 => drop(tree.wake(at, now)),
        19..=20 => tree.block(at, now, dice.below(2) == 0),
        21 => tree.rotate(at, now),
        22 => tree.account(dice.below(2) as usize, now),
        23 => drop(tree.lend(at, now)),
        24 => drop(tree.take_back(at, now)),
        25 => {
            tree.is_more_urgent(at, other);
            let ran = tree.cpus[0].running;
            tree.charge_too(0, (other.0 != ran && tree.is_leaf(other)).then_some(other));
        }
        _ => {
            // At the end of time instants do not pass.
            let cpu = dice.below(2) as usize;
            (0..64).any(|_| matches!(tree.step(cpu, now), Step::Chosen(_)));
            tree.settle_decision(cpu, now);
        }
    }
}

/// A class of time partitions with three leaves each in the background and in another partition.
fn add_partitions(tree: &mut Tree<'_>) {
    let partitions = class(tree, Policy::Partitions);
    for number in [0, 1] {
        let share = Share::Partition { number, priority: 3 };
        let fixed = tree.create(partitions, Some(Policy::FixedPriority), share).expect("fits");
        for priority in 1..4 {
            leaf(tree, fixed, Share::Priority(priority));
        }
    }
}

/// Changes a tree without service curves, or wakes or blocks one of its leaves. How much time
/// passes until the next look, at which a decision is due or not.
fn deferring_step(tree: &mut Tree<'_>, kind: u8, dice: &mut Dice, now: u64) -> u64 {
    let at = NodeId(dice.below(24) as u32);
    match kind {
        0..=2 => {
            let policies = [Policy::FixedPriority, Policy::EarliestDeadline, Policy::Partitions];
            let class = (dice.below(2) == 0).then(|| dice.one_of(&policies));
            let share = dice.share(tree.policy(at));
            let _ = tree.create(at, class, share);
        }
        3..=4 => drop(tree.set_budget(at, dice.budget(), now)),
        5 => drop(tree.set_timing(at, dice.timing(), now)),
        6 => {
            let frame = Frame::new(&dice.windows(), now);
            let _ = frame.and_then(|frame| tree.set_frame(at, frame, now));
        }
        7..=14 => drop(tree.wake(at, now)),
        15..=16 => tree.block(at, now, true),
        _ => {}
    }
    let until = decide(tree, now).until;
    match dice.below(2) {
        0 => (until - now).min(5 * MS),
        _ => (until - now).min(dice.below(5 * MS)),
    }
}

/// Whether two leaves are the same, or are below siblings between which their class does not
/// choose.
fn are_equals(tree: &Tree<'_>, one: Option<NodeId>, other: Option<NodeId>) -> bool {
    let (Some(one), Some(other)) = (one, other) else { return one == other };
    let path = |leaf: NodeId| {
        let mut path = vec![leaf.0];
        while let Some(node) = tree.nodes.get(path[path.len() - 1] as usize)
            && node.parent != u32::MAX
        {
            path.push(node.parent);
        }
        path.reverse();
        path
    };
    let (one, other) = (path(one), path(other));
    let differ = one.iter().zip(&other).find(|(one, other)| one != other);
    differ.is_none_or(|(one, other)| {
        let [one, other] = [one, other].map(|at| &tree.nodes[*at as usize]);
        let class = tree.policy_of(one.parent);
        class != Some(Policy::Partitions) && one.key == other.key
    })
}
