//! What changes of one node's reservation, or a new one, could take from its siblings by earliest
//! deadlines: each is played against a victim that is promised half of the class, and takes it.

use super::*;

pub(super) const HARD: [Server; 3] = [Server::Periodic, Server::Constant, Server::Sporadic];
/// A short period of a victim, and a long one.
const SHORT: u64 = 10 * MS;
const LONG: u64 = 100 * MS;

/// A class, and in it a victim with jobs one behind the other from the start.
pub(super) struct Scene<'a, 'b> {
    pub(super) tree: &'a mut Tree<'b>,
    pub(super) class: NodeId,
    pub(super) victim: NodeId,
    period: u64,
    pub(super) now: u64,
    next: u64,
}

impl<'a, 'b> Scene<'a, 'b> {
    pub(super) fn new(tree: &'a mut Tree<'b>, period: u64) -> Scene<'a, 'b> {
        let class = class(tree, Policy::EarliestDeadline);
        let victim = leaf(tree, class, Share::Deadline);
        let limits = Budget::new(Server::Constant, period / 2, period);
        assert_eq!(tree.set_budget(victim, Some(limits), 0), Ok(()));
        let timing = Timing { deadline: period, period };
        assert_eq!(tree.set_timing(victim, Some(timing), 0), Ok(()));
        Scene { tree, class, victim, period, now: 0, next: 0 }
    }

    /// Plays until an instant.
    pub(super) fn play(&mut self, end: u64) {
        while self.now < end {
            let victim = self.tree.service(self.victim);
            if victim == self.next / 2 {
                self.tree.block(self.victim, self.now, true);
                if self.now >= self.next {
                    self.tree.wake(self.victim, self.now);
                    self.next += self.period;
                }
            }
            let left = (self.next / 2).saturating_sub(victim);
            let release = if left == 0 { self.next } else { self.now + left };
            let pick = decide(self.tree, self.now);
            self.now = pick.until.min(release).min(end);
            self.tree.account(0, self.now);
        }
    }

    pub(super) fn add(&mut self, server: Server, budget: u64, period: u64) -> NodeId {
        let leaf = leaf(self.tree, self.class, Share::Deadline);
        self.set(leaf, server, budget, period);
        leaf
    }

    fn set(&mut self, leaf: NodeId, server: Server, budget: u64, period: u64) {
        let limits = Budget::new(server, budget, period);
        assert_eq!(self.tree.set_budget(leaf, Some(limits), self.now), Ok(()));
    }

    pub(super) fn keeps_its_deadlines(&mut self, what: &str) {
        self.play(self.next + 20 * self.period);
        let jobs = self.tree.inspect(self.victim).expect("it exists").jobs;
        assert_eq!(jobs.missed, 0, "{what}: the victim was late by {} ns", jobs.latest);
    }
}

fn played(what: &str, period: u64, attack: impl FnOnce(&mut Scene<'_, '_>)) {
    let mut storage = Storage::new(8);
    let mut tree = storage.tree();
    let mut scene = Scene::new(&mut tree, period);
    attack(&mut scene);
    scene.keeps_its_deadlines(what);
}

/// A budget that grows shortly before its deadline.
#[test]
fn growth_comes_with_time() {
    for server in HARD {
        for at in [1, 30, 60, 95, 99] {
            played(&std::format!("{server:?} {at}"), SHORT, |scene| {
                let thief = scene.add(server, US, 100 * MS);
                scene.play(500 * US);
                scene.tree.wake(thief, scene.now);
                scene.play(at * MS);
                scene.set(thief, server, 50 * MS, 100 * MS);
            });
        }
    }
}

/// A deadline that becomes shorter while a budget is there.
#[test]
fn an_earlier_deadline_comes_with_the_next_budget() {
    for server in HARD {
        played(&std::format!("{server:?}"), SHORT, |scene| {
            let other = scene.add(Server::Constant, 45 * MS, 100 * MS);
            let thief = scene.add(server, 50 * MS, 1_000 * MS);
            scene.tree.wake(other, 0);
            scene.tree.wake(thief, 0);
            scene.play(95 * MS);
            assert_eq!(scene.tree.remove_node(other, scene.now), Ok(()));
            let timing = Timing { deadline: 100 * MS, period: 100 * MS };
            assert_eq!(scene.tree.set_timing(thief, Some(timing), scene.now), Ok(()));
        });
    }
}

/// What a node has used before its deadline is not used again with another limit.
#[test]
fn what_was_used_early_is_not_used_again() {
    for server in HARD {
        for gives_up in [false, true] {
            played(&std::format!("{server:?} {gives_up}"), LONG, |scene| {
                let thief = scene.add(server, 49 * MS, 98 * MS);
                scene.tree.wake(thief, 0);
                scene.play(49 * MS);
                if gives_up {
                    assert_eq!(scene.tree.set_budget(thief, None, scene.now), Ok(()));
                }
                scene.set(thief, server, MS, 2 * MS);
            });
        }
    }
}

