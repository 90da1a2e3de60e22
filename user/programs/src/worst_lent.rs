//! Leaves along waits at their worst: a thread begins and ends waits behind which many others
//! follow, along chains, branches and calls, each of them awaited by as many as are looked at.
//!
//! Nothing is measured here: the trace tells how long the kernel keeps interrupts off.

use rt::abi::reservation::{Curve, Policy, Share, WHOLE};
use rt::futex::{self, HELPERS};
use rt::thread::{self, Spec};
use rt::{Env, Error, Message, Slot, Slots, Wait, Words};
use rt::{cap, ipc, reservation, signal, system};
use sync::{InheritMutex, ThreadId};

/// Nanoseconds.
const US: u64 = 1_000;
/// When threads that are not to wait begin to run, after the scene has begun.
const BEGIN: u64 = 1_500_000 * US;
/// Waits of the thread that begins and ends them, and changes of one that it works for.
const ROUNDS: u64 = 4;
/// Classes in each other, the root not counted; a leaf is below.
const LEVELS: usize = 6;
/// Leaves in the lowest of them, and the share of all of them there, in parts.
const LEAVES: usize = 24;
/// Links of a chain: each is followed in a section of its own.
const LINKS: usize = 8;
/// Branches of the widest waits.
const WIDE: [usize; 3] = [3, 3, 2];
/// Mutexes, or conditions by the same edge, that are looked at, and waiters of each.
const LOOKED_AT: usize = 4;
/// Callers that are followed.
const CALLS: usize = 8;

/// Words of the memory `words`: what a thread is to do, its id, the mutexes and conditions, and the
/// helpers of these.
const PLANS: usize = 0;
const IDS: usize = 3_072;
const FUTEXES: usize = 4_096;
const HELPING: usize = 5_120;
/// When threads begin to run.
const AT: usize = 9_216;
/// A mutex that none owns, for which the waiters of conditions wait then.
const MUTEX: usize = 9_218;
/// Mutexes that threads lock.
const MUTEXES: usize = 9_300;

/// What a thread does, behind a call that it may receive before.
const SPIN: u64 = 0;
const WAIT: u64 = 1;
const AGAIN: u64 = 2;
const CALL: u64 = 3;
const LOCK: u64 = 4;
const SERVE: u64 = 5;

/// Capabilities `root` (a CPU's root class), `own` (a leaf above all in it), `self-thread` and
/// `system`; the memory `words`; a quota for all of it.
pub fn main(env: &Env) {
    reservation::run_on(env.cap("self-thread"), env.cap("own")).expect("it may run there");
    for scene in [chain, branches, called, helpers, mutexes, served] {
        let mut town = Town::new(env).expect("there is room");
        scene(&mut town).expect("the scene plays");
        for slot in env.slots() {
            // Stale and empty slots have nothing to destroy.
            if cap::destroy(slot).is_err() {
                let _ = cap::delete(slot);
            }
        }
    }
    system::shutdown(env.cap("system"), 0).expect("the run ends");
}

struct Town<'a> {
    env: &'a Env,
    words: Words,
    slots: Slots,
    threads: usize,
    futexes: usize,
    /// Leaves of waiters, the first one with the greatest share; and of those that work.
    waiting: [Slot; LEAVES],
    working: [Slot; LEAVES],
}

