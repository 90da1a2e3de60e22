//! A lent leaf that cannot run: its thread goes on in its own one, and comes back (S2G-05).

use super::leaves::{Machine, PAYS, away, create, lending, reserve, reserve_directly, set};
use super::{MUTEX, lock, mark, reference, sleep, wait, wake};
use crate::support::archive::TICK;
use crate::support::effort::{seeds, steps};
use crate::support::rng::Rng;
use crate::support::scene::{ENDPOINT, LEAF, THREAD, call, receive, system};
use crate::support::seed::Seed;
use abi::Info;
use abi::call::{Call, Setting};
use abi::futex::WAITERS;
use abi::reservation::{Budget, Curve, Inheritance, Policy, Server, Share, Timing, WHOLE};
use kernel::leaf::LeafRef;
use kernel::object::thread::State;
use kernel::port::Port;
use policies::tree::NodeId;
use std::collections::BTreeMap;

/// The budget of the lent leaf, and its period.
const BUDGET: [u64; 2] = [TICK, 10 * TICK];
const MESSAGE: Info = Info::new(0, 0);

pub(super) fn limit(board: &Machine, at: NodeId, server: Server, [budget, period]: [u64; 2]) {
    let trees = &board.machine.kernel.trees;
    let limit = Some(Budget::new(server, budget, period));
    assert_eq!(trees.with(|tree| tree.set_budget(at, limit, board.host.now())), Some(Ok(())));
}

/// The leaf that a thread runs in, or is queued in.
pub(super) fn leaf_of(board: &Machine, thread: u32) -> u32 {
    let (trees, at) = (&board.machine.kernel.trees, reference(board, thread));
    board.open(|all| trees.runs_in(all, 0, at))
}

/// Whether that is a lent one.
fn is_lent(board: &Machine, thread: u32) -> bool {
    let away = away(board, thread);
    away != LeafRef::NONE && leaf_of(board, thread) != away.node
}

/// Whether a leaf and all classes above it have budget.
pub(super) fn has_budget(board: &Machine, leaf: u32) -> bool {
    let trees = &board.machine.kernel.trees;
    let throttled = |at| trees.with(|tree| tree.inspect(at)).flatten();
    let path: Vec<NodeId> =
        trees.with(|tree| tree.path(NodeId(leaf)).collect()).expect("there is a tree");
    !path.into_iter().filter_map(throttled).any(|state| state.is_throttled)
}

/// Goes on until a thread runs on a leaf that is lent to it, or on its own.
#[track_caller]
fn until_it_is(board: &Machine, thread: u32, lent: bool) {
    let last = board.host.now() + 11 * TICK;
    while board.running() != Some(thread) || is_lent(board, thread) != lent {
        assert!(board.host.now() < last, "thread {thread} stays where it is");
        board.wait(TICK / 4);
    }
}

/// Low 1 owns what 3 waits for, which is on the scene's leaf with a small budget; 2 is below 1.
fn lent(server: Server) -> Machine {
    let board = lending(&[(1, 20), (1, 10), (1, 30)]);
    let limit = Budget::encode(Some(Budget::new(server, BUDGET[0], BUDGET[1])));
    set(&board, 3, Setting::Budget, (0, limit));
    reserve(&board, 3, 3);
    board.does(3, sleep(TICK));
    lock(&board, 1, 0);
    // A periodic server has no budget before a period begins.
    for _ in 0..44 {
        if board.running() != Some(3) {
            board.wait(TICK / 4);
        }
    }
    lock(&board, 3, 0);
    assert_eq!((board.running(), leaf_of(&board, 1)), (Some(1), PAYS.0));
    board
}

