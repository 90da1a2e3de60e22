//! What operations of the scheduling tree cost, by policy, number of leaves and levels: the tree is
//! the kernel's own (`policies::tree`), with nodes of this program, and no thread runs on them.

use crate::random::Random;
use abi::reservation::{Budget, Curve, Policy, Server, Share, Timing, WHOLE};
use abi::results::Tag;
use core::hint::black_box;
use policies::tree::{Frame, Node, NodeId, Tree, TreeCpu};
use rt::arch::counter;
use rt::{Env, Recorder, system};

/// Leaves of the cases, in their order.
const LEAVES: [usize; 4] = [10, 100, 1_000, 4_000];
/// Policies of the cases, in their order.
const POLICIES: [Policy; 3] =
    [Policy::FixedPriority, Policy::EarliestDeadline, Policy::ServiceCurves];
/// Levels of classes below the root.
const DEPTHS: [usize; 2] = [1, 3];
/// Classes in a class, but in the lowest.
const FAN: usize = 10;
/// Nodes: the root of the CPU, the class that all CPUs share, classes, leaves.
const NODES: usize = 2 + FAN * FAN + FAN + 1 + 4_000;
/// Numbers of the metrics.
const DECISION: u16 = 1;
const ENQUEUE: u16 = 2;
const DEQUEUE: u16 = 3;
const CHARGE: u16 = 4;
const REPLENISH: u16 = 5;
/// Nanoseconds.
const US: u64 = 1_000;
const MS: u64 = 1_000_000;
/// Of the servers: a quantum and a time slice are longer, and all leaves' fit into a class of EDF.
const BUDGET: u64 = 100 * US;
const PERIOD: u64 = 1_000 * MS;

/// Measures all cases: memory `recording`, capability `system`, argument `rounds`.
pub fn main(env: &Env) {
    let mut recorder = Recorder::open(env.mem("recording"));
    let rounds = env.number("rounds", 200);
    let mut nodes = [const { Node::vacant() }; NODES];
    for (number, policy) in POLICIES.into_iter().enumerate() {
        for (depth, levels) in DEPTHS.into_iter().enumerate() {
            for (size, leaves) in LEAVES.into_iter().enumerate() {
                let case = ((number * DEPTHS.len() + depth) * LEAVES.len() + size) as u16;
                let mut seen = Seen { recorder: &mut recorder, case, random: Random::new(1) };
                let mut cpus = [TreeCpu::NEW; 2];
                let mut frames: [Frame; 0] = [];
                let tree = Tree::new(&mut nodes, &mut frames, &mut cpus, 10 * MS, MS);
                Grown::new(tree, policy, levels, leaves).measure(&mut seen, rounds);
            }
        }
    }
    recorder.done();
    system::shutdown(env.cap("system"), 0).expect("the run ends");
}

/// Where spans of a case go.
struct Seen<'a> {
    recorder: &'a mut Recorder,
    case: u16,
    random: Random,
}

impl Seen<'_> {
    fn span<R>(&mut self, metric: u16, round: u64, work: impl FnOnce() -> R) {
        let before = counter();
        black_box(work());
        let after = counter();
        let tag = Tag { metric, case: self.case, round: round as u16, point: 0 };
        self.recorder.pair(tag, before, after);
    }
}

/// A tree with all leaves ready.
struct Grown<'a> {
    tree: Tree<'a>,
    levels: usize,
    leaves: usize,
    /// The first leaf; the others follow.
    first: u32,
    now: u64,
}

