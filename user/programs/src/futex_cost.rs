//! What calls on futexes cost, by the number of threads that wait for one and by the number of
//! futexes that threads wait for (S2H-E01).
//!
//! Waiters are above the program's own thread: each runs as soon as it owns the mutex, gives it
//! back by writing the words, as the kernel need not mind, and waits again. So one thread runs at a
//! time, and each end of a call is a counter read.

use crate::hashed::Table;
use abi::results::Tag;
use core::hint::black_box;
use rt::arch::{self, counter};
use rt::futex::{self, Scope, WAITERS};
use rt::thread::{self, Spec};
use rt::{Env, Recorder, Slot, Slots, Wait, Words, cap, system};
use sync::{InheritMutex, Mutex, ThreadId};

/// Threads that wait for the mutex or condition that is measured, and, in further cases, futexes
/// that one thread each waits for, with that one.
const CASES: [(usize, usize); 12] = [
    (1, 1),
    (2, 1),
    (4, 1),
    (16, 1),
    (64, 1),
    (256, 1),
    (1024, 1),
    (1, 4),
    (1, 16),
    (1, 64),
    (1, 256),
    (1, 1024),
];
/// Numbers of the metrics.
const MUTEX_WAIT: u16 = 1;
const MUTEX_WAKE: u16 = 2;
const COND_WAIT: u16 = 3;
const REQUEUE_ONE: u16 = 4;
const REQUEUE_ALL: u16 = 5;
const TIMEOUT: u16 = 6;
const SLEEP: u16 = 7;
/// Of free mutexes.
const LOCK: u16 = 8;
const UNLOCK: u16 = 9;
const INHERIT_LOCK: u16 = 10;
const INHERIT_UNLOCK: u16 = 11;
/// Of queues in a hash table, for comparison.
const HASHED_WAIT: u16 = 12;
const HASHED_WAKE: u16 = 13;

/// A wait that priority follows along a row of waits.
const BOOST: u16 = 14;
/// Threads that one waits for in a row, and that have its priority then: the program's own is the
/// last of them.
const LINKS: [usize; 8] = [1, 2, 4, 8, 16, 32, 64, 128];

/// Words of the memory `bench`: what is measured, and what threads tell each other.
const MUTEX: usize = 0;
const CONDITION: usize = 1;
/// What waiters wait for.
const MODE: usize = 2;
const FOR_MUTEX: u64 = 0;
const FOR_CONDITION: u64 = 1;
const FOR_TIME: u64 = 2;
/// When the waiter went on that was woken, and when it waited again.
const WENT_ON: usize = 3;
const WAITED: usize = 4;
/// Its number.
const WAITER: usize = 5;
/// Until when waiter 1 waits; 0 is for ever.
const UNTIL: usize = 6;
/// The id of the program's own thread.
const OWNER: usize = 7;
/// The low half of the counter, as the lowest thread reads it.
const STAMP: usize = 8;
/// That word when waiter 1 went on at a deadline.
const KEPT: usize = 9;
/// That a thread has run which is not to.
const RAN: usize = 10;
/// A free mutex, and one that inherits.
const FREE: usize = 16;
const INHERITS: usize = 24;
/// The first word of the futexes of others.
const OTHERS: usize = 64;
/// The mutexes of a row: the first is the program's own, each other one that of the thread before.
const ROW: usize = 1200;

/// Priorities: of waiters, of the last one of a row, of the first of those in a row that it waits
/// for, each of the others one more, and of the thread that reads the counter. The program is
/// between the last two.
const ABOVE: u64 = 110;
const ABOVE_ROW: u64 = 240;
const BETWEEN: u64 = 101;
const BELOW: u64 = 50;

