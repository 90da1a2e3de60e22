//! The scheduling tree at its worst, by a program that may divide all of a CPU: many budgets that
//! come back together, classes in each other, changes of large classes, chains of callers.
//!
//! Nothing is measured here: the trace tells how long the kernel keeps interrupts off.

use core::time::Duration;
use rt::abi::reservation::{Curve, Policy, Server, Share, WHOLE, Window};
use rt::thread::{self, Spec};
use rt::{Env, Error, Message, Slot, Slots, Wait};
use rt::{cap, ipc, reservation, signal, system};

/// Threads, and leaves where each has one of its own.
const THREADS: usize = 40;
/// Leaves without a thread.
const LEAVES: usize = 80;
/// Classes in each other, the root not counted, if the arguments do not say; a leaf is below.
const LEVELS: usize = 6;
/// Callers of a chain.
const CHAIN: usize = 8;
/// Above all threads without a reservation.
const ABOVE: Share = Share::Priority(300);
/// Nanoseconds.
const MS: u64 = 1_000_000;

type Scene = fn(&Env, Slot) -> Result<(), Error>;

/// What is played in each round, in the root class.
const SCENES: [Scene; 11] = [
    |env, root| budgets(env, root, Policy::FixedPriority, Server::Periodic),
    |env, root| budgets(env, root, Policy::FixedPriority, Server::Sporadic),
    |env, root| budgets(env, root, Policy::EarliestDeadline, Server::Constant),
    |env, root| budgets(env, root, Policy::EarliestDeadline, Server::ConstantSoft),
    |env, root| nested(env, root, Policy::FixedPriority),
    |env, root| nested(env, root, Policy::ServiceCurves),
    |env, root| changed(env, root, Policy::ServiceCurves),
    |env, root| changed(env, root, Policy::EarliestDeadline),
    windows,
    chain,
    shared,
];

/// Capabilities `root` (a CPU's root class), `own` (a leaf above all in it), `self-thread` and
/// `system`; the arguments `rounds`, `levels`, the classes in each other, and `scenes`, a mask of
/// what is played; a quota for all of it.
pub fn main(env: &Env) {
    let root = env.cap("root");
    reservation::run_on(env.cap("self-thread"), env.cap("own")).expect("it may run there");
    for _ in 0..env.number("rounds", 1) {
        let mask = env.number("scenes", u64::MAX);
        for (_, scene) in SCENES.iter().enumerate().filter(|(number, _)| mask >> number & 1 != 0) {
            scene(env, root).expect("the scene plays");
            clear(env);
        }
    }
    system::shutdown(env.cap("system"), 0).expect("the run ends");
}

/// Ends whatever a scene has left: threads and classes go before what is in them.
fn clear(env: &Env) {
    for slot in env.slots() {
        // Stale and empty slots have nothing to destroy.
        if cap::destroy(slot).is_err() {
            let _ = cap::delete(slot);
        }
    }
}

fn micros(time: u64) -> Duration {
    Duration::from_micros(time)
}

/// What a child of a class is, one of so many.
fn share(policy: Policy, number: usize, of: usize) -> Share {
    match policy {
        Policy::FixedPriority => Share::Priority((number % 512) as u16),
        Policy::EarliestDeadline => Share::Deadline,
        Policy::ServiceCurves => curve(number, of),
        Policy::Partitions => Share::Partition { number: number as u16, priority: 10 },
    }
}

/// One of so many curves, which bend at few instants.
fn curve(number: usize, of: usize) -> Share {
    let slope = WHOLE / of as u32 / 4;
    let bend = (1 + number as u64 % 4) * 10 * MS;
    Share::curve(Curve { slope: slope * (number as u32 % 2 + 1), bend, rest: slope })
}

/// A leaf for each of so many threads, which do some work on it.
fn crowd(
    env: &Env,
    slots: &mut Slots,
    count: usize,
    (work, argument): (fn(&Env, u64), u64),
    leaf: &mut dyn FnMut(usize, Slot) -> Result<(), Error>,
) -> Result<(), Error> {
    for number in 0..count {
        let [thread, on] = core::array::from_fn(|_| slots.fresh());
        leaf(number, on)?;
        start(env, 1 + number, (thread, on), (work, argument))?;
    }
    Ok(())
}

/// Starts a further thread on a leaf.
fn start(
    env: &Env,
    n: usize,
    (thread, leaf): (Slot, Slot),
    work: (fn(&Env, u64), u64),
) -> Result<(), Error> {
    thread::start(env, n, thread, further(env, n), work)?;
    reservation::run_on(thread, leaf)
}

