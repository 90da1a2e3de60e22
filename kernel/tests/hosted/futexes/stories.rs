//! Futexes: what random programs rarely meet, and what the invariants would find.

use crate::support::board::{Board, body};
use crate::support::context::Regs;
use crate::support::host::Host;
use crate::support::scene::{DOMAIN, FREE, THREAD, boot, buffer, system};
use abi::call::{Call, Timeout};
use abi::futex::{Scope, WAITERS, number};
use abi::{Error, PAGE};
use kernel::access::Ref;
use kernel::invariants;
use kernel::list::Ring;
use kernel::object::Thread;
use kernel::object::thread::{State, Waiting};
use kernel::object::waiter::Kind;
use kernel::system::{DirectLazy, Fastpath};
use std::panic::{AssertUnwindSafe, catch_unwind};

type Machine = Board<DirectLazy<Host>>;

/// The words of thread 1's message buffer that are a mutex and a condition.
const MUTEX: usize = 300;
const CONDITION: usize = 301;

fn at(word: usize) -> u64 {
    buffer(1) + 8 * word as u64
}

fn futex(call: Call, scope: Scope, args: &[u64]) -> Regs {
    Regs::call(number(call, scope, Timeout::Never), args)
}

fn local(call: Call, args: &[u64]) -> Regs {
    futex(call, Scope::Domain, args)
}

fn reference(board: &Machine, thread: u32) -> Ref<Thread<Host>> {
    board.machine.kernel.threads.get(thread).expect("a thread of that index")
}

fn id(board: &Machine, scope: Scope, thread: u32) -> u64 {
    board.id(scope, thread).into()
}

/// Threads 4, 3 and 2, in this order, wait for what thread 1, the lowest, owns; each is told by a
/// word of a mutex, which they set as a library does, or of a condition.
fn waiting(call: Call) -> Machine {
    let board: Machine = boot(&[(1, 10), (1, 20), (1, 30), (1, 40)]);
    let owner = id(&board, Scope::Domain, 1);
    let first = owner | u64::from(WAITERS);
    for thread in [4, 3, 2] {
        assert_eq!(board.running(), Some(thread));
        let queue = board.read(1, MUTEX) & !u64::from(u32::MAX);
        let regs = match call {
            Call::MutexWait => {
                board.write(1, MUTEX, queue | first);
                local(call, &[at(MUTEX), first])
            }
            _ => local(call, &[at(CONDITION), 0, at(MUTEX)]),
        };
        board.does(thread, regs);
        assert_eq!(board.thread(thread).state.get(), State::Waiting);
    }
    if call == Call::CondWait {
        board.write(1, MUTEX, owner);
    }
    board
}

/// The figures of the paper: owner and waiter, the hand-over, a requeue of all.
#[test]
fn words_as_in_the_paper() {
    let board = waiting(Call::MutexWait);
    let ids = [1, 2, 3, 4].map(|thread| id(&board, Scope::Domain, thread));
    let marked = u64::from(WAITERS);
    assert_eq!(board.read(1, MUTEX), marked | ids[0] | ids[3] << 32, "the first waiter is named");
    board.does(1, local(Call::MutexWake, &[at(MUTEX)]));
    board.sees(4, Ok(()));
    assert_eq!(board.read(1, MUTEX), marked | ids[3] | ids[2] << 32, "it owns the mutex");
    board.does(4, local(Call::MutexWake, &[at(MUTEX)]));
    board.does(4, system(Call::ThreadSuspend, &[THREAD + 4]));
    board.does(3, local(Call::MutexWake, &[at(MUTEX)]));
    assert_eq!(board.read(1, MUTEX), ids[1], "the last one owns it, and none waits");

    let board = waiting(Call::CondWait);
    let ids = [1, 2, 3, 4].map(|thread| id(&board, Scope::Domain, thread));
    assert_eq!(board.read(1, CONDITION), ids[3] << 32);
    board.succeeds(1, local(Call::CondRequeue, &[at(CONDITION), 0]));
    assert_eq!(board.read(1, CONDITION), ids[2] << 32);
    assert_eq!(board.read(1, MUTEX), marked | ids[0] | ids[3] << 32);
    board.succeeds(1, local(Call::CondRequeue, &[at(CONDITION), 1]));
    assert_eq!(board.read(1, CONDITION), 0);
    assert_eq!(board.read(1, MUTEX), marked | ids[0] | ids[3] << 32, "others stand behind it");
    board.does(1, local(Call::MutexWake, &[at(MUTEX)]));
    board.sees(4, Ok(()));
    assert_eq!(board.read(1, MUTEX), marked | ids[3] | ids[2] << 32, "in the order of arrival");
}

