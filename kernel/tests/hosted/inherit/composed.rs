//! Leaves along waits and calls at once: random programs, after each step of which every ready
//! thread is in the leaf that follows from who waits for whom, computed from scratch.

use super::leaves::PAYS;
use super::{cond_wait, id, mark, notify, reference, sleep, wait, wake};
use crate::support::archive::TICK;
use crate::support::board::Board;
use crate::support::effort::{INTERPRETED, seeds, steps};
use crate::support::host::Host;
use crate::support::rng::Rng;
use crate::support::scene::{
    ENDPOINT, LEAF, THREAD, boot, call, receive, reply_wait, send, system,
};
use crate::support::seed::Seed;
use abi::Info;
use abi::call::{Call, REPLY};
use abi::reservation::{Inheritance, Share};
use kernel::access::Ref;
use kernel::object::Thread;
use kernel::object::thread::{State, flag};
use kernel::port::Port;
use kernel::system::Tree;
use kernel::tree::DONATIONS;

type Machine = Board<Tree<Host>>;
type Reach = std::collections::BTreeMap<&'static str, u32>;

const MESSAGE: Info = Info::new(0, 0);
/// One that disturbs the others, below all of them.
const KEEPER: u32 = 1;
const THREADS: u32 = 10;
const MUTEXES: u64 = 5;
/// The word of the only condition.
const CONDITION: usize = 10;

struct Town {
    board: Machine,
    rng: Rng,
}

impl Town {
    fn new(seed: u64) -> Town {
        let rng = Rng::new(seed);
        let priority = |thread| if thread == KEEPER { 1 } else { 10 + rng.below(30) as u8 };
        let threads: Vec<(u32, u8)> = (1..=THREADS).map(|thread| (1, priority(thread))).collect();
        let board: Machine = boot(&threads);
        board.machine.kernel.trees.set_inheritance(Inheritance::Charged);
        // Below some threads, or above all.
        let share = rng.pick(&[Share::Priority(15), Share::Priority(25), Share::Priority(300)]);
        let set = board.machine.kernel.trees.with(|tree| tree.set_share(PAYS, share, 0));
        assert_eq!(set, Some(Ok(())));
        board.host.noise_once_in.set(rng.pick(&[0, 2, 8]));
        Town { board, rng }
    }

    fn all(&self) -> impl Iterator<Item = Ref<Thread<Host>>> {
        (1..=THREADS).map(|thread| reference(&self.board, thread))
    }

    /// The running thread does something; or time goes by, or an interrupt is served that waits.
    fn step(&self) {
        if let Some(event) = self.board.host.waiting() {
            return self.board.take(event);
        }
        if self.board.regs.get().again {
            return self.board.call(self.board.regs.get());
        }
        let Some(me) = self.board.running() else { return self.board.wait(TICK / 2) };
        let mutex = self.rng.below(MUTEXES) as usize;
        let until = self.rng.once_in(2).then(|| self.board.host.now() + 2 * TICK);
        match self.rng.below(19) {
            _ if me == KEEPER => self.disturbs(),
            0..5 => {
                if let Some(expected) = mark(&self.board, me, mutex) {
                    self.board.call(wait(mutex, expected, until));
                }
            }
            5..6 => self.board.call(wake(mutex)),
            6..9 => self.board.call(call(ENDPOINT, MESSAGE)),
            9..11 => self.board.call(receive(ENDPOINT)),
            11 => self.board.call(reply_wait(ENDPOINT, MESSAGE)),
            12 => self.board.call(send(REPLY.into(), MESSAGE)),
            13 => self.waits(me, mutex, until),
            14 => self.board.call(notify(CONDITION, true)),
            15 => self.serves(),
            16..18 => self.disturbs(),
            _ => self.board.call(sleep(self.board.host.now() + 1 + self.rng.below(4 * TICK))),
        }
    }

    fn waits(&self, me: u32, mutex: usize, until: Option<u64>) {
        let helper = |_| id(&self.board, 2 + self.rng.below(u64::from(THREADS) - 1) as u32);
        let ids = std::array::from_fn(helper);
        let owns = self.board.read(1, super::MUTEX + mutex) as u32 == id(&self.board, me);
        if owns {
            self.board.call(wake(mutex));
        }
        if self.board.running() == Some(me) && !self.board.regs.get().again {
            self.board.call(cond_wait(CONDITION, 0, mutex, until, ids));
        }
    }

    /// The running thread serves the endpoint from now on, or no longer.
    fn serves(&self) {
        let serves = self.rng.once_in(3);
        self.board.call(system(Call::Serve, &[ENDPOINT, u64::from(!serves)]));
    }

    fn disturbs(&self) {
        let other = 2 + self.rng.below(u64::from(THREADS) - 1);
        match self.rng.below(4) {
            0 => {
                // Often of one that comes to what its callers are lent.
                let comes = |at: &Ref<Thread<Host>>| {
                    let own = self.reserved(*at).filter(|_| at.queued());
                    let lent = at.caller.get().map(|caller| self.lent(caller));
                    own.is_some() && lent > own
                };
                let server = self.all().find(comes);
                let (other, leaf) = match server {
                    Some(server) => (server.index().into(), 0),
                    None => (other, if self.rng.once_in(2) { LEAF } else { 0 }),
                };
                self.board.call(system(Call::Reserve, &[THREAD + other, leaf]));
            }
            1 => {
                let priority = 10 + self.rng.below(30);
                self.board.call(system(Call::ThreadPriority, &[THREAD + other, priority]));
            }
            2 => {
                let cancel = [THREAD + other, 0, 0, 0, 0, abi::call::exchange::CANCEL];
                self.board.call(system(Call::ThreadExchange, &cancel));
            }
            _ => self.board.wait(self.rng.below(TICK)),
        }
    }

