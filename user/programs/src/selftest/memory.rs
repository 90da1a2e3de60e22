//! Memory and mappings, seen by a helper whose faults come here.

use super::bench::*;
use rt::abi::call::fault::CONTINUE;
use rt::memory::{self, Range};
use rt::ports::Ports;
use rt::{Env, Error, Message, Rights, Slot, Wait};
use rt::{arch, cap, ipc};

pub const CHECKS: Checks = &[
    ("mapped pages are zero and hold what is written", hold_values),
    ("one memory at two addresses", twice),
    ("read-only means read-only", read_only),
    ("changing rights", protect),
    ("unmapped pages are gone", unmap),
    ("destroying memory unmaps it everywhere", destroy_memory),
    ("nothing is writable and executable", write_execute),
    ("code runs where it may", execute),
    ("a mapping's rights are its memory's at most", limited),
    ("where memory lies is told by a right", lies),
    ("where pages cannot be mapped", bad_addresses),
    ("what is not there cannot be mapped", bad_ranges),
    ("fresh memory never shows what was there before", fresh),
    ("many pages", many),
];

const HERE: u64 = 0x9_0000_0000;
const THERE: u64 = 0xa_0000_0000;
const RW: Rights = Rights(Rights::READ.0 | Rights::WRITE.0);
const RX: Rights = Rights(Rights::READ.0 | Rights::EXECUTE.0);
const RESUME: usize = 20;

/// What a probe tries.
#[derive(Clone, Copy)]
enum Try {
    Read = 1,
    Write,
    Execute,
}

/// Helper: does what words 8 (how), 9 (where) and 10 (value) say, then sends to `a` whether it
/// got through, and what it read.
fn probe(env: &Env, argument: u64) {
    let me = Me::new(env, argument);
    let resume = me.own.word(RESUME);
    loop {
        let (address, value) = (me.own.get(9), me.own.get(10));
        let (through, seen) = match me.own.get(8) {
            1 => arch::read(address, resume).map_or((false, 0), |seen| (true, seen)),
            2 => (arch::write(address, value, resume), 0),
            3 => (arch::execute(address, resume), 0),
            _ => (true, 0),
        };
        let result = Message::short(0, [u64::from(through), seen]);
        if ipc::call(me.a, result).is_err() {
            return;
        }
    }
}

/// A helper that probes on request.
struct Prober<'a> {
    bench: &'a Bench,
    endpoint: Slot,
    helper: Helper,
}

impl Prober<'_> {
    fn new(bench: &Bench) -> Result<Prober<'_>, Why> {
        let endpoint = bench.endpoint()?;
        let helper = bench.handled(LOW, endpoint, probe, endpoint, Slot::NONE)?;
        ipc::receive(endpoint, Wait::NEVER)?;
        Ok(Prober { bench, endpoint, helper })
    }

    /// What a read shows, or whether something else got through.
    fn attempt(&self, how: Try, address: u64, value: u64) -> Result<Option<u64>, Why> {
        let words = self.bench.words(self.helper);
        words.set(8, how as u64);
        words.set(9, address);
        words.set(10, value);
        let mut got = ipc::reply_wait(self.endpoint, Message::empty(0))?;
        let faulted = got.info.is_fault();
        if faulted {
            let go_on = Message::short(CONTINUE, [words.get(RESUME)]);
            got = ipc::reply_wait(self.endpoint, go_on)?;
        }
        expect(got.words[0] == u64::from(!faulted), "a probe faults or gets through")?;
        Ok((!faulted).then_some(got.words[1]))
    }

    fn reads(&self, address: u64, expected: u64, what: &'static str) -> Check {
        expect(self.attempt(Try::Read, address, 0)? == Some(expected), what)
    }

    fn writes(&self, address: u64, value: u64, what: &'static str) -> Check {
        expect(self.attempt(Try::Write, address, value)?.is_some(), what)
    }

    fn faults(&self, how: Try, address: u64, what: &'static str) -> Check {
        expect(self.attempt(how, address, 1)?.is_none(), what)
    }
}

fn pages(bench: &Bench, count: u64) -> Result<Slot, Why> {
    let slot = bench.slot();
    memory::create(slot, count)?;
    Ok(slot)
}

fn map(bench: &Bench, memory: Slot, address: u64, rights: Rights) -> Result<Slot, Error> {
    let slot = bench.slot();
    let range = Range { memory, first: 0, pages: 1, address };
    memory::map(slot, Slot::NONE, range, rights).map(|()| slot)
}