impl Town<'_> {
    fn new(env: &Env) -> Result<Town<'_>, Error> {
        let mut slots = env.slots();
        let waiting = leaves(env, &mut slots, 300)?;
        let working = leaves(env, &mut slots, 299)?;
        let words = env.mem("words");
        (MUTEXES..words.len()).for_each(|word| words.set(word, 0));
        words.set(AT, system::clock() + BEGIN);
        Ok(Town { env, words, slots, threads: 0, futexes: 0, waiting, working })
    }

    /// A thread that receives a call, if there is a door, and then does something. It has done all
    /// that it does before others run.
    fn start(&mut self, door: Slot, action: u64, what: u64) -> Result<(usize, Slot), Error> {
        self.threads += 1;
        let (n, slot) = (self.threads, self.slots.fresh());
        for (word, value) in [door.word(), action, what].into_iter().enumerate() {
            self.words.set(PLANS + 3 * n + word, value);
        }
        let spec = Spec { handler: Slot::NONE, ..Spec::further(self.env, n, 50) };
        thread::start(self.env, n, slot, spec, (act, n as u64))?;
        system::sleep(60 * US);
        Ok((n, slot))
    }

    /// A mutex of a thread, or a condition with helpers by these edges, and so many threads that
    /// wait for it.
    fn awaited(&mut self, helpers: &[(usize, usize)], waiters: usize) -> Result<u64, Error> {
        let futex = self.futexes;
        self.futexes += 1;
        self.words.set(FUTEXES + futex, 0);
        (0..HELPERS).for_each(|edge| self.words.set(HELPING + HELPERS * futex + edge, 0));
        for (edge, helper) in helpers {
            self.words.set(HELPING + HELPERS * futex + edge, *helper as u64);
        }
        for waiter in 0..waiters {
            let (_, slot) = self.start(Slot::NONE, WAIT, futex as u64)?;
            reservation::run_on(slot, self.waiting[1 + waiter % (LEAVES - 1)])?;
        }
        Ok(futex as u64)
    }

    /// As many wait for a thread, by these edges, as are looked at.
    fn crowd(&mut self, thread: usize, edges: usize) -> Result<(), Error> {
        for edge in 0..edges {
            for _ in 0..LOOKED_AT {
                self.awaited(&[(edge, thread)], LOOKED_AT)?;
            }
        }
        Ok(())
    }

    /// A thread that runs in the end, on a leaf of its own, behind so many calls; the first of
    /// those that call is what others wait for.
    fn worker(&mut self, calls: usize, number: usize) -> Result<usize, Error> {
        let mut door = Slot::NONE;
        if calls > 0 {
            door = self.slots.fresh();
            signal::create_endpoint(door, Slot::NONE)?;
        }
        let (mut thread, slot) = self.start(door, SPIN, 0)?;
        reservation::run_on(slot, self.working[number % LEAVES])?;
        for call in (0..calls).rev() {
            let next = core::mem::replace(&mut door, Slot::NONE);
            if call > 0 {
                door = self.slots.fresh();
                signal::create_endpoint(door, Slot::NONE)?;
            }
            thread = self.start(door, CALL, next.word())?.0;
        }
        Ok(thread)
    }

    /// What leads to the workers in the end, by branches of these widths.
    fn branch(&mut self, widths: &[usize], calls: usize) -> Result<u64, Error> {
        let Some((width, others)) = widths.split_first() else { return self.awaited(&[], 0) };
        let mut helpers = [(0, 0); HELPERS];
        for (edge, helper) in helpers[..*width].iter_mut().enumerate() {
            let thread = match others {
                [] => self.worker(calls, self.threads)?,
                _ => {
                    let next = self.branch(others, calls)?;
                    self.start(Slot::NONE, WAIT, next)?.0
                }
            };
            self.crowd(thread, 1)?;
            *helper = (edge, thread);
        }
        self.awaited(&helpers[..*width], 0)
    }

    /// Until all that was begun has been done.
    fn plays(&self) {
        assert!(system::clock() < self.words.get(AT), "the scene is longer than thought");
        system::sleep_until(self.words.get(AT) + (ROUNDS + 1) * 2_000 * US);
    }

    /// The thread on the leaf with the greatest share waits again and again.
    fn begins_and_ends(&mut self, futex: u64) -> Result<(), Error> {
        let (_, slot) = self.start(Slot::NONE, AGAIN, futex)?;
        reservation::run_on(slot, self.waiting[0])?;
        self.plays();
        Ok(())
    }
}

/// Leaves in a class of service curves that is in others of its kind.
fn leaves(env: &Env, slots: &mut Slots, priority: u16) -> Result<[Slot; LEAVES], Error> {
    let mut class = env.cap("root");
    let mut share = Share::Priority(priority);
    for level in 0..LEVELS {
        let inner = slots.fresh();
        reservation::create_class(inner, class, Policy::ServiceCurves, share)?;
        (class, share) = (inner, part(1 << (level + 1)));
    }
    let all = [(); LEAVES].map(|()| slots.fresh());
    for (number, leaf) in all.iter().enumerate() {
        let of = (1 << LEVELS) * if number == 0 { 2 } else { 2 * LEAVES as u32 };
        reservation::create_leaf(*leaf, class, part(of))?;
    }
    Ok(all)
}

/// A part of a whole, twice as much at first.
fn part(of: u32) -> Share {
    let rest = WHOLE / of;
    Share::curve(Curve { slope: rest, bend: 10_000 * US, rest })
}

/// A row of links, each thread awaited by all its edges.
fn chain(town: &mut Town) -> Result<(), Error> {
    let mut last = town.worker(CALLS, 0)?;
    for link in 0..LINKS {
        town.crowd(last, HELPERS)?;
        let next = town.awaited(&[(0, last)], 0)?;
        if link + 1 == LINKS {
            return town.begins_and_ends(next);
        }
        last = town.start(Slot::NONE, WAIT, next)?.0;
    }
    Ok(())
}

/// The widest branches, and calls behind each end.
fn branches(town: &mut Town) -> Result<(), Error> {
    let first = town.branch(&WIDE, 4)?;
    town.begins_and_ends(first)
}

/// The same behind calls: the time of the first caller, and its priority, change.
fn called(town: &mut Town) -> Result<(), Error> {
    let first = town.branch(&WIDE, 0)?;
    let mut door = town.slots.fresh();
    signal::create_endpoint(door, Slot::NONE)?;
    town.start(door, WAIT, first)?;
    for _ in 1..CALLS {
        let (next, here) = (door, town.slots.fresh());
        signal::create_endpoint(here, Slot::NONE)?;
        town.start(here, CALL, next.word())?;
        door = here;
    }
    let (_, caller) = town.start(Slot::NONE, CALL, door.word())?;
    town.plays();
    for round in 0..ROUNDS {
        reservation::run_on(caller, town.waiting[0])?;
        system::sleep(200 * US);
        reservation::run_on(caller, Slot::NONE)?;
        thread::set_priority(caller, 60 + round)?;
        system::sleep(200 * US);
    }
    cap::destroy(caller)
}

