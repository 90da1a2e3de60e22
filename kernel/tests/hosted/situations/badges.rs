//! What a capability gives to the object that is made through it, or to the domain that gets it.

use crate::support::board::Board;
use crate::support::host::Host;
use crate::support::scene::{
    DOMAIN, ENDPOINT, FREE, NOTIFICATION, SLOTS, SYSTEM_SLOT, boot, receive, system,
};
use abi::call::{Call, Table};
use abi::message::FaultKind;
use abi::{Error, Rights};
use kernel::fault::Fault;
use kernel::object::capability::Capability;
use kernel::system::DirectLazy;

fn board() -> Board<DirectLazy<Host>> {
    boot(&[(1, 10), (2, 5)])
}

#[test]
fn a_timer_signals_the_bits_of_its_capability() {
    for (badge, bits) in [(32, 32), (0, 1)] {
        let board = board();
        board.succeeds(1, system(Call::CapCopy, &[NOTIFICATION, FREE, 63, badge]));
        board.succeeds(1, system(Call::TimerCreate, &[FREE + 1, FREE]));
        board.succeeds(1, system(Call::TimerSet, &[FREE + 1, 100]));
        board.does(1, receive(NOTIFICATION));
        board.wait(100);
        board.sees(1, Ok(()));
        assert_eq!(board.regs.get().badge(), bits);
    }
}

#[test]
fn a_fault_has_the_badge_of_the_handlers_capability() {
    let board = board();
    board.succeeds(1, system(Call::CapCopy, &[ENDPOINT, FREE, 63, 77]));
    board.succeeds(1, system(Call::ThreadCreate, &[FREE + 1, 0, 20, 0, FREE]));
    board.does(1, system(Call::ThreadResume, &[FREE + 1]));
    board.fault(Fault { kind: FaultKind::Memory, detail: 0, code: 0 });
    board.succeeds(1, receive(ENDPOINT));
    assert_eq!(board.regs.get().badge(), 77);
}

#[test]
fn a_granted_capability_has_the_rights_that_were_named() {
    let board = board();
    let rights = Rights::SEND.or(Rights::COPY);
    let grant = [DOMAIN + 1, NOTIFICATION, FREE, rights.0.into()];
    board.succeeds(1, system(Call::DomainGrant, &grant));
    let granted = board.domain(2).slots[FREE as usize].get();
    assert!(matches!(granted, Capability::Notification(_)));
    assert_eq!(granted.inspect(), Ok((rights, 0)));
}

#[test]
fn a_notification_is_attached_once() {
    let board = board();
    let attach = |slot: u64| system(Call::EndpointCreate, &[slot, NOTIFICATION]);
    board.succeeds(1, attach(FREE));
    board.fails(1, attach(FREE + 1), Error::WrongState);
    board.succeeds(1, system(Call::Destroy, &[FREE]));
    board.succeeds(1, attach(FREE + 1));
}

#[test]
fn a_domains_row_tells_its_slots() {
    let board = board();
    board.succeeds(1, system(Call::Inspect, &[SYSTEM_SLOT, Table::Domain as u64, 1]));
    let slots = board.domain(1).slots.iter();
    let used = slots.filter(|slot| !matches!(slot.get(), Capability::Empty)).count() as u64;
    assert_eq!(board.regs.get().words[3], used | SLOTS << 32);
}