/// Never waits.
fn spin(_: &Env, _: u64) {
    loop {
        system::work(1_000);
    }
}

/// Waits for ever shorter times, again and again.
fn doze(_: &Env, least: u64) {
    for round in 0.. {
        system::work(1_000);
        system::sleep(least + (100 - round % 100) * 1_000);
    }
}

/// Programs that never wait, each with a budget that is soon used up, and with a monitor for that
/// and for the jobs that are late: all come back in one period.
fn budgets(env: &Env, root: Slot, policy: Policy, server: Server) -> Result<(), Error> {
    let mut slots = env.slots();
    let [class, bell] = core::array::from_fn(|_| slots.fresh());
    signal::create_notification(bell)?;
    reservation::create_class(class, root, policy, ABOVE)?;
    let budget = reservation::budget(server, micros(20), micros(2_000));
    crowd(env, &mut slots, THREADS, (spin, 0), &mut |number, leaf| {
        reservation::create_leaf(leaf, class, share(policy, number, THREADS))?;
        reservation::set_budget(leaf, Some(budget))?;
        // In EDF a deadline of its own and a constant bandwidth are one too many.
        let timing = Some((micros(100), micros(100)));
        if policy == Policy::FixedPriority {
            reservation::set_timing(leaf, timing)?;
        }
        reservation::set_monitor(leaf, bell, 1, 1)
    })?;
    for _ in 0..50 {
        ipc::receive(bell, Wait::until(system::clock() + MS / 2)).ok();
    }
    // One ends after the other, while all are used.
    cap::destroy(class)
}

/// Classes in each other with a budget each, and threads at the bottom that wake and sleep.
fn nested(env: &Env, root: Slot, policy: Policy) -> Result<(), Error> {
    let mut slots = env.slots();
    let first = slots.fresh();
    reservation::create_class(first, root, policy, ABOVE)?;
    let mut class = first;
    let levels = env.number("levels", LEVELS as u64) as usize;
    for level in 1..levels {
        let inner = slots.fresh();
        let aside = slots.fresh();
        // Each has a part of what the one above has.
        let of = 2 << (2 * (level - 1));
        reservation::create_class(inner, class, policy, share(policy, level, of))?;
        reservation::create_leaf(aside, class, share(policy, level, 4 * of))?;
        start(env, THREADS + level, (slots.fresh(), aside), (doze, 30_000))?;
        if policy == Policy::FixedPriority {
            let budget = reservation::budget(Server::Periodic, micros(400), micros(1_000));
            reservation::set_budget(inner, Some(budget))?;
        }
        class = inner;
    }
    crowd(env, &mut slots, THREADS, (doze, 20_000), &mut |number, leaf| {
        reservation::create_leaf(leaf, class, share(policy, number, THREADS << (2 * levels)))
    })?;
    system::sleep(10 * MS);
    cap::destroy(first)
}

/// A class of many leaves, some in use, all of which are changed and moved.
fn changed(env: &Env, root: Slot, policy: Policy) -> Result<(), Error> {
    let mut slots = env.slots();
    let [class, other] = core::array::from_fn(|_| slots.fresh());
    reservation::create_class(class, root, policy, ABOVE)?;
    reservation::create_class(other, root, policy, Share::Priority(301))?;
    let all = THREADS / 4 + LEAVES;
    let give = |number: usize, leaf: Slot| {
        reservation::create_leaf(leaf, class, share(policy, number, all))?;
        match policy {
            Policy::ServiceCurves => Ok(()),
            _ => {
                let budget = reservation::budget(Server::Constant, micros(20), micros(5_000));
                reservation::set_budget(leaf, Some(budget))
            }
        }
    };
    crowd(env, &mut slots, THREADS / 4, (doze, 20_000), &mut |number, leaf| give(number, leaf))?;
    let leaves: [Slot; LEAVES] = core::array::from_fn(|_| slots.fresh());
    for (number, leaf) in leaves.iter().enumerate() {
        give(number, *leaf)?;
    }
    for (number, leaf) in leaves.iter().enumerate() {
        reservation::set_share(*leaf, share(policy, number + 1, all))?;
        reservation::set_timing(*leaf, Some((micros(6_000), micros(6_000)))).ok();
        reservation::join(*leaf, other, share(policy, number, all))?;
        reservation::usage(*leaf)?;
    }
    cap::destroy(class)?;
    cap::destroy(other)
}

