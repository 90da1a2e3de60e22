//! What others see of a thread that has ended: destroyed, or stopped by a fault that none handles.
//! Each row of the table in `docs/threads.md` that programs in Rust can make is the check of that
//! name.

use super::bench::*;
use core::mem::forget;
use rt::abi::call::ThreadState;
use rt::memory::Range;
use rt::train::{self, Entry, Visitor};
use rt::{Env, Error, Message, Rights, Slot, Wait, Words, arch, cap, ipc, memory, system, thread};
use sync::{CeilingMutex, Ceilings, InheritCondition, InheritMutex, Mutex, RecursiveMutex};
use sync::{RwLock, Scope, Semaphore, ThreadId};

pub const CHECKS: Checks = &[
    ("an inheriting mutex", inheriting),
    ("any other mutex, a permit, a lock for reading or writing", plain),
    ("a call to answer", call),
    ("a saved right to answer", saved),
    ("a condition that it helps", condition),
    ("priorities and reservations lent to it", lent_priority),
    ("a place in a queue, or a call that it has made", queued),
    ("memory that it had lent", lent_memory),
    ("a stack of a train", stack),
];

/// An address where nothing is mapped.
const NOWHERE: u64 = 0x8_0000_0000;

/// Common words: what threads lock, and the number of the helper that is to fault.
const INHERIT: usize = 0;
const PLAIN: usize = 4;
const RECURSIVE: usize = 6;
const CEILING: usize = 10;
const PERMITS: usize = 12;
const READ: usize = 16;
const WRITTEN: usize = 24;
const CONDITION: usize = 32;
const ORDER: usize = 40;

/// A helper's own words: what it tells, where it can go on behind its fault, and that it did.
const TOLD: usize = 9;
const RESUME: usize = 20;
const WENT_ON: usize = 21;

/// How a thread ends.
#[derive(Clone, Copy, PartialEq)]
enum End {
    Destroyed,
    Fault,
}

const ENDS: [End; 2] = [End::Destroyed, End::Fault];

/// A helper that [`wait_for_end`] ends.
fn end(bench: &Bench, helper: Helper, number: usize, how: End) -> Check {
    match how {
        End::Destroyed => cap::destroy(helper.slot)?,
        End::Fault => {
            bench.common().set(ORDER, number as u64);
            bench.settle();
            let state = thread::state(helper.slot)?;
            expect(state == ThreadState::Suspended as u64, "its fault stops it")?;
        }
    }
    bench.settle();
    Ok(())
}

/// A thread is here until it is destroyed, or told to fault. It has reported what it has got.
fn wait_for_end(me: &Me, got: Result<(), Error>) {
    me.own.set(TOLD, got.map_or_else(|error| error as u64 + 2, |()| 1));
    while me.common.get(ORDER) != me.n as u64 {
        system::sleep(MS / 2);
    }
    arch::read(NOWHERE, me.own.word(RESUME));
    me.own.set(WENT_ON, 1);
    system::sleep(10_000 * MS);
}

/// Starts a helper that is to end, and lets it get what it is to have.
fn holder(bench: &Bench, priority: u64, work: Work, a: Slot, b: Slot) -> Result<Holder, Why> {
    let number = bench.next_helper();
    let helper = bench.helper(priority, work, a, b)?;
    bench.settle();
    Ok((helper, number))
}

/// A helper, and its number.
type Holder = (Helper, usize);

fn has_it(bench: &Bench, (helper, _): Holder) -> Check {
    expect(bench.words(helper).get(TOLD) == 1, "it has what it ends with")
}

fn inherit_of(common: Words) -> InheritMutex {
    InheritMutex::new(common.part(INHERIT, 4))
}

/// Helper: owns an inheriting mutex.
fn own_inheriting(env: &Env, argument: u64) {
    let me = Me::new(env, argument);
    let got = inherit_of(me.common).lock(ThreadId::current()).map(forget);
    wait_for_end(&me, got);
}

