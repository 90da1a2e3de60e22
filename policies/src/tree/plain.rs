//! Leaves of threads without a reservation: each CPU has one for each of their priorities.
//!
//! A plain leaf stands among the children of its CPU's root as a leaf of its priority would, in the
//! order in which they came. It has no limit, no job and no deadline, so it is no [`Node`] and in
//! no queue: the first of those that are ready is found in a bitmap. Whether one of them or a node
//! is first is decided where both are looked at, by priority and order. All of it is O(1).
//!
//! Their names follow those of the nodes.

use super::avl::{self, NIL};
use super::chaos::STEPS;
use super::curve::NEVER;
use super::node::{ByKey, Node};
use super::{NodeId, Tree};
use abi::PRIORITIES;
use abi::reservation::LEVELS;

/// Bits of a word of the bitmap.
/// A CPU, and a priority there.
pub(super) type Place = (usize, usize);

const BITS: usize = u64::BITS as usize;

/// A leaf of a priority.
#[derive(Clone, Debug)]
#[cfg_attr(test, derive(PartialEq))]
pub struct PlainLeaf {
    /// The order among equals.
    sequence: u64,
    /// What it has had of its time slice.
    used: u64,
    /// CPU time that it has had, in nanoseconds.
    service: u64,
}

impl PlainLeaf {
    /// One that has had nothing.
    pub const NEW: PlainLeaf = PlainLeaf { sequence: 0, used: 0, service: 0 };
}

/// The plain leaves of a CPU that are ready.
#[derive(Clone, Debug)]
#[cfg_attr(test, derive(PartialEq))]
pub(super) struct Plain {
    ready: [u64; PRIORITIES / BITS],
}

impl Plain {
    /// None is.
    pub(super) const NEW: Plain = Plain { ready: [0; PRIORITIES / BITS] };

    /// The most urgent one that is ready.
    #[inline(always)]
    pub(super) fn first(&self) -> Option<usize> {
        let word = self.ready.iter().rposition(|word| *word != 0)?;
        Some(word * BITS + BITS - 1 - self.ready[word].leading_zeros() as usize)
    }

    /// The next one below a priority that is ready.
    pub(super) fn below(&self, priority: usize) -> Option<usize> {
        (0..priority).rev().find(|priority| self.is_ready(*priority))
    }

    #[inline(always)]
    pub(super) fn is_ready(&self, priority: usize) -> bool {
        self.ready[priority / BITS] >> (priority % BITS) & 1 == 1
    }

    #[inline(always)]
    fn set_ready(&mut self, priority: usize, is_ready: bool) {
        let word = &mut self.ready[priority / BITS];
        let bit = 1 << (priority % BITS);
        *word = if is_ready { *word | bit } else { *word & !bit };
    }
}

/// The place of a priority among the children of a root: less is more urgent.
#[inline(always)]
pub(super) const fn rank(priority: usize) -> u64 {
    LEVELS as u64 - 1 - priority as u64
}

impl<'a> Tree<'a> {
    /// With plain leaves, [`PRIORITIES`] for each CPU in turn.
    #[must_use]
    pub fn with_plain(self, plain: &'a mut [PlainLeaf]) -> Tree<'a> {
        Tree { plain, ..self }
    }
}

impl Tree<'_> {
    /// The leaf of threads of a CPU that have this priority and no reservation.
    #[inline(always)]
    pub fn plain_leaf(&self, cpu: usize, priority: u8) -> NodeId {
        NodeId((self.nodes.len() + cpu * PRIORITIES + usize::from(priority)) as u32)
    }

    /// The CPU and the priority of a plain leaf, if this is one.
    #[inline(always)]
    pub(super) fn plain(&self, at: u32) -> Option<Place> {
        let at = (at as usize).checked_sub(self.nodes.len())?;
        (at < self.plain.len()).then_some((at / PRIORITIES, at % PRIORITIES))
    }

    /// A plain leaf became ready: behind its equals, if it was not.
    pub(super) fn wake_plain(&mut self, (cpu, priority): (usize, usize)) -> bool {
        if self.cpus[cpu].plain.is_ready(priority) {
            return false;
        }
        let sequence = self.next_place();
        self.cpus[cpu].plain.set_ready(priority, true);
        self.plain_at((cpu, priority)).sequence = sequence;
        true
    }

    /// A plain leaf is not ready any more.
    pub(super) fn block_plain(&mut self, at: u32, (cpu, priority): (usize, usize), now: u64) {
        if self.cpus[cpu].running == at {
            self.note(cpu, now);
            self.cpus[cpu].running = NIL;
        }
        self.cpus[cpu].plain.set_ready(priority, false);
    }

