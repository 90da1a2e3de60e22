//! What holders of classes could try against their siblings on several CPUs: in the tree of each,
//! in windows, and in the class that all CPUs share. Changes come from any CPU, and the one that
//! they concern decides a little later.

use super::inside::{INNER, LIMIT, PERIOD, Thief};
use super::random::Dice;
use super::*;
use proptest::prelude::*;

/// How long it takes until a CPU decides that is asked to.
const DELAY: u64 = 5 * US;
/// What all delays together may make what is promised late.
const ROOM: u64 = MS;

/// A CPU as it is seen from outside.
#[derive(Clone, Copy)]
struct Cpu {
    runs: Option<NodeId>,
    /// Of which thief that is.
    thief: Option<usize>,
    until: u64,
}

/// A leaf that has a job in each period, one behind the other.
struct Victim {
    leaf: NodeId,
    job: u64,
    period: u64,
    /// What it had had when its job began.
    begun: Option<u64>,
    ended: u64,
    /// How late a job was at most.
    late: u64,
}

struct Scene<'a> {
    tree: Tree<'a>,
    dice: Dice,
    now: u64,
    cpus: Vec<Cpu>,
    victims: Vec<Victim>,
    thieves: Vec<Thief>,
    /// How long CPUs have run what is in each thief's class, at each instant.
    had: Vec<Vec<(u64, u64)>>,
}