fn inheriting(bench: &Bench) -> Check {
    let (me, mutex) = (ThreadId::current(), inherit_of(bench.common()));
    for how in ENDS {
        let owner = holder(bench, HIGH, own_inheriting, Slot::NONE, Slot::NONE)?;
        has_it(bench, owner)?;
        end(bench, owner.0, owner.1, how)?;
        let guard = mutex.lock(me)?;
        expect(guard.owner_died(), "the next owner is told")?;
        guard.make_consistent();
        guard.unlock()?;
        let guard = mutex.lock(me)?;
        expect(!guard.owner_died(), "once")?;
        guard.unlock()?;
    }
    Ok(())
}

/// What others than inheriting mutexes are made of in the common words.
struct Plain {
    mutex: Mutex,
    recursive: RecursiveMutex,
    ceiling: CeilingMutex,
    permits: Semaphore,
    read: RwLock,
    written: RwLock,
}

impl Plain {
    fn of(common: Words) -> Plain {
        let lock = |at| RwLock::new(common.part(at, RwLock::WORDS + 1), Scope::Domain);
        Plain {
            mutex: Mutex::new(common.part(PLAIN, 2), Scope::Domain),
            recursive: RecursiveMutex::new(common.part(RECURSIVE, 4), Scope::Domain),
            ceiling: CeilingMutex::new(common.part(CEILING, 2), HIGH as u8, Scope::Domain),
            permits: Semaphore::new(common.part(PERMITS, Semaphore::WORDS), Scope::Domain),
            read: lock(READ),
            written: lock(WRITTEN),
        }
    }

    /// How often each of them can be had until its deadline; what is had is kept.
    fn take(&self, me: ThreadId, wait: Wait) -> [Result<(), Error>; 6] {
        let ceilings = Ceilings::of(me);
        [
            self.mutex.lock_within(me, wait).map(forget),
            self.recursive.lock_within(me, wait).map(forget),
            self.ceiling.lock_within(&ceilings, wait).map(forget),
            self.permits.take(me, wait),
            self.read.read(me, wait).map(forget),
            self.written.write(me, wait).map(forget),
        ]
    }
}

/// Helper: takes one of each.
fn own_plain(env: &Env, argument: u64) {
    let me = Me::new(env, argument);
    let got = Plain::of(me.common).take(ThreadId::current(), Wait::NEVER);
    wait_for_end(&me, got.into_iter().collect());
}

fn plain(bench: &Bench) -> Check {
    let (me, common) = (ThreadId::current(), bench.common());
    for how in ENDS {
        (PLAIN..CONDITION).for_each(|word| common.set(word, 0));
        let all = Plain::of(common);
        all.permits.give(me)?;
        let owner = holder(bench, HIGH, own_plain, Slot::NONE, Slot::NONE)?;
        has_it(bench, owner)?;
        end(bench, owner.0, owner.1, how)?;
        let soon = || Wait::until(system::clock() + MS);
        let ceilings = Ceilings::of(me);
        for got in [
            all.mutex.lock_within(me, soon()).map(forget),
            all.recursive.lock_within(me, soon()).map(forget),
            all.ceiling.lock_within(&ceilings, soon()).map(forget),
            all.permits.take(me, soon()),
            all.read.write(me, soon()).map(forget),
            all.written.read(me, soon()).map(forget),
        ] {
            refused(got, Error::Timeout, "it stays taken")?;
        }
        all.read.read(me, soon()).map(drop)?;
    }
    Ok(())
}

/// Helper: receives a call on `a` and keeps it.
fn keep_call(env: &Env, argument: u64) {
    let me = Me::new(env, argument);
    let got = ipc::receive(me.a, Wait::NEVER).map(drop);
    wait_for_end(&me, got);
}

fn call(bench: &Bench) -> Check {
    for how in ENDS {
        let e = bench.endpoint()?;
        let server = holder(bench, HIGH, keep_call, e, Slot::NONE)?;
        let client = bench.helper(LOW, call_once, e, Slot::NONE)?;
        bench.settle();
        has_it(bench, server)?;
        expect(bench.report(client).is_none(), "the caller waits")?;
        end(bench, server.0, server.1, how)?;
        bench.failed(client, Error::Destroyed, "the caller is told")?;
    }
    Ok(())
}

/// Helper: receives a call on `a` and saves the right to answer in `b`.
fn save_call(env: &Env, argument: u64) {
    let me = Me::new(env, argument);
    let got = ipc::receive(me.a, Wait::NEVER).and_then(|_| cap::save_reply(me.b));
    wait_for_end(&me, got);
}

