//! System calls at their worst: memory that takes tables at every level, domains with much in
//! them, long messages under deadlines, a crowd in one queue, deadlines at one instant.
//!
//! Nothing is measured here: the trace tells how long the kernel keeps interrupts off.

use crate::random::Random;
use abi::object::Resource;
use rt::abi::call::Timeout;
use rt::memory::{self, Range};
use rt::ports::Ports;
use rt::thread::{self, Registers, Spec};
use rt::{Env, Error, Message, PAGE, Rights, Slot, Slots, Wait};
use rt::{cap, domain, ipc, signal, system};

const RW: Rights = Rights(Rights::READ.0 | Rights::WRITE.0);
/// Where 512 pages take two tables of each level.
const ACROSS: u64 = 0x80_0000_0000 - 256 * PAGE;
/// Threads in a queue.
const CROWD: usize = 100;
/// Threads and timers that wait for the same instant.
pub(crate) const SLEEPERS: usize = 40;
/// The words of a long message.
const LONG: usize = 124;
/// Nanoseconds that suffice to block all threads.
pub(crate) const SOON: u64 = 2_000_000;
/// An hour.
const LATER: u64 = 3_600_000_000_000;

pub(crate) type Scene = fn(&Env) -> Result<(), Error>;

/// What is played in each round.
const SCENES: [Scene; 15] = [
    large_memory,
    large_domain,
    deadlines,
    talk,
    moved,
    forgotten,
    unanswered,
    exchanged,
    fails,
    answered_long,
    called_long,
    taken_long,
    unfit,
    end_themselves,
    accesses_ports,
];

/// Capabilities `self`, `system`, `ports`; the argument `rounds`; a quota for all of it.
pub fn main(env: &Env) {
    let mut random = Random::new(env.number("seed", 1));
    for _ in 0..env.number("rounds", 2) {
        for scene in SCENES {
            scene(env).expect("the scene plays");
            clear(env);
        }
        crowd(env, &mut random).expect("a crowd");
        clear(env);
    }
    system::shutdown(env.cap("system"), 0).expect("the run ends");
}

fn long() -> Message {
    Message::long(0, LONG, [1; 4])
}

/// Ends whatever a scene has left.
pub(crate) fn clear(env: &Env) {
    for slot in env.slots() {
        // Stale and empty slots have nothing to destroy.
        if cap::destroy(slot).is_err() {
            let _ = cap::delete(slot);
        }
    }
}

/// Ports that no device minds.
fn accesses_ports(env: &Env) -> Result<(), Error> {
    let ports = Ports::new(env.cap("ports"));
    ports.write_32(0, u32::MAX)?;
    ports.read_32(0)?;
    for offset in 0..4 {
        ports.read_8(offset)?;
    }
    Ok(())
}

/// 512 pages that are made, mapped, protected, and given back, also where one is in the way.
fn large_memory(env: &Env) -> Result<(), Error> {
    let mut slots = env.slots();
    let [memory, mapping, obstacle] = core::array::from_fn(|_| slots.fresh());
    memory::create(memory, 512)?;
    let all = Range { memory, first: 0, pages: 512, address: ACROSS };
    memory::map(mapping, Slot::NONE, all, RW)?;
    memory::protect(mapping, Rights::READ)?;
    cap::destroy(mapping)?;
    let last = Range { first: 511, pages: 1, address: ACROSS + 511 * PAGE, ..all };
    memory::map(obstacle, Slot::NONE, last, RW)?;
    assert_eq!(memory::map(mapping, Slot::NONE, all, RW), Err(Error::AddressInUse));
    for n in 0..16 {
        let part = Range { first: n, pages: 32, address: ACROSS + (32 * n + 1024) * PAGE, ..all };
        memory::map(slots.fresh(), Slot::NONE, part, RW)?;
    }
    // With 17 mappings.
    cap::destroy(memory)
}

