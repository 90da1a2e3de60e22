//! Domains that the suite makes itself, and what quotas allow.

use super::bench::*;
use rt::abi::object::Resource;
use rt::domain::{self, Quotas};
use rt::memory::{self, Range};
use rt::thread::{self, Registers, Spec};
use rt::{Error, Message, Rights, Slot, Wait};
use rt::{arch, cap, ipc, signal};

pub const CHECKS: Checks = &[
    ("a domain is made, works and ends", life),
    ("ending a domain wakes its callers", end_wakes),
    ("a domain cannot get more than its maker has", limits),
    ("granting needs a free slot and rights", grants),
    ("a domain cannot end itself", own_domain),
    ("what a domain held returns", returns),
    ("page tables of ended domains return", tables_return),
    ("objects up to the quota", quota_objects),
    ("threads up to the quota", quota_threads),
    ("frames up to the quota", quota_frames),
    ("page tables up to the quota", quota_tables),
    ("refused calls change no quota", refusals_are_free),
];

const CODE: u64 = 0x20_0000;
const STAGING: u64 = 0xb_0000_0000;

/// The pool of page tables is small: a table lost in each round would empty it.
fn tables_return(bench: &Bench) -> Check {
    let (child, memory, mapping) = (bench.slot(), bench.slot(), bench.slot());
    memory::create(memory, 1)?;
    for _ in 0..100 {
        domain::create(child, 4, LOW, small())?;
        let range = Range { memory, first: 0, pages: 1, address: CODE };
        memory::map(mapping, child, range, Rights::READ)?;
        cap::destroy(child)?;
        cap::delete(mapping)?;
    }
    Ok(())
}

/// Enough for one thread and one page of code.
pub fn small() -> Quotas {
    let mut quotas = [0; Resource::COUNT];
    quotas[Resource::Tables as usize] = 8;
    quotas
}

/// A domain that runs the tiny server on an endpoint. Returns domain and thread.
pub fn tiny(bench: &Bench, e: Slot) -> Result<(Slot, Slot), Why> {
    tiny_on(bench, e, 0)
}

/// [`tiny`] in a domain that may use these CPUs, a bit each.
pub fn tiny_on(bench: &Bench, e: Slot, cpus: u64) -> Result<(Slot, Slot), Why> {
    let (child, code, mapping, server) = (bench.slot(), bench.slot(), bench.slot(), bench.slot());
    domain::create_on(cpus, child, 4, LOW, small())?;
    domain::grant(child, e, Slot(1), Rights::RECEIVE)?;
    memory::create(code, 1)?;
    let staging = Range { memory: code, first: 0, pages: 1, address: STAGING };
    memory::map(mapping, Slot::NONE, staging, Rights::READ.or(Rights::WRITE))?;
    for (i, bytes) in arch::tiny_server().chunks(8).enumerate() {
        let word = bytes.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte));
        let address = STAGING + 8 * i as u64;
        expect(arch::write(address, word, bench.common().word(0)), "the code is copied")?;
    }
    cap::destroy(mapping)?;
    let target = Range { address: CODE, ..staging };
    memory::map(bench.slot(), child, target, Rights::READ.or(Rights::EXECUTE))?;
    let spec = Spec { domain: child, priority: LOW, buffer: 0, handler: Slot::NONE };
    thread::create(server, spec)?;
    thread::set(server, Registers { instruction: Some(CODE), ..Registers::default() })?;
    thread::resume(server)?;
    Ok((child, server))
}

fn life(bench: &Bench) -> Check {
    let e = bench.endpoint()?;
    let (child, server) = tiny(bench, e)?;
    for i in 0..10 {
        let answer = ipc::call(e, Message::short(0, [i]))?;
        expect(answer.words[0] == i + 1, "the new domain answers")?;
    }
    cap::destroy(child)?;
    refused(thread::state(server), Error::Stale, "its thread ends with it")?;
    let result = ipc::call_within(e, Message::empty(0), Wait::ZERO);
    refused(result, Error::Timeout, "no server answers any more")
}

fn end_wakes(bench: &Bench) -> Check {
    let e = bench.endpoint()?;
    let (child, server) = tiny(bench, e)?;
    bench.settle();
    // It has the call but does not get to run.
    thread::suspend(server)?;
    let helper = bench.helper(HIGH, call_once, e, Slot::NONE)?;
    bench.settle();
    expect(bench.report(helper).is_none(), "the caller waits")?;
    cap::destroy(child)?;
    bench.settle();
    bench.failed(helper, Error::Destroyed, "the caller is told")
}