fn hold_values(bench: &Bench) -> Check {
    let (prober, page) = (Prober::new(bench)?, pages(bench, 1)?);
    prober.faults(Try::Read, HERE, "nothing is mapped yet")?;
    map(bench, page, HERE, RW)?;
    for offset in [0, 8, 2048, 4088] {
        prober.reads(HERE + offset, 0, "a fresh page is zero")?;
        prober.writes(HERE + offset, offset + 1, "a writable page")?;
        prober.reads(HERE + offset, offset + 1, "what was written")?;
    }
    prober.faults(Try::Read, HERE - 8, "the page before")?;
    prober.faults(Try::Read, HERE + 4096, "the page after")?;
    prober.faults(Try::Read, HERE + 4092, "a word across the end")
}

fn twice(bench: &Bench) -> Check {
    let (prober, page) = (Prober::new(bench)?, pages(bench, 1)?);
    map(bench, page, HERE, RW)?;
    map(bench, page, THERE, Rights::READ)?;
    prober.writes(HERE, 77, "a writable page")?;
    prober.reads(THERE, 77, "is seen at its other address")?;
    prober.faults(Try::Write, THERE, "which is read-only")
}

fn read_only(bench: &Bench) -> Check {
    let (prober, page) = (Prober::new(bench)?, pages(bench, 1)?);
    map(bench, page, HERE, Rights::READ)?;
    prober.reads(HERE, 0, "a readable page")?;
    prober.faults(Try::Write, HERE, "writing to it")?;
    prober.faults(Try::Execute, HERE, "executing it")?;
    prober.faults(Try::Write, 0x20_0000, "writing to program text")?;
    prober.faults(Try::Execute, bench.env.buffer_address(0), "executing a message buffer")
}

fn protect(bench: &Bench) -> Check {
    let (prober, page) = (Prober::new(bench)?, pages(bench, 1)?);
    let mapping = map(bench, page, HERE, RW)?;
    prober.writes(HERE, 5, "writable")?;
    memory::protect(mapping, Rights::READ)?;
    prober.faults(Try::Write, HERE, "no longer writable")?;
    prober.reads(HERE, 5, "still readable")?;
    memory::protect(mapping, RW)?;
    prober.writes(HERE, 6, "writable again")?;
    refused(memory::protect(mapping, Rights::WRITE), Error::InvalidArgument, "write-only")?;
    refused(memory::protect(mapping, Rights::NONE), Error::InvalidArgument, "no right at all")?;
    prober.reads(HERE, 6, "a refusal changes nothing")
}

fn unmap(bench: &Bench) -> Check {
    let (prober, page) = (Prober::new(bench)?, pages(bench, 1)?);
    for value in 1..20 {
        let mapping = map(bench, page, HERE, RW)?;
        prober.reads(HERE, value - 1, "memory outlives its mappings")?;
        prober.writes(HERE, value, "writable")?;
        cap::destroy(mapping)?;
        prober.faults(Try::Read, HERE, "reading what was unmapped")?;
        prober.faults(Try::Write, HERE, "writing to it")?;
    }
    Ok(())
}

fn destroy_memory(bench: &Bench) -> Check {
    let (prober, page) = (Prober::new(bench)?, pages(bench, 1)?);
    let first = map(bench, page, HERE, RW)?;
    map(bench, page, THERE, RW)?;
    prober.writes(HERE, 9, "writable")?;
    cap::destroy(page)?;
    prober.faults(Try::Read, HERE, "the first mapping")?;
    prober.faults(Try::Read, THERE, "the second mapping")?;
    refused(memory::protect(first, Rights::READ), Error::Stale, "the mapping is stale")
}

fn write_execute(bench: &Bench) -> Check {
    let page = pages(bench, 1)?;
    let all = RW.or(Rights::EXECUTE);
    refused(map(bench, page, HERE, all), Error::WriteExecute, "mapping")?;
    let mapping = map(bench, page, HERE, RW)?;
    refused(memory::protect(mapping, all), Error::WriteExecute, "changing rights")?;
    let write_execute = Rights::WRITE.or(Rights::EXECUTE);
    let result = memory::protect(mapping, write_execute);
    refused(result, Error::WriteExecute, "without reading")
}

fn execute(bench: &Bench) -> Check {
    let (prober, page) = (Prober::new(bench)?, pages(bench, 1)?);
    let mapping = map(bench, page, HERE, RW)?;
    prober.writes(HERE, u64::from(arch::RETURN[0]), "code is written")?;
    prober.faults(Try::Execute, HERE, "a writable page does not execute")?;
    memory::protect(mapping, RX)?;
    expect(prober.attempt(Try::Execute, HERE, 0)?.is_some(), "an executable one does")?;
    prober.faults(Try::Write, HERE, "and is not writable")
}