    /// A thread and those that it works for, by calls: up to the first one with a reservation.
    fn called_by(&self, thread: Ref<Thread<Host>>) -> impl Iterator<Item = Ref<Thread<Host>>> {
        let unreserved = |at: &Ref<Thread<Host>>| self.reserved(*at).is_none();
        let next = move |at: &Ref<Thread<Host>>| {
            Some(*at).filter(unreserved).and_then(|at| at.caller.get())
        };
        std::iter::successors(Some(thread), next).take(1 + DONATIONS)
    }

    /// The priority of a thread's reservation.
    fn reserved(&self, thread: Ref<Thread<Host>>) -> Option<i16> {
        let reservation = self.board.open(|all| thread.reservation.get(all));
        let trees = &self.board.machine.kernel.trees;
        trees.home_of(reservation).map(|_| trees.urgency_of(reservation.node))
    }

    /// The priority of the first reservation of a thread and those that it works for, or else the
    /// highest one of theirs.
    fn own(&self, thread: Ref<Thread<Host>>) -> i16 {
        let priorities = self.called_by(thread).map(|at| at.base_priority.get());
        let reserved = self.called_by(thread).find_map(|at| self.reserved(at));
        reserved.or_else(|| priorities.max()).expect("its own")
    }

    /// What a thread lends those that it waits for.
    fn lends(&self, thread: Ref<Thread<Host>>) -> i16 {
        self.lent(thread).max(self.own(thread))
    }

    /// The highest of what those lend that wait for a thread; -1: none does.
    fn lent(&self, to: Ref<Thread<Host>>) -> i16 {
        let waits = |thread: &Ref<Thread<Host>>| {
            self.board.open(|all| {
                let waits = all.open(*thread).inherit.waits.get();
                let at = waits.map(|at| &all.open(at).inherit.turnstile);
                at.is_some_and(|at| at.lent_to().any(|lent| lent == to))
            })
        };
        self.all().filter(waits).map(|thread| self.lends(thread)).max().unwrap_or(-1)
    }

    fn check(&self, reach: &mut Reach) {
        let trees = &self.board.machine.kernel.trees;
        // A thread above all that has changed runs before the others follow that; it is in the leaf
        // that it should be in, unless an interrupt is to come first.
        let later = self.board.machine.kernel.waits.has_followers();
        *reach.entry("followed later").or_default() += u32::from(later);
        let running = self.board.running().filter(|_| self.board.host.waiting().is_none());
        let leaf =
            |at: Ref<Thread<Host>>| trees.urgency_of(self.board.open(|all| at.leaf.get(all)));
        for thread in self.all().filter(|thread| thread.queued()) {
            *reach.entry("runs first").or_default() +=
                u32::from(later && running == Some(thread.index()));
            let own = self.own(thread);
            let lent: Vec<i16> = self.called_by(thread).map(|at| self.lent(at)).collect();
            let expected = lent.iter().fold(own, |most, lent| most.max(*lent));
            if leaf(thread) != expected {
                assert!(later, "the leaf of {}", thread.index());
                // What is still to be followed is below the thread that runs.
                if let Some(runs) = running {
                    let most = leaf(thread).max(expected);
                    let above = leaf(reference(&self.board, runs)) > most;
                    assert!(above, "{runs} runs before {} follows to {expected}", thread.index());
                }
                continue;
            }
            let mut met = |what, really| *reach.entry(what).or_default() += u32::from(really);
            met("own", expected == own);
            met("reserved", self.reserved(thread).is_some());
            met("lent", lent[0] == expected && own < expected);
            met("lent to a caller", lent[1..].contains(&expected) && own.max(lent[0]) < expected);
            met("a caller before the lender", lent[0] >= 0 && lent[0] < own);
            let serves = |at: Ref<Thread<Host>>| {
                at.caller.get().is_some()
                    && self.board.thread(at.index()).state.get() == State::Waiting
            };
            met("a server waits", self.all().any(serves));
            let lends = |at: Ref<Thread<Host>>| self.board.thread(at.index()).has(flag::LENDS);
            met("a caller lends", self.all().any(lends));
        }
        self.board.check();
    }
}

#[test]
fn each_thread_is_in_the_leaf_that_follows() {
    let mut reach = Reach::default();
    // The one comes to a server that is passed over if its caller's lender is not thought of.
    for seed in seeds(0..50).chain(seeds(0x8c9..0x8ca)) {
        let (told, town) = (Seed::of(0xa100_0000 + seed), Town::new(0xa100_0000 + seed));
        for action in 0..steps(500) {
            told.at(action);
            town.step();
            town.check(&mut reach);
        }
    }
    if INTERPRETED {
        return;
    }
    for what in [
        "own",
        "lent",
        "lent to a caller",
        "a caller before the lender",
        "a server waits",
        "a caller lends",
        "followed later",
        "reserved",
        "runs first",
    ] {
        let times = reach.get(what).copied().unwrap_or(0);
        assert!(times >= 50, "{what}: {times} times; all: {reach:#?}");
    }
}
