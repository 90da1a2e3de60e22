//! Random programs, against the model.

use super::model::{Id, Model, Operation, Outcome, Queue, Realm};
use crate::support::board::Board;
use crate::support::context::Regs;
use crate::support::effort::{INTERPRETED, seeds, steps};
use crate::support::host::Host;
use crate::support::rng::Rng;
use crate::support::scene::{DOMAIN, FREE, MEMORY, THREAD, boot, system};
use crate::support::seed::Seed;
use abi::call::{Call, Timeout, exchange};
use abi::futex::{Scope, WAITERS, number};
use abi::{Error, PAGE};
use kernel::access::{Life, Ref};
use kernel::list::Ring;
use kernel::object::Thread;
use kernel::object::thread::{State, Waiting, flag};
use kernel::object::waiter::Kind;
use kernel::port::{Port, Space};
use kernel::system::{DirectLazy, Fastpath, StrictEager, System, Tree};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Relaxed;

/// Pairs of words that programs use, on both sides of nothing: the last ends a page.
const PAIRS: usize = 4;
/// Where each domain has them.
const AT: [u64; 2] = [0x1000_0000, 0x2000_0000];
/// The thread that never waits, and lets all others go on.
const KEEPER: Id = 2;
/// Threads by domain and priority.
const THREADS: [(u32, u8); 9] =
    [(1, 200), (1, 5), (1, 60), (1, 60), (1, 90), (2, 60), (2, 60), (2, 30), (1, 30)];

/// How often what came about.
#[derive(Debug, Default)]
struct Reach {
    outcomes: BTreeMap<String, u64>,
    kinds: BTreeSet<String>,
    longest: usize,
    timeouts: u64,
    steps: u64,
}

struct Run<'a, S: System<Port = Host>> {
    board: Board<S>,
    model: Model,
    rng: Rng,
    reach: &'a mut Reach,
    /// Deadlines of threads that wait, and priorities of all.
    until: BTreeMap<Id, u64>,
}

fn domain_of(thread: Id) -> u32 {
    THREADS[thread as usize - 1].0
}

/// The address of a pair in a domain. The last one ends the page.
fn address(domain: u32, pair: usize) -> u64 {
    let at = if pair + 1 == PAIRS { PAGE as usize - 8 } else { 64 * pair };
    AT[domain as usize - 1] + at as u64
}

impl<'a, S: System<Port = Host>> Run<'a, S> {
    fn new(seed: u64, reach: &'a mut Reach) -> Self {
        let board: Board<S> = boot(&THREADS);
        for (domain, at) in (0..).zip(AT) {
            let slot = (FREE + domain) | 3 << 32;
            board.succeeds(1, system(Call::Map, &[DOMAIN + domain, MEMORY, at, 1, 0, slot]));
        }
        let mut model = Model { words: vec![(0, 0); PAIRS], ..Model::default() };
        model.writers = vec![1, 2];
        let mut run = Run { board, model, rng: Rng::new(seed), reach, until: BTreeMap::default() };
        for (thread, (domain, _)) in (1..).zip(THREADS) {
            run.model.domains.insert(thread, domain);
            for realm in [Realm::Domain(domain), Realm::Shared] {
                let id = run.id(realm, thread);
                let other = run.model.ids.insert((realm, id), thread);
                assert!(other.is_none() && id & WAITERS == 0 && id != 0, "an id that is none");
            }
        }
        run
    }

    fn at(&self, thread: Id) -> Ref<Thread<Host>> {
        self.board.machine.kernel.threads.get(thread).expect("a thread of that index")
    }

    fn id(&self, realm: Realm, thread: Id) -> u32 {
        self.board.id(realm.scope(), thread)
    }

    /// Both words of a pair, as they are in memory.
    fn words(&self, pair: usize) -> [&'static AtomicU32; 2] {
        let (host, at) = (self.board.host, address(1, pair));
        let frame = self.board.domain(1).space.frame(host, at - at % PAGE).expect("it is mapped");
        [0, 4].map(|half| host.word(frame + at % PAGE + half))
    }

