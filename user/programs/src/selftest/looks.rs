//! What the holder of the system capability sees of domains: where memory holds anything, and how
//! long threads have run.

use super::bench::*;
use abi::call::{BLOCK_WORDS, Fact, Table};
use abi::statistics::TIMED;
use rt::{Error, Rights, Slot, cap, system};

pub const CHECKS: Checks = &[
    ("a block tells where it begins to hold anything", blocks),
    ("blocks and times need the system capability", guarded),
    ("time passes for the thread that runs, where it is counted", times),
];

/// Domains that this looks among for its own.
const MOST: u64 = 64;

/// The index of the domain that this runs in: in the second block of its buffer a word is set.
fn own(bench: &Bench) -> Result<u64, Why> {
    let (system, at) = (bench.env.cap("system"), second(bench));
    let buffer = bench.env.buffer(0).0;
    (0..2 * BLOCK_WORDS).for_each(|word| buffer.set(word, 0));
    buffer.set(BLOCK_WORDS + 9, 1);
    let own = (0..MOST).find(|domain| system::zeros(system, *domain, at) == Ok(Some(9)));
    buffer.set(BLOCK_WORDS + 9, 0);
    own.ok_or(Why { what: "no domain has a buffer like this one", error: None })
}

/// The address of the second block of the first thread's buffer.
fn second(bench: &Bench) -> u64 {
    bench.env.buffer_address(0) + 8 * BLOCK_WORDS as u64
}

fn blocks(bench: &Bench) -> Check {
    let (system, domain) = (bench.env.cap("system"), own(bench)?);
    let (at, buffer) = (bench.env.buffer_address(0), bench.env.buffer(0).0);
    let zeros = |address| system::zeros(system, domain, address);
    expect(zeros(at)? == Some(BLOCK_WORDS as u64), "all of them")?;
    buffer.set(BLOCK_WORDS + 9, 1);
    expect(zeros(at)? == Some(BLOCK_WORDS as u64), "those of the next block do not count")?;
    expect(zeros(second(bench) + 8)? == Some(9), "the first word that is not zero")?;
    buffer.set(BLOCK_WORDS + 9, 0);
    expect(zeros(0)?.is_none(), "nothing is mapped at 0")?;
    expect(zeros((1 << 39) - 1)?.is_none(), "nor in the last block")?;
    refused(zeros(1 << 39), Error::InvalidArgument, "a block that is not there")?;
    let other = system::zeros(system, 0xffff_ffff, at);
    refused(other, Error::InvalidArgument, "a domain that is not there")
}

fn guarded(bench: &Bench) -> Check {
    let (system, less) = (bench.env.cap("system"), bench.slot());
    let all = |slot: Slot, error: Error| {
        refused(system::zeros(slot, 0, 0), error, "looking at a block")?;
        refused(system::time(slot, 0, 0), error, "reading a time")
    };
    all(bench.env.cap("console"), Error::WrongKind)?;
    cap::copy(system, less, Rights::COPY)?;
    all(less, Error::MissingRight)
}

/// The time of all threads of this domain on all CPUs.
fn time(bench: &Bench) -> Result<u64, Why> {
    let (system, domain) = (bench.env.cap("system"), own(bench)?);
    let cpus = system::fact(Fact::Cpus)?.0;
    let mut sum = 0;
    for thread in 0..TIMED as u64 {
        let Ok(row) = system::inspect(system, Table::Thread, thread) else { break };
        if row.results[0] != 0 && row.words[0] == domain {
            for cpu in 0..cpus {
                sum += system::time(system, cpu, thread)?;
            }
        }
    }
    Ok(sum)
}

fn times(bench: &Bench) -> Check {
    let system = bench.env.cap("system");
    if let Err(error) = system::time(system, 0, 0) {
        return expect(error == Error::InvalidArgument, "a kernel without statistics has no times");
    }
    let before = time(bench)?;
    system::work(100_000);
    expect(time(bench)? > before, "work takes time")?;
    let (cpus, _) = system::fact(Fact::Cpus)?;
    refused(system::time(system, cpus, 0), Error::InvalidArgument, "a CPU that is not there")?;
    let thread = TIMED as u64;
    refused(system::time(system, 0, thread), Error::InvalidArgument, "a thread beyond the table")
}
