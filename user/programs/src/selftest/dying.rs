//! Partners and objects that are destroyed in the middle of an operation.

use super::bench::*;
use super::partner;
use rt::{Env, Error, Message, Slot, Wait};
use rt::{cap, ipc, thread};

pub const CHECKS: Checks = &[
    ("a receiver is destroyed", receiver),
    ("a sender is destroyed", sender),
    ("a caller is destroyed before it is received", queued_caller),
    ("a caller is destroyed before it is answered", caller),
    ("a callee is destroyed before it answers", callee),
    ("a sleeper is destroyed", sleeper),
    ("an endpoint is destroyed under everybody", endpoint),
    ("an endpoint is destroyed between a call's halves", endpoint_later),
    ("a notification is destroyed under its waiters", notification),
    ("an endpoint is revoked under its waiters", revoked),
    ("a saved reply right is dropped", saved_dropped),
    ("a saved reply right outlives its caller", saved_caller),
    ("a callee turns to somebody else", abandoned),
    ("a suspended thread is destroyed while it is owed an answer", suspended),
];

/// Checks that come last: they end the partner's domain.
pub const LAST: Checks =
    &[("a callee's domain is destroyed", domain), ("its capabilities are stale", domain_stale)];

fn receiver(bench: &Bench) -> Check {
    let e = bench.endpoint()?;
    let helper = bench.helper(HIGH, receive_once, e, Slot::NONE)?;
    cap::destroy(helper.slot)?;
    let result = ipc::send(e, Message::empty(0), Wait::ZERO);
    refused(result, Error::Timeout, "no thread receives any more")
}

fn sender(bench: &Bench) -> Check {
    let e = bench.endpoint()?;
    let helper = bench.helper(HIGH, send_once, e, Slot::NONE)?;
    cap::destroy(helper.slot)?;
    refused(ipc::receive(e, Wait::ZERO), Error::Timeout, "no thread sends any more")
}

fn queued_caller(bench: &Bench) -> Check {
    let e = bench.endpoint()?;
    let first = bench.helper(HIGH, call_once, e, Slot::NONE)?;
    let n = bench.next_helper();
    let second = bench.helper(HIGH, call_once, e, Slot::NONE)?;
    cap::destroy(first.slot)?;
    let got = ipc::receive(e, Wait::ZERO)?;
    expect(got.words[0] == n as u64, "the next caller's turn")?;
    ipc::reply(Message::empty(0))?;
    bench.succeeded(second, "it is answered").map(drop)
}

fn caller(bench: &Bench) -> Check {
    let e = bench.endpoint()?;
    let helper = bench.helper(HIGH, call_once, e, Slot::NONE)?;
    ipc::receive(e, Wait::ZERO)?;
    cap::destroy(helper.slot)?;
    refused(ipc::reply(Message::empty(0)), Error::NoReply, "no caller waits for the reply")?;
    let outcome = ipc::exchange(Slot::REPLY, e, Message::empty(0), Wait::ZERO);
    refused(outcome.received(), Error::Timeout, "before a wait it is dropped")
}

fn callee(bench: &Bench) -> Check {
    let e = bench.endpoint()?;
    let server = bench.helper(HIGH, hold, e, Slot::NONE)?;
    let client = bench.helper(HIGH, call_once, e, Slot::NONE)?;
    expect(bench.report(client).is_none(), "the caller waits")?;
    cap::destroy(server.slot)?;
    bench.failed(client, Error::Destroyed, "the caller is told")
}

/// Helper: sleeps for a while.
fn sleep_long(_: &Env, _: u64) {
    rt::system::sleep(3 * MS);
}

fn sleeper(bench: &Bench) -> Check {
    let helper = bench.helper(HIGH, sleep_long, Slot::NONE, Slot::NONE)?;
    cap::destroy(helper.slot)?;
    bench.settle();
    bench.settle();
    expect(thread::state(helper.slot).is_err(), "its deadline wakes no thread")
}

fn endpoint(bench: &Bench) -> Check {
    let waiting = [bench.endpoint()?, bench.endpoint()?];
    let receivers = [
        bench.helper(HIGH, receive_once, waiting[0], Slot::NONE)?,
        bench.helper(LOW, receive_once, waiting[0], Slot::NONE)?,
    ];
    let senders = [
        bench.helper(HIGH, send_once, waiting[1], Slot::NONE)?,
        bench.helper(LOW, call_once, waiting[1], Slot::NONE)?,
    ];
    bench.settle();
    cap::destroy(waiting[0])?;
    cap::destroy(waiting[1])?;
    bench.settle();
    for helper in receivers {
        bench.failed(helper, Error::Destroyed, "a receiver is woken")?;
        let in_receive = bench.report(helper).is_some_and(|outcome| outcome.status.in_receive());
        expect(in_receive, "in its receive half")?;
    }
    for helper in senders {
        bench.failed(helper, Error::Destroyed, "a sender is woken")?;
        let in_send = bench.report(helper).is_some_and(|outcome| !outcome.status.in_receive());
        expect(in_send, "in its send half")?;
    }
    Ok(())
}

