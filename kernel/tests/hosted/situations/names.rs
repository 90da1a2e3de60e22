//! Names that programs give: where they show, and what they cannot do.

use crate::support::board::Board;
use crate::support::context::Regs;
use crate::support::host::Host;
use crate::support::scene::{DOMAIN, ENDPOINT, FREE, SYSTEM_SLOT, THREAD, boot, receive, system};
use abi::Error;
use abi::boot::name_words;
use abi::call::{Call, Table};
use abi::message::FaultKind;
use kernel::fault::Fault;
use kernel::system::DirectLazy;

const FAULT: Fault = Fault { kind: FaultKind::Memory, detail: 0xbad, code: 4 };

fn name(slot: u64, name: &str) -> Regs {
    let [low, high] = name_words(name);
    system(Call::Name, &[slot, low, high])
}

/// The name in a row of a table.
fn shown(board: &Board<DirectLazy<Host>>, table: Table, row: u64) -> [u64; 2] {
    board.succeeds(1, system(Call::Inspect, &[SYSTEM_SLOT, table as u64, row]));
    let regs = board.regs.get();
    match table {
        Table::ThreadName => [regs.badge(), regs.info().0],
        _ => [regs.words[0], regs.words[1]],
    }
}

#[test]
fn only_what_cannot_deceive_is_a_name() {
    let board: Board<DirectLazy<Host>> = boot(&[(1, 30), (2, 20)]);
    for wrong in ["a b", "a\n", "a\x1b[2J", "a/b", "a, thread", "\u{e4}"] {
        board.fails(1, name(THREAD + 2, wrong), Error::InvalidArgument);
    }
    let [low, high] = name_words("ab");
    for words in [[low << 8, high], [low, 0x61 << 8], [low | 0x61 << 32, high]] {
        let call = system(Call::Name, &[THREAD + 2, words[0], words[1]]);
        board.fails(1, call, Error::InvalidArgument);
    }
    board.succeeds(1, name(THREAD + 2, "sixteen-bytes_1.0"));
    assert_eq!(shown(&board, Table::ThreadName, 2), name_words("sixteen-bytes_1."));
    board.succeeds(1, name(THREAD + 2, ""));
    assert_eq!(shown(&board, Table::ThreadName, 2), [0; 2]);
    board.fails(1, name(DOMAIN + 1, "other"), Error::WrongState);
    assert_eq!(shown(&board, Table::Domain, 1), name_words("domain1"));
    board.fails(1, name(ENDPOINT, "a"), Error::WrongKind);
    board.fails(1, name(FREE, "a"), Error::NoCapability);
}

#[test]
fn a_name_ends_with_its_thread_or_domain() {
    let board: Board<DirectLazy<Host>> = boot(&[(1, 30)]);
    let (domain, thread) = (FREE, FREE + 1);
    for round in 0..2 {
        let create = system(Call::DomainCreate, &[domain, 4, 20]);
        board.succeeds(1, create.with_words([1 << 16, 0, 0, 0]));
        board.succeeds(1, system(Call::ThreadCreate, &[thread, domain, 20, 0, 0]));
        let of_domain = |row| shown(&board, Table::Domain, row);
        let found = (0..).find(|row| of_domain(*row) == [0; 2] && *row > 1).unwrap();
        let index = (2..).find(|row| {
            board.succeeds(1, system(Call::Inspect, &[SYSTEM_SLOT, Table::Thread as u64, *row]));
            board.regs.get().badge() != 0
        });
        let index = index.unwrap();
        assert_eq!(shown(&board, Table::ThreadName, index), [0; 2], "round {round}");
        board.succeeds(1, name(domain, "made"));
        board.succeeds(1, name(thread, "worker"));
        assert_eq!(of_domain(found), name_words("made"));
        assert_eq!(board.regs.get().words[2], 1 | 1 << 32, "a thread; made by domain 1");
        assert_eq!(shown(&board, Table::ThreadName, index), name_words("worker"));
        board.succeeds(1, system(Call::Destroy, &[domain]));
        board.succeeds(1, system(Call::CapDelete, &[thread]));
    }
}

#[test]
fn nobody_faults_under_the_name_of_another() {
    let board: Board<DirectLazy<Host>> = boot(&[(1, 20), (2, 10)]);
    let (domain, thread) = (FREE, FREE + 1);
    let create = system(Call::DomainCreate, &[domain, 4, 20]);
    board.succeeds(1, create.with_words([1 << 16, 0, 0, 0]));
    board.succeeds(1, system(Call::ThreadCreate, &[thread, domain, 20, 0, 0]));
    board.succeeds(1, name(domain, "domain2"));
    board.succeeds(1, name(thread, "worker"));
    board.succeeds(1, system(Call::ThreadResume, &[thread]));
    board.does(1, receive(ENDPOINT));
    assert_ne!(board.running(), Some(1));
    board.fault(FAULT);
    board.settle();
    let output = String::from_utf8_lossy(&board.host.output.borrow()).to_string();
    let expected = "fault: memory, domain domain1/domain2, thread 0x0000000000000003 worker, ";
    assert!(output.contains(expected), "{output}");
}
