//! What a program finds in its registers behind each way out of the kernel: its own values, zero or
//! results, and nothing of the kernel's or of another thread.

use super::bench::*;
use abi::call::{Call, REPLY, Timeout, ipc, partners};
use rt::arch::{self, Outcome, REGISTERS};
use rt::memory::{self, Range};
use rt::thread::{self, Registers};
use rt::{Env, Error, Message, Rights, Slot, Wait};
use rt::{cap, ipc as messages, system};

pub const CHECKS: Checks = &[
    ("calls that are refused", refused_calls),
    ("calls that succeed", calls),
    ("messages that a server answers", answered),
    ("messages to a server", serving),
    ("messages that fail", failing),
    ("calls that are interrupted and go on", preempted),
    ("interrupts", interrupts),
    ("faults", faults),
    ("suspensions", suspensions),
    ("threads that are moved elsewhere", moved),
];

/// A slot beyond the table.
const EMPTY: u64 = 1000;
/// Where a large mapping goes, and how many pages it has.
const PLACE: u64 = 0x9_0000_0000;
const PAGES: u64 = 128;

/// A system call with all registers looked at.
fn call(number: u64, arguments: &[u64]) -> Result<Outcome, Why> {
    let (outcome, wrong) = arch::call_and_look(number, arguments);
    right(wrong)?;
    Ok(outcome)
}

/// Expects that no register was wrong.
fn right(wrong: Option<usize>) -> Check {
    wrong.map_or(Ok(()), |register| expect(false, REGISTERS[register]))
}

fn done(outcome: Outcome, what: &'static str) -> Check {
    expect(outcome.status.result().is_ok(), what)
}

fn fails(outcome: Outcome, error: Error, what: &'static str) -> Check {
    refused(outcome.status.result(), error, what)
}

/// A message operation without timeouts.
fn operate(send: u64, receive: u64) -> Result<Outcome, Why> {
    call(ipc(Timeout::Never, Timeout::Never), &[partners(send as u32, receive as u32), 1])
}

fn refused_calls(_: &Bench) -> Check {
    let harmless = [Call::Null, Call::Clock];
    for number in 0..=u64::from(u8::MAX) {
        let outcome = call(number, &[EMPTY, EMPTY, EMPTY, EMPTY, EMPTY, EMPTY])?;
        let harmless = harmless.iter().any(|call| *call as u64 == number);
        expect(harmless != outcome.status.result().is_err(), "calls with empty slots fail")?;
    }
    for number in [Call::Call, Call::ReplyWait] {
        for info in [0, 8, 300] {
            let outcome = call(number as u64, &[EMPTY, info])?;
            fails(outcome, Error::NoCapability, "a message to an empty slot")?;
        }
    }
    Ok(())
}

fn calls(bench: &Bench) -> Check {
    let (e, n) = (bench.endpoint()?, bench.notification()?);
    let (copy, made) = (bench.slot(), bench.slot());
    let all = u64::from(Rights::ALL.0);
    done(call(Call::Null as u64, &[])?, "null")?;
    done(call(Call::Clock as u64, &[])?, "clock")?;
    done(call(Call::Signal as u64, &[n.word()])?, "signal")?;
    done(call(Call::Yield as u64, &[0])?, "yield")?;
    done(call(Call::CapCopy as u64, &[e.word(), copy.word(), all, 0])?, "copy")?;
    done(call(Call::CapInspect as u64, &[copy.word()])?, "inspect")?;
    done(call(Call::CapDelete as u64, &[copy.word()])?, "delete")?;
    done(call(Call::EndpointCreate as u64, &[made.word(), 0])?, "create")?;
    done(call(Call::Destroy as u64, &[made.word()])?, "destroy")?;
    let own = bench.env.cap("self-thread");
    done(call(Call::ThreadInspect as u64, &[own.word()])?, "a thread's state")?;
    done(call(Call::ThreadPriority as u64, &[own.word(), MAIN])?, "a priority")
}

fn answered(bench: &Bench) -> Check {
    for priority in [LOW, MAIN, HIGH] {
        let e = bench.endpoint()?;
        bench.helper(priority, echo, e, Slot::NONE)?;
        // The first call may find no receiver, the others are as short as can be.
        for info in [1, 4, 1, 8, 128, 2] {
            done(call(Call::Call as u64, &[e.word(), info])?, "a call")?;
            done(operate(e.word(), REPLY.into())?, "the same by the primitive")?;
        }
    }
    Ok(())
}

/// Helper: calls `a` with short and long messages, for ever.
fn keep_calling(env: &Env, argument: u64) {
    let me = Me::new(env, argument);
    for length in [1, 8].into_iter().cycle() {
        if messages::call(me.a, Message::long(0, length, [1, 2, 3, 4])).is_err() {
            return;
        }
    }
}