/// The owner goes on at its own priority, before one that is below it, and on the lent leaf when
/// that has budget again; and so on. No budget is exceeded.
#[test]
fn an_owner_goes_on_by_itself() {
    for server in [Server::Periodic, Server::Constant, Server::Sporadic] {
        let board = lent(server);
        let begun = board.host.now();
        for _ in 0..3 {
            until_it_is(&board, 1, false);
            assert!(!has_budget(&board, PAYS.0), "it leaves what has budget");
            until_it_is(&board, 1, true);
        }
        let (trees, periods) =
            (&board.machine.kernel.trees, (board.host.now() - begun) / BUDGET[1]);
        let served = trees.with(|tree| tree.service(PAYS)).expect("a tree");
        assert!(served <= (periods + 2) * BUDGET[0], "more than its budgets");
        board.does(1, wake(0));
        board.sees(3, Ok(()));
    }
}

/// The same where the budget is that of a class that the lent leaf is in.
#[test]
fn the_budget_of_a_class_runs_out() {
    let board = lending(&[(1, 20), (1, 10), (1, 30)]);
    let root = board.machine.kernel.trees.with(|tree| tree.root(0)).expect("a tree");
    let class = create(&board, root, Some(Policy::ServiceCurves), Share::Priority(300));
    let share = Share::Curve { guaranteed: None, share: Curve::linear(WHOLE / 2) };
    let leaf = create(&board, class, None, share);
    limit(&board, class, Server::Constant, BUDGET);
    board.does(3, sleep(TICK));
    reserve_directly(&board, &[(3, leaf)]);
    lock(&board, 1, 0);
    board.wait(TICK);
    lock(&board, 3, 0);
    until_it_is(&board, 1, false);
    until_it_is(&board, 1, true);
    assert_eq!(leaf_of(&board, 1), leaf.0);
    board.does(1, wake(0));
    board.sees(3, Ok(()));
}

/// Among earliest deadlines the owner goes on by the own one.
#[test]
fn a_deadline_goes_on_by_another_one() {
    let board = lending(&[(1, 20), (1, 10), (1, 30)]);
    let trees = &board.machine.kernel.trees;
    let root = trees.with(|tree| tree.root(0)).expect("a tree");
    let class = create(&board, root, Some(Policy::EarliestDeadline), Share::Priority(300));
    let [soon, late] = [20, 100].map(|deadline| {
        let leaf = create(&board, class, None, Share::Deadline);
        let timing = Some(Timing { deadline: deadline * TICK, period: 200 * TICK });
        assert_eq!(trees.with(|tree| tree.set_timing(leaf, timing, 0)), Some(Ok(())));
        leaf
    });
    limit(&board, soon, Server::Sporadic, [TICK, 200 * TICK]);
    board.does(3, sleep(TICK));
    board.does(1, sleep(TICK / 2));
    reserve_directly(&board, &[(3, soon), (1, late)]);
    board.wait(TICK / 2);
    lock(&board, 1, 0);
    board.wait(TICK / 2);
    lock(&board, 3, 0);
    assert_eq!(leaf_of(&board, 1), soon.0);
    until_it_is(&board, 1, false);
    assert_eq!(leaf_of(&board, 1), late.0);
    board.does(1, wake(0));
    board.check();
}

/// Whatever ends what is lent, while the owner is on its own leaf: it stands by nowhere behind it.
#[test]
fn what_is_lent_ends_meanwhile() {
    for end in 0..6 {
        let board = lent(Server::Periodic);
        until_it_is(&board, 1, false);
        match end {
            0 => board.does(1, wake(0)),
            1 => board.does(1, system(Call::Destroy, &[THREAD + 3])),
            2 => board.does(1, system(Call::Destroy, &[LEAF])),
            3 => board.does(1, system(Call::Reserve, &[THREAD + 3, 0])),
            4 => board.does(1, sleep(board.host.now() + TICK)),
            _ => board.does(1, system(Call::ThreadPriority, &[THREAD + 1, 5])),
        }
        board.check_all();
        if end < 3 {
            board.wait(20 * TICK);
            let at = reference(&board, 1);
            assert!(away(&board, 1) == LeafRef::NONE && !at.stands_by(), "way {end}");
        } else {
            until_it_is(&board, 1, true);
        }
        board.check_all();
    }
}

