//! Every operation on an object needs a right, and a capability that is current.

use crate::support::board::Board;
use crate::support::context::Regs;
use crate::support::host::{Event, Host};
use crate::support::scene::{
    CONSOLE_SLOT, DOMAIN, ENDPOINT, FREE, INTERRUPT, MEMORY, NOTIFICATION, PORT, SYSTEM_SLOT,
    THREAD, TIMER, boot, buffer, call, receive, send, system, timed,
};
use abi::call::{Call, NOTHING, Timeout};
use abi::{Error, Info, Rights};
use kernel::system::{DirectLazy, Fastpath};

/// Where the capability that is tried stands.
const TRIED: u64 = FREE + 1;

/// An object's slot, the right that the call needs, and the call through [`TRIED`].
fn calls() -> Vec<(u64, Rights, Regs)> {
    let (none, now) = (u64::from(NOTHING), Timeout::Zero);
    let on = |call: Call, args: &[u64]| system(call, &[&[TRIED], args].concat());
    let map = [0, TRIED, buffer(30), 1, 0, (FREE + 2) | 1 << 32];
    let write = [0, TRIED, buffer(30), 1, 0, (FREE + 2) | 3 << 32];
    let execute = [0, TRIED, buffer(30), 1, 0, (FREE + 2) | 5 << 32];
    vec![
        (ENDPOINT, Rights::SEND, timed(TRIED, none, Info(0), now, 0)),
        (ENDPOINT, Rights::SEND, call(TRIED, Info(0))),
        (ENDPOINT, Rights::RECEIVE, timed(none, TRIED, Info(0), now, 0)),
        (NOTIFICATION, Rights::RECEIVE, timed(none, TRIED, Info(0), now, 0)),
        (NOTIFICATION, Rights::SEND, on(Call::Signal, &[])),
        (NOTIFICATION, Rights::RECEIVE, system(Call::EndpointCreate, &[FREE + 2, TRIED])),
        (NOTIFICATION, Rights::SEND, system(Call::TimerCreate, &[FREE + 2, TRIED])),
        (TIMER, Rights::CONTROL, on(Call::TimerSet, &[5])),
        (INTERRUPT, Rights::CONTROL, on(Call::InterruptAck, &[])),
        (INTERRUPT, Rights::CONTROL, on(Call::InterruptRoute, &[0])),
        (MEMORY, Rights::READ, system(Call::Map, &map)),
        (MEMORY, Rights::WRITE, system(Call::Map, &write)),
        (MEMORY, Rights::EXECUTE, system(Call::Map, &execute)),
        (MEMORY, Rights::PHYSICAL, on(Call::MemoryAddress, &[])),
        (PORT, Rights::READ, on(Call::PortRead, &[0, 1])),
        (PORT, Rights::WRITE, on(Call::PortWrite, &[0, 1, 5])),
        (FREE, Rights::CONTROL, on(Call::Protect, &[1])),
        (DOMAIN + 1, Rights::CONTROL, on(Call::DomainGrant, &[MEMORY, FREE, 63])),
        (DOMAIN + 1, Rights::CONTROL, system(Call::ThreadCreate, &[FREE + 2, TRIED, 5, 0, 0])),
        (ENDPOINT, Rights::SEND, system(Call::ThreadCreate, &[FREE + 2, 0, 5, 0, TRIED])),
        (THREAD + 2, Rights::CONTROL, on(Call::ThreadResume, &[])),
        (THREAD + 2, Rights::CONTROL, on(Call::ThreadSuspend, &[])),
        (THREAD + 2, Rights::CONTROL, on(Call::ThreadPriority, &[5])),
        (THREAD + 2, Rights::CONTROL, on(Call::ThreadMigrate, &[0])),
        (THREAD + 2, Rights::CONTROL, on(Call::ThreadInspect, &[])),
        (THREAD + 2, Rights::CONTROL, on(Call::Name, &[0x61])),
        (THREAD + 2, Rights::CONTROL, on(Call::ThreadExchange, &[0, 0, 0, 0, 0])),
        (THREAD + 2, Rights::CONTROL, on(Call::Yield, &[])),
        (CONSOLE_SLOT, Rights::CONTROL, on(Call::ConsoleWrite, &[1])),
        (CONSOLE_SLOT, Rights::CONTROL, on(Call::ConsoleRead, &[])),
        (SYSTEM_SLOT, Rights::CONTROL, on(Call::Shutdown, &[1])),
        (SYSTEM_SLOT, Rights::CONTROL, on(Call::Inspect, &[0, 0])),
        (MEMORY, Rights::COPY, on(Call::CapCopy, &[FREE + 2, 63, 0])),
        (ENDPOINT, Rights::REVOKE, on(Call::CapRevoke, &[])),
        (THREAD + 2, Rights::REVOKE, on(Call::CapRevoke, &[])),
        (ENDPOINT, Rights::DESTROY, on(Call::Destroy, &[])),
        (NOTIFICATION, Rights::DESTROY, on(Call::Destroy, &[])),
        (TIMER, Rights::DESTROY, on(Call::Destroy, &[])),
        (INTERRUPT, Rights::DESTROY, on(Call::Destroy, &[])),
        (MEMORY, Rights::DESTROY, on(Call::Destroy, &[])),
        (FREE, Rights::DESTROY, on(Call::Destroy, &[])),
        (THREAD + 2, Rights::DESTROY, on(Call::Destroy, &[])),
        (DOMAIN + 1, Rights::DESTROY, on(Call::Destroy, &[])),
    ]
}

