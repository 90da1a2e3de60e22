//! Servers have the priorities of those that wait for them, and an interrupt thread lends its own.

use super::bench::*;
use rt::{Env, Error, Message, Rights, Slot, Wait, Words, cap, ipc, signal, system};
use sync::{InheritMutex, ThreadId};

pub const CHECKS: Checks = &[
    ("a client's wait for a server is bounded", bounded),
    ("without a server it is not", unbounded),
    ("a client in a server's queue lends as well", queued),
    ("a server ceases to be one", ceases),
    ("a server's note waits where none serves", notes),
    ("an interrupt thread lends its level to a mutex's owner", interrupt_thread),
];

/// Common words: a thread between the two has run; it had run when the wait was over; a mutex.
const RAN: usize = 40;
const SAW: usize = 41;
const MUTEX: usize = 8;
const WORDS: usize = 16;

/// Works for so long on the CPU.
fn work(time: u64) {
    let until = system::clock() + time;
    while system::clock() < until {}
}

/// Helper: says that it runs once it has slept.
fn disturb(env: &Env, argument: u64) {
    let me = Me::new(env, argument);
    system::sleep(3 * MS);
    me.common.set(RAN, 1);
}

/// Receives, works for as long as its client says, and answers; two times.
fn answer(on: Slot) {
    for _ in 0..2 {
        if let Ok(request) = ipc::receive(on, Wait::NEVER) {
            work(request.words[0] * MS);
            let _ = ipc::reply(Message::empty(0));
        }
    }
}

/// Helper: a server that inherits.
fn serve(env: &Env, argument: u64) {
    let me = Me::new(env, argument);
    if ipc::set_serving(me.a, true).is_ok() {
        answer(me.a);
    }
}

/// Helper: a server that does not.
fn answer_only(env: &Env, argument: u64) {
    let me = Me::new(env, argument);
    answer(me.a);
}

/// Helper: a client whose request takes a moment.
fn ask(env: &Env, argument: u64) {
    let me = Me::new(env, argument);
    let _ = ipc::call(me.a, Message::short(0, [2]));
}

/// Calls a low server beside a thread that comes between. Whether that ran before the answer came.
fn calls(bench: &Bench, server: Work, first: Option<Work>) -> Result<bool, Why> {
    let (common, endpoint) = (bench.common(), bench.endpoint()?);
    common.set(RAN, 0);
    bench.helper(LOW, server, endpoint, Slot::NONE)?;
    bench.helper(LOW + 1, disturb, Slot::NONE, Slot::NONE)?;
    if let Some(first) = first {
        bench.helper(LOW, first, endpoint, Slot::NONE)?;
    }
    system::sleep(MS);
    ipc::call(endpoint, Message::short(0, [5]))?;
    let ran = common.get(RAN) != 0;
    system::sleep(5 * MS);
    expect(common.get(RAN) == 1, "it runs then")?;
    Ok(ran)
}

fn bounded(bench: &Bench) -> Check {
    let ran = calls(bench, serve, None)?;
    expect(!ran, "a thread between the two has not run")
}

fn unbounded(bench: &Bench) -> Check {
    let ran = calls(bench, answer_only, None)?;
    // Where a tree orders threads, a server runs on its caller's time.
    expect(ran || bench.has_tree()?, "a thread between the two has run")
}

/// The server may be busy for another client still, so that the call is queued.
fn queued(bench: &Bench) -> Check {
    let ran = calls(bench, serve, Some(ask))?;
    expect(!ran, "a thread between the two has not run")
}

fn ceases(bench: &Bench) -> Check {
    let (endpoint, weak) = (bench.endpoint()?, bench.slot());
    refused(ipc::set_serving(endpoint, false), Error::NoHelper, "it is none")?;
    ipc::set_serving(endpoint, true)?;
    refused(ipc::set_serving(endpoint, true), Error::HelpsAlready, "it is one")?;
    cap::copy(endpoint, weak, Rights::SEND)?;
    refused(ipc::set_serving(weak, false), Error::MissingRight, "it may not receive")?;
    ipc::set_serving(endpoint, false)?;
    refused(ipc::set_serving(endpoint, false), Error::NoHelper, "it is none any more")?;
    ipc::set_serving(endpoint, true)?;
    cap::destroy(endpoint)?;
    let fresh = bench.endpoint()?;
    refused(ipc::set_serving(fresh, false), Error::NoHelper, "another one")
}

/// Helper: serves one endpoint, and leaves a note on another one.
fn note(env: &Env, argument: u64) {
    let me = Me::new(env, argument);
    if ipc::set_serving(me.a, true).is_ok() {
        let _ = ipc::send(me.b, Message::short(7, [7]), Wait::NEVER);
    }
}

/// What a server sends to others, and what others send where a server receives that serves
/// elsewhere, lends nothing.
fn notes(bench: &Bench) -> Check {
    let (served, other) = (bench.endpoint()?, bench.endpoint()?);
    for serves in [false, true] {
        if serves {
            ipc::set_serving(served, true)?;
        }
        bench.helper(HIGH, note, served, other)?;
        system::sleep(MS);
        let noted = ipc::receive(other, Wait::NEVER)?;
        expect(noted.words[0] == 7, "its note has come")?;
        bench.settle();
    }
    ipc::set_serving(served, false)?;
    Ok(())
}

fn mutex_of(common: Words) -> InheritMutex {
    InheritMutex::new(common.part(MUTEX, WORDS))
}

/// Helper: owns the mutex and works for a while.
fn own(env: &Env, argument: u64) {
    let me = Me::new(env, argument);
    if let Ok(_guard) = mutex_of(me.common).lock(ThreadId::current()) {
        work(6 * MS);
    }
}

/// Helper: an interrupt thread. A timer wakes it, and it locks the mutex.
fn interrupted(env: &Env, argument: u64) {
    let me = Me::new(env, argument);
    if ipc::receive(me.a, Wait::NEVER).is_ok()
        && let Ok(_guard) = mutex_of(me.common).lock(ThreadId::current())
    {
        me.common.set(SAW, 1 + me.common.get(RAN));
    }
}

/// Low owns what the interrupt thread waits for: a thread between them does not run before that
/// has it (S4-07).
fn interrupt_thread(bench: &Bench) -> Check {
    let (common, notification) = (bench.common(), bench.notification()?);
    let timer = bench.slot();
    signal::create_timer(timer, notification)?;
    (RAN..=SAW).for_each(|word| common.set(word, 0));
    bench.helper(HIGH, interrupted, notification, Slot::NONE)?;
    bench.helper(LOW, own, Slot::NONE, Slot::NONE)?;
    bench.helper(LOW + 1, disturb, Slot::NONE, Slot::NONE)?;
    signal::set_timer(timer, system::clock() + 2 * MS)?;
    system::sleep(12 * MS);
    bench.settle();
    let saw = common.get(SAW);
    expect(saw != 0, "it owned the mutex")?;
    expect(saw == 1, "a thread between the two had not run")?;
    expect(common.get(RAN) == 1 && common.get(MUTEX) == 0, "it ran, and the mutex is free")
}
