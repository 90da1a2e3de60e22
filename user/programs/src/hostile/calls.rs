//! What the kernel must refuse.

use super::Attempts;
use rt::memory::{self, Range};
use rt::thread::{self, Registers, Spec};
use rt::{Error, Kind, Message, Rights, Slot, Slots, Wait};
use rt::{arch, cap, domain, ipc, signal, system};

const HERE: u64 = 0x8_0000_0000;
const RW: Rights = Rights(Rights::READ.0 | Rights::WRITE.0);
const NOWHERE: [u64; 8] = [
    abi::USER_TOP,
    0x7fff_ffff_f000,
    0x8000_0000_0000,
    0x8000_0000_0000_0000,
    0xffff_8000_0000_0000,
    0xffff_ffff_8000_0000,
    0xffff_ffff_ffff_f000,
    u64::MAX,
];

/// A free slot of the few that a group needs.
fn fresh<const N: usize>(attempts: &Attempts) -> [Slot; N] {
    let mut slots: Slots = attempts.env.slots();
    core::array::from_fn(|_| slots.fresh())
}

fn clean(slots: &[Slot]) {
    for slot in slots {
        // They may be empty, or hold what may not be destroyed.
        let _ = cap::destroy(*slot);
        let _ = cap::delete(*slot);
    }
}

/// Slots that hold nothing, and some beyond the table.
pub fn forged(attempts: &mut Attempts) {
    let slots = attempts.env.slots();
    let first = slots.clone().fresh().0;
    let beyond = [slots.limit(), slots.limit() + 1, 0xffff, 1 << 20, 1 << 31, u32::MAX - 1];
    for slot in (first..slots.limit()).chain(beyond).chain([0]).map(Slot) {
        let none = Error::NoCapability;
        if slot != Slot::NONE {
            attempts.refuse(ipc::send(slot, Message::empty(0), Wait::ZERO), none);
            attempts.refuse(ipc::receive(slot, Wait::ZERO), none);
        }
        attempts.refuse(
            ipc::call_within(slot, Message::empty(0), Wait::ZERO).map(drop),
            match slot {
                Slot::NONE => Error::InvalidArgument,
                _ => none,
            },
        );
        attempts.refuse(signal::signal(slot), none);
        attempts.refuse(signal::set_timer(slot, 1), none);
        attempts.refuse(signal::acknowledge(slot), none);
        attempts.refuse(cap::copy(slot, Slot(first), Rights::ALL), none);
        attempts.refuse(cap::destroy(slot), none);
        attempts.refuse(cap::revoke(slot), none);
        attempts.refuse(cap::delete(slot), none);
        attempts.refuse(cap::inspect(slot), none);
        attempts.refuse(thread::suspend(slot), none);
        attempts.refuse(thread::set(slot, Registers::default()), none);
        attempts.refuse(domain::grant(slot, Slot(1), Slot(1), Rights::ALL), none);
        attempts.refuse(memory::protect(slot, Rights::READ), none);
        attempts.refuse(system::shutdown(slot, 1), none);
        attempts.refuse(system::inspect(slot, abi::call::Table::Pool, 0), none);
        attempts.refuse(rt::Console::new(slot).write_chunk(b"forged\n"), none);
    }
}

pub fn stale(attempts: &mut Attempts) {
    let [original, copy, deep] = fresh(attempts);
    for revoke in [false, true] {
        attempts.attempt(signal::create_endpoint(original, Slot::NONE).is_ok());
        attempts.attempt(cap::copy(original, copy, Rights::ALL).is_ok());
        attempts.attempt(cap::copy(copy, deep, Rights::ALL).is_ok());
        let ended = if revoke { cap::revoke(original) } else { cap::destroy(original) };
        attempts.attempt(ended.is_ok());
        for slot in [copy, deep] {
            let stale = Error::Stale;
            attempts.refuse(ipc::send(slot, Message::empty(0), Wait::ZERO), stale);
            attempts.refuse(ipc::receive(slot, Wait::ZERO), stale);
            attempts.refuse(cap::inspect(slot), stale);
            attempts.refuse(cap::revoke(slot), stale);
            attempts.refuse(cap::destroy(slot), stale);
            attempts.refuse(ipc::call(slot, Message::empty(0)), stale);
        }
        clean(&[deep, copy, original]);
    }
}

