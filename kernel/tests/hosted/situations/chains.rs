//! Chained transfers (S0-41): threads that each send to their predecessor, then receive from
//! their successor, so that one receive completes them all.

use crate::support::board::Board;
use crate::support::host::{Event, Host};
use crate::support::scene::{
    ENDPOINT, FREE, INTERRUPT, NOTIFICATION, boot, receive, send_receive, system,
};
use abi::call::Call;
use abi::{Error, Info};
use kernel::object::thread::State;
use kernel::port::Port;
use kernel::system::DirectLazy;

/// Links of the chain: threads 2 to 7, each of a higher priority than the one before.
const LINKS: u32 = 6;
/// The handler of interrupts.
const HANDLER: u32 = 8;

fn endpoint(link: u32) -> u64 {
    FREE + u64::from(link)
}

fn message(link: u32) -> Info {
    Info::new(link, 1)
}

/// Each link has sent to the one before and waits; thread 1 runs, and whoever receives on the
/// first link's endpoint pulls the chain.
fn chain() -> Board<DirectLazy<Host>> {
    let mut threads = vec![(1, 10)];
    threads.extend((1..=LINKS).map(|link| (1, 20 + link as u8)));
    threads.push((1, 100));
    let board = boot(&threads);
    for link in 1..=LINKS + 1 {
        board.succeeds(HANDLER, system(Call::EndpointCreate, &[endpoint(link), 0]));
    }
    board.does(HANDLER, receive(NOTIFICATION));
    for link in (1..=LINKS).rev() {
        let (before, after) = (endpoint(link), endpoint(link + 1));
        let regs = send_receive(before, after, message(link)).with_words([link.into(), 0, 0, 0]);
        board.does(link + 1, regs);
    }
    assert_eq!(board.running(), Some(1));
    board
}

fn states(board: &Board<DirectLazy<Host>>) -> Vec<State> {
    (2..2 + LINKS).map(|thread| board.thread(thread).state.get()).collect()
}

/// Each link, when it runs, has got its successor's message; the last one waits.
fn all_served(board: &Board<DirectLazy<Host>>) {
    for link in (1..LINKS).rev() {
        board.sees(link + 1, Ok(()));
        assert_eq!(board.regs.get().info(), message(link + 1));
        assert_eq!(board.regs.get().words[0], u64::from(link + 1));
        board.does(link + 1, receive(NOTIFICATION + 1));
    }
    assert_eq!(board.thread(LINKS + 1).state.get(), State::Receiving);
}

#[test]
fn one_receive_completes_all_transfers() {
    let board = chain();
    let polls = board.host.polls.get();
    board.does(1, receive(endpoint(1)));
    // A poll before each receive half: one after each transfer.
    assert_eq!(board.host.polls.get() - polls, u64::from(LINKS));
    assert!(states(&board).iter().all(|state| *state != State::Sending));
    all_served(&board);
    board.sees(1, Ok(()));
    assert_eq!(board.regs.get().info(), message(1));
}

#[test]
fn an_interrupt_abandons_the_chain_and_it_goes_on_later() {
    let board = chain();
    board.host.raise(Event::Irq(3));
    board.call(receive(endpoint(1)));
    board.check();
    // One transfer was made; the others wait.
    assert_eq!(states(&board)[0], State::Ready);
    assert!(states(&board)[1..].iter().all(|state| *state == State::Sending));
    board.interrupts();
    board.sees(HANDLER, Ok(()));
    assert_eq!(board.regs.get().badge(), 16);
    board.succeeds(HANDLER, system(Call::InterruptAck, &[INTERRUPT]));
    board.does(HANDLER, receive(NOTIFICATION));
    all_served(&board);
    board.sees(1, Ok(()));
}

#[test]
fn a_chain_that_is_interrupted_after_each_transfer_still_completes() {
    let board = chain();
    board.host.raise(Event::Spurious);
    board.call(receive(endpoint(1)));
    for transfers in 1..LINKS as usize {
        let sending = states(&board).iter().filter(|state| **state == State::Sending).count();
        assert_eq!(sending, LINKS as usize - transfers);
        board.check();
        board.interrupts();
        let at = board.thread(transfers as u32 + 1).context.at.get().0;
        board.host.raise(Event::Spurious);
        board.reissue();
        // It was at its system call, and is past it again.
        assert_eq!(board.thread(transfers as u32 + 1).context.at.get().0, at + 2);
    }
    board.settle();
    board.check();
    all_served(&board);
    board.sees(1, Ok(()));
}

#[test]
fn what_is_left_of_an_abandoned_chain_fails_in_the_receive_half() {
    let board = chain();
    board.host.raise(Event::Irq(3));
    board.call(receive(endpoint(1)));
    board.interrupts();
    board.succeeds(HANDLER, system(Call::CapDelete, &[endpoint(2)]));
    board.does(HANDLER, receive(NOTIFICATION));
    // Its message was taken, so only the receive half can fail.
    board.sees_in_receive(2, Error::NoCapability);
    assert!(board.host.waiting().is_none());
}

#[test]
fn a_link_whose_own_receive_half_is_wrong() {
    let board: Board<DirectLazy<Host>> = boot(&[(1, 10), (2, 20), (2, 30)]);
    board.succeeds(3, system(Call::CapCopy, &[ENDPOINT + 1, FREE, 63, 0]));
    board.does(3, receive(NOTIFICATION));
    board.does(2, send_receive(ENDPOINT, FREE, Info(0)));
    board.does(1, system(Call::Signal, &[NOTIFICATION]));
    board.succeeds(3, system(Call::CapDelete, &[FREE]));
    board.does(3, receive(NOTIFICATION));
    board.does(1, receive(ENDPOINT));
    board.sees_in_receive(2, Error::NoCapability);
    assert_eq!(board.host.now(), 0);
}
