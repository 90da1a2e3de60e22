//! Messages: long ones, capabilities, self-sends, reply rights.

use crate::support::board::Board;
use crate::support::context::Regs;
use crate::support::host::Host;
use crate::support::scene::{
    ATTACHED, CONSOLE_SLOT, DOMAIN, ENDPOINT, FREE, NOTIFICATION, boot, call, receive, reply_wait,
    send, send_receive, system, timed,
};
use abi::call::{Call, NOTHING, REPLY, Timeout};
use abi::message::{BUFFER_RECEIVE_SLOT, BUFFER_SEND_RIGHTS, BUFFER_SEND_SLOT, MAX_WORDS};
use abi::{Error, Info, Kind, Rights};
use kernel::system::{DirectLazy, Fastpath, System};

const SHORT: Info = Info::new(1, 4);

/// Thread 2 of another domain waits for a message; thread 1 runs.
fn pair<S: System<Port = Host>>() -> Board<S> {
    let board = boot(&[(1, 10), (2, 20)]);
    board.does(2, receive(ENDPOINT));
    board
}

fn long<S: System<Port = Host>>(words: usize) {
    let board = pair::<S>();
    for word in 0..abi::message::BUFFER_WORDS {
        board.write(1, word, 1_000 + word as u64);
        board.write(2, word, 7);
    }
    let info = Info::new(3, words);
    board.does(1, call(ENDPOINT, info).with_words([10, 11, 12, 13]));
    board.sees(2, Ok(()));
    assert_eq!((board.regs.get().info(), board.regs.get().words), (info, [10, 11, 12, 13]));
    for word in 0..abi::message::BUFFER_WORDS {
        let sent = (4..words).contains(&word);
        let expected = if sent { 1_000 + word as u64 } else { 7 };
        assert_eq!(board.read(2, word), expected, "word {word} of a message of {words}");
    }
    // And back.
    board.write(2, 5, 99);
    board.does(2, reply_wait(ENDPOINT, Info::new(4, words)));
    board.sees(1, Ok(()));
    assert_eq!(board.read(1, 5), if words > 5 { 99 } else { 1_005 });
}

#[test]
fn messages_of_any_length() {
    for words in [0, 1, 4, 5, 6, 64, 127, 128] {
        long::<DirectLazy<Host>>(words);
        long::<Fastpath<Host>>(words);
    }
    let board = pair::<Fastpath<Host>>();
    board.fails(1, call(ENDPOINT, Info::new(0, MAX_WORDS + 1)), Error::TooLong);
    board.fails(1, send(ENDPOINT, Info::new(0, 255)), Error::TooLong);
}

#[test]
fn a_forged_descriptor_carries_no_marks_of_the_kernel() {
    let board = pair::<Fastpath<Host>>();
    let forged = Info(SHORT.0 | Info::FAULT | Info::NOTIFICATION | 0xffff_f800);
    board.does(1, call(ENDPOINT, forged));
    board.sees(2, Ok(()));
    assert_eq!(board.regs.get().info(), SHORT);
}

/// Thread 1 offers a capability, thread 2 accepts it in `to`.
fn offer(board: &Board<DirectLazy<Host>>, from: u64, rights: Rights, to: u64) -> Regs {
    board.write(1, BUFFER_SEND_SLOT, from);
    board.write(1, BUFFER_SEND_RIGHTS, u64::from(rights.0));
    board.write(2, BUFFER_RECEIVE_SLOT, to);
    send(ENDPOINT, SHORT.with_capability())
}

fn inspected(kind: Kind, rights: Rights) -> u64 {
    kind as u64 | u64::from(rights.0) << 8
}

#[test]
fn a_capability_arrives_with_the_rights_that_were_offered() {
    let board = pair();
    let rights = Rights::SEND.or(Rights::COPY);
    board.does(1, offer(&board, NOTIFICATION, rights, FREE + 3));
    board.sees(2, Ok(()));
    assert!(board.regs.get().info().has_capability());
    board.succeeds(2, system(Call::CapInspect, &[FREE + 3]));
    assert_eq!(board.regs.get().badge(), inspected(Kind::Notification, rights));
    // What is passed on again cannot regain a right.
    board.succeeds(2, system(Call::CapCopy, &[FREE + 3, FREE + 4, 63, 0]));
    board.succeeds(2, system(Call::CapInspect, &[FREE + 4]));
    assert_eq!(board.regs.get().badge(), inspected(Kind::Notification, rights));
}

