//! Mapping in steps, and what may happen between them.

use crate::support::archive::Amounts;
use crate::support::board::Board;
use crate::support::host::{Event, Host};
use crate::support::scene::{
    DOMAIN, FREE, INTERRUPT, MEMORY, NOTIFICATION, boot_with, buffer, plenty, receive, system,
};
use abi::call::Call;
use abi::message::BUFFER_WORDS;
use abi::object::Resource;
use abi::{Error, PAGE, Rights};
use kernel::object::capability::Capability;
use kernel::port::{Port, Space};
use kernel::system::DirectLazy;
use std::cell::Cell;
use std::sync::atomic::Ordering::Relaxed;

const AT: u64 = 0x10_001f_f000;
const PAGES: u64 = 64;

/// Thread 2 handles interrupts, thread 1 maps.
fn machine() -> Board<DirectLazy<Host>> {
    machine_with(&plenty())
}

/// The same with these quotas of the first domain.
fn machine_with(quotas: &Amounts) -> Board<DirectLazy<Host>> {
    let board = boot_with(&[(1, 10), (1, 20), (2, 5)], quotas);
    board.does(2, receive(NOTIFICATION));
    board.succeeds(1, system(Call::MemoryCreate, &[FREE, PAGES]));
    board
}

fn map(slot: u64, rights: u64) -> crate::support::context::Regs {
    system(Call::Map, &[0, FREE, AT, PAGES, 0, slot | rights << 32])
}

fn done(board: &Board<DirectLazy<Host>>, slot: u64) -> u64 {
    match board.domain(1).slots[slot as usize].get() {
        Capability::Mapping(cap) => board.object(Some(cap.at)).done.get(),
        _ => 0,
    }
}

/// Thread 1 makes a call that is preempted at its first point; thread 2 runs.
fn preempted(board: &Board<DirectLazy<Host>>, regs: crate::support::context::Regs) {
    board.host.raise(Event::Irq(3));
    board.call(regs);
    board.check();
    board.interrupts();
    board.sees(2, Ok(()));
    board.succeeds(2, system(Call::InterruptAck, &[INTERRUPT]));
}

/// While this holds, thread 1 issues its call again, and is interrupted in each.
fn goes_on_interrupted(board: &Board<DirectLazy<Host>>, goes_on: impl Fn() -> bool) {
    while goes_on() {
        board.host.raise(Event::Spurious);
        board.reissue();
        board.check();
        board.interrupts();
    }
}

#[test]
fn a_mapping_is_made_changed_and_undone_page_by_page() {
    let board = machine();
    // A mapping is put into its slot, then it zeroes: each frame, and the tables that it lacks.
    let tables = board.domain(1).space.missing(board.host, AT, PAGES) as u64;
    let zeroing = 1 + 10 * (PAGES + tables) + tables;
    for (call, target, more) in [
        (map(FREE + 1, 3), PAGES, zeroing),
        (system(Call::Protect, &[FREE + 1, 1]), PAGES, 0),
        (system(Call::Destroy, &[FREE + 1]), 0, 0),
    ] {
        let polls = board.host.polls.get();
        board.host.raise(Event::Spurious);
        board.call(call);
        board.interrupts();
        goes_on_interrupted(&board, || board.regs.get().again);
        board.sees(1, Ok(()));
        board.settle();
        board.check();
        assert_eq!(done(&board, FREE + 1), target);
        // One page at a time; one that is zeroed, before that, after each eighth and before use.
        assert_eq!(board.host.polls.get() - polls, PAGES - 1 + more);
    }
}

#[test]
fn what_a_call_has_zeroed_stays_so_while_others_zero_something_else() {
    let board = machine();
    board.host.raise(Event::Spurious);
    board.call(system(Call::MemoryCreate, &[FREE + 1, 1]));
    board.interrupts();
    let issues = Cell::new(1);
    goes_on_interrupted(&board, || issues.replace(issues.get() + 1) < 5);
    board.host.raise(Event::Irq(3));
    board.reissue();
    board.interrupts();
    board.sees(2, Ok(()));
    // Six of the ten steps to a zeroed frame are taken. A message buffer is zeroed as well, and a
    // page table if one is missing.
    let thread = system(Call::ThreadCreate, &[FREE + 2, 0, 5, buffer(9), 0]);
    board.succeeds(2, thread);
    let polls = board.host.polls.get();
    board.does(2, receive(NOTIFICATION));
    board.sees(1, Ok(()));
    assert_eq!(board.host.polls.get() - polls, 4);
}