fn saved(bench: &Bench) -> Check {
    for how in ENDS {
        let (e, right) = (bench.endpoint()?, bench.slot());
        let server = holder(bench, HIGH, save_call, e, right)?;
        let client = bench.helper(LOW, call_once, e, Slot::NONE)?;
        bench.settle();
        has_it(bench, server)?;
        end(bench, server.0, server.1, how)?;
        expect(bench.report(client).is_none(), "the caller still waits")?;
        ipc::send(right, Message::short(0, [3]), Wait::ZERO)?;
        bench.settle();
        let answer = bench.succeeded(client, "another thread answers")?;
        expect(answer.words[0] == 3, "with its word")?;
    }
    Ok(())
}

/// The calling thread becomes a helper of the condition.
fn join(common: Words) -> Result<(), Error> {
    let me = ThreadId::current();
    let mutex = inherit_of(common);
    let guard = mutex.lock(me)?;
    InheritCondition::new(common, CONDITION).helpers_add(&guard, me.helper())?;
    guard.unlock()
}

/// Helper: helps the condition.
fn help(env: &Env, argument: u64) {
    let me = Me::new(env, argument);
    wait_for_end(&me, join(me.common));
}

/// A condition has places for so many that help it, and whoever has ended leaves a place.
fn condition(bench: &Bench) -> Check {
    let common = bench.common();
    let mut helpers = [None; InheritCondition::HELPERS];
    for helper in &mut helpers {
        let joined = holder(bench, HIGH, help, Slot::NONE, Slot::NONE)?;
        has_it(bench, joined)?;
        *helper = Some(joined);
    }
    refused(join(common), Error::TooManyHelpers, "each helps")?;
    let mut helpers = helpers.into_iter().flatten();
    for how in ENDS {
        let Some((helper, number)) = helpers.next() else { return expect(false, "two of them") };
        end(bench, helper, number, how)?;
        match how {
            End::Destroyed => join(common)?,
            End::Fault => {
                let joined = holder(bench, HIGH, help, Slot::NONE, Slot::NONE)?;
                has_it(bench, joined)?;
            }
        }
    }
    let mutex = inherit_of(common);
    let guard = mutex.lock(ThreadId::current())?;
    let condition = InheritCondition::new(common, CONDITION);
    condition.helpers_del(&guard, ThreadId::current().helper())?;
    guard.unlock()?;
    Ok(())
}

/// Helper: owns an inheriting mutex, and faults soon.
fn own_and_fault(env: &Env, argument: u64) {
    let me = Me::new(env, argument);
    let got = inherit_of(me.common).lock(ThreadId::current()).map(forget);
    me.common.set(ORDER, me.n as u64);
    system::sleep(3 * MS);
    wait_for_end(&me, got);
}

/// Seen of a thread that goes on behind its end.
fn lent_priority(bench: &Bench) -> Check {
    let common = bench.common();
    let (owner, _) = holder(bench, LOW, own_and_fault, Slot::NONE, Slot::NONE)?;
    let mutex = inherit_of(common);
    let guard = mutex.lock(ThreadId::current())?;
    expect(guard.owner_died(), "who waits is told")?;
    guard.make_consistent();
    // It has given up the mutex, and may not be at its end yet.
    bench.settle();
    let between = bench.helper(LOW + 1, count, Slot::NONE, Slot::NONE)?;
    let words = bench.words(owner);
    let instruction = Some(words.get(RESUME));
    thread::set(owner.slot, thread::Registers { instruction, ..thread::Registers::default() })?;
    thread::resume(owner.slot)?;
    bench.settle();
    expect(words.get(WENT_ON) == 0, "it does not go before what is more urgent than it")?;
    cap::destroy(between.slot)?;
    bench.settle();
    expect(words.get(WENT_ON) == 1, "it goes on")?;
    guard.unlock()?;
    Ok(())
}

fn queued(bench: &Bench) -> Check {
    for work in [send_once, call_once] {
        let e = bench.endpoint()?;
        let helper = bench.helper(HIGH, work, e, Slot::NONE)?;
        bench.settle();
        cap::destroy(helper.slot)?;
        refused(ipc::receive(e, Wait::ZERO), Error::Timeout, "no message comes")?;
    }
    let e = bench.endpoint()?;
    let helper = bench.helper(HIGH, call_once, e, Slot::NONE)?;
    bench.settle();
    ipc::receive(e, Wait::ZERO)?;
    cap::destroy(helper.slot)?;
    refused(ipc::reply(Message::empty(0)), Error::NoReply, "no caller waits for the answer")
}

