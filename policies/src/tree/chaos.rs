//! Chaos: choices by chance among all that are legal, to try what stands on the tree against every
//! decision that a policy can make.
//!
//! A choice is legal if the leaf is ready, no node above it waits for budget or a window, and the
//! next decision is due before a budget is used up. The CPU may idle for a while, too. So
//! priorities, deadlines and shares mean nothing, and limits and windows hold.

use super::Tree;
use super::avl::{self, NIL};
use super::frame::Frame;
use super::node::{ByKey, Node, Role};
use abi::reservation::Policy;

/// How far a choice steps in a class's queue at most.
pub(super) const STEPS: u64 = 8;
/// A decision is due after this time at most, in nanoseconds.
const LONGEST_CHOICE: u64 = 1_000_000;
/// One in so many decisions is to idle.
const IDLES: u64 = 16;

impl Tree<'_> {
    /// From now on decisions are made by chance, the same ones for the same seed; with 0 by the
    /// policies again.
    #[cfg(any(test, feature = "chaos"))]
    pub fn set_chaos(&mut self, seed: u64) {
        self.chaos = seed;
    }

    /// A number below a limit; the next one is another.
    pub(super) fn chance(&mut self, limit: u64) -> u64 {
        // Zero would be the end of chaos.
        let next = self.chaos.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1) | 1 << 63;
        self.chaos = next;
        ((u128::from(next << 1) * u128::from(limit)) >> 64) as u64
    }

    /// As [`Tree::descend`], by chance.
    #[cold]
    pub(super) fn descend_by_chance(&mut self, top: u32, now: u64) -> Result<(u32, u64), u32> {
        let mut until = now.saturating_add(1 + self.chance(LONGEST_CHOICE));
        if self.chance(IDLES) == 0 {
            return Ok((NIL, until));
        }
        if let Some(cpu) = self.cpu_with_root(top)
            && let Some(leaf) = self.plain_by_chance(cpu)
        {
            return Ok((leaf, until.min(self.due_in(top, now)?)));
        }
        let mut at = top;
        while let Some(node) = self.nodes.get(at as usize) {
            if node.server.is_overdue(now) {
                return Err(at);
            }
            until = until.min(now.saturating_add(node.server.left()));
            let (queue, role) = (node.queue, node.role);
            let frame = self.frames.get(node.frame as usize).map_or(0, Frame::partition);
            if role == Role::Leaf {
                return Ok((at, until));
            }
            until = until.min(self.due_in(at, now)?).min(self.due_in_partitions(at, now)?);
            let steps = self.chance(STEPS);
            at = match role {
                Role::Class(Policy::Partitions) => {
                    let [one, other] = match steps % 2 {
                        0 => [0, frame],
                        _ => [frame, 0],
                    };
                    match self.partition(queue, one) {
                        NIL => self.partition(queue, other),
                        found => found,
                    }
                }
                _ => self.step_in(queue, steps),
            };
        }
        Ok((NIL, until))
    }

    /// The node so far behind the first one of a queue, or the last before that.
    fn step_in(&self, queue: u32, steps: u64) -> u32 {
        let mut at = avl::first::<Node, ByKey>(self.nodes, queue);
        for _ in 0..steps {
            match self.nodes.get(at as usize).map(|_| avl::next::<Node, ByKey>(self.nodes, at)) {
                Some(next) if next != NIL => at = next,
                _ => break,
            }
        }
        at
    }
}
