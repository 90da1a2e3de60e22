//! Instants to come: a budget comes back, a window ends, a miss is to be told of.
//!
//! Each is looked at where it can change a choice. Each class has the instants of its children that
//! wait for budget, of what waits in children that have nothing ready, and of windows of its
//! children; a decision serves those of the classes on its way down, in a class of fixed priorities
//! only those of children that are no less urgent than the first ready one. So no leaf is
//! interrupted for what could not run instead of it. An instant that is served later has the effect
//! that it would have had in time.
//!
//! A miss that a monitor is told of is as urgent as what asked for it. Any miss of a leaf is seen
//! while that is chosen, or where the CPU has nothing else to run.

use super::Tree;
use super::avl::{self, NIL};
use super::curve::NEVER;
use super::frame::Frame;
use super::node::{ByEvent, ByKey, ByMiss, ByUrgency, Node, Role};
use abi::reservation::{Policy, Share};

/// Instants that are served at most before a node is changed.
const CAUGHT_UP: u32 = 8;

impl Tree<'_> {
    /// A node's instants have changed, perhaps.
    pub(super) fn plan(&mut self, at: u32) {
        self.plan_miss(at);
        self.show(at);
    }

    /// The same, told to its class alone. Whether that sees another instant by it.
    pub(super) fn plan_level(&mut self, at: u32) -> bool {
        self.plan_miss(at);
        self.show_level(at)
    }

    #[inline(always)]
    pub(super) fn plan_miss(&mut self, at: u32) {
        let node = &self.nodes[at as usize];
        let miss = (node.job.event(), node.watch.level);
        if miss != (node.miss_at, node.miss_level) {
            self.set_miss(at, miss);
        }
    }

    fn set_miss(&mut self, at: u32, (instant, level): (u64, u16)) {
        let cpu = self.home_of(at);
        let set = |node: &mut Node| (node.miss_at, node.miss_level) = (instant, level);
        let (is_in, misses) = (instant != NEVER, self.cpus[cpu].misses);
        let misses = avl::change::<Node, ByMiss>(self.nodes, misses, at, is_in, set);
        self.cpus[cpu].misses = misses;
    }

    /// A node that is removed has no instants any more.
    pub(super) fn forget_instants(&mut self, at: u32) {
        self.set_miss(at, (NEVER, 0));
        self.hide(at);
    }

    /// A node is about to get another class, or another place in it, or is removed: its class does
    /// not see its instants until [`Tree::show`].
    pub(super) fn hide(&mut self, at: u32) {
        let class = self.nodes[at as usize].parent;
        self.set_event(class, at, NEVER);
        self.plan(class);
    }

    /// What a class sees of a child: when it can be chosen again, or something in it can, but not
    /// before it could be chosen itself; or when the window ends in which it chooses.
    fn shown(&self, at: u32) -> u64 {
        let node = &self.nodes[at as usize];
        let shown = match self.shows_inner(at) {
            true if node.ready => self.first_event(at, NEVER).1,
            true => node.server.can_run_from(self.first_choice(at, NEVER)),
            false if node.is_queued() || node.parent == NIL => NEVER,
            false => node.server.event(true),
        };
        shown.min(self.window_end(at))
    }

    /// When the window of a class of time partitions ends, if anything is in that.
    #[inline(always)]
    pub(super) fn window_end(&self, at: u32) -> u64 {
        let node = &self.nodes[at as usize];
        match self.frames.get(node.frame as usize) {
            Some(frame) if node.queue != NIL || node.events != NIL => frame.until(),
            _ => NEVER,
        }
    }

    /// Whether a class sees the instants in a child: if nothing is ready in that, or if both are of
    /// service curves, whose guarantees are served by the outer one.
    #[inline(always)]
    pub(super) fn shows_inner(&self, at: u32) -> bool {
        let node = &self.nodes[at as usize];
        let is_inner = || self.policy_of(node.parent) == Some(Policy::ServiceCurves);
        let is_root = node.parent == NIL;
        !is_root && (!node.ready || (node.policy() == Some(Policy::ServiceCurves) && is_inner()))
    }

    /// The classes above a node see its instants as they are now.
    pub(super) fn show(&mut self, mut at: u32) {
        while at != NIL && self.show_level(at) {
            at = self.nodes[at as usize].parent;
        }
    }

    /// Its class sees a node's instants as they are now. Whether they were others before.
    #[inline(always)]
    fn show_level(&mut self, at: u32) -> bool {
        let (next, class) = (self.shown(at), self.nodes[at as usize].parent);
        let is_other = next != self.nodes[at as usize].event_at;
        if is_other {
            self.set_event(class, at, next);
        }
        is_other
    }

    /// Its class sees this instant of a child, or none.
    fn set_event(&mut self, class: u32, at: u32, instant: u64) {
        let (is_in, events) = (instant != NEVER, self.nodes[class as usize].events);
        let set = |node: &mut Node| node.event_at = instant;
        let events = match self.policy_of(class) {
            Some(Policy::FixedPriority) => {
                avl::change::<Node, ByUrgency>(self.nodes, events, at, is_in, set)
            }
            _ => avl::change::<Node, ByEvent>(self.nodes, events, at, is_in, set),
        };
        self.nodes[class as usize].events = events;
    }

    /// Whether that has come.
    #[inline(always)]
    pub(super) fn window_is_over(&self, at: u32, now: u64) -> bool {
        let end = self.window_end(at);
        end <= now && end != NEVER
    }

    /// Since when a class has a choice, by what waits in it or is ready there since an instant.
    pub(super) fn first_choice(&self, class: u32, ready: u64) -> u64 {
        self.first_event(class, NEVER).1.min(ready)
    }

    /// Of a class's children of this rank and more urgent ones, in a class of time partitions of
    /// those whose window it is, the one with the first instant, and that; [`NIL`] and [`NEVER`] if
    /// there is none.
    #[inline(always)]
    pub(super) fn first_event(&self, class: u32, rank: u64) -> (u32, u64) {
        let node = &self.nodes[class as usize];
        let events = node.events;
        if events == NIL {
            return (NIL, NEVER);
        }
        let first = match node.role {
            Role::Class(Policy::FixedPriority) => {
                avl::least_up_to::<Node, ByUrgency>(self.nodes, events, rank)
            }
            Role::Class(Policy::Partitions) => self.first_of_window(class),
            _ => avl::first::<Node, ByEvent>(self.nodes, events),
        };
        (first, self.nodes.get(first as usize).map_or(NEVER, |node| node.event_at))
    }

    /// As many steps as there are partitions.
    fn first_of_window(&self, class: u32) -> u32 {
        let node = &self.nodes[class as usize];
        let current = self.frames.get(node.frame as usize).map_or(0, Frame::partition);
        let mut at = avl::first::<Node, ByEvent>(self.nodes, node.events);
        while let Some(child) = self.nodes.get(at as usize) {
            match child.share {
                Share::Partition { number, .. } if number != 0 && number != current => {
                    at = avl::next::<Node, ByEvent>(self.nodes, at);
                }
                _ => return at,
            }
        }
        NIL
    }

    /// A node whose instant has come and is to be served before a class chooses, if there is one;
    /// else when the first one of those that matter to the choice comes.
    #[inline(always)]
    pub(super) fn due_in(&self, class: u32, now: u64) -> Result<u64, u32> {
        if self.nodes[class as usize].events == NIL {
            return Ok(NEVER);
        }
        let first = avl::first::<Node, ByKey>(self.nodes, self.nodes[class as usize].queue);
        let rank = self.nodes.get(first as usize).map_or(NEVER, Node::rank);
        self.due_up_to(class, rank, now)
    }

    /// The same of children of this rank and more urgent ones, in a class of fixed priorities.
    #[inline(always)]
    pub(super) fn due_up_to(&self, class: u32, rank: u64, now: u64) -> Result<u64, u32> {
        let (mut at, instant) = self.first_event(class, rank);
        if instant > now || at == NIL {
            return Ok(instant);
        }
        while self.shows_inner(at) && !self.window_is_over(at, now) {
            (at, _) = self.first_event(at, NEVER);
        }
        Err(at)
    }

    /// Of the misses of a CPU's leaves that are of this rank or more urgent the first one to be
    /// seen, and when; [`NIL`] and [`NEVER`] if there is none.
    #[inline(always)]
    pub(super) fn next_miss(&self, cpu: usize, rank: u64) -> (u32, u64) {
        let first = avl::least_up_to::<Node, ByMiss>(self.nodes, self.cpus[cpu].misses, rank);
        (first, self.nodes.get(first as usize).map_or(NEVER, |node| node.miss_at))
    }

    /// A node whose miss has come that is no less urgent than a leaf that is chosen, or [`NIL`];
    /// else when the next one comes.
    #[inline(always)]
    pub(super) fn due_misses(&self, cpu: usize, leaf: u32, now: u64) -> Result<u64, u32> {
        if self.cpus[cpu].misses == NIL {
            return Ok(NEVER);
        }
        let (at, instant) = self.next_miss(cpu, self.rank_of_running(leaf));
        if at != NIL && instant <= now { Err(at) } else { Ok(instant) }
    }

    /// Whether a miss of a node's job has come. It is seen.
    pub(super) fn sees_miss(&mut self, at: u32, now: u64) -> bool {
        let is_seen = self.nodes[at as usize].job.see(now);
        if is_seen {
            self.notice_miss(at);
            self.fall_behind(at, now);
            self.plan(at);
        }
        is_seen
    }

    /// A node is about to be changed: what has come to it, or to what is in it, is served. Of
    /// several instants inside the first one that makes it ready is enough.
    pub(super) fn catch_up(&mut self, at: u32, now: u64) {
        for _ in 0..CAUGHT_UP {
            let node = &self.nodes[at as usize];
            let mut due = at;
            if self.shows_inner(at) {
                let first = self.first_event(at, NEVER);
                if first.0 == NIL || first.1 > now {
                    return;
                }
                due = first.0;
                while self.shows_inner(due) && !self.window_is_over(due, now) {
                    (due, _) = self.first_event(due, NEVER);
                }
            } else if !node.ready || node.server.period_end() > now {
                return;
            }
            self.serve(due, now);
            self.tell_all(self.home_of(at));
        }
    }

    /// A node's budget has come back, its period has ended, or its window.
    #[cold]
    #[inline(never)]
    pub(super) fn serve(&mut self, at: u32, now: u64) {
        if self.window_is_over(at, now) {
            return self.go_to_window(at, now);
        }
        let node = &mut self.nodes[at as usize];
        let came = node.server.event(true).min(now);
        node.server.replenish(now);
        self.sort_by_deadline(at);
        self.has_changed(at, came);
    }

    /// A class of time partitions goes to the window that it is in now.
    pub(super) fn go_to_window(&mut self, class: u32, now: u64) {
        if let Some(since) = self.refresh_class(class, now) {
            self.refresh(class, since);
        }
    }
}
