//! Faults as messages.

use crate::support::archive::TICK;
use crate::support::board::Board;
use crate::support::context::Regs;
use crate::support::host::{Event, Host};
use crate::support::scene::{
    ENDPOINT, FREE, NOTIFICATION, THREAD, boot, call, receive, reply_wait, send, system, timed,
};
use abi::call::{Call, NOTHING, REPLY, Timeout, fault};
use abi::message::FaultKind;
use abi::{Error, Info, USER_TOP};
use kernel::fault::Fault;
use kernel::object::thread::flag;
use kernel::system::{DirectLazy, Fastpath, System};

const FAULT: Fault = Fault { kind: FaultKind::Memory, detail: 0xbad0, code: 6 };
/// What the program has in its registers when it faults.
const LIVE: Regs =
    Regs { number: 11, args: [21, 22, 23, 24, 25, 26], words: [31, 32, 33, 34], again: false };

/// Thread 2 handles faults; thread 1 has faulted, and thread 2 runs.
fn faulted<S: System<Port = Host>>() -> Board<S> {
    let board = boot(&[(1, 10), (2, 20)]);
    board.does(2, receive(ENDPOINT));
    board.regs.set(LIVE);
    board.fault(FAULT);
    board.check();
    board.sees(2, Ok(()));
    board
}

#[test]
fn a_fault_is_a_call_that_says_what_happened() {
    let board = faulted::<Fastpath<Host>>();
    let regs = board.regs.get();
    assert!(regs.info().is_fault() && !regs.info().has_capability());
    assert_eq!(regs.info().label(), FaultKind::Memory as u32);
    assert_eq!(regs.badge(), 1);
    let (instruction, stack) = board.thread(1).context.at.get();
    assert_eq!(regs.words, [FAULT.detail, instruction, stack, FAULT.code]);
}

#[test]
fn an_interrupt_goes_before_a_fault_and_behind_an_earlier_call_that_is_given_up() {
    for kind in [FaultKind::Memory, FaultKind::Debug] {
        let board: Board<DirectLazy<Host>> = boot(&[(1, 20), (1, 10), (1, 30)]);
        let late = timed(NOTHING.into(), ENDPOINT, Info(0), Timeout::At, TICK / 2);
        board.does(3, receive(ENDPOINT));
        board.does(1, call(ENDPOINT, Info(0)));
        board.does(3, late);
        board.regs.set(LIVE);
        board.host.interrupt_after(0);
        board.fault(Fault { kind, ..FAULT });
        board.check();
        if kind != FaultKind::Debug {
            // It faults again, when thread 1 knows.
            board.settle();
            board.sees_in_receive(1, Error::Abandoned);
            board.does(1, receive(NOTIFICATION));
            assert_eq!((board.running(), board.regs.get()), (Some(2), LIVE));
            board.fault(FAULT);
        }
        board.sees(3, Ok(()));
        assert!(board.regs.get().info().is_fault());
        board.check();
    }
}

#[test]
fn retrying_changes_no_register() {
    let board = faulted::<Fastpath<Host>>();
    let at = board.thread(1).context.at.get();
    let answer = Info::new(fault::RETRY, 4);
    board.does(2, reply_wait(ENDPOINT, answer).with_words([1, 2, 3, 4]));
    assert_eq!((board.running(), board.regs.get()), (Some(1), LIVE));
    assert_eq!(board.thread(1).context.at.get(), at);
}

#[test]
fn going_on_elsewhere_changes_the_instruction_pointer_alone() {
    let board = faulted::<DirectLazy<Host>>();
    let stack = board.thread(1).context.at.get().1;
    let answer = Info::new(fault::CONTINUE, 1);
    board.does(2, reply_wait(ENDPOINT, answer).with_words([0x1234, 0, 0, 0]));
    assert_eq!((board.running(), board.regs.get()), (Some(1), LIVE));
    assert_eq!(board.thread(1).context.at.get(), (0x1234, stack));
}

#[test]
fn other_answers_suspend_the_thread() {
    for (label, word) in [(fault::SUSPEND, 0), (77, 0), (fault::CONTINUE, USER_TOP)] {
        let board = faulted::<Fastpath<Host>>();
        let answer = Info::new(label, 1);
        board.does(2, reply_wait(ENDPOINT, answer).with_words([word, 0, 0, 0]));
        assert_eq!(board.running(), None);
        assert!(board.thread(1).has(flag::SUSPENDED));
    }
}

#[test]
fn a_fault_waits_for_its_handler_and_can_be_cancelled() {
    let board: Board<DirectLazy<Host>> = boot(&[(1, 30), (2, 20)]);
    board.regs.set(LIVE);
    board.fault(FAULT);
    assert_eq!(board.running(), Some(2));
    board.succeeds(2, receive(ENDPOINT));
    assert!(board.regs.get().info().is_fault());
    board.succeeds(2, system(Call::ThreadSuspend, &[THREAD + 1]));
    let cancel = [THREAD + 1, 0x4321, 0, 0, 0, 16 + 1];
    board.succeeds(2, system(Call::ThreadExchange, &cancel));
    board.fails(2, send(REPLY.into(), Info(0)), Error::NoReply);
    board.does(2, system(Call::ThreadResume, &[THREAD + 1]));
    assert_eq!((board.running(), board.regs.get()), (Some(1), LIVE));
    assert_eq!(board.thread(1).context.at.get().0, 0x4321);
}