#[test]
fn the_memory_vanishes_while_it_is_mapped() {
    let board = machine();
    preempted(&board, map(FREE + 1, 3));
    assert!(done(&board, FREE + 1) < PAGES);
    board.succeeds(2, system(Call::Destroy, &[FREE]));
    board.does(2, receive(NOTIFICATION));
    // The mapping is gone with the memory, and so is the capability that the call had put.
    board.sees(1, Err(Error::Destroyed));
    board.fails(1, system(Call::Protect, &[FREE + 1, 1]), Error::NoCapability);
    // A call that is not issued again leaves what is in its slot.
    board.succeeds(1, system(Call::MemoryCreate, &[FREE, PAGES]));
    board.succeeds(1, map(FREE + 1, 3));
    board.succeeds(1, system(Call::Destroy, &[FREE]));
    board.succeeds(1, system(Call::MemoryCreate, &[FREE, PAGES]));
    board.fails(1, map(FREE + 1, 3), Error::SlotOccupied);
    board.succeeds(1, system(Call::Destroy, &[FREE]));
    assert_eq!(board.machine.kernel.usage(Resource::Mappings).0, 0);
    assert_eq!(board.machine.kernel.usage(Resource::Frames).0, 0);
}

#[test]
fn two_destroy_one_memory() {
    let board = machine();
    board.succeeds(1, map(FREE + 1, 3));
    board.succeeds(1, system(Call::CapCopy, &[FREE, FREE + 2, Rights::ALL.0.into(), 0]));
    preempted(&board, system(Call::Destroy, &[FREE]));
    assert!((1..PAGES).contains(&done(&board, FREE + 1)));
    board.succeeds(2, system(Call::Destroy, &[FREE + 2]));
    board.does(2, receive(NOTIFICATION));
    // It has what it asked for, whoever came last.
    board.sees(1, Ok(()));
    board.fails(1, system(Call::Destroy, &[FREE]), Error::NoCapability);
    assert_eq!(board.machine.kernel.usage(Resource::Memories).0, 3);
}

#[test]
fn the_mapping_vanishes_while_it_is_made() {
    let board = machine();
    preempted(&board, map(FREE + 1, 3));
    board.fails(2, system(Call::Protect, &[FREE + 1, 1]), Error::WrongState);
    board.succeeds(2, system(Call::Destroy, &[FREE + 1]));
    board.does(2, receive(NOTIFICATION));
    // The call begins anew.
    board.sees(1, Ok(()));
    assert_eq!(done(&board, FREE + 1), PAGES);
}

#[test]
fn a_page_in_the_way_undoes_the_mapping() {
    let board = machine();
    let page = |slot: u64| system(Call::Map, &[0, MEMORY, AT + 40 * PAGE, 1, 0, slot | 1 << 32]);
    board.succeeds(1, page(FREE + 2));
    board.fails(1, map(FREE + 1, 3), Error::AddressInUse);
    assert_eq!(board.machine.kernel.usage(Resource::Mappings).0, 1);
    board.fails(1, system(Call::CapInspect, &[FREE + 1]), Error::NoCapability);
    board.succeeds(1, system(Call::Destroy, &[FREE + 2]));
    // Or one that comes while the mapping is being made.
    preempted(&board, map(FREE + 1, 3));
    board.succeeds(2, page(FREE + 2));
    board.does(2, receive(NOTIFICATION));
    board.sees(1, Err(Error::AddressInUse));
    board.fails(1, system(Call::CapInspect, &[FREE + 1]), Error::NoCapability);
}

#[test]
fn page_tables_run_out_while_a_mapping_is_made() {
    let mut quotas = plenty();
    quotas[Resource::Tables as usize] = 8;
    let board = machine_with(&quotas);
    preempted(&board, map(FREE + 1, 3));
    // The other thread uses up the tables: each of these pages takes three.
    for slot in FREE + 2.. {
        let call = system(Call::Map, &[0, MEMORY, (slot + 16) << 39, 1, 0, slot | 1 << 32]);
        board.call(call);
        board.settle();
        if let Err(error) = board.regs.get().status().result() {
            assert_eq!(error, Error::QuotaExceeded);
            break;
        }
    }
    board.call(receive(NOTIFICATION));
    // Each step that undoes it is interrupted, which changes nothing about why.
    goes_on_interrupted(&board, || board.regs.get().again);
    board.sees(1, Err(Error::QuotaExceeded));
    board.fails(1, system(Call::CapInspect, &[FREE + 1]), Error::NoCapability);
    board.check();
}

