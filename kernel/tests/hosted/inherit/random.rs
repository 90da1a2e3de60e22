//! Random programs, against a model that searches all and computes each priority from scratch.

use super::{MUTEX, effective, id, mark, reference, wait, wake};
use crate::support::board::Board;
use crate::support::context::Regs;
use crate::support::effort::{INTERPRETED, seeds, steps};
use crate::support::host::Host;
use crate::support::rng::Rng;
use crate::support::scene::{THREAD, boot, system, timed};
use crate::support::seed::Seed;
use abi::call::{Call, NOTHING, Timeout, exchange};
use abi::futex::{OWNER_DIED, WAITERS};
use abi::{Error, Info};
use kernel::access::Life;
use kernel::manage::inherit::LINKS;
use kernel::object::thread::State;
use kernel::port::Port;
use kernel::system::{DirectLazy, Fastpath, StrictEager, System};
use std::collections::BTreeMap;

type Id = u32;

/// Mutexes that programs use.
const MUTEXES: usize = 5;
/// The thread that never waits, is never ended, and lets all others go on: the lowest.
const KEEPER: Id = 1;
/// Threads, with the keeper.
const THREADS: u32 = 9;
/// The lowest and the highest priority of the others at first.
const PRIORITIES: [u64; 2] = [20, 27];

/// A mutex: its owner, and who waits for it with which priority, by arrival.
#[derive(Clone, Default)]
struct Mutex {
    owner: Option<Id>,
    waiters: Vec<(i16, Id)>,
}

/// All mutexes and priorities.
#[derive(Default)]
struct Model {
    mutexes: Vec<Mutex>,
    own: BTreeMap<Id, i16>,
}

impl Model {
    fn awaited(&self, thread: Id) -> Option<&Mutex> {
        self.mutexes.iter().find(|mutex| mutex.waiters.iter().any(|(_, at)| *at == thread))
    }

    /// Effective priorities: from those of the threads' own, until nothing changes.
    fn effective(&self) -> BTreeMap<Id, i16> {
        let mut all = self.own.clone();
        loop {
            let before = all.clone();
            for mutex in &self.mutexes {
                for (_, waiter) in &mutex.waiters {
                    let (lent, owner) = (all[waiter], mutex.owner.expect("a mutex has an owner"));
                    let priority = all.get_mut(&owner).expect("an owner lives");
                    *priority = lent.max(*priority);
                }
            }
            if before == all {
                return all;
            }
        }
    }

    /// A waiter whose priority has changed stands behind others of its new one.
    fn requeue(&mut self) {
        let effective = self.effective();
        for mutex in &mut self.mutexes {
            let moved = mutex.waiters.iter().position(|(key, at)| effective[at] != *key);
            if let Some(moved) = moved {
                let (_, waiter) = mutex.waiters.remove(moved);
                mutex.waiters.push((effective[&waiter], waiter));
            }
        }
    }

    /// The first waiter: of the greatest priority the one that stands first.
    fn first(&self, mutex: usize) -> Option<usize> {
        let waiters = &self.mutexes[mutex].waiters;
        let order = |index: &usize| (waiters[*index].0, usize::MAX - index);
        (0..waiters.len()).max_by_key(order)
    }

    /// Whether `me`, should it wait for a thread, would wait for itself.
    fn closes_ring(&self, me: Id, owner: Id) -> bool {
        let mut at = Some(owner);
        while let Some(here) = at {
            if here == me {
                return true;
            }
            at = self.awaited(here).and_then(|mutex| mutex.owner);
        }
        false
    }

    /// The most threads that wait in a row up to one that waits for `thread`.
    fn height(&self, thread: Id) -> u8 {
        let owned = self.mutexes.iter().filter(|mutex| mutex.owner == Some(thread));
        let waiters = owned.flat_map(|mutex| &mutex.waiters);
        waiters.map(|(_, waiter)| self.height(*waiter) + 1).max().unwrap_or(0)
    }

    /// A thread waits no longer.
    fn leaves(&mut self, thread: Id) {
        for mutex in &mut self.mutexes {
            mutex.waiters.retain(|(_, at)| *at != thread);
        }
        self.requeue();
    }

