//! Who pays for the time that the kernel takes.
//!
//! What a CPU runs is charged until the kernel is entered, and for what the kernel does for it.
//! What it does for others, these pay for: a leaf that an interrupt wakes or that stops running, up
//! to the end of the decision that follows; a node whose instant is served, for that step. Such
//! time is noted at the node and at all classes above it, and charged to each of them with what
//! runs in it next. What is chosen pays for the switch to it.

use super::avl::NIL;
use super::{NodeId, Tree};

impl Tree<'_> {
    /// An interrupt of a CPU has woken a leaf: until the next decision ends the kernel works for
    /// it. Nothing happens if this is no leaf, or one without a reservation.
    pub fn pays(&mut self, cpu: usize, leaf: NodeId, now: u64) {
        if cpu < self.cpus.len() && self.is_leaf(leaf) {
            self.account_to(cpu, now);
            self.cpus[cpu].payer = leaf.0;
        }
    }

    /// What a CPU runs stops there, which was charged up to now: the kernel works for it until the
    /// next decision ends. What runs in the background uses no budget, so it does not pay.
    #[inline(always)]
    pub(super) fn stop_running(&mut self, cpu: usize) {
        let state = &mut self.cpus[cpu];
        let stopped = core::mem::replace(&mut state.running, NIL);
        state.payer = if state.behind == NIL { stopped } else { NIL };
    }

    /// Whether the kernel works for another one than what a CPU runs.
    #[inline(always)]
    pub fn has_payer(&self, cpu: usize) -> bool {
        self.cpus.get(cpu).is_some_and(|state| state.payer != NIL)
    }

    /// That has ended: who is worked for owes the time since the last charge. How much that is.
    pub fn settle_payer(&mut self, cpu: usize, now: u64) -> u64 {
        let Some(state) = self.cpus.get_mut(cpu) else { return 0 };
        let payer = NodeId(state.payer);
        state.payer = NIL;
        if payer.0 == NIL { 0 } else { self.owe(cpu, payer, now) }
    }

    /// The same at the end of a decision. What was chosen begins to run at its end, and so runs
    /// longer.
    pub fn settle_decision(&mut self, cpu: usize, now: u64) -> u64 {
        let time = self.settle_payer(cpu, now);
        if let Some(state) = self.cpus.get_mut(cpu) {
            (state.began, state.until) = (state.since, state.until.saturating_add(time));
        }
        time
    }

    /// A node, and all classes above it, owe the time since the last charge of a CPU, whose kernel
    /// has worked for it. How much that is.
    pub fn owe(&mut self, cpu: usize, at: NodeId, now: u64) -> u64 {
        let Some(state) = self.cpus.get_mut(cpu) else { return 0 };
        let time = now.saturating_sub(state.since);
        state.since += time;
        let mut at = at.0;
        while let Some(node) = self.nodes.get_mut(at as usize) {
            node.owed = node.owed.saturating_add(time);
            at = node.parent;
        }
        time
    }

    /// A node is about to be moved: for what was worked for something in it so far the classes owe
    /// that it is in now.
    pub(super) fn charge_payers(&mut self, at: u32, now: u64) {
        for cpu in 0..self.cpus.len() {
            if self.is_in(self.cpus[cpu].payer, at) {
                self.account_to(cpu, now);
            }
        }
    }

    /// A node goes: the kernel does not work for it any more.
    pub(super) fn forget_payer(&mut self, at: u32) {
        let parent = self.nodes[at as usize].parent;
        self.nodes[at as usize].owed = 0;
        self.cpus.iter_mut().filter(|cpu| cpu.payer == at).for_each(|cpu| cpu.payer = parent);
    }
}