    fn set(&mut self, pair: usize, half: usize, value: u32) {
        self.words(pair)[half].store(value, Relaxed);
        let word = &mut self.model.words[pair];
        *(if half == 0 { &mut word.0 } else { &mut word.1 }) = value;
    }

    /// Someone writes what does not belong there.
    fn corrupt(&mut self) {
        let rng = &self.rng;
        let thread = 1 + rng.below(THREADS.len() as u64) as Id;
        let realm = [Realm::Shared, Realm::Domain(domain_of(thread))][rng.below(2) as usize];
        let value = match rng.below(8) {
            0 => 0,
            1 => rng.next() as u32,
            2 => WAITERS,
            3 => self.id(realm, thread) | WAITERS,
            4 => self.id(realm, thread) ^ 1 << rng.below(31),
            _ => self.id(realm, thread),
        };
        let (pair, half) = (rng.below(PAIRS as u64) as usize, rng.below(2) as usize);
        self.set(pair, half, value);
    }

    /// Someone writes what belongs there, for one of the queues that use a pair.
    fn repair(&mut self) {
        let pair = self.rng.below(PAIRS as u64) as usize;
        let heads: Vec<(Realm, Id)> = (self.model.queues.iter())
            .filter(|queue| queue.pair == pair)
            .map(|queue| (queue.realm, queue.members[0]))
            .collect();
        let id = match heads.is_empty() {
            true => 0,
            false => {
                let (realm, head) = self.rng.pick(&heads);
                self.id(realm, head)
            }
        };
        self.set(pair, 1, id);
    }

    /// A call, mostly as a library would make it: what it changes before is changed.
    fn operation(&mut self, me: Id, realm: Realm) -> Operation {
        let pair = self.rng.below(PAIRS as u64) as usize;
        let own = self.id(realm, me);
        let state = self.model.words[pair].0;
        let wild = self.rng.once_in(8);
        match self.rng.below(8) {
            0..3 => {
                if state == 0 && !wild {
                    self.set(pair, 0, own);
                } else if !wild {
                    self.set(pair, 0, state | WAITERS);
                }
                let expected = self.model.words[pair].0;
                Operation::MutexWait { pair, expected: if wild { state ^ 1 } else { expected } }
            }
            3..5 => Operation::MutexWake { pair },
            5..7 => {
                let mutex = self.rng.below(PAIRS as u64) as usize;
                let mutex = if wild { mutex } else { (pair | 1) % PAIRS };
                let expected = if self.rng.once_in(8) { state ^ 1 } else { state };
                Operation::CondWait { pair: if wild { pair } else { pair & !1 }, expected, mutex }
            }
            _ => {
                let pair = if wild { pair } else { pair & !1 };
                if !wild {
                    let mutex = pair | 1;
                    let waiters = self.model.words[mutex].0 & WAITERS;
                    self.set(mutex, 0, own | waiters);
                    let count = self.model.words[pair].0;
                    self.set(pair, 0, count.wrapping_add(1));
                }
                Operation::CondRequeue { pair, all: self.rng.once_in(2) }
            }
        }
    }

    fn registers(&self, me: Id, realm: Realm, until: Option<u64>, operation: Operation) -> Regs {
        let timeout = match until {
            None => Timeout::Never,
            Some(0) => Timeout::Zero,
            Some(_) => Timeout::At,
        };
        let at = |pair| address(domain_of(me), pair);
        let until = until.unwrap_or(0);
        let (call, args) = match operation {
            Operation::MutexWait { pair, expected } => {
                (Call::MutexWait, [at(pair), expected.into(), until, 0])
            }
            Operation::MutexWake { pair } => (Call::MutexWake, [at(pair), 0, 0, 0]),
            Operation::CondWait { pair, expected, mutex } => {
                (Call::CondWait, [at(pair), expected.into(), at(mutex), until])
            }
            Operation::CondRequeue { pair, all } => {
                (Call::CondRequeue, [at(pair), u64::from(all), 0, 0])
            }
        };
        let scope = if realm == Realm::Shared { Scope::Shared } else { Scope::Domain };
        Regs::call(number(call, scope, timeout), &args)
    }