/// The end of a domain takes its waiters out of a queue that another domain's threads are in.
#[test]
fn a_domain_ends() {
    let board: Machine = boot(&[(1, 10), (2, 20), (1, 15)]);
    let place = |domain: u64| 0x1000_0000 * (1 + domain);
    let map = |thread: u32, domain: u64| {
        let slot = (FREE + 1 + domain) | 3 << 32;
        board.does(thread, system(Call::Map, &[DOMAIN + domain, 7, place(domain), 1, 0, slot]));
    };
    map(2, 1);
    let word = |domain: u64| place(domain) + PAGE - 8;
    let expected = u64::from(WAITERS) | id(&board, Scope::Shared, 1);
    let frame = kernel::port::Space::frame(&board.domain(2).space, board.host, place(1));
    let half =
        |half| kernel::port::Port::word(board.host, frame.expect("it is mapped") + PAGE - 8 + half);
    let relaxed = std::sync::atomic::Ordering::Relaxed;
    half(0).store(expected as u32, relaxed);
    board.does(2, futex(Call::MutexWait, Scope::Shared, &[word(1), expected]));
    map(3, 0);
    board.does(3, futex(Call::MutexWait, Scope::Shared, &[word(0), expected]));
    assert_eq!(u64::from(half(4).load(relaxed)), id(&board, Scope::Shared, 2));
    board.succeeds(1, system(Call::Destroy, &[DOMAIN + 1]));
    assert_eq!(u64::from(half(4).load(relaxed)), id(&board, Scope::Shared, 3), "the next one");
    board.does(1, futex(Call::MutexWake, Scope::Shared, &[word(0)]));
    board.sees(3, Ok(()));
    assert_eq!(half(4).load(relaxed), 0);
}

/// Memory ends under a waiting thread, and its frame becomes another memory's: that one's words do
/// not reach the thread, whatever they say.
#[test]
fn a_frame_comes_back() {
    let board: Machine = boot(&[(1, 10), (2, 20)]);
    let (first, second) = (0x1000_0000, 0x2000_0000);
    let rights = 3 << 32;
    board.succeeds(2, system(Call::MemoryCreate, &[FREE, 1]));
    board.succeeds(2, system(Call::Map, &[0, FREE, first, 1, 0, (FREE + 1) | rights]));
    let frame =
        |domain: u32, at| kernel::port::Space::frame(&board.domain(domain).space, board.host, at);
    let before = frame(2, first).expect("it is mapped");
    let relaxed = std::sync::atomic::Ordering::Relaxed;
    let half = |half| kernel::port::Port::word(board.host, before + half);
    half(0).store(WAITERS, relaxed);
    board.does(2, futex(Call::MutexWait, Scope::Shared, &[first, WAITERS.into()]));
    let waiter = half(4).load(relaxed);
    assert_ne!(waiter, 0);
    // The owner's domain is not asked: its mapping is destroyed with the memory.
    let memory = body(reference(&board, 2).domain.get()).slots[FREE as usize].get();
    board.open(|all| body(reference(&board, 1).domain.get()).put(all, FREE as u32, memory));
    board.succeeds(1, system(Call::Destroy, &[FREE]));
    board.succeeds(1, system(Call::MemoryCreate, &[FREE, 1]));
    board.succeeds(1, system(Call::Map, &[0, FREE, second, 1, 0, (FREE + 1) | rights]));
    assert_eq!(frame(1, second), Some(before), "the frame is used again");
    half(0).store(WAITERS, relaxed);
    half(4).store(waiter, relaxed);
    let wake = futex(Call::MutexWake, Scope::Shared, &[second]);
    board.fails(1, wake, Error::BrokenQueue);
    assert_eq!(board.thread(2).state.get(), State::Waiting);
    board.succeeds(1, system(Call::Destroy, &[THREAD + 2]));
    assert_eq!(half(4).load(relaxed), waiter, "what is not its memory any more is left alone");
}

/// A wake-up goes to a stopped thread too, which goes on when it is resumed.
#[test]
fn a_stopped_thread_owns() {
    let board = waiting(Call::MutexWait);
    board.succeeds(1, system(Call::ThreadSuspend, &[THREAD + 4]));
    board.succeeds(1, local(Call::MutexWake, &[at(MUTEX)]));
    let owner = board.read(1, MUTEX) as u32 & !WAITERS;
    assert_eq!(u64::from(owner), id(&board, Scope::Domain, 4));
    board.does(1, system(Call::ThreadResume, &[THREAD + 4]));
    board.sees(4, Ok(()));
}