/// A domain with threads, a mapping and capabilities, ended in one go.
fn large_domain(env: &Env) -> Result<(), Error> {
    let mut slots = env.slots();
    let [memory, child, mapping] = core::array::from_fn(|_| slots.fresh());
    let mut quotas = [0; Resource::COUNT];
    quotas[Resource::Tables as usize] = 40;
    memory::create(memory, 64)?;
    domain::create(child, 64, 90, quotas)?;
    let pages = Range { memory, first: 0, pages: 64, address: ACROSS };
    memory::map(mapping, child, pages, RW)?;
    for slot in 1..64 {
        domain::grant(child, memory, Slot(slot), Rights::READ)?;
    }
    for n in 0..16 {
        // Each buffer takes a table of its own.
        let buffer = ACROSS + (n + 1) * 512 * PAGE;
        let spec = Spec { domain: child, priority: 90, buffer, handler: Slot::NONE };
        thread::create(slots.fresh(), spec)?;
    }
    cap::destroy(child)
}

/// What a thread does, with an argument.
pub(crate) type Work = fn(&Env, u64);

/// A further thread without a fault handler, which is not looked for between what is measured.
fn spec(env: &Env, n: usize, priority: u64) -> Spec {
    let buffer = env.buffer_address(n);
    Spec { domain: Slot::NONE, priority, buffer, handler: Slot::NONE }
}

/// Starts further threads from number `first` on, with arguments from a row of slots.
pub(crate) fn start(
    env: &Env,
    first: usize,
    (threads, priority): (&[Slot], &mut dyn FnMut() -> u64),
    (work, argument): (Work, &dyn Fn(usize) -> u64),
) -> Result<(), Error> {
    for (n, slot) in threads.iter().enumerate() {
        let spec = spec(env, first + n, priority());
        thread::start(env, first + n, *slot, spec, (work, argument(n)))?;
    }
    Ok(())
}

/// Calls that queue at a server: served, moved within the queue, cancelled and destroyed.
fn crowd(env: &Env, random: &mut Random) -> Result<(), Error> {
    let mut slots = env.slots();
    let door = slots.fresh();
    signal::create_endpoint(door, Slot::NONE)?;
    let threads: [Slot; CROWD] = core::array::from_fn(|_| slots.fresh());
    // Above this thread, so that each queues before the next is made.
    start(env, 1, (&threads, &mut || 101 + random.below(100)), (nag, &|_| door.word()))?;
    ipc::receive(door, Wait::NEVER)?;
    for _ in 0..2 * CROWD {
        ipc::reply_wait(door, long())?;
    }
    ipc::reply(long())?;
    for (n, slot) in threads.iter().enumerate() {
        thread::set_priority(*slot, 101 + random.below(100))?;
        if n % 4 == 0 {
            thread::suspend(*slot)?;
            thread::set(*slot, Registers { cancel: true, ..Registers::default() })?;
        }
        if n % 4 == 1 {
            cap::destroy(*slot)?;
        }
    }
    cap::destroy(door)
}

/// Calls on the endpoint in a slot, until that is gone.
fn nag(_: &Env, door: u64) {
    while ipc::call_within(Slot(door as u32), long(), Wait::until(LATER)).is_ok() {}
}

/// Timers with a thread behind each, and timeouts of threads, for one instant.
fn deadlines(env: &Env) -> Result<(), Error> {
    let mut slots = env.slots();
    let bells: [Slot; SLEEPERS] = core::array::from_fn(|_| slots.fresh());
    let timers: [Slot; SLEEPERS] = core::array::from_fn(|_| slots.fresh());
    let waiters: [Slot; SLEEPERS] = core::array::from_fn(|_| slots.fresh());
    let sleepers: [Slot; SLEEPERS] = core::array::from_fn(|_| slots.fresh());
    bells.iter().try_for_each(|bell| signal::create_notification(*bell))?;
    let at = system::clock() + SOON;
    for (timer, bell) in timers.iter().zip(&bells) {
        signal::create_timer(*timer, *bell)?;
        signal::set_timer(*timer, at)?;
    }
    let mut next = || 190;
    start(env, 1, (&waiters, &mut next), (wait, &|n| bells[n].word()))?;
    start(env, 1 + SLEEPERS, (&sleepers, &mut next), (sleep, &|_| at))?;
    system::sleep_until(at + SOON);
    Ok(())
}