    /// Whether a thread is to issue its call again.
    fn is_preempted(&self, thread: Id) -> bool {
        self.board.thread(thread).context.regs.get().again
    }

    fn performs(&mut self, me: Id) {
        let realm = if self.rng.once_in(2) { Realm::Shared } else { Realm::Domain(domain_of(me)) };
        let until = match self.rng.below(4) {
            0 => Some(0),
            1 => Some(self.board.host.now() + 1 + self.rng.below(3_000_000)),
            _ => None,
        };
        let operation = self.operation(me, realm);
        let regs = self.registers(me, realm, until, operation);
        // A preempted call begins anew, behind what was in its way.
        self.board.call(regs);
        while self.is_preempted(me) {
            self.takes_interrupts();
            if self.board.running() != Some(me) {
                // Its turn comes: nothing else uses the call meanwhile, and it is given up here.
                let context = &self.board.thread(me).context;
                context.regs.set(Regs::call(Call::Null as u64, &[]));
                return self.check();
            }
            self.board.call(self.board.regs.get());
        }
        let expired = until.is_some_and(|until| until <= self.board.host.now());
        let outcome = self.model.does(me, realm, expired, operation);
        self.compare(me, operation, outcome);
        if outcome == Outcome::Blocks
            && let Some(until) = until
        {
            self.until.insert(me, until);
        }
    }

    /// Checks how a call came out.
    fn compare(&mut self, me: Id, operation: Operation, outcome: Outcome) {
        let mut name = format!("{operation:?}");
        name.truncate(name.find(' ').unwrap_or(name.len()));
        let shown = match outcome {
            Outcome::Wakes(_) => "Wakes".to_owned(),
            other => format!("{other:?}"),
        };
        *self.reach.outcomes.entry(format!("{name}: {shown}")).or_default() += 1;
        let (status, value) = {
            let regs = self.board.thread(me).context.regs.get();
            (regs.status().result(), regs.badge())
        };
        match outcome {
            Outcome::Blocks => {
                let state = self.board.thread(me).state.get();
                assert_eq!(state, State::Waiting, "{operation:?} of {me} blocks");
            }
            Outcome::Done(result) => {
                assert_eq!((status, value), (Ok(()), result), "{operation:?} of {me}");
            }
            Outcome::Fails(error) => assert_eq!(status, Err(error), "{operation:?} of {me}"),
            Outcome::Wakes(owner) => {
                assert_eq!(status, Ok(()), "{operation:?} of {me}");
                self.until.remove(&owner);
                let woken = self.board.thread(owner);
                assert_eq!(woken.state.get(), State::Ready, "{owner} owns the mutex");
                let status = woken.context.regs.get().status().result();
                assert_eq!(status, Ok(()), "the status of {owner}, which owns the mutex");
            }
        }
        self.check();
    }

    /// Interrupts, and the timeouts that they serve: the most urgent first.
    fn takes_interrupts(&mut self) {
        while let Some(event) = self.board.host.waiting() {
            self.board.take(event);
            let now = self.board.host.now();
            let ended = |thread: &Id| self.board.thread(*thread).state.get() == State::Ready;
            let mut gone: Vec<Id> = self.until.keys().copied().filter(ended).collect();
            gone.sort_by_key(|thread| {
                (-i16::from(THREADS[*thread as usize - 1].1), self.until[thread])
            });
            for thread in gone {
                let until = self.until.remove(&thread).expect("it had a deadline");
                assert!(until <= now, "{thread} timed out before its time");
                let status = self.board.thread(thread).context.regs.get().status();
                assert_eq!(status.result(), Err(Error::Timeout), "the status of {thread}");
                assert!(!status.in_receive(), "a wait is no receive half");
                self.model.leaves(thread);
                self.reach.timeouts += 1;
            }
            self.check();
        }
    }

