//! Faults as messages to a handler.

use super::bench::*;
use rt::abi::call::ThreadState;
use rt::abi::call::fault::{CONTINUE, RETRY, SUSPEND};
use rt::abi::message::FaultKind;
use rt::memory::Range;
use rt::{Env, Error, Message, Received, Rights, Slot, Wait};
use rt::{arch, cap, ipc, memory, thread};

pub const CHECKS: Checks = &[
    ("a handler learns what happened", learns),
    ("a handler can let the thread go on elsewhere", goes_on),
    ("a handler can mend and retry", mend),
    ("a handler can suspend the thread", suspend),
    ("kinds of fault", kinds),
    ("a fault waits for its handler", waits),
    ("a fault without a handler suspends", unhandled),
    ("a fault whose handler goes away suspends", handler_dies),
    ("registers survive a fault", registers),
];

/// An address where nothing is mapped.
const NOWHERE: u64 = 0x8_0000_0000;

/// Where a helper's probe leaves the address at which it can go on.
const RESUME: usize = 20;

/// Helper: reads `NOWHERE` and reports what it saw in words 8 (whether) and 9 (what).
fn read_nowhere(env: &Env, argument: u64) {
    let me = Me::new(env, argument);
    let seen = arch::read(NOWHERE + 8, me.own.word(RESUME));
    me.own.set(9, seen.unwrap_or(0));
    me.own.set(8, 1 + u64::from(seen.is_some()));
}

fn badged(bench: &Bench, e: Slot) -> Result<Slot, Why> {
    let handler = bench.slot();
    cap::mint(e, handler, Rights::SEND, 31)?;
    Ok(handler)
}

/// Starts `work` with its faults going to `e`, and takes the first one.
fn fault(bench: &Bench, e: Slot, work: Work) -> Result<(Helper, Received), Why> {
    let handler = badged(bench, e)?;
    let helper = bench.handled(HIGH, handler, work, Slot::NONE, Slot::NONE)?;
    Ok((helper, ipc::receive(e, Wait::ZERO)?))
}

fn learns(bench: &Bench) -> Check {
    let e = bench.endpoint()?;
    let (helper, fault) = fault(bench, e, read_nowhere)?;
    expect(fault.info.is_fault() && fault.info.words() == 4, "a fault message")?;
    expect(fault.info.label() == FaultKind::Memory as u32, "of the right kind")?;
    expect(fault.badge == 31, "with the badge of the handler's capability")?;
    expect(fault.words[0] == NOWHERE + 8, "with the address")?;
    let (instruction, stack) = (fault.words[1], fault.words[2]);
    let resume = bench.words(helper).get(RESUME);
    expect(instruction < resume && instruction + 64 > resume, "with the instruction pointer")?;
    let top = bench.env.stack(1);
    expect(stack < top && stack + 4 * abi::PAGE > top, "with the stack pointer")
}

fn goes_on(bench: &Bench) -> Check {
    let e = bench.endpoint()?;
    let (helper, _) = fault(bench, e, read_nowhere)?;
    let words = bench.words(helper);
    ipc::reply(Message::short(CONTINUE, [words.get(RESUME)]))?;
    expect(words.get(8) == 1, "the thread goes on, without the word")?;
    refused(ipc::reply(Message::empty(0)), Error::NoReply, "a second answer")
}

fn mend(bench: &Bench) -> Check {
    let (e, page, mapping) = (bench.endpoint()?, bench.slot(), bench.slot());
    memory::create(page, 1)?;
    let (helper, _) = fault(bench, e, read_nowhere)?;
    let range = Range { memory: page, first: 0, pages: 1, address: NOWHERE };
    memory::map(mapping, Slot::NONE, range, Rights::READ.or(Rights::WRITE))?;
    expect(arch::write(NOWHERE + 8, 1234, bench.common().word(0)), "the page is there")?;
    ipc::reply(Message::empty(RETRY))?;
    let words = bench.words(helper);
    expect(words.get(8) == 2 && words.get(9) == 1234, "the second try succeeds")
}

fn suspend(bench: &Bench) -> Check {
    let e = bench.endpoint()?;
    let (helper, _) = fault(bench, e, read_nowhere)?;
    ipc::reply(Message::empty(SUSPEND))?;
    expect(thread::state(helper.slot)? == ThreadState::Suspended as u64, "it is suspended")?;
    let resume = Some(bench.words(helper).get(RESUME));
    let registers = thread::Registers { instruction: resume, ..thread::Registers::default() };
    thread::set(helper.slot, registers)?;
    thread::resume(helper.slot)?;
    expect(bench.words(helper).get(8) == 1, "and can go on when resumed")
}