fn endpoint_later(bench: &Bench) -> Check {
    let e = bench.endpoint()?;
    let helper = bench.helper(HIGH, call_once, e, Slot::NONE)?;
    ipc::receive(e, Wait::ZERO)?;
    cap::destroy(e)?;
    expect(bench.report(helper).is_none(), "who was received already still waits")?;
    ipc::reply(Message::short(0, [3]))?;
    expect(bench.succeeded(helper, "and is answered")?.words[0] == 3, "with the word")
}

fn notification(bench: &Bench) -> Check {
    let n = bench.notification()?;
    let first = bench.helper(HIGH, receive_once, n, Slot::NONE)?;
    let second = bench.helper(LOW, receive_once, n, Slot::NONE)?;
    bench.settle();
    cap::destroy(n)?;
    bench.settle();
    bench.failed(first, Error::Destroyed, "the first waiter")?;
    bench.failed(second, Error::Destroyed, "the second waiter")
}

fn revoked(bench: &Bench) -> Check {
    let e = bench.endpoint()?;
    let helper = bench.helper(HIGH, receive_once, e, Slot::NONE)?;
    cap::revoke(e)?;
    ipc::send(e, Message::short(0, [4]), Wait::ZERO)?;
    expect(bench.succeeded(helper, "who waits already")?.words[0] == 4, "is served")
}

fn saved_dropped(bench: &Bench) -> Check {
    let (e, saved) = (bench.endpoint()?, bench.slot());
    let helper = bench.helper(HIGH, call_once, e, Slot::NONE)?;
    ipc::receive(e, Wait::ZERO)?;
    cap::save_reply(saved)?;
    cap::delete(saved)?;
    bench.failed(helper, Error::Abandoned, "the caller is told")
}

fn saved_caller(bench: &Bench) -> Check {
    let (e, saved) = (bench.endpoint()?, bench.slot());
    let helper = bench.helper(HIGH, call_once, e, Slot::NONE)?;
    ipc::receive(e, Wait::ZERO)?;
    cap::save_reply(saved)?;
    cap::destroy(helper.slot)?;
    // The new thread may get the old one's place.
    bench.helper(HIGH, call_once, e, Slot::NONE)?;
    ipc::receive(e, Wait::ZERO)?;
    let result = ipc::send(saved, Message::empty(0), Wait::ZERO);
    expect(result.is_err(), "the right names no caller")?;
    ipc::reply(Message::empty(0))?;
    Ok(())
}

fn abandoned(bench: &Bench) -> Check {
    let e = bench.endpoint()?;
    let first = bench.helper(HIGH, call_once, e, Slot::NONE)?;
    let second = bench.helper(HIGH, call_once, e, Slot::NONE)?;
    ipc::receive(e, Wait::ZERO)?;
    expect(bench.report(first).is_none(), "the first caller waits")?;
    ipc::receive(e, Wait::ZERO)?;
    bench.failed(first, Error::Abandoned, "until the callee takes another call")?;
    ipc::reply(Message::empty(0))?;
    bench.succeeded(second, "the second caller is answered").map(drop)
}

fn suspended(bench: &Bench) -> Check {
    let e = bench.endpoint()?;
    let helper = bench.helper(HIGH, call_once, e, Slot::NONE)?;
    ipc::receive(e, Wait::ZERO)?;
    thread::suspend(helper.slot)?;
    ipc::reply(Message::short(0, [1]))?;
    bench.settle();
    expect(bench.report(helper).is_none(), "an answered thread stays suspended")?;
    cap::destroy(helper.slot)?;
    Ok(())
}

/// Helper: asks the partner for something that it will not answer.
fn ask(env: &Env, argument: u64) {
    let me = Me::new(env, argument);
    let message = Message::empty(partner::KEEP);
    me.report(ipc::exchange(env.cap("work"), Slot::REPLY, message, Wait::NEVER));
}

fn domain(bench: &Bench) -> Check {
    let helper = bench.helper(HIGH, ask, Slot::NONE, Slot::NONE)?;
    bench.settle();
    expect(bench.report(helper).is_none(), "the caller waits")?;
    cap::destroy(bench.env.cap("partner"))?;
    bench.settle();
    bench.failed(helper, Error::Destroyed, "the caller is told")
}

fn domain_stale(bench: &Bench) -> Check {
    let thread = bench.env.cap("partner-thread");
    refused(thread::state(thread), Error::Stale, "its thread")?;
    let result = ipc::call_within(bench.env.cap("work"), Message::empty(0), Wait::ZERO);
    refused(result, Error::Timeout, "the endpoint lives on, without a receiver")
}
