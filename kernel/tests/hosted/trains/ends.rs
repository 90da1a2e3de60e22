//! What ends while threads are inside: trains, domains, threads, and what they do there.

use super::stories::three;
use super::{TRAIN, back, behind, create, enter, entry, grant, position, sleep};
use crate::support::board::Board;
use crate::support::host::{Event, Host};
use crate::support::scene::{DOMAIN, FREE, NOTIFICATION, THREAD, boot, receive, system};
use abi::call::{Call, exchange};
use abi::message::FaultKind;
use abi::{Error, Rights};
use kernel::fault::Fault;
use kernel::object::thread::{State, flag};
use kernel::system::DirectLazy;

type Machine = Board<DirectLazy<Host>>;

fn domain_of(board: &Machine, thread: u32) -> u32 {
    board.thread(thread).domain.get().index()
}

fn wakes(board: &Machine, thread: u32) {
    let slot = THREAD + u64::from(thread);
    board.succeeds(1, system(Call::ThreadSuspend, &[slot]));
    let cancel = [slot, 0, 0, 0, 0, exchange::CANCEL];
    board.succeeds(1, system(Call::ThreadExchange, &cancel));
    board.does(1, system(Call::ThreadResume, &[slot]));
}

/// A fault inside is an error to the caller; no handler of its own domain learns of it.
#[test]
fn a_fault_inside_is_an_error() {
    let board: Machine = three();
    board.succeeds(1, enter(2, [0; 4]));
    board.succeeds(1, enter(3, [0; 4]));
    board.fault(Fault { kind: FaultKind::Memory, detail: 0x123, code: 4 });
    board.check();
    board.sees(1, Err(Error::Faulted));
    assert_eq!((domain_of(&board, 1), board.regs.get().words), (2, [0; 4]));
    board.succeeds(1, back(0, [0; 4]));
    let told = String::from_utf8(board.host.output.borrow().clone()).expect("text");
    assert!(told.contains("domain domain3") && told.contains("the call that has entered fails"));
    assert_eq!(board.thread(1).fault.get(), [0; 4], "nothing is left of the fault");
}

/// Thread 2 is in domain 3 by way of domain 1, and thread 1 destroys the train in the middle.
#[test]
fn a_train_ends_in_the_middle() {
    for interrupted in [false, true] {
        let board: Machine = three();
        wakes(&board, 2);
        let before = position(&board, 2);
        board.succeeds(2, enter(1, [0; 4]));
        board.succeeds(2, enter(3, [0; 4]));
        board.does(2, sleep(u64::MAX));
        if interrupted {
            board.host.noise_once_in.set(1);
        }
        board.does(1, system(Call::Destroy, &[TRAIN + 1]));
        board.host.noise_once_in.set(0);
        board.settle();
        board.sees(2, Err(Error::Destroyed));
        assert_eq!((domain_of(&board, 2), position(&board, 2)), (2, behind(before)));
        board.does(2, sleep(u64::MAX));
        board.sees(1, Ok(()));
        board.fails(1, enter(1, [0; 4]), Error::NoCapability);
        // The stack further in has come back.
        for _ in 0..2 {
            board.succeeds(1, enter(3, [0; 4]));
        }
    }
}

/// A domain ends: visitors go home, threads of it elsewhere die, and their stacks are free.
#[test]
fn a_domain_ends_with_visitors() {
    for noise in [0, 1, 3] {
        let board: Machine = three();
        wakes(&board, 2);
        board.succeeds(2, enter(1, [0; 4]));
        board.does(2, sleep(u64::MAX));
        wakes(&board, 3);
        board.succeeds(3, enter(2, [0; 4]));
        board.succeeds(3, enter(1, [0; 4]));
        board.does(3, sleep(u64::MAX));
        board.host.noise_once_in.set(noise);
        board.does(1, system(Call::Destroy, &[DOMAIN + 1]));
        board.host.noise_once_in.set(0);
        board.settle();
        board.sees(3, Err(Error::Destroyed));
        assert_eq!(domain_of(&board, 3), 3);
        board.does(3, sleep(u64::MAX));
        board.sees(1, Ok(()));
        board.fails(1, system(Call::ThreadInspect, &[THREAD + 2]), Error::Stale);
        for _ in 0..2 {
            board.succeeds(1, enter(1, [0; 4]));
        }
    }
}

