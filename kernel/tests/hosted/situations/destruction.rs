//! Partners that are destroyed in every phase of an operation.

use crate::support::board::Board;
use crate::support::context::Regs;
use crate::support::host::{Event, Host};
use crate::support::scene::{
    DOMAIN, ENDPOINT, ENDPOINTS, FREE, NOTIFICATION, THREAD, boot, boot_with, call, plenty,
    receive, reply_wait, send, send_receive, system, timed,
};
use abi::call::{Call, NOTHING, REPLY, Timeout};
use abi::object::Resource;
use abi::{Error, Info};
use kernel::object::thread::State;
use kernel::system::{DirectLazy, Fastpath, System};

const MESSAGE: Info = Info::new(1, 1);
const NO_PARTNER: u64 = NOTHING as u64;

/// Thread 2, of another domain, does this and blocks; thread 1 destroys what is in a slot.
fn blocked_then_destroyed<S: System<Port = Host>>(operation: Regs, slot: u64) -> Board<S> {
    let board = boot(&[(1, 10), (2, 20), (1, 5)]);
    board.does(2, operation);
    board.does(1, system(Call::Destroy, &[slot]));
    board
}

fn everywhere<S: System<Port = Host>>() {
    // What thread 2 is blocked in, what is destroyed, and whether the receive half fails.
    let until = |send, receive| timed(send, receive, MESSAGE, Timeout::At, 1 << 40);
    for (operation, slot, in_receive) in [
        (send(ENDPOINT, MESSAGE), ENDPOINT, false),
        (call(ENDPOINT, MESSAGE), ENDPOINT, false),
        (send_receive(ENDPOINT, ENDPOINT + 1, MESSAGE), ENDPOINT, false),
        (until(ENDPOINT, REPLY.into()), ENDPOINT, false),
        (receive(ENDPOINT), ENDPOINT, true),
        (until(NO_PARTNER, ENDPOINT), ENDPOINT, true),
        (receive(NOTIFICATION), NOTIFICATION, true),
        (until(NO_PARTNER, NOTIFICATION), NOTIFICATION, true),
    ] {
        let board = blocked_then_destroyed::<S>(operation, slot);
        board.sees(2, Err(Error::Destroyed));
        assert_eq!(board.regs.get().status().in_receive(), in_receive, "{operation:?}");
        assert!(board.machine.cpu.deadlines.is_empty(), "a deadline is left");
        board.does(2, operation);
        board.sees(2, Err(Error::Stale));
        board.does(2, receive(ENDPOINT + 2));
        board.fails(1, system(Call::Destroy, &[slot]), Error::NoCapability);
    }
}

#[test]
fn objects_that_are_waited_for() {
    everywhere::<DirectLazy<Host>>();
    everywhere::<Fastpath<Host>>();
}

#[test]
fn a_new_endpoint_has_given_up_nothing() {
    let board: Board<DirectLazy<Host>> = boot(&[(1, 10), (2, 20)]);
    let endpoints = &board.machine.kernel.endpoints;
    let places = || (0..endpoints.size()).map(|at| board.object(endpoints.get(at)));
    let given_up = || places().map(|endpoint| endpoint.given_up.get()).sum::<u16>();
    board.does(2, timed(ENDPOINT, NO_PARTNER, MESSAGE, Timeout::At, 100));
    board.wait(200);
    board.sees(2, Err(Error::Timeout));
    assert_eq!(given_up(), 1);
    board.succeeds(2, system(Call::Destroy, &[ENDPOINT]));
    board.succeeds(2, system(Call::EndpointCreate, &[FREE, 0]));
    assert_eq!(given_up(), 0);
}

#[test]
fn blocked_threads_leave_every_queue() {
    let until = |send, receive| timed(send, receive, MESSAGE, Timeout::At, 1 << 40);
    for operation in [
        send(ENDPOINT, MESSAGE),
        call(ENDPOINT, MESSAGE),
        until(ENDPOINT, REPLY.into()),
        receive(ENDPOINT),
        until(NO_PARTNER, ENDPOINT),
        receive(NOTIFICATION),
        until(NO_PARTNER, NO_PARTNER),
    ] {
        let board = blocked_then_destroyed::<Fastpath<Host>>(operation, THREAD + 2);
        board.sees(1, Ok(()));
        assert!(board.machine.cpu.deadlines.is_empty(), "a deadline is left");
        let nothing = timed(NO_PARTNER, ENDPOINT, MESSAGE, Timeout::Zero, 0);
        board.does(1, nothing);
        board.sees_in_receive(1, Error::Timeout);
        board.fails(1, timed(ENDPOINT, NO_PARTNER, MESSAGE, Timeout::Zero, 0), Error::Timeout);
        board.succeeds(1, system(Call::Signal, &[NOTIFICATION]));
        board.fails(1, system(Call::ThreadResume, &[THREAD + 2]), Error::NoCapability);
    }
}

