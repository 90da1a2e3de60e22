//! Random programs, against a model that searches all and computes each priority from scratch.

use super::model::{Id, Model, Place, Waiter};
use super::{MUTEX, cond_wait, effective, id, mark, notify, reference, tell, wait, wake};
use crate::support::board::Board;
use crate::support::context::Regs;
use crate::support::effort::{INTERPRETED, seeds, steps};
use crate::support::host::Host;
use crate::support::rng::Rng;
use crate::support::scene::{THREAD, boot, system, timed};
use crate::support::seed::Seed;
use abi::call::{Call, NOTHING, Timeout, exchange};
use abi::futex::{HELPERS, OWNER_DIED, WAITERS};
use abi::reservation::Inheritance;
use abi::{Error, Info};
use kernel::access::Life;
use kernel::object::thread::State;
use kernel::port::Port;
use kernel::sched::Scheduler;
use kernel::system::{DirectLazy, Fastpath, StrictEager, System, Tree};
use std::collections::BTreeMap;

mod passing;

/// Mutexes that programs use.
const MUTEXES: usize = 5;
/// Conditions, each with the mutex of that number.
const CONDITIONS: usize = 3;
/// The thread that never waits, is never ended, and lets all others go on: the lowest.
const KEEPER: Id = 1;
/// Threads, with the keeper.
const THREADS: u32 = 11;
/// The lowest and the highest priority of the others at first.
const PRIORITIES: [u64; 2] = [20, 27];

/// How often what came about.
type Reach = BTreeMap<&'static str, u64>;

