//! Capabilities that travel with messages.

use super::bench::*;
use super::partner;
use rt::{Env, Error, Message, Rights, Slot, Wait};
use rt::{cap, ipc, signal};

pub const CHECKS: Checks = &[
    ("a capability arrives with a message", arrives),
    ("rights only shrink on the way", rights_shrink),
    ("a capability that is not taken", not_taken),
    ("a queued sender whose capability is not taken", not_taken_later),
    ("passing on needs rights", missing_rights),
    ("a reply can carry a capability", with_reply),
    ("another domain can use what it was given", across),
];

/// Helper: accepts a capability into `b` with a message on `a`.
fn accept(env: &Env, argument: u64) {
    let me = Me::new(env, argument);
    env.buffer(me.n).accept(me.b);
    me.report(ipc::exchange(Slot::NONE, me.a, Message::empty(0), Wait::NEVER));
}

fn offer(bench: &Bench, to: Slot, what: Slot, rights: Rights) -> Result<(), Error> {
    bench.buffer().offer(what, rights);
    ipc::send(to, Message::short(1, [2]).with_capability(), Wait::ZERO)
}

fn arrives(bench: &Bench) -> Check {
    let (e, what, taken) = (bench.endpoint()?, bench.notification()?, bench.slot());
    let helper = bench.helper(HIGH, accept, e, taken)?;
    offer(bench, e, what, Rights::ALL)?;
    let got = bench.succeeded(helper, "the message arrives")?;
    expect(got.info.has_capability() && got.words[0] == 2, "and says that it carries something")?;
    signal::signal(taken)?;
    let bits = ipc::receive(what, Wait::ZERO)?;
    expect(bits.info.is_notification(), "the capability names the same object")?;
    cap::inspect(what)?;
    Ok(())
}

fn rights_shrink(bench: &Bench) -> Check {
    let (e, what, less) = (bench.endpoint()?, bench.endpoint()?, bench.slot());
    cap::copy(what, less, Rights::SEND.or(Rights::COPY).or(Rights::REVOKE))?;
    for (from, offered, expected) in [
        (what, Rights::SEND, Rights::SEND),
        (what, Rights::ALL, Rights::ALL),
        (what, Rights::NONE, Rights::NONE),
        (less, Rights::ALL, Rights::SEND.or(Rights::COPY).or(Rights::REVOKE)),
        (less, Rights::RECEIVE.or(Rights::COPY), Rights::COPY),
    ] {
        let taken = bench.slot();
        let helper = bench.helper(HIGH, accept, e, taken)?;
        offer(bench, e, from, offered)?;
        bench.succeeded(helper, "the message arrives")?;
        expect(cap::inspect(taken)?.rights == expected, "rights are those offered and held")?;
    }
    Ok(())
}

fn not_taken(bench: &Bench) -> Check {
    let (e, what) = (bench.endpoint()?, bench.notification()?);
    for slot in [Slot::NONE, what, Slot(bench.limit()), Slot(0xffff)] {
        let helper = bench.helper(HIGH, accept, e, slot)?;
        let result = offer(bench, e, what, Rights::ALL);
        refused(result, Error::NotTaken, "the receiver named no free slot")?;
        expect(bench.report(helper).is_none(), "and nothing arrived")?;
        cap::destroy(helper.slot)?;
    }
    Ok(())
}

/// Helper: offers `b` to the receiver on `a`.
fn offer_once(env: &Env, argument: u64) {
    let me = Me::new(env, argument);
    env.buffer(me.n).offer(me.b, Rights::ALL);
    let message = Message::empty(1).with_capability();
    me.report(ipc::exchange(me.a, Slot::NONE, message, Wait::NEVER));
}

fn not_taken_later(bench: &Bench) -> Check {
    let (e, what) = (bench.endpoint()?, bench.notification()?);
    let helper = bench.helper(HIGH, offer_once, e, what)?;
    expect(bench.report(helper).is_none(), "the sender waits")?;
    bench.buffer().accept(Slot::NONE);
    let result = ipc::receive(e, Wait::ZERO);
    refused(result, Error::Timeout, "a message that cannot be taken does not arrive")?;
    bench.failed(helper, Error::NotTaken, "and its sender is told")
}

fn missing_rights(bench: &Bench) -> Check {
    let (e, what) = (bench.endpoint()?, bench.notification()?);
    let (mute, fixed, free) = (bench.slot(), bench.slot(), bench.slot());
    cap::copy(e, mute, Rights::SEND)?;
    cap::copy(what, fixed, Rights::SEND)?;
    bench.helper(HIGH, accept, e, free)?;
    let result = offer(bench, mute, what, Rights::ALL);
    refused(result, Error::MissingRight, "an endpoint without the right to grant")?;
    let result = offer(bench, e, fixed, Rights::ALL);
    refused(result, Error::MissingRight, "a capability without the right to copy")?;
    let empty = bench.slot();
    refused(offer(bench, e, empty, Rights::ALL), Error::NoCapability, "an empty slot")?;
    offer(bench, e, what, Rights::SEND)?;
    expect(cap::inspect(free)?.rights == Rights::SEND, "the receiver was still waiting")
}

/// Helper: calls `a` and takes a capability with the answer into `b`.
fn call_and_accept(env: &Env, argument: u64) {
    let me = Me::new(env, argument);
    env.buffer(me.n).accept(me.b);
    me.report(ipc::exchange(me.a, Slot::REPLY, Message::empty(0), Wait::NEVER));
}

fn with_reply(bench: &Bench) -> Check {
    let (e, what, taken) = (bench.endpoint()?, bench.notification()?, bench.slot());
    let helper = bench.helper(HIGH, call_and_accept, e, taken)?;
    ipc::receive(e, Wait::ZERO)?;
    bench.buffer().offer(what, Rights::SEND);
    ipc::reply(Message::empty(0).with_capability())?;
    bench.succeeded(helper, "the answer arrives")?;
    expect(cap::inspect(taken)?.rights == Rights::SEND, "with the capability")
}

fn across(bench: &Bench) -> Check {
    let (work, private) = (bench.env.cap("work"), bench.endpoint()?);
    bench.buffer().offer(private, Rights::SEND);
    let seen = ipc::call(work, Message::empty(partner::TAKE).with_capability())?;
    expect(seen.words[0] == u64::from(Rights::SEND.0), "the partner holds what was offered")?;
    let helper = bench.helper(HIGH, receive_once, private, Slot::NONE)?;
    let used = ipc::call(work, Message::empty(partner::USE))?;
    expect(used.words[0] == 0, "the partner can use it")?;
    bench.settle();
    let got = bench.succeeded(helper, "its message arrives")?;
    expect(got.words[0] == partner::GREETING, "from the other domain")?;
    cap::revoke(private)?;
    let used = ipc::call(work, Message::empty(partner::USE))?;
    expect(used.words[0] == Error::Stale as u64, "once revoked it is stale there too")
}