/// Thread 2 serves the call of thread 1, and runs.
fn served<S: System<Port = Host>>() -> Board<S> {
    let board = boot(&[(1, 10), (2, 20), (1, 30)]);
    board.does(3, receive(NOTIFICATION));
    board.does(2, receive(ENDPOINT));
    board.does(1, call(ENDPOINT, MESSAGE));
    board.sees(2, Ok(()));
    board
}

#[test]
fn a_server_that_vanishes() {
    let board = served::<Fastpath<Host>>();
    board.does(2, system(Call::Destroy, &[THREAD + 2]));
    board.sees_in_receive(1, Error::Destroyed);
}

#[test]
fn a_caller_that_vanishes() {
    for save in [false, true] {
        let board = served::<Fastpath<Host>>();
        let mut right = u64::from(REPLY);
        if save {
            board.succeeds(2, system(Call::CapSaveReply, &[FREE]));
            right = FREE;
        }
        board.succeeds(2, system(Call::Destroy, &[THREAD + 1]));
        board.fails(2, send(right, MESSAGE), Error::NoReply);
        if !save {
            board.does(2, reply_wait(ENDPOINT, MESSAGE));
            assert_eq!(board.running(), None, "the server waits for the next call");
            continue;
        }
        // A new thread in the same pool slot is another caller.
        let create = [FREE + 1, DOMAIN, 5, 0, 0];
        board.succeeds(2, system(Call::ThreadCreate, &create));
        board.fails(2, send(right, MESSAGE), Error::NoReply);
        board.succeeds(2, system(Call::CapDelete, &[FREE]));
    }
}

#[test]
fn the_endpoint_vanishes_during_a_call() {
    let board = served::<Fastpath<Host>>();
    board.succeeds(2, system(Call::Destroy, &[ENDPOINT]));
    board.fails(2, reply_wait(ENDPOINT, MESSAGE), Error::NoCapability);
    // The reply right is the caller's and the server's business.
    board.succeeds(2, send(REPLY.into(), MESSAGE));
    board.does(2, receive(ENDPOINT + 1));
    board.sees(1, Ok(()));
}

#[test]
fn the_servers_domain_vanishes() {
    for save in [false, true] {
        let board = served::<Fastpath<Host>>();
        if save {
            board.succeeds(2, system(Call::CapSaveReply, &[FREE]));
        }
        board.does(2, system(Call::Signal, &[NOTIFICATION]));
        board.succeeds(3, system(Call::Destroy, &[DOMAIN + 1]));
        board.does(3, receive(NOTIFICATION));
        let error = if save { Error::Abandoned } else { Error::Destroyed };
        board.sees_in_receive(1, error);
        board.fails(1, system(Call::Destroy, &[DOMAIN + 1]), Error::NoCapability);
    }
}

#[test]
fn a_thread_does_not_destroy_its_own_domain() {
    let board: Board<DirectLazy<Host>> = boot(&[(1, 10), (2, 5)]);
    board.fails(1, system(Call::Destroy, &[DOMAIN]), Error::WrongState);
    let quotas = [0x0001_0001_0002_0001, 0, 0x0010_0008_0000, 0];
    let create = system(Call::DomainCreate, &[FREE, 8, 100]).with_words(quotas);
    board.succeeds(1, create);
    // A thread that the inner domain is charged for destroys that domain, and so itself.
    board.succeeds(1, system(Call::DomainGrant, &[FREE, DOMAIN, 1, 63]));
    board.succeeds(1, system(Call::ThreadCreate, &[FREE + 1, FREE, 90, 0, 0]));
    board.does(1, system(Call::ThreadResume, &[FREE + 1]));
    assert_eq!(board.running(), Some(3));
    board.succeeds(3, system(Call::ThreadCreate, &[2, 1, 95, 0, 0]));
    board.does(3, system(Call::ThreadResume, &[2]));
    assert_eq!(board.running(), Some(4));
    board.does(4, system(Call::Destroy, &[FREE]));
    assert_eq!(board.running(), Some(1));
    assert_eq!(board.machine.kernel.usage(Resource::Domains).0, 3);
}

