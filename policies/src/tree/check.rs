//! What must hold at any time, for tests.

use super::avl::{self, NIL, Order};
use super::curve::NEVER;
use super::node::{ByEligible, ByEvent, ByKey, Node, Role};
use super::notice::ByNotice;
use super::promised::Promised;
use super::{DEPTH, Policy, Share, Tree};
extern crate std;
use std::vec;
use std::vec::Vec;

/// The members of a set in its order.
fn members<O: Order<Node>>(nodes: &[Node], root: u32) -> Vec<u32> {
    let mut listed = Vec::new();
    let mut at = avl::first::<Node, O>(nodes, root);
    while at != NIL {
        listed.push(at);
        at = avl::next::<Node, O>(nodes, at);
    }
    avl::check::<Node, O>(nodes, root);
    assert!(
        listed.is_sorted_by_key(|at| {
            let node = &nodes[*at as usize];
            (O::key(node), O::rank(node))
        }),
        "out of order"
    );
    listed
}

fn same(mut listed: Vec<u32>, expected: impl Iterator<Item = usize>, what: &str) {
    listed.sort_unstable();
    assert_eq!(listed, expected.map(|at| at as u32).collect::<Vec<_>>(), "{what}");
}

impl Tree<'_> {
    /// Checks everything that the tree keeps against what follows from the rest.
    pub(super) fn check(&self) {
        self.check_storage();
        for at in 0..self.nodes.len() {
            match self.nodes[at].role {
                Role::Vacant(_) => self.check_vacant(at),
                role => self.check_node(at, role),
            }
        }
        let told = |at: &usize| self.nodes[*at].watch.has_seen();
        let notices = members::<ByNotice>(self.nodes, self.notices);
        same(notices, (0..self.nodes.len()).filter(told), "notices");
        for cpu in 0..self.cpus.len() {
            let events = members::<ByEvent>(self.nodes, self.cpus[cpu].events);
            let due = |at: &usize| self.nodes[*at].event_at != NEVER && self.is_of(*at, cpu);
            same(events, (0..self.nodes.len()).filter(due), "instants to come");
            let running = self.cpus[cpu].running;
            if let Some(node) = self.nodes.get(running as usize) {
                assert!(node.role == Role::Leaf && node.ready, "what runs is no ready leaf");
            }
        }
    }

    fn is_of(&self, at: usize, cpu: usize) -> bool {
        !matches!(self.nodes[at].role, Role::Vacant(_)) && self.cpu_of(at as u32) == cpu
    }

    /// Nodes and frames are in use or free, each once.
    fn check_storage(&self) {
        let (mut free, mut is_free) = (self.free, vec![false; self.nodes.len()]);
        while free != NIL {
            assert!(!core::mem::replace(&mut is_free[free as usize], true), "free twice");
            let Role::Vacant(next) = self.nodes[free as usize].role else { panic!("not vacant") };
            free = next;
        }
        let mut owners = vec![0; self.frames.len()];
        for (node, is_free) in self.nodes.iter().zip(is_free) {
            assert_eq!(matches!(node.role, Role::Vacant(_)), is_free, "lost, or free and used");
            let is_partitioned = node.policy() == Some(Policy::Partitions);
            assert_eq!(node.frame != NIL, is_partitioned, "a frame without its class");
            if is_partitioned {
                owners[node.frame as usize] += 1;
            }
        }
        for (owners, frame) in owners.into_iter().zip(self.frames.iter()) {
            assert_eq!(owners, u32::from(frame.is_taken), "a frame has one owner or none");
        }
    }

    fn check_vacant(&self, at: usize) {
        let node = &self.nodes[at];
        let is_in = [node.place, node.event, node.fair.eligible].map(|links| links.is_in());
        assert_eq!(is_in, [false; 3], "a vacant node is in a set");
        assert!(!node.watch.has_seen(), "a vacant node has a notice");
        assert!(!node.ready && node.queue == NIL && node.fair.waiting == NIL);
    }

    fn children(&self, at: usize) -> impl Iterator<Item = usize> + Clone {
        let used = |node: &Node| !matches!(node.role, Role::Vacant(_));
        (0..self.nodes.len()).filter(move |child| {
            self.nodes[*child].parent == at as u32 && used(&self.nodes[*child])
        })
    }

    fn check_node(&self, at: usize, role: Role) {
        let node = &self.nodes[at];
        let roots = self.cpus.iter().filter(|cpu| cpu.root == at as u32).count();
        assert_eq!(roots, usize::from(node.parent == NIL), "a node has a class, or is a root");
        let heights = self.children(at).map(|child| self.nodes[child].height() + 1);
        assert_eq!(node.height(), heights.max().unwrap_or(0), "the height");
        assert_eq!(node.children() as usize, self.children(at).count(), "children");
        assert!(node.height() < DEPTH);
        let frame = self.frames.get(node.frame as usize);
        let window = match frame {
            Some(frame) if node.queue != NIL => frame.until(),
            _ => NEVER,
        };
        let instant = node.server.event(node.ready).min(node.job.event()).min(window);
        assert_eq!(node.event_at, instant, "the instant to come");
        assert_eq!(node.event.is_in(), node.event_at != NEVER);
        if role == Role::Leaf {
            assert_eq!((self.children(at).count(), node.queue), (0, NIL));
        } else {
            self.check_class(at);
        }
        if node.parent != NIL {
            assert_eq!(self.check_share(node.parent, node.share), Ok(()));
            let limits = node.server.limits;
            assert_eq!(self.check_limits(at as u32, node.parent, limits), Ok(()));
            assert_eq!(self.check_children(at as u32, node.parent, node.share, limits), Ok(()));
        }
    }

    fn check_class(&self, at: usize) {
        let node = &self.nodes[at];
        let can = |at: &usize| self.nodes[*at].ready && !self.nodes[*at].server.is_throttled;
        let queue = members::<ByKey>(self.nodes, node.queue);
        same(queue.clone(), self.children(at).filter(can), "the queue");
        let numbers = self.children(at).filter_map(|child| match self.nodes[child].share {
            Share::Partition { number, .. } => Some(number),
            _ => None,
        });
        let ready = match self.frames.get(node.frame as usize) {
            Some(frame) => {
                let mut kept: Vec<u16> = frame.numbers().into_iter().flatten().collect();
                let mut expected: Vec<u16> = numbers.collect();
                kept.sort_unstable();
                expected.sort_unstable();
                assert_eq!(kept, expected, "the numbers of partitions");
                let runs = [0, frame.partition()].map(u128::from);
                queue.iter().any(|child| runs.contains(&self.nodes[*child as usize].key))
            }
            None => !queue.is_empty(),
        };
        assert_eq!(node.ready, ready, "whether there is a choice");
        let mut sums = Promised::NONE;
        for child in self.children(at) {
            sums.add(self.policy_of(at as u32), self.promise_of(child as u32));
        }
        sums.assert_same(&node.promised);
        if node.policy() == Some(Policy::ServiceCurves) && self.top_of(at as u32) == at as u32 {
            let waits = |child: &usize| {
                let node = &self.nodes[*child];
                let Share::Curve { guaranteed: Some(_), .. } = node.share else { return false };
                let is_inner = node.policy() == Some(Policy::ServiceCurves);
                node.place.is_in() && !is_inner && self.top_of(node.parent) == at as u32
            };
            let waiting = members::<ByEligible>(self.nodes, node.fair.waiting);
            let below = (0..self.nodes.len()).filter(|child| self.nodes[*child].parent != NIL);
            same(waiting, below.filter(waits), "those with guarantees");
        } else {
            assert_eq!(node.fair.waiting, NIL, "guarantees in no top class");
        }
    }
}
