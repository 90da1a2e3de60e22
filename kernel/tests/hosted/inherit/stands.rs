//! Attacks on threads that stand by (S2G-05): what changes their own leaf while they run in it.

use super::beside::{has_budget, leaf_of, limit};
use super::leaves::{Machine, PAYS, create, lending, reserve_directly};
use super::{MUTEX, id, lock, mark, reference, sleep, wait, wake};
use crate::support::archive::TICK;
use crate::support::context::Regs;
use crate::support::effort::{seeds, steps};
use crate::support::rng::Rng;
use crate::support::scene::{
    ENDPOINT, FREE, LEAF, ROOT, THREAD, begin_job, call, receive, reply_wait, send, system,
};
use crate::support::seed::Seed;
use abi::Info;
use abi::call::{Call, REPLY, Setting};
use abi::futex::WAITERS;
use abi::reservation::{Budget, Curve, Inheritance, Policy, Server, Share, Timing, WHOLE};
use kernel::object::thread::State;
use kernel::port::Port;
use policies::tree::NodeId;

const MESSAGE: Info = Info::new(0, 0);

fn make(slot: u64, share: Share) -> Regs {
    let (code, words) = share.encode();
    system(Call::ReservationCreate, &[slot, ROOT, 0, code]).with_words(words)
}

fn set(at: u64, setting: Setting, (code, words): (u64, [u64; 4])) -> Regs {
    system(Call::ReservationSet, &[at, setting as u64, code]).with_words(words)
}

/// The leaf that the CPU is charged for.
fn chosen(board: &Machine) -> Option<u32> {
    let trees = &board.machine.kernel.trees;
    (0..2000).find(|at| trees.with(|tree| tree.has_chosen(0, NodeId(*at))) == Some(true))
}

/// Whether what runs does so in a leaf in which it has a place.
#[track_caller]
fn runs_where_it_is(board: &Machine) {
    let (Some(me), Some(on)) = (board.running(), chosen(board)) else { return };
    let at = reference(board, me);
    let (leaf, beside) = board.open(|all| (at.leaf.get(all), at.beside.get(all)));
    let is_there = leaf == on || at.stands_by() && beside == on;
    assert!(is_there, "{me} runs on {on}, and is in {leaf} and beside at {beside}");
}

/// Owner 1 and its equal 2 are on a leaf `own` of priority 100; the owner is lent a leaf without
/// budget, and runs in its own one. 4 is below it, above 5.
fn beside() -> (Machine, NodeId) {
    let board = lending(&[(1, 50), (1, 50), (1, 60), (1, 40)]);
    let root = board.machine.kernel.trees.with(|tree| tree.root(0)).expect("a tree");
    let own = create(&board, root, None, Share::Priority(100));
    limit(&board, PAYS, Server::Constant, [TICK / 2, 100_000 * TICK]);
    board.succeeds(3, make(FREE, Share::Priority(5)));
    board.does(3, sleep(3 * TICK));
    board.does(1, sleep(TICK));
    board.does(2, sleep(2 * TICK));
    reserve_directly(&board, &[(1, own), (2, own), (3, PAYS)]);
    board.wait(TICK);
    lock(&board, 1, 0);
    board.wait(2 * TICK);
    assert_eq!(board.running(), Some(3));
    lock(&board, 3, 0);
    assert_eq!((board.running(), leaf_of(&board, 1)), (Some(1), PAYS.0));
    for _ in 0..40 {
        board.wait(TICK / 2);
        if board.running() == Some(1) && leaf_of(&board, 1) == own.0 {
            return (board, own);
        }
    }
    panic!("the owner does not run in its own leaf");
}

/// A thread that is taken off its reservation, where another one waits, runs there no longer.
#[test]
fn what_left_its_own_leaf_does_not_run_there() {
    let (board, own) = beside();
    board.does(1, system(Call::Reserve, &[THREAD + 1, FREE]));
    println!("running {:?} on {:?}, own {}", board.running(), chosen(&board), own.0);
    runs_where_it_is(&board);
    assert_eq!(
        board.running(),
        Some(2),
        "the owner goes on in a leaf that is not its own any more"
    );
}

/// The same by its priority, where it has no reservation.
#[test]
fn what_is_made_less_urgent_does_not_run_before_its_old_equals() {
    let board = lending(&[(1, 20), (1, 20), (1, 30), (1, 10)]);
    limit(&board, PAYS, Server::Constant, [TICK / 2, 100_000 * TICK]);
    board.does(3, sleep(3 * TICK));
    lock(&board, 1, 0);
    reserve_directly(&board, &[(3, PAYS)]);
    board.wait(4 * TICK);
    lock(&board, 3, 0);
    for _ in 0..40 {
        board.wait(TICK / 2);
        if board.running() == Some(1) && leaf_of(&board, 1) != PAYS.0 {
            break;
        }
    }
    board.does(1, system(Call::ThreadPriority, &[THREAD + 1, 5]));
    runs_where_it_is(&board);
    assert_eq!(board.running(), Some(2));
}