    /// What the keeper does: it frees, ends and disturbs the others.
    fn keeps(&mut self) {
        let others: Vec<Id> =
            self.model.domains.keys().copied().filter(|id| *id != KEEPER).collect();
        let live = |id: &Id| self.at(*id).life() == Life::Live;
        let others: Vec<Id> = others.into_iter().filter(live).collect();
        if others.is_empty() {
            return self.board.host.advance(1_000_000);
        }
        let thread = self.rng.pick(&others);
        let slot = THREAD + u64::from(thread);
        let calls = match self.rng.below(24) {
            0..8 => return self.performs_as_keeper(),
            8..14 => return self.board.host.advance(self.rng.below(2_000_000)),
            14..16 => {
                let domain = self.rng.below(2);
                let rights = [1, 3][self.rng.below(2) as usize];
                self.model.writers.retain(|at| u64::from(*at) != domain + 1);
                if rights == 3 {
                    self.model.writers.push(domain as u32 + 1);
                }
                vec![system(Call::Protect, &[FREE + domain, rights])]
            }
            16 if self.rng.once_in(12) => vec![system(Call::Destroy, &[slot])],
            17..20 => {
                let cancel = [slot, 0, 0, 0, 0, exchange::CANCEL];
                vec![
                    system(Call::ThreadSuspend, &[slot]),
                    system(Call::ThreadExchange, &cancel),
                    system(Call::ThreadResume, &[slot]),
                ]
            }
            20 => vec![system(Call::ThreadSuspend, &[slot])],
            _ => vec![system(Call::ThreadResume, &[slot])],
        };
        for regs in calls {
            if [Call::Destroy as u64, Call::ThreadExchange as u64].contains(&regs.number) {
                self.forget(thread);
            }
            self.board.call(regs);
            while self.is_preempted(KEEPER) {
                self.takes_interrupts();
                if self.board.running() != Some(KEEPER) {
                    break;
                }
                self.board.call(self.board.regs.get());
            }
            self.check();
            if self.board.running() != Some(KEEPER) {
                break;
            }
        }
    }

    /// The keeper calls what does not block.
    fn performs_as_keeper(&mut self) {
        let operation = loop {
            let realm = [Realm::Shared, Realm::Domain(1)][self.rng.below(2) as usize];
            match self.operation(KEEPER, realm) {
                Operation::MutexWait { .. } | Operation::CondWait { .. } => {}
                operation => break (realm, operation),
            }
        };
        let (realm, operation) = operation;
        self.board.call(self.registers(KEEPER, realm, None, operation));
        if self.is_preempted(KEEPER) {
            self.board.thread(KEEPER).context.regs.set(Regs::default());
            self.board.regs.set(Regs::default());
            return self.takes_interrupts();
        }
        let outcome = self.model.does(KEEPER, realm, false, operation);
        self.compare(KEEPER, operation, outcome);
    }

    /// A thread that is cancelled or destroyed waits for nothing.
    fn forget(&mut self, thread: Id) {
        self.model.leaves(thread);
        self.until.remove(&thread);
    }

    /// Compares words and queues, and checks all invariants.
    fn check(&mut self) {
        self.reach.steps += 1;
        for pair in 0..PAIRS {
            let words = self.words(pair).map(|word| word.load(Relaxed));
            assert_eq!(words, <[u32; 2]>::from(self.model.words[pair]), "the words of pair {pair}");
        }
        let mut queues = self.queues();
        let order = |queue: &Queue| queue.members[0];
        queues.sort_by_key(order);
        let mut expected = self.model.queues.clone();
        expected.sort_by_key(order);
        assert_eq!(queues, expected, "the queues");
        let longest = queues.iter().map(|queue| queue.members.len()).max();
        self.reach.longest = self.reach.longest.max(longest.unwrap_or(0));
        for queue in &queues {
            let what = if queue.is_condition { "condition" } else { "mutex" };
            self.reach.kinds.insert(format!("{what}, {:?}", queue.realm));
        }
        self.board.check_core();
    }

