//! What goes on while threads that lend in messages are between two waits, or end in steps.

use super::{cond_wait, effective, helpers_of, id, mark, wait};
use crate::support::board::Board;
use crate::support::host::{Event, Host};
use crate::support::scene::{
    ENDPOINT, FREE, NOTIFICATION, THREAD, boot, call, receive, send, send_receive, system, timed,
};
use abi::Info;
use abi::call::{Call, NOTHING, Timeout};
use abi::futex::HELPERS;
use kernel::object::thread::{State, flag};
use kernel::port::Port;
use kernel::system::{Fastpath, IpcHeap, IpcOrdered, System};

const NOTE: Info = Info(0);
const FOREVER: u64 = 1 << 40;

fn serve(serves: bool) -> crate::support::context::Regs {
    system(Call::Serve, &[ENDPOINT, serves.into()])
}

fn sleep(until: u64) -> crate::support::context::Regs {
    timed(NOTHING.into(), NOTHING.into(), NOTE, Timeout::At, until)
}

/// 2 serves an endpoint, sends on another one and goes on to receive: a chain. Meanwhile 3 is
/// queued where 2 serves. When 1 takes the message of 2, that takes the one of 3 and loses what 3
/// has lent, while it is in no queue.
fn chained<S: System<Port = Host>>() {
    let board: Board<S> = boot(&[(1, 10), (1, 20), (1, 30)]);
    board.does(3, sleep(2_000_000));
    board.succeeds(2, serve(true));
    board.does(2, send_receive(ENDPOINT + 1, ENDPOINT, NOTE));
    board.wait(2_000_000);
    board.does(3, send(ENDPOINT, NOTE));
    assert_eq!((board.running(), effective(&board, 2)), (Some(1), 30));
    board.call(receive(ENDPOINT + 1));
    board.settle();
    board.check_all();
    assert_eq!(effective(&board, 2), 20);
    board.does(3, sleep(FOREVER));
    board.does(2, sleep(FOREVER));
    // Each message comes once.
    board.call(receive(ENDPOINT + 1));
    board.settle();
    assert_eq!(board.thread(1).state.get(), State::Receiving, "a message came twice");
    assert_eq!(board.thread(2).state.get(), State::Receiving, "a sleeper was woken");
}

#[test]
fn a_chain_takes_what_is_lent_in_a_heap() {
    chained::<IpcHeap<Host>>();
}

#[test]
fn a_chain_takes_what_is_lent_in_order() {
    chained::<IpcOrdered<Host>>();
}

/// A call that makes room before it is queued is issued again, with no register that the call has
/// not saved: it may be of a domain that the thread had entered.
#[test]
fn a_call_that_is_issued_again_shows_nothing() {
    let board: Board<Fastpath<Host>> = boot(&[(1, 10), (1, 20)]);
    board.does(2, sleep(2_000_000));
    board.succeeds(1, serve(true));
    board.wait(2_000_000);
    board.host.interrupt_after(0);
    board.call(call(ENDPOINT, NOTE));
    let regs = board.regs.get();
    assert!(regs.again, "the call was not preempted");
    assert_eq!(regs.args, [ENDPOINT, 0, 0, 0, 0, 0]);
}

/// So is the receive half of an exchange without deadlines.
#[test]
fn a_receive_half_that_is_issued_again_shows_nothing() {
    let board: Board<Fastpath<Host>> = boot(&[(1, 10), (1, 20), (1, 30)]);
    board.does(3, receive(ENDPOINT + 1));
    board.does(2, timed(ENDPOINT, NOTHING.into(), NOTE, Timeout::At, FOREVER));
    board.host.interrupt_after(0);
    board.call(send_receive(ENDPOINT + 1, ENDPOINT, NOTE));
    let regs = board.thread(1).context.regs.get();
    assert!(regs.again, "the receive half was not preempted");
    assert_eq!(regs.args[2..], [0; 4]);
}

/// A server is ending while another thread takes the place of one that has stopped: senders lend
/// to the ending one still, and it counts.
#[test]
fn an_ending_server_counts() {
    let board: Board<Fastpath<Host>> =
        boot(&[(1, 100), (1, 90), (1, 80), (1, 70), (1, 60), (1, 50), (1, 40), (1, 10)]);
    board.does(1, receive(NOTIFICATION));
    for (thread, until) in [(2, FOREVER), (3, 1_000_000), (4, FOREVER)] {
        board.succeeds(thread, serve(true));
        board.does(thread, sleep(until));
    }
    assert!(mark(&board, 5, 0).is_none());
    board.does(5, send(ENDPOINT, NOTE));
    assert!(mark(&board, 6, 1).is_none());
    board.does(6, sleep(2_000_000));
    board.does(7, sleep(3_000_000));
    board.wait(1_000_000);
    board.succeeds(3, serve(false));
    board.does(3, sleep(FOREVER));
    for (waiter, mutex) in [(6, 0), (7, 1)] {
        board.wait(1_000_000);
        let expected = mark(&board, waiter, mutex).expect("another thread owns it");
        board.does(waiter, wait(mutex, expected, None));
    }
    assert!(board.thread(5).has(flag::LENDS), "the sender lends");
    board.host.raise(Event::Irq(3));
    board.call(system(Call::Destroy, &[THREAD + 4]));
    assert!(board.regs.get().again, "the end of the server was not preempted");
    board.settle();
    board.succeeds(1, serve(true));
    board.check_all();
}