impl<'a> Scene<'a> {
    fn new(storage: &'a mut Storage, dice: Dice) -> Scene<'a> {
        let cpu = Cpu { runs: None, thief: None, until: 0 };
        let cpus = vec![cpu; storage.cpus.len() - 1];
        let (victims, thieves, had) = (Vec::new(), Vec::new(), Vec::new());
        Scene { tree: storage.tree(), dice, now: 0, cpus, victims, thieves, had }
    }

    fn add_victim(&mut self, leaf: NodeId, job: u64, period: u64) {
        self.victims.push(Victim { leaf, job, period, begun: None, ended: 0, late: 0 });
    }

    fn add_thief(&mut self, own: NodeId, other: NodeId) {
        let dice = Dice(self.dice.below(u64::MAX));
        let mut thief = Thief { dice, own, other: Some(other), inside: Vec::new() };
        thief.begin(&mut self.tree);
        self.thieves.push(thief);
        self.had.push(vec![(0, 0)]);
    }

    /// Something that a node is in is about to change, or has: CPUs that are to decide because of
    /// that do so soon.
    fn asks(&mut self, node: NodeId) {
        let (home, preempts) = (self.tree.home_of(node.0), self.tree.preempts(node));
        if preempts && home < self.cpus.len() {
            self.ask(home);
        }
        while let Some(cpu) = self.tree.take_asked() {
            self.ask(cpu);
        }
    }

    fn ask(&mut self, cpu: usize) {
        let soon = self.now + self.dice.below(DELAY);
        self.cpus[cpu].until = self.cpus[cpu].until.min(soon);
    }

    /// A job of a victim ends, or begins.
    fn serve_victim(&mut self, at: usize) {
        let Victim { leaf, period, .. } = self.victims[at];
        if self.left(at) == Some(0) {
            self.asks(leaf);
            self.tree.block(leaf, self.now, true);
            self.asks(leaf);
            let victim = &mut self.victims[at];
            (victim.begun, victim.ended) = (None, victim.ended + 1);
            victim.late = victim.late.max(self.now.saturating_sub(victim.ended * period));
        }
        if self.victims[at].begun.is_none() && self.now >= self.victims[at].ended * period {
            self.victims[at].begun = Some(self.tree.service(leaf));
            self.tree.wake(leaf, self.now);
            self.asks(leaf);
        }
    }

    /// What is left of a victim's job.
    fn left(&mut self, at: usize) -> Option<u64> {
        let Victim { leaf, job, begun, .. } = self.victims[at];
        if let Some(cpu) = self.cpus.iter().position(|cpu| cpu.runs == Some(leaf)) {
            self.tree.account(cpu, self.now);
        }
        Some(job.saturating_sub(self.tree.service(leaf) - begun?))
    }

    /// A thief changes something.
    fn meddle(&mut self) {
        let at = self.dice.below(self.thieves.len() as u64) as usize;
        let [own, other] = [Some(self.thieves[at].own), self.thieves[at].other];
        let classes = [own, other].map(|class| class.expect("it has two"));
        classes.into_iter().for_each(|class| self.asks(class));
        self.thieves[at].meddle(&mut self.tree, self.now);
        classes.into_iter().for_each(|class| self.asks(class));
        // Nothing goes to the class of another CPU.
        let next = &self.thieves[(at + 1) % self.thieves.len()];
        let (to, inside) = (next.own, self.thieves[at].inside.clone());
        if self.tree.home_of(to.0) != self.tree.home_of(classes[0].0) && !inside.is_empty() {
            let (node, share) = (self.dice.one_of(&inside), self.dice.share(self.tree.policy(to)));
            assert!(self.tree.join(node, to, share, self.now).is_err());
        }
        self.tree.check();
    }

    /// All CPUs decide that have to.
    fn decide(&mut self) {
        for _ in 0..200 {
            let due = self.cpus.iter().position(|cpu| cpu.until <= self.now);
            let Some(cpu) = due else { return };
            let pick = self.tree.pick(cpu, self.now);
            let is_in = |thief: &Thief| {
                pick.leaf.is_some_and(|leaf| self.tree.path(leaf).any(|at| at == thief.own))
            };
            let thief = self.thieves.iter().position(is_in);
            self.cpus[cpu] = Cpu { runs: pick.leaf, thief, until: pick.until };
            while let Some(cpu) = self.tree.take_asked() {
                self.ask(cpu);
            }
        }
        panic!("decisions are due for ever");
    }

    fn play(&mut self, end: u64) {
        let mut next = 0;
        while self.now < end {
            (0..self.victims.len()).for_each(|at| self.serve_victim(at));
            while next <= self.now {
                self.meddle();
                next += self.dice.one_of(&[10 * US, MS, 9 * MS, 50 * MS]);
            }
            self.decide();
            let mut to = next.min(self.now + MS);
            to = self.cpus.iter().map(|cpu| cpu.until).fold(to, u64::min);
            for at in 0..self.victims.len() {
                let Victim { leaf, ended, period, .. } = self.victims[at];
                to = to.min(match self.left(at) {
                    None => (ended * period).max(self.now + 1),
                    Some(left) if self.cpus.iter().any(|cpu| cpu.runs == Some(leaf)) => {
                        self.now + left.max(1)
                    }
                    Some(_) => to,
                });
            }
            self.pass(to);
        }
    }

    /// Time passes, in which each thief's class is on one CPU at most.
    fn pass(&mut self, to: u64) {
        for (at, had) in self.had.iter_mut().enumerate() {
            let count = self.cpus.iter().filter(|cpu| cpu.thief == Some(at)).count();
            assert!(count <= 1, "a class is on {count} CPUs");
            let before = had.last().map_or(0, |(_, time)| *time);
            had.push((to, before + (to - self.now) * count as u64));
        }
        self.now = to;
    }

    /// A hard budget is served in no window more often than it comes back there, and once more at
    /// both ends.
    fn holds_budgets(&self, at: usize) {
        let had = &self.had[at];
        for periods in [1, 3, 10] {
            let mut begin = 0;
            for (end, time) in had {
                while had[begin].0 + periods * PERIOD < *end {
                    begin += 1;
                }
                let most = (periods + 2) * LIMIT + 10 * DELAY;
                assert!(time - had[begin].1 <= most, "{periods} periods before {end}");
            }
        }
    }
}

/// Below the root of a CPU a class with a leaf that is promised 80 %, and a thief's class that has
/// the rest; the thief has another one, of the lowest priority.
fn add_siblings(scene: &mut Scene<'_>, cpu: usize, policy: Policy, server: Server) -> bool {
    let root = scene.tree.root(cpu);
    let class = scene.tree.create(root, Some(policy), Share::Priority(20)).expect("fits");
    let curve = |percent: u32| {
        let curve = Curve { slope: percent * 10_000, rest: percent * 10_000, bend: 0 };
        Share::Curve { guaranteed: Some(curve), share: curve }
    };
    // In windows of its own, or in the background.
    let number = scene.dice.one_of(&[0, 2]);
    let shares = match policy {
        Policy::ServiceCurves => [80, 15].map(curve),
        Policy::Partitions => {
            [(1, 3), (number, 2)].map(|(number, priority)| Share::Partition { number, priority })
        }
        _ => [Share::Deadline; 2],
    };
    let windows = [(8 * MS, 1), (10 * MS, 2)].map(|(end, partition)| Window { end, partition });
    if policy == Policy::Partitions {
        let frame = Frame::new(&windows, 0).expect("is one");
        assert_eq!(scene.tree.set_frame(class, frame, 0), Ok(()));
    }
    let victim = leaf(&mut scene.tree, class, shares[0]);
    if policy == Policy::EarliestDeadline {
        let budget = Budget::new(Server::Constant, 80 * MS, 100 * MS);
        assert_eq!(scene.tree.set_budget(victim, Some(budget), 0), Ok(()));
    }
    let inner = scene.dice.one_of(&INNER);
    let own = scene.tree.create(class, Some(inner), shares[1]).expect("fits");
    let limited = scene.tree.set_budget(own, Some(Budget::new(server, LIMIT, PERIOD)), 0).is_ok();
    let other = scene.dice.one_of(&INNER);
    let other = scene.tree.create(root, Some(other), Share::Priority(5)).expect("fits");
    scene.add_victim(victim, 79 * MS, 100 * MS);
    scene.add_thief(own, other);
    limited && server != Server::ConstantSoft
}

/// The most by which jobs are late below global EDF on so many CPUs, of which each takes the same
/// time, and that of the thief less (Devi and Anderson, 2005): what the others can have kept from
/// it on all CPUs but one, and its own time.
fn most_late(cpus: u64, job: u64, period: u64) -> u64 {
    let beside = (cpus - 1) * job;
    beside.saturating_sub(LIMIT) * period / (cpus * period - beside) + job
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(ProptestConfig::default().cases.div_ceil(8)))]

    /// On no CPU a deadline, a guaranteed curve or a window of a sibling moves, whatever holders of
    /// classes of all CPUs do.
    #[test]
    fn nothing_inside_a_class_harms_its_siblings_on_any_cpu(
        seed in any::<u64>(),
        policies in prop::collection::vec(
            prop::sample::select(&Policy::ALL[1..]), 1..4),
        server in prop::sample::select(&Server::ALL[..]),
    ) {
        let mut storage = Storage::of_cpus(policies.len(), 16 * policies.len());
        storage.frames = vec![Frame::EMPTY; policies.len()];
        let mut scene = Scene::new(&mut storage, Dice(seed));
        let mut limited = Vec::new();
        for (cpu, policy) in policies.iter().enumerate() {
            limited.push(add_siblings(&mut scene, cpu, *policy, server));
        }
        scene.play(400 * MS);
        for (at, policy) in policies.iter().enumerate() {
            let Victim { late, ended, .. } = scene.victims[at];
            let most = if *policy == Policy::ServiceCurves { 2 * QUANTUM } else { 0 };
            prop_assert!(late <= most && ended >= 3, "{policy:?}: by {} us", late / US);
            if limited[at] {
                scene.holds_budgets(at);
            }
        }
    }

    /// In the class that all CPUs share each child is on one CPU at a time, so a hard budget is
    /// served no more often than on one; and jobs that fit what was admitted are late by no more
    /// than they may be below global EDF.
    #[test]
    fn nothing_inside_a_class_harms_what_all_cpus_share(
        seed in any::<u64>(),
        cpus in 1usize..4,
        server in prop::sample::select(&Server::ALL[..]),
    ) {
        let mut storage = Storage::of_cpus(cpus, 30);
        let mut scene = Scene::new(&mut storage, Dice(seed));
        let shared = scene.tree.shared();
        for _ in 0..2 * cpus {
            let victim = leaf(&mut scene.tree, shared, Share::Deadline);
            let budget = Budget::new(Server::Constant, 4 * MS, 10 * MS);
            prop_assert_eq!(scene.tree.set_budget(victim, Some(budget), 0), Ok(()));
            scene.add_victim(victim, 4 * MS - 100 * US, 10 * MS);
        }
        let classes = [(); 2].map(|()| {
            let policy = scene.dice.one_of(&INNER);
            scene.tree.create(shared, Some(policy), Share::Deadline).expect("fits")
        });
        let budget = Budget::new(server, LIMIT, PERIOD);
        prop_assert_eq!(scene.tree.set_budget(classes[0], Some(budget), 0), Ok(()));
        scene.add_thief(classes[0], classes[1]);
        scene.play(300 * MS);
        let most = most_late(cpus as u64, 4 * MS, 10 * MS) + ROOM;
        for Victim { late, ended, .. } in &scene.victims {
            prop_assert!(*late <= most && *ended >= 28, "by {} us", late / US);
        }
        if server != Server::ConstantSoft {
            scene.holds_budgets(0);
        }
    }
}