    /// A mutex goes to its first waiter.
    fn hands_over(&mut self, mutex: usize) -> Option<Id> {
        let heir = self.first(mutex).map(|first| self.mutexes[mutex].waiters.remove(first).1);
        self.mutexes[mutex].owner = heir;
        self.requeue();
        heir
    }
}

/// How often what came about.
type Reach = BTreeMap<&'static str, u64>;

struct Run<'a, S: System<Port = Host>> {
    board: Board<S>,
    model: Model,
    /// Deadlines of those that wait.
    until: BTreeMap<Id, u64>,
    rng: Rng,
    reach: &'a mut Reach,
}

impl<'a, S: System<Port = Host>> Run<'a, S> {
    fn new(seed: u64, reach: &'a mut Reach) -> Self {
        let rng = Rng::new(seed);
        let [low, high] = PRIORITIES;
        let priority = |thread: Id| match thread {
            KEEPER => 1,
            _ => (low + rng.below(high - low + 1)) as u8,
        };
        let threads: Vec<(u32, u8)> = (1..=THREADS).map(|thread| (1, priority(thread))).collect();
        let own = (1..).zip(&threads).map(|(thread, (_, own))| (thread, (*own).into())).collect();
        let mutexes = vec![Mutex::default(); MUTEXES];
        let model = Model { mutexes, own };
        Run { board: boot(&threads), model, until: BTreeMap::new(), rng, reach }
    }

    fn met(&mut self, what: &'static str) {
        *self.reach.entry(what).or_default() += 1;
    }

    fn state(&self, thread: Id) -> State {
        self.board.thread(thread).state.get()
    }

    /// Interrupts, and the timeouts that they bring.
    fn takes_interrupts(&mut self) {
        while let Some(event) = self.board.host.waiting() {
            self.board.take(event);
            // The most urgent first, as they are then.
            loop {
                let effective = self.model.effective();
                let ended = (self.model.own.keys().copied())
                    .filter(|thread| self.state(*thread) == State::Ready)
                    .filter(|thread| self.model.awaited(*thread).is_some())
                    .min_by_key(|thread| (-effective[thread], self.until[thread]));
                let Some(thread) = ended else { break };
                let status = self.board.thread(thread).context.regs.get().status();
                assert_eq!(status.result(), Err(Error::Timeout), "the status of {thread}");
                self.model.leaves(thread);
                self.met("timeout");
            }
            self.check();
        }
    }

    /// The running thread makes a call, again if it is preempted. False: others run first now, and
    /// it is given up.
    fn calls(&mut self, me: Id, regs: Regs) -> bool {
        self.board.call(regs);
        while self.board.thread(me).context.regs.get().again {
            self.takes_interrupts();
            if self.board.running() != Some(me) {
                let context = &self.board.thread(me).context;
                context.regs.set(Regs::call(Call::Null as u64, &[]));
                return false;
            }
            self.board.call(self.board.regs.get());
        }
        true
    }

    fn result(&self, thread: Id) -> (Result<(), Error>, u64) {
        let regs = self.board.thread(thread).context.regs.get();
        (regs.status().result(), regs.badge())
    }

    fn locks(&mut self, me: Id) {
        let mutex = self.rng.below(MUTEXES as u64) as usize;
        let until = self.board.host.now() + 1 + self.rng.below(4_000_000);
        let until = (!self.rng.once_in(3)).then_some(until);
        let Some(expected) = mark(&self.board, me, mutex) else {
            assert!(self.model.mutexes[mutex].owner.is_none(), "a mutex is free");
            self.model.mutexes[mutex].owner = Some(me);
            return;
        };
        if !self.calls(me, wait(mutex, expected, until)) {
            return;
        }
        let Some(owner) = self.model.mutexes[mutex].owner else {
            assert_eq!(self.result(me), (Ok(()), OWNER_DIED), "{me} comes to a dead owner's");
            self.model.mutexes[mutex].owner = Some(me);
            return self.met("a dead owner");
        };
        let outcome = (self.state(me), self.result(me).0);
        if self.model.closes_ring(me, owner) {
            assert_eq!(outcome, (State::Ready, Err(Error::SelfSend)), "{me} closes a ring");
            return self.met("ring");
        }
        match outcome {
            (State::Ready, Err(Error::TooDeep)) => return self.met("too deep"),
            (State::Ready, Err(Error::Timeout)) => {
                assert!(until.is_some_and(|until| until <= self.board.host.now()));
                return;
            }
            _ => assert_eq!(outcome.0, State::Waiting, "{me} waits for {owner}"),
        }
        let priority = self.model.effective()[&me];
        self.until.insert(me, until.unwrap_or(u64::MAX));
        self.model.mutexes[mutex].waiters.push((priority, me));
        self.model.requeue();
        self.met("wait");
        if self.model.awaited(owner).is_some() {
            self.met("chain");
        }
    }