/// What a node has used early keeps what it was promised from others until its deadline: from a new
/// one, from one that grows, from one with an earlier deadline, and from one that comes.
#[test]
fn what_was_used_early_is_not_promised_again_before() {
    type Gift = fn(&mut Scene<'_, '_>, Server, NodeId);
    let gifts: [(&str, Gift); 4] = [
        ("new", |scene, server, _| {
            let new = scene.add(server, 9 * MS / 10, 2 * MS);
            scene.tree.wake(new, scene.now);
        }),
        ("more", |scene, server, other| scene.set(other, server, 9 * MS / 10, 2 * MS)),
        ("sooner", |scene, server, other| {
            scene.set(other, server, 20 * US, 2 * MS);
            let timing = Timing { deadline: 100 * US, period: 2 * MS };
            let _ = scene.tree.set_timing(other, Some(timing), scene.now);
        }),
        ("come", |scene, server, _| {
            let root = scene.tree.root(0);
            let new = leaf(scene.tree, root, Share::Priority(0));
            scene.set(new, server, 9 * MS / 10, 2 * MS);
            scene.tree.wake(new, scene.now);
            assert_eq!(scene.tree.join(new, scene.class, Share::Deadline, scene.now), Ok(()));
        }),
    ];
    for server in HARD {
        for (what, gift) in gifts {
            for leaves in [false, true] {
                played(&std::format!("{server:?} {what} {leaves}"), LONG, |scene| {
                    let thief = scene.add(server, 44_100 * US, 98 * MS);
                    let other = scene.add(server, 2 * US, 2 * MS);
                    scene.tree.wake(thief, 0);
                    scene.tree.wake(other, 0);
                    scene.play(45 * MS);
                    if leaves {
                        let (root, share) = (scene.tree.root(0), Share::Priority(0));
                        assert_eq!(scene.tree.join(thief, root, share, scene.now), Ok(()));
                    } else {
                        assert_eq!(scene.tree.remove_node(thief, scene.now), Ok(()));
                    }
                    gift(scene, server, other);
                });
            }
        }
    }
}

/// A node that has used its budget early gives it up and takes it again, again and again at one
/// instant. What was used ahead is that once: when the node is removed, a new sibling that fits has
/// its budget soon after the node's deadline.
#[test]
fn what_was_used_early_does_not_grow_by_changes() {
    for server in HARD {
        for times in [0, 1, 2, 10, 100] {
            played(&std::format!("{server:?} {times}"), LONG, |scene| {
                let thief = scene.add(server, 49 * MS, 98 * MS);
                scene.tree.wake(thief, 0);
                scene.play(49 * MS);
                for _ in 0..times {
                    scene.set(thief, server, US, 98 * MS);
                    scene.set(thief, server, 49 * MS, 98 * MS);
                }
                assert_eq!(scene.tree.remove_node(thief, scene.now), Ok(()));
                let new = scene.add(server, 49 * MS, 98 * MS);
                scene.tree.wake(new, scene.now);
                scene.play(400 * MS);
                let service = scene.tree.service(new);
                assert!(service >= 49 * MS, "{server:?} {times}: it has had {service} ns");
            });
        }
    }
}

/// Of a budget that grows, a part is there at once if it fits until the deadline. It goes again
/// when the budget shrinks before its growth has begun: else each growth brings it anew.
#[test]
fn a_growth_that_is_taken_back_brings_nothing() {
    for server in HARD {
        played(&std::format!("{server:?}"), 450 * MS, |scene| {
            let early = scene.add(server, 24 * MS, 100 * MS);
            let thief = scene.add(server, 24 * MS, 400 * MS);
            scene.tree.wake(early, 0);
            scene.tree.wake(thief, 0);
            scene.play(24 * MS);
            assert_eq!(scene.tree.remove_node(early, scene.now), Ok(()));
            for _ in 0..40 {
                scene.set(thief, server, 190 * MS, 400 * MS);
                scene.set(thief, server, 24 * MS, 400 * MS);
            }
        });
    }
}

/// What a sibling has used early is not forgotten because another node, which has its own budget
/// still, grows and shrinks again.
#[test]
fn what_was_used_early_is_not_lost_by_changes() {
    for server in HARD {
        for times in [0, 1, 10] {
            played(&std::format!("{server:?} {times}"), LONG, |scene| {
                let thief = scene.add(server, 18_600 * US, 98 * MS);
                let other = scene.add(server, 29_600 * US, 99 * MS);
                scene.tree.wake(thief, 0);
                scene.tree.wake(other, 0);
                scene.play(18_600 * US);
                assert_eq!(scene.tree.remove_node(thief, scene.now), Ok(()));
                for _ in 0..times {
                    scene.set(other, server, 48_400 * US, 99 * MS);
                    scene.set(other, server, 29_600 * US, 99 * MS);
                }
                let new = scene.add(server, 380 * US, 2 * MS);
                scene.tree.wake(new, scene.now);
            });
        }
    }
}
