//! Text that waits for a console which is not ready.

use crate::support::board::Board;
use crate::support::context::Regs;
use crate::support::host::{Event, Host, QUEUE};
use crate::support::scene::{
    CONSOLE_SLOT, ENDPOINT, FREE, INTERRUPT, NOTIFICATION, SYSTEM_SLOT, THREAD, boot, receive,
    system, timed,
};
use abi::call::{Call, NOTHING, Timeout};
use abi::message::FaultKind;
use abi::{Error, Info, Rights};
use kernel::console::{ENTRY, SHARE};
use kernel::fault::Fault;
use kernel::system::{DirectLazy, System};

type Machine = Board<DirectLazy<Host>>;

const FAULT: Fault = Fault { kind: FaultKind::Memory, detail: 0xbad0, code: 6 };

/// A write of so many of these characters.
fn write(character: u8, length: usize) -> Regs {
    let word = u64::from_le_bytes([character; 8]);
    system(Call::ConsoleWrite, &[CONSOLE_SLOT, length as u64]).with_words([word; 4])
}

fn output<S: System<Port = Host>>(board: &Board<S>) -> String {
    String::from_utf8_lossy(&board.host.output.borrow()).to_string()
}

/// The console sends its queue, interrupts, and so on, until nothing waits. How often.
fn send_all<S: System<Port = Host>>(board: &Board<S>) -> usize {
    let mut interrupts = 0;
    while board.host.wants.get() {
        board.host.raise(Event::Sent);
        board.take(Event::Sent);
        board.check();
        interrupts += 1;
    }
    interrupts
}

/// Thread 1 of domain 1, thread 2 of domain 2, which runs; the console's queue is full.
fn busy() -> Machine {
    let board: Machine = boot(&[(1, 10), (2, 20)]);
    board.host.queue.set(Some(QUEUE));
    board
}

#[test]
fn a_domain_has_a_share_and_takes_none_of_another_ones() {
    let board = busy();
    for _ in 0..SHARE {
        board.succeeds(2, write(b'b', ENTRY));
    }
    board.fails(2, write(b'c', 1), Error::Timeout);
    board.succeeds(2, write(b'c', 0));
    board.fails(2, write(b'c', ENTRY + 1), Error::InvalidArgument);
    board.does(2, receive(NOTIFICATION));
    board.succeeds(1, write(b'a', 5));
    assert!(output(&board).is_empty() && board.host.wants.get());
    let bytes = SHARE as usize * ENTRY;
    let interrupts = send_all(&board);
    assert_eq!(output(&board), "b".repeat(bytes) + "aaaaa", "in order");
    assert_eq!(interrupts, bytes.div_ceil(QUEUE) + 1, "one for each queue's worth");
}

#[test]
fn room_comes_back_entry_by_entry() {
    let board = busy();
    for _ in 0..SHARE {
        board.succeeds(2, write(b'x', ENTRY));
    }
    for expected in [Err(Error::Timeout), Ok(()), Err(Error::Timeout), Ok(())] {
        board.host.raise(Event::Sent);
        board.take(Event::Sent);
        board.call(write(b'y', ENTRY));
        board.sees(2, expected);
    }
}

#[test]
fn a_port_that_is_ready_needs_no_interrupt() {
    let board: Machine = boot(&[(1, 10), (2, 20)]);
    board.host.queue.set(Some(0));
    board.succeeds(2, write(b'x', QUEUE));
    assert_eq!((output(&board).len(), board.host.wants.get()), (QUEUE, false));
    board.host.queue.set(Some(0));
    board.succeeds(2, write(b'\n', QUEUE));
    assert_eq!(output(&board).len(), QUEUE + QUEUE / 2, "the end of a line counts twice");
    assert!(board.host.wants.get());
    assert_eq!(send_all(&board), 1);
}

#[test]
fn short_writes_go_out_together() {
    let board = busy();
    for character in *b"abcdefgh" {
        board.succeeds(2, write(character, 2));
    }
    assert_eq!(send_all(&board), 1);
    assert_eq!(output(&board), "aabbccddeeffgghh");
}