/// Waits for a signal.
fn wait(_: &Env, bell: u64) {
    ipc::receive(Slot(bell as u32), Wait::until(LATER)).expect("a signal");
}

/// Waits for an instant.
fn sleep(_: &Env, at: u64) {
    system::sleep_until(at);
}

/// Long calls to a thread that waits with a deadline, and both halves at once.
fn talk(env: &Env) -> Result<(), Error> {
    let mut slots = env.slots();
    let [door, other, server, sender] = core::array::from_fn(|_| slots.fresh());
    signal::create_endpoint(door, Slot::NONE)?;
    signal::create_endpoint(other, Slot::NONE)?;
    let two = door.word() | other.word() << 32;
    for (n, slot, priority, work) in
        [(1, server, 110, answer as fn(&Env, u64)), (2, sender, 90, post)]
    {
        let spec = spec(env, n, priority);
        thread::start(env, n, slot, spec, (work, two))?;
    }
    for _ in 0..20 {
        ipc::call_within(door, long(), Wait::until(LATER))?;
        ipc::call(door, long())?;
        // The sender queues, so that both halves are done at once.
        system::sleep(SOON / 20);
        ipc::exchange(door, other, long(), Wait::until(LATER)).received()?;
    }
    Ok(())
}

/// Answers on the endpoint in the low half, with deadlines.
fn answer(_: &Env, slots: u64) {
    let door = Slot(slots as u32);
    let mut got = ipc::receive(door, Wait::until(LATER));
    while got.is_ok() {
        let answer = ipc::exchange(Slot::REPLY, door, long(), Wait::until(LATER));
        got = match answer.received() {
            // What was sent and not called needs no reply.
            Err(Error::NoReply) => ipc::receive(door, Wait::until(LATER)),
            other => other,
        };
    }
}

/// Sends to the endpoint in the high half, for ever.
fn post(_: &Env, slots: u64) {
    while ipc::send(Slot((slots >> 32) as u32), long(), Wait::until(LATER)).is_ok() {}
}

/// Calls to a server that never answers: with each a deadline begins and two end, among those of
/// many.
fn forgotten(env: &Env) -> Result<(), Error> {
    let mut slots = env.slots();
    let [door, server] = core::array::from_fn(|_| slots.fresh());
    let callers: [Slot; 2] = core::array::from_fn(|_| slots.fresh());
    signal::create_endpoint(door, Slot::NONE)?;
    sleepers(env, &mut slots, 90)?;
    start(env, 1 + 2 * SLEEPERS, (&[server], &mut || 190), (forget, &|_| door.word()))?;
    start(env, 2 + 2 * SLEEPERS, (&callers, &mut || 90), (insist, &|_| door.word()))?;
    system::sleep(SOON / 4);
    for _ in 0..SLEEPERS {
        let answer = ipc::call(door, Message::empty(0));
        assert_eq!(answer.map(|_| ()), Err(Error::Abandoned));
    }
    Ok(())
}

/// An instant far ahead, before all that were told.
pub(crate) fn earlier() -> Wait {
    Wait::until(LATER / 2 - system::clock())
}

/// Receives on the endpoint in a slot, and never answers.
fn forget(_: &Env, door: u64) {
    while ipc::receive(Slot(door as u32), earlier()).is_ok() {}
}

/// Calls on the endpoint in a slot, whether it is answered or not.
fn insist(_: &Env, door: u64) {
    while !matches!(
        ipc::call_within(Slot(door as u32), Message::empty(0), earlier()),
        Err(Error::Stale | Error::Destroyed)
    ) {}
}

/// Sleepers that wait for instants far ahead. They are as urgent as those whose deadlines begin and
/// end among them, of priority 190 and of another one: a deadline is deepest among its equals.
pub(crate) fn sleepers(env: &Env, slots: &mut Slots, other: u64) -> Result<(), Error> {
    let sleepers: [Slot; 2 * SLEEPERS] = core::array::from_fn(|_| slots.fresh());
    let mut priorities = [190, other].into_iter().cycle();
    let mut next = || priorities.next().unwrap_or(other);
    // Some are before others, in no order.
    start(env, 1, (&sleepers, &mut next), (sleep, &|n| LATER + n as u64 * 37 % 101))?;
    system::sleep(SOON);
    Ok(())
}

