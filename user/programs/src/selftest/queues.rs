//! Queues and calls whose threads lend their priority, through `sync`.

use super::bench::*;
use rt::{Env, Error, Slot, Wait, Words, cap, system, thread};
use sync::{InheritCalls, InheritQueue, ThreadId, Value};

pub const CHECKS: Checks = &[
    ("values go through a queue in order, and in their type", in_order),
    ("a full and an empty queue are waited for up to a deadline", deadlines),
    ("who waits for a value lends to who appends one", lends_to_senders),
    ("who waits for room lends to who takes a value", lends_to_receivers),
    ("a queue has four senders", senders),
    ("all that wait for a lost queue are told", lost),
    ("threads that wait without a limit are told by the next use of a lost queue", lost_quietly),
    ("calls are answered", answered),
    ("a server has the priority of its client", lends_to_servers),
];

/// A value with two parts.
type Pair = (u64, [u64; 2]);

/// Where a queue of two places, or calls of two clients, are in the common words: all 0 at first.
const QUEUE: (usize, usize) = (8, InheritQueue::<Pair>::WORDS + 6);
const CALLS: (usize, usize) = (8, InheritCalls::<u64, Pair>::words(2));
/// A common word that says that the thread in the middle has run.
const RAN: usize = 40;

fn queue(common: Words) -> InheritQueue<Pair> {
    InheritQueue::new(common.part(QUEUE.0, QUEUE.1))
}

fn calls(common: Words) -> InheritCalls<u64, Pair> {
    InheritCalls::new(common.part(CALLS.0, CALLS.1), 2)
}

/// Computes for a while.
fn work() {
    let begin = system::clock();
    while system::clock() < begin + 4 * MS {}
}

fn in_order(bench: &Bench) -> Check {
    let (me, queue) = (ThreadId::current(), queue(bench.common()));
    let (sender, receiver) = (queue.sender(me)?, queue.receiver(me)?);
    for round in 0..5 {
        sender.push((round, [round + 1, 7]), Wait::NEVER)?;
        sender.push((round, [round + 2, 8]), Wait::NEVER)?;
        let both = (receiver.pop(Wait::NEVER)?, receiver.pop(Wait::NEVER)?);
        expect(both == ((round, [round + 1, 7]), (round, [round + 2, 8])), "in order")?;
    }
    sender.leave()?;
    receiver.leave()?;
    Ok(())
}

fn deadlines(bench: &Bench) -> Check {
    let (me, queue) = (ThreadId::current(), queue(bench.common()));
    let (sender, receiver) = (queue.sender(me)?, queue.receiver(me)?);
    let until = system::clock() + MS;
    refused(receiver.pop(Wait::until(until)).map(|_| ()), Error::Timeout, "it is empty")?;
    expect(system::clock() >= until, "not before the deadline")?;
    sender.push((0, [0; 2]), Wait::NEVER)?;
    sender.push((1, [0; 2]), Wait::NEVER)?;
    let until = system::clock() + MS;
    refused(sender.push((2, [0; 2]), Wait::until(until)), Error::Timeout, "it is full")
}

/// Helper: works for a while, and appends a value.
fn push_late(env: &Env, argument: u64) {
    let me = Me::new(env, argument);
    let queue = queue(me.common);
    if let Ok(sender) = queue.sender(ThreadId::current()) {
        work();
        let _ = sender.push((1, [2, 3]), Wait::NEVER);
    }
}

/// Helper: works for a while, and takes a value.
fn pop_late(env: &Env, argument: u64) {
    let me = Me::new(env, argument);
    let queue = queue(me.common);
    if let Ok(receiver) = queue.receiver(ThreadId::current()) {
        work();
        let _ = receiver.pop(Wait::NEVER);
    }
}

/// Helper: says that it runs.
fn disturb(env: &Env, argument: u64) {
    Me::new(env, argument).common.set(RAN, 1);
}

/// The calling thread waits for a low one, beside one in the middle.
fn undisturbed(bench: &Bench, wait: impl FnOnce() -> Result<(), Error>) -> Check {
    bench.helper(LOW + 1, disturb, Slot::NONE, Slot::NONE)?;
    wait()?;
    // Where a tree orders threads, it does not follow those that wait.
    let ran = bench.common().get(RAN) != 0;
    expect(!ran || bench.has_tree()?, "the thread in the middle has not run")?;
    bench.settle();
    expect(bench.common().get(RAN) == 1, "it runs then")
}

fn lends_to_senders(bench: &Bench) -> Check {
    let (me, queue) = (ThreadId::current(), queue(bench.common()));
    let receiver = queue.receiver(me)?;
    bench.helper(LOW, push_late, Slot::NONE, Slot::NONE)?;
    system::sleep(MS);
    undisturbed(bench, || {
        let value = receiver.pop(Wait::NEVER)?;
        if value == (1, [2, 3]) { Ok(()) } else { Err(Error::InvalidArgument) }
    })
}

fn lends_to_receivers(bench: &Bench) -> Check {
    let (me, queue) = (ThreadId::current(), queue(bench.common()));
    let sender = queue.sender(me)?;
    sender.push((0, [0; 2]), Wait::NEVER)?;
    sender.push((1, [0; 2]), Wait::NEVER)?;
    bench.helper(LOW, pop_late, Slot::NONE, Slot::NONE)?;
    system::sleep(MS);
    undisturbed(bench, || sender.push((2, [0; 2]), Wait::NEVER))
}

/// Helper: becomes a sender.
fn send_never(env: &Env, argument: u64) {
    let me = Me::new(env, argument);
    let joined = queue(me.common).sender(ThreadId::current()).is_ok();
    me.common.add(RAN, u64::from(joined));
    system::sleep(10_000 * MS);
}

