//! Random clients and servers, against a plain model. What threads wait for is read from their
//! states; who lends is decided, and each effective priority computed, from scratch.

use super::{MUTEX, address, effective, id, mark, reference, wait, wake};
use crate::support::board::Board;
use crate::support::context::Regs;
use crate::support::effort::{INTERPRETED, seeds, steps};
use crate::support::host::Host;
use crate::support::rng::Rng;
use crate::support::scene::{ENDPOINT, FREE, THREAD, boot, system, timed};
use crate::support::seed::Seed;
use abi::call::{Call, NOTHING, REPLY, Timeout, exchange};
use abi::futex::WAITERS;
use abi::{Error, Info};
use kernel::access::Life;
use kernel::object::thread::{State, Wait, flag};
use kernel::port::Port;
use kernel::system::{DirectLazy, Fastpath, IpcHeap, StrictEager, System};
use std::collections::{BTreeMap, BTreeSet};

type Id = u32;

/// Threads, with the keeper, which is the lowest and never waits; those of the first domain use
/// mutexes.
const THREADS: Id = 10;
const KEEPER: Id = 1;
const WITH_MUTEXES: Id = 6;
const MUTEXES: usize = 3;
const ENDPOINTS: usize = 3;

/// How often what came about.
type Reach = BTreeMap<&'static str, u64>;

/// What a thread waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Awaited {
    Mutex(usize),
    Queue(usize),
    /// The answer of this thread, which may have saved the right.
    Reply(Id),
}

/// Who waits for what, and which of those that wait in messages lend.
#[derive(Clone, Debug, Default)]
struct Model {
    own: BTreeMap<Id, i16>,
    waits: BTreeMap<Id, Awaited>,
    owners: [Option<Id>; MUTEXES],
    lends: BTreeSet<Id>,
    servers: [BTreeSet<Id>; ENDPOINTS],
    /// The servers that those in an endpoint's queue lend to, while there are such.
    lent_to: [BTreeSet<Id>; ENDPOINTS],
}

impl Model {
    /// The threads that one lends its priority to.
    fn next(&self, from: Id) -> Vec<Id> {
        match self.waits.get(&from) {
            Some(Awaited::Mutex(at)) => self.owners[*at].into_iter().collect(),
            Some(Awaited::Queue(at)) if self.lends.contains(&from) => {
                self.lent_to[*at].iter().copied().collect()
            }
            Some(Awaited::Reply(to)) if self.lends.contains(&from) => vec![*to],
            _ => Vec::new(),
        }
    }

    /// Whether waits lead from a thread to another one.
    fn leads_to(&self, from: Id, to: Id) -> bool {
        from == to || self.next(from).into_iter().any(|next| self.leads_to(next, to))
    }

    /// The links of the longest chain that ends at a thread.
    fn height(&self, at: Id) -> usize {
        let lenders = self.waits.keys().filter(|from| self.next(**from).contains(&at));
        lenders.map(|from| self.height(*from) + 1).max().unwrap_or(0)
    }

    /// Whether a thread may wait for these in a message.
    fn fits(&self, me: Id, to: &BTreeSet<Id>) -> bool {
        !to.is_empty() && !to.iter().any(|to| self.leads_to(*to, me))
    }

    fn effective(&self) -> BTreeMap<Id, i16> {
        let mut all = self.own.clone();
        loop {
            let before = all.clone();
            for from in self.waits.keys() {
                for to in self.next(*from) {
                    let lent = all[from];
                    let priority = all.get_mut(&to).expect("what is lent to lives");
                    *priority = lent.max(*priority);
                }
            }
            if before == all {
                return all;
            }
        }
    }

    /// Endpoints whose queues lend from now on, or no longer.
    fn settle(&mut self) {
        for at in 0..ENDPOINTS {
            let mut lenders = self.lends.iter().filter_map(|thread| self.waits.get(thread));
            if !lenders.any(|on| *on == Awaited::Queue(at)) {
                self.lent_to[at].clear();
            }
        }
    }

    /// Whether any of those that are queued lends.
    fn lends_from(&self, at: usize) -> bool {
        self.lends.iter().any(|thread| self.waits.get(thread) == Some(&Awaited::Queue(at)))
    }
}

struct Run<'a, S: System<Port = Host>> {
    board: Board<S>,
    model: Model,
    /// Who has saved the right to answer a caller.
    savers: BTreeMap<Id, Id>,
    rng: Rng,
    reach: &'a mut Reach,
}