    fn unlocks(&mut self, me: Id) {
        let mutex = self.rng.below(MUTEXES as u64) as usize;
        let owns = self.model.mutexes[mutex].owner == Some(me);
        if !self.calls(me, wake(mutex)) {
            return;
        }
        if !owns {
            return assert_eq!(self.result(me).0, Err(Error::WrongState), "{me} owns {mutex}");
        }
        assert_eq!(self.result(me).0, Ok(()));
        if let Some(heir) = self.model.hands_over(mutex) {
            assert_eq!((self.state(heir), self.result(heir)), (State::Ready, (Ok(()), 0)));
            self.met("handover");
        }
    }

    fn sets_priority(&mut self, me: Id, thread: Id) {
        let priority = 15 + self.rng.below(20);
        let call = system(Call::ThreadPriority, &[THREAD + u64::from(thread), priority]);
        if self.calls(me, call) {
            let before = self.model.effective();
            self.model.own.insert(thread, priority as i16);
            self.model.requeue();
            let waits = self.model.awaited(thread).is_some();
            if waits && self.model.effective()[&thread] != before[&thread] {
                self.met("a waiter's priority");
            }
        }
    }

    /// A thread that is cancelled, or ends. The keeper does it.
    fn disturbs(&mut self, thread: Id) {
        let slot = THREAD + u64::from(thread);
        if self.rng.once_in(8) {
            let owned = |mutex: &usize| self.model.mutexes[*mutex].owner == Some(thread);
            let owned: Vec<usize> = (0..MUTEXES).filter(owned).collect();
            while !self.calls(KEEPER, system(Call::Destroy, &[slot])) {
                self.wakes_keeper();
            }
            self.model.leaves(thread);
            for mutex in owned {
                if let Some(heir) = self.model.hands_over(mutex) {
                    assert_eq!(self.result(heir), (Ok(()), OWNER_DIED), "{heir} inherits");
                    self.met("inherited from the dead");
                }
            }
            self.model.own.remove(&thread);
            return;
        }
        let cancel = [slot, 0, 0, 0, 0, exchange::CANCEL];
        let (suspend, resume) = (Call::ThreadSuspend, Call::ThreadResume);
        self.board.call(system(suspend, &[slot]));
        self.board.call(system(Call::ThreadExchange, &cancel));
        self.model.leaves(thread);
        self.board.call(system(resume, &[slot]));
    }

    /// Others sleep until the keeper runs.
    fn wakes_keeper(&mut self) {
        while let Some(thread) = self.board.running().filter(|thread| *thread != KEEPER) {
            self.sleeps(thread);
        }
    }

    fn sleeps(&mut self, thread: Id) {
        let until = self.board.host.now() + 1 + self.rng.below(6_000_000);
        let nothing = NOTHING.into();
        self.calls(thread, timed(nothing, nothing, Info(0), Timeout::At, until));
    }

    /// Compares states, words and priorities, and checks all invariants.
    fn check(&mut self) {
        for (thread, priority) in self.model.effective() {
            assert_eq!(effective(&self.board, thread), priority, "the priority of {thread}");
            let waits = self.state(thread) == State::Waiting;
            assert_eq!(waits, self.model.awaited(thread).is_some(), "{thread} waits");
            let height = self.model.height(thread);
            assert!(height <= LINKS, "a chain of {height}");
            if height >= 3 && waits {
                self.met("a chain of five");
            }
        }
        for (mutex, model) in self.model.mutexes.iter().enumerate() {
            let pair = self.board.read(1, MUTEX + mutex);
            let Some(owner) = model.owner else { continue };
            assert_eq!(pair as u32 & !WAITERS, id(&self.board, owner), "the owner of {mutex}");
            let named =
                model.waiters.iter().any(|(_, at)| id(&self.board, *at) == (pair >> 32) as u32);
            assert_eq!(named, pair >> 32 != 0, "words that name a waiter of {mutex}");
            assert_eq!(named, !model.waiters.is_empty(), "words of {mutex}");
        }
        self.board.check_core();
    }

