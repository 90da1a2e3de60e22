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
        match time.checked_sub(self.slices[leaf]) {
            None => self.slices[leaf] -= time,
            Some(over) => {
                self.move_back(leaf);
                self.slices[leaf] -= over % SLICE;
            }
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

/// A server is compared with its own sibling above the one that runs (S2B-03): with S1, which is in
/// the same queue, not with the child of S1 that runs, whatever the priority of that.
#[test]
fn a_server_outranks_what_is_below_its_sibling() {
    let mut storage = Storage::new(8);
    let mut tree = storage.tree();
    let first = class(&mut tree, Policy::FixedPriority);
    let third = leaf(&mut tree, first, Share::Priority(500));
    let root = tree.root(0);
    let [less, more] = [5, 20].map(|priority| leaf(&mut tree, root, Share::Priority(priority)));
    tree.wake(third, 0);
    assert_eq!(decide(&mut tree, 0).leaf, Some(third));
    tree.wake(less, MS);
    assert!(!tree.preempts(less));
    assert_eq!(decide(&mut tree, MS).leaf, Some(third), "S1 comes before it");
    tree.wake(more, 2 * MS);
    assert!(tree.preempts(more));
    assert_eq!(decide(&mut tree, 2 * MS).leaf, Some(more), "it comes before S1");
    tree.block(more, 3 * MS, true);
    assert_eq!(decide(&mut tree, 3 * MS).leaf, Some(third), "which goes on where it was");
}