/// A deadline of a thread below the one that runs does not interrupt that, whichever of its two
/// leaves that runs in.
#[test]
fn a_lower_deadline_waits_for_what_runs_beside() {
    for lends in [false, true] {
        let board = lending(&[(1, 20), (1, 250), (1, 200)]);
        board.succeeds(2, set(LEAF, Setting::Share, Share::Priority(100).encode()));
        board.does(2, sleep(20 * TICK));
        board.does(3, sleep(2 * TICK));
        board.succeeds(1, system(Call::Reserve, &[THREAD + 1, LEAF]));
        lock(&board, 1, 0);
        board.wait(2 * TICK);
        match lends {
            true => lock(&board, 3, 0),
            false => board.does(3, sleep(1000 * TICK)),
        }
        board.succeeds(1, set(LEAF, Setting::Share, Share::Priority(400).encode()));
        assert_eq!(chosen(&board), Some(PAYS.0), "it runs on its own leaf");
        board.wait(19 * TICK);
        let woken = board.thread(2).state.get() == State::Ready;
        assert_eq!((board.running(), woken), (Some(1), false), "lends: {lends}");
    }
}

const THREADS: u32 = 9;
const MUTEXES: usize = 4;
const LEAVES: u64 = 6;
const KEEPER: u32 = 1;
const SERVERS: [u32; 2] = [8, 9];

struct Program<'a> {
    board: &'a Machine,
    rng: Rng,
    exact: bool,
}

/// Slots of classes of fixed priorities, service curves and earliest deadlines.
const CLASSES: u64 = FREE + 20;

impl Program<'_> {
    fn owned(&self, me: u32) -> Option<usize> {
        let own = id(self.board, me);
        (0..MUTEXES).rfind(|at| self.board.read(1, MUTEX + at) as u32 & !WAITERS == own)
    }

    fn thread(&self) -> u64 {
        THREAD + 2 + self.rng.below(u64::from(THREADS) - 1)
    }

    fn act(&self) {
        let (board, rng) = (self.board, &self.rng);
        let Some(me) = board.running() else { return };
        if me == KEEPER {
            return board.does(me, system(Call::ThreadResume, &[self.thread()]));
        }
        let owned = self.owned(me);
        let leaf = FREE + rng.below(LEAVES);
        let next = owned.map_or(0, |owned| owned + 1);
        if SERVERS.contains(&me) && owned.is_none() && rng.once_in(3) {
            let regs = match rng.below(4) {
                0 => send(REPLY.into(), MESSAGE),
                _ => reply_wait(ENDPOINT, MESSAGE),
            };
            return board.does(me, regs);
        }
        match rng.below(18) {
            0 | 1 => board.does(me, sleep(board.host.now() + (1 + rng.below(6)) * TICK)),
            2..=4 if next < MUTEXES => {
                let mutex = next + rng.below((MUTEXES - next) as u64) as usize;
                let until = rng.once_in(4).then(|| board.host.now() + 1 + rng.below(5 * TICK));
                if let Some(expected) = mark(board, me, mutex) {
                    board.does(me, wait(mutex, expected, until));
                }
            }
            5 | 6 if owned.is_some() => {
                let mutex = owned.expect("one");
                match board.read(1, MUTEX + mutex) as u32 & WAITERS {
                    0 => board.write(1, MUTEX + mutex, 0),
                    _ => board.does(me, wake(mutex)),
                }
            }
            7 => board.does(me, system(Call::Reserve, &[self.thread(), leaf])),
            8 => board.does(me, system(Call::Reserve, &[self.thread(), 0])),
            9 => board.does(me, system(Call::Reserve, &[THREAD + u64::from(me), leaf])),
            10 => {
                let to = if rng.once_in(2) { self.thread() } else { THREAD + u64::from(me) };
                board.does(me, system(Call::ThreadPriority, &[to, 5 + rng.below(60)]));
            }
            11 => board.does(me, system(Call::Yield, &[])),
            12 if rng.once_in(2) => board.does(me, system(Call::ThreadSuspend, &[self.thread()])),
            12 => board.does(me, system(Call::ThreadResume, &[self.thread()])),
            13 if rng.once_in(3) => board.does(me, system(Call::Destroy, &[leaf])),
            13 => board.does(me, self.makes(leaf)),
            14 if !self.exact && rng.once_in(2) => board.does(me, self.wild(leaf)),
            14 if rng.once_in(2) => {
                board.does(me, set(leaf, Setting::Share, self.share().encode()))
            }
            14 => board.does(me, set(leaf, Setting::Budget, (0, Budget::encode(self.budget())))),
            15 | 16 if !SERVERS.contains(&me) => board.does(me, call(ENDPOINT, MESSAGE)),
            17 if SERVERS.contains(&me) => board.does(me, receive(ENDPOINT)),
            _ => {}
        }
    }

    /// A class, and a share there.
    fn place(&self) -> (u64, Share) {
        let kind = if self.exact { 0 } else { self.rng.below(4) };
        let rest = WHOLE / 24;
        match kind {
            0 => (ROOT, self.share()),
            1 => (CLASSES, self.share()),
            2 => (CLASSES + 1, Share::curve(Curve { slope: rest, bend: TICK, rest })),
            _ => (CLASSES + 2, Share::Deadline),
        }
    }

    fn makes(&self, leaf: u64) -> Regs {
        let (class, share) = self.place();
        let (code, words) = share.encode();
        system(Call::ReservationCreate, &[leaf, class, 0, code]).with_words(words)
    }

    fn wild(&self, leaf: u64) -> Regs {
        let rng = &self.rng;
        let at = if rng.once_in(4) { CLASSES + rng.below(3) } else { leaf };
        match rng.below(6) {
            0 => {
                let (class, share) = self.place();
                let (code, words) = share.encode();
                system(Call::ReservationJoin, &[at, class, code]).with_words(words)
            }
            1 => {
                let timing = Timing { deadline: (1 + rng.below(9)) * TICK, period: 6 * TICK };
                set(leaf, Setting::Timing, (0, Timing::encode(Some(timing))))
            }
            2 => begin_job(),
            3 => system(Call::Serve, &[ENDPOINT, rng.below(2)]),
            4 => set(at, Setting::Budget, (0, Budget::encode(self.budget()))),
            _ => set(leaf, Setting::Background, (0, [rng.below(2), rng.below(2), 0, 0])),
        }
    }

    fn share(&self) -> Share {
        Share::Priority(10 + self.rng.below(270) as u16)
    }

    fn budget(&self) -> Option<Budget> {
        let servers = [Server::Periodic, Server::Constant, Server::Sporadic];
        let budget = TICK / 2 + self.rng.below(TICK);
        (!self.rng.once_in(3)).then(|| Budget::new(self.rng.pick(&servers), budget, 12 * TICK))
    }

    fn check(&self) {
        let (board, trees) = (self.board, &self.board.machine.kernel.trees);
        board.check_all();
        runs_where_it_is(board);
        if !self.exact {
            return;
        }
        let mut best = (-1, None);
        for thread in (1..=THREADS).filter(|at| reference(board, *at).queued()) {
            let at = reference(board, thread);
            let leaves = board.open(|all| {
                [
                    at.leaf.get(all),
                    if at.stands_by() { at.beside.get(all) } else { at.leaf.get(all) },
                ]
            });
            for leaf in leaves {
                let can = has_budget(board, leaf);
                best = best.max((if can { trees.urgency_of(leaf) } else { -1 }, Some(thread)));
            }
        }
        let on = chosen(board).expect("the keeper is ready");
        assert_eq!(trees.urgency_of(on), best.0, "{:?} runs, {best:?} could", board.running());
        assert!(has_budget(board, on));
        let place = trees.leaf(on);
        let first = board.open(|all| trees.first_in(all, place)).map(|at| at.index());
        assert_eq!(first, board.running(), "not the first of its leaf");
    }
}

