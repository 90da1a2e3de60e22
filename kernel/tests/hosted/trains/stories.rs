//! Entering and returning, nested; what goes along and what does not; waiting for a stack.

use super::{
    STACK, STACKS, TRAIN, back, behind, create, enter, enter_until, entry, grant, position, sleep,
};
use crate::support::board::{Board, body};
use crate::support::host::Host;
use crate::support::scene::{DOMAIN, ENDPOINT, FREE, THREAD, boot, buffer, call, receive, system};
use abi::call::{Call, Timeout, exchange};
use abi::train::DEPTH;
use abi::{Error, Info, Rights};
use kernel::object::thread::State;
use kernel::port::Port;
use kernel::system::{DirectLazy, Fastpath, IpcHeap, IpcOrdered, System, Tree};

type Machine = Board<DirectLazy<Host>>;

/// Threads 1 to 3 with the priorities 10, 20 and 30 in domains 1 to 3; each domain has a train with
/// two stacks that all can enter, and thread 1 runs.
pub fn three<S: System<Port = Host>>() -> Board<S> {
    let board: Board<S> = boot(&[(1, 10), (2, 20), (3, 30)]);
    for thread in [3, 2, 1] {
        board.succeeds(thread as u32, create(thread, 2));
        for other in (1..4).filter(|other| *other != thread) {
            board.succeeds(thread as u32, grant(DOMAIN + other - 1, thread, Rights::ALL));
        }
        if thread > 1 {
            board.does(thread as u32, sleep(u64::MAX));
        }
    }
    board
}

fn domain_of<S: System<Port = Host>>(board: &Board<S>, thread: u32) -> u32 {
    board.thread(thread).domain.get().index()
}

#[test]
fn a_thread_enters_and_returns() {
    let board: Machine = three();
    let before = position(&board, 1);
    board.succeeds(1, enter(2, [1, 2, 3, 4]));
    let regs = board.regs.get();
    assert_eq!((regs.args[0], regs.args[1], regs.words), (0x79, 0, [1, 2, 3, 4]));
    assert_eq!(
        position(&board, 1),
        (entry(2), STACKS + 2 * STACK),
        "the stack used last goes first"
    );
    assert_eq!(domain_of(&board, 1), 2);
    let thread = board.thread(1);
    assert_eq!((thread.priority.get(), thread.base_priority.get()), (10, 10));
    board.succeeds(1, back(9, [5, 6, 7, 8]));
    let regs = board.regs.get();
    assert_eq!((regs.args[0], regs.args[1], regs.words), (9, 0, [5, 6, 7, 8]));
    assert_eq!((position(&board, 1), domain_of(&board, 1)), (behind(before), 1));
    board.fails(1, back(0, [0; 4]), Error::WrongState);
}

/// Two entries of the fast path, which leaves the same behind as the general path.
#[test]
fn a_thread_enters_and_returns_fast() {
    let board: Board<Fastpath<Host>> = three();
    let (before, entries) = (position(&board, 1), board.fast_calls.get());
    board.succeeds(1, enter(2, [1, 2, 3, 4]));
    let regs = board.regs.get();
    assert_eq!((regs.args[0], regs.args[1], regs.words), (0x79, 0, [1, 2, 3, 4]));
    assert_eq!((position(&board, 1), domain_of(&board, 1)), ((entry(2), STACKS + 2 * STACK), 2));
    board.succeeds(1, back(9, [5, 6, 7, 8]));
    let regs = board.regs.get();
    assert_eq!((regs.args[0], regs.args[1], regs.words), (9, 0, [5, 6, 7, 8]));
    assert_eq!((position(&board, 1), domain_of(&board, 1)), (behind(before), 1));
    assert_eq!(board.fast_calls.get(), entries + 2);
    board.fails(1, back(0, [0; 4]), Error::WrongState);
    assert_eq!(board.fast_calls.get(), entries + 2, "nothing to return from");
}

/// Slots are those of the domain that the thread is in, and so are charges.
#[test]
fn slots_and_quotas_are_the_entered_domains() {
    let board: Machine = three();
    let used = |domain: u32| {
        let at = board.machine.kernel.domains.get(domain).expect("a domain");
        body(at).quotas.used(abi::object::Resource::Endpoints)
    };
    let before = [1, 2].map(used);
    board.succeeds(1, enter(2, [0; 4]));
    board.succeeds(1, system(Call::EndpointCreate, &[FREE, 0]));
    assert_eq!([1, 2].map(used), [before[0], before[1] + 1]);
    board.succeeds(1, back(0, [0; 4]));
    board.fails(1, system(Call::CapInspect, &[FREE]), Error::NoCapability);
}