fn limits(bench: &Bench) -> Check {
    let slot = bench.slot();
    let result = domain::create(slot, 4, HIGHEST + 1, small());
    refused(result, Error::PriorityTooHigh, "a priority above its maker's")?;
    refused(domain::create(slot, 0, LOW, small()), Error::InvalidArgument, "no slots")?;
    for resource in Resource::ALL {
        if resource == Resource::Slots {
            continue;
        }
        let mut quotas = small();
        quotas[resource as usize] = u16::MAX;
        let result = domain::create(slot, 4, LOW, quotas);
        refused(result, Error::QuotaExceeded, "more than its maker has")?;
    }
    let result = domain::create(slot, u64::from(u32::MAX), LOW, small());
    refused(result, Error::QuotaExceeded, "more slots than its maker has")?;
    domain::create(slot, 4, LOW, small())?;
    let spec = Spec { domain: slot, priority: MAIN, buffer: 0, handler: Slot::NONE };
    let result = thread::create(bench.slot(), spec);
    refused(result, Error::PriorityTooHigh, "a thread above its domain's priority")
}

fn grants(bench: &Bench) -> Check {
    let (child, e, fixed) = (bench.slot(), bench.endpoint()?, bench.slot());
    domain::create(child, 4, LOW, small())?;
    cap::copy(e, fixed, Rights::SEND)?;
    let result = domain::grant(child, fixed, Slot(1), Rights::ALL);
    refused(result, Error::MissingRight, "granting without the right to copy")?;
    domain::grant(child, e, Slot(1), Rights::SEND)?;
    let result = domain::grant(child, e, Slot(1), Rights::SEND);
    refused(result, Error::SlotOccupied, "granting over another")?;
    for slot in [Slot(0), Slot(4), Slot(u32::MAX)] {
        let result = domain::grant(child, e, slot, Rights::SEND);
        refused(result, Error::NoCapability, "granting to where no slot is")?;
    }
    let weak = bench.slot();
    cap::copy(child, weak, Rights::COPY)?;
    let result = domain::grant(weak, e, Slot(2), Rights::SEND);
    refused(result, Error::MissingRight, "granting without the right to the domain")
}

fn own_domain(bench: &Bench) -> Check {
    refused(cap::destroy(bench.env.cap("self")), Error::WrongState, "ending oneself")
}

fn returns(bench: &Bench) -> Check {
    let e = bench.endpoint()?;
    for _ in 0..12 {
        let (child, _) = tiny(bench, e)?;
        expect(ipc::call(e, Message::short(0, [1]))?.words[0] == 2, "each one works")?;
        cap::destroy(child)?;
    }
    Ok(())
}

/// Creates until the quota is used up, at most `most` times. Then makes room and tries again.
fn exhaust(bench: &Bench, most: u32, create: impl Fn(Slot) -> Result<(), Error>) -> Check {
    let first = bench.slot();
    create(first)?;
    for _ in 0..most {
        let slot = bench.slot();
        match create(slot) {
            Ok(()) => {}
            Err(Error::QuotaExceeded) => {
                cap::destroy(first)?;
                create(slot)?;
                return refused(create(first), Error::QuotaExceeded, "the quota is used up again");
            }
            Err(error) => return Err(error.into()),
        }
    }
    expect(false, "the quota is used up at last")
}

fn quota_objects(bench: &Bench) -> Check {
    exhaust(bench, 40, |slot| signal::create_endpoint(slot, Slot::NONE))?;
    bench.clean();
    exhaust(bench, 40, signal::create_notification)?;
    bench.clean();
    let n = bench.notification()?;
    exhaust(bench, 40, |slot| signal::create_timer(slot, n))?;
    bench.clean();
    exhaust(bench, 40, |slot| memory::create(slot, 1))?;
    bench.clean();
    exhaust(bench, 40, |slot| domain::create(slot, 4, LOW, small()))
}

fn quota_threads(bench: &Bench) -> Check {
    let spec = Spec { domain: Slot::NONE, priority: LOW, buffer: 0, handler: Slot::NONE };
    exhaust(bench, 40, |slot| thread::create(slot, spec))
}

fn quota_frames(bench: &Bench) -> Check {
    exhaust(bench, 16, |slot| memory::create(slot, 60))
}

fn quota_tables(bench: &Bench) -> Check {
    let page = bench.slot();
    memory::create(page, 1)?;
    // Each address is in a region of its own at every level of the page tables.
    for i in 1..40 {
        let address = i << 39;
        let range = Range { memory: page, first: 0, pages: 1, address };
        match memory::map(bench.slot(), Slot::NONE, range, Rights::READ) {
            Ok(()) => {}
            Err(Error::QuotaExceeded) => return expect(i > 2, "but not before some are used"),
            Err(error) => return Err(error.into()),
        }
    }
    expect(false, "the quota of page tables is used up at last")
}

fn refusals_are_free(bench: &Bench) -> Check {
    let (e, free) = (bench.endpoint()?, bench.slot());
    for _ in 0..200 {
        let result = signal::create_endpoint(e, Slot::NONE);
        refused(result, Error::SlotOccupied, "an occupied slot")?;
        let spec = Spec { domain: Slot::NONE, priority: 255, buffer: 0, handler: Slot::NONE };
        refused(thread::create(free, spec), Error::PriorityTooHigh, "a bad priority")?;
        let result = memory::create(free, u64::MAX);
        refused(result, Error::InvalidArgument, "a bad size")?;
    }
    Ok(())
}
