//! Threads: starting, stopping, changing.

use super::bench::*;
use rt::abi::call::ThreadState;
use rt::arch;
use rt::thread::{self, Registers, Spec};
use rt::{Env, Error, Message, Slot, Wait};
use rt::{cap, ipc, system};

pub const CHECKS: Checks = &[
    ("a new thread waits to be resumed", new_thread),
    ("suspending and resuming", suspend_resume),
    ("a suspended thread still receives", suspended_receiver),
    ("states are told", states),
    ("registers of a running thread stay its own", running_registers),
    ("setting registers", registers),
    ("cancelling an operation", cancel),
    ("priorities above the domain's", too_high),
    ("a buffer needs a free page of user space", buffers),
    ("destroying a thread", destroy),
    ("destroying oneself is final", destroy_self),
    ("a thread's first registers tell nothing", first_registers),
];

fn spec(priority: u64) -> Spec {
    Spec { domain: Slot::NONE, priority, buffer: 0, handler: Slot::NONE }
}

fn is(state: u64, expected: ThreadState) -> bool {
    state == expected as u64
}

fn new_thread(bench: &Bench) -> Check {
    let slot = bench.slot();
    thread::create(slot, spec(HIGH))?;
    bench.settle();
    expect(is(thread::state(slot)?, ThreadState::Suspended), "it is suspended")?;
    thread::set(slot, Registers { instruction: Some(0x1000), ..Registers::default() })?;
    let old = thread::set(slot, Registers::default())?;
    expect(old.0 == 0x1000, "registers can be read back")
}

fn suspend_resume(bench: &Bench) -> Check {
    let helper = bench.helper(MAIN, count, Slot::NONE, Slot::NONE)?;
    let words = bench.words(helper);
    bench.settle();
    thread::suspend(helper.slot)?;
    let counted = words.get(8);
    expect(counted > 0, "it ran")?;
    bench.settle();
    expect(words.get(8) == counted, "a suspended thread does not run")?;
    thread::suspend(helper.slot)?;
    thread::resume(helper.slot)?;
    bench.settle();
    expect(words.get(8) > counted, "a resumed one does")?;
    thread::resume(helper.slot)?;
    Ok(())
}

fn suspended_receiver(bench: &Bench) -> Check {
    let e = bench.endpoint()?;
    let helper = bench.helper(HIGH, receive_once, e, Slot::NONE)?;
    thread::suspend(helper.slot)?;
    ipc::send(e, Message::short(0, [3]), Wait::ZERO)?;
    bench.settle();
    expect(bench.report(helper).is_none(), "it has its message but does not run")?;
    thread::resume(helper.slot)?;
    expect(bench.succeeded(helper, "when resumed")?.words[0] == 3, "it has the message")
}

fn states(bench: &Bench) -> Check {
    let e = bench.endpoint()?;
    let spinner = bench.helper(LOW, count, Slot::NONE, Slot::NONE)?;
    expect(is(thread::state(spinner.slot)?, ThreadState::Ready), "ready")?;
    let receiver = bench.helper(HIGH, receive_once, e, Slot::NONE)?;
    expect(is(thread::state(receiver.slot)?, ThreadState::Receiving), "receiving")?;
    let caller = bench.helper(HIGH, call_once, e, Slot::NONE)?;
    expect(is(thread::state(caller.slot)?, ThreadState::Calling), "calling")?;
    let sender = bench.helper(HIGH, send_once, e, Slot::NONE)?;
    expect(is(thread::state(sender.slot)?, ThreadState::Sending), "sending")?;
    let own = thread::state(bench.env.cap("self-thread"))?;
    expect(is(own, ThreadState::Ready), "the suite's own thread is ready")
}

fn running_registers(bench: &Bench) -> Check {
    let helper = bench.helper(LOW, count, Slot::NONE, Slot::NONE)?;
    let result = thread::set(helper.slot, Registers::default());
    refused(result, Error::WrongState, "a thread that is not suspended")?;
    let own = bench.env.cap("self-thread");
    refused(thread::set(own, Registers::default()), Error::WrongState, "the caller itself")
}

fn registers(bench: &Bench) -> Check {
    let slot = bench.slot();
    thread::create(slot, spec(LOW))?;
    for bad in [abi::USER_TOP, 1 << 47, 0xffff_8000_0000_0000, u64::MAX] {
        let instruction = Registers { instruction: Some(bad), ..Registers::default() };
        refused(thread::set(slot, instruction), Error::BadAddress, "instruction pointer")?;
        let stack = Registers { stack: Some(bad), ..Registers::default() };
        refused(thread::set(slot, stack), Error::BadAddress, "stack pointer")?;
        let pointer = Registers { thread: Some(bad), ..Registers::default() };
        refused(thread::set(slot, pointer), Error::BadAddress, "thread pointer")?;
    }
    let new = Registers { instruction: Some(0x5000), stack: Some(0x6000), ..Registers::default() };
    thread::set(slot, new)?;
    let old = thread::set(slot, Registers { stack: Some(0x7000), ..Registers::default() })?;
    expect(old == (0x5000, 0x6000), "the registers before")?;
    expect(thread::set(slot, Registers::default())? == (0x5000, 0x7000), "only some are set")?;
    let mut a = [0; 6].map(arch::word);
    a[0] = arch::word(slot.word());
    a[5] = arch::word(32);
    let exchange = abi::call::Call::ThreadExchange as u64;
    let outcome = arch::syscall(exchange, a, [arch::word(0); 4]);
    refused(outcome.status.result(), Error::InvalidArgument, "an unknown bit")
}

