//! The class that all CPUs share, against plain lists of what is ready.

use super::random::Dice;
use super::*;
use abi::reservation::LEAST_PART;
use proptest::prelude::*;

/// The priority of the shared class on each CPU.
const SHARED: u16 = 10;

/// CPUs that decide when they are asked, or when a decision is due.
struct Machine<'a> {
    tree: Tree<'a>,
    runs: Vec<Option<NodeId>>,
    until: Vec<u64>,
    /// What each ran by when it decided.
    keys: Vec<u128>,
    now: u64,
}

impl<'a> Machine<'a> {
    fn new(storage: &'a mut Storage) -> Machine<'a> {
        let cpus = storage.cpus.len() - 1;
        let mut tree = storage.tree();
        let shared = tree.shared();
        assert_eq!(tree.set_share(shared, Share::Priority(SHARED), 0), Ok(()));
        let (runs, until) = (vec![None; cpus], vec![0; cpus]);
        let mut new = Machine { tree, runs, until, keys: vec![0; cpus], now: 0 };
        new.settle();
        new
    }

    fn leaf(&mut self, deadline: u64) -> NodeId {
        let shared = self.tree.shared();
        let leaf = leaf(&mut self.tree, shared, Share::Deadline);
        let timing = Timing { deadline, period: deadline };
        assert_eq!(self.tree.set_timing(leaf, Some(timing), self.now), Ok(()));
        leaf
    }

    fn pick(&mut self, cpu: usize) {
        let pick = self.tree.pick(cpu, self.now);
        (self.runs[cpu], self.until[cpu]) = (pick.leaf, pick.until);
        self.keys[cpu] = pick.leaf.and_then(|leaf| self.key(leaf)).unwrap_or(0);
    }

    /// All CPUs decide that have to.
    fn settle(&mut self) {
        for _ in 0..1_000 {
            let due = (0..self.runs.len()).find(|cpu| self.until[*cpu] <= self.now);
            match self.tree.take_asked().or(due) {
                Some(cpu) => self.pick(cpu),
                None => {
                    self.tree.check();
                    return;
                }
            }
        }
        panic!("decisions are due for ever");
    }

    fn wake(&mut self, leaf: NodeId) {
        self.tree.wake(leaf, self.now);
        self.follow(leaf);
    }

    fn block(&mut self, leaf: NodeId, ends_job: bool) {
        let asks = self.tree.preempts(leaf);
        self.tree.block(leaf, self.now, ends_job);
        if asks {
            self.follow(leaf);
        }
    }

    /// The CPU of a node decides, if it has to.
    fn follow(&mut self, node: NodeId) {
        if self.tree.preempts(node) && self.tree.home_of(node.0) < self.runs.len() {
            self.pick(self.tree.home_of(node.0));
        }
        self.settle();
    }

    fn advance(&mut self, end: u64) {
        while self.now < end {
            self.now = self.until.iter().copied().min().unwrap_or(end).clamp(self.now + 1, end);
            self.settle();
        }
    }

    /// What a child of the shared class is sorted by, and whether it can be chosen.
    fn key(&self, leaf: NodeId) -> Option<u128> {
        let node = &self.tree.nodes[leaf.index()];
        node.is_queued().then_some(node.key)
    }

    /// No CPU runs what is less urgent than something that waits.
    fn is_right(&self, shared: &[NodeId], own: &[(usize, u16, NodeId)]) {
        let is_running = |leaf: &NodeId| self.runs.contains(&Some(*leaf));
        let waits: Vec<u128> = shared
            .iter()
            .filter(|leaf| !is_running(leaf))
            .filter_map(|leaf| self.key(*leaf))
            .collect();
        for leaf in shared {
            let count = self.runs.iter().filter(|runs| **runs == Some(*leaf)).count();
            assert!(count <= 1, "{leaf:?} runs {count} times");
        }
        for (cpu, runs) in self.runs.iter().enumerate() {
            let ready =
                own.iter().filter(|(its, _, leaf)| *its == cpu && self.tree.is_ready(*leaf));
            let highest = ready.map(|(_, priority, _)| *priority).max();
            match runs.filter(|leaf| shared.contains(leaf)) {
                Some(leaf) => {
                    assert!(highest.is_none_or(|own| own <= SHARED), "a child before {highest:?}");
                    let Some(key) = self.key(leaf) else {
                        // What is left of a sporadic server's amount was too little.
                        assert!(self.until[cpu] - self.now < LEAST_PART, "{leaf:?} runs on");
                        continue;
                    };
                    // What others have delayed by more than a period has a later deadline as
                    // soon as it is charged; the next decision goes by that.
                    let key = key.min(self.keys[cpu]);
                    assert!(waits.iter().all(|other| key <= *other), "a later deadline runs");
                }
                None => {
                    let first = own.iter().find(|(.., leaf)| *runs == Some(*leaf));
                    assert_eq!(first.map(|(_, priority, _)| *priority), highest, "of its own");
                    let has_room = highest.is_none_or(|own| own <= SHARED);
                    assert!(waits.is_empty() || !has_room, "a child waits for nothing");
                }
            }
        }
    }
}

proptest! {
    /// Leaves of all CPUs and of the shared class, with and without budgets, become ready and
    /// block, are changed, made and removed.
    #[test]
    fn the_most_urgent_run(
        cpus in 1usize..5,
        steps in prop::collection::vec((0u8..12, any::<u64>()), 10..200),
    ) {
        let mut storage = Storage::of_cpus(cpus, 30);
        let mut machine = Machine::new(&mut storage);
        let mut own = Vec::new();
        for cpu in 0..cpus {
            for priority in [SHARED - 1, SHARED, SHARED + 1] {
                let root = machine.tree.root(cpu);
                own.push((cpu, priority, leaf(&mut machine.tree, root, Share::Priority(priority))));
            }
        }
        let mut shared: Vec<_> = (1..9).map(|n| machine.leaf(n * 700 * US)).collect();
        for (kind, seed) in steps {
            let mut dice = Dice(seed);
            let leaf = dice.one_of(&shared);
            match kind {
                0..=2 => machine.wake(leaf),
                3 | 4 => machine.block(leaf, dice.below(3) > 0),
                5 => machine.wake(dice.one_of(&own).2),
                6 => machine.block(dice.one_of(&own).2, true),
                7 => {
                    let budget = dice.budget();
                    if machine.tree.set_budget(leaf, budget, machine.now).is_ok() {
                        machine.follow(leaf);
                    }
                }
                8 if shared.len() > 4 => {
                    machine.tree.preempts(leaf);
                    assert_eq!(machine.tree.remove_node(leaf, machine.now), Ok(()));
                    shared.retain(|other| *other != leaf);
                    machine.settle();
                }
                8 => shared.push(machine.leaf(700 * US + dice.below(MS))),
                _ => {
                    let end = machine.now + dice.below(2 * MS);
                    machine.advance(end);
                }
            }
            machine.is_right(&shared, &own);
        }
    }

    /// Periodic jobs on several CPUs: at each instant the jobs of the earliest deadlines run, as in
    /// a list that is sorted anew.
    #[test]
    fn jobs_run_as_in_a_list(
        cpus in 1usize..5,
        tasks in prop::collection::vec((1u64..20, 5u64..40), 1..9),
    ) {
        let mut storage = Storage::of_cpus(cpus, 12);
        let mut machine = Machine::new(&mut storage);
        let tasks: Vec<_> =
            tasks.into_iter().map(|(work, period)| (work * 100 * US, period * 100 * US)).collect();
        let leaves: Vec<_> = tasks.iter().map(|(_, period)| machine.leaf(*period)).collect();
        let mut jobs = vec![(0, 0); tasks.len()];
        let mut next = vec![0; tasks.len()];
        while machine.now < 20 * MS {
            for (at, (work, period)) in tasks.iter().enumerate() {
                if next[at] <= machine.now && jobs[at].0 == 0 {
                    jobs[at] = (*work, machine.now + period);
                    next[at] = machine.now + period;
                    machine.wake(leaves[at]);
                }
            }
            let left = jobs.iter().filter(|job| job.0 > 0);
            let mut deadlines: Vec<u64> = left.map(|job| job.1).collect();
            deadlines.sort_unstable();
            deadlines.truncate(cpus);
            let runs: Vec<usize> =
                (0..tasks.len()).filter(|at| machine.runs.contains(&Some(leaves[*at]))).collect();
            let mut chosen: Vec<u64> = runs.iter().map(|at| jobs[*at].1).collect();
            chosen.sort_unstable();
            prop_assert_eq!(chosen, deadlines, "{:?}", jobs);
            let releases = (0..tasks.len()).filter(|at| jobs[*at].0 == 0).map(|at| next[at]);
            let ends = runs.iter().map(|at| machine.now + jobs[*at].0);
            let end = releases.chain(ends).min().unwrap_or(20 * MS);
            for at in runs {
                jobs[at].0 -= end - machine.now;
            }
            let ended: Vec<_> = (0..tasks.len()).filter(|at| jobs[*at] .0 == 0).collect();
            machine.advance(end);
            for at in ended {
                if machine.tree.is_ready(leaves[at]) {
                    machine.block(leaves[at], true);
                }
            }
        }
        let service: u64 = leaves.iter().map(|leaf| machine.tree.service(*leaf)).sum();
        prop_assert_eq!(service, machine.tree.service(machine.tree.shared()));
    }
}

/// The class promises as much as there are CPUs, and no more than a CPU to each child.
#[test]
fn all_cpus_are_promised() {
    let mut storage = Storage::of_cpus(2, 4);
    let mut tree = storage.tree();
    let shared = tree.shared();
    let leaves = [(); 3].map(|()| leaf(&mut tree, shared, Share::Deadline));
    let three_quarters = Some(Budget::new(Server::Constant, 3 * MS, 4 * MS));
    assert_eq!(tree.set_budget(leaves[0], three_quarters, 0), Ok(()));
    assert_eq!(tree.set_budget(leaves[1], three_quarters, 0), Ok(()));
    assert_eq!(tree.set_budget(leaves[2], three_quarters, 0), Err(TreeError::Overcommitted));
    let half = Some(Budget::new(Server::Constant, 2 * MS, 4 * MS));
    assert_eq!(tree.set_budget(leaves[2], half, 0), Ok(()));
    assert_eq!(tree.set_share(shared, Share::Deadline, 0), Err(TreeError::WrongShare));
    assert_eq!(
        tree.set_share(shared, Share::Priority(LEVELS), 0),
        Err(TreeError::InvalidParameter)
    );
}

/// What a CPU runs is its own until it decides, though nothing in it is ready: its thread may still
/// be there.
#[test]
fn a_child_is_left_by_a_decision() {
    let mut storage = Storage::of_cpus(2, 4);
    let mut machine = Machine::new(&mut storage);
    let child = machine.leaf(10 * MS);
    machine.wake(child);
    assert_eq!(machine.runs, [Some(child), None]);
    let tree = &mut machine.tree;
    tree.block(child, MS, true);
    tree.wake(child, MS);
    assert_eq!(tree.pick(1, MS).leaf, None);
    assert!(tree.preempts(child));
    assert_eq!(tree.pick(0, MS).leaf, Some(child));
}

/// A class that CPUs share is run by one of them at a time.
#[test]
fn an_inner_class_is_on_one_cpu() {
    let mut storage = Storage::of_cpus(2, 6);
    let mut machine = Machine::new(&mut storage);
    let shared = machine.tree.shared();
    let class = machine.tree.create(shared, Some(Policy::FixedPriority), Share::Deadline);
    let class = class.expect("fits");
    let budget = Some(Budget::new(Server::Constant, 2 * MS, 4 * MS));
    assert_eq!(machine.tree.set_budget(class, budget, 0), Ok(()));
    let [low, high] =
        [1, 2].map(|priority| leaf(&mut machine.tree, class, Share::Priority(priority)));
    machine.wake(low);
    assert_eq!(machine.runs, [Some(low), None]);
    machine.wake(high);
    assert_eq!(machine.runs, [Some(high), None]);
    machine.advance(2 * MS);
    assert_eq!(machine.runs, [None, None], "the budget of both is used up");
    machine.advance(4 * MS);
    assert!(machine.runs.contains(&Some(high)));
}

/// A sporadic budget from a time ahead, that of the CPU which woke the leaf: a leaf that is charged
/// before it waits for it.
#[test]
fn a_budget_from_a_time_ahead_waits() {
    let mut storage = Storage::of_cpus(1, 4);
    let mut tree = storage.tree();
    let shared = tree.shared();
    let child = leaf(&mut tree, shared, Share::Deadline);
    let budget = Some(Budget::new(Server::Sporadic, 2 * MS, 10 * MS));
    assert_eq!(tree.set_budget(child, budget, 0), Ok(()));
    tree.wake(child, 3 * MS);
    assert_eq!(tree.pick(0, MS).leaf, Some(child));
    tree.account(0, 2 * MS);
    tree.check();
    assert_eq!(tree.pick(0, 2 * MS).leaf, None);
    assert_eq!(tree.pick(0, 3 * MS).leaf, Some(child));
}

/// Where many budgets come back at once, what runs is still the most urgent.
#[test]
fn many_budgets_displace_nothing() {
    let mut storage = Storage::of_cpus(2, 16);
    let mut machine = Machine::new(&mut storage);
    let shared = machine.tree.shared();
    let own = [0, 1].map(|cpu| {
        let root = machine.tree.root(cpu);
        leaf(&mut machine.tree, root, Share::Priority(SHARED - 1))
    });
    let urgent = leaf(&mut machine.tree, shared, Share::Deadline);
    let budget = |budget, period| Some(Budget::new(Server::Constant, budget, period));
    let others: Vec<_> = (0..6).map(|_| leaf(&mut machine.tree, shared, Share::Deadline)).collect();
    for other in &others {
        assert_eq!(machine.tree.set_budget(*other, budget(MS / 10, 20 * MS), 0), Ok(()));
    }
    assert_eq!(machine.tree.set_budget(urgent, budget(3 * MS, 4 * MS), 0), Ok(()));
    own.iter().for_each(|leaf| machine.wake(*leaf));
    // All are used up.
    for other in &others {
        machine.wake(*other);
        machine.advance(machine.now + MS / 2);
        assert!(machine.tree.inspect(*other).is_some_and(|state| state.is_throttled));
    }
    // All have come back when the urgent one is to run.
    machine.advance(10 * MS);
    machine.now = 25 * MS;
    machine.tree.wake(urgent, machine.now);
    let pick = machine.tree.pick(0, machine.now);
    assert_eq!(pick, Pick { leaf: Some(urgent), until: 28 * MS });
    machine.settle();
    assert!(machine.runs.contains(&Some(urgent)));
}

/// What runs before the shared class is not interrupted for its budgets.
#[test]
fn budgets_of_the_class_do_not_interrupt_what_goes_before_it() {
    let mut storage = Storage::of_cpus(2, 40);
    let mut machine = Machine::new(&mut storage);
    let (shared, root) = (machine.tree.shared(), machine.tree.root(0));
    let above = leaf(&mut machine.tree, root, Share::Priority(SHARED + 1));
    let child = leaf(&mut machine.tree, shared, Share::Deadline);
    machine.wake(above);
    let budget = |period| Some(Budget::new(Server::Constant, MS / 10, period));
    assert_eq!(machine.tree.set_budget(child, budget(40 * MS), 0), Ok(()));
    machine.wake(child);
    machine.advance(MS);
    let mut asked = 0;
    for step in 1..20 {
        machine.now += 10 * US;
        let now = machine.now;
        let child = leaf(&mut machine.tree, shared, Share::Deadline);
        assert_eq!(machine.tree.set_budget(child, budget(39 * MS - step * MS), now), Ok(()));
        machine.tree.wake(child, now);
        machine.tree.preempts(child);
        while let Some(cpu) = machine.tree.take_asked() {
            asked += usize::from(cpu == 0);
            machine.pick(cpu);
        }
    }
    assert_eq!((asked, machine.until[0] > 41 * MS), (0, true), "CPU 0 until {}", machine.until[0]);
}

/// Of a budget that comes back a CPU that runs what goes before the class takes no notice, however
/// soon it decides: the one that idles looks at it, and is not asked again and again.
#[test]
fn a_cpu_above_the_class_does_not_look_at_its_budgets() {
    let mut storage = Storage::of_cpus(2, 4);
    let mut tree = storage.tree();
    let (root, shared) = (tree.root(1), tree.shared());
    let above = [(); 2].map(|()| leaf(&mut tree, root, Share::Priority(300)));
    let child = leaf(&mut tree, shared, Share::Deadline);
    let limit = Budget::new(Server::Periodic, MS, 100 * MS);
    assert_eq!(tree.set_budget(child, Some(limit), 0), Ok(()));
    tree.wake(child, 0);
    for leaf in above {
        assert!(tree.wake(leaf, 0));
    }
    // These are equals: the CPU decides again when a time slice has passed.
    assert_eq!(tree.pick(1, 0).until, SLICE);
    assert_eq!(tree.pick(0, 0).leaf, Some(child));
    let idle = tree.pick(0, MS);
    assert_eq!(idle, Pick { leaf: None, until: 100 * MS });
    assert_eq!(tree.take_asked(), None);
    tree.check();
}

/// Who is above a class wakes when many instants of that come: what it waits for, in steps.
fn steps_before_what_is_above(
    is_shared: bool,
    prepare: impl Fn(&mut Tree<'_>, NodeId),
    [runs, wakes]: [u64; 2],
) -> usize {
    let mut storage = Storage::of_cpus(1, 60);
    let mut tree = storage.tree();
    let (root, shared) = (tree.root(0), tree.shared());
    let class = match is_shared {
        true => shared,
        false => {
            tree.create(root, Some(Policy::EarliestDeadline), Share::Priority(5)).expect("fits")
        }
    };
    assert_eq!(tree.set_share(class, Share::Priority(5), 0), Ok(()));
    for _ in 0..50 {
        let leaf = leaf(&mut tree, class, Share::Deadline);
        prepare(&mut tree, leaf);
        tree.wake(leaf, 0);
    }
    run(&mut tree, 0, runs);
    let high = tree.plain_leaf(0, 200);
    tree.wake(high, wakes);
    let mut served = 0;
    loop {
        match tree.step(0, wakes) {
            Step::Passed => {}
            Step::Served(_) => served += 1,
            Step::Chosen(pick) => {
                assert_eq!(pick.leaf, Some(high));
                tree.check();
                return served;
            }
        }
    }
}

#[test]
fn misses_of_the_class_delay_nothing_above() {
    let prepare = |tree: &mut Tree<'_>, leaf| {
        let timing = Timing { deadline: 2 * MS, period: 10 * MS };
        assert_eq!(tree.set_timing(leaf, Some(timing), 0), Ok(()));
        assert_eq!(tree.watch(leaf, Events { missed: true, overran: true }, 5, 0), Ok(()));
    };
    for is_shared in [false, true] {
        assert_eq!(steps_before_what_is_above(is_shared, prepare, [MS, 2 * MS + 1]), 0);
    }
}

#[test]
fn budgets_of_the_class_delay_nothing_above() {
    let prepare = |tree: &mut Tree<'_>, leaf| {
        let limit = Budget::new(Server::Periodic, 20 * US, 10 * MS);
        assert_eq!(tree.set_budget(leaf, Some(limit), 0), Ok(()));
    };
    for is_shared in [false, true] {
        assert_eq!(steps_before_what_is_above(is_shared, prepare, [5 * MS, 10 * MS]), 0);
    }
}