impl<'a, S: System<Port = Host>> Run<'a, S> {
    fn new(seed: u64, reach: &'a mut Reach) -> Self {
        let rng = Rng::new(seed);
        let priority = |thread| if thread == KEEPER { 1 } else { 20 + rng.below(8) as u8 };
        let domain = |thread| if thread <= WITH_MUTEXES { 1 } else { 1 + thread % 2 };
        let threads: Vec<(u32, u8)> = (1..=THREADS).map(|at| (domain(at), priority(at))).collect();
        let own = (1..).zip(&threads).map(|(thread, (_, own))| (thread, (*own).into())).collect();
        let model = Model { own, ..Model::default() };
        Run { board: boot(&threads), model, savers: BTreeMap::new(), rng, reach }
    }

    fn met(&mut self, what: &'static str) {
        *self.reach.entry(what).or_default() += 1;
    }

    fn lives(&self, thread: Id) -> bool {
        reference(&self.board, thread).life() == Life::Live
    }

    /// What a thread waits for, by its state.
    fn awaited(&self, thread: Id) -> Option<Awaited> {
        let body = self.board.thread(thread);
        match (body.state.get(), body.wait.get()) {
            (State::Sending, Wait::Endpoint(at)) => Some(Awaited::Queue(at.index() as usize)),
            (State::Calling, _) => {
                let server = body.server.get().map(|server| server.index());
                server.or_else(|| self.savers.get(&thread).copied()).map(Awaited::Reply)
            }
            (State::Waiting, _) => {
                let at = body.context.regs.get().args[0];
                (0..MUTEXES).find(|mutex| address(*mutex) == at).map(Awaited::Mutex)
            }
            _ => None,
        }
    }

    fn owner(&self, mutex: usize) -> Option<Id> {
        let word = self.board.read(1, MUTEX + mutex) as u32 & !WAITERS;
        (2..=WITH_MUTEXES).find(|at| self.lives(*at) && id(&self.board, *at) == word)
    }

    /// One entry into the kernel is over: who waits now, who lends, and is all as it follows.
    fn judge(&mut self) {
        let before = self.model.clone();
        self.savers.retain(|caller, _| {
            let body = self.board.thread(*caller);
            body.state.get() == State::Calling && body.server.get().is_none()
        });
        let lives: BTreeSet<Id> = (1..=THREADS).filter(|thread| self.lives(*thread)).collect();
        self.savers.retain(|_, saver| lives.contains(saver));
        self.model.own.retain(|thread, _| lives.contains(thread));
        let both = self.model.servers.iter_mut().chain(&mut self.model.lent_to);
        both.for_each(|servers| servers.retain(|thread| lives.contains(thread)));
        let waits = lives.iter().filter_map(|thread| Some((*thread, self.awaited(*thread)?)));
        self.model.waits = waits.collect();
        self.model.owners = core::array::from_fn(|mutex| self.owner(mutex));
        let waits = self.model.waits.clone();
        let same = |thread: &Id| {
            let now = waits.get(thread);
            now.is_some() && now == before.waits.get(thread)
        };
        let cut = |thread: &Id| same(thread) && !self.board.thread(*thread).has(flag::LENDS);
        let (ended, kept): (Vec<Id>, Vec<Id>) =
            before.lends.iter().copied().filter(same).partition(cut);
        self.only_the_first_is_passed_over(&before, &ended);
        self.model.lends = kept.into_iter().collect();
        self.model.settle();
        // A sender of whose wait the other end has changed is a new one.
        let new: Vec<Id> = lives.iter().copied().filter(|thread| !same(thread)).collect();
        for thread in new {
            self.begins(thread);
        }
        let justified = ended.iter().filter(|thread| !self.may_lend(**thread)).count();
        assert!(ended.is_empty() || justified > 0, "{ended:?} do not lend any more");
        if justified > 0 {
            self.met("passed over for a mutex");
        }
        self.compare();
    }

