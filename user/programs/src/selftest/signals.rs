//! Notifications, endpoints with an attached notification, timers, interrupts.

use super::bench::*;
use super::cpus::cpus;
use rt::{Error, Message, Rights, Slot, Wait};
use rt::{cap, ipc, signal, system};

pub const CHECKS: Checks = &[
    ("signals gather until they are received", gather),
    ("a signal wakes one waiter", wakes),
    ("an endpoint receives attached signals", attached),
    ("a notification is attached to one endpoint", attached_once),
    ("messages and signals at one endpoint", mixed),
    ("timers signal once, on time", timer),
    ("timers can be disarmed and moved", disarm),
    ("a timer in the past signals at once", past),
    ("a timer outlives its notification", orphan),
    ("interrupts can be acknowledged", interrupt),
];

fn badged(bench: &Bench, n: Slot, badge: u64) -> Result<Slot, Why> {
    let slot = bench.slot();
    cap::mint(n, slot, Rights::SEND, badge)?;
    Ok(slot)
}

fn bits(from: Slot, wait: Wait) -> Result<u64, Why> {
    let got = ipc::receive(from, wait)?;
    expect(got.info.is_notification() && got.info.words() == 0, "an arrival of signals")?;
    Ok(got.badge)
}

fn gather(bench: &Bench) -> Check {
    let n = bench.notification()?;
    for badge in [1, 4, 1 << 63, 4] {
        signal::signal(badged(bench, n, badge)?)?;
    }
    expect(bits(n, Wait::ZERO)? == 5 | 1 << 63, "all bits, once")?;
    refused(ipc::receive(n, Wait::ZERO), Error::Timeout, "they are gone")?;
    signal::signal(badged(bench, n, 2)?)?;
    expect(bits(n, Wait::NEVER)? == 2, "the next signal")
}

fn wakes(bench: &Bench) -> Check {
    let n = bench.notification()?;
    let eight = badged(bench, n, 8)?;
    for priority in [LOW, HIGH] {
        let first = bench.helper(priority, receive_once, n, Slot::NONE)?;
        bench.settle();
        let second = bench.helper(priority, receive_once, n, Slot::NONE)?;
        bench.settle();
        signal::signal(eight)?;
        bench.settle();
        expect(bench.succeeded(first, "the first waiter")?.badge == 8, "gets the bits")?;
        expect(bench.report(second).is_none(), "the second one waits on")?;
        signal::signal(eight)?;
        bench.settle();
        bench.succeeded(second, "the second waiter")?;
    }
    refused(ipc::receive(n, Wait::ZERO), Error::Timeout, "what was received is gone")
}

fn attached(bench: &Bench) -> Check {
    let (n, e) = (bench.notification()?, bench.slot());
    signal::create_endpoint(e, n)?;
    let three = badged(bench, n, 3)?;
    signal::signal(three)?;
    expect(bits(e, Wait::ZERO)? == 3, "bits that were there before")?;
    let helper = bench.helper(HIGH, receive_once, e, Slot::NONE)?;
    signal::signal(three)?;
    let got = bench.succeeded(helper, "a waiter at the endpoint")?;
    expect(got.info.is_notification() && got.badge == 3, "is woken by a signal")?;
    signal::signal(bench.env.cap("signals"))?;
    expect(bits(bench.env.cap("both"), Wait::ZERO)? == 1, "as the manifest attached it")
}

fn attached_once(bench: &Bench) -> Check {
    let (n, first, second) = (bench.notification()?, bench.slot(), bench.slot());
    signal::create_endpoint(first, n)?;
    let result = signal::create_endpoint(second, n);
    refused(result, Error::WrongState, "attaching it to another")?;
    cap::destroy(first)?;
    signal::create_endpoint(second, n)?;
    signal::signal(badged(bench, n, 3)?)?;
    expect(bits(second, Wait::ZERO)? == 3, "once the first is gone, another will do")
}