#[test]
fn a_capability_that_cannot_be_sent_or_taken() {
    let board = pair();
    let all = Rights::ALL;
    board.fails(1, offer(&board, NOTIFICATION, all, CONSOLE_SLOT), Error::NotTaken);
    board.fails(1, offer(&board, NOTIFICATION, all, 0), Error::NotTaken);
    board.fails(1, offer(&board, NOTIFICATION, all, 1 << 40), Error::NotTaken);
    board.fails(1, offer(&board, FREE, all, FREE), Error::NoCapability);
    board.fails(1, offer(&board, 1 << 40, all, FREE), Error::NoCapability);
    let weak = Rights::ALL.0 & !Rights::COPY.0;
    board.succeeds(1, system(Call::CapCopy, &[NOTIFICATION, FREE, weak.into(), 0]));
    board.fails(1, offer(&board, FREE, all, FREE), Error::MissingRight);
    let send_only = system(Call::CapCopy, &[ENDPOINT, FREE + 1, Rights::SEND.0.into(), 0]);
    board.succeeds(1, send_only);
    board.write(1, BUFFER_SEND_SLOT, NOTIFICATION);
    board.fails(1, send(FREE + 1, SHORT.with_capability()), Error::MissingRight);
}

#[test]
fn an_answer_that_its_caller_cannot_take_ends_the_call() {
    let board: Board<DirectLazy<Host>> = boot(&[(1, 10), (2, 20)]);
    board.does(2, receive(ENDPOINT));
    board.does(1, call(ENDPOINT, SHORT));
    board.write(2, BUFFER_SEND_SLOT, NOTIFICATION);
    board.write(2, BUFFER_SEND_RIGHTS, Rights::ALL.0.into());
    // A reply alone fails and may be tried again; the server's loop goes on.
    board.fails(2, send(REPLY.into(), SHORT.with_capability()), Error::NotTaken);
    board.does(2, reply_wait(ENDPOINT, SHORT.with_capability()));
    board.sees_in_receive(1, Error::NotTaken);
    board.does(1, call(ENDPOINT, SHORT));
    board.succeeds(2, system(Call::CapSaveReply, &[FREE]));
    board.does(2, send_receive(FREE, ENDPOINT, SHORT.with_capability()));
    board.sees_in_receive(1, Error::NotTaken);
    board.does(1, call(ENDPOINT, SHORT));
    board.succeeds(2, system(Call::CapSaveReply, &[FREE]));
}

#[test]
fn a_queued_message_that_the_receiver_cannot_take_goes_back() {
    let board: Board<DirectLazy<Host>> = boot(&[(1, 20), (2, 10)]);
    let message = offer(&board, NOTIFICATION, Rights::ALL, 0);
    board.does(1, message);
    board.does(2, timed(NOTHING.into(), ENDPOINT, SHORT, Timeout::Zero, 0));
    board.sees(1, Err(Error::NotTaken));
    assert!(!board.regs.get().status().in_receive());
    board.does(1, receive(NOTIFICATION));
    board.sees_in_receive(2, Error::Timeout);
}

#[test]
fn a_thread_does_not_wait_for_itself() {
    let board: Board<DirectLazy<Host>> = boot(&[(1, 10), (1, 20)]);
    board.fails(2, send_receive(ENDPOINT, ENDPOINT, SHORT), Error::SelfSend);
    board.succeeds(2, system(Call::CapCopy, &[ENDPOINT, FREE, 63, 5]));
    board.fails(2, send_receive(FREE, ENDPOINT, SHORT), Error::SelfSend);
    // Also where somebody else would receive.
    board.does(2, receive(ENDPOINT));
    board.fails(1, send_receive(ENDPOINT, FREE, SHORT), Error::SelfSend);
}

#[test]
fn a_second_call_ends_the_first_unanswered_one() {
    let board: Board<Fastpath<Host>> = boot(&[(1, 10), (1, 11), (1, 30)]);
    board.does(3, receive(ENDPOINT));
    board.does(2, call(ENDPOINT, SHORT));
    board.does(3, receive(ENDPOINT));
    board.does(1, call(ENDPOINT, SHORT));
    // Thread 2 is told, and runs once thread 3 and thread 1 wait.
    board.does(3, reply_wait(NOTIFICATION, SHORT));
    board.sees(1, Ok(()));
    board.does(1, receive(NOTIFICATION));
    board.sees_in_receive(2, Error::Abandoned);
}