/// No thread destroys a domain, a train or itself from under its own feet.
#[test]
fn no_thread_ends_what_it_is_inside() {
    let board: Machine = three();
    board.succeeds(1, enter(2, [0; 4]));
    board.succeeds(1, enter(3, [0; 4]));
    for domain in 0..3 {
        board.fails(1, system(Call::Destroy, &[DOMAIN + domain]), Error::WrongState);
    }
    for train in [2, 3] {
        board.fails(1, system(Call::Destroy, &[TRAIN + train]), Error::WrongState);
    }
    board.fails(1, system(Call::Destroy, &[THREAD + 1]), Error::WrongState);
    board.succeeds(1, system(Call::Destroy, &[TRAIN + 1]));
    board.succeeds(1, back(0, [0; 4]));
    board.succeeds(1, back(0, [0; 4]));
}

/// A place can keep the mark that the visit before was over, where the train further out had ended
/// first. The next visit begins without it.
#[test]
fn a_visit_begins_anew() {
    let board: Machine = three();
    board.succeeds(1, enter(2, [0; 4]));
    let place = board.thread(1).inside.get().expect("it is inside");
    board.succeeds(1, back(0, [0; 4]));
    board.open(|whole| whole.open(place).over.set(true));
    board.succeeds(1, enter(2, [0; 4]));
    assert!(board.thread(1).inside.get() == Some(place), "it is in another place");
    assert!(!board.open(|whole| whole.open(place).over.get()));
}

/// A thread that is destroyed inside leaves its stacks, and those who wait for them go on.
#[test]
fn a_thread_ends_inside() {
    let board: Machine = boot(&[(1, 10), (2, 20), (1, 30)]);
    board.does(3, sleep(u64::MAX));
    board.does(2, sleep(u64::MAX));
    board.succeeds(1, create(1, 1));
    wakes(&board, 3);
    board.succeeds(3, enter(1, [0; 4]));
    board.does(3, sleep(u64::MAX));
    board.does(1, system(Call::Destroy, &[THREAD + 3]));
    board.succeeds(1, enter(1, [0; 4]));
    assert_eq!(position(&board, 1).0, entry(1));
}

/// Registers of a thread inside are not for its holder: it comes out first, with an error.
#[test]
fn a_holder_reaches_no_registers_inside() {
    let board: Machine = three();
    wakes(&board, 2);
    let before = position(&board, 2);
    board.succeeds(2, enter(3, [0; 4]));
    board.does(2, sleep(u64::MAX));
    let slot = THREAD + 2;
    board.succeeds(1, system(Call::ThreadSuspend, &[slot]));
    for mask in [0, exchange::INSTRUCTION, exchange::STACK, exchange::ARGUMENT, exchange::THREAD] {
        let args = [slot, 0x5000, 0x6000, 7, 0, mask];
        board.fails(1, system(Call::ThreadExchange, &args), Error::WrongState);
    }
    let args = [slot, 0x5000, 0, 0, 0, exchange::CANCEL | exchange::INSTRUCTION];
    board.succeeds(1, system(Call::ThreadExchange, &args));
    assert_eq!((board.regs.get().args[0], board.regs.get().args[1]), behind(before));
    assert_eq!((domain_of(&board, 2), position(&board, 2).0), (2, 0x5000));
    assert_eq!(board.thread(2).state.get(), State::Ready);
}

/// A call that was preempted inside leaves nothing for the call that comes after it.
#[test]
fn a_long_call_inside_is_forgotten() {
    let board: Machine = three();
    wakes(&board, 2);
    board.succeeds(2, enter(1, [0; 4]));
    let create = system(Call::MemoryCreate, &[FREE, 4]);
    board.succeeds(2, create);
    let map = [0, FREE, 0x800_0000, 4, 0, (FREE + 1) | 3 << 32];
    board.host.interrupt_after(1);
    board.call(system(Call::Map, &map));
    assert!(board.regs.get().again || board.running() != Some(2) || board.settle() > 0);
    board.settle();
    board.does(2, sleep(u64::MAX));
    board.does(1, system(Call::Destroy, &[TRAIN + 1]));
    board.sees(2, Err(Error::Destroyed));
    assert!(!board.regs.get().again);
}