/// Measures all cases: memory `bench` and `recording`, capability `system`, arguments `rounds`,
/// `pause` (us between rounds, in which others run).
pub fn main(env: &Env) {
    let bench = env.mem("bench");
    bench.set(OWNER, futex::identity().own.into());
    let mut measured = Measured {
        env,
        bench,
        slots: env.slots(),
        recorder: Recorder::open(env.mem("recording")),
        rounds: env.number("rounds", 16),
        pause: env.number("pause", 0),
        case: 0,
        threads: [Slot::NONE; THREADS],
    };
    if measured.pause == 0 {
        measured.start(THREADS - 1, BELOW, read_counter);
        measured.boosts();
    }
    for (number, case) in (0..).zip(CASES) {
        measured.case = number;
        measured.measure(case);
        if case.0 == 1 {
            measured.hashed(case.1);
        }
    }
    measured.case = 0;
    measured.free();
    measured.recorder.done();
    system::shutdown(env.cap("system"), 0).expect("the run ends");
}

/// Threads beside the program's own: as many as wait at most, and one that reads the counter.
const THREADS: usize = 1024 + 1;

struct Measured<'a> {
    env: &'a Env,
    bench: Words,
    slots: Slots,
    recorder: Recorder,
    rounds: u64,
    pause: u64,
    case: u16,
    threads: [Slot; THREADS],
}

