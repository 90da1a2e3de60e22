//! Who pays, where a scheduling tree orders threads: a thread that owes an answer runs on the time
//! of its caller, as long as it owes it.

use crate::support::archive::{SLICE, TICK};
use crate::support::board::Board;
use crate::support::host::{Event, Host};
use crate::support::scene::{
    ENDPOINT, FREE, INTERRUPT, LEAF, NOTIFICATION, THREAD, boot, call, receive, reply_wait, send,
    system, timed,
};
use abi::call::{Call, NOTHING, REPLY, Setting, Timeout, exchange};
use abi::reservation::Share;
use abi::{Error, Info};
use kernel::port::Port;
use kernel::system::Tree;
use policies::tree::NodeId;

const MESSAGE: Info = Info::new(0, 0);
const SERVER: u32 = 1;
const MEDIUM: u32 = 2;
const CLIENT: u32 = 3;
/// Far below the client's deadline.
const LONG: u64 = 50 * TICK;
/// The node of the scene's leaf: behind both roots.
const PAYS: NodeId = NodeId(2);

/// A server below a thread below a client. The server waits for requests, the others for signals:
/// the client on the first notification.
fn waiting() -> Board<Tree<Host>> {
    let board = boot(&[(1, 50), (1, 100), (1, 200), (1, 60)]);
    board.does(CLIENT, receive(NOTIFICATION));
    board.does(MEDIUM, receive(NOTIFICATION + 1));
    board.does(4, receive(ENDPOINT + 1));
    board.does(SERVER, receive(ENDPOINT));
    board
}

/// The same; then the client has called the server and waits up to a deadline, and the thread
/// between them is ready.
fn serving() -> Board<Tree<Host>> {
    let board = waiting();
    board.host.raise(Event::Irq(3));
    board.settle();
    let until = board.host.now() + LONG;
    board.does(CLIENT, timed(ENDPOINT, REPLY.into(), MESSAGE, Timeout::At, until));
    board.succeeds(SERVER, system(Call::Signal, &[NOTIFICATION + 1]));
    board
}

/// As [`serving`], but the server was not there when the client called: it has taken the call from
/// the queue.
fn serving_queued() -> Board<Tree<Host>> {
    let board = boot(&[(1, 50), (1, 100), (1, 200), (1, 60)]);
    let until = board.host.now() + LONG;
    board.does(CLIENT, timed(ENDPOINT, REPLY.into(), MESSAGE, Timeout::At, until));
    board.does(MEDIUM, receive(NOTIFICATION + 1));
    board.does(4, receive(ENDPOINT + 1));
    board.succeeds(SERVER, receive(ENDPOINT));
    board.succeeds(SERVER, system(Call::Signal, &[NOTIFICATION + 1]));
    board
}

/// Both: how the call came to the server makes no difference.
const SERVING: [fn() -> Board<Tree<Host>>; 2] = [serving, serving_queued];

#[test]
fn a_server_runs_on_its_callers_time() {
    SERVING.iter().for_each(|serving| runs_on_its_callers_time(&serving()));
}

fn runs_on_its_callers_time(board: &Board<Tree<Host>>) {
    board.wait(TICK);
    assert_eq!(board.running(), Some(SERVER), "on the client's time");
    board.does(SERVER, reply_wait(ENDPOINT, MESSAGE));
    board.sees(CLIENT, Ok(()));
    board.does(CLIENT, receive(NOTIFICATION));
    assert_eq!(board.running(), Some(MEDIUM));
}

/// What a client pays for ends when its call does, in each way.
#[test]
fn a_donation_ends_with_the_call() {
    SERVING.into_iter().for_each(ends_with_the_call);
}

fn ends_with_the_call(serving: fn() -> Board<Tree<Host>>) {
    let board = serving();
    board.wait(LONG);
    board.sees_in_receive(CLIENT, Error::Timeout);
    board.does(CLIENT, receive(NOTIFICATION));
    assert_eq!(board.running(), Some(MEDIUM), "behind a timeout");

    let board = serving();
    board.succeeds(SERVER, system(Call::ThreadSuspend, &[THREAD + 3]));
    board.does(SERVER, system(Call::ThreadExchange, &[THREAD + 3, 0, 0, 0, 0, exchange::CANCEL]));
    assert_eq!(board.running(), Some(MEDIUM), "behind a cancellation");

    for (end, args, why) in [
        (Call::Destroy, [THREAD + 3, 0], "the client is destroyed"),
        (Call::CapSaveReply, [FREE, 0], "the right to answer is put away"),
        (Call::ThreadPriority, [THREAD + 3, 60], "the client becomes less important"),
    ] {
        let board = serving();
        board.does(SERVER, system(end, &args));
        assert_eq!(board.running(), Some(MEDIUM), "{why}");
    }
}