fn senders(bench: &Bench) -> Check {
    let (me, queue) = (ThreadId::current(), queue(bench.common()));
    let own = queue.sender(me)?;
    refused(queue.sender(me).map(|_| ()), Error::HelpsAlready, "a sender twice")?;
    for _ in 0..3 {
        bench.helper(HIGH, send_never, Slot::NONE, Slot::NONE)?;
    }
    bench.settle();
    expect(bench.common().get(RAN) == 3, "three more are senders")?;
    own.leave()?;
    let last = bench.helper(HIGH, send_never, Slot::NONE, Slot::NONE)?;
    bench.settle();
    refused(queue.sender(me).map(|_| ()), Error::TooManyHelpers, "a fifth one")?;
    // The place of one that has ended is free.
    cap::destroy(last.slot)?;
    queue.sender(me)?.leave()?;
    Ok(())
}

/// A pair that is never stored whole.
struct Endless;

impl Value for Endless {
    const WORDS: usize = Pair::WORDS;

    fn store(self, _: Words) {
        system::sleep(10_000 * MS);
    }

    fn load(_: Words) -> Endless {
        Endless
    }
}

/// Helper: owns the queue until it is destroyed.
fn push_endlessly(env: &Env, argument: u64) {
    let me = Me::new(env, argument);
    let queue = InheritQueue::new(me.common.part(QUEUE.0, QUEUE.1));
    if let Ok(sender) = queue.sender(ThreadId::current()) {
        let _ = sender.push(Endless, Wait::NEVER);
    }
}

/// Takes a value from a queue, and counts that the queue is lost.
fn pop_lost(env: &Env, argument: u64, wait: Wait) {
    let me = Me::new(env, argument);
    let queue = queue(me.common);
    if let Ok(receiver) = queue.receiver(ThreadId::current()) {
        let told = receiver.pop(wait) == Err(Error::WrongState);
        me.common.add(RAN, u64::from(told));
    }
}

/// Helper: waits for a value for a while.
fn pop_soon(env: &Env, argument: u64) {
    pop_lost(env, argument, Wait::until(system::clock() + 4 * MS));
}

/// Helper: waits for a value.
fn pop_ever(env: &Env, argument: u64) {
    pop_lost(env, argument, Wait::NEVER);
}

fn lost(bench: &Bench) -> Check {
    bench.helper(HIGH, pop_soon, Slot::NONE, Slot::NONE)?;
    bench.helper(HIGH, pop_ever, Slot::NONE, Slot::NONE)?;
    bench.settle();
    let owner = bench.helper(HIGH, push_endlessly, Slot::NONE, Slot::NONE)?;
    // The first one's limit passes, and it waits for the owner.
    system::sleep(6 * MS);
    expect(bench.common().get(RAN) == 0, "the queue is owned")?;
    cap::destroy(owner.slot)?;
    bench.settle();
    expect(bench.common().get(RAN) == 2, "both are told that it is lost")
}

/// No thread waits for the owner, so the kernel knows of none that it has to tell.
fn lost_quietly(bench: &Bench) -> Check {
    for _ in 0..2 {
        bench.helper(HIGH, pop_ever, Slot::NONE, Slot::NONE)?;
    }
    bench.settle();
    let owner = bench.helper(HIGH, push_endlessly, Slot::NONE, Slot::NONE)?;
    bench.settle();
    cap::destroy(owner.slot)?;
    bench.settle();
    expect(bench.common().get(RAN) == 0, "both wait still")?;
    let queue = queue(bench.common());
    refused(queue.sender(ThreadId::current()).map(|_| ()), Error::WrongState, "it is lost")?;
    bench.settle();
    expect(bench.common().get(RAN) == 2, "both are told")
}

/// Helper: answers two questions, each after a while.
fn serve(env: &Env, argument: u64) {
    let me = Me::new(env, argument);
    let calls = calls(me.common);
    if let Ok(server) = calls.server(ThreadId::current()) {
        for _ in 0..2 {
            let _ = server.serve(|question| {
                work();
                (question, [question + 1, question + 2])
            });
        }
    }
}

/// Helper: is client 1.
fn ask(env: &Env, argument: u64) {
    let me = Me::new(env, argument);
    let answer = calls(me.common).call(ThreadId::current(), 1, 20);
    me.common.set(RAN, u64::from(answer == Ok((20, [21, 22]))));
}

fn answered(bench: &Bench) -> Check {
    let (me, calls) = (ThreadId::current(), calls(bench.common()));
    let client = bench.helper(HIGH, ask, Slot::NONE, Slot::NONE)?;
    bench.settle();
    refused(calls.call(me, 1, 0).map(|_| ()), Error::WrongState, "it waits already")?;
    refused(calls.call(me, 2, 0).map(|_| ()), Error::InvalidArgument, "no such client")?;
    bench.helper(LOW, serve, Slot::NONE, Slot::NONE)?;
    expect(calls.call(me, 0, 10)? == (10, [11, 12]), "the answer is right")?;
    expect(bench.common().get(RAN) == 1, "and that of the other one")?;
    expect(thread::state(client.slot).is_ok(), "which goes on")
}

fn lends_to_servers(bench: &Bench) -> Check {
    let (me, calls) = (ThreadId::current(), calls(bench.common()));
    bench.helper(LOW, serve, Slot::NONE, Slot::NONE)?;
    system::sleep(MS);
    undisturbed(bench, || calls.call(me, 0, 1).map(|_| ()))
}
