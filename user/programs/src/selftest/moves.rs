//! Threads that are moved from CPU to CPU. With one CPU they stay.

use super::bench::*;
use super::cpus::{TURNS, count_alone, cpus, other, there, wait_a_little};
use rt::abi::call::Fact;
use rt::{Env, Error, Slot, Wait, ipc, signal, system, thread};

pub const CHECKS: Checks = &[
    ("a thread runs where it is told", moves),
    ("a thread moves itself", moves_itself),
    ("a CPU that does not exist", no_such),
    ("a thread that has yet to leave its CPU runs on no other", runs_once),
    ("a thread that is called back before it has left", called_back),
    ("a thread that is ready elsewhere runs here at once if it is the highest", runs_here),
    ("a thread that waits moves with its deadline", moves_asleep),
];

/// Helper: notes in its word 9 where it runs, over and over, and counts in its word 8.
fn whereabouts(env: &Env, argument: u64) {
    let me = Me::new(env, argument);
    while let Ok((_, own)) = system::fact(Fact::Cpus) {
        me.own.set(9, own);
        me.own.add(8, 1);
    }
}

fn moves(bench: &Bench) -> Check {
    let helper = bench.helper(LOW, whereabouts, Slot::NONE, Slot::NONE)?;
    let words = bench.words(helper);
    let (count, _) = cpus()?;
    for cpu in (0..count).chain((0..count).rev()) {
        thread::migrate(helper.slot, cpu)?;
        words.set(9, u64::MAX);
        let before = words.get(8);
        // It stays where it runs until that CPU is interrupted, whenever that gets a turn.
        let arrived = || words.get(9) == cpu && words.get(8) > before;
        for _ in 0..TURNS {
            if !arrived() {
                bench.settle();
            }
        }
        expect(arrived(), "it goes on where it was sent")?;
    }
    Ok(())
}

fn moves_itself(bench: &Bench) -> Check {
    let own = bench.env.cap("self-thread");
    let (count, here) = cpus()?;
    for cpu in (0..count).chain([here]) {
        thread::migrate(own, cpu)?;
        expect(cpus()?.1 == cpu, "the caller is there when the call returns")?;
    }
    Ok(())
}

fn no_such(bench: &Bench) -> Check {
    let (own, (count, here)) = (bench.env.cap("self-thread"), cpus()?);
    for cpu in [count, 64, 1 << 32, u64::MAX] {
        refused(thread::migrate(own, cpu), Error::InvalidArgument, "beyond the last")?;
    }
    expect(cpus()?.1 == here, "nothing has moved")
}

fn runs_once(bench: &Bench) -> Check {
    let helper = there(bench, LOW, count_alone, Slot::NONE)?;
    let words = bench.words(helper);
    let (away, here) = (other()?, cpus()?.1);
    for _ in 0..30 {
        thread::migrate(helper.slot, away)?;
        bench.settle();
        thread::migrate(helper.slot, here)?;
        // The other CPU has not been interrupted yet.
        thread::yield_to(helper.slot)?;
    }
    expect(words.get(8) > 0, "it counts")?;
    expect(words.get(9) == 0, "it never runs twice at once")
}

/// Helper: waits for signals, one after another.
fn wait_again(env: &Env, argument: u64) {
    let me = Me::new(env, argument);
    while ipc::receive(me.a, Wait::NEVER).is_ok() {}
}

/// Helper: signals, and counts in its word 8.
fn signal_and_count(env: &Env, argument: u64) {
    let me = Me::new(env, argument);
    while signal::signal(me.a).is_ok() {
        me.own.add(8, 1);
    }
}

fn called_back(bench: &Bench) -> Check {
    let signals = bench.notification()?;
    there(bench, HIGH, wait_again, signals)?;
    let busy = there(bench, LOW, signal_and_count, signals)?;
    let (to, (_, own)) = (other()?, cpus()?);
    for _ in 0..10 {
        bench.settle();
        thread::migrate(busy.slot, own)?;
        thread::migrate(busy.slot, to)?;
        let counted = bench.words(busy).get(8);
        // A higher thread preempts it over and over.
        let goes_on = |_| {
            bench.settle();
            bench.words(busy).get(8) > counted + 1
        };
        expect((0..TURNS).any(goes_on), "it goes on")?;
    }
    Ok(())
}

/// Helper: counts once in its word 8.
fn count_once(env: &Env, argument: u64) {
    Me::new(env, argument).own.add(8, 1);
}

fn runs_here(bench: &Bench) -> Check {
    let (count, here) = cpus()?;
    if count > 1 {
        let busy = there(bench, LOW, count_alone, Slot::NONE)?;
        thread::set_priority(busy.slot, HIGH + 5)?;
    }
    let waiting = there(bench, LOW, count_once, Slot::NONE)?;
    thread::set_priority(waiting.slot, HIGH)?;
    let words = bench.words(waiting);
    bench.settle();
    expect(count == 1 || words.get(8) == 0, "a higher thread is busy there")?;
    thread::migrate(waiting.slot, here)?;
    expect(words.get(8) == 1, "it has run when the call returns")
}

fn moves_asleep(bench: &Bench) -> Check {
    let e = bench.endpoint()?;
    let helper = bench.helper(HIGH, wait_a_little, e, Slot::NONE)?;
    thread::migrate(helper.slot, other()?)?;
    bench.settle();
    expect(bench.report(helper).is_none(), "it still waits")?;
    system::sleep(10 * MS);
    bench.failed(helper, Error::Timeout, "until its deadline")
}
