//! Typed calls, and what travels with them.

use super::bench::*;
use rt::prelude::*;
use rt::{
    At, Guard, Info, Mapping, MemoryObject, OwnedSlot, Window, cap, guard, ipc, signal, time,
};
use service::{Badge, CallError, Capability, Lent, Wire, service};

pub const CHECKS: Checks = &[
    ("calls bring values, errors and refusals", values),
    ("capabilities come and go", capabilities),
    ("memory is lent for a call", lent),
    ("a server survives memory that is taken back in a call", taken_back),
    ("a mistake in a guarded thread is told as one", mistaken),
    ("a method that is one way waits for no answer", one_way),
    ("a server deletes capabilities that it does not expect", unexpected),
    ("a client deletes a capability that it does not expect", unexpected_answer),
];

const RW: Rights = Rights::READ.or(Rights::WRITE);

/// A helper's word: why its server ended.
const ENDED: usize = 10;
/// Common words: whether memory that is lent is mapped, and whether it is decided if it goes.
const MAPPED: usize = 40;
const DECIDED: usize = 41;

/// No number is left to count to.
#[derive(Wire, Clone, Copy, Debug, PartialEq)]
enum Full {
    Already,
    Almost,
}

/// Counts.
#[service]
trait Counter {
    /// Adds to what is counted.
    fn add(&mut self, amount: u8) -> Result<u8, Full>;
    /// Who asks, and twenty words back to front.
    fn turned(&mut self, who: Badge, words: [u64; 20]) -> (u64, [u64; 20]);
    /// The number of words of a text.
    fn words(&mut self, text: &str) -> u64;
    /// Returns after a while.
    fn late(&mut self);
}

impl Counter for u8 {
    fn add(&mut self, amount: u8) -> Result<u8, Full> {
        let full = if *self == u8::MAX { Full::Already } else { Full::Almost };
        *self = self.checked_add(amount).ok_or(full)?;
        Ok(*self)
    }

    fn turned(&mut self, who: Badge, mut words: [u64; 20]) -> (u64, [u64; 20]) {
        words.reverse();
        (who.0, words)
    }

    fn words(&mut self, text: &str) -> u64 {
        text.split(' ').count() as u64
    }

    fn late(&mut self) {
        time::sleep(4.ms());
    }
}

/// Helper: serves a counter on `a`.
fn count(env: &Env, argument: u64) {
    let me = Me::new(env, argument);
    let mut count = 0u8;
    let server = Server::new(me.a).with_buffer(env.buffer(me.n));
    me.own.set(ENDED, server.run(|request| count.dispatch(request)) as u64);
}

fn values(bench: &Bench) -> Check {
    let (door, badged) = (bench.endpoint()?, bench.slot());
    cap::mint(door, badged, Rights::SEND, 7)?;
    let helper = bench.helper(HIGH, count, door, Slot::NONE)?;
    let counter = CounterClient::new(badged);
    expect(counter.add(200) == Ok(200), "a value")?;
    expect(counter.add(56) == Err(CallError::Server(Full::Almost)), "an error of the server's")?;
    expect(counter.within(100.ms()).add(55) == Ok(255), "the same with a deadline")?;
    expect(counter.add(1) == Err(CallError::Server(Full::Already)), "another error")?;
    let gone = CallError::Ipc(Error::Timeout);
    expect(counter.within(1.ms()).late() == Err(gone), "an answer that comes too late")?;
    time::sleep(6.ms());
    let (words, buffer) = (core::array::from_fn(|n| n as u64), bench.buffer());
    expect(counter.turned(words) == Err(CallError::Ipc(Error::NoBuffer)), "it needs a buffer")?;
    let counter = counter.with_buffer(buffer);
    let turned = core::array::from_fn(|n| 19 - n as u64);
    expect(counter.turned(words) == Ok((7, turned)), "words in the buffer, and the badge")?;
    expect(counter.words("a text of six short words") == Ok(6), "a text")?;
    for wrong in [Message::empty(0), Message::short(1, [256]), Message::short(1, [1, 2])] {
        let answer = ipc::call_within(badged, wrong, Wait::within(100.ms()))?;
        expect(answer.info == Info::new(service::UNKNOWN, 0), "what is no call is answered")?;
    }
    expect(counter.add(0) == Ok(255), "and changes nothing")?;
    expect(bench.words(helper).get(ENDED) == 0, "the server goes on")
}

