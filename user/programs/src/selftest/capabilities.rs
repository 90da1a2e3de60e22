//! Capabilities: rights, generations, refusals.

use super::bench::*;
use super::partner;
use rt::arch::{self, word};
use rt::{Error, Kind, Message, Rights, Slot, Wait};
use rt::{cap, ipc, signal};

pub const CHECKS: Checks = &[
    ("copies have the rights asked for and held", copies),
    ("copies need the right to copy", copy_needs_right),
    ("destinations must be free and exist", destinations),
    ("empty and absent slots", empty_slots),
    ("capabilities of the wrong kind", wrong_kind),
    ("operations need their rights", missing_rights),
    ("revocation leaves only the revoker", revocation),
    ("destroyed objects are stale everywhere", stale),
    ("a reused pool slot is a new object", reuse),
    ("slot numbers mean nothing elsewhere", forged),
    ("the partner sees the suite's badge", badge_across),
    ("unknown system calls", unknown_calls),
];

fn copies(bench: &Bench) -> Check {
    let e = bench.endpoint()?;
    let held = cap::inspect(e)?;
    expect(held.kind == Kind::Endpoint, "the kind of a new endpoint")?;
    expect(held.rights == Rights::ALL && held.badge == 0, "its creator has every right")?;
    for rights in 0..64 {
        let copy = bench.slot();
        cap::copy(e, copy, Rights(rights))?;
        expect(cap::inspect(copy)?.rights == Rights(rights), "the rights of a copy")?;
        cap::delete(copy)?;
    }
    let (less, more) = (bench.slot(), bench.slot());
    cap::copy(e, less, Rights::COPY.or(Rights::SEND))?;
    cap::copy(less, more, Rights::ALL)?;
    expect(cap::inspect(more)?.rights == cap::inspect(less)?.rights, "rights never grow")
}

fn copy_needs_right(bench: &Bench) -> Check {
    let (e, fixed, copy) = (bench.endpoint()?, bench.slot(), bench.slot());
    cap::copy(e, fixed, Rights::SEND.or(Rights::RECEIVE))?;
    refused(cap::copy(fixed, copy, Rights::SEND), Error::MissingRight, "copying without right")?;
    refused(cap::inspect(copy), Error::NoCapability, "nothing was copied")
}

fn destinations(bench: &Bench) -> Check {
    let e = bench.endpoint()?;
    refused(cap::copy(e, e, Rights::ALL), Error::SlotOccupied, "copying over itself")?;
    let console = bench.env.cap("console");
    refused(cap::copy(e, console, Rights::ALL), Error::SlotOccupied, "copying over another")?;
    for slot in [Slot(0), Slot(bench.limit()), Slot(1 << 16), Slot(u32::MAX)] {
        let result = cap::copy(e, slot, Rights::ALL);
        expect(result.is_err(), "copying to where no slot is")?;
        let result = signal::create_endpoint(slot, Slot::NONE);
        expect(result.is_err(), "creating where no slot is")?;
    }
    let result = signal::create_endpoint(e, Slot::NONE);
    refused(result, Error::SlotOccupied, "creating over another")
}

fn empty_slots(bench: &Bench) -> Check {
    for slot in [bench.slot(), Slot(0), Slot(bench.limit()), Slot(u32::MAX - 1), Slot(u32::MAX)] {
        let copy = bench.slot();
        refused(cap::inspect(slot), Error::NoCapability, "inspecting nothing")?;
        refused(cap::copy(slot, copy, Rights::ALL), Error::NoCapability, "copying nothing")?;
        refused(cap::destroy(slot), Error::NoCapability, "destroying nothing")?;
        refused(cap::revoke(slot), Error::NoCapability, "revoking nothing")?;
        refused(signal::signal(slot), Error::NoCapability, "signalling nothing")?;
        refused(rt::thread::resume(slot), Error::NoCapability, "resuming nothing")?;
    }
    let result = ipc::send(bench.slot(), Message::empty(0), Wait::ZERO);
    refused(result, Error::NoCapability, "sending to nothing")?;
    let result = ipc::receive(bench.slot(), Wait::ZERO);
    refused(result, Error::NoCapability, "receiving from nothing")
}

fn wrong_kind(bench: &Bench) -> Check {
    let (e, n) = (bench.endpoint()?, bench.notification()?);
    let wrong = Error::WrongKind;
    refused(ipc::send(n, Message::empty(0), Wait::ZERO), wrong, "sending to a notification")?;
    let console = bench.env.cap("console");
    refused(ipc::receive(console, Wait::ZERO), wrong, "receiving from a console")?;
    refused(signal::signal(e), wrong, "signalling an endpoint")?;
    refused(signal::set_timer(e, 0), wrong, "an endpoint is no timer")?;
    refused(signal::acknowledge(e), wrong, "an endpoint is no interrupt")?;
    refused(signal::create_timer(bench.slot(), e), wrong, "a timer cannot signal an endpoint")?;
    refused(signal::create_endpoint(bench.slot(), e), wrong, "an endpoint attached to another")?;
    refused(rt::memory::protect(e, Rights::READ), wrong, "an endpoint is no mapping")?;
    refused(rt::thread::suspend(e), wrong, "an endpoint is no thread")?;
    refused(rt::system::shutdown(e, 1), wrong, "an endpoint is not the system")?;
    refused(rt::Console::new(e).write_chunk(b"x"), wrong, "an endpoint is no console")?;
    let result = rt::domain::grant(e, n, Slot(5), Rights::ALL);
    refused(result, wrong, "an endpoint is no domain")
}