/// A timer and the deadline of a thread that are moved among those of many.
fn moved(env: &Env) -> Result<(), Error> {
    let mut slots = env.slots();
    let [bell, timer, sleeper] = core::array::from_fn(|_| slots.fresh());
    signal::create_notification(bell)?;
    signal::create_timer(timer, bell)?;
    sleepers(env, &mut slots, 100)?;
    let first = 1 + 2 * SLEEPERS;
    start(env, first, (&[sleeper], &mut || 190), (sleep, &|_| LATER / 2))?;
    for n in 0..10 {
        signal::set_timer(timer, LATER / 2 + n % 2 * LATER)?;
        thread::set_priority(sleeper, [100, 190][n as usize % 2])?;
    }
    Ok(())
}

/// A send to a thread that waits with a deadline, then the receipt of a call that waits, by a
/// server that has not answered the call before: two deadlines end and one begins.
fn unanswered(env: &Env) -> Result<(), Error> {
    let mut slots = env.slots();
    let [door, other, receiver] = core::array::from_fn(|_| slots.fresh());
    let callers: [Slot; 2] = core::array::from_fn(|_| slots.fresh());
    signal::create_endpoint(door, Slot::NONE)?;
    signal::create_endpoint(other, Slot::NONE)?;
    sleepers(env, &mut slots, 90)?;
    let (first, second) = (1 + 2 * SLEEPERS, 2 + 2 * SLEEPERS);
    start(env, first, (&[receiver], &mut || 190), (forget, &|_| other.word()))?;
    start(env, second, (&callers, &mut || 191), (queue, &|_| door.word()))?;
    for _ in 0..2 * SLEEPERS {
        ipc::exchange(other, door, Message::empty(0), Wait::NEVER).received()?;
        ipc::receive(door, Wait::NEVER)?;
        ipc::reply_wait(door, Message::empty(0))?;
    }
    Ok(())
}

/// Calls on the endpoint in a slot, with a deadline for the answer alone.
fn queue(_: &Env, door: u64) {
    loop {
        let wait = Wait { send: Timeout::Never, ..earlier() };
        let outcome = ipc::exchange(Slot(door as u32), Slot::REPLY, Message::empty(0), wait);
        if matches!(outcome.received(), Err(Error::Stale | Error::Destroyed)) {
            return;
        }
    }
}

/// A send to a thread that waits with a deadline, then the receipt of a message that was sent with
/// one.
fn exchanged(env: &Env) -> Result<(), Error> {
    let mut slots = env.slots();
    let [door, other, receiver, sender] = core::array::from_fn(|_| slots.fresh());
    signal::create_endpoint(door, Slot::NONE)?;
    signal::create_endpoint(other, Slot::NONE)?;
    sleepers(env, &mut slots, 90)?;
    let first = 1 + 2 * SLEEPERS;
    start(env, first, (&[receiver], &mut || 190), (forget, &|_| other.word()))?;
    start(env, first + 1, (&[sender], &mut || 190), (offer, &|_| door.word()))?;
    for _ in 0..SLEEPERS {
        ipc::exchange(other, door, Message::empty(0), Wait::NEVER).received()?;
    }
    Ok(())
}

/// Sends to the endpoint in a slot, for ever.
fn offer(_: &Env, door: u64) {
    while ipc::send(Slot(door as u32), Message::empty(0), earlier()).is_ok() {}
}

