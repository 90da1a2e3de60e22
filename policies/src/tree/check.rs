//! What must hold at any time, for tests.

use super::avl::{self, NIL, Order};
use super::background::ByTurn;
use super::curve::NEVER;
use super::frame::Frame;
use super::node::{ByEligible, ByEvent, ByKey, ByMiss, ByUrgency, NOWHERE, Node, NodeId, Role};
use super::notice::ByNotice;
use super::promised::Promised;
use super::{Budget, DEPTH, Policy, Share, Tree};
use abi::reservation::Server;
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
    /// What a node may use at most, if there is a limit.
    pub(crate) fn limit(&self, at: NodeId) -> Option<Budget> {
        self.nodes[at.index()].server.limits
    }

    /// Checks everything that the tree keeps against what follows from the rest.
    pub(crate) fn check(&self) {
        self.check_storage();
        for at in 0..self.nodes.len() {
            match self.nodes[at].role {
                Role::Vacant(_) => self.check_vacant(at),
                role => self.check_node(at, role),
            }
        }
        for cpu in 0..self.cpus.len() {
            let told = |at: &usize| self.nodes[*at].watch.has_seen() && self.is_of(*at, cpu);
            let notices = members::<ByNotice>(self.nodes, self.cpus[cpu].notices);
            same(notices, (0..self.nodes.len()).filter(told), "notices");
            let listed = members::<ByMiss>(self.nodes, self.cpus[cpu].misses);
            let missing = |at: &usize| self.nodes[*at].miss_at != NEVER && self.is_of(*at, cpu);
            same(listed, (0..self.nodes.len()).filter(missing), "misses that are to be seen");
            for at in members::<ByTurn>(self.nodes, self.cpus[cpu].background) {
                let node = &self.nodes[at as usize];
                assert!(self.is_of(at as usize, cpu) && node.is_out_of_time(), "not out of time");
                assert!(!node.is_queued(), "in its class and in the background");
            }
            let running = self.cpus[cpu].running;
            if let Some(node) = self.nodes.get(running as usize) {
                assert!(node.role == Role::Leaf && node.ready, "what runs is no ready leaf");
            }
        }
    }

    /// When the next instant comes that a CPU has, whether it matters to its choice or not.
    pub(super) fn first_instant(&self, cpu: usize) -> u64 {
        let own = |at: &usize| self.is_of(*at, cpu);
        let ends = (0..self.nodes.len()).filter(own).map(|at| self.end_of(at));
        ends.min().unwrap_or(NEVER).min(self.next_miss(cpu, NEVER).1)
    }

    /// Serves all instants of a CPU that have come, in their order.
    pub(super) fn serve_all(&mut self, cpu: usize, now: u64) {
        let now = self.account_to(cpu, now);
        while self.first_instant(cpu).min(NEVER - 1) <= now {
            let first = self.first_instant(cpu);
            let is_first = |at: &usize| self.is_of(*at, cpu) && self.end_of(*at) == first;
            match (0..self.nodes.len()).find(is_first) {
                Some(at) => self.serve(at as u32, now),
                None => drop(self.sees_miss(self.next_miss(cpu, NEVER).0, now)),
            }
        }
    }

    /// When the period of a node that is ready ends, or its window.
    fn end_of(&self, at: usize) -> u64 {
        let node = &self.nodes[at];
        let period = if node.ready { node.server.period_end() } else { NEVER };
        period.min(self.window_end(at as u32))
    }

    fn is_of(&self, at: usize, cpu: usize) -> bool {
        !matches!(self.nodes[at].role, Role::Vacant(_)) && self.home_of(at as u32) == cpu
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
        let links = [node.place, node.event, node.miss, node.fair.eligible, node.behind.place];
        assert!(links.iter().all(|links| !links.is_in()), "a vacant node is in a set");
        assert_eq!(node.events, NIL);
        assert!(!node.watch.has_seen(), "a vacant node has a notice");
        assert!(!node.ready && node.queue == NIL && node.fair.waiting == NIL);
        let helped = self.cpus.iter().any(|cpu| cpu.helped == at as u32);
        assert!(!helped, "what is not there is charged");
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
        let takers = (0..).zip(self.cpus.iter()).filter(|(_, cpu)| cpu.taken == at as u32);
        let takers: Vec<u16> = takers.map(|(cpu, _)| cpu).collect();
        if node.parent != NIL {
            assert_eq!(takers.first(), Some(&node.cpu).filter(|cpu| **cpu != NOWHERE), "taken");
            assert!(takers.len() <= 1, "a child is on two CPUs");
            assert!(takers.is_empty() || self.is_shared_class(node.parent), "taken elsewhere");
        }
        assert_eq!(
            (node.miss_at, node.miss_level),
            (node.job.event(), node.watch.level),
            "the miss"
        );
        self.check_events(at, role);
        self.check_lent(at, role);
        if let Some(Budget { server: Server::Sporadic, budget, .. }) = node.server.limits {
            let amounts = node.server.replenishments.amounts();
            assert!(amounts.is_sorted_by_key(|entry| entry.at), "amounts in order: {amounts:?}");
            assert_eq!(amounts.iter().map(|entry| entry.amount).sum::<u64>(), budget);
        }
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

    /// Threads on lent leaves are counted in each class, and what is logically active is what can
    /// be chosen among service curves, or could be and has such threads.
    fn check_lent(&self, at: usize, role: Role) {
        let node = &self.nodes[at];
        if role != Role::Leaf {
            let inside = self.children(at).map(|child| self.nodes[child].fair.lent);
            assert_eq!(node.fair.lent, inside.sum::<u32>(), "threads on lent leaves");
        }
        let is_curve = self.policy_of(node.parent) == Some(Policy::ServiceCurves);
        let must = is_curve && node.is_queued();
        let may = is_curve && (node.is_queued() || node.fair.lent > 0);
        let is_active = node.fair.is_active;
        assert!((!must || is_active) && (!is_active || may), "what is logically active");
        if self.cpus.iter().any(|cpu| cpu.helped == at as u32) {
            assert!(role == Role::Leaf && node.fair.lent > 0, "charged without a lent leaf");
        }
    }

    /// A node has the first of the instants that matter.
    fn check_events(&self, at: usize, role: Role) {
        let node = &self.nodes[at];
        assert_eq!(node.event.is_in(), node.event_at != NEVER, "an instant is lost");
        let with_instant = |child: &usize| self.nodes[*child].event_at != NEVER;
        let is_fixed = role == Role::Class(Policy::FixedPriority);
        let events = match is_fixed {
            true => members::<ByUrgency>(self.nodes, node.events),
            false => members::<ByEvent>(self.nodes, node.events),
        };
        same(events, self.children(at).filter(with_instant), "instants of children");
        let frame = self.frames.get(node.frame as usize);
        let current = frame.map_or(0, Frame::partition);
        let window = match frame {
            Some(frame) if node.queue != NIL || node.events != NIL => frame.until(),
            _ => NEVER,
        };
        let inner = self.children(at).filter_map(|child| match self.nodes[child].share {
            Share::Partition { number, .. } if number != 0 && number != current => None,
            _ => Some(self.nodes[child].event_at),
        });
        let seen = match (node.ready, node.is_queued() || node.parent == NIL) {
            _ if self.shows_inner(at as u32) => {
                let inner = inner.min().unwrap_or(NEVER);
                let mut then = node.server.clone();
                then.wake(inner);
                match inner != NEVER && !node.ready && then.is_throttled {
                    true => then.event(true).max(inner),
                    false => inner,
                }
            }
            (_, true) => NEVER,
            (_, false) => node.server.event(node.ready),
        };
        assert_eq!(node.event_at, seen.min(window), "the instant that the class sees");
    }

    fn check_class(&self, at: usize) {
        let node = &self.nodes[at];
        let can = |at: &usize| self.nodes[*at].wants();
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