    /// A thread that has begun to wait for a mutex ends no wait in a message but the first one
    /// along its chain: the others may be other clients'.
    fn only_the_first_is_passed_over(&mut self, before: &Model, ended: &[Id]) {
        let waits = self.model.waits.iter();
        let mut new = waits.filter(|(thread, on)| before.waits.get(thread) != Some(*on));
        let Some((_, Awaited::Mutex(mutex))) = new.find(|(_, on)| matches!(on, Awaited::Mutex(_)))
        else {
            return;
        };
        let mut first = before.owners[*mutex];
        while let Some(Awaited::Mutex(next)) = first.and_then(|at| before.waits.get(&at)) {
            first = before.owners[*next];
        }
        assert!(ended.iter().all(|thread| Some(*thread) == first), "{ended:?}, not {first:?}");
        if first.is_some_and(|first| !before.next(first).is_empty()) && !ended.is_empty() {
            self.met("the first of a chain");
        }
    }

    /// Whether a thread that waits in a message, and does not lend, might do so.
    fn may_lend(&self, thread: Id) -> bool {
        let model = &self.model;
        match model.waits[&thread] {
            Awaited::Mutex(_) => false,
            Awaited::Reply(to) => model.fits(thread, &[to].into()),
            Awaited::Queue(at) => model.fits(thread, &model.servers[at]),
        }
    }

    /// A thread has begun to wait.
    fn begins(&mut self, thread: Id) {
        let (to, what) = match self.model.waits.get(&thread) {
            Some(Awaited::Queue(at)) => (self.model.servers[*at].clone(), "a queued sender lends"),
            Some(Awaited::Reply(to)) if self.serves(*to) => ([*to].into(), "a caller lends"),
            _ => return,
        };
        if self.may_lend(thread) {
            if let Some(Awaited::Queue(at)) = self.model.waits.get(&thread)
                && !self.model.lends_from(*at)
            {
                self.model.lent_to[*at] = to;
            }
            self.model.lends.insert(thread);
            self.met(what);
        } else if !to.is_empty() {
            self.met("passed over");
        }
    }

    fn serves(&self, thread: Id) -> bool {
        self.model.servers.iter().any(|servers| servers.contains(&thread))
    }

    fn compare(&mut self) {
        let effective_now = self.model.effective();
        // A thread above all that has changed runs before the others follow that.
        let followed = !self.board.machine.kernel.waits.has_followers();
        for thread in self.model.own.keys() {
            let lends = self.board.thread(*thread).has(flag::LENDS);
            assert_eq!(lends, self.model.lends.contains(thread), "{thread} lends");
            let priority = effective(&self.board, *thread);
            let is_right = priority == effective_now[thread];
            assert!(is_right || !followed, "the priority of {thread} is {priority}");
        }
        if (2..=THREADS)
            .any(|thread| self.model.own.contains_key(&thread) && self.model.height(thread) >= 3)
        {
            self.met("a chain of three");
        }
        self.board.check_core();
    }

    /// The running thread makes a call, and what follows happens, entry by entry.
    fn calls(&mut self, regs: Regs) {
        self.board.call(regs);
        self.judge();
        while self.board.step() {
            self.judge();
        }
    }

    fn until(&self) -> u64 {
        self.board.host.now() + 1 + self.rng.below(5_000_000)
    }

    fn message(&mut self, me: Id) {
        let any = |run: &Self| ENDPOINT + run.rng.below(ENDPOINTS as u64);
        let (nothing, reply) = (u64::from(NOTHING), u64::from(REPLY));
        let owes = self.board.thread(me).caller.get().is_some();
        let saved = FREE + u64::from(me);
        let (send, receive) = match self.rng.below(if owes { 12 } else { 8 }) {
            0..4 => (any(self), reply),
            4 => (any(self), nothing),
            5..7 => (nothing, any(self)),
            7 => (saved, any(self)),
            8..10 => (reply, any(self)),
            10 => (reply, nothing),
            _ => return self.saves(me, saved),
        };
        self.calls(timed(send, receive, Info(0), Timeout::At, self.until()));
    }

    fn saves(&mut self, me: Id, slot: u64) {
        let caller = self.board.thread(me).caller.get().map(|caller| caller.index());
        self.board.call(system(Call::CapDelete, &[slot]));
        self.judge();
        if self.board.running() != Some(me) || self.board.thread(me).caller.get().is_none() {
            return;
        }
        self.board.call(system(Call::CapSaveReply, &[slot]));
        if let Some(caller) = caller {
            let saved = self.board.thread(caller).server.get().is_none();
            saved.then(|| self.savers.insert(caller, me));
            self.met("saved");
        }
        self.judge();
    }