#[test]
fn random_programs_run_where_they_are() {
    random(0..300, true);
}

#[test]
fn random_programs_leave_queues_whole() {
    random(10_000..10_200, false);
}

fn random(all: core::ops::Range<u64>, exact: bool) {
    for seed in seeds(all) {
        let (rng, at) = (Rng::new(seed), Seed::of(seed));
        let own = |thread: u32| if thread == KEEPER { 1 } else { 10 + rng.below(50) as u8 };
        let threads: Vec<(u32, u8)> = (1..=THREADS).map(|thread| (1, own(thread))).collect();
        let board = lending(&threads);
        let how = rng.pick(&[Inheritance::Charged, Inheritance::Leaves]);
        board.machine.kernel.trees.set_inheritance(how);
        let program = Program { board: &board, rng, exact };
        let policies = [Policy::FixedPriority, Policy::ServiceCurves, Policy::EarliestDeadline];
        for (slot, policy) in (CLASSES..).zip(policies) {
            let (me, share) = (board.running().expect("one"), program.share().encode());
            let regs = system(Call::ReservationCreate, &[slot, ROOT, policy as u64, share.0]);
            board.does(me, regs.with_words(share.1));
        }
        for slot in FREE..FREE + LEAVES {
            let me = board.running().expect("one");
            board.does(me, program.makes(slot));
            let me = board.running().expect("one");
            board.does(me, set(slot, Setting::Budget, (0, Budget::encode(program.budget()))));
        }
        if !exact && program.rng.once_in(2) {
            board.host.noise_once_in.set(3 + program.rng.below(10));
        }
        for action in 0..steps(400) {
            at.at(action);
            program.act();
            program.check();
            if program.rng.once_in(2) {
                board.wait(program.rng.below(TICK));
                program.check();
            }
        }
    }
}