impl<'a> Grown<'a> {
    fn new(mut tree: Tree<'a>, policy: Policy, levels: usize, leaves: usize) -> Grown<'a> {
        let root = tree.root(0);
        let top = tree.create(root, Some(policy), Share::Priority(10)).expect("a class");
        // The lowest classes follow each other.
        let (mut lowest, mut count) = (top.0, 1);
        for _ in 1..levels {
            let (above, classes) = (lowest, count);
            lowest = above + classes as u32;
            count = classes * FAN;
            for class in 0..count {
                let parent = NodeId(above + (class / FAN) as u32);
                let made = tree.create(parent, Some(policy), share(policy, class, count));
                assert_eq!(made, Ok(NodeId(lowest + class as u32)));
            }
        }
        let first = lowest + count as u32;
        let mut grown = Grown { tree, levels, leaves, first, now: 0 };
        let room = count * leaves.div_ceil(count);
        for leaf in 0..leaves {
            let parent = NodeId(lowest + (leaf % count) as u32);
            let made = grown.tree.create(parent, None, share(policy, leaf, room));
            assert_eq!(made, Ok(grown.leaf(leaf)), "a leaf");
            if policy == Policy::EarliestDeadline {
                let deadline = (leaf as u64 % 97 + 1) * MS;
                let timing = Timing { deadline, period: deadline };
                grown.tree.set_timing(grown.leaf(leaf), Some(timing), 0).expect("it is a leaf");
            }
        }
        for leaf in 0..leaves {
            grown.pass(US);
            grown.tree.wake(grown.leaf(leaf), grown.now);
        }
        grown
    }

    fn leaf(&self, number: usize) -> NodeId {
        NodeId(self.first + number as u32)
    }

    fn pass(&mut self, time: u64) {
        self.now += time;
    }

    fn measure(mut self, seen: &mut Seen, rounds: u64) {
        for round in 0..rounds {
            let leaf = self.leaf(seen.random.below(self.leaves as u64) as usize);
            self.tree.pick(0, self.now);
            self.pass(100 * US);
            let (tree, now) = (&mut self.tree, self.now);
            seen.span(CHARGE, round, || tree.account(0, now));
            seen.span(DEQUEUE, round, || tree.block(leaf, now, true));
            tree.pick(0, now);
            seen.span(ENQUEUE, round, || tree.wake(leaf, now));
            seen.span(DECISION, round, || tree.pick(0, now));
        }
        // A class of deadlines inside another one would need a budget first.
        if self.levels == 1 {
            self.replenish(seen, rounds);
        }
    }

    /// Decisions at which the one server comes back that is exhausted.
    fn replenish(mut self, seen: &mut Seen, rounds: u64) {
        let urgent = self.limit_all();
        for round in 0..rounds {
            let served = self.tree.pick(0, self.now).leaf.expect("a leaf is ready");
            self.pass(BUDGET);
            self.tree.account(0, self.now);
            // A more urgent leaf has the CPU until the instant has come.
            self.tree.wake(urgent, self.now);
            assert_eq!(self.tree.pick(0, self.now).leaf, Some(urgent));
            self.pass(PERIOD);
            self.tree.block(urgent, self.now, true);
            assert!(self.is_throttled(served), "a leaf was not exhausted");
            let (tree, now) = (&mut self.tree, self.now);
            seen.span(REPLENISH, round, || tree.pick(0, now));
            assert!(!self.is_throttled(served), "the decision has replenished nothing");
        }
    }

    /// Gives each leaf a server, with all of its budget. A leaf that is more urgent than the class.
    fn limit_all(&mut self) -> NodeId {
        for leaf in (self.first..self.first + self.leaves as u32).map(NodeId) {
            self.tree.block(leaf, self.now, true);
            let limit = Budget::new(Server::Constant, BUDGET, PERIOD);
            self.tree.set_budget(leaf, Some(limit), self.now).expect("it fits");
        }
        // What stopped pays until then.
        self.tree.pick(0, self.now);
        // What has run before has its first budget a period later.
        self.pass(PERIOD);
        for leaf in (self.first..self.first + self.leaves as u32).map(NodeId) {
            self.pass(US);
            self.tree.wake(leaf, self.now);
            assert!(!self.is_throttled(leaf), "a leaf has no budget");
        }
        self.tree.create(self.tree.root(0), None, Share::Priority(11)).expect("a leaf")
    }

    fn is_throttled(&self, leaf: NodeId) -> bool {
        self.tree.inspect(leaf).expect("it is a leaf").is_throttled
    }
}

/// What a child is, one of so many.
fn share(policy: Policy, number: usize, of: usize) -> Share {
    match policy {
        Policy::EarliestDeadline => Share::Deadline,
        Policy::ServiceCurves => {
            let slope = WHOLE / of as u32 / 2;
            Share::curve(Curve { slope: slope + slope / 2, bend: 10 * MS, rest: slope })
        }
        _ => Share::Priority((number % 512) as u16),
    }
}