/// Helper: raises one fault of each kind.
fn privileged(env: &Env, argument: u64) {
    let me = Me::new(env, argument);
    for (i, name) in arch::PRIVILEGED.iter().enumerate() {
        if ["hlt", "undefined instruction", "division by zero"].contains(name) {
            arch::privileged(i, NOWHERE, me.own.word(RESUME));
        }
    }
    let stepped = arch::debug_traps(me.own.word(RESUME));
    me.own.set(8, 1 + u64::from(!stepped));
}

fn kinds(bench: &Bench) -> Check {
    let e = bench.endpoint()?;
    let (helper, first) = fault(bench, e, privileged)?;
    let words = bench.words(helper);
    let go_on = || Message::short(CONTINUE, [words.get(RESUME)]);
    expect(first.info.label() == FaultKind::Instruction as u32, "a privileged instruction")?;
    let second = ipc::reply_wait(e, go_on())?;
    expect(second.info.label() == FaultKind::Instruction as u32, "an undefined instruction")?;
    let third = ipc::reply_wait(e, go_on())?;
    expect(third.info.label() == FaultKind::Arithmetic as u32, "a division by zero")?;
    let mut next = ipc::reply_wait(e, go_on())?;
    for _ in 0..16 {
        expect(next.info.label() == FaultKind::Debug as u32, "a breakpoint or a step")?;
        ipc::reply(Message::empty(RETRY))?;
        if words.get(8) == 1 {
            return Ok(());
        }
        next = ipc::receive(e, Wait::ZERO)?;
    }
    expect(false, "single-stepping ends")
}

fn waits(bench: &Bench) -> Check {
    let e = bench.endpoint()?;
    let handler = badged(bench, e)?;
    let mut helpers = [None; 2];
    for helper in &mut helpers {
        *helper = Some(bench.handled(HIGH, handler, read_nowhere, Slot::NONE, Slot::NONE)?);
    }
    bench.settle();
    for helper in helpers.into_iter().flatten() {
        let fault = ipc::receive(e, Wait::ZERO)?;
        expect(fault.info.is_fault() && fault.words[0] == NOWHERE + 8, "each fault, in order")?;
        ipc::reply(Message::short(CONTINUE, [bench.words(helper).get(RESUME)]))?;
        expect(bench.words(helper).get(8) == 1, "each thread goes on")?;
    }
    Ok(())
}

fn unhandled(bench: &Bench) -> Check {
    let helper = bench.helper(HIGH, read_nowhere, Slot::NONE, Slot::NONE)?;
    let state = thread::state(helper.slot)?;
    expect(state == ThreadState::Suspended as u64, "the thread is suspended")?;
    expect(bench.words(helper).get(8) == 0, "it did not go on")
}

fn handler_dies(bench: &Bench) -> Check {
    let e = bench.endpoint()?;
    let handler = badged(bench, e)?;
    let helper = bench.handled(HIGH, handler, read_nowhere, Slot::NONE, Slot::NONE)?;
    cap::destroy(e)?;
    let state = thread::state(helper.slot)?;
    expect(state == ThreadState::Suspended as u64, "the thread is suspended")?;
    expect(bench.words(helper).get(8) == 0, "it did not go on")?;
    let resume = Some(bench.words(helper).get(RESUME));
    let registers = thread::Registers { instruction: resume, ..thread::Registers::default() };
    thread::set(helper.slot, registers)?;
    thread::resume(helper.slot)?;
    expect(bench.words(helper).get(8) == 1, "and can still be helped")
}

/// Helper: keeps values across a fault.
fn keep(env: &Env, argument: u64) {
    let me = Me::new(env, argument);
    let mut sum = 0u64;
    for i in 0..8 {
        arch::simd_write(i | 1 << 40);
        let through = arch::write(NOWHERE, i, me.own.word(RESUME));
        sum += i + u64::from(through) * 1000;
        sum += u64::from(!arch::simd_matches(i | 1 << 40).0) * 1_000_000;
    }
    me.own.set(9, sum);
    me.own.set(8, 1);
}

fn registers(bench: &Bench) -> Check {
    let e = bench.endpoint()?;
    let (helper, _) = fault(bench, e, keep)?;
    let words = bench.words(helper);
    for _ in 0..8 {
        arch::simd_write(0x0bad_0bad);
        ipc::reply(Message::short(CONTINUE, [words.get(RESUME)]))?;
        if words.get(8) == 0 {
            ipc::receive(e, Wait::ZERO)?;
        }
    }
    expect(words.get(8) == 1, "all faults were answered")?;
    expect(words.get(9) == 28, "values and vector registers are as they were")
}
