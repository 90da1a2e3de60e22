//! The class that all CPUs share: global EDF. Its children are in one queue by their deadlines, and
//! each is run by one CPU at a time. A CPU that decides takes the first one that no other CPU has
//! taken, unless something of its own is more urgent than the class; it has that until it decides
//! again, even if nothing in it is ready meanwhile.
//!
//! A child that became ready, or was left by a CPU, may belong on another one. That CPU is *asked*:
//! the one that idles, runs what is less urgent than the class, or runs the child of the latest
//! deadline. When no CPU is asked any more, none runs anything less urgent than a child that waits.
//!
//! With `n` children and `m` CPUs a decision steps over the children that are taken, m at most, and
//! asking takes O(m² depth) steps at worst: m children that wait, for each of which m CPUs are
//! looked at.

use super::avl::{self, NIL};
use super::curve::NEVER;
use super::error::TreeError;
use super::node::{ByKey, NOWHERE, Node};
use super::pick::Due;
use super::{NodeId, Tree, TreeCpu};
use abi::reservation::{LEVELS, Share};
use core::cmp::Reverse;

/// Above the keys of all children of the shared class.
const OWN: u128 = 1 << 100;

/// Whether a CPU is to decide again for the shared class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Asked {
    /// No.
    No,
    /// Yes, and the kernel does not know yet.
    Yes,
    /// Yes, and [`Tree::take_asked`] has said so.
    Told,
}