/// The shelf has no such place, or nothing there.
#[derive(Wire, Clone, Copy, Debug, PartialEq)]
struct NoPlace;

/// Keeps capabilities.
#[service]
trait Shelf {
    /// Puts something into the place.
    fn put(&mut self, item: Capability) -> Result<(), NoPlace>;
    /// Gives it back, to be used with these rights.
    fn take(&mut self, rights: u8) -> Result<Capability, NoPlace>;
    /// The sum of so many words of memory; the last one is changed.
    fn sum(&mut self, memory: Lent, words: u64) -> Result<u64, Error>;
    /// The sum of all words of memory, once it is said to be gone or to stay.
    fn later(&mut self, memory: Lent) -> Result<u64, Error>;
    /// Adds a number to those that were noted.
    #[one_way]
    fn note(&mut self, value: u64);
    /// The sum of what was noted.
    fn noted(&mut self) -> u64;
}

struct Place<'e> {
    env: &'e Env,
    guard: Guard,
    item: Option<OwnedSlot>,
    noted: u64,
}

impl Shelf for Place<'_> {
    fn put(&mut self, item: Capability) -> Result<(), NoPlace> {
        self.item = Some(item.into_slot().ok_or(NoPlace)?);
        Ok(())
    }

    fn take(&mut self, rights: u8) -> Result<Capability, NoPlace> {
        let item = self.item.as_ref().ok_or(NoPlace)?;
        Ok(Capability::grant(item.slot(), Rights(rights)))
    }

    fn sum(&mut self, memory: Lent, words: u64) -> Result<u64, Error> {
        let memory = memory.into_memory().ok_or(Error::NoCapability)?;
        let page = Mapping::new(&memory, At::Window(Window::new(self.env)), RW)?;
        let words = page.len().min(words as usize);
        let sum = (0..words).map(|n| page.get(n)).sum();
        page.set(words.saturating_sub(1), sum);
        Ok(sum)
    }

    fn later(&mut self, memory: Lent) -> Result<u64, Error> {
        let memory = memory.into_memory().ok_or(Error::NoCapability)?;
        let page = Mapping::new(&memory, At::Window(Window::new(self.env)), RW)?;
        let common = self.env.mem("shared");
        common.set(MAPPED, 1);
        while common.get(DECIDED) == 0 {
            time::sleep(100.us());
        }
        let mut bytes = [0; 16];
        self.guard.read(&page, &mut bytes)?;
        let mut sum = u64::from(bytes[8]);
        for n in 2..page.len() {
            sum += self.guard.get(&page, n)?;
        }
        self.guard.set(&page, 0, sum)?;
        Ok(sum)
    }

    fn note(&mut self, value: u64) {
        self.noted += value;
    }

    fn noted(&mut self) -> u64 {
        self.noted
    }
}

/// Helper: serves a shelf on `a`.
fn shelve(env: &Env, argument: u64) {
    let me = Me::new(env, argument);
    let guard = Guard::of(env.buffer(me.n));
    let mut place = Place { env, guard, item: None, noted: 0 };
    let server = Server::new(me.a).accepting(me.pool(env), env.buffer(me.n));
    me.own.set(ENDED, server.run(|request| place.dispatch(request)) as u64);
}

/// Helper: the guard of the shelf, whose faults come to `a`.
fn watch(env: &Env, argument: u64) {
    let me = Me::new(env, argument);
    guard::watch(env, me.a.word());
    me.own.set(ENDED, 1);
}

/// A shelf above this thread, its client, and the slots that the server has taken so far.
fn shelf(bench: &Bench) -> Result<(ShelfClient, Helper, usize), Why> {
    let pool = bench.pool(8);
    let (door, faults, handler) = (bench.endpoint()?, bench.endpoint()?, bench.slot());
    bench.helper(HIGH, watch, faults, Slot::NONE)?;
    cap::mint(faults, handler, Rights::SEND, bench.next_helper() as u64)?;
    let helper = bench.handled(HIGH, handler, shelve, door, Slot::NONE)?;
    let client = ShelfClient::new(door).within(100.ms()).accepting(pool, bench.buffer());
    Ok((client, helper, pool.taken()))
}

