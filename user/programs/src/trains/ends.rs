//! Trains that end while threads of all CPUs are inside: running, asleep, in the midst of calls, or
//! further on in another domain.

use abi::call::Fact;
use core::mem::forget;
use rt::prelude::*;
use rt::train::{self, Entry, Visitor};
use rt::{Rights, Slot, Wait, Words, cap, domain, system, thread};
use service::{Capability, service};
use sync::{InheritMutex, RecursiveMutex, Scope, ThreadId};

/// Where visitors, and the first domain that they enter, are given what they enter by.
const GATE: Slot = Slot(40);
/// Stacks of each train: a thread that goes round in one domain has several.
const STACKS: u64 = 16;
/// Nanoseconds between two looks at what others have done, and how many looks there are at most.
const PAUSE: u64 = 500_000;
const LOOKS: u64 = 20_000;

/// A domain that is entered.
#[service]
pub trait Gate {
    /// A new train.
    fn open(&mut self) -> Result<Capability, Error>;
}

/// Words that all domains share, and behind them [`LOCKS`].
#[derive(Clone, Copy)]
enum Common {
    /// The number of the round.
    Round,
    /// How often visitors have come in, and have come back.
    Inside,
    Back,
    /// What has gone wrong: how often, and the last error.
    Wrong,
    Last,
}

fn get(board: Words, word: Common) -> u64 {
    board.get(word as usize)
}

fn add(board: Words, word: Common) {
    board.add(word as usize, 1);
}

/// What a visitor does inside.
const DEEDS: [&str; 7] = ["returns", "runs", "sleeps", "calls", "goes round", "goes on", "locks"];

/// Where the mutexes are that visitors lock in each domain: so many words for each visitor, the
/// last of which says whether it has locked them before.
const LOCKS: usize = 16;
const EACH: usize = InheritMutex::WORDS + RecursiveMutex::WORDS + 1;
const VISITORS: usize = 4;

/// A visitor locks its mutexes of a domain for the rest of its visit. Whether they were free, or if
/// it has locked them on an earlier visit, one tells that its owner has ended, and the other is
/// taken.
fn locks(board: Words, domain: u64, visitor: u64) -> bool {
    let mine = LOCKS + EACH * (domain as usize * VISITORS + visitor as usize);
    let words = board.part(mine, EACH);
    let inheriting = InheritMutex::new(words.part(0, InheritMutex::WORDS));
    let behind = words.part(InheritMutex::WORDS, RecursiveMutex::WORDS);
    let recursive = RecursiveMutex::new(behind, Scope::Domain);
    let me = ThreadId::current();
    let died = inheriting.lock_within(me, Wait::ZERO).map(|guard| {
        let died = guard.owner_died();
        guard.make_consistent();
        forget(guard);
        died
    });
    let locked = recursive.lock_within(me, Wait::ZERO).map(forget);
    let again = words.get(EACH - 1) != 0;
    words.set(EACH - 1, 1);
    let expected = if again { Err(Error::Timeout) } else { Ok(()) };
    died == Ok(again) && locked == expected
}

struct Inside;

impl Entry for Inside {
    type Question = [u64; 4];
    type Answer = [u64; 4];
    fn enter(visitor: Visitor, [deed, depth, number, _]: [u64; 4]) -> [u64; 4] {
        let board = visitor.env().mem("board");
        let further = |deed: &str, depth: u64| {
            let deed = DEEDS.iter().position(|other| *other == deed).expect("a deed") as u64;
            train::call(GATE, [deed, depth, number, 0], Wait::NEVER)
        };
        match DEEDS[deed as usize] {
            "returns" => return [depth + 1, 0, 0, 0],
            // Where that train ends first, the thread is here again.
            "goes round" if depth < 3 => _ = further("goes round", depth + 1),
            "goes on" => _ = further("runs", 0),
            "locks" => {
                let wrong = !locks(board, visitor.argument, number);
                board.add(Common::Wrong as usize, wrong.into());
                add(board, Common::Inside);
            }
            _ => add(board, Common::Inside),
        }
        loop {
            match DEEDS[deed as usize] {
                "sleeps" => system::sleep(u64::MAX / 2),
                "calls" => _ = system::null(),
                _ => _ = core::hint::black_box(get(board, Common::Round)),
            }
        }
    }
}

struct Server(Env, Slot);

impl Gate for Server {
    fn open(&mut self) -> Result<Capability, Error> {
        // What the last round has left.
        _ = cap::delete(self.1);
        _ = cap::delete(GATE);
        let stacks = self.0.mem(self.0.arg("stacks").expect("its stacks"));
        let domain = self.0.number("number", 0);
        train::export::<Inside>(&self.0, self.1, stacks, STACKS, domain)?;
        Ok(Capability::grant(self.1, Rights::ALL))
    }
}

/// A domain that is entered: capability `gate`; memory `board`, and that which the argument
/// `stacks` names; argument `number`, from 0 on.
pub fn entered(env: &Env) {
    let mut server = Server(*env, env.slots().fresh());
    let why = rt::Server::new(env.cap("gate"))
        .with_buffer(env.buffer(0))
        .run(|request| server.dispatch(request));
    panic!("no more trains: {why:?}");
}

