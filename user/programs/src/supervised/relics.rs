//! What a life leaves behind is not there in the next one, but for what is shared, memory that the
//! manifest names, and reservations.

use core::mem::forget;
use rt::abi::reservation::Server;
use rt::prelude::*;
use rt::thread::Spec;
use rt::{Words, arch, cap, ipc, reservation, signal, system, thread, time};
use sync::{InheritMutex, Mutex, Scope, ThreadId};

/// What the notification `signals` tells: the alarm, the serial line, the program itself.
const LINE: u64 = 2;
/// When the alarm rings that the first life sets.
const LATER: Duration = Duration::from_millis(20);
/// How long what has to come may take.
const PATIENCE: Duration = Duration::from_secs(10);
/// What the first life gives its reservation, and for how long the second one uses it.
const BUDGET: Duration = Duration::from_millis(1);
const PERIOD: Duration = Duration::from_millis(20);
const PERIODS: u32 = 3;

/// Words of memory `lives`: how many there were, and mutexes.
const INHERITING: usize = 4;
const PLAIN: usize = 8;

/// Its first life leaves an alarm that is to ring, a signal and an interrupt that is not
/// acknowledged, a caller whom another thread could answer, mutexes that it owns and for which
/// threads wait, and a budget, and faults. Capabilities `alarm`, `line` (control), `signals`
/// (receive), `self` (signal), `shared` (receive, signal), `door` (receive), `console`, `system`,
/// perhaps its own reservation `leaf` (control); memory `lives`; somebody types, `caller` calls.
pub fn main(env: &Env) {
    let signals = env.cap("signals");
    let typed = ipc::receive(signals, Wait::within(PATIENCE)).expect("somebody types").badge;
    assert!(typed == LINE, "at the begin of a life the line alone signals, not {typed:#b}");
    match env.mem("lives").add(0, 1) {
        0 => leave(env),
        _ => look(env),
    }
}

fn mutexes(env: &Env) -> (InheritMutex, Mutex) {
    let lives: Words = env.mem("lives");
    let inheriting = InheritMutex::new(lives.part(INHERITING, 4));
    (inheriting, Mutex::new(lives.part(PLAIN, 2), Scope::Domain))
}

/// Further thread: waits for the mutex of this number.
fn wait(env: &Env, number: u64) {
    let (me, (inheriting, plain)) = (ThreadId::current(), mutexes(env));
    let _ = match number {
        1 => inheriting.lock(me).map(forget),
        _ => plain.lock(me).map(forget),
    };
    panic!("its owner keeps it");
}

fn leave(env: &Env) {
    let alarm = (Instant::now() + LATER).as_nanos();
    signal::set_timer(env.cap("alarm"), alarm).expect("it is set");
    for name in ["self", "shared"] {
        signal::signal(env.cap(name)).expect("it can be signalled");
    }
    let (me, (inheriting, plain)) = (ThreadId::current(), mutexes(env));
    inheriting.lock(me).map(forget).expect("it is free");
    plain.lock(me).map(forget).expect("it is free");
    let mut slots = env.slots();
    for number in [1, 2] {
        let spec = Spec::further(env, number, 50);
        let work = (wait as fn(&Env, u64), number as u64);
        thread::start(env, number, slots.fresh(), spec, work).expect("it starts");
    }
    ipc::receive(env.cap("door"), Wait::within(PATIENCE)).expect("it is called");
    cap::save_reply(slots.fresh()).expect("the caller waits");
    time::sleep(2.ms());
    if let Some(leaf) = env.find_cap("leaf") {
        let budget = reservation::budget(Server::Periodic, BUDGET, PERIOD);
        reservation::set_budget(leaf, Some(budget)).expect("it is set");
    }
    // A panic of a program that may end the run would end it.
    arch::undefined();
}

fn look(env: &Env) {
    let none = ipc::receive(env.cap("signals"), Wait::within(2 * LATER));
    assert!(none.is_err(), "a timer of an earlier life rings: {none:?}");
    let kept = ipc::receive(env.cap("shared"), Wait::ZERO);
    assert!(kept.is_ok(), "what is shared stays: {kept:?}");
    let (me, (inheriting, plain)) = (ThreadId::current(), mutexes(env));
    let soon = || Wait::within(2.ms());
    let guard = inheriting.lock_within(me, soon()).expect("its owner has ended, and who waited");
    assert!(guard.owner_died(), "its next owner is told");
    guard.make_consistent();
    guard.unlock().expect("it owns it");
    let stays = plain.lock_within(me, soon()).map(forget);
    assert!(stays == Err(Error::Timeout), "memory stays as it was, a taken mutex too: {stays:?}");
    if let Some(leaf) = env.find_cap("leaf") {
        let had = || reservation::usage(leaf).expect("it is there").service;
        let (end, before) = (Instant::now() + PERIODS * PERIOD, had());
        while Instant::now() < end {
            system::work(10_000);
        }
        let most = (PERIODS + 2) * BUDGET;
        let had = Duration::from_nanos(had() - before);
        assert!(had <= most, "a reservation keeps its budget: {had:?} in {PERIODS} periods");
    }
    ipc::receive(env.cap("door"), Wait::within(PATIENCE)).expect("it is called again");
    ipc::reply(Message::empty(0)).expect("the caller waits");
    println!(env.console(), "nothing is left of an earlier life");
    let _ = system::shutdown(env.cap("system"), 0);
}

/// Calls both lives: the first one does not answer. Capability `door` (send).
pub fn caller(env: &Env) {
    let call = || ipc::call_within(env.cap("door"), Message::empty(0), Wait::within(PATIENCE));
    let first = call().map(drop);
    assert!(first == Err(Error::Abandoned), "with its domain a saved right ends: {first:?}");
    let second = call().map(drop);
    assert!(second.is_ok(), "the next life answers: {second:?}");
}
