//! Servers inherit from those that send to them and call them, and all ways in which that ends.

use super::{effective, mark, wait, wake};
use crate::support::board::Board;
use crate::support::context::Regs;
use crate::support::host::Host;
use crate::support::scene::{
    DOMAIN, ENDPOINT, FREE, THREAD, boot, call, receive, reply_wait, send, system, timed,
};
use abi::call::{Call, NOTHING, REPLY, Timeout, exchange};
use abi::{Error, Info};
use kernel::object::thread::{State, flag};
use kernel::port::Port;
use kernel::system::{DirectLazy, Fastpath, IpcHeap, StrictEager, System};

const NOTE: Info = Info(0);

fn serve(endpoint: u64, serves: bool) -> Regs {
    system(Call::Serve, &[ENDPOINT + endpoint, serves.into()])
}

fn call_on(endpoint: u64) -> Regs {
    call(ENDPOINT + endpoint, NOTE)
}

fn call_until(endpoint: u64, until: u64) -> Regs {
    timed(ENDPOINT + endpoint, REPLY.into(), NOTE, Timeout::At, until)
}

fn receive_on(endpoint: u64) -> Regs {
    receive(ENDPOINT + endpoint)
}

fn sleep(until: u64) -> Regs {
    timed(NOTHING.into(), NOTHING.into(), NOTE, Timeout::At, until)
}

/// Threads of priorities 10, 20, 30, ...: the first two in one domain, each other one in its own.
fn threads<S: System<Port = Host>>(count: u8) -> Board<S> {
    let threads: Vec<(u32, u8)> = (1..=count).map(|n| (u32::from(n.max(2)) - 1, 10 * n)).collect();
    boot(&threads)
}

fn all<S: System<Port = Host>>(board: &Board<S>, count: u32) -> Vec<i16> {
    (1..=count).map(|thread| effective(board, thread)).collect()
}

/// All but thread 1 sleep; higher ones first.
#[track_caller]
fn only_the_first<S: System<Port = Host>>(board: &Board<S>, count: u32) {
    for thread in (2..=count).rev() {
        board.does(thread, sleep(1_000_000 * u64::from(thread)));
    }
}

/// Low 1 serves, middle 2 never waits, high 3 calls: with a server of that kind 2 does not run
/// before 3 does, without one it does.
fn bounded<S: System<Port = Host>>() {
    for serves in [true, false] {
        let board: Board<S> = threads(3);
        only_the_first(&board, 3);
        if serves {
            board.succeeds(1, serve(0, true));
        }
        board.does(1, receive_on(0));
        board.wait(3_000_000);
        // 2 is ready behind 3.
        board.does(3, call_on(0));
        let own = if serves { 30 } else { 10 };
        assert_eq!(effective(&board, 1), own);
        // A direct switch runs the server, up to the next tick.
        board.wait(20_000_000);
        assert_eq!(board.running(), Some(if serves { 1 } else { 2 }), "the middle waits");
        if serves {
            board.does(1, reply_wait(ENDPOINT, NOTE));
            board.sees(3, Ok(()));
            assert_eq!(effective(&board, 1), 10);
        }
    }
}

#[test]
fn a_clients_wait_is_bounded() {
    bounded::<DirectLazy<Host>>();
    bounded::<Fastpath<Host>>();
    bounded::<StrictEager<Host>>();
    bounded::<IpcHeap<Host>>();
}

/// While the server is busy, those that are queued lend; and what a message leaves behind them.
#[test]
fn queued_senders_lend() {
    let board: Board<Fastpath<Host>> = threads(4);
    only_the_first(&board, 4);
    board.succeeds(1, serve(0, true));
    board.wait(2_000_000);
    board.does(2, call_on(0));
    assert_eq!((board.running(), effective(&board, 1)), (Some(1), 20));
    board.does(1, receive_on(0));
    assert_eq!((board.running(), effective(&board, 1)), (Some(1), 20), "it is to answer");
    board.wait(1_000_000);
    board.does(3, call_on(0));
    assert_eq!(effective(&board, 1), 30);
    board.wait(1_000_000);
    board.does(4, call_on(0));
    assert_eq!(effective(&board, 1), 40);
    // 2 is answered, and the call of 3 taken: 4 waits still.
    for answered in [2, 3] {
        board.does(1, reply_wait(ENDPOINT, NOTE));
        assert_eq!((board.running(), all(&board, 4)), (Some(1), vec![40, 20, 30, 40]));
        assert_eq!(board.thread(answered).state.get(), State::Ready);
    }
    board.does(1, reply_wait(ENDPOINT, NOTE));
    board.sees(4, Ok(()));
    assert_eq!(all(&board, 4), [10, 20, 30, 40]);
}