    fn step(&mut self) {
        self.takes_interrupts();
        let Some(me) = self.board.running() else { return self.board.host.advance(500_000) };
        if self.board.regs.get().again {
            self.board.call(self.board.regs.get());
            return;
        }
        let live: Vec<Id> = (2..=THREADS)
            .filter(|thread| reference(&self.board, *thread).life() == Life::Live)
            .collect();
        let Some(other) = (!live.is_empty()).then(|| self.rng.pick(&live)) else { return };
        match self.rng.below(16) {
            0..2 if me == KEEPER => self.disturbs(other),
            2..4 if me == KEEPER => self.sets_priority(me, other),
            _ if me == KEEPER => self.board.host.advance(self.rng.below(1_000_000)),
            0..7 => self.locks(me),
            7..9 => self.unlocks(me),
            9 => self.sets_priority(me, other),
            _ => self.sleeps(me),
        }
        self.check();
    }
}

fn run<S: System<Port = Host>>(seed: u64, count: u64, reach: &mut Reach) {
    let told = Seed::of(seed);
    let mut run = Run::<S>::new(seed, reach);
    for action in 0..count {
        told.at(action);
        run.step();
    }
}

#[test]
fn effective_priorities() {
    let mut reach = Reach::default();
    for seed in seeds(0..60) {
        run::<DirectLazy<Host>>(0x9100_0000 + seed, steps(700), &mut reach);
        run::<Fastpath<Host>>(0x9200_0000 + seed, steps(300), &mut reach);
        run::<StrictEager<Host>>(0x9300_0000 + seed, steps(300), &mut reach);
    }
    if INTERPRETED {
        return;
    }
    for what in [
        "wait",
        "chain",
        "a chain of five",
        "ring",
        "handover",
        "timeout",
        "a dead owner",
        "inherited from the dead",
        "a waiter's priority",
    ] {
        let times = reach.get(what).copied().unwrap_or(0);
        assert!(times >= 20, "{what}: {times} times; all: {reach:#?}");
    }
}

/// Words that are written over at any moment: all invariants hold.
#[test]
fn hostile_words() {
    for seed in seeds(0..24) {
        let (mut reach, rng) = (Reach::default(), Rng::new(!seed));
        let run = Run::<DirectLazy<Host>>::new(0x9400_0000 + seed, &mut reach);
        for _ in 0..steps(800) {
            while let Some(event) = run.board.host.waiting() {
                run.board.take(event);
            }
            let Some(me) = run.board.running() else {
                run.board.host.advance(500_000);
                continue;
            };
            let mutex = rng.below(MUTEXES as u64) as usize;
            if rng.once_in(6) {
                let any = id(&run.board, 1 + rng.below(THREADS.into()) as Id);
                let pair = rng.pick(&[0, u64::from(any), u64::from(any | WAITERS), rng.next()]);
                run.board.write(1, MUTEX + mutex, pair | rng.pick(&[0, u64::from(any) << 32]));
            }
            let until = run.board.host.now() + 1 + rng.below(4_000_000);
            let expected = run.board.read(1, MUTEX + mutex) as u32 | WAITERS;
            let slot = THREAD + 1 + rng.below(THREADS.into());
            let regs = match rng.below(12) {
                0..5 if me != KEEPER => wait(mutex, expected, Some(until)),
                5..8 => wake(mutex),
                8 => system(Call::ThreadPriority, &[slot, 15 + rng.below(20)]),
                9 if slot != THREAD + 1 && rng.once_in(8) => system(Call::Destroy, &[slot]),
                _ if me == KEEPER => {
                    run.board.host.advance(300_000);
                    wake(mutex)
                }
                _ => timed(NOTHING.into(), NOTHING.into(), Info(0), Timeout::At, until),
            };
            run.board.call(regs);
            run.board.check_core();
        }
    }
}