/// The message buffer is not mapped where the thread is, and lends its words to nothing there.
#[test]
fn a_message_buffer_stays_at_home() {
    let board: Machine = three();
    board.succeeds(1, enter(2, [0; 4]));
    board.fails(1, call(ENDPOINT, Info::new(0, 5)), Error::NoBuffer);
    assert_eq!(board.thread(1).buffer_at.get(), 0);
    board.succeeds(1, back(0, [0; 4]));
    assert_eq!(board.thread(1).buffer_at.get(), buffer(1));
}

#[test]
fn rights_badges_and_revocation() {
    let board: Machine = three();
    let (mine, theirs) = (TRAIN + 1, TRAIN + 2);
    board.succeeds(1, system(Call::CapCopy, &[theirs, FREE, u64::from(Rights::SEND.0), 5]));
    board.succeeds(1, system(Call::CapCopy, &[theirs, FREE + 1, u64::from(Rights::COPY.0), 0]));
    let through = |slot: u64| system(Call::TrainCall, &[slot]);
    board.succeeds(1, through(FREE));
    assert_eq!(board.regs.get().args[1], 5, "the badge");
    board.succeeds(1, back(0, [0; 4]));
    board.fails(1, through(FREE + 1), Error::MissingRight);
    board.fails(1, through(ENDPOINT), Error::WrongKind);
    board.fails(1, through(FREE + 9), Error::NoCapability);
    // Those who hold it can enter their own domain as well.
    board.succeeds(1, through(mine));
    board.succeeds(1, through(theirs));
    board.succeeds(1, system(Call::CapRevoke, &[theirs]));
    board.succeeds(1, back(0, [0; 4]));
    board.fails(1, through(theirs), Error::Stale);
    board.succeeds(1, back(0, [0; 4]));
    board.fails(1, through(theirs), Error::Stale);
}

#[test]
fn calls_that_create_no_train() {
    let board: Machine = three();
    let [to, at, word, base, size] = [FREE, entry(1), 0, STACKS, STACK];
    let most = abi::train::STACKS;
    let top = abi::USER_TOP;
    for (args, error) in [
        ([TRAIN + 1, at, word, base, size, 1], Error::SlotOccupied),
        ([to, at, word, base, size, 0], Error::InvalidArgument),
        ([to, at, word, base, size, most + 1], Error::InvalidArgument),
        ([to, at, word, base, size, u64::MAX], Error::InvalidArgument),
        ([to, at, word, base, 0, 1], Error::InvalidArgument),
        ([to, at, word, base, 24, 1], Error::InvalidArgument),
        ([to, at, word, base + 8, size, 1], Error::BadAddress),
        ([to, top, word, base, size, 1], Error::BadAddress),
        ([to, at, word, top - size, size, 2], Error::BadAddress),
        ([to, at, word, u64::MAX - 15, size, 1], Error::BadAddress),
        ([to, at, word, base, 1 << 63, 2], Error::BadAddress),
    ] {
        board.fails(1, system(Call::TrainCreate, &args), error);
    }
    board.succeeds(1, system(Call::TrainCreate, &[to, at, word, base, size, most]));
    board.succeeds(1, system(Call::TrainCreate, &[to + 1, at, word, top - size, size, 1]));
    let error = Error::QuotaExceeded;
    board.succeeds(1, system(Call::TrainCreate, &[to + 2, at, word, base, size, most]));
    board.fails(1, system(Call::TrainCreate, &[to + 3, at, word, base, size, most]), error);
}

/// From domain to domain and back, as deep as it goes.
#[test]
fn a_thread_enters_one_domain_from_another() {
    let board: Machine = three();
    let mut path = Vec::new();
    for domain in 1..4 {
        path.push(behind(position(&board, 1)));
        board.succeeds(1, enter(domain, [domain; 4]));
    }
    assert_eq!(domain_of(&board, 1), 3);
    for domain in (1..4).rev() {
        board.succeeds(1, back(domain, [domain; 4]));
        assert_eq!(position(&board, 1), path.pop().expect("a position"));
        assert_eq!(board.regs.get().args[0], domain);
    }
}