pub fn rights(attempts: &mut Attempts) {
    let [copy, mapping, copied] = fresh(attempts);
    let (mute, page) = (attempts.env.cap("mute"), attempts.env.cap("page"));
    let missing = Error::MissingRight;
    attempts.refuse(ipc::send(mute, Message::empty(0), Wait::ZERO), missing);
    attempts.refuse(ipc::call(mute, Message::empty(0)), missing);
    attempts.refuse(ipc::receive(mute, Wait::ZERO), missing);
    attempts.refuse(cap::revoke(mute), missing);
    attempts.refuse(cap::destroy(mute), missing);
    attempts.attempt(cap::copy(mute, copy, Rights::ALL).is_ok());
    attempts.refuse(ipc::send(copy, Message::empty(0), Wait::ZERO), missing);
    let range = Range { memory: page, first: 0, pages: 1, address: HERE };
    attempts.refuse(memory::map(mapping, Slot::NONE, range, RW), missing);
    let execute = Rights::READ.or(Rights::EXECUTE);
    attempts.refuse(memory::map(mapping, Slot::NONE, range, execute), missing);
    attempts.attempt(memory::map(mapping, Slot::NONE, range, Rights::READ).is_ok());
    attempts.refuse(memory::protect(mapping, RW), missing);
    attempts.fault(|resume| arch::write(HERE, 1, resume));
    // The capabilities that it has are of no use as anything else.
    for kind in [Kind::Endpoint, Kind::Memory] {
        let slot = if kind == Kind::Endpoint { mute } else { page };
        attempts.refuse(system::shutdown(slot, 1), Error::WrongKind);
        attempts.refuse(thread::resume(slot), Error::WrongKind);
        attempts.refuse(signal::signal(slot), Error::WrongKind);
        attempts.refuse(domain::grant(slot, mute, copied, Rights::ALL), Error::WrongKind);
    }
    clean(&[mapping, copy]);
}

pub fn mappings(attempts: &mut Attempts) {
    let [memory, mapping, other] = fresh(attempts);
    attempts.attempt(memory::create(memory, 2).is_ok());
    let map = |address, first, pages, rights| {
        let range = Range { memory, first, pages, address };
        memory::map(mapping, Slot::NONE, range, rights)
    };
    let execute = Rights::EXECUTE;
    attempts.refuse(map(HERE, 0, 1, RW.or(execute)), Error::WriteExecute);
    attempts.refuse(map(HERE, 0, 1, Rights::WRITE.or(execute)), Error::WriteExecute);
    for address in NOWHERE.into_iter().chain([0, 1, HERE + 1, HERE + 0xfff]) {
        attempts.refuse(map(address, 0, 1, RW), Error::BadAddress);
        attempts.refuse(map(address, 0, 2, RW), Error::BadAddress);
    }
    attempts.refuse(map(abi::USER_TOP - abi::PAGE, 0, 2, RW), Error::BadAddress);
    let notes = attempts.notes.address();
    for taken in [0x20_0000, notes, attempts.env.buffer_address(0)] {
        attempts.refuse(map(taken, 0, 1, RW), Error::AddressInUse);
        attempts.refuse(map(taken - abi::PAGE, 0, 2, RW), Error::AddressInUse);
    }
    let counts = [(0, 0), (0, 3), (2, 1), (1, u64::MAX), (u64::MAX, 1), (u64::MAX, u64::MAX)];
    for (first, pages) in counts {
        attempts.refuse(map(HERE, first, pages, RW), Error::InvalidArgument);
    }
    attempts.attempt(map(HERE, 0, 2, RW).is_ok());
    attempts.refuse(memory::protect(mapping, RW.or(execute)), Error::WriteExecute);
    let over = Range { memory, first: 0, pages: 2, address: HERE - abi::PAGE };
    attempts.refuse(memory::map(other, Slot::NONE, over, RW), Error::AddressInUse);
    attempts.fault(|resume| arch::read(HERE - abi::PAGE, resume).is_some());
    attempts.attempt(cap::destroy(memory).is_ok());
    attempts.fault(|resume| arch::write(HERE, 1, resume));
    clean(&[mapping, memory]);
}

fn spec(priority: u64, buffer: u64) -> Spec {
    Spec { domain: Slot::NONE, priority, buffer, handler: Slot::NONE }
}

pub fn buffers(attempts: &mut Attempts) {
    let [slot] = fresh(attempts);
    for buffer in NOWHERE.into_iter().chain([1, 8, HERE + 8, HERE + 0xfff, HERE + 0x800]) {
        attempts.refuse(thread::create(slot, spec(1, buffer)), Error::BadAddress);
    }
    let notes = attempts.notes.address();
    for buffer in [0x20_0000, notes, attempts.env.buffer_address(0)] {
        attempts.refuse(thread::create(slot, spec(1, buffer)), Error::AddressInUse);
    }
}

pub fn registers(attempts: &mut Attempts) {
    let [slot] = fresh(attempts);
    attempts.attempt(thread::create(slot, spec(1, 0)).is_ok());
    for bad in NOWHERE {
        let none = Registers::default();
        for registers in [
            Registers { instruction: Some(bad), ..none },
            Registers { stack: Some(bad), ..none },
            Registers { thread: Some(bad), ..none },
        ] {
            attempts.refuse(thread::set(slot, registers), Error::BadAddress);
        }
    }
    clean(&[slot]);
}