#[test]
fn a_saved_reply_right_answers_one_call_once() {
    let board: Board<DirectLazy<Host>> = boot(&[(1, 10), (1, 30)]);
    board.does(2, receive(ENDPOINT));
    board.does(1, call(ENDPOINT, SHORT));
    board.fails(2, system(Call::CapSaveReply, &[CONSOLE_SLOT]), Error::SlotOccupied);
    board.succeeds(2, system(Call::CapSaveReply, &[FREE]));
    board.fails(2, system(Call::CapCopy, &[FREE, FREE + 1, 63, 0]), Error::MissingRight);
    board.fails(2, call(FREE, SHORT), Error::WrongKind);
    board.succeeds(2, send(FREE, Info::new(9, 1)));
    board.fails(2, send(FREE, SHORT), Error::NoCapability);
    board.does(2, receive(ENDPOINT));
    board.sees(1, Ok(()));
    assert_eq!(board.regs.get().info(), Info::new(9, 1));
    board.does(1, call(ENDPOINT, SHORT));
    board.succeeds(2, system(Call::CapSaveReply, &[FREE]));
    // Dropping it is an answer too.
    board.succeeds(2, system(Call::CapDelete, &[FREE]));
    board.does(2, receive(ENDPOINT));
    board.sees_in_receive(1, Error::Abandoned);
}

#[test]
fn signals_come_through_the_endpoint_that_they_are_attached_to() {
    let board: Board<DirectLazy<Host>> = boot(&[(1, 10), (2, 20)]);
    board.does(2, receive(ATTACHED));
    board.does(1, system(Call::Signal, &[NOTIFICATION + 1]));
    board.sees(2, Ok(()));
    assert!(board.regs.get().info().is_notification());
    // Pending signals come before messages, and all at once.
    board.succeeds(2, system(Call::CapCopy, &[NOTIFICATION + 1, FREE, 63, 4]));
    board.succeeds(2, system(Call::Signal, &[FREE]));
    board.succeeds(2, system(Call::Signal, &[NOTIFICATION + 1]));
    board.succeeds(2, receive(ATTACHED));
    assert_eq!((board.regs.get().badge(), board.regs.get().info().is_notification()), (5, true));
    board.does(2, receive(ATTACHED));
    // Revoking all other capabilities to the two does not untie them.
    board.succeeds(1, system(Call::CapRevoke, &[ATTACHED]));
    board.succeeds(1, system(Call::CapRevoke, &[NOTIFICATION + 1]));
    board.does(1, system(Call::Signal, &[NOTIFICATION + 1]));
    board.sees(2, Ok(()));
    assert!(board.regs.get().info().is_notification());
}

#[test]
fn stale_and_weak_capabilities_are_refused_on_the_fast_path_too() {
    let board: Board<Fastpath<Host>> = boot(&[(1, 10), (2, 20)]);
    board.does(2, receive(ENDPOINT));
    let rights = u64::from(Rights::RECEIVE.or(Rights::COPY).0);
    board.succeeds(1, system(Call::CapCopy, &[ENDPOINT, FREE, rights, 0]));
    board.fails(1, call(FREE, SHORT), Error::MissingRight);
    board.succeeds(1, system(Call::CapCopy, &[ENDPOINT, FREE + 1, 63, 0]));
    board.succeeds(1, system(Call::CapRevoke, &[ENDPOINT]));
    board.fails(1, call(FREE + 1, SHORT), Error::Stale);
    board.fails(1, call(FREE, SHORT), Error::Stale);
    for (slot, error) in [
        (0, Error::NoCapability),
        (10_000, Error::NoCapability),
        (u64::MAX, Error::NoCapability),
        (NOTIFICATION, Error::WrongKind),
        (DOMAIN, Error::WrongKind),
    ] {
        board.fails(1, call(slot, SHORT), error);
    }
    board.does(1, call(ENDPOINT, SHORT));
    // The server's capability is stale by now: it may reply, not wait.
    board.fails(2, reply_wait(ENDPOINT, SHORT), Error::Stale);
    board.succeeds(2, send(REPLY.into(), SHORT));
    board.does(2, receive(NOTIFICATION));
    board.sees(1, Ok(()));
}