/// A condition of which helpers come and go.
fn helpers(town: &mut Town) -> Result<(), Error> {
    let mut workers = [(0, 0); HELPERS];
    for (number, worker) in workers.iter_mut().enumerate() {
        *worker = (number, town.worker(2, number)?);
        town.crowd(worker.1, 2)?;
    }
    let first = town.awaited(&workers, LOOKED_AT)?;
    town.begins_and_ends(first)?;
    let address = address(&town.words, FUTEXES + first as usize);
    for (_, worker) in workers {
        let id = town.words.get(IDS + worker) as u32;
        futex::inherit_help(address, id, false)?;
        system::sleep(200 * US);
        futex::inherit_help(address, id, true)?;
        system::sleep(200 * US);
    }
    Ok(())
}

/// Threads, each on a leaf of its own, that lock mutexes within each other.
fn mutexes(town: &mut Town) -> Result<(), Error> {
    for number in 0..LEAVES {
        let (_, slot) = town.start(Slot::NONE, LOCK, number as u64)?;
        reservation::run_on(slot, town.waiting[number])?;
    }
    town.plays();
    Ok(())
}

/// Threads, each on a leaf of its own, that call servers to which they lend.
fn served(town: &mut Town) -> Result<(), Error> {
    let door = town.slots.fresh();
    signal::create_endpoint(door, Slot::NONE)?;
    for _ in 0..HELPERS {
        town.start(Slot::NONE, SERVE, door.word())?;
    }
    for number in 0..LEAVES {
        let (_, slot) = town.start(Slot::NONE, LOCK, door.word() << 16 | number as u64)?;
        reservation::run_on(slot, town.waiting[number])?;
    }
    town.plays();
    Ok(())
}

fn address(words: &Words, word: usize) -> u64 {
    words.address() + 8 * word as u64
}

/// A thread, by its plan.
fn act(env: &Env, n: u64) {
    let (words, n) = (env.mem("words"), n as usize);
    words.set(IDS + n, u64::from(futex::identity().own));
    let [door, action, what] = [0, 1, 2].map(|word| words.get(PLANS + 3 * n + word));
    if door != 0 {
        ipc::receive(Slot(door as u32), Wait::NEVER).expect("a call");
    }
    let begin = words.get(AT);
    match action {
        WAIT => wait(&words, what as usize, Wait::NEVER),
        LOCK => lock(&words, (what & 0xffff) as usize, Slot((what >> 16) as u32)),
        SERVE => {
            ipc::set_serving(Slot(what as u32), true).expect("it may serve");
            ipc::serve(Slot(what as u32), |_| {
                system::work(10_000);
                Message::empty(0)
            });
        }
        CALL => _ = ipc::call(Slot(what as u32), Message::empty(0)),
        AGAIN => {
            system::sleep_until(begin + 100 * US);
            for _ in 0..ROUNDS {
                wait(&words, what as usize, Wait::until(system::clock() + 500 * US));
                system::sleep(500 * US);
            }
            system::sleep_until(u64::MAX);
        }
        _ => {
            system::sleep_until(begin);
            loop {
                system::work(1_000);
            }
        }
    }
}

/// Locks some of the mutexes, in order, and calls with them; again and again.
fn lock(words: &Words, number: usize, door: Slot) {
    let me = ThreadId::current();
    let mutex = |at: usize| {
        InheritMutex::new(words.part(MUTEXES + InheritMutex::WORDS * at, InheritMutex::WORDS))
    };
    let [first, second, third] = [number % 2, 2 + number % 3, 5].map(mutex);
    system::sleep_until(words.get(AT) + (100 + number as u64) * US);
    loop {
        let all = (first.lock(me), second.lock(me), third.lock(me));
        match door {
            Slot::NONE => system::work(20_000),
            _ => _ = ipc::call(door, Message::empty(0)),
        }
        drop(all);
        system::sleep((1 + number as u64 % 5) * 30 * US);
    }
}

/// Waits for a condition whose helpers are known by their numbers.
fn wait(words: &Words, futex: usize, limit: Wait) {
    let ids =
        core::array::from_fn(|edge| match words.get(HELPING + HELPERS * futex + edge) as usize {
            0 => 0,
            helper => words.get(IDS + helper) as u32,
        });
    let ended = futex::inherit_cond_wait(
        address(words, FUTEXES + futex),
        0,
        address(words, MUTEX),
        limit,
        ids,
    );
    assert!(ended == Err(Error::Timeout) || ended == Err(Error::Cancelled), "{ended:?}");
}
