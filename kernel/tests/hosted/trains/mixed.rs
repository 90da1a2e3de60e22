//! Clients and servers, mutexes, conditions and trains of three domains at once, whose threads are
//! cancelled, ended and made anew: every invariant holds behind each step, and a call that is
//! issued again has no register of another domain than that which its thread is in.

use super::{TRAIN, create, enter_until, grant, sleep};
use crate::support::board::{Board, JUNK};
use crate::support::context::Regs;
use crate::support::effort::{INTERPRETED, seeds, steps};
use crate::support::host::{Event, Host};
use crate::support::rng::Rng;
use crate::support::scene::{DOMAIN, ENDPOINT, FREE, THREAD, boot, buffer, system, timed};
use crate::support::seed::Seed;
use abi::call::{Call, NOTHING, REPLY, Timeout, exchange};
use abi::futex::{NO_CEILING, Scope, WAITERS, helpers, number};
use abi::message::FaultKind;
use abi::reservation::Inheritance;
use abi::{Info, Rights};
use kernel::access::{Life, Ref};
use kernel::fault::Fault;
use kernel::object::Thread;
use kernel::object::thread::{State, flag};
use kernel::port::Port as _;
use kernel::sched::Scheduler;
use kernel::system::{DirectLazy, Fastpath, IpcHeap, IpcOrdered, StrictEager, System, Tree};
use std::collections::BTreeMap;

/// Domains, each with so many threads. The words of its mutexes lie in the buffer of the first.
const DOMAINS: u64 = 3;
const EACH: u64 = 5;
const THREADS: u64 = DOMAINS * EACH;
/// The lowest thread, which wakes and cancels others.
const KEEPER: u32 = 1;
/// The first of the words that are mutexes, and how many there are; behind them conditions.
const WORD: u64 = 300;
const MUTEXES: u64 = 3;
const CONDITIONS: u64 = 2;
/// Endpoints that are called.
const ENDPOINTS: u64 = 3;
/// What a register holds that a call has no argument in, with the domain of its thread.
const TAG: u64 = 0x7a61_6763_0000_0000;

/// How often what came about.
type Reach = BTreeMap<&'static str, u64>;

struct Run<'a, S: System<Port = Host>> {
    board: Board<S>,
    rng: Rng,
    reach: &'a mut Reach,
}

/// A call whose other arguments are of this domain.
fn tagged(domain: u64, number: u64, args: &[u64]) -> Regs {
    let mut all = [TAG | domain; 6];
    all[..args.len()].copy_from_slice(args);
    Regs::call(number, &all)
}

impl<'a, S: System<Port = Host>> Run<'a, S> {
    fn new(seed: u64, reach: &'a mut Reach) -> Self {
        let rng = Rng::new(seed);
        let own = |thread| if thread == KEEPER.into() { 1 } else { 10 + rng.below(20) as u8 };
        let threads: Vec<(u32, u8)> =
            (1..=THREADS).map(|at| (1 + ((at - 1) / EACH) as u32, own(at))).collect();
        let board: Board<S> = boot(&threads);
        if S::Scheduler::TREE {
            board.machine.cpu.trees.set_inheritance(rng.pick(&Inheritance::ALL));
        }
        board.host.noise_once_in.set(rng.pick(&[0, 3, 8]));
        Run { board, rng, reach }
    }

    fn met(&mut self, what: &'static str) {
        *self.reach.entry(what).or_default() += 1;
    }

    fn here(&self, thread: u32) -> u64 {
        self.board.thread(thread).domain.get().index().into()
    }

    fn until(&self) -> u64 {
        self.board.host.now() + 1 + self.rng.below(3_000_000)
    }

    /// The id of a thread in a domain.
    fn id(&self, domain: u64, thread: u64) -> u32 {
        self.board.id_in(domain as u32, thread as u32)
    }

    /// A thread, mostly one that belongs to this domain.
    fn near(&self, domain: u64) -> u64 {
        let own = 1 + (domain.max(1) - 1) * EACH + self.rng.below(EACH);
        if self.rng.once_in(4) { 1 + self.rng.below(THREADS) } else { own }
    }