/// Helper: sends to `a` for ever.
fn keep_sending(env: &Env, argument: u64) {
    let me = Me::new(env, argument);
    while messages::send(me.a, Message::short(0, [5]), Wait::NEVER).is_ok() {}
}

/// Helper: receives on `a` for ever.
fn keep_receiving(env: &Env, argument: u64) {
    let me = Me::new(env, argument);
    while messages::receive(me.a, Wait::NEVER).is_ok() {}
}

fn serving(bench: &Bench) -> Check {
    let (e, other, sink) = (bench.endpoint()?, bench.endpoint()?, bench.endpoint()?);
    let (rights, mute) = (Rights::RECEIVE.or(Rights::COPY), bench.slot());
    cap::copy(e, mute, rights)?;
    for priority in [LOW, HIGH] {
        bench.helper(priority, keep_calling, e, Slot::NONE)?;
        bench.helper(priority, keep_sending, other, Slot::NONE)?;
    }
    bench.helper(LOW, keep_receiving, sink, Slot::NONE)?;
    bench.settle();
    done(operate(0, e.word())?, "a receive")?;
    for info in [1, 8, 1, 1, 8] {
        done(call(Call::ReplyWait as u64, &[e.word(), info])?, "a reply and a receive")?;
        done(operate(REPLY.into(), e.word())?, "the same by the primitive")?;
        done(operate(sink.word(), other.word())?, "a send and a receive elsewhere")?;
        done(operate(sink.word(), 0)?, "a send")?;
        fails(call(Call::Call as u64, &[mute.word(), info])?, Error::MissingRight, "no right")?;
    }
    done(operate(REPLY.into(), 0)?, "a reply")?;
    fails(operate(REPLY.into(), 0)?, Error::NoReply, "a second one")
}

fn failing(bench: &Bench) -> Check {
    let e = bench.endpoint()?;
    let only = partners(e.word() as u32, 0);
    let zero = ipc(Timeout::Zero, Timeout::Zero);
    fails(call(zero, &[only, 1])?, Error::Timeout, "no thread receives")?;
    let until = ipc(Timeout::At, Timeout::At);
    for (info, receive) in [(1, 0), (8, 0), (1, REPLY)] {
        let soon = system::clock() + MS / 2;
        let both = partners(e.word() as u32, receive);
        fails(call(until, &[both, info, soon])?, Error::Timeout, "still none")?;
    }
    let (soon, from) = (system::clock() + MS / 2, partners(0, e.word() as u32));
    fails(call(until, &[from, 0, soon])?, Error::Timeout, "no thread sends")?;
    let soon = system::clock() + MS / 2;
    fails(call(until, &[0, 0, soon])?, Error::Timeout, "a sleep")?;
    fails(
        call(Call::Call as u64, &[e.word(), 129])?,
        Error::TooLong,
        "a message that is too long",
    )?;
    fails(operate(e.word(), e.word())?, Error::SelfSend, "a message to itself")
}

/// Helper: wakes up very often, with vector registers of its own.
fn disturb(_: &Env, _: u64) {
    loop {
        arch::simd_write(0x0bad);
        system::sleep(30_000);
    }
}

fn preempted(bench: &Bench) -> Check {
    let (page, mapping) = (bench.slot(), bench.slot());
    bench.helper(HIGH, disturb, Slot::NONE, Slot::NONE)?;
    for _ in 0..3 {
        let create = [page.word(), PAGES];
        done(call(Call::MemoryCreate as u64, &create[..])?, "memory is made")?;
        let read = u64::from(Rights::READ.0);
        let map = [0, page.word(), PLACE, PAGES, 0, mapping.word() | read << 32];
        done(call(Call::Map as u64, &map)?, "it is mapped")?;
        done(call(Call::Protect as u64, &[mapping.word(), read])?, "its rights change")?;
        done(call(Call::Destroy as u64, &[page.word()])?, "it is destroyed")?;
        done(call(Call::CapDelete as u64, &[mapping.word()])?, "its mapping is gone")?;
    }
    Ok(())
}

fn interrupts(bench: &Bench) -> Check {
    bench.helper(HIGH, disturb, Slot::NONE, Slot::NONE)?;
    for _ in 0..10 {
        right(arch::loop_and_look(1_000_000))?;
    }
    Ok(())
}

/// Where a helper's fault handler lets it go on.
const RESUME: usize = 20;

/// Helper: faults, and says in word 9 how often a register had changed, in word 10 the last.
fn keep_faulting(env: &Env, argument: u64) {
    let me = Me::new(env, argument);
    for _ in 0..20 {
        report(&me, arch::fault_and_look(me.own.word(RESUME)));
    }
    me.own.set(8, 1);
}

fn report(me: &Me, wrong: Option<usize>) {
    if let Some(register) = wrong {
        me.own.add(9, 1);
        me.own.set(10, register as u64);
    }
}