impl Measured<'_> {
    fn start(&mut self, n: usize, priority: u64, work: fn(&Env, u64)) {
        if self.threads[n] == Slot::NONE {
            self.threads[n] = self.slots.fresh();
        }
        let spec = Spec::further(self.env, n + 1, priority);
        thread::start(self.env, n + 1, self.threads[n], spec, (work, n as u64 + 1))
            .expect("a thread");
    }

    fn end(&mut self, threads: usize) {
        for slot in &self.threads[..threads] {
            cap::destroy(*slot).expect("it is there");
        }
    }

    fn measure(&mut self, (waiters, futexes): (usize, usize)) {
        // Waiter 1 is among those of what is measured; the others of further cases are not.
        let others = futexes - 1;
        for n in waiters..waiters + others {
            self.start(n, ABOVE, wait_elsewhere);
        }
        for mode in [FOR_MUTEX, FOR_CONDITION] {
            self.bench.set(MODE, mode);
            self.bench.set(UNTIL, 0);
            self.bench.set(MUTEX, self.bench.get(OWNER));
            self.bench.set(CONDITION, 0);
            for n in 0..waiters {
                self.start(n, ABOVE, wait);
            }
            match mode {
                FOR_MUTEX => self.mutex(waiters),
                _ => self.condition(waiters),
            }
            self.end(waiters);
        }
        if self.case == 0 && self.pause == 0 {
            self.sleeper();
        }
        for n in waiters..waiters + others {
            cap::destroy(self.threads[n]).expect("it is there");
        }
    }

    fn tag(&self, metric: u16, round: u64) -> Tag {
        Tag { metric, case: self.case, round: round as u16, point: 0 }
    }

    fn span(&mut self, metric: u16, round: u64, before: u64, after: u64) {
        self.recorder.pair(self.tag(metric, round), before, after);
    }

    fn address(&self, word: usize) -> u64 {
        self.bench.address() + 8 * word as u64
    }

    fn pause(&self) {
        if self.pause > 0 {
            system::sleep(self.pause * 1_000);
        }
    }

    /// Hands the mutex over; its waiter waits again. The ends of this call, and of that wait.
    fn wake(&self) -> ((u64, u64), (u64, u64)) {
        let before = counter();
        let woken = futex::mutex_wake(self.address(MUTEX), Scope::Domain);
        let after = counter();
        woken.expect("the words are right");
        let [went_on, waited] = [WENT_ON, WAITED].map(|word| self.bench.get(word));
        ((before, went_on), (waited, after))
    }

    fn mutex(&mut self, waiters: usize) {
        for round in 0..self.rounds {
            self.pause();
            let (wake, wait) = self.wake();
            self.span(MUTEX_WAKE, round, wake.0, wake.1);
            self.span(MUTEX_WAIT, round, wait.0, wait.1);
        }
        // Beside others the lowest thread does not run, so nothing says when a deadline ended.
        let timed = if self.pause == 0 { self.rounds.div_ceil(4) } else { 0 };
        for round in 0..timed {
            // Waiter 1 waits with a deadline, at the head of all others.
            let until = system::clock() + 50_000 + 4_000 * waiters as u64;
            self.bench.set(UNTIL, until);
            self.wake();
            while self.bench.get(WAITER) != 1 {
                self.wake();
            }
            self.bench.set(UNTIL, 0);
            for _ in 1..waiters {
                self.wake();
            }
            self.timeout(TIMEOUT, round, until);
        }
    }

    /// The thread that waits until an instant goes on then, while the lowest one runs.
    fn timeout(&mut self, metric: u16, round: u64, until: u64) {
        assert!(system::clock() < until, "all this takes longer than thought");
        system::sleep_until(until + 20_000);
        let went_on = self.bench.get(WENT_ON);
        let stamp = self.bench.get(KEPT) as u32;
        let before = went_on - u64::from((went_on as u32).wrapping_sub(stamp));
        self.span(metric, round, before, went_on);
    }

    fn condition(&mut self, waiters: usize) {
        for round in 0..self.rounds {
            self.pause();
            let one = self.requeue(false);
            let (_, wait) = self.wake();
            self.span(REQUEUE_ONE, round, one.0, one.1);
            self.span(COND_WAIT, round, wait.0, wait.1);
        }
        for round in 0..self.rounds.div_ceil(4) {
            self.pause();
            let all = self.requeue(true);
            for _ in 0..waiters {
                self.wake();
            }
            self.span(REQUEUE_ALL, round, all.0, all.1);
        }
    }

    fn requeue(&self, all: bool) -> (u64, u64) {
        let before = counter();
        let moved = futex::cond_requeue(self.address(CONDITION), Scope::Domain, all);
        let after = counter();
        assert!(moved == Ok(true), "a thread waits for the condition: {moved:?}");
        (before, after)
    }

    /// What the end of a plain sleep takes, beside [`TIMEOUT`].
    fn sleeper(&mut self) {
        self.bench.set(MODE, FOR_TIME);
        for round in 0..self.rounds.div_ceil(4) {
            let until = system::clock() + 50_000;
            self.bench.set(UNTIL, until);
            self.start(0, ABOVE, wait);
            self.timeout(SLEEP, round, until);
            self.end(1);
        }
    }

    /// A wait and a wake-up by a table in which the other futexes fall into the same bucket.
    fn hashed(&mut self, futexes: usize) {
        let mut table = Table::new();
        let (mut own, from) = (0, self.address(OTHERS) as u32);
        for address in Table::colliding(from, futexes) {
            own = address;
            table.wait(address);
        }
        table.wake(own);
        for round in 0..self.rounds {
            let before = counter();
            black_box(table.wait(black_box(own)));
            let waits = counter();
            black_box(table.wake(black_box(own)));
            let after = counter();
            self.span(HASHED_WAIT, round, before, waits);
            self.span(HASHED_WAKE, round, waits, after);
        }
    }

    /// Threads wait in a row for this one, and then one with a higher priority for the last of
    /// them: what that wait takes until this thread, which has that priority then, goes on.
    fn boosts(&mut self) {
        for (case, links) in (0..).zip(LINKS) {
            self.case = case;
            for round in 0..self.rounds {
                let owner = self.bench.get(OWNER) | u64::from(WAITERS);
                self.bench.set(ROW, owner);
                for n in 0..links {
                    // Else one would not run before this thread has its priority.
                    let priority = if n + 1 == links { ABOVE_ROW } else { BETWEEN + n as u64 };
                    self.start(n, priority, wait_in_row);
                }
                let after = counter();
                self.span(BOOST, round, self.bench.get(WAITED), after);
                self.bench.set(RAN, 0);
                self.start(links, ABOVE_ROW - 1, say_that_it_runs);
                assert!(self.bench.get(RAN) == 0, "the priority of the last one is not here");
                cap::destroy(self.threads[links]).expect("it is there");
                for slot in self.threads[..links].iter().rev() {
                    cap::destroy(*slot).expect("it is there");
                }
                for n in 0..=links {
                    self.bench.set(ROW + n, 0);
                }
            }
        }
    }

    fn free(&mut self) {
        let me = ThreadId::current();
        let mutex = Mutex::new(self.bench.part(FREE, 1), Scope::Domain);
        let inherits = InheritMutex::new(self.bench.part(INHERITS, InheritMutex::WORDS));
        for round in 0..self.rounds {
            let before = counter();
            let guard = mutex.lock(me);
            let locked = counter();
            drop(guard);
            let after = counter();
            self.span(LOCK, round, before, locked);
            self.span(UNLOCK, round, locked, after);
            let before = counter();
            let guard = inherits.lock(me);
            let locked = counter();
            drop(guard);
            let after = counter();
            self.span(INHERIT_LOCK, round, before, locked);
            self.span(INHERIT_UNLOCK, round, locked, after);
        }
    }
}