    fn anchor(domain: u64) -> u64 {
        1 + (domain.max(1) - 1) * EACH
    }

    fn read(&self, domain: u64, word: u64) -> u64 {
        self.board.read(Self::anchor(domain) as u32, word as usize)
    }

    fn write(&self, domain: u64, word: u64, value: u64) {
        self.board.write(Self::anchor(domain) as u32, word as usize, value);
    }

    /// A call on a mutex or condition of the domain that the thread is in.
    fn futex(&self, me: u32) -> Regs {
        let (rng, at) = (&self.rng, self.here(me));
        let mutex = WORD + rng.below(MUTEXES);
        let condition = WORD + MUTEXES + rng.below(CONDITIONS);
        let address = |word: u64| buffer(Self::anchor(at)) + 8 * word;
        let kind = rng.pick(&[Timeout::Never, Timeout::At, Timeout::At]);
        let (own, until) = (u64::from(self.id(at, me.into())), self.until());
        if rng.once_in(40) {
            let any = u64::from(self.id(at, self.near(at)));
            let word = rng.pick(&[0, any, any | u64::from(WAITERS), any << 32 | own, rng.next()]);
            self.write(at, rng.pick(&[mutex, condition]), word);
        }
        let pair = self.read(at, mutex);
        let call = |call, kind, args: &[u64]| tagged(at, number(call, Scope::Domain, kind), args);
        match rng.below(16) {
            0..5 if pair == 0 => {
                self.write(at, mutex, own);
                tagged(at, Call::Null as u64, &[])
            }
            0..7 if pair as u32 & !WAITERS == own as u32 => {
                call(Call::InheritWake, Timeout::Never, &[address(mutex)])
            }
            0..7 => {
                let marked = pair | u64::from(WAITERS);
                self.write(at, mutex, marked);
                call(Call::InheritWait, kind, &[address(mutex), marked & 0xffff_ffff, until])
            }
            7..10 => {
                let seen = self.read(at, condition) & 0xffff_ffff;
                let ids = core::array::from_fn(|_| match rng.below(3) {
                    0 => 0,
                    _ => self.id(at, self.near(at)),
                });
                let [one, two] = helpers(ids);
                let args = [address(condition), seen, address(mutex), until, one, two];
                call(Call::InheritCondWait, kind, &args)
            }
            10..13 => {
                // Mostly it owns the mutexes that waiters name.
                for mutex in WORD..WORD + MUTEXES {
                    let pair = self.read(at, mutex);
                    if pair >> 32 == 0 && !rng.once_in(3) {
                        self.write(at, mutex, own);
                    }
                }
                call(Call::InheritRequeue, Timeout::Never, &[address(condition), rng.below(2)])
            }
            13 => {
                let helper = u64::from(self.id(at, self.near(at)));
                let args = [address(condition), helper, rng.below(2)];
                call(Call::InheritHelp, Timeout::Never, &args)
            }
            14 => {
                let word = rng.pick(&[NO_CEILING, NO_CEILING, 15, 25, 35]);
                call(Call::Ceiling, Timeout::Never, &[word])
            }
            _ => call(Call::MutexWait, Timeout::At, &[address(mutex), pair, until]),
        }
    }

    fn message(&self, me: u32) -> Regs {
        let (rng, at) = (&self.rng, self.here(me));
        let endpoint = || ENDPOINT + rng.below(ENDPOINTS);
        let saved = FREE + rng.below(6);
        let (nothing, reply) = (u64::from(NOTHING), u64::from(REPLY));
        let owes = self.board.thread(me).caller.get().is_some();
        let info = Info::new(1, rng.below(5) as usize).0;
        let (send, receive) = match rng.below(if owes { 20 } else { 14 }) {
            0 if owes => return tagged(at, Call::CapSaveReply as u64, &[saved]),
            0..3 => return tagged(at, Call::Call as u64, &[endpoint(), info]),
            3..6 => (endpoint(), reply),
            6 => (endpoint(), nothing),
            7 => (endpoint(), endpoint()),
            8..12 => (nothing, endpoint()),
            12 => (saved, nothing),
            13 => (saved, endpoint()),
            14 | 15 => return tagged(at, Call::CapSaveReply as u64, &[saved]),
            16..18 => return tagged(at, Call::ReplyWait as u64, &[endpoint(), info]),
            18 => (reply, endpoint()),
            _ => (reply, nothing),
        };
        let kind = rng.pick(&[Timeout::Never, Timeout::At, Timeout::At, Timeout::At]);
        let regs = timed(send, receive, Info(info), kind, self.until());
        tagged(at, regs.number, &regs.args[..3])
    }