    /// The queues that there are, by their heads.
    fn queues(&self) -> Vec<Queue> {
        let mut queues = Vec::new();
        for thread in (1..).take(THREADS.len()) {
            let body = self.board.thread(thread);
            let Some(kind) = body.futex.heads.get() else { continue };
            let target = body.futex.target.get();
            let at = target.place(kind).expect("a head has a place").at;
            let domain = domain_of(thread);
            let pair = (0..PAIRS).find(|pair| address(domain, *pair) == at).expect("a pair");
            let shared = target.scope == Scope::Shared;
            let realm = if shared { Realm::Shared } else { Realm::Domain(domain) };
            let mut members = Vec::new();
            Ring::<Thread<Host>, Waiting>::each(self.at(thread), |at| members.push(at.index()));
            let is_condition = kind == Kind::Condition;
            queues.push(Queue { realm, is_condition, pair, members });
        }
        queues
    }

    fn step(&mut self) {
        self.takes_interrupts();
        match self.rng.below(16) {
            0 => self.corrupt(),
            1..3 => self.repair(),
            _ => {}
        }
        match self.board.running() {
            None => self.board.host.advance(1_000_000),
            Some(_) if self.board.regs.get().again => self.board.call(self.board.regs.get()),
            Some(KEEPER) => self.keeps(),
            Some(thread) => self.performs(thread),
        }
    }
}

fn run<S: System<Port = Host>>(seed: u64, count: u64, reach: &mut Reach) {
    let _told = Seed::of(seed);
    let mut run = Run::<S>::new(seed, reach);
    for _ in 0..count {
        run.step();
    }
    let stopped = run.board.thread(KEEPER).has(flag::SUSPENDED);
    assert!(!stopped, "the keeper is not stopped");
}

#[test]
fn hostile_words() {
    let mut reach = Reach::default();
    for seed in seeds(0..24) {
        run::<DirectLazy<Host>>(0x8100_0000 + seed, steps(1_200), &mut reach);
        run::<Fastpath<Host>>(0x8200_0000 + seed, steps(600), &mut reach);
        run::<StrictEager<Host>>(0x8300_0000 + seed, steps(600), &mut reach);
        run::<Tree<Host>>(0x8400_0000 + seed, steps(600), &mut reach);
    }
    if INTERPRETED {
        return;
    }
    for outcome in [
        "MutexWait: Blocks",
        "MutexWait: Fails(Changed)",
        "MutexWait: Fails(BrokenQueue)",
        "MutexWait: Fails(Timeout)",
        "MutexWait: Fails(BadAddress)",
        "MutexWait: Fails(InvalidArgument)",
        "MutexWake: Wakes",
        "MutexWake: Done(0)",
        "MutexWake: Fails(BrokenQueue)",
        "CondWait: Blocks",
        "CondWait: Fails(Changed)",
        "CondWait: Fails(BrokenQueue)",
        "CondWait: Fails(OtherMutex)",
        "CondRequeue: Done(1)",
        "CondRequeue: Done(0)",
        "CondRequeue: Fails(WrongState)",
        "CondRequeue: Fails(BrokenQueue)",
    ] {
        let times = reach.outcomes.get(outcome).copied().unwrap_or(0);
        assert!(times >= 20, "{outcome}: {times} times; all: {:#?}", reach.outcomes);
    }
    assert!(reach.longest >= 4, "the longest queue has {} threads", reach.longest);
    assert!(reach.timeouts >= 100, "{} timeouts", reach.timeouts);
    assert_eq!(reach.kinds.len(), 6, "queues of both kinds in three realms: {:?}", reach.kinds);
}