    fn sets_serving(&mut self, me: Id) {
        let (at, serves) = (self.rng.below(ENDPOINTS as u64) as usize, !self.rng.once_in(4));
        self.board.call(system(Call::Serve, &[ENDPOINT + at as u64, serves.into()]));
        if self.board.thread(me).context.regs.get().again {
            return self.judge();
        }
        let result = self.board.thread(me).context.regs.get().status().result();
        let known = self.model.servers[at].contains(&me);
        let expected = match (serves, known) {
            (true, true) => Err(Error::HelpsAlready),
            (false, false) => Err(Error::NoHelper),
            (true, false) if self.model.servers[at].len() == 4 => Err(Error::TooManyHelpers),
            _ => Ok(()),
        };
        assert_eq!(result, expected, "{me} serves {at}: {serves}");
        if result.is_ok() && serves {
            self.model.servers[at].insert(me);
            if self.model.lends_from(at) {
                self.model.lent_to[at].insert(me);
                self.met("a server comes");
            }
        } else if result.is_ok() {
            self.model.servers[at].remove(&me);
            self.model.lent_to[at].remove(&me);
            self.met("a server goes");
        }
        self.judge();
    }

    fn locks(&mut self, me: Id) {
        let mutex = self.rng.below(MUTEXES as u64) as usize;
        if self.owner(mutex) == Some(me) {
            return self.calls(wake(mutex));
        }
        match mark(&self.board, me, mutex) {
            Some(expected) => {
                self.met("a mutex");
                self.calls(wait(mutex, expected, Some(self.until())));
            }
            None => self.judge(),
        }
    }

    /// The keeper cancels what a thread does, or ends it.
    fn disturbs(&mut self, other: Id) {
        let slot = THREAD + u64::from(other);
        if self.rng.once_in(12) {
            self.calls(system(Call::Destroy, &[slot]));
            return self.met("an end");
        }
        let cancel = [slot, 0, 0, 0, 0, exchange::CANCEL];
        for call in [
            system(Call::ThreadSuspend, &[slot]),
            system(Call::ThreadExchange, &cancel),
            system(Call::ThreadResume, &[slot]),
        ] {
            if self.board.running() == Some(KEEPER) {
                self.calls(call);
            }
        }
    }

    fn step(&mut self) {
        while self.board.step() {
            self.judge();
        }
        let Some(me) = self.board.running() else { return self.board.host.advance(300_000) };
        let other = 2 + self.rng.below(u64::from(THREADS) - 1) as Id;
        let sleep = timed(NOTHING.into(), NOTHING.into(), Info(0), Timeout::At, self.until());
        match self.rng.below(20) {
            0 if me == KEEPER => self.disturbs(other),
            _ if me == KEEPER => self.board.host.advance(self.rng.below(800_000)),
            0..12 => self.message(me),
            12..14 => self.sets_serving(me),
            14..17 if me <= WITH_MUTEXES => self.locks(me),
            17 if self.lives(other) => {
                let priority = 15 + self.rng.below(20);
                self.model.own.insert(other, priority as i16);
                let set = [THREAD + u64::from(other), priority];
                self.calls_until_done(me, system(Call::ThreadPriority, &set));
            }
            _ => self.calls(sleep),
        }
    }

    /// A call that changes what the model knows at once: its first attempts change nothing.
    fn calls_until_done(&mut self, me: Id, regs: Regs) {
        self.board.host.noise_once_in.set(0);
        self.board.call(regs);
        while self.board.thread(me).context.regs.get().again && self.board.running() == Some(me) {
            self.board.call(self.board.regs.get());
        }
        self.judge();
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
fn priorities_follow_messages() {
    let mut reach = Reach::default();
    for seed in seeds(0..60) {
        run::<DirectLazy<Host>>(0xa100_0000 + seed, steps(500), &mut reach);
        run::<Fastpath<Host>>(0xa200_0000 + seed, steps(500), &mut reach);
        run::<StrictEager<Host>>(0xa300_0000 + seed, steps(300), &mut reach);
        run::<IpcHeap<Host>>(0xa400_0000 + seed, steps(300), &mut reach);
    }
    if INTERPRETED {
        return;
    }
    for what in [
        "a queued sender lends",
        "a caller lends",
        "passed over",
        "passed over for a mutex",
        "the first of a chain",
        "saved",
        "a server comes",
        "a server goes",
        "a mutex",
        "a chain of three",
        "an end",
    ] {
        let times = reach.get(what).copied().unwrap_or(0);
        assert!(times >= 20, "{what}: {times} times; all: {reach:#?}");
    }
}