/// Threads that start where nothing is: their faults come back to the program itself.
pub fn wild_threads(attempts: &mut Attempts) {
    let [slot, handler] = fresh(attempts);
    attempts.attempt(signal::create_endpoint(handler, Slot::NONE).is_ok());
    for address in [0, 1, HERE, abi::USER_TOP - 1, abi::USER_TOP - 2, abi::USER_TOP - abi::PAGE] {
        attempts.attempt(thread::create(slot, Spec { handler, ..spec(50, 0) }).is_ok());
        let start = Registers { instruction: Some(address), ..Registers::default() };
        attempts.attempt(thread::set(slot, start).is_ok() && thread::resume(slot).is_ok());
        let soon = Wait::until(system::clock() + 20_000_000);
        let fault = ipc::receive(handler, soon);
        attempts.attempt(fault.is_ok_and(|fault| fault.info.is_fault()));
        attempts.attempt(cap::destroy(slot).is_ok());
    }
    clean(&[slot, handler]);
}

/// Creates objects and forgets them, which leaves them charged to the domain; why it could not
/// go on.
fn use_up(slot: Slot, create: impl Fn(Slot) -> Result<(), Error>) -> Result<(), Error> {
    for _ in 0..1000 {
        create(slot)?;
        cap::delete(slot)?;
    }
    Ok(())
}

/// Comes last: afterwards nothing can be created any more.
pub fn quotas(attempts: &mut Attempts) {
    let [slot, bell] = fresh(attempts);
    attempts.attempt(signal::create_notification(bell).is_ok());
    let exceeded = Error::QuotaExceeded;
    let none = [0; abi::object::Resource::COUNT];
    attempts.refuse(use_up(slot, |s| signal::create_timer(s, bell)), exceeded);
    attempts.refuse(use_up(slot, |s| signal::create_endpoint(s, Slot::NONE)), exceeded);
    attempts.refuse(use_up(slot, signal::create_notification), exceeded);
    attempts.refuse(use_up(slot, |s| thread::create(s, spec(1, 0))), exceeded);
    let most = domain::create(slot, 4, 1, [u16::MAX; abi::object::Resource::COUNT]);
    attempts.refuse(most, exceeded);
    attempts.refuse(use_up(slot, |s| domain::create(s, 4, 1, none)), exceeded);
    attempts.refuse(memory::create(slot, u64::MAX), Error::InvalidArgument);
    attempts.refuse(memory::create(slot, 500), exceeded);
    attempts.refuse(use_up(slot, |s| memory::create(s, 1)), exceeded);
}

pub fn priority(attempts: &mut Attempts) {
    let [slot] = fresh(attempts);
    for priority in [51, 100, 200, 255] {
        attempts.refuse(thread::create(slot, spec(priority, 0)), Error::PriorityTooHigh);
        let none = [0; abi::object::Resource::COUNT];
        attempts.refuse(domain::create(slot, 4, priority, none), Error::PriorityTooHigh);
    }
    attempts.fail(thread::create(slot, spec(256, 0)));
    attempts.attempt(thread::create(slot, spec(50, 0)).is_ok());
    attempts.refuse(thread::set_priority(slot, 51), Error::PriorityTooHigh);
    attempts.fail(thread::set_priority(slot, u64::MAX));
    clean(&[slot]);
}

pub fn self_sends(attempts: &mut Attempts) {
    let toy = attempts.env.cap("toy");
    let outcome = ipc::exchange(toy, toy, Message::empty(0), Wait::NEVER);
    attempts.refuse(outcome.received(), Error::SelfSend);
    let soon = Wait::until(system::clock() + 100_000);
    attempts.refuse(ipc::call_within(toy, Message::empty(0), soon), Error::Timeout);
    attempts.refuse(ipc::send(toy, Message::empty(0), Wait::ZERO), Error::Timeout);
    attempts.refuse(ipc::reply(Message::empty(0)), Error::NoReply);
    for length in 129..=255 {
        let result = ipc::send(toy, Message::long(0, length, [0; 4]), Wait::ZERO);
        attempts.refuse(result, Error::TooLong);
    }
}

pub fn unknown(attempts: &mut Attempts) {
    for number in 0..=255u8 {
        if abi::call::Call::ALL.iter().all(|call| *call as u8 != number) {
            for high in [0, 1 << 8, 1 << 32, u64::MAX << 8] {
                let a = [arch::word(u64::MAX); 6];
                let outcome = arch::syscall(u64::from(number) | high, a, [arch::word(1); 4]);
                attempts.refuse(outcome.status.result(), Error::UnknownCall);
            }
        }
    }
}