/// Faults that go to a server with a deadline, which has not answered the call before.
fn fails(env: &Env) -> Result<(), Error> {
    let mut slots = env.slots();
    let [door, server, caller] = core::array::from_fn(|_| slots.fresh());
    let faulty: [Slot; 16] = core::array::from_fn(|_| slots.fresh());
    signal::create_endpoint(door, Slot::NONE)?;
    sleepers(env, &mut slots, 90)?;
    let first = 1 + 2 * SLEEPERS;
    start(env, first, (&[server], &mut || 190), (forget, &|_| door.word()))?;
    start(env, first + 1, (&[caller], &mut || 90), (insist, &|_| door.word()))?;
    for slot in &faulty {
        let spec = Spec { domain: Slot::NONE, priority: 80, buffer: 0, handler: door };
        thread::create(*slot, spec)?;
        // No page is there.
        thread::set(*slot, Registers { instruction: Some(PAGE), ..Registers::default() })?;
        thread::resume(*slot)?;
    }
    system::sleep(SOON / 4);
    Ok(())
}

/// The first further thread behind the sleepers.
pub(crate) const FIRST: usize = 1 + 2 * SLEEPERS;

/// Two slots and the number of a thread, in a word.
pub(crate) fn pack(door: Slot, other: Slot, n: usize) -> u64 {
    door.word() | other.word() << 16 | (n as u64) << 32
}

/// What [`pack`] has packed.
pub(crate) fn unpack(word: u64) -> (Slot, Slot, usize) {
    (Slot(word as u32 & 0xffff), Slot((word >> 16) as u32 & 0xffff), (word >> 32) as usize)
}

/// Whether what was asked for is gone.
pub(crate) fn gone<T>(result: Result<T, Error>) -> bool {
    matches!(result, Err(Error::Stale | Error::Destroyed | Error::NoCapability))
}

/// Long answers with a capability to a caller with a deadline.
fn answered_long(env: &Env) -> Result<(), Error> {
    let mut slots = env.slots();
    let [door, client, accept, gift] = core::array::from_fn(|_| slots.fresh());
    signal::create_endpoint(door, Slot::NONE)?;
    signal::create_endpoint(gift, Slot::NONE)?;
    sleepers(env, &mut slots, 190)?;
    start(env, FIRST, (&[client], &mut || 190), (takes, &|_| pack(door, accept, FIRST)))?;
    env.buffer(0).offer(gift, Rights::ALL);
    let message = long().with_capability();
    ipc::receive(door, Wait::NEVER)?;
    for _ in 0..20 {
        let _ = cap::delete(accept);
        ipc::reply_wait(door, message)?;
    }
    Ok(())
}

/// Calls with a deadline, for an answer that carries a capability.
fn takes(env: &Env, word: u64) {
    let (door, accept, n) = unpack(word);
    env.buffer(n).accept(accept);
    while !gone(ipc::call_within(door, Message::empty(0), earlier())) {}
}

/// Long calls and sends with a capability to a server with a deadline.
fn called_long(env: &Env) -> Result<(), Error> {
    let mut slots = env.slots();
    let [door, server, accept, gift] = core::array::from_fn(|_| slots.fresh());
    signal::create_endpoint(door, Slot::NONE)?;
    signal::create_endpoint(gift, Slot::NONE)?;
    sleepers(env, &mut slots, 190)?;
    start(env, FIRST, (&[server], &mut || 190), (serves, &|_| pack(door, accept, FIRST)))?;
    env.buffer(0).offer(gift, Rights::ALL);
    let message = long().with_capability();
    for _ in 0..20 {
        let _ = cap::delete(accept);
        ipc::call(door, message)?;
        let _ = cap::delete(accept);
        ipc::call_within(door, message, earlier())?;
        let _ = cap::delete(accept);
        ipc::send(door, message, Wait::NEVER)?;
    }
    Ok(())
}

/// Answers calls that carry a capability, with deadlines.
fn serves(env: &Env, word: u64) {
    let (door, accept, n) = unpack(word);
    env.buffer(n).accept(accept);
    let mut got = ipc::receive(door, earlier());
    while !gone(got) {
        got = ipc::exchange(Slot::REPLY, door, Message::empty(0), earlier()).received();
    }
}