/// Of two owners on one leaf each goes on by itself.
#[test]
fn each_owner_on_a_leaf_goes_on() {
    let board = lending(&[(1, 20), (1, 20), (1, 30), (1, 31), (1, 10)]);
    limit(&board, PAYS, Server::Constant, [4 * TICK, 200 * TICK]);
    board.does(4, sleep(TICK));
    board.does(3, sleep(TICK));
    reserve_directly(&board, &[(3, PAYS), (4, PAYS)]);
    lock(&board, 1, 0);
    board.does(1, sleep(TICK / 2));
    lock(&board, 2, 1);
    board.wait(TICK);
    for _ in 0..2 {
        let waiter = board.running().expect("a waiter");
        lock(&board, waiter, waiter as usize - 3);
    }
    assert_eq!([1, 2].map(|owner| leaf_of(&board, owner)), [PAYS.0; 2]);
    board.wait(8 * TICK);
    assert!(!has_budget(&board, PAYS.0));
    let mut had = BTreeMap::new();
    for _ in 0..400 {
        *had.entry(board.running()).or_insert(0) += 1;
        board.wait(TICK / 4);
    }
    assert!([1, 2].iter().all(|owner| had[&Some(*owner)] > 100), "one of them stalls: {had:?}");
    board.check();
}

/// A server without a reservation waits for its caller's budget.
#[test]
fn a_server_waits_for_its_callers_budget() {
    let board = lending(&[(1, 20), (1, 10), (1, 30)]);
    limit(&board, PAYS, Server::Constant, BUDGET);
    board.does(3, sleep(TICK));
    reserve_directly(&board, &[(3, PAYS)]);
    board.does(1, receive(ENDPOINT));
    board.wait(TICK);
    board.does(3, call(ENDPOINT, MESSAGE));
    assert_eq!((board.running(), leaf_of(&board, 1)), (Some(1), PAYS.0));
    board.wait(2 * TICK);
    assert_eq!((board.running(), leaf_of(&board, 1)), (Some(2), PAYS.0), "it does not wait");
    board.check();
}

/// Threads that own and wait for mutexes, on leaves with small budgets and without.
const THREADS: u32 = 9;
const MUTEXES: usize = 4;
/// Always ready, below all others.
const KEEPER: u32 = 1;

/// What a random program may do next. A thread waits for mutexes of greater numbers alone, so that
/// no wait closes a ring.
struct Program<'a> {
    board: &'a Machine,
    rng: Rng,
    owners: [Option<u32>; MUTEXES],
    /// How often what came about.
    reach: &'a mut BTreeMap<&'static str, u32>,
}