    /// A plain leaf goes behind its equals, with a new time slice.
    pub(super) fn rotate_plain(&mut self, place: (usize, usize)) {
        let sequence = self.next_place();
        let leaf = self.plain_at(place);
        (leaf.sequence, leaf.used) = (sequence, 0);
    }

    /// A plain leaf has run for so long.
    #[inline(always)]
    pub(super) fn charge_plain(&mut self, place: (usize, usize), time: u64) {
        let slice = self.slice;
        let leaf = self.plain_at(place);
        leaf.service = leaf.service.saturating_add(time);
        leaf.used = leaf.used.saturating_add(time);
        if leaf.used >= slice {
            let used = leaf.used % slice;
            self.rotate_plain(place);
            self.plain_at(place).used = used;
        }
    }

    /// CPU time that a plain leaf has had, in nanoseconds.
    #[inline(always)]
    pub(super) fn service_of_plain(&self, (cpu, priority): (usize, usize)) -> u64 {
        self.plain[cpu * PRIORITIES + priority].service
    }

    #[inline(always)]
    fn plain_at(&mut self, (cpu, priority): (usize, usize)) -> &mut PlainLeaf {
        &mut self.plain[cpu * PRIORITIES + priority]
    }

    /// The rank of the first child of a CPU's root, plain leaves included, if any is ready.
    #[inline(always)]
    pub(super) fn first_rank(&self, cpu: usize) -> Option<u64> {
        let node = self.nodes.get(self.first_node(cpu) as usize).map(Node::rank);
        let plain = self.cpus[cpu].plain.first().map(rank);
        let untold = Some(self.cpus[cpu].first_untold).filter(|rank| *rank != NEVER);
        node.into_iter().chain(plain).chain(untold).min()
    }

    /// What a CPU runs if nothing but plain leaves is ready, and no instant is to come.
    #[inline(always)]
    pub(super) fn only_plain(&self, cpu: usize) -> Option<u32> {
        let state = &self.cpus[cpu];
        let root = &self.nodes[state.root as usize];
        let others = [root.queue, root.events, state.misses, state.background];
        if others != [NIL; 4] || self.chaos != 0 || self.looks_at_shared(cpu) {
            return None;
        }
        Some(self.plain_leaf(cpu, state.plain.first()? as u8).0)
    }

    /// What goes first below a CPU's root, and until when, as [`Tree::descend`].
    #[inline(always)]
    pub(super) fn choose_at_root(&mut self, cpu: usize, now: u64) -> Result<(u32, u64), u32> {
        let root = self.cpus[cpu].root;
        let Some(priority) = self.cpus[cpu].plain.first() else {
            return self.descend(root, NIL, now);
        };
        let PlainLeaf { sequence, used, .. } = self.plain[cpu * PRIORITIES + priority];
        let slice = self.slice - used;
        let at = self.plain_leaf(cpu, priority as u8).0;
        let Some(node) = self.nodes.get(self.first_node(cpu) as usize) else {
            return Ok((at, self.due_up_to(root, rank(priority), now)?));
        };
        let is_equal = node.rank() == rank(priority);
        let node_slice = node.slice;
        if (node.rank(), node.sequence) < (rank(priority), sequence) {
            let (leaf, until) = self.descend(root, NIL, now)?;
            let turn = if is_equal { now.saturating_add(node_slice) } else { NEVER };
            return Ok((leaf, until.min(turn)));
        }
        let until = self.due_up_to(root, rank(priority), now)?;
        let turn = if is_equal { now.saturating_add(slice) } else { NEVER };
        Ok((at, until.min(turn)))
    }

    /// A plain leaf of a CPU by chance, if any is ready: in one of two cases where a node is.
    pub(super) fn plain_by_chance(&mut self, cpu: usize) -> Option<u32> {
        let mut priority = self.cpus[cpu].plain.first()?;
        if self.first_node(cpu) != NIL && self.chance(2) == 0 {
            return None;
        }
        for _ in 0..self.chance(STEPS) {
            priority = self.cpus[cpu].plain.below(priority).unwrap_or(priority);
        }
        Some(self.plain_leaf(cpu, priority as u8).0)
    }

    /// The first node below a CPU's root that can be chosen.
    #[inline(always)]
    fn first_node(&self, cpu: usize) -> u32 {
        let root = &self.nodes[self.cpus[cpu].root as usize];
        avl::first::<Node, ByKey>(self.nodes, root.queue)
    }
}