/// Long messages with a capability from senders with a deadline.
fn taken_long(env: &Env) -> Result<(), Error> {
    let mut slots = env.slots();
    let [door, sender, caller, accept, gift] = core::array::from_fn(|_| slots.fresh());
    signal::create_endpoint(door, Slot::NONE)?;
    signal::create_endpoint(gift, Slot::NONE)?;
    sleepers(env, &mut slots, 190)?;
    start(env, FIRST, (&[sender], &mut || 190), (gives, &|_| pack(door, gift, FIRST)))?;
    start(env, FIRST + 1, (&[caller], &mut || 190), (asks, &|_| pack(door, gift, FIRST + 1)))?;
    env.buffer(0).accept(accept);
    for _ in 0..40 {
        let _ = cap::delete(accept);
        ipc::receive(door, Wait::NEVER)?;
        let _ = cap::delete(accept);
        ipc::reply_wait(door, Message::empty(0))?;
    }
    Ok(())
}

/// Sends a capability with each message, for ever.
fn gives(env: &Env, word: u64) {
    let (door, gift, n) = unpack(word);
    env.buffer(n).offer(gift, Rights::ALL);
    while !gone(ipc::send(door, long().with_capability(), earlier())) {}
}

/// Calls with a capability in each message, for ever.
fn asks(env: &Env, word: u64) {
    let (door, gift, n) = unpack(word);
    env.buffer(n).offer(gift, Rights::ALL);
    while !gone(ipc::call_within(door, long().with_capability(), earlier())) {}
}

/// Answers that their callers cannot take, and short ones to callers with a deadline, with a short
/// message behind that is taken at once.
fn unfit(env: &Env) -> Result<(), Error> {
    let mut slots = env.slots();
    let [door, caller, offerer, saved, gift] = core::array::from_fn(|_| slots.fresh());
    signal::create_endpoint(door, Slot::NONE)?;
    signal::create_endpoint(gift, Slot::NONE)?;
    sleepers(env, &mut slots, 190)?;
    start(env, FIRST, (&[caller], &mut || 190), (insist, &|_| door.word()))?;
    start(env, FIRST + 1, (&[offerer], &mut || 190), (offer_ever, &|_| door.word()))?;
    env.buffer(0).offer(gift, Rights::ALL);
    let message = long().with_capability();
    for _ in 0..40 {
        ipc::receive(door, Wait::NEVER)?;
        ipc::reply_wait(door, message)?;
    }
    for n in 0..80 {
        ipc::receive(door, Wait::NEVER)?;
        if cap::save_reply(saved).is_ok() {
            let message = if n % 3 != 0 { message } else { Message::empty(0) };
            ipc::exchange(saved, door, message, Wait::NEVER).received()?;
        }
        let _ = cap::delete(saved);
    }
    Ok(())
}

/// Sends without a deadline, for ever.
fn offer_ever(_: &Env, door: u64) {
    while !gone(ipc::send(Slot(door as u32), Message::empty(0), Wait::NEVER)) {}
}

/// Threads that end themselves and owe an answer to a caller with a deadline.
fn end_themselves(env: &Env) -> Result<(), Error> {
    let mut slots = env.slots();
    let [door, caller] = core::array::from_fn(|_| slots.fresh());
    signal::create_endpoint(door, Slot::NONE)?;
    sleepers(env, &mut slots, 190)?;
    start(env, FIRST, (&[caller], &mut || 190), (insist_ever, &|_| door.word()))?;
    for _ in 0..8 {
        let own = slots.fresh();
        start(env, FIRST + 1, (&[own], &mut || 190), (ends, &|_| pack(door, own, 0)))?;
        system::sleep(SOON / 10);
    }
    Ok(())
}

/// Calls with a deadline, whatever becomes of the server.
fn insist_ever(_: &Env, door: u64) {
    while !matches!(
        ipc::call_within(Slot(door as u32), Message::empty(0), earlier()),
        Err(Error::Stale | Error::NoCapability)
    ) {}
}

/// Ends itself, owing an answer.
fn ends(_: &Env, word: u64) {
    let (door, own, _) = unpack(word);
    let _ = ipc::receive(door, Wait::NEVER);
    let _ = cap::destroy(own);
}