impl Program<'_> {
    fn act(&mut self) {
        let (board, rng) = (self.board, &self.rng);
        let Some(me) = board.running().filter(|me| *me != KEEPER) else { return };
        let owned = self.owners.iter().rposition(|owner| *owner == Some(me));
        let next = owned.map_or(0, |owned| owned + 1);
        match rng.below(4) {
            0 => board.does(me, sleep(board.host.now() + (1 + rng.below(6)) * TICK)),
            1 if let Some(mutex) = owned => {
                let heirs: Vec<u32> = (2..=THREADS).filter(|at| self.waits(*at)).collect();
                match board.read(1, MUTEX + mutex) as u32 & WAITERS {
                    0 => board.write(1, MUTEX + mutex, 0),
                    _ => board.does(me, wake(mutex)),
                }
                let heir = heirs.into_iter().find(|heir| !self.waits(*heir));
                self.owners[mutex] = heir;
            }
            2 | 3 if next < MUTEXES => {
                let mutex = next + rng.below((MUTEXES - next) as u64) as usize;
                match mark(board, me, mutex) {
                    Some(expected) => board.does(me, wait(mutex, expected, None)),
                    None => self.owners[mutex] = Some(me),
                }
            }
            _ => {}
        }
    }

    fn waits(&self, thread: u32) -> bool {
        self.board.thread(thread).state.get() == State::Waiting
    }

    /// The plain model: of all threads that are ready, on all leaves that are theirs, or lent to
    /// them and more urgent, and have budget, the CPU runs one of the greatest priority.
    fn check(&mut self) {
        let trees = &self.board.machine.kernel.trees;
        let mut best = (-1, None);
        for thread in (1..=THREADS).filter(|at| reference(self.board, *at).queued()) {
            let at = reference(self.board, thread);
            let own = self.board.open(|all| trees.own_leaf_of(all, at));
            let lent = self.board.open(|all| trees.lent_leaf(all, at));
            let lent = lent.filter(|lent| trees.more_urgent(*lent, own) == *lent);
            for leaf in [own].into_iter().chain(lent) {
                let can = has_budget(self.board, leaf);
                let urgency = if can { trees.urgency_of(leaf) } else { -1 };
                best = best.max((urgency, Some(thread)));
                if Some(leaf) == lent && !can {
                    *self.reach.entry("no budget").or_default() += 1;
                }
            }
        }
        let runs = self.board.running().expect("the keeper is ready");
        let on = leaf_of(self.board, runs);
        assert_eq!(trees.urgency_of(on), best.0, "{runs} runs, {best:?} could");
        assert!(has_budget(self.board, on));
        if is_lent(self.board, runs) {
            *self.reach.entry("lent").or_default() += 1;
        } else if reference(self.board, runs).stands_by() {
            *self.reach.entry("by itself").or_default() += 1;
        }
    }
}

/// A board of threads of which most are on leaves with small budgets, some in a class with one.
fn random_board(rng: &Rng) -> Machine {
    let own = |thread: u32| if thread == KEEPER { 1 } else { 10 + rng.below(50) as u8 };
    let threads: Vec<(u32, u8)> = (1..=THREADS).map(|thread| (1, own(thread))).collect();
    let board = lending(&threads);
    let trees = &board.machine.kernel.trees;
    trees.set_inheritance(rng.pick(&[Inheritance::Charged, Inheritance::Leaves]));
    let root = trees.with(|tree| tree.root(0)).expect("a tree");
    let class = create(&board, root, Some(Policy::FixedPriority), Share::Priority(290));
    let servers = [Server::Periodic, Server::Constant, Server::Sporadic];
    limit(&board, class, rng.pick(&servers), [3 * TICK, 20 * TICK]);
    let mut leaves = Vec::new();
    for thread in (3..=THREADS).filter(|_| !rng.once_in(4)) {
        let of = if rng.once_in(3) { class } else { root };
        let leaf = create(&board, of, None, Share::Priority(20 + rng.below(260) as u16));
        if !rng.once_in(4) {
            limit(&board, leaf, rng.pick(&servers), [TICK / 2 + rng.below(TICK), 12 * TICK]);
        }
        leaves.push((thread, leaf));
    }
    while let Some(me) = board.running().filter(|me| *me != KEEPER) {
        board.does(me, sleep(TICK + rng.below(4) * TICK));
    }
    reserve_directly(&board, &leaves);
    board
}

#[test]
fn whoever_can_run_on_any_of_its_leaves_runs() {
    let mut reach = BTreeMap::new();
    for seed in seeds(0..60) {
        let (rng, at) = (Rng::new(seed), Seed::of(seed));
        let board = random_board(&rng);
        let mut program =
            Program { board: &board, rng, owners: [None; MUTEXES], reach: &mut reach };
        for action in 0..steps(300) {
            at.at(action);
            program.act();
            program.check();
            board.wait(program.rng.below(TICK));
            program.check();
        }
    }
    let often = |what| reach.get(what).is_some_and(|times| *times > 100);
    assert!(["no budget", "lent", "by itself"].into_iter().all(often), "{reach:?}");
}
