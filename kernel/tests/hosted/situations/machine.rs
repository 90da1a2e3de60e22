//! What programs learn of the machine, and the end of a run.

use crate::support::archive::{SLICE, TICK};
use crate::support::board::Board;
use crate::support::host::{HZ, Host};
use crate::support::scene::{
    CONSOLE_SLOT, DOMAIN, FREE, NOTIFICATION, SYSTEM_SLOT, THREAD, boot, buffer, receive, system,
};
use abi::boot::name_words;
use abi::call::{BLOCK_WORDS, Call, Fact, Table, ThreadState};
use abi::message::PANIC_STATUS;
use abi::object::Resource;
use abi::{Error, PAGE, Rights};
use kernel::port::{Port, Space};
use kernel::system::{DirectLazy, Fastpath, System};
use std::sync::atomic::Ordering::Relaxed;

fn machine<S: System<Port = Host>>() -> Board<S> {
    boot(&[(1, 10), (2, 20)])
}

fn results<S: System<Port = Host>>(board: &Board<S>) -> (u64, u64) {
    (board.regs.get().badge(), board.regs.get().info().0)
}

#[test]
fn facts() {
    fn name<S: System<Port = Host>>() {
        let board = machine::<S>();
        board.succeeds(2, system(Call::Fact, &[Fact::KernelName as u64]));
        let [low, high] = name_words(S::NAME);
        assert_eq!(results(&board), (low, high));
    }
    name::<DirectLazy<Host>>();
    name::<Fastpath<Host>>();
    let board = machine::<Fastpath<Host>>();
    for (fact, expected) in [
        (Fact::CounterHz, (HZ, 0)),
        (Fact::Tick, (TICK, TICK * SLICE)),
        (Fact::Kernel, (1, 2)),
        (Fact::Cpus, (1, 0)),
    ] {
        board.succeeds(2, system(Call::Fact, &[fact as u64]));
        assert_eq!(results(&board), expected);
    }
    board.succeeds(2, system(Call::Fact, &[Fact::Identity as u64]));
    let (own, shared) = results(&board);
    let own = own & u64::from(u32::MAX);
    assert!((1..1 << 31).contains(&own) && (1..1 << 31).contains(&shared) && own != shared);
    board.fails(2, system(Call::Fact, &[6]), Error::InvalidArgument);
    board.wait(12_345);
    board.succeeds(2, system(Call::Clock, &[]));
    assert_eq!(results(&board), (12_345, 0));
}

#[test]
fn tables() {
    let board = machine::<DirectLazy<Host>>();
    let row = |table: Table, row: u64| {
        board.succeeds(2, system(Call::Inspect, &[SYSTEM_SLOT, table as u64, row]));
        results(&board)
    };
    let _ = row(Table::Domain, 1);
    assert_eq!(board.regs.get().words[..2], name_words("domain1"));
    assert_eq!(row(Table::Domain, 1), (1, 255));
    assert_eq!(row(Table::Thread, 1), (ThreadState::Ready as u64, 10 | 10 << 32));
    assert_eq!(row(Table::Pool, Resource::Endpoints as u64).0, 4);
    assert_eq!(row(Table::Quota, 1 | (Resource::Threads as u64) << 32).0, 1);
    let slot = row(Table::Slot, 1 | SYSTEM_SLOT << 32);
    assert_eq!(slot.0, abi::Kind::System as u64 | u64::from(Rights::ALL.0) << 8);
    let (words, bytes) = (BLOCK_WORDS as u64, 8 * BLOCK_WORDS as u64);
    let block = |at: u64| row(Table::Block, 1 | (at / bytes) << 32);
    assert_eq!(block(buffer(1)), (1, words));
    let frame = board.domain(1).space.frame(board.host, buffer(1)).unwrap();
    let frame = board.host.frame(frame);
    for word in [7, BLOCK_WORDS, frame.len() - 1] {
        frame[word].store(1, Relaxed);
    }
    let blocks = [0, bytes, 2 * bytes, PAGE - bytes, PAGE].map(|from| block(buffer(1) + from));
    assert_eq!(blocks, [(1, 7), (1, 0), (1, words), (1, words - 1), (0, 0)]);
    assert_eq!(block(u64::from(u32::MAX) * bytes), (0, 0));
    for (table, row) in [(7, 1), (8, 1 << 20)] {
        let call = system(Call::Inspect, &[SYSTEM_SLOT, table, row]);
        board.fails(2, call, Error::InvalidArgument);
    }
    for (table, row) in [
        (0, 1 << 20),
        (1, 1 << 20),
        (2, 1 | 14 << 32),
        (3, 14),
        (4, 99),
        (9, 0),
        (11, 1 << 20),
        (12, 0),
    ] {
        let call = system(Call::Inspect, &[SYSTEM_SLOT, table, row]);
        board.fails(2, call, Error::InvalidArgument);
    }
    board.fails(2, system(Call::Inspect, &[CONSOLE_SLOT, 0, 0]), Error::WrongKind);
    board.does(2, receive(NOTIFICATION));
    board.succeeds(1, system(Call::ThreadInspect, &[THREAD + 2]));
    assert_eq!(results(&board), (ThreadState::Receiving as u64, 20));
}