/// A visitor: capability `self`; memory `board`; argument `number`. In each round it is on another
/// CPU, and does something else.
pub fn visitor(env: &Env) {
    let (board, number) = (env.mem("board"), env.number("number", 0));
    let cpus = system::fact(Fact::Cpus).map_or(1, |(cpus, _)| cpus);
    for round in 1.. {
        while get(board, Common::Round) < round {
            system::sleep(PAUSE);
        }
        thread::migrate(env.cap("self"), (number + round) % cpus).expect("any CPU");
        let deed = (number + round / 4) % DEEDS.len() as u64;
        let mut came = train::call(GATE, [deed, 0, number, 0], Wait::NEVER);
        if came == Ok([1, 0, 0, 0]) {
            add(board, Common::Inside);
        }
        while came == Ok([1, 0, 0, 0]) {
            came = train::call(GATE, [deed, 0, number, 0], Wait::NEVER);
        }
        // In a thread that was not inside when the train ended, its capability is stale.
        let stale = DEEDS[deed as usize] == "returns" && came == Err(Error::Stale);
        if came != Err(Error::Destroyed) && !stale {
            add(board, Common::Wrong);
            board.set(Common::Last as usize, came.err().map_or(0, |error| error as u64));
        }
        cap::delete(GATE).expect("a slot of its own");
        add(board, Common::Back);
    }
}

struct Judge {
    board: Words,
    domains: [Slot; 2],
    gates: [GateClient; 2],
    /// What they have opened.
    trains: [Slot; 2],
    visitors: u64,
    round: u64,
}

/// Waits until visitors have done this so often in all.
fn all_have(board: Words, what: Common, times: u64) -> bool {
    for _ in 0..LOOKS {
        if get(board, what) >= times {
            break;
        }
        system::sleep(PAUSE);
    }
    get(board, what) == times
}

impl Judge {
    /// Opens the trains, and waits until all visitors are inside.
    fn begin(&mut self, env: &Env) -> Result<bool, Error> {
        for (gate, slot) in self.gates.iter().zip(self.trains) {
            let opened = gate.open().map_err(|_| Error::WrongState)?;
            let opened = opened.into_slot().ok_or(Error::NoCapability)?;
            cap::copy(opened.slot(), slot, Rights::ALL)?;
        }
        let [first, second] = self.trains;
        // Round in the second, or on from the first to it.
        domain::grant(self.domains[0], second, GATE, Rights::SEND)?;
        domain::grant(self.domains[1], second, GATE, Rights::SEND)?;
        for visitor in 0..self.visitors {
            let train = if (visitor + self.round).is_multiple_of(3) { second } else { first };
            domain::grant(env.cap(visitor_of(visitor)), train, GATE, Rights::SEND)?;
        }
        self.round += 1;
        self.board.set(Common::Round as usize, self.round);
        Ok(all_have(self.board, Common::Inside, self.visitors * self.round))
    }

    /// One round; whether all have come in and back.
    fn round(&mut self, env: &Env, random: &mut crate::random::Random) -> Result<bool, Error> {
        Ok(self.begin(env)? && self.end(random)?)
    }

    /// Ends the trains, the one or the other first, and waits until all visitors are back.
    fn end(&mut self, random: &mut crate::random::Random) -> Result<bool, Error> {
        system::sleep(random.below(200_000));
        let first = random.below(2) as usize;
        for train in [self.trains[first], self.trains[1 - first]] {
            cap::destroy(train)?;
        }
        Ok(all_have(self.board, Common::Back, self.visitors * self.round))
    }
}

fn visitor_of(number: u64) -> &'static str {
    ["via-0", "via-1", "via-2", "via-3"][number as usize]
}

/// Ends what visitors are in: capabilities `first`, `second` and `via-0` to `via-3`, which
/// are domains, `gate-1`, `gate-2`, `console` and `system`; memory `board`; argument `rounds`.
pub fn judge(env: &Env) {
    let (console, pool) = (env.console(), rt::SlotPool::new(env));
    let gate = |name| GateClient::new(env.cap(name)).accepting(pool, env.buffer(0));
    let [first, second] = [pool.take(), pool.take()];
    let mut judge = Judge {
        board: env.mem("board"),
        domains: [env.cap("first"), env.cap("second")],
        gates: [gate("gate-1"), gate("gate-2")],
        trains: [first.slot(), second.slot()],
        visitors: VISITORS as u64,
        round: 0,
    };
    let mut random = crate::random::Random::new(env.number("seed", 1));
    let mut failed = 0;
    let mut told = |what: &str, held: Result<bool, Error>| {
        failed += u64::from(held != Ok(true));
        println!(console, "{} {what}", if held == Ok(true) { "ok" } else { "FAILED" });
        held == Ok(true)
    };
    let rounds = env.number("rounds", 24);
    let mut went = Ok(true);
    for _ in 0..rounds {
        went = judge.round(env, &mut random);
        if went != Ok(true) {
            println!(console, "round {}: {went:?}", judge.round);
            break;
        }
    }
    told("trains end with threads of all CPUs inside, which come back", went);
    if went == Ok(true) {
        let inside = judge.begin(env);
        told(
            "a visitor's domain ends while it is inside",
            inside.and_then(|inside| {
                cap::destroy(env.cap(visitor_of(0)))?;
                Ok(inside)
            }),
        );
        let ended = judge.domains.into_iter().rev().try_for_each(cap::destroy).map(|()| true);
        told(
            "domains end with visitors inside, which come back",
            ended.map(|_| {
                let back = judge.visitors * judge.round - 1;
                all_have(judge.board, Common::Back, back)
            }),
        );
    }
    let wrong = get(judge.board, Common::Wrong);
    let last = Error::from_code(get(judge.board, Common::Last) as u8);
    told("each comes back with the error that says so", Ok(wrong == 0));
    println!(console, "{} rounds, {wrong} wrong, last {last:?}; {failed} failed", judge.round);
    system::shutdown(env.cap("system"), u64::from(failed > 0)).expect("the run ends");
}