impl Tree<'_> {
    /// What stands for the shared class among the CPUs.
    #[inline(always)]
    pub(super) fn shared_cpu(&self) -> usize {
        self.cpus.len() - 1
    }

    /// Whether this is the shared class.
    pub(super) fn is_shared_class(&self, at: u32) -> bool {
        at == self.shared().0
    }

    /// The CPU that has taken a child of the shared class.
    #[inline(always)]
    pub(super) fn taker(&self, child: u32) -> Option<usize> {
        let node = self.nodes.get(child as usize)?;
        (node.parent != NIL && node.cpu != NOWHERE).then_some(usize::from(node.cpu))
    }

    /// Whether a CPU's decision has to look at the shared class.
    #[inline(always)]
    pub(super) fn looks_at_shared(&self, cpu: usize) -> bool {
        let state = &self.cpus[self.shared_cpu()];
        let class = &self.nodes[state.root as usize];
        let its = [class.queue, class.events, state.misses, state.notices];
        its != [NIL; 4] || self.cpus[cpu].taken != NIL
    }

    /// A CPU's decision between its own root and the shared class.
    #[cold]
    #[inline(never)]
    pub(super) fn choose_with_shared(&mut self, cpu: usize, now: u64) -> Result<(u32, u64), Due> {
        let (root, class, shared) = (self.cpus[cpu].root, self.shared().0, self.shared_cpu());
        let rank = self.nodes[class as usize].rank();
        let is_first = self.first_rank(cpu).is_none_or(|first| rank <= first);
        let mut instants = NEVER;
        if is_first {
            let misses = self.due_misses(shared, NIL, now).map_err(Due::Node)?;
            instants = self.due_in(class, now).map_err(Due::Node)?.min(misses);
        }
        let child = self.first_for(cpu);
        let goes = child != NIL && if self.chaos == 0 { is_first } else { self.chance(2) == 0 };
        let mut chosen = if goes {
            let own = self.due_up_to(root, rank, now).map_err(Due::Node)?;
            let (leaf, until) = self.choose(child, now)?;
            (leaf, until.min(own))
        } else {
            self.choose_own(cpu, now)?
        };
        // One CPU looks at the class when its next instant comes, none that runs what goes before
        // the class.
        let others = self.cpus[..shared].iter().enumerate().filter(|(other, _)| *other != cpu);
        let mut others = others.map(|(_, other)| other);
        let looks = |other: &TreeCpu| other.until <= instants && self.runs(other) > 0;
        if is_first && !others.any(looks) {
            chosen.1 = chosen.1.min(instants);
        }
        Ok(chosen)
    }

    /// The first child in the queue that no other CPU has taken; while decisions are made by chance
    /// one behind it, perhaps.
    pub(super) fn first_for(&mut self, cpu: usize) -> u32 {
        let mut skips = if self.chaos == 0 { 0 } else { self.chance(4) };
        let queue = self.nodes[self.shared().0 as usize].queue;
        let (mut at, mut found) = (avl::first::<Node, ByKey>(self.nodes, queue), NIL);
        while at != NIL {
            if self.taker(at).is_none_or(|taker| taker == cpu) {
                found = at;
                if skips == 0 {
                    break;
                }
                skips -= 1;
            }
            at = avl::next::<Node, ByKey>(self.nodes, at);
        }
        found
    }

    /// A CPU has decided to run a leaf, or none: it takes the child of the shared class that the
    /// leaf is, or is in, and has no other one any more. CPUs that may run something else than they
    /// do are asked.
    #[cold]
    #[inline(never)]
    pub(super) fn take_child(&mut self, cpu: usize, leaf: u32) {
        let (root, top) = self.top(leaf);
        let child = if self.is_shared_class(root) { top } else { NIL };
        self.leave_child(cpu);
        if let Some(node) = self.nodes.get_mut(child as usize) {
            node.cpu = cpu as u16;
            self.cpus[cpu].taken = child;
        }
        // Choices by chance are due again soon by themselves.
        if self.chaos == 0 {
            self.ask();
            // A notice of the class that this CPU does not tell, since it runs what goes before.
            if self.runs(&self.cpus[cpu]) == 0 && self.cpus[self.shared_cpu()].notices != NIL {
                self.ask_at(0);
            }
        }
    }

    /// A CPU has no child of the shared class any more.
    fn leave_child(&mut self, cpu: usize) {
        let before = core::mem::replace(&mut self.cpus[cpu].taken, NIL);
        if let Some(node) = self.nodes.get_mut(before as usize) {
            node.cpu = NOWHERE;
        }
    }

    /// A node is about to be moved or removed: the CPU that runs something in it does so no longer,
    /// and is asked. It was charged up to now.
    pub(super) fn leave_node(&mut self, at: u32) {
        let (root, top) = self.top(at);
        let Some(cpu) = self.taker(top).filter(|_| self.is_shared_class(root)) else { return };
        self.cpus[cpu].asked = Asked::Yes;
        if self.is_in(self.cpus[cpu].running, at) {
            self.stop_running(cpu);
        }
        if top == at {
            self.leave_child(cpu);
        }
    }

    /// What is in a child of the shared class has changed: the CPU that has taken the child is
    /// asked, and others that may run it instead of what they do. Whether any CPU is asked.
    pub(super) fn asks_for(&mut self, child: u32) -> bool {
        if let Some(cpu) = self.taker(child) {
            self.cpus[cpu].request();
        }
        self.ask();
        self.cpus.iter().any(|cpu| cpu.asked != Asked::No)
    }

    /// Asks CPUs for which a child waits that is more urgent than what they run. Those asked before
    /// are expected to take the first ones.
    fn ask(&mut self) {
        let shared = self.shared_cpu();
        let is_asked = |cpu: &&TreeCpu| cpu.asked != Asked::No;
        let mut expected = self.cpus[..shared].iter().filter(is_asked).count();
        let class = self.shared().0;
        let mut at = avl::first::<Node, ByKey>(self.nodes, self.nodes[class as usize].queue);
        while at != NIL {
            if self.taker(at).is_none() && expected > 0 {
                expected -= 1;
            } else if self.taker(at).is_none() {
                let Some(cpu) = self.least_urgent(at) else { break };
                self.cpus[cpu].request();
            }
            at = avl::next::<Node, ByKey>(self.nodes, at);
        }
        let misses = self.next_miss(shared, NEVER).1;
        self.ask_at(self.first_event(class, NEVER).1.min(misses));
    }

    /// Of the CPUs that do not run what goes before the class, the least urgent one is to decide at
    /// an instant of the class, unless one of them does so already.
    fn ask_at(&mut self, instant: u64) {
        let shared = self.shared_cpu();
        let all = self.cpus[..shared].iter().enumerate();
        let all = all.map(|(number, cpu)| (self.runs(cpu), number));
        let them = || all.clone().filter(|(runs, _)| *runs > 0);
        let looks = |number: usize| {
            let cpu = &self.cpus[number];
            cpu.until <= instant || cpu.asked != Asked::No
        };
        if instant == NEVER || them().any(|(_, number)| looks(number)) {
            return;
        }
        let least = them().max_by_key(|(runs, number)| (*runs, Reverse(*number)));
        if let Some((_, number)) = least {
            self.cpus[number].request();
        }
    }

    /// The CPU that is to run a child of the shared class that waits instead of what it runs; none
    /// if all run what is no less urgent, or are asked.
    fn least_urgent(&self, child: u32) -> Option<usize> {
        let key = self.nodes[child as usize].key;
        let cpus = self.cpus[..self.shared_cpu()].iter().enumerate();
        let free = cpus.filter(|(_, cpu)| cpu.asked == Asked::No);
        let below = free.map(|(number, cpu)| (self.runs(cpu), number));
        let below = below.filter(|(runs, _)| *runs > key);
        below.max_by_key(|(runs, number)| (*runs, Reverse(*number))).map(|(_, number)| number)
    }

    /// What a CPU runs, as a key among those of the shared class's children: less is more urgent.
    fn runs(&self, cpu: &TreeCpu) -> u128 {
        match self.nodes.get(cpu.taken as usize) {
            Some(taken) => taken.key,
            None if cpu.behind != NIL => u128::MAX,
            None => self.own_key(cpu.running),
        }
    }

    /// The same of a leaf of a CPU's own: 0 if it goes before the class.
    fn own_key(&self, leaf: u32) -> u128 {
        if leaf == NIL {
            return u128::MAX;
        }
        let (root, rank) = self.rank_below_root(leaf);
        let is_before = rank < self.nodes[self.shared().0 as usize].rank();
        if is_before && !self.is_shared_class(root) { 0 } else { OWN + u128::from(rank) }
    }

    /// A CPU that is to decide again because of the shared class, once for each time that it is
    /// asked; none if there is none left.
    pub fn take_asked(&mut self) -> Option<usize> {
        let cpu = self.cpus.iter().position(|cpu| cpu.asked == Asked::Yes)?;
        self.cpus[cpu].asked = Asked::Told;
        Some(cpu)
    }

    /// A CPU stops running a thread of this leaf: if another CPU has taken the leaf meanwhile, it
    /// is asked, as it could not run that thread before.
    pub fn leaves_to_others(&mut self, leaf: NodeId, cpu: usize) {
        let (root, top) = self.top(leaf.0);
        let other = self.taker(top).filter(|other| *other != cpu && self.is_shared_class(root));
        if let Some(other) = other {
            self.cpus[other].request();
        }
    }

    /// Gives the shared class a priority on each CPU.
    pub(super) fn set_shared_priority(&mut self, share: Share) -> Result<(), TreeError> {
        match share {
            Share::Priority(priority) if priority < LEVELS => {
                let (class, shared) = (self.shared().0, self.shared_cpu());
                self.nodes[class as usize].share = share;
                self.cpus[..shared].iter_mut().for_each(TreeCpu::request);
                Ok(())
            }
            Share::Priority(_) => Err(TreeError::InvalidParameter),
            _ => Err(TreeError::WrongShare),
        }
    }
}

impl TreeCpu {
    /// It is to decide again.
    fn request(&mut self) {
        if self.asked == Asked::No {
            self.asked = Asked::Yes;
        }
    }
}