fn missing_rights(bench: &Bench) -> Check {
    let (e, n) = (bench.endpoint()?, bench.notification()?);
    let without = |from: Slot, right: Rights| {
        let slot = bench.slot();
        cap::copy(from, slot, Rights(Rights::ALL.0 & !right.0)).map(|()| slot)
    };
    let missing = Error::MissingRight;
    let slot = without(e, Rights::SEND)?;
    refused(ipc::send(slot, Message::empty(0), Wait::ZERO), missing, "sending")?;
    refused(ipc::call(slot, Message::empty(0)), missing, "calling")?;
    let slot = without(e, Rights::RECEIVE)?;
    refused(ipc::receive(slot, Wait::ZERO), missing, "receiving messages")?;
    let slot = without(n, Rights::SEND)?;
    refused(signal::signal(slot), missing, "signalling")?;
    let slot = without(n, Rights::RECEIVE)?;
    refused(ipc::receive(slot, Wait::ZERO), missing, "receiving signals")?;
    let slot = without(e, Rights::DESTROY)?;
    refused(cap::destroy(slot), missing, "destroying")?;
    let slot = without(e, Rights::REVOKE)?;
    refused(cap::revoke(slot), missing, "revoking")?;
    // Without the right to destroy either, or cleaning up would end the suite.
    let slot = bench.slot();
    cap::copy(bench.env.cap("self-thread"), slot, Rights::COPY)?;
    refused(rt::thread::set_priority(slot, 1), missing, "setting a priority")
}

fn revocation(bench: &Bench) -> Check {
    let (e, copy, deep) = (bench.endpoint()?, bench.slot(), bench.slot());
    cap::copy(e, copy, Rights::ALL)?;
    cap::copy(copy, deep, Rights::ALL)?;
    cap::revoke(copy)?;
    for slot in [e, deep] {
        refused(cap::inspect(slot), Error::Stale, "a revoked capability")?;
        let result = ipc::send(slot, Message::empty(0), Wait::ZERO);
        refused(result, Error::Stale, "sending through it")?;
        refused(cap::revoke(slot), Error::Stale, "revoking through it")?;
        cap::delete(slot)?;
    }
    bench.helper(HIGH, receive_once, copy, Slot::NONE)?;
    ipc::send(copy, Message::empty(0), Wait::ZERO)?;
    Ok(())
}

fn stale(bench: &Bench) -> Check {
    let (e, copy) = (bench.endpoint()?, bench.slot());
    cap::copy(e, copy, Rights::ALL)?;
    cap::destroy(e)?;
    let result = ipc::receive(copy, Wait::ZERO);
    refused(result, Error::Stale, "receiving from a destroyed endpoint")?;
    refused(cap::destroy(copy), Error::Stale, "destroying it again")?;
    refused(cap::inspect(e), Error::NoCapability, "the destroyer's slot is empty")?;
    let result = signal::create_endpoint(copy, Slot::NONE);
    refused(result, Error::SlotOccupied, "a stale capability still fills its slot")?;
    cap::delete(copy)?;
    signal::create_endpoint(copy, Slot::NONE)?;
    Ok(())
}

fn reuse(bench: &Bench) -> Check {
    let (old, copy) = (bench.endpoint()?, bench.slot());
    cap::copy(old, copy, Rights::ALL)?;
    cap::destroy(old)?;
    // Whatever the pool hands out next, the old capability does not name it.
    let mut new = [Slot::NONE; 4];
    for slot in &mut new {
        *slot = bench.endpoint()?;
    }
    let result = ipc::receive(copy, Wait::ZERO);
    refused(result, Error::Stale, "an old capability and a new object")?;
    refused(cap::destroy(copy), Error::Stale, "destroying the new object with it")?;
    new.into_iter().try_for_each(|slot| cap::inspect(slot).map(drop))?;
    Ok(())
}

fn forged(bench: &Bench) -> Check {
    let (work, secret) = (bench.env.cap("work"), bench.endpoint()?);
    for slot in [secret, Slot(0), Slot(63), Slot(64), Slot(1 << 20), Slot(u32::MAX - 1)] {
        let message = Message::short(partner::FORGE, [slot.word()]);
        let answer = ipc::call(work, message)?;
        expect(answer.words[0] != 0, "another domain's slot numbers are its own")?;
    }
    Ok(())
}

fn badge_across(bench: &Bench) -> Check {
    let (work, badged) = (bench.env.cap("work"), bench.slot());
    cap::mint(work, badged, Rights::SEND, 77)?;
    let answer = ipc::call(badged, Message::empty(partner::BADGE))?;
    expect(answer.words[0] == 77, "the badge is the capability's")?;
    let answer = ipc::call(work, Message::short(partner::ECHO, [1, 2, 3, 4]))?;
    expect(answer.words == [2, 3, 4, 5], "the partner echoes")
}

fn unknown_calls(_: &Bench) -> Check {
    for number in 0..=255u8 {
        if abi::call::Call::ALL.iter().any(|call| *call as u8 == number) {
            continue;
        }
        let outcome = arch::syscall(u64::from(number), [word(0); 6], [word(0); 4]);
        refused(outcome.status.result(), Error::UnknownCall, "a number without a call")?;
    }
    Ok(())
}