/// Sums over many rows are made in steps: interrupted at each, they come out the same.
#[test]
fn a_sum_is_interrupted_anywhere() {
    let slots = Resource::Slots as u64;
    for (table, row, polled) in [(Table::Domain, 1, true), (Table::Pool, slots, false)] {
        let call = system(Call::Inspect, &[SYSTEM_SLOT, table as u64, row]);
        let whole = machine::<Fastpath<Host>>();
        whole.succeeds(2, call);
        let expected = (results(&whole), whole.regs.get().words);
        let mut again = 0;
        for polls in 0..4 {
            let board = machine::<Fastpath<Host>>();
            board.host.interrupt_after(polls);
            board.call(call);
            again += u32::from(board.regs.get().again);
            board.settle();
            board.sees(2, Ok(()));
            assert_eq!((results(&board), board.regs.get().words), expected);
        }
        assert_eq!(again > 1, polled, "{again} calls were interrupted");
    }
}

#[test]
fn the_console() {
    let board = machine::<Fastpath<Host>>();
    let text = u64::from_le_bytes(*b"Giusto!\n");
    let write = |length: u64| {
        system(Call::ConsoleWrite, &[CONSOLE_SLOT, length]).with_words([text, text, text, text])
    };
    board.succeeds(2, write(16));
    board.fails(2, write(33), Error::InvalidArgument);
    board.fails(2, write(u64::MAX), Error::InvalidArgument);
    assert_eq!(*board.host.output.borrow(), b"Giusto!\nGiusto!\n");
    board.fails(2, system(Call::ConsoleRead, &[CONSOLE_SLOT]), Error::Timeout);
    board.host.input.borrow_mut().push_back(b'x');
    board.succeeds(2, system(Call::ConsoleRead, &[CONSOLE_SLOT]));
    assert_eq!(results(&board).0, u64::from(b'x'));
    let weak = [CONSOLE_SLOT, FREE, Rights::COPY.0.into(), 0];
    board.succeeds(2, system(Call::CapCopy, &weak));
    board.fails(2, system(Call::ConsoleRead, &[FREE]), Error::MissingRight);
    board.fails(2, system(Call::ConsoleWrite, &[DOMAIN, 1]), Error::WrongKind);
}

#[test]
fn the_end() {
    let board = machine::<Fastpath<Host>>();
    board.fails(2, system(Call::Shutdown, &[CONSOLE_SLOT, 3]), Error::WrongKind);
    board.fails(2, system(Call::Shutdown, &[FREE, 3]), Error::NoCapability);
    assert_eq!(board.ended.get(), None);
    board.call(system(Call::Shutdown, &[SYSTEM_SLOT, 7 << 32 | 3]));
    assert_eq!(board.ended.get(), Some(3));
    assert!(board.host.output.borrow().is_empty(), "only a panic is told");
}

#[test]
fn a_panic_that_ends_the_run_is_told() {
    let board = machine::<Fastpath<Host>>();
    board.fails(2, system(Call::Shutdown, &[FREE, PANIC_STATUS]), Error::NoCapability);
    assert!(board.host.output.borrow().is_empty());
    board.call(system(Call::Shutdown, &[SYSTEM_SLOT, 0x20_4468 << 32 | PANIC_STATUS]));
    assert_eq!(board.ended.get(), Some(PANIC_STATUS as u32));
    let told = String::from_utf8_lossy(&board.host.output.borrow()).to_string();
    assert!(told.starts_with("fault: memory, domain "), "{told}");
    assert!(told.contains(", detail 0x00007fff00204468, code 0x0"), "{told}");
    assert!(told.ends_with("; the run ends\n") && told.lines().count() == 1, "{told}");
}