#[test]
fn a_fault_without_a_handler_stops_the_thread_and_says_so() {
    for destroy_while_waiting in [false, true] {
        let board: Board<DirectLazy<Host>> = boot(&[(1, 30), (2, 20)]);
        if !destroy_while_waiting {
            board.succeeds(1, system(Call::Destroy, &[ENDPOINT]));
        }
        board.regs.set(LIVE);
        board.fault(FAULT);
        assert_eq!(board.running(), Some(2));
        if destroy_while_waiting {
            // It faults again, and none handles that.
            board.does(2, system(Call::Destroy, &[ENDPOINT]));
            assert_eq!((board.running(), board.regs.get()), (Some(1), LIVE));
            board.fault(FAULT);
            assert_eq!(board.running(), Some(2));
        }
        board.settle();
        let output = String::from_utf8_lossy(&board.host.output.borrow()).to_lowercase();
        let told = ["domain1", "memory", "bad0", "no handler"];
        assert!(told.iter().all(|part| output.contains(part)), "{output}");
        assert!(board.thread(1).has(flag::SUSPENDED));
        board.does(2, system(Call::ThreadResume, &[THREAD + 1]));
        assert_eq!((board.running(), board.regs.get()), (Some(1), LIVE));
    }
}

/// A trap is behind its instruction, which would not fault again: its thread ends all the same when
/// its handler is gone, and stays where it was.
#[test]
fn a_trap_without_a_handler_stops_the_thread_too() {
    let board: Board<DirectLazy<Host>> = boot(&[(1, 30), (2, 20)]);
    board.regs.set(LIVE);
    let at = board.thread(1).context.at.get();
    board.fault(Fault { kind: FaultKind::Debug, detail: 0xbad0, code: 0 });
    assert_eq!(board.running(), Some(2));
    board.does(2, system(Call::Destroy, &[ENDPOINT]));
    assert_eq!((board.running(), board.thread(1).context.at.get().0), (Some(1), 0));
    board.settle();
    board.fault(Fault { kind: FaultKind::Memory, detail: 0, code: 4 });
    board.settle();
    board.sees(2, Ok(()));
    assert!(board.thread(1).has(flag::SUSPENDED) && board.thread(1).has(flag::ENDED));
    assert_eq!(board.thread(1).context.at.get(), at);
    let output = String::from_utf8_lossy(&board.host.output.borrow()).to_lowercase();
    let told = ["domain1", "debug", "bad0", "no handler"];
    assert!(told.iter().all(|part| output.contains(part)), "{output}");
    assert_eq!(output.lines().count(), 1, "once");
}

#[test]
fn the_console_is_told_of_a_bounded_number_of_faults() {
    let board: Board<DirectLazy<Host>> = boot(&[(1, 20), (1, 30)]);
    board.succeeds(2, system(Call::Destroy, &[ENDPOINT]));
    board.does(2, receive(NOTIFICATION));
    for _ in 0..100 {
        board.fault(FAULT);
        board.host.raise(Event::Irq(3));
        board.settle();
        board.does(2, system(Call::InterruptAck, &[crate::support::scene::INTERRUPT]));
        board.does(2, system(Call::ThreadResume, &[THREAD + 1]));
        board.does(2, receive(NOTIFICATION));
    }
    let lines = board.host.output.borrow().iter().filter(|byte| **byte == b'\n').count();
    assert!((1..=20).contains(&lines), "{lines} reports");
}

#[test]
fn new_domains_have_no_reports_of_their_own() {
    let board: Board<DirectLazy<Host>> = boot(&[(1, 20)]);
    let (domain, thread) = (FREE, FREE + 1);
    let create = system(Call::DomainCreate, &[domain, 4, 20]);
    for _ in 0..100 {
        board.succeeds(1, create.with_words([1 << 16, 0, 0, 0]));
        board.succeeds(1, system(Call::ThreadCreate, &[thread, domain, 20, 0, 0]));
        board.succeeds(1, system(Call::ThreadResume, &[thread]));
        board.does(1, system(Call::Yield, &[thread]));
        assert_ne!(board.running(), Some(1));
        board.fault(FAULT);
        board.succeeds(1, system(Call::Destroy, &[domain]));
        board.succeeds(1, system(Call::CapDelete, &[thread]));
    }
    let lines = board.host.output.borrow().iter().filter(|byte| **byte == b'\n').count();
    assert!((1..=20).contains(&lines), "{lines} reports");
}

#[test]
fn a_thread_without_a_handler_of_its_own() {
    let board: Board<DirectLazy<Host>> = boot(&[(1, 10)]);
    board.succeeds(1, system(Call::ThreadCreate, &[FREE, 0, 20, 0, ENDPOINT + 1]));
    board.does(1, system(Call::ThreadResume, &[FREE]));
    board.fault(FAULT);
    board.sees(1, Ok(()));
    board.succeeds(1, receive(ENDPOINT + 1));
    assert!(board.regs.get().info().is_fault());
}