/// The fast path answers and calls past threads that wait for mutexes.
#[test]
fn beside_the_fast_path() {
    let board: Board<Fastpath<Host>> = boot(&[(1, 10), (1, 20)]);
    board.write(1, MUTEX, u64::from(WAITERS | 5));
    board.does(2, local(Call::MutexWait, &[at(MUTEX), (WAITERS | 5).into()]));
    board.does(1, system(Call::Yield, &[THREAD + 2]));
    board.sees(1, Err(Error::WrongState));
    board.does(1, local(Call::MutexWake, &[at(MUTEX)]));
    board.sees(2, Ok(()));
}

/// Expects the invariants to find this corruption.
fn found(message: &str, corrupt: impl Fn(&Machine)) {
    let board = waiting(Call::MutexWait);
    corrupt(&board);
    let check = || board.open(|all| invariants::check(board.machine, all));
    let cause = catch_unwind(AssertUnwindSafe(check)).expect_err(message);
    let text = cause.downcast_ref::<String>().cloned();
    let text = text.or_else(|| cause.downcast_ref::<&str>().map(|text| text.to_string()));
    assert_eq!(text.as_deref(), Some(message));
}

#[test]
fn corruptions_are_found() {
    let heads = |board: &Machine, thread: u32, kind| board.thread(thread).futex.heads.set(kind);
    found("a waiter is in no ring that has a head", |board| heads(board, 4, None));
    found("a ring of waiters has two heads", |board| heads(board, 3, Some(Kind::Mutex)));
    found("a thread that waits for no mutex heads a queue", |board| {
        heads(board, 1, Some(Kind::Mutex));
    });
    found("waiters for different words in one ring", |board| {
        let mut target = board.thread(2).futex.target.get();
        target.mutex.key += 8;
        board.thread(2).futex.target.set(target);
    });
    found("waiters of two scopes in one ring", |board| {
        let mut target = board.thread(2).futex.target.get();
        target.scope = Scope::Shared;
        board.thread(2).futex.target.set(target);
    });
    found("a waiting thread is in no queue", |board| {
        Ring::<Thread<Host>, Waiting>::leave(reference(board, 2));
    });
}

/// The ends of what arguments can say.
#[test]
fn extreme_arguments() {
    let board: Machine = boot(&[(1, 10), (1, 20)]);
    let marked = u64::from(WAITERS | 5);
    board.write(1, MUTEX, marked);
    let wait = number(Call::MutexWait, Scope::Domain, Timeout::At);
    let unmapped = [0, 0x7fff_ffff_fff8, 1 << 47, 1 << 63, at(MUTEX) | 1 << 48, u64::MAX - 7];
    for nowhere in unmapped.into_iter().chain([4, at(MUTEX) + 4, u64::MAX]) {
        board.fails(2, Regs::call(wait, &[nowhere, marked, u64::MAX]), Error::BadAddress);
        board.fails(2, local(Call::MutexWake, &[nowhere]), Error::BadAddress);
        board.fails(2, local(Call::CondRequeue, &[nowhere, 1]), Error::BadAddress);
        board.fails(2, local(Call::CondWait, &[at(CONDITION), 0, nowhere]), Error::BadAddress);
    }
    for expected in [marked | 1 << 32, u64::MAX, 5] {
        board.fails(2, Regs::call(wait, &[at(MUTEX), expected, u64::MAX]), Error::InvalidArgument);
    }
    board.fails(2, Regs::call(wait | 3 << 8, &[at(MUTEX), marked, 0]), Error::InvalidArgument);
    board.fails(2, local(Call::CondWait, &[at(MUTEX), marked, at(MUTEX)]), Error::InvalidArgument);
    board.fails(2, local(Call::CondRequeue, &[at(MUTEX), u64::MAX]), Error::InvalidArgument);
    for unknown in [0x4b_u64, 0x7f, 0x83, 0xff, 0x00ff_404b, 0x3f, 0x3e] {
        board.fails(2, Regs::call(unknown, &[at(MUTEX), marked, 0]), Error::UnknownCall);
    }
    // Other bits of the number word mean nothing, and this deadline never comes.
    board.does(2, Regs::call(wait | u64::MAX << 17, &[at(MUTEX), marked, u64::MAX]));
    assert_eq!(board.thread(2).state.get(), State::Waiting);
    board.check();
    board.succeeds(1, system(Call::ThreadSuspend, &[THREAD + 2]));
    let cancel = [THREAD + 2, 0, 0, 0, 0, abi::call::exchange::CANCEL];
    board.succeeds(1, system(Call::ThreadExchange, &cancel));
    assert_eq!(board.read(1, MUTEX), 5);
    board.check();
}
