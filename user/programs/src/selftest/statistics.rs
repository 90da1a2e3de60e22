//! Statistics: who may read them, that they count, and that a kernel without them refuses.

use super::bench::*;
use abi::call::{Fact, Observe, Table};
use abi::statistics::{Counter, LENGTHS};
use rt::{Error, Rights, Slot};
use rt::{cap, statistics, system};

pub const CHECKS: Checks = &[
    ("the kernel keeps statistics or refuses", kept_or_refused),
    ("statistics need the system capability", guarded),
    ("there are no further counters, lengths and CPUs", unknown),
    ("counters begin again", again),
    ("counters count", counts),
    ("each CPU has its counters", of_each_cpu),
];

/// Whether the kernel keeps statistics; they begin again.
fn kept(bench: &Bench) -> Result<bool, Why> {
    match statistics::reset(bench.env.cap("system")) {
        Ok(()) => Ok(true),
        Err(Error::UnknownCall) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

fn kept_or_refused(bench: &Bench) -> Check {
    let (system, kept) = (bench.env.cap("system"), kept(bench)?);
    if let Some(said) = bench.env.arg("statistics") {
        expect(kept == (said == "yes"), "the kernel is built as the run says")?;
    }
    for counter in Counter::ALL {
        readable(system::counter(system, counter), kept)?;
    }
    (0..LENGTHS).try_for_each(|length| readable(system::length(system, length), kept))
}

fn readable(value: Result<u64, Error>, kept: bool) -> Check {
    match value {
        Ok(_) => expect(kept, "a kernel without statistics has nothing to read"),
        Err(_) if kept => Err(Why { what: "a counter can be read", error: value.err() }),
        Err(_) => refused(value, Error::InvalidArgument, "as behind the last row"),
    }
}

fn guarded(bench: &Bench) -> Check {
    let (system, less) = (bench.env.cap("system"), bench.slot());
    let all = |slot: Slot, error: Error| {
        refused(statistics::reset(slot), error, "resetting")?;
        refused(system::counter(slot, Counter::Messages), error, "reading a counter")?;
        refused(system::length(slot, 0), error, "reading a length")
    };
    all(bench.slot(), Error::NoCapability)?;
    all(bench.env.cap("console"), Error::WrongKind)?;
    all(bench.endpoint()?, Error::WrongKind)?;
    cap::copy(system, less, Rights::COPY)?;
    all(less, Error::MissingRight)
}

fn unknown(bench: &Bench) -> Check {
    let system = bench.env.cap("system");
    let none = |table, index| {
        let row = system::inspect(system, table, index);
        refused(row, Error::InvalidArgument, "a row that is not there")
    };
    let (cpus, _) = system::fact(Fact::Cpus)?;
    for index in [Counter::ALL.len() as u64, 0xffff_ffff, cpus << 32, u64::MAX] {
        none(Table::Counter, index)?;
    }
    for index in [LENGTHS as u64, 0xffff_ffff, cpus << 32, u64::MAX] {
        none(Table::Length, index)?;
    }
    Ok(())
}

/// All operations on the ready queue by the lengths that they met.
fn operations(system: Slot) -> Result<u64, Why> {
    (0..LENGTHS).try_fold(0, |sum, length| Ok(sum + system::length(system, length)?))
}

fn again(bench: &Bench) -> Check {
    let system = bench.env.cap("system");
    if !kept(bench)? {
        return Ok(());
    }
    system::sleep(3 * MS);
    let before = system::counter(system, Counter::Time)?;
    expect(before >= 3 * MS, "time passes")?;
    expect(system::counter(system, Counter::Eager)? > 0, "a thread blocked")?;
    system::observe(system, Observe::Reset, 0)?;
    expect(system::counter(system, Counter::Time)? < before, "time begins again")?;
    for counter in [Counter::Messages, Counter::QueuedMessages, Counter::LongestQueue] {
        expect(system::counter(system, counter)? == 0, "no message since then")?;
    }
    Ok(())
}

fn counts(bench: &Bench) -> Check {
    let system = bench.env.cap("system");
    if !kept(bench)? {
        return Ok(());
    }
    let (all, blocked) = (operations(system)?, system::counter(system, Counter::Eager)?);
    system::sleep(MS);
    expect(system::counter(system, Counter::Eager)? > blocked, "blocking counts")?;
    expect(system::counter(system, Counter::LookUps)? > 0, "looking for another counts")?;
    expect(operations(system)? > all, "the queue's length counts")
}

fn of_each_cpu(bench: &Bench) -> Check {
    let system = bench.env.cap("system");
    let (cpus, own) = system::fact(Fact::Cpus)?;
    if !kept(bench)? {
        return Ok(());
    }
    let locked = |cpu| system::counter_of(system, cpu, Counter::Locked);
    for cpu in 0..cpus {
        Counter::ALL
            .into_iter()
            .try_for_each(|counter| system::counter_of(system, cpu, counter).map(|_| ()))?;
    }
    let before = locked(own)?;
    expect(cpus == 1 || locked(own)? > before, "each call takes the lock")?;
    refused(locked(cpus), Error::InvalidArgument, "a CPU that is not there")
}
