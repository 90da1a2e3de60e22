//! Who has had which time, against a plain ledger: whatever is changed, removed and moved, each
//! nanosecond of a CPU is charged to the one for whom it worked and to all classes above that,
//! once.

use super::charges::{NODES, change};
use super::random::Dice;
use super::*;
use proptest::prelude::*;

/// For whom each CPU works, and what each node has had by that.
struct Ledger<'a> {
    tree: Tree<'a>,
    now: u64,
    /// What each CPU runs.
    running: Vec<Option<NodeId>>,
    /// For whom the kernel works there, if not for that.
    payer: Vec<Option<NodeId>>,
    had: Vec<u64>,
}

impl<'a> Ledger<'a> {
    fn new(storage: &'a mut Storage, chaos: u64) -> Ledger<'a> {
        let (cpus, all) = (storage.cpus.len() - 1, storage.nodes.len() + storage.plain.len());
        let mut tree = storage.tree();
        tree.set_chaos(chaos);
        Ledger {
            tree,
            now: 0,
            running: vec![None; cpus],
            payer: vec![None; cpus],
            had: vec![0; all],
        }
    }

    /// Time passes.
    fn pass(&mut self, time: u64) {
        for cpu in 0..self.running.len() {
            self.credit(self.payer[cpu].or(self.running[cpu]), time);
        }
        self.now += time;
    }

    /// The same, while one CPU works for a node whose instant it serves.
    fn pass_serving(&mut self, cpu: usize, node: NodeId, time: u64) {
        let payer = self.payer[cpu].replace(node);
        self.pass(time);
        self.payer[cpu] = payer;
    }

    fn credit(&mut self, at: Option<NodeId>, time: u64) {
        let Some(at) = at else { return };
        if self.tree.plain(at.0).is_some() {
            self.had[at.index()] += time;
        }
        let path: Vec<NodeId> = self.tree.path(at).collect();
        for node in path.into_iter().filter(|node| node.index() < NODES) {
            self.had[node.index()] += time;
        }
    }

    /// The CPUs that run something in a node.
    fn runs_in(&self, at: NodeId) -> Vec<usize> {
        let is_in = |leaf: NodeId| leaf == at || self.tree.path(leaf).any(|above| above == at);
        (0..self.running.len()).filter(|cpu| self.running[*cpu].is_some_and(is_in)).collect()
    }

    /// What they run stops: it pays until they have decided.
    fn stops(&mut self, cpus: Vec<usize>) {
        for cpu in cpus {
            let leaf = self.running[cpu].take();
            // A leaf without a reservation pays nothing.
            let is_node = |leaf: &NodeId| leaf.index() < NODES;
            self.payer[cpu] = leaf.filter(is_node).or(self.payer[cpu]);
        }
    }

    fn block(&mut self, leaf: NodeId, ends_job: bool) {
        let runs = self.runs_in(leaf);
        let was_ready = self.tree.is_ready(leaf);
        self.tree.block(leaf, self.now, ends_job);
        let is_leaf = self.tree.is_leaf(leaf) || leaf.index() >= NODES;
        if was_ready && is_leaf {
            self.stops(runs);
        }
    }

    fn remove(&mut self, at: NodeId) {
        let (runs, above) = (self.runs_in(at), self.tree.inspect(at).and_then(|node| node.parent));
        if self.tree.remove_node(at, self.now).is_err() {
            return;
        }
        self.stops(runs);
        self.had[at.index()] = 0;
        // Its class pays for what is gone.
        for payer in self.payer.iter_mut().filter(|payer| **payer == Some(at)) {
            *payer = above;
        }
    }

    fn join(&mut self, at: NodeId, to: NodeId, dice: &mut Dice) {
        let (runs, share) = (self.runs_in(at), dice.share(self.tree.policy(to)));
        let is_shared = self.tree.path(at).last() == Some(self.tree.shared());
        if self.tree.join(at, to, share, self.now).is_ok() && is_shared {
            // Any CPU may run it now.
            self.stops(runs);
        }
    }

    /// An interrupt wakes a leaf.
    fn interrupt(&mut self, cpu: usize, leaf: NodeId) {
        self.tree.settle_payer(cpu, self.now);
        self.payer[cpu] = None;
        self.tree.wake(leaf, self.now);
        self.tree.pays(cpu, leaf, self.now);
        if self.tree.is_leaf(leaf) {
            self.payer[cpu] = Some(leaf);
        }
    }

    /// A CPU leaves the kernel without a decision, perhaps one that it has begun.
    fn leave(&mut self, cpu: usize, begun: bool) {
        self.tree.settle_payer(cpu, self.now);
        self.payer[cpu] = None;
        if begun && self.tree.cpus[cpu].has_ended {
            self.tree.leave_decision(cpu);
            self.running[cpu] = None;
        }
    }

    /// A CPU decides, in steps that take their time. Others may do something between them.
    fn decide(&mut self, cpu: usize, dice: &mut Dice) {
        for _ in 0..200 {
            let had_ended = self.tree.cpus[cpu].has_ended;
            let step = self.tree.step(cpu, self.now);
            let ends = step == Step::Charged && self.tree.cpus[cpu].has_ended;
            if had_ended || ends {
                self.payer[cpu] = self.payer[cpu].or(self.running[cpu]);
            }
            match step {
                Step::Charged if dice.below(8) == 0 => return self.leave(cpu, true),
                Step::Charged if dice.below(4) == 0 => {
                    self.pass(dice.below(20 * US));
                    let other = dice.below(self.running.len() as u64) as usize;
                    self.happen(dice.below(60) as u8, other, dice);
                }
                Step::Charged => {}
                Step::Served(node) => {
                    self.pass_serving(cpu, node, dice.below(5 * US));
                    self.tree.owe(cpu, node, self.now);
                }
                Step::Chosen(pick) => {
                    self.running[cpu] = pick.leaf;
                    self.pass(dice.below(5 * US));
                    self.tree.settle_decision(cpu, self.now);
                    self.payer[cpu] = None;
                    return;
                }
            }
        }
        panic!("decisions are due for ever");
    }

    /// Something, told by this CPU or another one.
    fn happen(&mut self, kind: u8, cpu: usize, dice: &mut Dice) {
        let at = NodeId(dice.below(NODES as u64 + 1) as u32);
        let plain = self.tree.plain_leaf(cpu, dice.below(3) as u8);
        match kind {
            0..=22 => change(&mut self.tree, kind, dice, self.now),
            23 => change(&mut self.tree, 26 + dice.below(2) as u8, dice, self.now),
            24..=31 => self.block(at, dice.below(4) > 0),
            32 => self.block(plain, true),
            33 => _ = self.tree.wake(plain, self.now),
            34..=37 => self.remove(at),
            38..=41 => self.join(at, NodeId(dice.below(NODES as u64) as u32), dice),
            42 => self.tree.end_job(at, self.now),
            43 => {
                let share = dice.share(None);
                let _ = self.tree.set_share(at, share, self.now);
            }
            44..=50 => self.interrupt(cpu, at),
            51 => self.leave(cpu, false),
            52 => self.interrupt(cpu, plain),
            _ => {}
        }
    }

    /// What each has had and owes is what the ledger says.
    fn compare(&mut self) {
        self.tree.account_all(self.now);
        self.tree.check();
        for at in 0..self.had.len() {
            let owed = self.tree.nodes.get(at).map_or(0, |node| node.owed);
            let service = self.tree.service(NodeId(at as u32));
            assert_eq!(service + owed, self.had[at], "{at}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(ProptestConfig::default().cases * 4))]

    #[test]
    fn each_nanosecond_is_charged_once(
        cpus in 1usize..4,
        by_chance in any::<bool>(),
        seeds in prop::collection::vec(any::<u64>(), 24),
        steps in prop::collection::vec((4u8..100, any::<u64>()), 20..200),
    ) {
        let mut storage = Storage::of_cpus(cpus, NODES - 1 - cpus);
        let mut ledger = Ledger::new(&mut storage, u64::from(by_chance) * seeds[0]);
        for (kind, seed) in seeds.into_iter().map(|seed| (0, seed)).chain(steps) {
            let mut dice = Dice(seed);
            let cpu = dice.below(cpus as u64) as usize;
            if kind < 60 {
                ledger.happen(kind, cpu, &mut dice);
            } else {
                ledger.decide(cpu, &mut dice);
            }
            let time = dice.one_of(&[10 * US, 300 * US, 5 * MS]);
            ledger.pass(dice.below(time));
            if dice.below(4) == 0 {
                ledger.compare();
            }
        }
        ledger.compare();
    }
}