/// Thread 1 runs; a mapping is in the first free slot.
fn machine() -> Board<Fastpath<Host>> {
    let board = boot(&[(1, 10), (2, 5)]);
    let map = [0, MEMORY, buffer(20), 1, 0, FREE | 1 << 32];
    board.succeeds(1, system(Call::Map, &map));
    board
}

#[test]
fn each_call_needs_its_right() {
    for (slot, right, call) in calls() {
        let board = machine();
        let others = u64::from(Rights::ALL.0 & !right.0);
        board.succeeds(1, system(Call::CapCopy, &[slot, TRIED, others, 0]));
        board.does(1, call);
        assert_eq!(board.running(), Some(1), "{call:?}");
        assert_eq!(board.ended.get(), None, "{call:?}");
        let expected = Err(Error::MissingRight);
        assert_eq!(board.regs.get().status().result(), expected, "{call:?} without {right:?}");
    }
}

#[test]
fn each_call_needs_a_current_capability() {
    for (slot, _, call) in calls() {
        if slot == CONSOLE_SLOT || slot == SYSTEM_SLOT {
            continue;
        }
        let board = machine();
        board.succeeds(1, system(Call::CapCopy, &[slot, TRIED, 63, 0]));
        board.succeeds(1, system(Call::CapRevoke, &[slot]));
        board.does(1, call);
        assert_eq!(board.regs.get().status().result(), Err(Error::Stale), "{call:?}");
    }
}

#[test]
fn each_call_needs_an_object_of_its_kind() {
    for (slot, right, call) in calls() {
        let any = [Rights::COPY, Rights::REVOKE, Rights::DESTROY].contains(&right);
        let board = machine();
        let other = if [MEMORY, PORT].contains(&slot) { TIMER } else { MEMORY };
        if any {
            continue;
        }
        board.succeeds(1, system(Call::CapCopy, &[other, TRIED, 63, 0]));
        board.does(1, call);
        assert_eq!(board.regs.get().status().result(), Err(Error::WrongKind), "{call:?}");
        board.succeeds(1, system(Call::CapDelete, &[TRIED]));
        board.does(1, call);
        assert_eq!(board.regs.get().status().result(), Err(Error::NoCapability), "{call:?}");
    }
}

#[test]
fn only_who_may_destroy_finishes_a_destruction() {
    let board: Board<DirectLazy<Host>> = boot(&[(1, 10), (1, 20), (1, 19), (1, 18)]);
    let weak = u64::from(Rights::ALL.0 & !Rights::DESTROY.0);
    board.succeeds(2, system(Call::CapCopy, &[ENDPOINT, FREE, weak, 0]));
    board.succeeds(2, system(Call::CapCopy, &[ENDPOINT, FREE + 1, 63, 0]));
    board.does(2, receive(NOTIFICATION));
    board.does(3, send(ENDPOINT, Info(0)));
    board.does(4, send(ENDPOINT, Info(0)));
    board.host.raise(Event::Irq(3));
    board.call(system(Call::Destroy, &[ENDPOINT]));
    board.interrupts();
    board.fails(2, system(Call::Destroy, &[FREE]), Error::Stale);
    board.fails(2, system(Call::CapRevoke, &[FREE + 1]), Error::Stale);
    board.succeeds(2, system(Call::Destroy, &[FREE + 1]));
    board.fails(2, system(Call::Destroy, &[FREE]), Error::Stale);
}