    fn train(&self, me: u32) -> Regs {
        let (rng, at) = (&self.rng, self.here(me));
        let to = 1 + rng.below(DOMAINS);
        let regs = match rng.below(16) {
            0..8 => enter_until(to, rng.pick(&[Timeout::Never, Timeout::At]), self.until()),
            8..12 => return tagged(at, Call::TrainReturn as u64, &[rng.next() >> 8]),
            12 => create(at, 1 + rng.below(3)),
            13..15 => grant(DOMAIN + rng.below(DOMAINS), at, Rights::ALL),
            _ if rng.once_in(3) => system(Call::Destroy, &[TRAIN + to]),
            _ => system(Call::CapDelete, &[TRAIN + to]),
        };
        let given = if regs.number as u8 == Call::TrainCreate as u8 { 6 } else { 4 };
        tagged(at, regs.number, &regs.args[..given])
    }

    fn manage(&self, me: u32) -> Regs {
        let (rng, at) = (&self.rng, self.here(me));
        let other = 2 + rng.below(THREADS - 1);
        let slot = THREAD + other;
        let is_anchor = (other - 1).is_multiple_of(EACH);
        let call = |call: Call, args: &[u64]| tagged(at, call as u64, args);
        let lives = |at: u64| self.lives(at as u32);
        match rng.below(16) {
            0..5 => {
                let args = [ENDPOINT + rng.below(ENDPOINTS), u64::from(!rng.once_in(4))];
                tagged(at, number(Call::Serve, Scope::Domain, Timeout::Never), &args)
            }
            5..7 => call(Call::ThreadPriority, &[slot, 5 + rng.below(30)]),
            7 => call(Call::ThreadSuspend, &[slot]),
            8..10 => call(Call::ThreadResume, &[slot]),
            10 => call(Call::ThreadExchange, &[slot, 0x5000, 0, 0, 0, exchange::CANCEL | 1]),
            11 if rng.once_in(3) => call(Call::CapRevoke, &[ENDPOINT + rng.below(ENDPOINTS)]),
            11 => call(Call::CapDelete, &[FREE + rng.below(6)]),
            12 if !is_anchor && lives(other) && rng.once_in(2) => call(Call::Destroy, &[slot]),
            13 if !lives(other) => {
                let domain = DOMAIN + (other - 1) / EACH;
                let args = [slot, domain, 10 + rng.below(20), 0, ENDPOINT];
                call(Call::ThreadCreate, &args)
            }
            14 if rng.once_in(60) => call(Call::Destroy, &[DOMAIN + rng.below(DOMAINS)]),
            _ => {
                let regs = sleep(self.until());
                tagged(at, regs.number, &regs.args[..3])
            }
        }
    }

    /// Whether a thread waits in another domain than those that wait for it.
    fn is_awaited_elsewhere(&self, thread: u32) -> bool {
        let body = self.board.thread(thread);
        let here = body.domain.get();
        let waits = |at: &u32| {
            let waits = self.board.thread(*at).inherit.waits.get();
            waits.map(|on| &self.board.thread(on.index()).inherit.turnstile)
        };
        let from_elsewhere = |at: u32| {
            let lends = waits(&at).filter(|turnstile| turnstile.has_words());
            let to = |to: Ref<Thread<Host>>| to.index() == thread;
            lends.is_some_and(|turnstile| turnstile.lent_to().any(to))
                && self.board.thread(at).domain.get() != here
        };
        waits(&thread).is_some_and(|on| on.has_words()) && (1..=THREADS as u32).any(from_elsewhere)
    }