/// Through a mutex, and on through a call: what is lent reaches the end of the chain, and leaves it
/// with the answer.
#[test]
fn chains_of_calls_and_mutexes() {
    let board: Board<Fastpath<Host>> = threads(4);
    only_the_first(&board, 4);
    assert!(mark(&board, 1, 0).is_none());
    board.wait(2_000_000);
    board.succeeds(2, serve(0, true));
    board.does(2, receive_on(0));
    board.wait(1_000_000);
    board.succeeds(3, serve(1, true));
    board.does(3, receive_on(1));
    board.wait(1_000_000);
    board.does(4, call_on(1));
    board.does(3, call_on(0));
    let expected = mark(&board, 2, 0).expect("1 owns it");
    board.does(2, wait(0, expected, None));
    assert_eq!((board.running(), all(&board, 4)), (Some(1), vec![40; 4]));
    board.does(1, wake(0));
    assert_eq!((board.running(), all(&board, 4)), (Some(2), vec![10, 40, 40, 40]));
    board.does(2, reply_wait(ENDPOINT, NOTE));
    assert_eq!((board.running(), all(&board, 4)), (Some(3), vec![10, 20, 40, 40]));
    board.does(3, reply_wait(ENDPOINT + 1, NOTE));
    assert_eq!((board.running(), all(&board, 4)), (Some(4), vec![10, 20, 30, 40]));
}

/// A change of priority of a thread that is queued, and of one that waits for its answer.
#[test]
fn priorities_change() {
    let board: Board<IpcHeap<Host>> = threads(4);
    only_the_first(&board, 4);
    board.succeeds(1, serve(0, true));
    board.wait(2_000_000);
    board.does(2, call_on(0));
    board.does(1, receive_on(0));
    board.wait(1_000_000);
    board.does(3, send(ENDPOINT, NOTE));
    let set = |thread, priority| system(Call::ThreadPriority, &[THREAD + thread, priority]);
    board.succeeds(1, set(2, 35));
    assert_eq!(effective(&board, 1), 35);
    board.succeeds(1, set(3, 50));
    assert_eq!(effective(&board, 1), 50);
    board.succeeds(1, set(3, 5));
    board.succeeds(1, set(2, 7));
    assert_eq!(effective(&board, 1), 10);
}

/// A timeout, a cancellation, an end of either side, a server that stops, and the end of its right.
#[test]
fn a_wait_ends_early() {
    type End = fn(&Board<Fastpath<Host>>);
    let ends: [(&str, End); 7] = [
        ("a timeout", |board| board.wait(30_000_000)),
        ("a cancellation", |board| {
            board.succeeds(1, system(Call::ThreadSuspend, &[THREAD + 3]));
            assert_eq!(effective(board, 1), 30, "a stopped thread waits still");
            let cancel = [THREAD + 3, 0, 0, 0, 0, exchange::CANCEL];
            board.does(1, system(Call::ThreadExchange, &cancel));
        }),
        ("the client's end", |board| board.succeeds(1, system(Call::Destroy, &[THREAD + 3]))),
        ("the end of its domain", |board| board.does(1, system(Call::Destroy, &[DOMAIN + 1]))),
        ("no server", |board| {
            board.does(1, serve(0, false));
            if board.thread(3).state.get() == State::Calling {
                assert_eq!(effective(board, 1), 30, "it is to answer still");
                board.does(1, send(REPLY.into(), NOTE));
            }
        }),
        ("the right to receive", |board| {
            board.does(1, system(Call::CapRevoke, &[ENDPOINT]));
            assert!(!board.thread(1).has(flag::SERVES), "it serves without a right");
            if board.thread(3).state.get() == State::Calling {
                board.does(1, send(REPLY.into(), NOTE));
            }
        }),
        ("the endpoint's end", |board| {
            board.does(1, system(Call::Destroy, &[ENDPOINT]));
            assert!(!board.thread(1).has(flag::SERVES), "it serves what is gone");
            if board.thread(3).state.get() == State::Calling {
                assert_eq!(effective(board, 1), 30, "it is to answer still");
                board.does(1, send(REPLY.into(), NOTE));
            }
        }),
    ];
    for (what, end) in ends {
        for received in [false, true] {
            let board: Board<Fastpath<Host>> = threads(3);
            board.does(3, sleep(3_000_000));
            board.does(2, sleep(1 << 40));
            board.succeeds(1, serve(0, true));
            if received {
                board.does(1, receive_on(0));
            }
            board.wait(3_000_000);
            board.does(3, call_until(0, 20_000_000));
            assert_eq!((board.running(), effective(&board, 1)), (Some(1), 30), "{what}");
            end(&board);
            assert_eq!(effective(&board, 1), 10, "{what}");
        }
    }
}