/// A server that takes a call while it owes another answer gives the earlier caller up: it has the
/// time of the later one alone.
#[test]
fn a_later_call_from_the_queue_pays_instead() {
    let board = serving();
    board.host.raise(Event::Irq(3));
    board.settle();
    board.wait(TICK);
    assert_eq!(board.running(), Some(SERVER));
    // The thread between them calls as well, as soon as the server sleeps.
    let until = board.host.now() + TICK;
    board.does(SERVER, timed(NOTHING.into(), NOTHING.into(), MESSAGE, Timeout::At, until));
    board.does(MEDIUM, call(ENDPOINT, MESSAGE));
    board.wait(TICK);
    board.does(SERVER, receive(ENDPOINT));
    board.sees_in_receive(CLIENT, Error::Abandoned);
    board.does(CLIENT, receive(NOTIFICATION + 1));
    assert_eq!(board.running(), Some(SERVER), "it has the time of the thread between them");
    board.does(SERVER, reply_wait(ENDPOINT, MESSAGE));
    board.sees(MEDIUM, Ok(()));
}

#[test]
fn an_answer_without_a_wait_ends_it() {
    SERVING.iter().for_each(|serving| ends_without_a_wait(&serving()));
}

fn ends_without_a_wait(board: &Board<Tree<Host>>) {
    board.does(SERVER, send(REPLY.into(), MESSAGE));
    board.sees(CLIENT, Ok(()));
    board.does(CLIENT, receive(NOTIFICATION));
    assert_eq!(board.running(), Some(MEDIUM));
}

/// A server of the server runs on the client's time, until the client gives up.
#[test]
fn a_donation_is_passed_on() {
    SERVING.iter().for_each(|serving| is_passed_on(&serving()));
}

fn is_passed_on(board: &Board<Tree<Host>>) {
    board.does(SERVER, call(ENDPOINT + 1, MESSAGE));
    assert_eq!(board.running(), Some(4));
    board.wait(LONG - TICK);
    assert_eq!(board.running(), Some(4), "on the client's time");
    board.wait(TICK);
    board.sees_in_receive(CLIENT, Error::Timeout);
    board.does(CLIENT, receive(NOTIFICATION));
    assert_eq!(board.running(), Some(MEDIUM), "it has the server's time alone");
    board.does(MEDIUM, receive(NOTIFICATION + 1));
    board.does(4, reply_wait(ENDPOINT + 1, MESSAGE));
    board.sees(SERVER, Ok(()));
}

/// The client's reservation is charged for what the server does from when it takes the call, and
/// for nothing of what it does while the call waits.
#[test]
fn a_queued_calls_reservation_is_charged_from_when_it_is_taken() {
    let board: Board<Tree<Host>> = boot(&[(1, 50), (1, 100), (1, 200)]);
    board.succeeds(CLIENT, system(Call::Reserve, &[THREAD + u64::from(CLIENT), LEAF]));
    let service = || board.machine.cpu.trees.with(|tree| tree.service(PAYS));
    board.does(CLIENT, call(ENDPOINT, MESSAGE));
    board.does(MEDIUM, receive(NOTIFICATION + 1));
    let before = service();
    board.wait(3 * TICK);
    board.succeeds(SERVER, receive(ENDPOINT));
    assert_eq!(service(), before, "the call waits");
    board.succeeds(SERVER, system(Call::Signal, &[NOTIFICATION + 1]));
    board.wait(2 * TICK);
    board.does(SERVER, reply_wait(ENDPOINT, MESSAGE));
    board.sees(CLIENT, Ok(()));
    board.does(CLIENT, receive(NOTIFICATION));
    let paid = service().zip(before).map_or(0, |(now, before)| now - before);
    assert!((2 * TICK..3 * TICK).contains(&paid), "{paid} ns");
    assert_eq!(board.running(), Some(MEDIUM));
}