fn capabilities(bench: &Bench) -> Check {
    let (shelf, _, taken) = shelf(bench)?;
    let (bell, pool) = (bench.notification()?, bench.shared_pool());
    expect(taken == 2, "a slot each waits for what comes")?;
    expect(shelf.take(1).is_err_and(|why| why == CallError::Server(NoPlace)), "nothing is there")?;
    for _ in 0..9 {
        let put = shelf.put(Capability::grant(bell, Rights::SEND | Rights::COPY));
        expect(put == Ok(()), "the server takes a capability")?;
        expect(pool.taken() == taken + 1, "and gives back the one before")?;
        let got = shelf.take(Rights::SEND.0).map_err(|_| NOT_GIVEN)?;
        let got = got.into_slot().ok_or(NOT_GIVEN)?;
        let rights = cap::inspect(got.slot())?.rights;
        expect(rights == Rights::SEND, "with the rights that both have left")?;
        signal::signal(got.slot())?;
        expect(ipc::receive(bell, Wait::ZERO).is_ok(), "it is the same object")?;
    }
    expect(pool.taken() == taken + 1, "no slot is lost")?;
    let bare = ShelfClient::new(shelf.slot());
    let none = bare.put(Capability::grant(bell, Rights::SEND));
    expect(none == Err(CallError::Ipc(Error::NoBuffer)), "a client needs a buffer")?;
    let none = bare.take(1).map(drop);
    expect(none == Err(CallError::Ipc(Error::NoBuffer)), "and a place for what comes")
}

const NOT_GIVEN: Why = Why { what: "the server gives a capability", error: None };

fn lent(bench: &Bench) -> Check {
    let (shelf, _, taken) = shelf(bench)?;
    let (pool, window) = (bench.shared_pool(), Window::new(&bench.env));
    for pages in 1..4u64 {
        let memory = MemoryObject::create(&pool, pages)?;
        let page = Mapping::new(&memory, At::Window(window), RW)?;
        let words = 512 * pages as usize;
        (0..words).for_each(|n| page.set(n, n as u64));
        let expected = (0..words as u64).sum::<u64>();
        expect(shelf.sum(Lent::new(&memory, RW), words as u64) == Ok(expected), "a sum")?;
        expect(page.get(words - 1) == expected, "and what the server wrote")?;
        let refusal = shelf.sum(Lent::new(&memory, Rights::READ), 1);
        let missing = Err(CallError::Server(Error::MissingRight));
        expect(refusal == missing, "no more than the rights that are lent")?;
        let more = MemoryObject::received(memory_again(&pool, &memory)?, pages + 1);
        let refusal = shelf.sum(Lent::new(&more, RW), 1);
        let invalid = Err(CallError::Server(Error::InvalidArgument));
        expect(refusal == invalid, "nor more pages than there are")?;
    }
    expect((pool.taken(), window.taken()) == (taken, 0), "slots and addresses came back")
}

/// Helper: destroys `a` when it is mapped.
fn destroy_mapped(env: &Env, argument: u64) {
    let me = Me::new(env, argument);
    while me.common.get(MAPPED) == 0 {
        time::sleep(100.us());
    }
    let _ = cap::destroy(me.a);
    me.common.set(DECIDED, 1);
}

fn taken_back(bench: &Bench) -> Check {
    let (shelf, _, taken) = shelf(bench)?;
    let shelf = shelf.within(1.s());
    let (pool, window) = (bench.shared_pool(), Window::new(&bench.env));
    for again in 0..3 {
        let memory = MemoryObject::create(&pool, 1)?;
        let page = Mapping::new(&memory, At::Window(window), RW)?;
        page.set(1, 5);
        page.set(7, 6);
        drop(page);
        bench.common().set(DECIDED, 1);
        expect(shelf.later(Lent::new(&memory, RW)) == Ok(11), "what stays is read")?;
        let read_only = shelf.later(Lent::new(&memory, Rights::READ));
        let missing = Err(CallError::Server(Error::MissingRight));
        expect(read_only == missing, "as it is lent")?;
        if again < 2 {
            bench.common().set(MAPPED, 0);
            bench.common().set(DECIDED, 0);
            bench.helper(LOW, destroy_mapped, memory.slot(), Slot::NONE)?;
            let gone = shelf.later(Lent::new(&memory, RW));
            expect(gone == Err(CallError::Server(Error::Destroyed)), "what goes is an error")?;
        }
    }
    expect((pool.taken(), window.taken()) == (taken, 0), "slots and addresses came back")
}

/// Helper: reads where nothing is mapped, without a guard.
fn mistake(env: &Env, argument: u64) {
    let me = Me::new(env, argument);
    let _ = rt::arch::read(0x8_0000_0000, me.own.word(ENDED));
    me.own.set(ENDED + 1, 1);
}

