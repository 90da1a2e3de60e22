//! What failed calls are told with: slot, right, quota.

use super::bench::*;
use core::fmt::{self, Write};
use rt::{Env, Error, Message, Rights, Slot, Wait};
use rt::{cap, domain, ipc, memory, signal, thread};

pub const CHECKS: Checks = &[
    ("a missing right with its slot", rights),
    ("slots that are empty, in use, or hold something else", slots),
    ("a stale capability with its name", stale),
    ("a quota with what is used of it", quotas),
    ("a priority that is too high", priorities),
    ("what succeeds in between changes nothing", between),
    ("each thread with its own call", threads),
];

/// What is expected, and what is told.
struct Compared {
    bytes: [u8; 160],
    length: usize,
}

impl Write for Compared {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let end = self.length + text.len();
        self.bytes.get_mut(self.length..end).ok_or(fmt::Error)?.copy_from_slice(text.as_bytes());
        self.length = end;
        Ok(())
    }
}

fn text(arguments: fmt::Arguments) -> Compared {
    let mut text = Compared { bytes: [0; 160], length: 0 };
    let _ = text.write_fmt(arguments);
    text
}

/// Whether a call fails and is told with this text.
fn is_told<T>(env: &Env, result: Result<T, Error>, expected: fmt::Arguments) -> bool {
    let Err(error) = result else { return false };
    let (told, expected) = (text(format_args!("{}", env.why(error))), text(expected));
    told.bytes == expected.bytes
}

/// Expects that a call fails and is told with this text.
fn told<T>(bench: &Bench, result: Result<T, Error>, expected: fmt::Arguments) -> Check {
    if is_told(&bench.env, result, expected) {
        return Ok(());
    }
    rt::println!(bench.env.console(), "it is not told as: {expected}");
    expect(false, "another text")
}

fn rights(bench: &Bench) -> Check {
    let (work, both) = (bench.env.cap("work"), bench.env.cap("both"));
    let (message, slot) = (Message::empty(1), bench.slot());
    let Slot(w) = work;
    let received = ipc::receive(work, Wait::ZERO);
    told(bench, received, format_args!("Ipc: slot {w} (`work`) lacks the right to receive"))?;
    let Slot(b) = both;
    let sent = ipc::send(both, message, Wait::ZERO);
    told(bench, sent, format_args!("Ipc: slot {b} (`both`) lacks the right to send"))?;
    let called = ipc::call(both, message);
    told(bench, called, format_args!("Call: slot {b} (`both`) lacks the right to send"))?;
    let copied = cap::copy(both, slot, Rights::ALL);
    told(bench, copied, format_args!("CapCopy: slot {b} (`both`) lacks the right to copy"))?;
    let destroyed = cap::destroy(both);
    told(bench, destroyed, format_args!("Destroy: slot {b} (`both`) lacks the right to destroy"))?;
    // The right to send is there, the one to send a capability along is not.
    let (endpoint, less) = (bench.endpoint()?, bench.slot());
    cap::copy(endpoint, less, Rights::SEND)?;
    bench.buffer().offer(work, Rights::ALL);
    let granted = ipc::send(less, message.with_capability(), Wait::ZERO);
    let Slot(less) = less;
    told(bench, granted, format_args!("Ipc: slot {less} lacks the right to grant"))
}

fn slots(bench: &Bench) -> Check {
    let (work, signals) = (bench.env.cap("work"), bench.env.cap("signals"));
    let (empty, free) = (bench.slot(), bench.slot());
    let copied = cap::copy(empty, free, Rights::ALL);
    told(bench, copied, format_args!("CapCopy: slot {} is empty", empty.0))?;
    let beyond = Slot(bench.limit());
    let made = signal::create_notification(beyond);
    let limit = beyond.0;
    told(
        bench,
        made,
        format_args!("NotificationCreate: slot {limit} is not in the domain's table"),
    )?;
    let (Slot(w), Slot(s)) = (work, signals);
    let made = signal::create_endpoint(work, Slot::NONE);
    let holds = "is in use: it holds a capability to an endpoint";
    told(bench, made, format_args!("EndpointCreate: slot {w} (`work`) {holds}"))?;
    let sent = ipc::send(signals, Message::empty(1), Wait::ZERO);
    let holds = "holds a notification, not an endpoint or a reply";
    told(bench, sent, format_args!("Ipc: slot {s} (`signals`) {holds}"))?;
    let granted = domain::grant(bench.env.cap("partner"), work, Slot(1), Rights::ALL);
    told(bench, granted, format_args!("DomainGrant: slot 1 of that domain is in use"))?;
    let made = signal::create_timer(free, work);
    let holds = "holds an endpoint, not a notification";
    told(bench, made, format_args!("TimerCreate: slot {w} (`work`) {holds}"))
}

fn stale(bench: &Bench) -> Check {
    let (endpoint, copy) = (bench.endpoint()?, bench.slot());
    cap::copy(endpoint, copy, Rights::ALL)?;
    cap::revoke(endpoint)?;
    let sent = ipc::send(copy, Message::empty(1), Wait::ZERO);
    let Slot(slot) = copy;
    told(bench, sent, format_args!("Ipc: slot {slot}: its object is gone, or was revoked"))
}

fn quotas(bench: &Bench) -> Check {
    let slot = bench.slot();
    let made = memory::create(slot, 300);
    let frames = "the quota of frames has 0 of 256 in use, 301 asked";
    told(bench, made, format_args!("MemoryCreate: {frames}"))?;
    for _ in 0..12 {
        bench.notification()?;
    }
    let made = signal::create_notification(slot);
    let used = "the quota of notifications is used up: 12 of 12";
    told(bench, made, format_args!("NotificationCreate: {used}"))
}

fn priorities(bench: &Bench) -> Check {
    let own = bench.env.cap("self-thread");
    let set = thread::set_priority(own, HIGHEST + 1);
    let above = "is above the domain's `max_priority`";
    told(bench, set, format_args!("ThreadPriority: priority {} {above}", HIGHEST + 1))
}

fn between(bench: &Bench) -> Check {
    let (both, slot) = (bench.env.cap("both"), bench.slot());
    let copied = cap::copy(both, slot, Rights::ALL);
    signal::create_notification(slot)?;
    // Errors that come with time are no reason to forget it either.
    refused(ipc::receive(slot, Wait::ZERO), Error::Timeout, "nothing is signalled")?;
    let Slot(b) = both;
    told(bench, copied, format_args!("CapCopy: slot {b} (`both`) lacks the right to copy"))?;
    let other = Err::<(), Error>(Error::Stale);
    told(bench, other, format_args!("Stale"))
}

fn threads(bench: &Bench) -> Check {
    let helper = bench.helper(HIGH, fails, Slot::NONE, Slot::NONE)?;
    bench.settle();
    expect(bench.words(helper).get(0) == 1, "the helper tells of its own call")?;
    told(bench, Err::<(), Error>(Error::WrongKind), format_args!("WrongKind"))
}

/// Helper: fails, and is told why.
fn fails(env: &Env, argument: u64) {
    let me = Me::new(env, argument);
    let signals = env.cap("signals");
    let sent = ipc::send(signals, Message::empty(1), Wait::ZERO);
    let holds = "holds a notification, not an endpoint or a reply";
    let expected = format_args!("Ipc: slot {} (`signals`) {holds}", signals.0);
    me.own.set(0, is_told(env, sent, expected).into());
}