#[test]
fn no_thread_goes_too_deep() {
    let board: Machine = boot(&[(1, 10)]);
    board.succeeds(1, create(1, 16));
    let second = system(Call::TrainCreate, &[FREE, entry(9), 0, STACKS, STACK, 2]);
    board.succeeds(1, second);
    for _ in 0..DEPTH {
        board.succeeds(1, enter(1, [0; 4]));
    }
    board.fails(1, enter(1, [0; 4]), Error::TooDeep);
    board.fails(1, system(Call::TrainCall, &[FREE]), Error::TooDeep);
    for _ in 0..DEPTH {
        board.succeeds(1, back(0, [0; 4]));
    }
    board.fails(1, back(0, [0; 4]), Error::WrongState);
}

/// What enters cannot answer for the thread that brings it, nor can it take a caller home.
#[test]
fn reply_rights_do_not_travel() {
    let board: Machine = boot(&[(1, 30), (2, 20)]);
    board.succeeds(1, create(1, 1));
    board.does(1, receive(ENDPOINT));
    board.does(2, call(ENDPOINT, Info::new(0, 0)));
    board.sees(1, Ok(()));
    board.fails(1, enter(1, [0; 4]), Error::WrongState);
    board.succeeds(1, system(Call::CapSaveReply, &[FREE]));
    board.succeeds(1, enter(1, [0; 4]));
    board.succeeds(1, back(0, [0; 4]));
}

/// Threads wait for a stack in the order in which the kernel serves senders, obey their deadlines,
/// and go on in the domain when it is their turn.
fn waiting<S: System<Port = Host>>(by_priority: bool) {
    let board: Board<S> = boot(&[(1, 10), (2, 40), (2, 50), (2, 60), (1, 5)]);
    for thread in [4, 3, 2] {
        board.does(thread, sleep(u64::MAX));
    }
    board.succeeds(1, create(1, 1));
    board.succeeds(1, grant(DOMAIN + 1, 1, Rights::ALL));
    board.succeeds(1, enter(1, [0; 4]));
    for thread in [2, 3, 4] {
        let slot = THREAD + u64::from(thread);
        let stop = [slot, 0, 0, 0, 0, exchange::CANCEL];
        board.succeeds(1, system(Call::ThreadSuspend, &[slot]));
        board.succeeds(1, system(Call::ThreadExchange, &stop));
        board.does(1, system(Call::ThreadResume, &[slot]));
        board.does(thread, enter_until(1, Timeout::Zero, 0));
        board.sees(thread, Err(Error::Timeout));
        board.does(thread, enter_until(1, Timeout::At, board.host.now() + 1_000_000));
        assert_eq!(board.thread(thread).state.get(), State::Sending);
        assert_eq!(board.running(), Some(1));
    }
    board.does(1, back(0, [0; 4]));
    let mut served = Vec::new();
    while let Some(thread) = board.running().filter(|thread| *thread > 1) {
        if domain_of(&board, thread) == 1 {
            served.push(thread);
            board.does(thread, back(0, [0; 4]));
        } else {
            board.does(thread, sleep(u64::MAX));
        }
    }
    if by_priority {
        assert_eq!(served, [4, 3, 2]);
    } else {
        served.sort_unstable();
        assert_eq!(served, [2, 3, 4]);
    }
}

#[test]
fn threads_wait_for_a_stack() {
    waiting::<DirectLazy<Host>>(false);
    waiting::<IpcOrdered<Host>>(true);
    waiting::<IpcHeap<Host>>(true);
}

#[test]
fn a_wait_for_a_stack_ends() {
    let board: Machine = boot(&[(1, 10), (1, 20)]);
    board.succeeds(2, create(1, 1));
    board.succeeds(2, enter(1, [0; 4]));
    board.does(2, sleep(u64::MAX));
    board.does(1, enter_until(1, Timeout::At, board.host.now() + 1_000_000));
    assert_eq!(board.running(), None);
    board.wait(2_000_000);
    board.sees(1, Err(Error::Timeout));
    board.does(1, enter(1, [0; 4]));
    assert_eq!(board.running(), None);
}

/// A kernel with a scheduling tree: the thread is charged as before.
#[test]
fn time_is_charged_as_before() {
    let board: Board<Tree<Host>> = three();
    let leaf = board.open(|all| board.thread(1).leaf.get(all));
    board.succeeds(1, enter(2, [0; 4]));
    assert_eq!(board.open(|all| board.thread(1).leaf.get(all)), leaf);
    board.succeeds(1, back(0, [0; 4]));
}