fn limited(bench: &Bench) -> Check {
    let (page, less) = (pages(bench, 1)?, bench.slot());
    cap::copy(page, less, Rights::READ)?;
    refused(map(bench, less, HERE, RW), Error::MissingRight, "writing")?;
    refused(map(bench, less, HERE, RX), Error::MissingRight, "executing")?;
    let mapping = map(bench, less, HERE, Rights::READ)?;
    refused(memory::protect(mapping, RW), Error::MissingRight, "more rights later")
}

fn lies(bench: &Bench) -> Check {
    let (known, copy) = (bench.env.cap("stacks"), bench.slot());
    let (at, bytes) = memory::address(known)?;
    expect(
        at.is_multiple_of(rt::PAGE) && at > 0 && bytes == 4 * rt::PAGE,
        "all of it, from a page on",
    )?;
    cap::copy(known, copy, Rights::ALL)?;
    refused(memory::address(copy), Error::MissingRight, "a copy that did not ask for it")?;
    let own = memory::address(pages(bench, 1)?);
    refused(own, Error::MissingRight, "memory that a program has made")
}

fn bad_addresses(bench: &Bench) -> Check {
    let page = pages(bench, 2)?;
    for address in [
        0,
        1,
        HERE + 8,
        abi::USER_TOP,
        1 << 47,
        0xffff_8000_0000_0000,
        0xffff_ffff_8000_0000,
        u64::MAX,
        u64::MAX << 12,
    ] {
        refused(map(bench, page, address, RW), Error::BadAddress, "a bad address")?;
    }
    let over_the_top = Range { memory: page, first: 0, pages: 2, address: abi::USER_TOP - 4096 };
    let result = memory::map(bench.slot(), Slot::NONE, over_the_top, RW);
    refused(result, Error::BadAddress, "a range that ends above user space")?;
    for taken in [0x20_0000, bench.env.buffer_address(0), bench.common().address()] {
        refused(map(bench, page, taken, RW), Error::AddressInUse, "an address in use")?;
    }
    map(bench, page, HERE, RW)?;
    let over = Range { memory: page, first: 0, pages: 2, address: HERE - 4096 };
    let result = memory::map(bench.slot(), Slot::NONE, over, RW);
    refused(result, Error::AddressInUse, "a range that meets another")?;
    // What was mapped before the collision is undone.
    map(bench, page, HERE - 4096, RW)?;
    Ok(())
}

fn bad_ranges(bench: &Bench) -> Check {
    let page = pages(bench, 2)?;
    for (first, count) in [(0, 0), (0, 3), (2, 1), (1, 2), (u64::MAX, 1), (1, u64::MAX)] {
        let range = Range { memory: page, first, pages: count, address: HERE };
        let result = memory::map(bench.slot(), Slot::NONE, range, RW);
        refused(result, Error::InvalidArgument, "pages that are not there")?;
    }
    let ports = Ports::new(pages(bench, 1)?);
    refused(ports.read_8(0), Error::InvalidArgument, "an I/O port of memory that has none")?;
    refused(ports.write_32(0, 5), Error::InvalidArgument, "writing to such an I/O port")?;
    refused(memory::create(bench.slot(), 0), Error::InvalidArgument, "no pages")?;
    let result = memory::create(bench.slot(), u64::MAX);
    refused(result, Error::InvalidArgument, "more pages than there are")
}

fn fresh(bench: &Bench) -> Check {
    let prober = Prober::new(bench)?;
    for round in 0..8 {
        let page = pages(bench, 1)?;
        map(bench, page, HERE, RW)?;
        prober.reads(HERE + 8 * round, 0, "zero")?;
        for offset in 0..8 {
            prober.writes(HERE + 8 * offset, u64::MAX, "writable")?;
        }
        cap::destroy(page)?;
    }
    Ok(())
}

fn many(bench: &Bench) -> Check {
    let (prober, memory, mapping) = (Prober::new(bench)?, pages(bench, 60)?, bench.slot());
    // Across the border between two page tables.
    let range = Range { memory, first: 4, pages: 56, address: HERE + (512 - 28) * 4096 };
    memory::map(mapping, Slot::NONE, range, RW)?;
    for page in 0..56 {
        prober.writes(range.address + page * 4096, page + 1, "each page is there")?;
    }
    for page in 0..56 {
        prober.reads(range.address + page * 4096, page + 1, "each page is its own")?;
    }
    let low = map(bench, memory, THERE, RW)?;
    prober.reads(THERE, 0, "pages before the first mapped one are others")?;
    memory::protect(mapping, Rights::READ)?;
    prober.faults(Try::Write, range.address + 55 * 4096, "rights change on every page")?;
    cap::destroy(mapping)?;
    prober.faults(Try::Read, range.address, "all are unmapped")?;
    cap::destroy(low)?;
    Ok(())
}