/// A server that is more important than its client stays so: others wait for it too.
#[test]
fn a_lower_client_does_not_hold_its_server_down() {
    let board: Board<Tree<Host>> = boot(&[(1, 150), (1, 100), (1, 50)]);
    board.does(SERVER, receive(ENDPOINT));
    board.does(MEDIUM, receive(NOTIFICATION + 1));
    board.does(CLIENT, call(ENDPOINT, MESSAGE));
    board.succeeds(SERVER, system(Call::Signal, &[NOTIFICATION + 1]));
    board.wait(TICK);
    assert_eq!(board.running(), Some(SERVER));
}

/// A server with a reservation uses nothing else, whoever calls it.
#[test]
fn a_server_with_a_reservation_keeps_to_it() {
    let board = waiting();
    board.host.raise(Event::Irq(3));
    board.settle();
    let (code, words) = Share::Priority(20).encode();
    let below = [LEAF, Setting::Share as u64, code];
    board.succeeds(CLIENT, system(Call::ReservationSet, &below).with_words(words));
    board.succeeds(CLIENT, system(Call::Reserve, &[THREAD + u64::from(SERVER), LEAF]));
    board.does(CLIENT, call(ENDPOINT, MESSAGE));
    board.does(SERVER, system(Call::Signal, &[NOTIFICATION + 1]));
    assert_eq!(board.running(), Some(MEDIUM), "the server's reservation is below it");
}

/// A message to a thread that has the same priority as the caller is no answer.
#[test]
fn an_equal_of_the_caller_does_not_end_it() {
    let board: Board<Tree<Host>> = boot(&[(1, 50), (1, 100), (1, 200), (1, 200)]);
    board.does(CLIENT, receive(NOTIFICATION));
    board.does(4, receive(ENDPOINT + 1));
    board.does(MEDIUM, receive(NOTIFICATION + 1));
    board.does(SERVER, receive(ENDPOINT));
    board.host.raise(Event::Irq(3));
    board.settle();
    board.does(CLIENT, call(ENDPOINT, MESSAGE));
    board.succeeds(SERVER, system(Call::Signal, &[NOTIFICATION + 1]));
    board.succeeds(SERVER, send(ENDPOINT + 1, MESSAGE));
    board.wait(SLICE * TICK);
    assert_eq!(board.running(), Some(4), "equals share the time");
    board.does(4, receive(ENDPOINT + 1));
    assert_eq!(board.running(), Some(SERVER), "on the client's time");
}

#[test]
fn equals_have_a_time_slice_each() {
    let board: Board<Tree<Host>> = boot(&[(1, 10), (1, 10), (1, 10), (1, 20)]);
    board.does(4, receive(NOTIFICATION));
    let mut order = Vec::new();
    for _ in 0..6 {
        order.push(board.running().expect("one is ready"));
        // Nothing that a more important thread does begins a slice anew.
        board.wait(SLICE * TICK / 2);
        board.host.raise(Event::Irq(3));
        board.settle();
        board.succeeds(4, system(Call::InterruptAck, &[INTERRUPT]));
        board.does(4, receive(NOTIFICATION));
        board.wait(SLICE * TICK - SLICE * TICK / 2 - 1);
        assert_eq!(board.running(), order.last().copied(), "it has its slice");
        board.wait(1);
    }
    assert_eq!(order, [1, 2, 3, 1, 2, 3]);
}

/// One that calls another of its priority does not get more than its slice by that.
#[test]
fn a_call_goes_on_with_the_callers_slice() {
    let board: Board<Tree<Host>> = boot(&[(1, 10), (1, 10), (1, 10)]);
    board.does(1, receive(ENDPOINT));
    let mut rounds = 0;
    while board.running() != Some(3) {
        rounds += 1;
        assert!(rounds < 100, "the third waits for ever");
        board.does(2, call(ENDPOINT, MESSAGE));
        board.wait(TICK / 4);
        if board.running() == Some(1) {
            board.does(1, reply_wait(ENDPOINT, MESSAGE));
        }
    }
    assert_eq!(rounds, 4 * SLICE);
}

#[test]
fn a_lone_busy_thread_is_not_interrupted() {
    let board: Board<Tree<Host>> = boot(&[(1, 10), (1, 20)]);
    board.does(2, receive(NOTIFICATION));
    assert_eq!((board.running(), board.host.armed()), (Some(1), None));
    board.host.raise(Event::Irq(3));
    board.settle();
    assert_eq!(board.running(), Some(2));
    board.does(2, receive(NOTIFICATION));
    assert_eq!((board.running(), board.host.armed()), (Some(1), None));
}