/// Expects that a helper has reported no register.
fn reported(bench: &Bench, helper: Helper) -> Check {
    let words = bench.words(helper);
    right((words.get(9) > 0).then(|| words.get(10) as usize))
}

fn faults(bench: &Bench) -> Check {
    let e = bench.endpoint()?;
    let helper = bench.handled(HIGH, e, keep_faulting, Slot::NONE, Slot::NONE)?;
    let words = bench.words(helper);
    let mut fault = messages::receive(e, Wait::ZERO)?;
    for _ in 0..20 {
        expect(fault.info.is_fault(), "a fault")?;
        arch::simd_write(0x0bad);
        let go_on = Message::short(abi::call::fault::CONTINUE, [words.get(RESUME)]);
        messages::reply(go_on)?;
        if words.get(8) == 0 {
            fault = messages::receive(e, Wait::ZERO)?;
        }
    }
    expect(words.get(8) == 1, "all faults were answered")?;
    reported(bench, helper)
}

/// Helper: loops for a while, over and over, and reports.
fn keep_looping(env: &Env, argument: u64) {
    let me = Me::new(env, argument);
    loop {
        report(&me, arch::loop_and_look(20_000));
        me.own.add(8, 1);
    }
}

fn suspensions(bench: &Bench) -> Check {
    let helper = bench.helper(LOW, keep_looping, Slot::NONE, Slot::NONE)?;
    for _ in 0..40 {
        system::sleep(70_000);
        thread::suspend(helper.slot)?;
        arch::simd_write(0x0bad);
        thread::set(helper.slot, Registers::default())?;
        thread::resume(helper.slot)?;
    }
    bench.settle();
    expect(bench.words(helper).get(8) > 0, "it gets on")?;
    reported(bench, helper)
}

/// Helper: loops for ever.
fn spin(_: &Env, _: u64) {
    arch::loop_for_ever();
}

/// Helper: receives on `a`.
fn wait_there(env: &Env, argument: u64) {
    let me = Me::new(env, argument);
    let receive = partners(0, me.a.word() as u32);
    arch::call_and_look(ipc(Timeout::Never, Timeout::Never), &[receive, 0]);
}

/// Helper: changes the rights of the mapping in slot `a`, for ever.
fn keep_protecting(env: &Env, argument: u64) {
    let me = Me::new(env, argument);
    loop {
        arch::call_and_look(Call::Protect as u64, &[me.a.word(), Rights::READ.0.into()]);
    }
}

/// Stops a helper, makes it store its registers, and returns them.
fn dumped(bench: &Bench, helper: Helper, cancel: bool) -> Result<[u64; 16], Why> {
    thread::suspend(helper.slot)?;
    let words = bench.words(helper);
    let stack = Some(words.address() + 8 * 48);
    let instruction = Some(arch::dump());
    let elsewhere = Registers { instruction, stack, cancel, ..Registers::default() };
    thread::set(helper.slot, elsewhere)?;
    thread::resume(helper.slot)?;
    bench.settle();
    Ok(core::array::from_fn(|i| words.get(32 + i)))
}

/// Helpers that are suspended at one instant or another until some were in the middle of a call.
const ATTEMPTS: u64 = 50;

fn moved(bench: &Bench) -> Check {
    let helper = bench.helper(LOW, spin, Slot::NONE, Slot::NONE)?;
    bench.settle();
    right(arch::looped(&dumped(bench, helper, false)?))?;
    let e = bench.endpoint()?;
    let helper = bench.helper(HIGH, wait_there, e, Slot::NONE)?;
    let registers = dumped(bench, helper, true)?;
    let status = rt::Status::failed_in_receive(Error::Cancelled).0;
    right(arch::left_by_call(&registers, &[status]))?;
    expect(registers[0] == status, "the operation is cancelled")?;
    // A call that takes long is left in the middle.
    let (page, mapping) = (bench.slot(), bench.slot());
    memory::create(page, PAGES)?;
    let range = Range { memory: page, first: 0, pages: PAGES, address: PLACE };
    memory::map(mapping, Slot::NONE, range, Rights::READ)?;
    let number = Call::Protect as u64 | abi::call::RESTARTED;
    let arguments = [number, mapping.word(), Rights::READ.0.into()];
    let mut halfway = 0;
    for attempt in 0..ATTEMPTS {
        if halfway == 3 {
            break;
        }
        let helper = bench.helper(LOW, keep_protecting, mapping, Slot::NONE)?;
        system::sleep(37_000 + attempt * 1_300);
        let registers = dumped(bench, helper, false)?;
        bench.end(helper)?;
        // Else it was interrupted between two calls, and computes with what it likes.
        if registers[..2] == [arguments[0], 0] {
            halfway += 1;
            right(arch::left_by_call(&registers, &arguments))?;
        }
    }
    expect(halfway > 0, "a call was left in the middle")
}