/// Its text is sent, and its place has no more room than before for the next domain there.
#[test]
fn text_outlives_its_domain() {
    let board = busy();
    board.does(2, receive(NOTIFICATION));
    let (domain, thread) = (FREE, FREE + 1);
    let sleep = timed(NOTHING.into(), NOTHING.into(), Info(0), Timeout::At, u64::MAX);
    let mut written = String::new();
    for (character, fits) in [(b'x', SHARE), (b'y', 0), (b'z', SHARE)] {
        let create = system(Call::DomainCreate, &[domain, 16, 20]);
        board.succeeds(1, create.with_words([1 << 16, 0, 0, 0]));
        let control = Rights::CONTROL.0.into();
        let grant = [domain, CONSOLE_SLOT, CONSOLE_SLOT, control];
        board.succeeds(1, system(Call::DomainGrant, &grant));
        board.succeeds(1, system(Call::ThreadCreate, &[thread, domain, 20, 0, 0]));
        board.does(1, system(Call::ThreadResume, &[thread]));
        let inner = board.running().expect("a thread of the new domain");
        assert_ne!(inner, 1);
        for _ in 0..fits {
            board.succeeds(inner, write(character, ENTRY));
            written.extend([character as char; ENTRY]);
        }
        board.fails(inner, write(character, 1), Error::Timeout);
        board.does(inner, sleep);
        board.succeeds(1, write(b'-', 1));
        written.push('-');
        board.succeeds(1, system(Call::Destroy, &[domain]));
        board.succeeds(1, system(Call::CapDelete, &[thread]));
        if character == b'y' {
            send_all(&board);
        }
    }
    send_all(&board);
    assert_eq!(output(&board), written);
}

#[test]
fn reports_without_room_are_counted_and_the_next_one_says_so() {
    let board: Machine = boot(&[(1, 30), (2, 20)]);
    board.succeeds(1, system(Call::Destroy, &[ENDPOINT]));
    board.host.queue.set(Some(QUEUE));
    let mut faults = 0;
    let lines = |board: &Machine| output(board).lines().count();
    while faults < 14 {
        board.fault(FAULT);
        board.check();
        board.does(2, system(Call::ThreadResume, &[THREAD + 1]));
        faults += 1;
    }
    send_all(&board);
    let told = lines(&board);
    assert!(output(&board).lines().all(|line| line.starts_with("fault: memory, domain domain1")));
    assert!(output(&board).ends_with("thread suspended\n"), "as a whole");
    assert!((1..faults).contains(&told), "{told} reports fit");
    board.fault(FAULT);
    board.does(2, system(Call::ThreadResume, &[THREAD + 1]));
    board.fault(FAULT);
    send_all(&board);
    let lost = format!("console: reports lost: {:#018x}", faults - told);
    let now = output(&board);
    let now: Vec<&str> = now.lines().skip(told).collect();
    assert!(now.len() == 3 && now[0] == lost, "{now:?}");
    assert!(now[1..].iter().all(|line| line.starts_with("fault: ")), "{now:?}");
}

/// Domains cannot take the reports' room, nor reports theirs.
#[test]
fn reports_have_room_of_their_own() {
    let board: Machine = boot(&[(1, 30), (2, 20)]);
    board.host.queue.set(Some(QUEUE));
    for _ in 0..SHARE {
        board.succeeds(1, write(b'x', ENTRY));
    }
    board.fails(1, write(b'x', 1), Error::Timeout);
    board.succeeds(1, system(Call::Destroy, &[ENDPOINT]));
    board.fault(FAULT);
    board.succeeds(2, write(b'y', ENTRY));
    send_all(&board);
    let output = output(&board);
    let (before, rest) = output.split_at(SHARE as usize * ENTRY);
    assert!(before.bytes().all(|byte| byte == b'x'));
    assert!(rest.starts_with("fault: ") && rest.ends_with(&"y".repeat(ENTRY)), "{rest}");
}

/// What the console sends and what devices say are told apart; a thread that waits for a device
/// runs while text is sent.
#[test]
fn devices_interrupt_beside_the_console() {
    let board = busy();
    board.does(2, receive(NOTIFICATION));
    board.succeeds(1, write(b'x', ENTRY));
    board.host.raise(Event::Sent);
    board.host.raise(Event::Irq(3));
    board.interrupts();
    assert_eq!((board.running(), board.regs.get().badge()), (Some(2), 16));
    assert_eq!(output(&board).len(), QUEUE);
    board.succeeds(2, write(b'y', 1));
    board.succeeds(2, system(Call::InterruptAck, &[INTERRUPT]));
    assert_eq!(send_all(&board), 2);
    assert_eq!(output(&board).len(), ENTRY + 1);
    board.take(Event::Sent);
    assert_eq!((board.running(), board.host.wants.get()), (Some(2), false), "for nothing");
}

#[test]
fn the_run_ends_behind_all_text() {
    let board = busy();
    board.succeeds(2, write(b'x', ENTRY));
    board.call(system(Call::Shutdown, &[SYSTEM_SLOT, 0]));
    assert_eq!(board.ended.get(), Some(0));
    assert_eq!(output(&board), "x".repeat(ENTRY));
    let told = busy();
    for _ in 0..SHARE {
        told.succeeds(2, write(b'x', ENTRY));
    }
    told.call(system(Call::Shutdown, &[SYSTEM_SLOT, abi::message::PANIC_STATUS]));
    let text = output(&told);
    assert!(text.trim_start_matches('x').starts_with("fault: memory, domain domain2"), "{text}");
    assert!(text.ends_with("; the run ends\n"), "{text}");
}