#[test]
fn a_mapping_that_ends_with_its_memory_says_so_however_often_it_is_interrupted() {
    let board = machine();
    preempted(&board, map(FREE + 1, 3));
    board.call(receive(NOTIFICATION));
    goes_on_interrupted(&board, || done(&board, FREE + 1) < PAGES / 2);
    preempted(&board, board.regs.get());
    // The other thread begins to destroy the memory, and is interrupted for good.
    board.host.raise(Event::Spurious);
    board.call(system(Call::Destroy, &[FREE]));
    board.interrupts();
    assert!(board.regs.get().again && done(&board, FREE + 1) > 0);
    board.call(receive(NOTIFICATION));
    board.settle();
    board.sees(1, Err(Error::Destroyed));
    board.fails(1, system(Call::CapInspect, &[FREE + 1]), Error::NoCapability);
    board.check();
}

#[test]
fn frames_of_new_memory_are_zero() {
    let board = machine();
    board.succeeds(1, map(FREE + 1, 3));
    let frame = |board: &Board<DirectLazy<Host>>, page: u64| {
        let mut found = None;
        board.domain(1).space.walk(board.host, &mut |_| {}, &mut |mapped| {
            if mapped.at == AT + page * PAGE {
                found = Some(mapped.frame);
            }
        });
        found.expect("mapped")
    };
    for page in 0..PAGES {
        board.host.frame(frame(&board, page)).iter().for_each(|word| word.store(!0, Relaxed));
    }
    board.succeeds(1, system(Call::Destroy, &[FREE]));
    board.succeeds(1, system(Call::CapDelete, &[FREE + 1]));
    board.succeeds(1, system(Call::MemoryCreate, &[FREE, PAGES]));
    board.succeeds(1, map(FREE + 1, 3));
    for page in 0..PAGES {
        let words = board.host.frame(frame(&board, page));
        assert!(words.iter().all(|word| word.load(Relaxed) == 0), "page {page} is not zeroed");
    }
}

#[test]
fn a_message_buffer_is_zero_when_another_thread_gets_it() {
    let board = machine();
    let create = |domain: u64| system(Call::ThreadCreate, &[FREE + 2, domain, 5, buffer(9), 0]);
    board.succeeds(1, create(0));
    let thread = 4;
    (0..BUFFER_WORDS).for_each(|word| board.write(thread, word, !0));
    board.succeeds(1, system(Call::Destroy, &[FREE + 2]));
    assert!(!board.domain(1).space.is_mapped(board.host, buffer(9)));
    board.succeeds(1, create(DOMAIN + 1));
    assert_eq!(board.thread(thread).buffer_at.get(), buffer(9), "the same slot");
    assert!((0..BUFFER_WORDS).all(|word| board.read(thread, word) == 0));
}

#[test]
fn rights_of_a_mapping_stay_within_those_of_the_memory() {
    let board = machine();
    let weak = Call::CapCopy;
    board.succeeds(1, system(weak, &[FREE, FREE + 1, 1 + 8, 0]));
    let map = |rights: u64| system(Call::Map, &[0, FREE + 1, AT, 1, 0, (FREE + 2) | rights << 32]);
    board.fails(1, map(3), Error::MissingRight);
    board.fails(1, map(7), Error::WriteExecute);
    board.succeeds(1, map(1));
    board.fails(1, system(Call::Protect, &[FREE + 2, 3]), Error::MissingRight);
    board.fails(1, system(Call::Protect, &[FREE + 2, 5]), Error::MissingRight);
    board.succeeds(1, system(Call::Protect, &[FREE + 2, 1]));
}

#[test]
fn a_domain_vanishes_with_foreign_mappings_and_threads_in_it() {
    let board = machine();
    let map = [DOMAIN + 1, FREE, AT, PAGES, 0, (FREE + 1) | 3 << 32];
    board.succeeds(1, system(Call::Map, &map));
    let thread = [FREE + 2, DOMAIN + 1, 5, buffer(9), 0];
    board.succeeds(1, system(Call::ThreadCreate, &thread));
    let threads = board.machine.kernel.usage(Resource::Threads).0;
    board.host.noise_once_in.set(2);
    board.succeeds(1, system(Call::Destroy, &[DOMAIN + 1]));
    board.fails(1, system(Call::Protect, &[FREE + 1, 1]), Error::Stale);
    board.fails(1, system(Call::ThreadResume, &[FREE + 2]), Error::Stale);
    // Its own thread, and ours in it.
    assert_eq!(board.machine.kernel.usage(Resource::Threads).0, threads - 2);
    assert!(!board.domain(2).space.is_mapped(board.host, AT));
    board.succeeds(1, system(Call::Destroy, &[FREE]));
}