#[test]
fn a_cancelled_operation() {
    for (operation, in_receive) in [
        (send(ENDPOINT, MESSAGE), false),
        (receive(ENDPOINT), true),
        (timed(NO_PARTNER, NO_PARTNER, MESSAGE, Timeout::At, 1 << 40), true),
    ] {
        let board: Board<DirectLazy<Host>> = boot(&[(1, 10), (2, 20)]);
        board.does(2, operation);
        let exchange = |mask| system(Call::ThreadExchange, &[THREAD + 2, 0x1000, 0, 0, 0, mask]);
        board.fails(1, exchange(16), Error::WrongState);
        board.succeeds(1, system(Call::ThreadSuspend, &[THREAD + 2]));
        board.fails(1, exchange(1), Error::WrongState);
        board.succeeds(1, exchange(0));
        board.succeeds(1, exchange(16));
        board.does(1, system(Call::ThreadResume, &[THREAD + 2]));
        board.sees(2, Err(Error::Cancelled));
        assert_eq!(board.regs.get().status().in_receive(), in_receive);
    }
}

const WAITERS: u32 = 1_000;

/// A thousand threads wait on the first endpoint; thread 1 runs.
fn crowd() -> Board<DirectLazy<Host>> {
    let mut quotas = plenty();
    quotas[Resource::Threads as usize] = u64::from(WAITERS) + 8;
    quotas[Resource::Frames as usize] = 0;
    let mut threads = vec![(1, 10), (1, 200)];
    threads.extend((0..WAITERS).map(|_| (1, 20)));
    let board = boot_with(&threads, &quotas);
    board.does(2, receive(NOTIFICATION));
    for _ in 0..WAITERS {
        board.call(send(ENDPOINT, MESSAGE));
    }
    board.check();
    assert_eq!(board.running(), Some(1));
    board
}

fn waiting(board: &Board<DirectLazy<Host>>) -> u32 {
    let sends = |index: &u32| board.thread(*index).state.get() == State::Sending;
    (3..3 + WAITERS).filter(sends).count() as u32
}

#[test]
fn a_crowd_is_woken_one_by_one() {
    let board = crowd();
    let polls = board.host.polls.get();
    board.host.raise(Event::Spurious);
    board.call(system(Call::Destroy, &[ENDPOINT]));
    // With an interrupt always pending, each issue of the call wakes one. It polls behind that, and
    // before the decision, which is left to the interrupt; that one makes it without polling.
    for left in (WAITERS - 50..WAITERS).rev() {
        assert_eq!(waiting(&board), left);
        assert_eq!(board.host.polls.get(), polls + 2 * u64::from(WAITERS - left));
        board.interrupts();
        // Those that were woken have a higher priority than thread 1.
        assert_ne!(board.running(), Some(1));
        board.sees(board.running().unwrap(), Err(Error::Destroyed));
        board.call(receive(NOTIFICATION + 1));
        board.host.raise(Event::Spurious);
        board.reissue();
    }
    board.check();
    // The rest at one go, polling after each, and before the call's decision.
    let before = board.host.polls.get();
    let left = waiting(&board);
    board.interrupts();
    board.call(receive(NOTIFICATION + 1));
    board.settle();
    assert_eq!(waiting(&board), 0);
    assert_eq!(board.host.polls.get() - before, u64::from(left) + 1);
    board.check();
}

#[test]
fn an_interrupt_handler_runs_between_two_steps() {
    let board = crowd();
    board.host.raise(Event::Irq(3));
    board.call(system(Call::Destroy, &[ENDPOINT]));
    assert_eq!(waiting(&board), WAITERS - 1);
    board.interrupts();
    board.sees(2, Ok(()));
    assert_eq!(board.regs.get().badge(), 16);
    // The endpoint is gone for everybody already.
    board.fails(2, send(ENDPOINT, MESSAGE), Error::Stale);
    // Another holder of an old capability may finish the work.
    board.succeeds(2, system(Call::Destroy, &[ENDPOINT]));
    assert_eq!(waiting(&board), 0);
    let (used, size) = board.machine.kernel.usage(Resource::Endpoints);
    assert_eq!((used, u64::from(size)), ((ENDPOINTS - 1) as u32, ENDPOINTS + 8));
}