/// A saved reply right lends to the thread that has saved it; what that thread leaves behind lends
/// to none.
#[test]
fn saved_replies() {
    let board: Board<Fastpath<Host>> = threads(4);
    board.does(4, sleep(4_000_000));
    board.does(3, sleep(3_000_000));
    board.does(2, sleep(1 << 40));
    board.succeeds(1, serve(0, true));
    board.does(1, receive_on(0));
    board.wait(3_000_000);
    board.does(3, call_on(0));
    board.succeeds(1, system(Call::CapSaveReply, &[FREE]));
    assert_eq!(effective(&board, 1), 30);
    board.does(1, receive_on(0));
    board.wait(1_000_000);
    board.does(4, call_on(0));
    assert_eq!(effective(&board, 1), 40);
    board.does(1, send(REPLY.into(), NOTE));
    board.does(4, sleep(1 << 40));
    assert_eq!((board.running(), effective(&board, 1)), (Some(1), 30));
    board.does(1, send(FREE, NOTE));
    board.sees(3, Ok(()));
    assert_eq!(effective(&board, 1), 10);
    // The other way: the saver ends.
    board.does(3, sleep(board.host.now() + 1_000_000));
    board.does(1, receive_on(0));
    board.wait(1_000_000);
    board.does(3, call_on(0));
    board.succeeds(1, system(Call::CapSaveReply, &[FREE]));
    board.succeeds(1, system(Call::ThreadPriority, &[THREAD + 2, 50]));
    let wakes = [THREAD + 2, 0, 0, 0, 0, exchange::CANCEL];
    board.succeeds(1, system(Call::ThreadSuspend, &[THREAD + 2]));
    board.does(1, system(Call::ThreadExchange, &wakes));
    board.does(1, system(Call::ThreadResume, &[THREAD + 2]));
    board.succeeds(2, system(Call::Destroy, &[THREAD + 1]));
    assert_eq!(board.thread(3).state.get(), State::Calling, "its answer may come still");
    assert!(!board.thread(3).has(flag::LENDS));
    board.does(2, send(FREE, NOTE));
    assert_eq!(board.thread(3).state.get(), State::Ready);
}

/// A ring fails no message: the last wait is passed over.
#[test]
fn passed_over() {
    let board: Board<Fastpath<Host>> = threads(3);
    only_the_first(&board, 3);
    board.succeeds(1, serve(0, true));
    board.wait(2_000_000);
    board.succeeds(2, serve(1, true));
    board.does(2, call_on(0));
    board.does(1, timed(ENDPOINT + 1, REPLY.into(), NOTE, Timeout::At, 40_000_000));
    assert!(board.thread(2).has(flag::LENDS) && !board.thread(1).has(flag::LENDS));
    board.wait(1_000_000);
    board.does(3, send(ENDPOINT, NOTE));
    assert_eq!(all(&board, 3), [30, 20, 30]);
    board.wait(40_000_000);
    board.sees(1, Err(Error::Timeout));
}

/// A row of calls of any length lends, call by call.
#[test]
fn a_row_of_servers() {
    let own = [50, 45, 40, 35, 30, 25, 20, 18, 15, 12, 10];
    let board: Board<Fastpath<Host>> = boot(&own.map(|own| (1, own)));
    let count = own.len() as u32;
    for thread in 1..=count {
        board.succeeds(thread, serve(u64::from(thread) % 3, true));
        board.does(thread, receive_or_sleep(thread));
    }
    board.wait(2_000_000);
    for thread in 1..count {
        assert_eq!(board.running(), Some(thread));
        board.does(thread, call_on(u64::from(thread + 1) % 3));
    }
    assert_eq!(all(&board, count), vec![50; count as usize]);
}

fn receive_or_sleep(thread: u32) -> Regs {
    if thread == 1 { sleep(1_000_000) } else { receive_on(u64::from(thread) % 3) }
}