    fn lives(&self, thread: u32) -> bool {
        let at = self.board.machine.kernel.threads.get(thread).expect("a thread of that index");
        at.life() == Life::Live
    }

    fn keep(&self) -> Regs {
        let (rng, at) = (&self.rng, self.here(KEEPER));
        let other = 2 + rng.below(THREADS - 1);
        let slot = THREAD + other;
        let body = self.board.thread(other as u32);
        let call = |call: Call, args: &[u64]| tagged(at, call as u64, args);
        match (body.has(flag::SUSPENDED), body.state.get()) {
            _ if rng.once_in(4) => {
                let regs = sleep(self.until());
                tagged(at, regs.number, &regs.args[..3])
            }
            (true, State::Ready) => call(Call::ThreadResume, &[slot]),
            (true, _) => call(Call::ThreadExchange, &[slot, 0x5000, 0, 0, 0, exchange::CANCEL | 1]),
            _ => call(Call::ThreadSuspend, &[slot]),
        }
    }

    /// What holds of the thread that runs, and what it does.
    fn judge(&mut self) {
        let regs = self.board.regs.get();
        if let Some(me) = self.board.running()
            && regs.again
        {
            let here = self.here(me);
            for word in regs.args {
                let other = word & !0xff == TAG && word != TAG | here;
                let unsaved = word == JUNK;
                assert!(!other && !unsaved, "{me} in {here} sees {word:#x} of another domain");
            }
            self.met("issued again");
        }
        let lives: Vec<u32> = (1..=THREADS as u32).filter(|at| self.lives(*at)).collect();
        for thread in lives {
            let body = self.board.thread(thread);
            let (lends, inside) = (body.has(flag::LENDS), body.inside.get().is_some());
            let awaited = body.inherit.is_awaited() && body.state.get() != State::Ready;
            if lends && inside {
                self.met("a visitor lends");
            }
            if body.has(flag::SERVES) && inside {
                self.met("a server visits");
            }
            if inside && awaited {
                self.met("a visitor is in a chain");
            }
            if inside && self.is_awaited_elsewhere(thread) {
                self.met("a chain leads into a domain");
            }
        }
        self.board.check_core();
    }

    fn step(&mut self) {
        while self.board.step() {
            self.judge();
        }
        let Some(me) = self.board.running() else {
            return match self.rng.below(4) {
                0 => self.board.host.raise(Event::Irq(3)),
                _ => self.board.host.advance(300_000),
            };
        };
        let regs = match self.rng.below(32) {
            _ if me == KEEPER => self.keep(),
            0 => {
                self.board.fault(Fault { kind: FaultKind::Memory, detail: 0, code: 0 });
                return self.judge();
            }
            1..11 => self.futex(me),
            11..20 => self.message(me),
            20..26 => self.train(me),
            _ => self.manage(me),
        };
        self.board.call(regs);
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
    run.board.check_all();
}

#[test]
fn all_kinds_of_waits_at_once() {
    let mut reach = Reach::default();
    for seed in seeds(0..40) {
        run::<Fastpath<Host>>(0xb100_0000 + seed, steps(700), &mut reach);
        run::<DirectLazy<Host>>(0xb200_0000 + seed, steps(700), &mut reach);
        run::<IpcHeap<Host>>(0xb300_0000 + seed, steps(500), &mut reach);
        run::<IpcOrdered<Host>>(0xb400_0000 + seed, steps(500), &mut reach);
        run::<StrictEager<Host>>(0xb500_0000 + seed, steps(300), &mut reach);
        run::<Tree<Host>>(0xb600_0000 + seed, steps(500), &mut reach);
    }
    if INTERPRETED {
        return;
    }
    for what in [
        "issued again",
        "a visitor lends",
        "a server visits",
        "a visitor is in a chain",
        "a chain leads into a domain",
    ] {
        let times = reach.get(what).copied().unwrap_or(0);
        assert!(times >= 20, "{what}: {times} times; all: {reach:#?}");
    }
}
