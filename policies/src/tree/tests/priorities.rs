//! Fixed priorities: the order among equals and their time slices, to the nanosecond, against a
//! list.

use super::*;
use proptest::prelude::*;

const LEAVES: usize = 8;

/// Ready leaves, those that came first or were moved back first at the front.
struct List {
    queue: Vec<usize>,
    slices: [u64; LEAVES],
    priorities: [u16; LEAVES],
    running: Option<usize>,
    since: u64,
}

impl List {
    fn account(&mut self, now: u64) {
        let time = now - core::mem::replace(&mut self.since, now);
        let Some(leaf) = self.running.filter(|_| time > 0) else { return };
        self.slices[leaf] = self.slices[leaf].saturating_sub(time);
        if self.slices[leaf] == 0 {
            self.move_back(leaf);
        }
    }

    fn move_back(&mut self, leaf: usize) {
        self.slices[leaf] = SLICE;
        if self.queue.contains(&leaf) {
            self.queue.retain(|other| *other != leaf);
            self.queue.push(leaf);
        }
    }

    fn pick(&mut self, now: u64) -> (Option<usize>, u64) {
        let highest = self.queue.iter().map(|leaf| self.priorities[*leaf]).max();
        let equals: Vec<usize> = self
            .queue
            .iter()
            .copied()
            .filter(|leaf| Some(self.priorities[*leaf]) == highest)
            .collect();
        self.running = equals.first().copied();
        match equals[..] {
            [first, _, ..] => (Some(first), now + self.slices[first]),
            _ => (self.running, NEVER),
        }
    }
}

proptest! {
    #[test]
    fn equals_are_served_in_turn(
        priorities in prop::array::uniform8(prop::sample::select(vec![0u16, 1, 1, 1, 510, 511])),
        steps in prop::collection::vec((0u8..6, 0..LEAVES, 0..2 * SLICE), 1..200),
    ) {
        let mut storage = Storage::new(LEAVES + 1);
        let mut tree = storage.tree();
        let root = tree.root(0);
        let leaves = priorities.map(|priority| leaf(&mut tree, root, Share::Priority(priority)));
        let (slices, queue) = ([SLICE; LEAVES], vec![]);
        let mut list = List { queue, slices, priorities, running: None, since: 0 };
        let mut now = 0;
        for (kind, at, time) in steps {
            match kind {
                0 | 1 => {
                    tree.wake(leaves[at], now);
                    if !list.queue.contains(&at) {
                        list.queue.push(at);
                    }
                }
                2 => {
                    tree.block(leaves[at], now, true);
                    list.queue.retain(|other| *other != at);
                }
                3 => {
                    tree.rotate(leaves[at], now);
                    list.move_back(at);
                }
                4 => now = tree.pick(0, now).until.min(now + time),
                _ => now += time,
            }
            list.account(now);
            let (first, until) = list.pick(now);
            let pick = decide(&mut tree, now);
            prop_assert_eq!(pick, Pick { leaf: first.map(|leaf| leaves[leaf]), until });
        }
    }
}

/// Each of the levels is told apart from the next one.
#[test]
fn there_are_so_many_levels() {
    let mut storage = Storage::new(usize::from(LEVELS) + 1);
    let mut tree = storage.tree();
    let root = tree.root(0);
    let too_high = tree.create(root, None, Share::Priority(LEVELS));
    assert_eq!(too_high, Err(TreeError::InvalidParameter));
    let leaves: Vec<NodeId> =
        (0..LEVELS).map(|level| leaf(&mut tree, root, Share::Priority(level))).collect();
    for leaf in &leaves {
        tree.wake(*leaf, 0);
        assert_eq!(tree.pick(0, 0), Pick { leaf: Some(*leaf), until: NEVER });
    }
    for leaf in leaves.iter().rev() {
        assert_eq!(tree.pick(0, 0).leaf, Some(*leaf));
        tree.block(*leaf, 0, true);
    }
    assert_eq!(decide(&mut tree, 0).leaf, None);
}