/// Two trains on one path end at a time, while a stack of the path has a thread on it again.
#[test]
fn two_trains_of_one_path_end() {
    let mut overtaken = 0;
    for polls in 0..8 {
        let board: Machine = three();
        wakes(&board, 3);
        board.does(3, receive(NOTIFICATION));
        wakes(&board, 2);
        for domain in [3, 1, 2] {
            board.succeeds(2, enter(domain, [0; 4]));
        }
        board.does(2, sleep(u64::MAX));
        board.host.interrupt_after(polls);
        board.call(system(Call::Destroy, &[TRAIN + 3]));
        board.check_all();
        if !board.regs.get().again || board.thread(2).inside.get().is_some() {
            continue;
        }
        // Thread 3 is woken meanwhile, and goes twice where thread 2 was.
        board.host.raise(Event::Irq(3));
        board.step();
        board.check_all();
        board.succeeds(3, enter(1, [0; 4]));
        board.succeeds(3, enter(1, [0; 4]));
        board.succeeds(3, system(Call::Destroy, &[TRAIN + 2]));
        board.check_all();
        let args = [FREE, entry(1), 0, super::STACKS, super::STACK, 2];
        board.succeeds(3, system(Call::TrainCreate, &args));
        for _ in 0..2 {
            board.succeeds(3, system(Call::TrainCall, &[FREE]));
        }
        board.does(3, sleep(u64::MAX));
        board.check_all();
        overtaken += 1;
    }
    assert!(overtaken > 1, "the end was not interrupted");
}

/// A thread destroys the domain that pays for it, while it is inside a third one.
#[test]
fn a_thread_inside_ends_with_who_pays_for_it() {
    for noise in [0, 1, 2] {
        let board: Machine = three();
        board.succeeds(1, system(Call::ThreadCreate, &[FREE, DOMAIN + 1, 5, 0, 0]));
        let start = [FREE, 0x5000, 0x6000, 0, 0, exchange::INSTRUCTION | exchange::STACK];
        board.succeeds(1, system(Call::ThreadExchange, &start));
        board.succeeds(1, system(Call::ThreadResume, &[FREE]));
        board.does(1, sleep(u64::MAX));
        let made = board.running().expect("the new thread runs");
        board.succeeds(made, enter(3, [0; 4]));
        board.succeeds(made, enter(2, [0; 4]));
        board.host.noise_once_in.set(noise);
        board.call(system(Call::Destroy, &[DOMAIN]));
        board.host.noise_once_in.set(0);
        board.settle();
        board.check_all();
        assert!(board.thread(made).inside.get().is_none(), "it is still inside");
        assert_eq!(board.running(), None);
    }
}

/// Another CPU stops a visitor while it makes a call that brings itself home: its results would be
/// those of the call by which it has come.
#[test]
fn no_thread_cancels_itself() {
    let board: Machine = three();
    board.succeeds(1, enter(2, [0; 4]));
    board.thread(1).set(flag::SUSPENDED);
    board.call(system(Call::ThreadExchange, &[THREAD + 1, 0, 0, 0, 0, exchange::CANCEL]));
    board.thread(1).clear(flag::SUSPENDED);
    board.sees(1, Err(Error::WrongState));
    assert_eq!(domain_of(&board, 1), 2);
    board.check_all();
}

/// What a visitor does is cancelled in steps, and a train with the most stacks is made behind a
/// preemption point: interrupted at each of them, the calls come out the same.
#[test]
fn calls_on_visitors_are_interrupted_anywhere() {
    let mut again = 0;
    for polls in 0..8 {
        let board: Machine = boot(&[(1, 10), (2, 20), (3, 30)]);
        board.does(3, sleep(u64::MAX));
        board.does(2, sleep(u64::MAX));
        if polls == 0 {
            board.host.interrupt_after(0);
        }
        board.call(create(1, 16));
        assert_eq!(board.regs.get().again, polls == 0, "a call that makes a train");
        board.settle();
        board.sees(1, Ok(()));
        board.succeeds(1, grant(DOMAIN + 1, 1, Rights::SEND));
        wakes(&board, 2);
        board.succeeds(2, enter(1, [0; 4]));
        board.does(2, sleep(u64::MAX));
        let slot = THREAD + 2;
        board.succeeds(1, system(Call::ThreadSuspend, &[slot]));
        board.host.interrupt_after(polls);
        board.call(system(Call::ThreadExchange, &[slot, 0, 0, 0, 0, exchange::CANCEL]));
        again += u32::from(board.regs.get().again);
        board.check_all();
        board.settle();
        board.sees(1, Ok(()));
        assert_eq!((domain_of(&board, 2), board.thread(2).state.get()), (2, State::Ready));
        assert!(board.thread(2).inside.get().is_none());
    }
    assert!(again > 1, "the calls were not interrupted");
}