/// Helper: makes memory in `b`, and lends it with a call on `a`. The slot behind `b` is free.
fn lend(env: &Env, argument: u64) {
    let me = Me::new(env, argument);
    let range = Range { memory: me.b, first: 0, pages: 1, address: NOWHERE };
    let rights = Rights::READ.or(Rights::WRITE);
    let made = memory::create(me.b, 1)
        .and_then(|()| memory::map(Slot(me.b.0 + 1), Slot::NONE, range, rights));
    if made.is_ok() && arch::write(NOWHERE, 7, me.own.word(RESUME)) {
        env.buffer(me.n).offer(me.b, rights);
        me.report(ipc::exchange(
            me.a,
            Slot::REPLY,
            Message::empty(1).with_capability(),
            Wait::NEVER,
        ));
    }
}

fn lent_memory(bench: &Bench) -> Check {
    let (e, own, mapping) = (bench.endpoint()?, bench.slot(), bench.slot());
    let (lent, behind) = (bench.slot(), bench.slot());
    let helper = bench.helper(HIGH, lend, e, own)?;
    bench.settle();
    bench.buffer().accept(lent);
    let got = ipc::receive(e, Wait::ZERO)?;
    expect(got.info.has_capability(), "it lends its memory")?;
    cap::destroy(helper.slot)?;
    cap::inspect(own)?;
    cap::inspect(mapping)?;
    let range = Range { memory: lent, first: 0, pages: 1, address: NOWHERE + abi::PAGE };
    memory::map(behind, Slot::NONE, range, Rights::READ)?;
    for page in [NOWHERE, NOWHERE + abi::PAGE] {
        let seen = arch::read(page, bench.common().word(RESUME));
        expect(seen == Some(7), "it is as it was, for both")?;
    }
    refused(ipc::reply(Message::empty(0)), Error::NoReply, "who lent it has ended")
}

/// What visitors of the train do.
const RETURN: u64 = 0;
const STAY: u64 = 1;
const FAULT: u64 = 2;

struct Inside;

impl Entry for Inside {
    type Question = [u64; 4];
    type Answer = [u64; 4];
    fn enter(visitor: Visitor, [deed, ..]: [u64; 4]) -> [u64; 4] {
        match deed {
            STAY => system::sleep(10_000 * MS),
            FAULT => {
                arch::read(NOWHERE, visitor.env().mem("shared").word(RESUME));
            }
            _ => {}
        }
        [deed + 1, 0, 0, 0]
    }
}

/// Helper: enters the train in `a`, and stays.
fn enter_and_stay(env: &Env, argument: u64) {
    let me = Me::new(env, argument);
    me.own.set(TOLD, 1);
    let _ = train::call(me.a, [STAY, 0, 0, 0], Wait::NEVER);
    me.own.set(TOLD, 0);
}

/// Helper: enters the train in `a`, and faults there.
fn enter_and_fault(env: &Env, argument: u64) {
    let me = Me::new(env, argument);
    let came = train::call(me.a, [FAULT, 0, 0, 0], Wait::NEVER);
    me.own.set(TOLD, u64::from(came == Err(Error::Faulted)));
}

fn stack(bench: &Bench) -> Check {
    let train = bench.slot();
    train::export::<Inside>(&bench.env, train, bench.env.mem("stacks"), 1, 0)?;
    let enters = || train::call(train, [RETURN, 0, 0, 0], Wait::ZERO);
    let visitor = holder(bench, HIGH, enter_and_stay, train, Slot::NONE)?;
    has_it(bench, visitor)?;
    refused(enters(), Error::Timeout, "its stack is taken")?;
    cap::destroy(visitor.0.slot)?;
    expect(enters()? == [RETURN + 1, 0, 0, 0], "it is free")?;
    let visitor = holder(bench, HIGH, enter_and_fault, train, Slot::NONE)?;
    has_it(bench, visitor)?;
    expect(enters()? == [RETURN + 1, 0, 0, 0], "it is free again")
}
