//! What trains, futexes and looks at large tables make the kernel do at their worst: threads that
//! are taken out of domains that they have entered, with callers, stacks that others wait for and
//! deadlines among those of many; inheriting mutexes and conditions likewise.
//!
//! Nothing is measured here: the trace tells how long the kernel keeps interrupts off.

use crate::random::Random;
use crate::worst::{
    FIRST, SLEEPERS, SOON, Scene, clear, earlier, gone, pack, sleepers, start, unpack,
};
use abi::call::{Observe, Table};
use abi::train::{DEPTH, STACKS};
use rt::futex::{self, Scope};
use rt::thread::{self, Registers};
use rt::train::{self, Entry, Visitor};
use rt::{Env, Error, Message, Slot, Wait, Words};
use rt::{arch, cap, ipc, signal, system};
use sync::{Condvar, HelperId, InheritCondition, InheritMutex, Mutex, ThreadId};

/// What is looked at.
const TABLES: [Table; 12] = [
    Table::Domain,
    Table::Thread,
    Table::Quota,
    Table::Pool,
    Table::Slot,
    Table::Counter,
    Table::Length,
    Table::Time,
    Table::Block,
    Table::Reservation,
    Table::Share,
    Table::ThreadName,
];

/// What is played in each round.
const SCENES: [Scene; 8] = [made, cancelled, nested, ended, faults, queue, inherit, looked_at];

/// Capabilities `line`, an interrupt, and `system`; memory `stacks`, `words`. With the argument
/// `idle` a domain that is looked at.
pub fn main(env: &Env) {
    if env.number("idle", 0) != 0 {
        system::sleep_until(u64::MAX);
    }
    for _ in 0..env.number("rounds", 2) {
        for scene in SCENES {
            scene(env).expect("the scene plays");
            clear(env);
        }
    }
    system::shutdown(env.cap("system"), 0).expect("the run ends");
}

/// What a visitor does.
#[derive(Clone, Copy)]
enum Deed {
    /// It goes back at once.
    Return,
    /// It receives on an endpoint, never answers, and sleeps.
    Keep,
    /// It enters again until that is too deep, and then does as [`Deed::Keep`].
    Deepen,
    /// It receives on an endpoint, and faults.
    Fault,
}

/// The entry: the question is a [`Deed`], the slots of the train and of an endpoint, and a depth.
struct Inside;

impl Entry for Inside {
    type Question = [u64; 4];
    type Answer = [u64; 4];
    fn enter(_: Visitor, [deed, train, door, depth]: [u64; 4]) -> [u64; 4] {
        arch::simd_write(deed);
        if deed == Deed::Return as u64 {
            return [0; 4];
        }
        if deed == Deed::Deepen as u64 && depth + 1 < u64::from(DEPTH) {
            let _ = train::call(Slot(train as u32), [deed, train, door, depth + 1], Wait::NEVER);
            return [0; 4];
        }
        let _ = ipc::receive(Slot(door as u32), Wait::until(system::clock() + SOON / 50));
        arch::simd_write(depth);
        if deed == Deed::Fault as u64 {
            arch::undefined();
        }
        let _ = ipc::receive(Slot::NONE, earlier());
        [0; 4]
    }
}

/// A train with so many stacks, an endpoint, and sleepers.
fn train(env: &Env, stacks: u64) -> Result<(rt::Slots, Slot, Slot), Error> {
    let mut slots = env.slots();
    let [train, door] = core::array::from_fn(|_| slots.fresh());
    train::export::<Inside>(env, train, env.mem("stacks"), stacks, 0)?;
    signal::create_endpoint(door, Slot::NONE)?;
    sleepers(env, &mut slots, 190)?;
    Ok((slots, train, door))
}

/// Trains with the most stacks, made and ended.
fn made(env: &Env) -> Result<(), Error> {
    let train = env.slots().fresh();
    for _ in 0..4 {
        train::export::<Inside>(env, train, env.mem("stacks"), STACKS, 0)?;
        cap::destroy(train)?;
    }
    Ok(())
}

/// Enters to keep a caller, serving, for ever.
fn keeps(_: &Env, word: u64) {
    enters(word, Deed::Keep);
}

