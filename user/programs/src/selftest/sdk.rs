//! What `rt` puts in front of the system calls: servers, tickers, slots, mappings, long messages.

use super::bench::*;
use rt::abi::call::{Timeout, fault};
use rt::abi::message::MAX_WORDS;
use rt::prelude::*;
use rt::server::NOT_SENT;
use rt::{At, Fault, FaultReply, Half, Info, Mapping, MemoryObject, SlotPool, Window};
use rt::{arch, cap, ipc, signal, time};

pub const CHECKS: Checks = &[
    ("a server survives callers that do not wait", impatient),
    ("a server survives callers that die", dying),
    ("a server survives labels, lengths and capabilities", lies),
    ("a server gets sends, and signals apart", sends_and_signals),
    ("a server whose answers cannot be sent goes on", unsendable),
    ("a server handles faults", faults),
    ("a server ends with its endpoint", ends),
    ("words of every number come back", long),
    ("an error tells its half", halves),
    ("a ticker counts what it missed and stays on its grid", ticker),
    ("slots come back", slots),
    ("all pools of a program are one", one_pool),
    ("a mapping holds what is written, and goes with its end", mapping),
    ("a mapping whose memory is destroyed faults", torn_mapping),
    ("mappings find free addresses", places),
];

const RW: Rights = Rights::READ.or(Rights::WRITE);

/// Requests: the sum of all words and their number; the words again; an answer after a while; one
/// that is no message; one that is too long for it.
const SUM: u32 = 1;
const AGAIN: u32 = 2;
const LATE: u32 = 3;
const ENDLESS: u32 = 4;
const GROWN: u32 = 5;
/// The answer to everything else.
const UNKNOWN: u32 = 99;

/// The helper's words: what the server has seen, and why it ended.
const SEEN: usize = 8;
const SIGNALS: usize = 9;
const ENDED: usize = 10;

/// Helper: serves on `a`.
fn serve(env: &Env, argument: u64) {
    let me = Me::new(env, argument);
    let buffer = env.buffer(me.n);
    let server = Server::new(me.a).with_buffer(buffer);
    let why =
        server.on_signal(|bits| me.own.set(SIGNALS, me.own.get(SIGNALS) + bits)).run(|request| {
            me.own.add(SEEN, 1);
            let (label, answer) =
                (request.label(), Message::build(request.label()).with_buffer(buffer));
            match label {
                SUM => {
                    answer.words(&[request.all().fold(0, u64::wrapping_add), request.len() as u64])
                }
                AGAIN => request.all().fold(answer, |answer, word| answer.word(word)),
                LATE => {
                    time::sleep(4.ms());
                    answer
                }
                ENDLESS => answer.words(&[0; MAX_WORDS + 1]),
                GROWN => answer.words(&[7; 9]),
                _ => Message::build(UNKNOWN),
            }
        });
    me.own.set(ENDED, why as u64);
}

/// A server above this thread, and its endpoint.
fn server(bench: &Bench) -> Result<(Slot, Helper), Why> {
    let door = bench.endpoint()?;
    Ok((door, bench.helper(HIGH, serve, door, Slot::NONE)?))
}

/// Expects that the server still answers.
fn answers(door: Slot) -> Check {
    let request = Message::short(SUM, [20, 22]);
    let answer = ipc::call_within(door, request, Wait::within(100.ms()))?;
    expect(answer.info == Info::new(SUM, 2), "an honest call is answered")?;
    expect(answer.registers() == [42, 2], "with the sum")
}

fn impatient(bench: &Bench) -> Check {
    let (door, helper) = server(bench)?;
    for _ in 0..4 {
        let gone = Wait { receive: Timeout::Zero, ..Wait::NEVER };
        let result = ipc::call_within(door, Message::empty(LATE), gone);
        refused(result, Error::Timeout, "this caller does not wait")?;
        let late = ipc::call_within(door, Message::empty(LATE), Wait::within(1.ms()));
        refused(late, Error::Timeout, "this one waits too short")?;
    }
    time::sleep(6.ms());
    answers(door)?;
    expect(bench.words(helper).get(ENDED) == 0, "it goes on")
}

fn dying(bench: &Bench) -> Check {
    let (door, _) = server(bench)?;
    for wait in [0, 1] {
        let caller = bench.helper(LOW, call_late, door, Slot::NONE)?;
        time::sleep((wait * 2).ms());
        cap::destroy(caller.slot)?;
    }
    answers(door)
}

/// Helper: makes a call on `a` whose answer takes a while.
fn call_late(env: &Env, argument: u64) {
    let me = Me::new(env, argument);
    me.report(ipc::exchange(me.a, Slot::REPLY, Message::empty(LATE), Wait::NEVER));
}