fn mixed(bench: &Bench) -> Check {
    let (n, e) = (bench.notification()?, bench.slot());
    signal::create_endpoint(e, n)?;
    let helper = bench.helper(HIGH, call_once, e, Slot::NONE)?;
    signal::signal(badged(bench, n, 6)?)?;
    expect(bits(e, Wait::ZERO)? == 6, "signals come first")?;
    let got = ipc::receive(e, Wait::ZERO)?;
    expect(!got.info.is_notification(), "then the message")?;
    signal::signal(badged(bench, n, 6)?)?;
    let got = ipc::reply_wait(e, Message::short(0, [1]))?;
    expect(got.info.is_notification() && got.badge == 6, "a reply, and a wait for signals")?;
    bench.succeeded(helper, "the caller is answered").map(drop)
}

fn timer(bench: &Bench) -> Check {
    let (n, t) = (bench.notification()?, bench.slot());
    signal::create_timer(t, n)?;
    for wait in [1, 50_000, 2 * MS] {
        let at = system::clock() + wait;
        signal::set_timer(t, at)?;
        expect(bits(n, Wait::until(at + 10 * MS))? != 0, "the timer signals")?;
        let now = system::clock();
        expect(now >= at && now - at < MS, "at its instant")?;
    }
    let result = ipc::receive(n, Wait::until(system::clock() + 4 * MS));
    refused(result, Error::Timeout, "once only")?;
    let both = bench.env.cap("both");
    signal::set_timer(bench.env.cap("alarm"), system::clock() + MS)?;
    expect(bits(both, Wait::until(system::clock() + 10 * MS))? == 2, "the manifest's timer")
}

fn disarm(bench: &Bench) -> Check {
    let (n, t) = (bench.notification()?, bench.slot());
    signal::create_timer(t, n)?;
    signal::set_timer(t, system::clock() + 2 * MS)?;
    signal::set_timer(t, 0)?;
    let result = ipc::receive(n, Wait::until(system::clock() + 4 * MS));
    refused(result, Error::Timeout, "a disarmed timer is silent")?;
    let at = system::clock() + 4 * MS;
    signal::set_timer(t, system::clock() + MS)?;
    signal::set_timer(t, at)?;
    bits(n, Wait::until(at + 10 * MS))?;
    expect(system::clock() >= at, "the later instant counts")
}

fn past(bench: &Bench) -> Check {
    let (n, t) = (bench.notification()?, bench.slot());
    signal::create_timer(t, n)?;
    signal::set_timer(t, 1)?;
    bits(n, Wait::until(system::clock() + MS)).map(drop)
}

fn orphan(bench: &Bench) -> Check {
    let (n, t) = (bench.notification()?, bench.slot());
    signal::create_timer(t, n)?;
    signal::set_timer(t, system::clock() + MS)?;
    cap::destroy(n)?;
    let other = bench.notification()?;
    let result = ipc::receive(other, Wait::until(system::clock() + 4 * MS));
    refused(result, Error::Timeout, "its signal reaches no other thread")
}

fn interrupt(bench: &Bench) -> Check {
    let uart = bench.env.cap("uart");
    let keys = bench.env.cap("keys");
    // Something may have been typed before, or the line was active from the start.
    signal::acknowledge(uart)?;
    let _ = ipc::receive(keys, Wait::ZERO);
    while bench.env.console().read().is_some() {}
    signal::acknowledge(uart)?;
    let quiet = ipc::receive(keys, Wait::until(system::clock() + MS));
    refused(quiet, Error::Timeout, "an idle line is silent")?;
    let mute = bench.slot();
    cap::copy(uart, mute, Rights::COPY)?;
    refused(signal::acknowledge(mute), Error::MissingRight, "acknowledging without the right")?;
    let (count, own) = cpus()?;
    for cpu in [own, count - 1, 0] {
        signal::route(uart, cpu)?;
    }
    refused(signal::route(uart, count), Error::InvalidArgument, "a CPU that does not exist")
}