fn mistaken(bench: &Bench) -> Check {
    let (faults, handler) = (bench.endpoint()?, bench.slot());
    let watcher = bench.helper(HIGH, watch, faults, Slot::NONE)?;
    cap::mint(faults, handler, Rights::SEND, bench.next_helper() as u64)?;
    let mistaken = bench.handled(LOW, handler, mistake, Slot::NONE, Slot::NONE)?;
    bench.settle();
    expect(bench.words(mistaken).get(ENDED + 1) == 0, "the thread does not go on")?;
    expect(bench.words(watcher).get(ENDED) == 1, "and its guard has ended")?;
    refused(cap::inspect(faults).map(drop), Error::NoCapability, "with the endpoint")
}

/// Another capability to memory.
fn memory_again(pool: &rt::SlotPool, memory: &MemoryObject) -> Result<OwnedSlot, Why> {
    let slot = pool.take();
    cap::copy(memory.slot(), slot.slot(), Rights::ALL)?;
    Ok(slot)
}

fn one_way(bench: &Bench) -> Check {
    let (shelf, _, _) = shelf(bench)?;
    for value in 0..10 {
        expect(shelf.note(value) == Ok(()), "it is taken")?;
    }
    expect(shelf.noted() == Ok(45), "each of them")?;
    let call = Message::short(ShelfClient::NOTE, [5]);
    let answer = ipc::call_within(shelf.slot(), call, Wait::within(100.ms()))?;
    expect(answer.info == Info::new(service::DONE, 0), "who calls all the same is answered")?;
    expect(shelf.noted() == Ok(50), "and it is noted")?;
    let lonely = ShelfClient::new(bench.endpoint()?);
    let late = Err(CallError::Ipc(Error::Timeout));
    expect(lonely.within(1.ms()).note(1) == late, "without a server it ends in time")
}

fn unexpected(bench: &Bench) -> Check {
    let (shelf, helper, taken) = shelf(bench)?;
    let (bell, buffer) = (bench.notification()?, bench.buffer());
    let item = || Capability::grant(bell, Rights::SEND | Rights::COPY);
    for label in [0, ShelfClient::NOTED, ShelfClient::NOTE, ShelfClient::PUT, ShelfClient::SUM] {
        for words in [0, 1, 2, 9] {
            buffer.offer(bell, Rights::ALL);
            let request = Message::long(label, words, [1; 4]).with_capability();
            let _ = ipc::call_within(shelf.slot(), request, Wait::within(100.ms()))?;
            buffer.offer(bell, Rights::ALL);
            ipc::send(shelf.slot(), request, Wait::within(100.ms()))?;
        }
    }
    let pool = bench.shared_pool();
    expect(pool.taken() == taken + 1, "what `put` has taken is held, and nothing else")?;
    expect(shelf.put(item()) == Ok(()), "the next one comes")?;
    let all: [_; 8] = core::array::from_fn(|_| pool.try_take().ok());
    expect(pool.taken() == pool.slots(), "no slot is left")?;
    let refusal = shelf.put(item());
    expect(refusal == Err(CallError::Unknown), "one more is refused")?;
    drop(all);
    expect(shelf.take(1).is_ok(), "and the shelf still has the last one")?;
    expect(bench.words(helper).get(ENDED) == 0, "the server goes on")
}

/// Helper: answers all calls on `a` with a capability to `b`.
fn generous(env: &Env, argument: u64) {
    let me = Me::new(env, argument);
    let buffer = env.buffer(me.n);
    let answer = Message::short(service::DONE, [7]).with_capability();
    let _ = Server::new(me.a).run(|_| {
        buffer.offer(me.b, Rights::ALL);
        answer
    });
}

fn unexpected_answer(bench: &Bench) -> Check {
    let (pool, bell, door) = (bench.pool(4), bench.notification()?, bench.endpoint()?);
    bench.helper(HIGH, generous, door, bell)?;
    let shelf = ShelfClient::new(door).accepting(pool, bench.buffer());
    for _ in 0..9 {
        expect(shelf.noted() == Err(CallError::Unknown), "that is no answer to this call")?;
        expect(shelf.take(1).is_err(), "nor a length that fits")?;
    }
    expect(pool.taken() == 1, "no slot is lost")?;
    expect(bench.buffer().accepting() == Slot::NONE, "and nothing is accepted between calls")
}