struct Run<'a, S: System<Port = Host>> {
    board: Board<S>,
    model: Model,
    /// Deadlines of those that wait.
    until: BTreeMap<Id, u64>,
    /// The condition that a thread is about to wait for, and its first word.
    next: BTreeMap<Id, (usize, u32)>,
    /// Helpers of each condition, as programs know them.
    helpers: Vec<Vec<Id>>,
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
        let place = |index| Place { is_condition: index >= MUTEXES, ..Place::default() };
        let places = (0..MUTEXES + CONDITIONS).map(place).collect();
        let model = Model { places, own, action: 0 };
        let (until, next) = (BTreeMap::new(), BTreeMap::new());
        let helpers = vec![Vec::new(); CONDITIONS];
        Run { board: boot(&threads), model, until, next, helpers, rng, reach }
    }

    fn met(&mut self, what: &'static str) {
        *self.reach.entry(what).or_default() += 1;
    }

    fn state(&self, thread: Id) -> State {
        self.board.thread(thread).state.get()
    }

    fn word(&self, place: usize) -> u64 {
        self.board.read(1, MUTEX + place)
    }

    /// The kernel has changed what it says of one condition alone, or of many.
    fn settles(&mut self, changed: Option<usize>) {
        for place in MUTEXES..MUTEXES + CONDITIONS {
            self.learns(place, changed == Some(place));
        }
        self.model.requeue();
    }

    /// A thread has stopped waiting.
    fn leaves(&mut self, thread: Id) {
        let place = self.model.awaited(thread);
        self.model.leaves(thread);
        self.settles(place);
    }

    /// Interrupts, and the timeouts that they bring.
    fn takes_interrupts(&mut self) {
        while let Some(event) = self.board.host.waiting() {
            self.board.take(event);
            let mut ended: Vec<Id> = self.model.own.keys().copied().collect();
            ended.retain(|thread| {
                self.state(*thread) == State::Ready && self.model.awaited(*thread).is_some()
            });
            for thread in &ended {
                let status = self.board.thread(*thread).context.regs.get().status();
                assert_eq!(status.result(), Err(Error::Timeout), "the status of {thread}");
                assert!(self.until[thread] <= self.board.host.now(), "{thread} timed out early");
                self.model.leaves(*thread);
                self.met("timeout");
            }
            self.forgets_what_is_passed_over();
            self.settles(None);
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
                self.gives_up(me);
                return false;
            }
            self.board.call(self.board.regs.get());
        }
        true
    }

    /// A thread is not to issue its call again.
    fn gives_up(&self, me: Id) {
        self.board.thread(me).context.regs.set(Regs::call(Call::Null as u64, &[]));
    }

    fn result(&self, thread: Id) -> (Result<(), Error>, u64) {
        let regs = self.board.thread(thread).context.regs.get();
        (regs.status().result(), regs.badge())
    }

    fn some_time(&self) -> Option<u64> {
        let until = self.board.host.now() + 1 + self.rng.below(4_000_000);
        (!self.rng.once_in(3)).then_some(until)
    }

    fn locks(&mut self, me: Id) {
        let mutex = self.rng.below(MUTEXES as u64) as usize;
        let until = self.some_time();
        let Some(expected) = mark(&self.board, me, mutex) else {
            assert!(self.model.places[mutex].owner().is_none(), "a mutex is free");
            self.model.places[mutex].to = vec![(me, true)];
            return;
        };
        if !self.calls(me, wait(mutex, expected, until)) {
            return;
        }
        let Some(owner) = self.model.places[mutex].owner() else {
            assert_eq!(self.result(me), (Ok(()), OWNER_DIED), "{me} comes to a dead owner's");
            self.model.places[mutex].to = vec![(me, true)];
            return self.met("a dead owner");
        };
        let outcome = (self.state(me), self.result(me).0);
        if self.model.leads_to(owner, Some(me), None) {
            assert_eq!(outcome, (State::Ready, Err(Error::Deadlock)), "{me} closes a ring");
            return self.met("ring");
        }
        if !self.has_blocked(me, until) {
            return;
        }
        self.model.waits(me, mutex);
        self.settles(None);
        self.met("wait");
        if self.model.awaited(owner).is_some() {
            self.met("chain");
        }
    }

    /// Whether a thread has come to wait until an instant, which may have passed before.
    fn has_blocked(&mut self, me: Id, until: Option<u64>) -> bool {
        if (self.state(me), self.result(me).0) == (State::Ready, Err(Error::Timeout)) {
            assert!(until.is_some_and(|until| until <= self.board.host.now()));
            return false;
        }
        assert_eq!(self.state(me), State::Waiting, "{me} waits");
        self.until.insert(me, until.unwrap_or(u64::MAX));
        true
    }

    /// The mutex of a number has gone to another owner by its words.
    fn heir(&self, mutex: usize) -> Option<Id> {
        let owner = self.word(mutex) as u32 & !WAITERS;
        self.model.own.keys().copied().find(|thread| id(&self.board, *thread) == owner)
    }

    fn unlocks(&mut self, me: Id, mutex: usize) {
        let owns = self.model.places[mutex].owner() == Some(me);
        if !self.calls(me, wake(mutex)) {
            return;
        }
        if !owns {
            return assert_eq!(self.result(me).0, Err(Error::WrongState), "{me} owns {mutex}");
        }
        assert_eq!(self.result(me).0, Ok(()));
        self.passes_on(mutex, 0, None);
    }

    /// A mutex goes to its first waiter, which sees this result, or is free. It may be the first
    /// one by what was before, too.
    fn passes_on(&mut self, mutex: usize, result: u64, before: Option<&Model>) {
        let heir = match self.model.places[mutex].waiters.is_empty() {
            true => None,
            false => Some(self.heir(mutex).expect("it goes to one that lives")),
        };
        if let Some(heir) = heir {
            let first = |model: &Model| model.may_be_first(mutex, heir);
            let is_first = first(&self.model) || before.is_some_and(first);
            assert!(is_first, "{heir} has waited longest for {mutex}");
            assert_eq!((self.state(heir), self.result(heir)), (State::Ready, (Ok(()), result)));
            self.met(if result == 0 { "handover" } else { "inherited from the dead" });
        }
        self.model.hands_over(mutex, heir);
        self.settles(None);
    }

    /// A condition, mostly one whose mutex the thread owns.
    fn condition_of(&self, me: Id) -> usize {
        let owns = |condition: &usize| self.model.places[*condition].owner() == Some(me);
        let any = self.rng.below(CONDITIONS as u64) as usize;
        let owned = (0..CONDITIONS).map(|index| (index + any) % CONDITIONS).find(owns);
        if self.rng.once_in(8) { any } else { owned.unwrap_or(any) }
    }

    /// A thread is about to wait for a condition: it gives its mutex up.
    fn begins_to_wait(&mut self, me: Id) {
        let condition = self.condition_of(me);
        let seen = self.word(MUTEXES + condition) as u32;
        if self.model.places[condition].owner() == Some(me) {
            self.next.insert(me, (condition, seen));
            self.unlocks(me, condition);
        }
    }

    fn waits_for_condition(&mut self, me: Id, (condition, seen): (usize, u32)) {
        let (place, until) = (MUTEXES + condition, self.some_time());
        let mut named: Vec<Id> = self.helpers[condition].clone();
        let mut ids: Vec<u32> = named.iter().map(|thread| id(&self.board, *thread)).collect();
        // A free place may hold what is none, or one that is there already.
        if ids.len() < HELPERS && self.rng.once_in(3) {
            ids.push(self.rng.pick(&[0, 7, ids.first().copied().unwrap_or(0)]));
        }
        ids.resize(HELPERS, 0);
        let ids = ids.try_into().expect("so many");
        if !self.calls(me, cond_wait(place, seen, condition, until, ids)) {
            return;
        }
        if self.word(place) as u32 != seen {
            assert_eq!(self.result(me).0, Err(Error::Changed), "{me} is woken before it waits");
            return self.met("a wake-up before the wait");
        }
        let helpers = &self.model.places[place];
        if !helpers.waiters.is_empty() {
            named = helpers.to.iter().map(|(to, _)| *to).collect();
        }
        let apart = |to: &Id| !self.model.leads_to(*to, Some(me), Some(place));
        let lent = named.iter().map(|to| (*to, apart(to))).collect();
        if !self.has_blocked(me, until) {
            return;
        }
        self.model.places[place].to = lent;
        self.model.waits(me, place);
        self.settles(None);
        self.met("wait for a condition");
        let waits = |to: &(Id, bool)| to.1 && self.model.awaited(to.0).is_some();
        if self.model.places[place].to.iter().any(waits) {
            self.met("a chain through a condition");
        }
    }

    fn notifies(&mut self, me: Id) {
        let condition = self.condition_of(me);
        let (place, all) = (MUTEXES + condition, self.rng.once_in(3));
        let waiting = |run: &Self| !run.model.places[place].waiters.is_empty();
        if self.model.places[condition].owner() != Some(me) {
            let waited = waiting(self);
            if self.calls(me, notify(place, all)) {
                let expected = if waited { Err(Error::WrongState) } else { Ok(()) };
                assert_eq!(self.result(me).0, expected, "{me} wakes");
            }
            return;
        }
        let word = self.word(place);
        let woken = word >> 32 << 32 | u64::from((word as u32).wrapping_add(1));
        self.board.write(1, MUTEX + place, woken);
        self.board.host.noise_once_in.set(self.rng.pick(&[0, 2]));
        self.board.call(notify(place, all));
        loop {
            self.moves(me, (condition, place));
            if !self.board.thread(me).context.regs.get().again {
                break;
            }
            self.met("a wake-up is interrupted");
            self.takes_interrupts();
            if self.board.running() != Some(me) {
                self.gives_up(me);
                return self.board.host.noise_once_in.set(0);
            }
            self.board.call(self.board.regs.get());
        }
        self.board.host.noise_once_in.set(0);
        assert_eq!(self.result(me).0, Ok(()));
        assert!(!all || !waiting(self), "all are woken");
        self.met(if all { "all are woken" } else { "one is woken" });
    }

    /// Waiters of a condition have moved to its mutex, which `me` owns: the most urgent ones.
    fn moves(&mut self, me: Id, (mutex, place): (usize, usize)) {
        let before = self.model.effective()[&me];
        let mut last = None;
        loop {
            let waiters = self.model.places[place].waiters.iter();
            let moved = waiters
                .filter(|waiter| self.is_at(waiter.thread, mutex))
                .find(|waiter| self.model.may_be_first(place, waiter.thread));
            let Some(Waiter { thread, key, since }) = moved.copied() else { break };
            self.model.leaves(thread);
            // Of those that came in one action any may have been the first.
            if last.replace((key, since)) != Some((key, since)) {
                self.model.action += 1;
            }
            self.model.waits(thread, mutex);
            // A helper may be lent to between two moves alone: it has lost its turn by that.
            self.model.lends_again(place);
            self.model.requeue();
            self.until.insert(thread, u64::MAX);
            self.met("moved");
        }
        self.forgets_what_is_passed_over();
        self.settles(None);
        let helped = self.model.effective()[&me];
        assert!(helped >= before, "{me} has less while it wakes others");
    }

    /// Whether a thread waits for this mutex.
    fn is_at(&self, thread: Id, mutex: usize) -> bool {
        let turnstile = self.board.thread(thread).inherit.waits.get();
        turnstile.is_some_and(|at| {
            let turnstile = &self.board.thread(at.index()).inherit.turnstile;
            !turnstile.is_condition() && turnstile.address.get() == super::address(mutex)
        })
    }

    fn changes_helpers(&mut self, me: Id, other: Id) {
        let condition = self.rng.below(CONDITIONS as u64) as usize;
        let (place, helps) = (MUTEXES + condition, !self.rng.once_in(3));
        let known = &self.model.places[place];
        let waited = !known.waiters.is_empty();
        let there = known.to.iter().any(|(to, _)| *to == other);
        let expected = match (waited, helps, there) {
            (false, ..) | (true, false, true) => Ok(()),
            (true, true, true) => Err(Error::HelpsAlready),
            (true, false, false) => Err(Error::NoHelper),
            (true, true, false) if known.to.len() == HELPERS => Err(Error::TooManyHelpers),
            (true, true, false) => Ok(()),
        };
        if !self.calls(me, tell(place, id(&self.board, other), helps)) {
            return;
        }
        assert_eq!(self.result(me).0, expected, "{other} helps {condition}: {helps}");
        if expected.is_err() {
            return self.met("a helper is refused");
        }
        let helpers = &mut self.helpers[condition];
        helpers.retain(|helper| *helper != other);
        if helps && helpers.len() < HELPERS {
            helpers.push(other);
        }
        if waited {
            let to = &mut self.model.places[place].to;
            to.retain(|(to, _)| *to != other);
            if helps {
                let lends = !self.model.leads_to(other, None, Some(place));
                self.model.places[place].to.push((other, lends));
            }
            self.settles(None);
            self.met(if helps { "a helper comes" } else { "a helper goes" });
        }
    }

    fn sets_priority(&mut self, me: Id, thread: Id) {
        let priority = 15 + self.rng.below(20);
        let call = system(Call::ThreadPriority, &[THREAD + u64::from(thread), priority]);
        if self.calls(me, call) {
            let before = self.model.effective();
            self.model.own.insert(thread, priority as i16);
            self.settles(None);
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
            return self.ends(thread, slot);
        }
        let cancel = [slot, 0, 0, 0, 0, exchange::CANCEL];
        let (suspend, resume) = (Call::ThreadSuspend, Call::ThreadResume);
        self.board.call(system(suspend, &[slot]));
        self.board.call(system(Call::ThreadExchange, &cancel));
        self.leaves(thread);
        self.board.call(system(resume, &[slot]));
    }

    fn ends(&mut self, thread: Id, slot: u64) {
        let owned = |mutex: &usize| self.model.places[*mutex].owner() == Some(thread);
        let owned: Vec<usize> = (0..MUTEXES).filter(owned).collect();
        while !self.calls(KEEPER, system(Call::Destroy, &[slot])) {
            self.wakes_keeper();
        }
        self.next.remove(&thread);
        self.model.leaves(thread);
        self.helpers.iter_mut().for_each(|helpers| helpers.retain(|helper| *helper != thread));
        for place in MUTEXES..MUTEXES + CONDITIONS {
            let helpers = &mut self.model.places[place].to;
            let before = helpers.len();
            helpers.retain(|(to, _)| *to != thread);
            if helpers.len() < before {
                self.met("a helper ends");
            }
        }
        // Helpers that were passed over are lent to again, before its mutexes go on or behind that.
        let before = Model { places: self.model.places.clone(), ..Model::default() };
        self.forgets_what_is_passed_over();
        self.model.requeue();
        for mutex in owned {
            self.passes_on(mutex, OWNER_DIED, Some(&before));
        }
        self.model.own.remove(&thread);
        self.settles(None);
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
        self.forgets_what_is_passed_over();
        self.model.requeue();
        // A thread above all that has changed runs before the others follow that.
        let followed = !self.board.machine.kernel.waits.has_followers();
        if !followed {
            self.met("a change is followed later");
        }
        for (thread, priority) in self.model.effective() {
            let is_right = effective(&self.board, thread) == priority;
            assert!(is_right || !followed, "the priority of {thread} is not {priority}");
            let waits = self.state(thread) == State::Waiting;
            assert_eq!(waits, self.model.awaited(thread).is_some(), "{thread} waits");
            let height = self.model.height(thread);
            if height >= 4 && waits {
                self.met("a chain of five");
            }
        }
        for (place, model) in self.model.places.iter().enumerate() {
            let pair = self.word(place);
            let mut waiters = model.waiters.iter().map(|waiter| waiter.thread);
            let named = waiters.any(|at| id(&self.board, at) == (pair >> 32) as u32);
            assert_eq!(named, !model.waiters.is_empty(), "words of {place}");
            let Some(owner) = model.owner() else { continue };
            assert_eq!(pair as u32 & !WAITERS, id(&self.board, owner), "the owner of {place}");
        }
        self.board.check_core();
    }

    fn step(&mut self) {
        self.model.action += 1;
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
        if let Some(next) = self.next.remove(&me) {
            self.waits_for_condition(me, next);
            return self.check();
        }
        let mutex = self.rng.below(MUTEXES as u64) as usize;
        match self.rng.below(22) {
            0..2 if me == KEEPER => self.disturbs(other),
            2..4 if me == KEEPER => self.sets_priority(me, other),
            _ if me == KEEPER => self.board.host.advance(self.rng.below(1_000_000)),
            0..7 => self.locks(me),
            7..9 => self.unlocks(me, mutex),
            9 => self.sets_priority(me, other),
            10..14 => self.begins_to_wait(me),
            14..16 => self.notifies(me),
            16..18 => self.changes_helpers(me, other),
            _ => self.sleeps(me),
        }
        self.check();
    }
}