/// As many windows as there can be, partitions of many priorities, and a background.
fn windows(env: &Env, root: Slot) -> Result<(), Error> {
    const COUNT: u16 = 31;
    let mut slots = env.slots();
    let class = slots.fresh();
    let policy = Policy::Partitions;
    reservation::create_class(class, root, policy, ABOVE)?;
    let ends = (1..=COUNT).map(|number| (u64::from(number) * MS / 2, number));
    let mut all = [Window { end: 0, partition: 0 }; COUNT as usize];
    for (window, (end, partition)) in all.iter_mut().zip(ends) {
        *window = Window { end, partition };
    }
    reservation::set_windows(class, &all)?;
    let [background, busy] = core::array::from_fn(|_| slots.fresh());
    reservation::create_class(background, class, Policy::FixedPriority, share(policy, 0, 0))?;
    reservation::create_leaf(busy, background, Share::Priority(1))?;
    start(env, THREADS + 1, (slots.fresh(), busy), (spin, 0))?;
    let inner: [Slot; COUNT as usize] = core::array::from_fn(|_| slots.fresh());
    crowd(env, &mut slots, inner.len(), (doze, 50_000), &mut |number, leaf| {
        let inner = inner[number];
        reservation::create_class(
            inner,
            class,
            Policy::FixedPriority,
            share(policy, number + 1, 0),
        )?;
        reservation::create_leaf(leaf, inner, Share::Priority(number as u16))?;
        let budget = reservation::budget(Server::Sporadic, micros(40), micros(1_000));
        reservation::set_budget(leaf, Some(budget))
    })?;
    system::sleep(20 * MS);
    cap::destroy(class)
}

/// Servers that call each other, and a client whose reservation and whose priority change while the
/// last one works.
fn chain(env: &Env, root: Slot) -> Result<(), Error> {
    let mut slots = env.slots();
    let leaves: [Slot; 2] = core::array::from_fn(|_| slots.fresh());
    for leaf in leaves {
        reservation::create_leaf(leaf, root, ABOVE)?;
        let budget = reservation::budget(Server::Periodic, micros(200), micros(1_000));
        reservation::set_budget(leaf, Some(budget))?;
    }
    let doors: [Slot; CHAIN] = core::array::from_fn(|_| slots.fresh());
    doors.iter().try_for_each(|door| signal::create_endpoint(*door, Slot::NONE))?;
    let mut threads = [Slot::NONE; CHAIN];
    for (number, thread) in threads.iter_mut().enumerate() {
        *thread = slots.fresh();
        let next = doors.get(number + 1).map_or(0, |door| door.word());
        let spec = Spec { priority: 60, ..further(env, 1 + number) };
        thread::start(env, 1 + number, *thread, spec, (serve, doors[number].word() | next << 16))?;
    }
    let client = slots.fresh();
    start(env, 1 + CHAIN, (client, leaves[0]), (ask, doors[0].word()))?;
    for round in 0..60 {
        system::sleep(MS / 10);
        reservation::run_on(client, leaves[round % 2])?;
        thread::set_priority(client, [50, 70][round % 2])?;
        thread::suspend(threads[CHAIN - 1])?;
        thread::resume(threads[CHAIN - 1])?;
    }
    cap::destroy(client)
}

fn further(env: &Env, n: usize) -> Spec {
    let buffer = env.buffer_address(n);
    Spec { domain: Slot::NONE, priority: 50, buffer, handler: Slot::NONE }
}

/// Answers on the endpoint in the low half, behind a call to that in the high half.
fn serve(_: &Env, doors: u64) {
    let (door, next) = (Slot(doors as u32 & 0xffff), Slot((doors >> 16) as u32));
    let mut got = ipc::receive(door, Wait::NEVER);
    while got.is_ok() {
        system::work(1_000);
        if next.0 != 0 {
            // Its own caller may be gone by then.
            let _ = ipc::call(next, Message::empty(0));
        }
        got = ipc::reply_wait(door, Message::empty(0));
    }
}

/// Calls for ever, each time until a deadline.
fn ask(_: &Env, door: u64) {
    while !matches!(
        ipc::call_within(Slot(door as u32), Message::empty(0), Wait::until(system::clock() + MS)),
        Err(Error::Stale | Error::NoCapability)
    ) {}
}

/// Many threads on one leaf, which ends.
fn shared(env: &Env, root: Slot) -> Result<(), Error> {
    let mut slots = env.slots();
    let leaf = slots.fresh();
    reservation::create_leaf(leaf, root, ABOVE)?;
    let budget = reservation::budget(Server::Periodic, micros(500), micros(1_000));
    reservation::set_budget(leaf, Some(budget))?;
    for number in 0..THREADS {
        start(env, 1 + number, (slots.fresh(), leaf), (spin, 0))?;
    }
    system::sleep(20 * MS);
    cap::destroy(leaf)
}