fn cancel(bench: &Bench) -> Check {
    let e = bench.endpoint()?;
    for work in [receive_once, call_once] as [Work; 2] {
        let helper = bench.helper(HIGH, work, e, Slot::NONE)?;
        thread::suspend(helper.slot)?;
        let nothing = Registers { instruction: Some(0x1000), ..Registers::default() };
        let result = thread::set(helper.slot, nothing);
        refused(result, Error::WrongState, "registers of a blocked thread")?;
        thread::set(helper.slot, Registers { cancel: true, ..Registers::default() })?;
        bench.settle();
        expect(bench.report(helper).is_none(), "a cancelled thread is still suspended")?;
        thread::resume(helper.slot)?;
        bench.failed(helper, Error::Cancelled, "the operation was cancelled")?;
    }
    let result = ipc::receive(e, Wait::ZERO);
    refused(result, Error::Timeout, "the queue is empty")
}

fn too_high(bench: &Bench) -> Check {
    let (slot, own) = (bench.slot(), bench.env.cap("self-thread"));
    let result = thread::create(slot, spec(HIGHEST + 1));
    refused(result, Error::PriorityTooHigh, "a new thread")?;
    refused(thread::create(slot, spec(256)), Error::InvalidArgument, "no priority at all")?;
    let result = thread::set_priority(own, HIGHEST + 1);
    refused(result, Error::PriorityTooHigh, "its own thread")?;
    refused(thread::set_priority(own, 1 << 40), Error::InvalidArgument, "no priority at all")?;
    thread::set_priority(own, HIGHEST)?;
    thread::set_priority(own, MAIN)?;
    Ok(())
}

fn buffers(bench: &Bench) -> Check {
    let slot = bench.slot();
    let used = bench.env.buffer_address(0);
    for (buffer, error, what) in [
        (0x7_0000_0008, Error::BadAddress, "not at a page boundary"),
        (0x7_0000_0fff, Error::BadAddress, "across two pages"),
        (abi::USER_TOP, Error::BadAddress, "above user space"),
        (u64::MAX << 12, Error::BadAddress, "in the kernel"),
        (1 << 47, Error::BadAddress, "at no address at all"),
        (used, Error::AddressInUse, "over another buffer"),
        (0x20_0000, Error::AddressInUse, "over the program"),
    ] {
        let result = thread::create(slot, Spec { buffer, ..spec(LOW) });
        refused(result, error, what)?;
    }
    Ok(())
}

fn destroy(bench: &Bench) -> Check {
    let copy = bench.slot();
    let helper = bench.helper(LOW, count, Slot::NONE, Slot::NONE)?;
    cap::copy(helper.slot, copy, rt::Rights::ALL)?;
    bench.settle();
    cap::destroy(helper.slot)?;
    let counted = bench.words(helper).get(8);
    bench.settle();
    expect(bench.words(helper).get(8) == counted, "it runs no more")?;
    refused(thread::resume(copy), Error::Stale, "resuming it")
}

/// Helper: destroys the thread in slot `a`, which it is itself.
pub fn suicide(env: &Env, argument: u64) {
    let me = Me::new(env, argument);
    me.own.set(8, 1);
    let _ = cap::destroy(me.a);
    me.own.set(8, 2);
}

fn destroy_self(bench: &Bench) -> Check {
    // The slot that the helper is about to get: one after the next.
    let next = Slot(bench.slot().0 + 1);
    let helper = bench.helper(LOW, suicide, next, Slot::NONE)?;
    expect(helper.slot == next, "the helper knows itself")?;
    bench.settle();
    expect(bench.words(helper).get(8) == 1, "it does not return")?;
    refused(thread::state(next), Error::NoCapability, "it is gone")
}

fn first_registers(bench: &Bench) -> Check {
    // A thread that was destroyed leaves nothing to the one that gets its place.
    let helper = bench.helper(HIGH, vectors, Slot::NONE, Slot::NONE)?;
    cap::destroy(helper.slot)?;
    let slot = bench.slot();
    thread::create(slot, spec(LOW))?;
    expect(thread::set(slot, Registers::default())? == (0, 0), "its registers are zero")
}

/// Helper: leaves a pattern in the vector registers and sleeps.
fn vectors(_: &Env, _: u64) {
    arch::simd_write(0x5ec2_e75e_c2e7);
    system::sleep_until(u64::MAX);
}