/// A notice of the class is told by a CPU that runs nothing above it.
#[test]
fn a_notice_of_the_class_is_told_by_another_cpu() {
    let mut storage = Storage::of_cpus(2, 4);
    let mut tree = storage.tree();
    let shared = tree.shared();
    let child = leaf(&mut tree, shared, Share::Deadline);
    let limit = Budget::new(Server::Periodic, MS, 10 * MS);
    assert_eq!(tree.set_budget(child, Some(limit), 0), Ok(()));
    assert_eq!(tree.watch(child, Events { missed: false, overran: true }, 0, 0), Ok(()));
    tree.wake(child, 0);
    assert_eq!(tree.pick(0, 0).leaf, Some(child));
    assert_eq!(tree.pick(1, 0).leaf, None);
    let high = tree.plain_leaf(0, 200);
    tree.wake(high, MS);
    assert_eq!(tree.set_share(shared, Share::Priority(5), MS), Ok(()));
    while tree.take_asked().is_some() {}
    assert_eq!(tree.pick(1, MS).leaf, None);
    assert_eq!(tree.pick(0, MS).leaf, Some(high));
    assert!(!tree.has_notice(0));
    assert_eq!(tree.take_asked(), Some(1));
    tree.pick(1, MS);
    assert!(tree.take_notice(1).is_some_and(|(_, seen)| seen.overran));
    tree.check();
}