/// Enters as deep as it goes, for ever.
fn deepens(_: &Env, word: u64) {
    enters(word, Deed::Deepen);
}

/// Enters to fault, for ever.
fn fails_inside(_: &Env, word: u64) {
    enters(word, Deed::Fault);
}

fn enters(word: u64, deed: Deed) {
    let (train, door, _) = unpack(word);
    let _ = ipc::set_serving(door, true);
    loop {
        arch::simd_write(word);
        let question = [deed as u64, train.word(), door.word(), 0];
        if gone(train::call(train, question, Wait::NEVER)) {
            return;
        }
        system::sleep(SOON / 200);
    }
}

/// Waits for a stack with a deadline, goes in and comes back, for ever.
fn returns(_: &Env, word: u64) {
    let (train, _, _) = unpack(word);
    arch::simd_write(word);
    while !gone(train::call(train, [Deed::Return as u64, 0, 0, 0], earlier())) {
        system::sleep(SOON / 100);
    }
}

/// Calls on the endpoint with a deadline, for ever.
fn calls(_: &Env, word: u64) {
    let (_, door, _) = unpack(word);
    while !gone(ipc::call_within(door, Message::empty(0), earlier())) {}
}

/// A visitor that does this, one that waits for its stack, and a caller that it receives.
fn visit(env: &Env, stacks: u64, work: fn(&Env, u64)) -> Result<(Slot, Slot), Error> {
    let (mut slots, train, door) = train(env, stacks)?;
    let [visitor, waiter, caller] = core::array::from_fn(|_| slots.fresh());
    let word = pack(train, door, 0);
    start(env, FIRST, (&[visitor], &mut || 190), (work, &|_| word))?;
    start(env, FIRST + 1, (&[waiter], &mut || 190), (returns, &|_| word))?;
    start(env, FIRST + 2, (&[caller], &mut || 191), (calls, &|_| word))?;
    system::sleep(SOON / 10);
    Ok((train, visitor))
}

/// A thread is stopped, what it does is cancelled, and it goes on.
fn cancel(thread: Slot) -> Result<(), Error> {
    thread::suspend(thread)?;
    thread::set(thread, Registers { cancel: true, ..Registers::default() })?;
    thread::resume(thread)
}

/// What a thread does inside is cancelled: with a caller and without, asleep or about to receive.
fn cancelled(env: &Env) -> Result<(), Error> {
    let (_, visitor) = visit(env, 1, keeps)?;
    thread::name(visitor, "visitor")?;
    for n in 0..20 {
        system::sleep(SOON / 20 + n * SOON / 500);
        cancel(visitor)?;
    }
    // The thread itself ends inside.
    system::sleep(SOON / 10);
    cap::destroy(visitor)
}

/// The same as deep inside as it goes.
fn nested(env: &Env) -> Result<(), Error> {
    let (train, visitor) = visit(env, STACKS, deepens)?;
    for _ in 0..3 {
        system::sleep(SOON / 4);
        cancel(visitor)?;
    }
    system::sleep(SOON / 4);
    cap::destroy(train)?;
    system::sleep(SOON / 10);
    Ok(())
}

/// A train ends while a thread is inside and others wait for its stack.
fn ended(env: &Env) -> Result<(), Error> {
    for _ in 0..4 {
        let (train, _) = visit(env, 1, keeps)?;
        system::sleep(SOON / 10);
        cap::destroy(train)?;
        system::sleep(SOON / 10);
        clear(env);
    }
    Ok(())
}

/// Faults inside, of which the console is told at first.
fn faults(env: &Env) -> Result<(), Error> {
    visit(env, 1, fails_inside)?;
    system::sleep(6 * SOON);
    Ok(())
}

/// Threads that use mutexes and conditions.
const WORKERS: usize = 24;
/// How often each of them does.
const TURNS: u64 = 12;
/// Words of a mutex or a condition, and how many of each kind there are.
const PART: usize = 16;
const EACH: usize = 4;

fn part(env: &Env, kind: usize, n: usize) -> Words {
    env.mem("words").part((kind * EACH + n % EACH) * PART, PART)
}