fn lies(bench: &Bench) -> Check {
    let (door, _) = server(bench)?;
    for words in [0, 1, 4, 5, MAX_WORDS, MAX_WORDS + 1, 255] {
        for label in [0, UNKNOWN, NOT_SENT] {
            let lie = Message::long(label, words, [u64::MAX; 4]);
            let _ = ipc::send(door, lie, Wait::within(1.ms()));
            bench.buffer().offer(door, Rights::ALL);
            let _ = ipc::call_within(door, lie.with_capability(), Wait::within(1.ms()));
            let info = Info(lie.info.0 | Info::FAULT | Info::NOTIFICATION);
            match ipc::call_within(door, Message { info, ..lie }, Wait::within(9.ms())) {
                Ok(answer) => expect(answer.info.label() == UNKNOWN, "it is a request")?,
                Err(Error::TooLong) => expect(words > MAX_WORDS, "a message of that length")?,
                Err(error) => return Err(error.into()),
            }
        }
    }
    answers(door)
}

fn sends_and_signals(bench: &Bench) -> Check {
    let (bell, rung, door) = (bench.notification()?, bench.slot(), bench.slot());
    cap::mint(bell, rung, Rights::SEND, 0x30)?;
    signal::create_endpoint(door, bell)?;
    let helper = bench.helper(HIGH, serve, door, Slot::NONE)?;
    for _ in 0..3 {
        ipc::send(door, Message::short(SUM, [1]), Wait::within(100.ms()))?;
        signal::signal(rung)?;
    }
    answers(door)?;
    let words = bench.words(helper);
    expect(words.get(SIGNALS) == 3 * 0x30, "the handler gets the bits")?;
    expect(words.get(SEEN) == 3 + 1, "and the closure the requests")
}

fn unsendable(bench: &Bench) -> Check {
    let (door, helper) = server(bench)?;
    let patience = || Wait::within(100.ms());
    let answer = ipc::call_within(door, Message::empty(ENDLESS), patience())?;
    expect(answer.info == Info::new(NOT_SENT, 0), "the caller is told")?;
    let answer = ipc::call_within(door, Message::empty(GROWN), patience())?;
    expect(answer.all(bench.buffer()).eq([7; 9]), "nine words come")?;
    // A caller without a message buffer.
    let spec = rt::thread::Spec::further(&bench.env, bench.next_helper(), HIGH);
    let spec = rt::thread::Spec { buffer: 0, ..spec };
    let caller = bench.helper_with(spec, call_grown, door, Slot::NONE)?;
    bench.failed(caller, Error::NoBuffer, "it cannot take them")?;
    expect(bench.words(helper).get(ENDED) == 0, "the server goes on")?;
    answers(door)
}

/// Helper: asks `a` for nine words.
fn call_grown(env: &Env, argument: u64) {
    let me = Me::new(env, argument);
    me.report(ipc::exchange(me.a, Slot::REPLY, Message::empty(GROWN), Wait::NEVER));
}

/// An address where nothing is mapped.
const NOWHERE: u64 = 0x8_0000_0000;
/// Words: where the helper's probe leaves the address at which it can go on; which address it
/// reads; whether it got through.
const RESUME: usize = 20;
const WHERE: usize = 11;
const THROUGH: usize = 12;

/// Helper: serves faults on `a`; those of [`probe`] go on, others are suspended.
fn guard(env: &Env, argument: u64) {
    let me = Me::new(env, argument);
    Server::new(me.a)
        .on_fault(|fault| {
            me.own.add(SEEN, u64::from(fault.address() == NOWHERE));
            let resume = env.mem("shared").get(fault.badge() as usize);
            if resume == 0 { FaultReply::Suspend } else { FaultReply::Continue(resume) }
        })
        .run(|_| Message::empty(UNKNOWN));
}

/// Helper: reads the address in its word and notes whether it got through.
fn probe(env: &Env, argument: u64) {
    let me = Me::new(env, argument);
    let at = if me.common.get(WHERE) == 0 { NOWHERE } else { me.common.get(WHERE) };
    let seen = arch::read(at, me.own.word(RESUME));
    me.own.set(THROUGH, 1 + u64::from(seen.is_some()));
}