fn run<S: System<Port = Host>>(seed: u64, count: u64, reach: &mut Reach) {
    let told = Seed::of(seed);
    let mut run = Run::<S>::new(seed, reach);
    if S::Scheduler::TREE {
        run.board.machine.kernel.trees.set_inheritance(Inheritance::Charged);
    }
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
        run::<Tree<Host>>(0x9400_0000 + seed, steps(300), &mut reach);
    }
    if INTERPRETED {
        return;
    }
    for what in [
        "wait",
        "chain",
        "a chain of five",
        "a change is followed later",
        "ring",
        "handover",
        "timeout",
        "a dead owner",
        "inherited from the dead",
        "a waiter's priority",
        "wait for a condition",
        "a chain through a condition",
        "a wake-up before the wait",
        "one is woken",
        "all are woken",
        "a wake-up is interrupted",
        "passed over",
        "lent to again",
        "a helper is refused",
        "a helper comes",
        "a helper goes",
        "a helper ends",
    ] {
        let times = reach.get(what).copied().unwrap_or(0);
        assert!(times >= 20, "{what}: {times} times; all: {reach:#?}");
    }
}

/// A helper that waits is passed over, lent to after the first move of a wake-up of all, and not
/// any more after the second.
#[test]
fn lent_to_between_two_moves() {
    run::<StrictEager<Host>>(0x9300_b3c2, steps(300), &mut Reach::default());
}