/// A helper that is passed over calls a server, and is lent to again when another thread waits for
/// the condition: what waits there is too high for a chain that ends in a message. Chains of
/// clients fail no wait of the server.
#[test]
fn a_helper_that_calls_is_passed_over_still() {
    const CONDITION: usize = 10;
    let priorities = [100, 90, 80, 70, 60, 50, 40, 30, 20, 15, 10];
    let board: Board<Fastpath<Host>> = boot(&priorities.map(|priority| (1, priority)));
    let [first, helper, server, last, other] = [1, 2, 9, 10, 11];
    let now = board.host.now();
    let none = [0; HELPERS];
    assert!(mark(&board, first, 1).is_none());
    board.does(first, sleep(now + 1_000_000));
    // The helper waits for the first waiter for a while; and six threads do so, in a row.
    let expected = mark(&board, helper, 1).expect("another thread owns it");
    board.does(helper, wait(1, expected, Some(now + 2_000_000)));
    for (mutex, waiter) in (1..).zip(3..server) {
        assert!(mark(&board, waiter, mutex + 1).is_none());
        let expected = mark(&board, waiter, mutex).expect("another thread owns it");
        board.does(waiter, wait(mutex, expected, None));
    }
    board.succeeds(server, serve(true));
    board.does(server, receive(ENDPOINT));
    board.does(last, sleep(now + 3_000_000));
    assert!(mark(&board, other, 9).is_none());
    board.does(other, sleep(FOREVER));
    board.wait(1_000_000);
    let mut helpers = none;
    helpers[0] = id(&board, helper);
    board.does(first, cond_wait(CONDITION, 0, 0, None, helpers));
    assert_eq!(helpers_of(&board, first), [(helper, false)], "a ring");
    board.wait(1_000_000);
    board.does(helper, call(ENDPOINT, NOTE));
    assert!(board.thread(helper).has(flag::LENDS), "the caller lends");
    board.does(server, sleep(now + 4_000_000));
    board.wait(1_000_000);
    board.does(last, cond_wait(CONDITION, 0, 0, None, none));
    board.wait(1_000_000);
    let expected = mark(&board, server, 9).expect("another thread owns it");
    board.does(server, wait(9, expected, None));
    assert_eq!(board.thread(server).state.get(), State::Waiting, "the server's wait fails");
    board.check_all();
}

/// Threads of one domain wait in a row for one that has called a server, which waits for another
/// server by the call of a more urgent client. Where the chain gets too long, the caller of their
/// own is passed over: that the first server lends to the second one is not theirs to end.
#[test]
fn a_chain_of_clients_cuts_no_other_client_off() {
    const MS: u64 = 1_000_000;
    let [first, second, third, caller, hog, inner, outer, client] = [1, 2, 3, 4, 5, 6, 7, 8];
    let domains = [1, 1, 1, 1, 1, 3, 2, 4];
    let priorities = [5, 6, 7, 8, 20, 4, 9, 50];
    let threads: Vec<(u32, u8)> = domains.into_iter().zip(priorities).collect();
    let board: Board<Fastpath<Host>> = boot(&threads);
    let now = board.host.now();
    board.does(client, sleep(now + 10 * MS));
    board.does(hog, sleep(now + 12 * MS));
    board.succeeds(outer, serve(true));
    board.does(outer, receive(ENDPOINT));
    assert!(mark(&board, caller, 2).is_none());
    board.does(caller, call(ENDPOINT, NOTE));
    board.succeeds(outer, system(Call::CapSaveReply, &[FREE]));
    board.does(outer, receive(ENDPOINT));
    assert!(mark(&board, third, 1).is_none());
    board.does(third, sleep(now + 11 * MS));
    assert!(mark(&board, second, 0).is_none());
    let expected = mark(&board, second, 1).expect("another thread owns it");
    board.does(second, wait(1, expected, None));
    let expected = mark(&board, first, 0).expect("another thread owns it");
    board.does(first, wait(0, expected, None));
    board.succeeds(inner, system(Call::Serve, &[ENDPOINT + 1, 1]));
    board.does(inner, receive(ENDPOINT + 1));
    board.wait(10 * MS);
    board.does(client, call(ENDPOINT, NOTE));
    board.does(outer, call(ENDPOINT + 1, NOTE));
    assert_eq!((board.running(), effective(&board, inner)), (Some(inner), 50));
    board.does(inner, sleep(now + 13 * MS));
    board.wait(MS);
    let expected = mark(&board, third, 2).expect("another thread owns it");
    board.does(third, wait(2, expected, None));
    board.wait(MS);
    assert_eq!(board.running(), Some(hog));
    assert_eq!(effective(&board, inner), 50, "the client's priority is cut off");
    board.wait(MS);
    assert_eq!(board.running(), Some(inner), "the client waits for a thread of lower priority");
}