/// Starts workers of many priorities, and lets them come to an end.
fn work(env: &Env, work: fn(&Env, u64)) -> Result<(), Error> {
    let words = env.mem("words");
    (0..words.len()).for_each(|word| words.set(word, 0));
    let mut slots = env.slots();
    sleepers(env, &mut slots, 190)?;
    let threads: [Slot; WORKERS] = core::array::from_fn(|_| slots.fresh());
    let mut random = Random::new(env.number("seed", 1));
    start(env, FIRST, (&threads, &mut || 191 + random.below(60)), (work, &|n| n as u64))?;
    for n in 0..SLEEPERS {
        system::sleep(SOON / 4);
        // Some are stopped in the midst of it, or end.
        let _ = cancel(threads[n % WORKERS]);
        if n % 8 == 7 {
            cap::destroy(threads[n / 8])?;
        }
    }
    Ok(())
}

/// A mutex or a condition of a domain, or of shared memory, whose waits have deadlines.
fn queues(env: &Env, n: u64) {
    let (me, mut random) = (ThreadId::current(), Random::new(n + 1));
    for _ in 0..TURNS * 4 {
        let number = random.below(EACH as u64) as usize;
        let scope = [Scope::Domain, Scope::Shared][number % 2];
        let mutex = Mutex::new(part(env, 0, number), scope);
        let condition = Condvar::new(part(env, 1, number), 0, scope);
        let Ok(mut guard) = mutex.lock_within(me, soon(&mut random)) else { continue };
        system::sleep(random.below(SOON / 50));
        let _ = match random.below(3) {
            0 => condition.wait_within(&mut guard, soon(&mut random)),
            1 => condition.notify_one(&guard),
            _ => condition.notify_all(&guard),
        };
    }
}

/// An instant before that of most sleepers, or one that comes.
fn soon(random: &mut Random) -> Wait {
    match random.below(2) {
        0 => earlier(),
        _ => Wait::until(system::clock() + SOON / 10 + random.below(SOON)),
    }
}

/// The same with inheritance: chains of mutexes, conditions with the most helpers, ceilings.
fn inherits(env: &Env, n: u64) {
    let (me, mut random) = (ThreadId::current(), Random::new(n + 1));
    let helpers = part(env, 4, 0);
    helpers.set(n as usize % InheritCondition::HELPERS, me.helper().number().into());
    for turn in 0..TURNS * 4 {
        let number = random.below(EACH as u64) as usize;
        let mutex = InheritMutex::new(part(env, 2, number));
        let condition = InheritCondition::new(part(env, 3, number), 0);
        let Ok(mut guard) = mutex.lock_within(me, soon(&mut random)) else { continue };
        if turn == 0 {
            for helper in 0..InheritCondition::HELPERS {
                let helper = HelperId::from_number(helpers.get(helper) as u32);
                let _ = condition.helpers_add(&guard, helper);
            }
        }
        let further = InheritMutex::new(part(env, 2, number + 1));
        let inner = further.lock_within(me, soon(&mut random));
        system::sleep(random.below(SOON / 50));
        drop(inner);
        let _ = futex::set_ceiling(Some(random.below(200) as u8));
        let _ = match random.below(4) {
            0 | 1 => condition.wait_within(&mut guard, soon(&mut random)),
            2 => condition.notify_one(&guard),
            _ => condition.notify_all(&guard),
        };
    }
    let _ = futex::set_ceiling(None);
}

fn queue(env: &Env) -> Result<(), Error> {
    work(env, queues)
}

fn inherit(env: &Env) -> Result<(), Error> {
    work(env, inherits)
}

/// Every row of every table that is of interest, a domain of the most slots among them; marks.
fn looked_at(env: &Env) -> Result<(), Error> {
    let system = env.cap("system");
    for table in TABLES {
        for row in 0..16 {
            for of in [row, row << 32] {
                let _ = system::inspect(system, table, of);
            }
        }
    }
    // It comes to its end once.
    let _ = cap::destroy(env.cap("line"));
    for mark in 0..4 {
        let _ = system::observe(system, Observe::Mark, mark);
    }
    Ok(())
}
