//! The background, wanted and not wanted of any node, while a tree of several CPUs is changed.

use super::random::Dice;
use super::*;
use proptest::prelude::*;

const CPUS: usize = 2;
const NODES: u64 = 20;

/// Changes anything, or wakes or blocks a leaf.
fn change(tree: &mut Tree<'_>, dice: &mut Dice, now: u64) {
    let at = NodeId(dice.below(NODES) as u32);
    let parent = tree.nodes[at.index()].parent;
    match dice.below(32) {
        0..=4 => {
            let class = (dice.below(2) == 0).then(|| dice.one_of(&Policy::ALL));
            let share = dice.share(tree.policy(at));
            let _ = tree.create(at, class, share);
        }
        5..=7 => drop(tree.set_budget(at, dice.budget(), now)),
        8..=9 => drop(tree.set_timing(at, dice.timing(), now)),
        10..=13 => {
            let [overrun, miss] = [(); 2].map(|()| dice.below(3) > 0);
            let _ = tree.set_background(at, Fallback { overrun, miss }, now);
        }
        14 => {
            let [missed, overran] = [(); 2].map(|()| dice.below(2) > 0);
            let _ = tree.watch(at, Events { missed, overran }, LEVELS - 1, now);
        }
        15..=16 => {
            let class = NodeId(dice.below(NODES) as u32);
            let share = dice.share(tree.policy(class));
            let _ = tree.join(at, class, share, now);
        }
        17 => drop(tree.remove_node(at, now)),
        18 => {
            let share = dice.share(tree.policy_of(parent));
            let _ = tree.set_share(at, share, now);
        }
        19 => {
            let frame = Frame::new(&dice.windows(), now);
            let _ = frame.and_then(|frame| tree.set_frame(at, frame, now));
        }
        20 => tree.rotate(at, now),
        21..=27 => drop(tree.wake(at, now)),
        28..=29 => tree.block(at, now, dice.below(2) == 0),
        30 if dice.below(8) == 0 => tree.set_chaos(dice.below(2) * dice.below(1_000)),
        _ => drop(tree.take_notice(0)),
    }
    tree.check();
}

/// Whether a limit that has nothing left, or a window of others, is above a node.
fn is_kept(tree: &Tree<'_>, node: u32) -> bool {
    let mut class = tree.nodes[node as usize].parent;
    while let Some(node) = tree.nodes.get(class as usize) {
        let is_hard = |limits: Budget| limits.server != Server::ConstantSoft;
        let waits = node.server.limits.is_some_and(is_hard) && !node.behind.wanted.overrun;
        if waits || node.policy() == Some(Policy::Partitions) {
            return true;
        }
        class = node.parent;
    }
    false
}

/// A CPU decides until nothing is due. What it runs may run.
fn decides(tree: &mut Tree<'_>, cpu: usize, now: u64) -> u64 {
    for _ in 0..200 {
        let pick = tree.pick(cpu, now);
        tree.check();
        let behind = tree.cpus[cpu].behind;
        if let Some(leaf) = pick.leaf {
            assert!(tree.is_ready(leaf) && tree.cpu_of(leaf.0) == cpu);
            if let Some(node) = tree.nodes.get(behind as usize) {
                assert!(node.is_out_of_time() && !is_kept(tree, behind));
                assert!(!tree.is_shared_class(tree.top(behind).0));
            }
        } else {
            assert_eq!(behind, u32::MAX);
        }
        if pick.until > tree.cpus[cpu].since.max(now) {
            return pick.until;
        }
    }
    panic!("decisions are due for ever");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(ProptestConfig::default().cases.div_ceil(3)))]

    /// Each link, each set and each flag is right after any step; decisions come to an end.
    #[test]
    fn whatever_is_changed_the_background_is_as_it_should(seed in any::<u64>()) {
        let mut storage = Storage::of_cpus(CPUS, 17);
        let mut tree = storage.tree();
        let mut dice = Dice(seed);
        let mut now = 0;
        for _ in 0..300 {
            for _ in 0..dice.below(4) {
                // Clocks of CPUs differ by a little.
                let at = now + dice.below(20 * US);
                change(&mut tree, &mut dice, at);
            }
            let cpu = dice.below(CPUS as u64) as usize;
            let at = now + dice.below(20 * US);
            let until = decides(&mut tree, cpu, at);
            let mut asked = 0;
            while let Some(cpu) = tree.take_asked() {
                decides(&mut tree, cpu, at);
                asked += 1;
                assert!(asked < 50, "CPUs ask each other for ever");
            }
            now = match dice.below(2) {
                0 => until.min(now + dice.below(5 * MS)).max(now),
                _ => now + dice.below(2 * MS),
            };
        }
    }
}