fn faults(bench: &Bench) -> Check {
    let (door, handler) = (bench.endpoint()?, bench.slot());
    let guard = bench.helper(HIGH, guard, door, Slot::NONE)?;
    let n = bench.next_helper() as u64;
    cap::mint(door, handler, Rights::SEND, 64 * n + RESUME as u64)?;
    let prober = bench.handled(LOW, handler, probe, Slot::NONE, Slot::NONE)?;
    bench.settle();
    expect(bench.words(prober).get(THROUGH) == 1, "the thread goes on where the handler says")?;
    expect(bench.words(guard).get(SEEN) == 1, "which was told the address")?;
    let answer = ipc::call_within(door, Message::empty(0), Wait::within(100.ms()))?;
    expect(answer.info.label() == UNKNOWN, "requests are served beside faults")
}

fn ends(bench: &Bench) -> Check {
    let (door, helper) = server(bench)?;
    answers(door)?;
    cap::destroy(door)?;
    bench.settle();
    let why = Error::from_code(bench.words(helper).get(ENDED) as u8);
    expect(why == Some(Error::Destroyed), "the server says why")?;
    let (door, helper) = server(bench)?;
    let caller = bench.helper(LOW, call_late, door, Slot::NONE)?;
    bench.settle();
    cap::destroy(door)?;
    time::sleep(6.ms());
    let answer = bench.succeeded(caller, "its last caller is told")?;
    expect(answer.info == Info::new(NOT_SENT, 0), "that there is no answer")?;
    let why = Error::from_code(bench.words(helper).get(ENDED) as u8);
    expect(matches!(why, Some(Error::Stale | Error::NoCapability)), "and the server ends")?;
    // One whose slot is empty ends without having begun.
    let why = Server::new(bench.slot()).run(|_| Message::empty(0));
    expect(why == Error::NoCapability, "it cannot receive")
}

fn long(bench: &Bench) -> Check {
    let (door, _) = server(bench)?;
    let buffer = bench.buffer();
    for length in [0, 1, 3, 4, 5, 9, MAX_WORDS] {
        let words = || (0..length as u64).map(|n| 1000 + n);
        let begun = Message::build(AGAIN).with_buffer(buffer);
        let request = words().fold(begun, |message, word| message.word(word)).finish()?;
        let answer = ipc::call_within(door, request, Wait::within(100.ms()))?;
        expect(answer.info == Info::new(AGAIN, length), "as many words come back")?;
        expect(answer.all(buffer).eq(words()), "and they are the same")?;
    }
    Ok(())
}

fn halves(bench: &Bench) -> Check {
    let half = |to: Slot, label: u32| {
        let outcome = ipc::exchange(to, Slot::REPLY, Message::empty(label), Wait::within(1.ms()));
        outcome.halves().err().map(|failed| (failed.half, failed.error))
    };
    let lonely = bench.endpoint()?;
    expect(half(lonely, 0) == Some((Half::Send, Error::Timeout)), "no thread receives")?;
    let (door, _) = server(bench)?;
    expect(half(door, LATE) == Some((Half::Receive, Error::Timeout)), "the answer is late")?;
    time::sleep(6.ms());
    expect(half(door, 0).is_none(), "an answer")
}

fn ticker(_: &Bench) -> Check {
    let begun = Instant::now();
    let mut ticker = Ticker::starting(begun + 2.ms(), 2.ms());
    let on_grid = |at: Instant| (at - begun).as_nanos().is_multiple_of(2_000_000);
    for _ in 0..3 {
        let (due, missed) = (ticker.due(), ticker.wait());
        expect(missed == 0, "a loop that waits misses nothing")?;
        expect(Instant::now() >= due && on_grid(ticker.due()), "it wakes behind a release")?;
    }
    let due = ticker.due();
    time::sleep_until(due + 5.ms());
    let missed = ticker.wait();
    expect(missed == 3, "three releases passed meanwhile")?;
    expect(ticker.due() == due + 8.ms(), "the next ones are where they were")?;
    expect(Instant::now() >= due + 6.ms(), "it waited for the fourth")?;
    expect(ticker.wait() == 0 && ticker.missed() == 3, "all are counted")
}

fn slots(bench: &Bench) -> Check {
    let pool = bench.pool(4);
    for _ in 0..3 {
        let held = [pool.take(), pool.take(), pool.take(), pool.take()];
        let different = held
            .iter()
            .enumerate()
            .all(|(n, slot)| held[..n].iter().all(|other| other.slot() != slot.slot()));
        expect(different, "a held slot is not handed out")?;
        expect(pool.try_take().is_err_and(|full| full.slots == 4), "four are all")?;
        let [kept, emptied, destroyed, unused] = held;
        signal::create_notification(emptied.slot())?;
        cap::copy(emptied.slot(), destroyed.slot(), Rights::ALL)?;
        signal::create_endpoint(kept.slot(), Slot::NONE)?;
        destroyed.destroy()?;
        refused(signal::signal(emptied.slot()), Error::Stale, "the object is gone")?;
        let (was, gone) = (emptied.slot(), kept.slot());
        drop((emptied, unused, kept));
        refused(cap::inspect(was), Error::NoCapability, "a slot that came back is empty")?;
        refused(cap::inspect(gone), Error::NoCapability, "also if its object lives")?;
        expect(pool.taken() == 0, "all came back")?;
    }
    Ok(())
}

