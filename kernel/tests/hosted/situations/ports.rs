//! I/O ports: reached by calls, within their range alone, and never mapped.

use crate::support::archive::{Archive, amounts};
use crate::support::board::Board;
use crate::support::host::{Host, PORTS};
use crate::support::scene::{DEVICE, FREE, MEMORY, PORT, boot, system};
use abi::call::Call;
use abi::object::Resource;
use abi::{Error, Rights};
use kernel::system::DirectLazy;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Ports of the range.
const NUMBER: u64 = 8;

/// Thread 1 runs; each port has its offset in the range and a bit.
fn machine() -> Board<DirectLazy<Host>> {
    let board = boot(&[(1, 10)]);
    for (offset, port) in own(&board).iter().enumerate() {
        port.set(0x80 | offset as u8);
    }
    board
}

/// The ports of the range.
fn own(board: &Board<DirectLazy<Host>>) -> &[std::cell::Cell<u8>] {
    &board.host.ports[board.host.ports.len() - NUMBER as usize..]
}

/// What all ports of the machine have.
fn all(board: &Board<DirectLazy<Host>>) -> Vec<u8> {
    board.host.ports.iter().map(|port| port.get()).collect()
}

fn read(offset: u64, bytes: u64) -> crate::support::context::Regs {
    system(Call::PortRead, &[PORT, offset, bytes])
}

fn write(offset: u64, bytes: u64, value: u64) -> crate::support::context::Regs {
    system(Call::PortWrite, &[PORT, offset, bytes, value])
}

#[test]
fn so_many_bytes_are_read_and_written() {
    let board = machine();
    for (offset, bytes, value) in
        [(0, 1, 0x80), (7, 1, 0x87), (1, 2, 0x8281), (6, 2, 0x8786), (4, 4, 0x8786_8584)]
    {
        board.succeeds(1, read(offset, bytes));
        let results = (board.regs.get().badge(), board.regs.get().info().0);
        assert_eq!(results, (value, 0), "{bytes} bytes at {offset}");
    }
    // What is above the bytes that are asked for goes nowhere.
    board.succeeds(1, write(1, 1, u64::MAX - 0xee));
    board.succeeds(1, write(2, 2, 0x1111_2222_3333_4455));
    board.succeeds(1, write(4, 4, 0x6666_6666_0102_0304));
    let found: Vec<u8> = own(&board).iter().map(|port| port.get()).collect();
    assert_eq!(found, [0x80, 0x11, 0x55, 0x44, 4, 3, 2, 1]);
}

#[test]
fn no_access_leaves_the_range() {
    let board = machine();
    let before = all(&board);
    let wrong_widths = (0..NUMBER).flat_map(|at| [0, 3, 5, 8].map(|bytes| (at, bytes)));
    let beyond = [(7, 2), (5, 4), (6, 4), (7, 4), (8, 1), (9, 1), (8, 2), (8, 4)];
    let wrapping = [u64::MAX, u64::MAX - 1, u64::MAX - 3, 1 << 16, 1 << 32, 0xffff];
    let wrapping = wrapping.into_iter().flat_map(|at| [1, 2, 4].map(|bytes| (at, bytes)));
    let huge = [(0, 1 << 32 | 1), (0, 1 << 63 | 1), (0, 257)];
    for (at, bytes) in wrong_widths.chain(beyond).chain(wrapping).chain(huge) {
        board.fails(1, read(at, bytes), Error::InvalidArgument);
        board.fails(1, write(at, bytes, 0), Error::InvalidArgument);
    }
    assert_eq!(all(&board), before);
}

#[test]
fn other_memory_has_no_ports_and_ports_have_no_pages() {
    let board = machine();
    for memory in [MEMORY, DEVICE] {
        board.fails(1, system(Call::PortRead, &[memory, 0, 1]), Error::InvalidArgument);
        board.fails(1, system(Call::PortWrite, &[memory, 0, 1, 5]), Error::InvalidArgument);
    }
    for pages in [0, 1, 512, u64::MAX] {
        let map = [0, PORT, 0x10_0000_0000, pages, 0, FREE | 1 << 32];
        board.fails(1, system(Call::Map, &map), Error::InvalidArgument);
    }
    board.fails(1, system(Call::MemoryAddress, &[PORT]), Error::InvalidArgument);
}

#[test]
fn each_direction_has_a_right_of_its_own() {
    let board = machine();
    for (right, works, fails) in
        [(Rights::READ, read(0, 1), write(0, 1, 5)), (Rights::WRITE, write(0, 1, 5), read(0, 1))]
    {
        let on = |mut regs: crate::support::context::Regs| {
            regs.args[0] = FREE;
            regs
        };
        board.succeeds(1, system(Call::CapCopy, &[PORT, FREE, right.0.into(), 0]));
        board.succeeds(1, on(works));
        board.fails(1, on(fails), Error::MissingRight);
        board.succeeds(1, system(Call::CapDelete, &[FREE]));
    }
}

#[test]
fn they_end_as_memory_does() {
    let board = machine();
    board.succeeds(1, system(Call::CapCopy, &[PORT, FREE, Rights::ALL.0.into(), 0]));
    board.succeeds(1, system(Call::Destroy, &[PORT]));
    board.fails(1, system(Call::PortRead, &[FREE, 0, 1]), Error::Stale);
    board.fails(1, read(0, 1), Error::NoCapability);
    // What is made in their place has none.
    board.succeeds(1, system(Call::MemoryCreate, &[FREE + 1, 1]));
    board.fails(1, system(Call::PortRead, &[FREE + 1, 0, 1]), Error::InvalidArgument);
    board.succeeds(1, system(Call::Map, &[0, FREE + 1, 0x1000_0000, 1, 0, (FREE + 2) | 1 << 32]));
}

#[test]
fn a_machine_without_them_does_not_boot() {
    let boots = |first: u64, number: u64| {
        let pools = amounts(&[(Resource::Memories, 1)]);
        let mut archive = Archive::new(&pools);
        archive.ports(first, number);
        let boots = || drop(Board::<DirectLazy<Host>>::boot(&archive, 400, 1));
        catch_unwind(AssertUnwindSafe(boots)).is_ok()
    };
    let Range { start, end } = PORTS;
    assert!(boots(start, 16) && boots(end - 1, 1));
    for (first, number) in [(start - 1, 2), (start, 17), (start, 0), (end, 1), (start, u64::MAX)] {
        assert!(!boots(first, number), "{number} ports from {first:#x} on");
    }
}
