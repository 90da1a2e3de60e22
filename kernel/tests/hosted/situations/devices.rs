//! Device memory: mapped as any other, read by the kernel never. Interrupts and their CPUs.

use crate::support::board::{Board, body};
use crate::support::host::{DEVICES, Host};
use crate::support::scene::{
    DEVICE, FREE, INTERRUPT, MEMORY, NOTIFICATION, SYSTEM_SLOT, boot, receive, system,
};
use crate::support::space::device_frame;
use abi::boot::Cache;
use abi::call::{BLOCK_WORDS, Call, Table};
use abi::futex::WAITERS;
use abi::{Error, PAGE, Rights};
use kernel::object::capability::Capability;
use kernel::port::{Port, Space};
use kernel::system::DirectLazy;

const AT: u64 = 0x10_0000_0000;

/// Thread 2 runs; the last two pages of device memory are mapped for it, to be read and written.
fn machine() -> Board<DirectLazy<Host>> {
    let board = boot(&[(1, 10), (1, 20)]);
    board.succeeds(2, map(DEVICE, 2, 2));
    board
}

fn map(memory: u64, first: u64, pages: u64) -> crate::support::context::Regs {
    system(Call::Map, &[0, memory, AT, pages, first, (FREE + 1) | 3 << 32])
}

/// The pages that are mapped: frames with their attributes, and rights.
fn pages(board: &Board<DirectLazy<Host>>) -> Vec<(u64, u8)> {
    let mut found = Vec::new();
    board.domain(1).space.walk(board.host, &mut |_| {}, &mut |page| {
        if page.at >= AT {
            found.push((page.frame, page.rights));
        }
    });
    found
}

fn results(board: &Board<DirectLazy<Host>>) -> (u64, u64) {
    (board.regs.get().badge(), board.regs.get().info().0)
}

#[test]
fn its_pages_keep_their_attribute_whatever_their_rights() {
    let board = machine();
    let frames =
        [2, 3].map(|page| device_frame(DEVICES.start, Cache::WriteCombining) + page * PAGE);
    assert_eq!(pages(&board), frames.map(|frame| (frame, 3)));
    board.succeeds(2, system(Call::Protect, &[FREE + 1, 1]));
    assert_eq!(pages(&board), frames.map(|frame| (frame, 1)));
    board.fails(2, system(Call::Protect, &[FREE + 1, 7]), Error::WriteExecute);
    board.succeeds(2, system(Call::Destroy, &[FREE + 1]));
    assert_eq!(pages(&board), []);
    board.fails(2, map(DEVICE, 3, 2), Error::InvalidArgument);
}

#[test]
fn its_end_unmaps_it() {
    let board = machine();
    board.succeeds(2, system(Call::Destroy, &[DEVICE]));
    assert_eq!(pages(&board), []);
    board.fails(2, system(Call::Protect, &[FREE + 1, 1]), Error::Stale);
    board.fails(2, system(Call::MemoryAddress, &[DEVICE]), Error::NoCapability);
}

#[test]
fn a_route_ends_with_its_interrupt() {
    let line = |board: &Board<DirectLazy<Host>>| {
        let irq = &board.host.irqs[3];
        (irq.enabled.get(), irq.cpu.get())
    };
    let board = machine();
    board.host.route_irq(3, 1);
    // Capabilities that are stale change nothing of it.
    board.succeeds(2, system(Call::CapRevoke, &[INTERRUPT]));
    assert_eq!(line(&board), (true, 1));
    board.succeeds(2, system(Call::Destroy, &[INTERRUPT]));
    assert_eq!(line(&board), (false, 0));
}

#[test]
fn the_kernel_takes_it_for_memory_that_is_not_there() {
    let board = machine();
    let space = &board.domain(1).space;
    assert!(space.is_mapped(board.host, AT));
    assert_eq!((space.frame(board.host, AT), space.writable(board.host, AT)), (None, None));
    for call in [Call::MutexWait, Call::InheritWait, Call::MutexWake] {
        board.fails(2, system(call, &[AT, WAITERS.into(), 1]), Error::BadAddress);
    }
    let block = AT / (8 * BLOCK_WORDS as u64);
    board.succeeds(2, system(Call::Inspect, &[SYSTEM_SLOT, Table::Block as u64, 1 | block << 32]));
    assert_eq!(results(&board), (0, 0));
    // Nor is there room for anything else.
    let thread = [FREE + 2, 0, 5, AT, 0];
    board.fails(2, system(Call::ThreadCreate, &thread), Error::AddressInUse);
    board.does(2, receive(NOTIFICATION));
}

#[test]
fn who_holds_the_right_learns_where_memory_lies() {
    let board = machine();
    board.succeeds(2, system(Call::MemoryAddress, &[DEVICE]));
    assert_eq!(results(&board), (DEVICES.start, 4 * PAGE));
    board.succeeds(2, system(Call::MemoryAddress, &[MEMORY]));
    let (at, bytes) = results(&board);
    let Capability::Memory(cap) = board.domain(1).slots[MEMORY as usize].get() else {
        panic!("there is memory")
    };
    assert_eq!(bytes, 8 * PAGE);
    assert_eq!(body(cap.at).frames.get(), kernel::object::memory::Frames::Contiguous(at));
    // Its creator does not have the right, and no copy has it that was not asked for.
    board.succeeds(2, system(Call::MemoryCreate, &[FREE + 2, 1]));
    board.fails(2, system(Call::MemoryAddress, &[FREE + 2]), Error::MissingRight);
    let all = u64::from(Rights::ALL.0);
    board.succeeds(2, system(Call::CapCopy, &[MEMORY, FREE + 3, all, 0]));
    board.fails(2, system(Call::MemoryAddress, &[FREE + 3]), Error::MissingRight);
}