/// Sets the first of two words. No other thread runs, so the second one stays.
fn set_first(bench: &Words, word: usize, value: u32) {
    let second = bench.get(word) & !u64::from(u32::MAX);
    bench.set(word, second | u64::from(value));
}

/// A waiter: waits again whenever it was woken.
fn wait(env: &Env, n: u64) {
    let bench = env.mem("bench");
    let owner = bench.get(OWNER) as u32;
    let mutex = bench.address() + 8 * MUTEX as u64;
    loop {
        let until = bench.get(UNTIL);
        let limit = if n == 1 && until != 0 { Wait::until(until) } else { Wait::NEVER };
        match bench.get(MODE) {
            FOR_MUTEX => {
                set_first(&bench, MUTEX, owner | WAITERS);
                bench.set(WAITED, counter());
                let _ = futex::mutex_wait(mutex, Scope::Domain, owner | WAITERS, limit);
            }
            FOR_CONDITION => {
                let first = bench.get(MUTEX) as u32;
                set_first(&bench, MUTEX, owner | first & WAITERS);
                let condition = bench.address() + 8 * CONDITION as u64;
                bench.set(WAITED, counter());
                let _ = futex::cond_wait(condition, Scope::Domain, 0, mutex, limit);
            }
            _ => system::sleep_until(if until == 0 { u64::MAX } else { until }),
        }
        bench.set(WENT_ON, counter());
        bench.set(WAITER, n);
        if until != 0 && n == 1 {
            bench.set(KEPT, bench.get(STAMP));
            bench.set(UNTIL, 0);
        }
    }
}

/// A thread that owns a mutex of the row, and waits for the one before.
fn wait_in_row(env: &Env, n: u64) {
    let (bench, own) = (env.mem("bench"), ROW + n as usize);
    bench.set(own, u64::from(futex::identity().own | WAITERS));
    let address = bench.address() + 8 * (own as u64 - 1);
    let expected = bench.get(own - 1) as u32;
    bench.set(WAITED, counter());
    futex::inherit_wait(address, expected, Wait::NEVER).expect("the thread before owns it");
}

/// A thread that is not to run beside a row.
fn say_that_it_runs(env: &Env, _: u64) {
    env.mem("bench").set(RAN, 1);
}

/// A thread that waits for a futex of its own, for ever.
fn wait_elsewhere(env: &Env, n: u64) {
    let bench = env.mem("bench");
    let word = OTHERS + n as usize;
    bench.set(word, u64::from(WAITERS | 1));
    let address = bench.address() + 8 * word as u64;
    let _ = futex::mutex_wait(address, Scope::Domain, WAITERS | 1, Wait::NEVER);
}

/// The lowest thread: reads the counter over and over.
fn read_counter(env: &Env, _: u64) {
    arch::stamp_for_ever(env.mem("bench").word(STAMP));
}