fn one_pool(bench: &Bench) -> Check {
    let (pool, other) = (SlotPool::new(&bench.env), SlotPool::new(&bench.env));
    let (first, second) = (pool.take(), other.take());
    expect(first.slot() != second.slot(), "each slot once")?;
    expect(pool.taken() == 2 && pool.slots() > 60, "of all that the manifest leaves")?;
    drop((first, second));
    expect(other.taken() == 0, "and back again")
}

/// Whether a thread that reads an address gets through; without a mapping its fault comes here.
fn reads(bench: &Bench, address: u64) -> Result<bool, Why> {
    let faults = bench.endpoint()?;
    bench.common().set(WHERE, address);
    let prober = bench.handled(HIGH, faults, probe, Slot::NONE, Slot::NONE)?;
    let words = bench.words(prober);
    if words.get(THROUGH) == 0 {
        let fault = Fault::from_received(ipc::receive(faults, Wait::within(100.ms()))?);
        let told = fault.is_some_and(|fault| fault.address() == address);
        expect(told, "a fault at that address")?;
        ipc::reply(Message::short(fault::CONTINUE, [words.get(RESUME)]))?;
    }
    Ok(words.get(THROUGH) == 2)
}

fn mapping(bench: &Bench) -> Check {
    let (pool, window) = (bench.pool(8), Window::new(&bench.env));
    let memory = MemoryObject::create(&pool, 2)?;
    let page = Mapping::new(&memory, At::Window(window), RW)?;
    let at = page.address();
    expect(page.len() == 1024 && (0..1024).all(|n| page.get(n) == 0), "zeroed words")?;
    page.set(1023, 77);
    page.write(3, b"bytes that cross words");
    let mut back = [0; 22];
    page.read(3, &mut back);
    expect(&back == b"bytes that cross words", "bytes come back")?;
    let again = Mapping::new(&memory, At::Window(window), Rights::READ)?;
    expect(again.address() != at && again.get(1023) == 77, "one memory at two addresses")?;
    expect(reads(bench, at)?, "other threads see it")?;
    drop(page);
    expect(!reads(bench, at)?, "what was dropped is unmapped")?;
    expect(again.get(1023) == 77, "and the other one is not")?;
    drop(again);
    drop(memory);
    expect((pool.taken(), window.taken()) == (0, 0), "slots and addresses came back")
}

fn torn_mapping(bench: &Bench) -> Check {
    let (pool, window) = (bench.pool(8), Window::new(&bench.env));
    let memory = MemoryObject::create(&pool, 1)?;
    let page = Mapping::owning(memory, At::Window(window), RW)?;
    let at = page.address();
    page.set(0, 1);
    cap::destroy(page.memory().slot())?;
    expect(!reads(bench, at)?, "a fault, which is handled")?;
    drop(page);
    expect((pool.taken(), window.taken()) == (0, 0), "slots and addresses came back")
}

fn places(bench: &Bench) -> Check {
    let (pool, window) = (bench.pool(8), Window::new(&bench.env));
    let memory = MemoryObject::create(&pool, 1)?;
    // Where the first mapping of the window would go, another stands.
    let taken = Mapping::new(&memory, At::Address(rt::window::WINDOW), RW)?;
    let first = Mapping::new(&memory, At::Window(window), RW)?;
    expect(first.address() == taken.address() + abi::PAGE, "it is passed over")?;
    let same = Mapping::new(&memory, At::Address(first.address()), RW);
    refused(same.map(drop), Error::AddressInUse, "an address is used once")?;
    let none = MemoryObject::create(&pool, 0);
    refused(none.map(drop), Error::InvalidArgument, "no pages")?;
    let (mut first, spare) = (first, MemoryObject::create(&pool, 1)?);
    first.protect(Rights::READ)?;
    expect(first.get(0) == 0, "still readable")?;
    let filled = [pool.take(), pool.take(), pool.take()];
    expect(pool.taken() == 7, "all slots but one")?;
    let last = pool.take();
    let refusal = Mapping::new(&spare, At::Window(window), RW);
    refused(refusal.map(drop), Error::PoolExhausted, "no slot is left")?;
    drop((taken, first, spare, filled, last));
    drop(memory);
    expect((pool.taken(), window.taken()) == (0, 0), "all came back")
}
