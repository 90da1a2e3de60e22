//! The tree as a whole.

use super::*;
extern crate std;
use std::vec;
use std::vec::Vec;

mod abuse;
mod background;
mod background_random;
mod changes;
mod chaos;
mod charges;
mod composition;
mod curves;
mod deadlines;
mod fairness;
mod faults;
mod freed;
mod hierarchies;
mod inside;
mod inside_cpus;
mod late;
mod ledger;
mod lent;
mod lockstep;
mod mixed;
mod model;
mod model_freed;
mod model_server;
mod notices;
mod owed;
mod plain;
mod priorities;
mod promised_class;
mod random;
mod reference;
mod released;
mod servers;
mod shared;
mod steps;

const US: u64 = 1_000;
const MS: u64 = 1_000_000;
const SLICE: u64 = 10 * MS;
const QUANTUM: u64 = MS;

/// The storage of a tree of one CPU.
struct Storage {
    nodes: Vec<Node>,
    frames: Vec<Frame>,
    cpus: Vec<TreeCpu>,
    plain: Vec<PlainLeaf>,
}

impl Storage {
    /// Room for its root and so many nodes but one.
    fn new(nodes: usize) -> Storage {
        Storage::of_cpus(1, nodes - 1)
    }

    /// Room for the roots of so many CPUs, and so many nodes.
    fn of_cpus(cpus: usize, nodes: usize) -> Storage {
        Storage {
            nodes: vec![Node::vacant(); cpus + 1 + nodes],
            frames: vec![Frame::EMPTY; 2],
            cpus: vec![TreeCpu::NEW; cpus + 1],
            plain: vec![PlainLeaf::NEW; cpus * abi::PRIORITIES],
        }
    }

    fn tree(&mut self) -> Tree<'_> {
        let tree = Tree::new(&mut self.nodes, &mut self.frames, &mut self.cpus, SLICE, QUANTUM);
        tree.with_plain(&mut self.plain)
    }
}

/// Everything that a tree keeps.
fn snapshot(tree: &Tree<'_>) -> (Vec<Node>, Vec<Frame>, Vec<TreeCpu>, [u64; 2]) {
    let rest = [tree.free.into(), tree.sequence];
    (tree.nodes.to_vec(), tree.frames.to_vec(), tree.cpus.to_vec(), rest)
}

/// A class below the root.
fn class(tree: &mut Tree<'_>, policy: Policy) -> NodeId {
    tree.create(tree.root(0), Some(policy), Share::Priority(10)).expect("fits")
}

/// A leaf of a class.
fn leaf(tree: &mut Tree<'_>, class: NodeId, share: Share) -> NodeId {
    tree.create(class, None, share).expect("fits")
}

/// Decides until no instant is due any more.
fn decide(tree: &mut Tree<'_>, now: u64) -> Pick {
    for _ in 0..100 {
        let pick = tree.pick(0, now);
        if pick.until > now {
            tree.check();
            return pick;
        }
    }
    panic!("decisions are due for ever");
}

/// Runs what is chosen until an instant.
fn run(tree: &mut Tree<'_>, mut now: u64, end: u64) {
    while now < end {
        now = decide(tree, now).until.min(end);
    }
    tree.account(0, end);
}
