//! Exhausted quotas and pools.

use crate::support::archive::amounts;
use crate::support::board::Board;
use crate::support::host::Host;
use crate::support::scene::{
    DOMAIN, FREE, MEMORY, NOTIFICATION, SLOTS, boot_with, buffer, plenty, system,
};
use abi::call::Call;
use abi::object::Resource;
use abi::{Error, PAGE};
use kernel::system::DirectLazy;

type Tight = Board<DirectLazy<Host>>;

/// One thread with room for two of everything.
fn tight() -> Tight {
    let quotas = amounts(&[
        (Resource::Domains, 2),
        (Resource::Threads, 3),
        (Resource::Endpoints, 2),
        (Resource::Notifications, 2),
        (Resource::Memories, 2),
        (Resource::Mappings, 2),
        (Resource::Timers, 2),
        (Resource::Frames, 6),
        (Resource::Tables, 4),
        (Resource::Slots, SLOTS + 20),
    ]);
    boot_with(&[(1, 10)], &quotas)
}

#[test]
fn a_quota_is_used_up_and_comes_back() {
    for (call, args) in [
        (Call::EndpointCreate, [0, 0, 0, 0, 0]),
        (Call::NotificationCreate, [0, 0, 0, 0, 0]),
        (Call::TimerCreate, [NOTIFICATION, 0, 0, 0, 0]),
        (Call::MemoryCreate, [2, 0, 0, 0, 0]),
        (Call::ThreadCreate, [0, 5, 0, 0, 0]),
        (Call::DomainCreate, [4, 5, 0, 0, 0]),
    ] {
        let board = tight();
        let create = |slot: u64| {
            let [a1, a2, a3, a4, a5] = args;
            system(call, &[slot, a1, a2, a3, a4, a5])
        };
        for _ in 0..3 {
            board.succeeds(1, create(FREE));
            board.succeeds(1, create(FREE + 1));
            board.fails(1, create(FREE + 2), Error::QuotaExceeded);
            board.succeeds(1, system(Call::Destroy, &[FREE]));
            board.succeeds(1, system(Call::Destroy, &[FREE + 1]));
        }
    }
}

#[test]
fn frames_are_charged_at_once_and_come_back() {
    let board = tight();
    board.succeeds(1, system(Call::MemoryCreate, &[FREE, 5]));
    board.fails(1, system(Call::MemoryCreate, &[FREE + 1, 1]), Error::QuotaExceeded);
    let map = [0, FREE, buffer(1) + PAGE, 5, 0, (FREE + 2) | 3 << 32];
    board.succeeds(1, system(Call::Map, &map));
    assert_eq!(board.machine.kernel.usage(Resource::Frames).0, 6);
    board.succeeds(1, system(Call::Destroy, &[FREE]));
    assert_eq!(board.machine.kernel.usage(Resource::Frames).0, 0);
    board.fails(1, system(Call::Destroy, &[FREE + 2]), Error::Stale);
    board.fails(1, system(Call::MemoryCreate, &[FREE, 0]), Error::InvalidArgument);
    board.fails(1, system(Call::MemoryCreate, &[FREE, 513]), Error::InvalidArgument);
    board.fails(1, system(Call::MemoryCreate, &[FREE, 6]), Error::QuotaExceeded);
    board.succeeds(1, system(Call::MemoryCreate, &[FREE, 5]));
}

#[test]
fn page_tables_are_counted_before_anything_is_mapped() {
    let board = tight();
    // The thread's buffer has taken three tables, so one is left; far away, two are missing.
    let map = |at: u64, pages: u64| system(Call::Map, &[0, MEMORY, at, pages, 0, FREE | 1 << 32]);
    let two = |at: u64| map(at - PAGE, 2);
    board.fails(1, map(0x10_0000_0000, 1), Error::QuotaExceeded);
    board.fails(1, two(buffer(1) + 0x4000_0000), Error::QuotaExceeded);
    board.succeeds(1, map(buffer(1) + 0x20_0000, 1));
    board.succeeds(1, system(Call::Destroy, &[FREE]));
    // The table stays with the domain, for the next mapping there.
    assert_eq!(board.machine.kernel.usage(Resource::Tables).0, 4);
    board.succeeds(1, map(buffer(1) + 0x20_0000, 1));
}

#[test]
fn mappings_are_counted() {
    let board = tight();
    for slot in 0..2 {
        let at = buffer(1) + PAGE + slot * PAGE;
        let map = [0, MEMORY, at, 1, 0, (FREE + slot) | 1 << 32];
        board.succeeds(1, system(Call::Map, &map));
    }
    let map = [0, MEMORY, buffer(1) + 3 * PAGE, 1, 0, (FREE + 2) | 1 << 32];
    board.fails(1, system(Call::Map, &map), Error::QuotaExceeded);
}

#[test]
fn what_an_inner_domain_gets_the_outer_one_lacks() {
    let board = tight();
    let one_endpoint = [1 << 32, 0, 0, 0];
    let create = |slot: u64| system(Call::DomainCreate, &[slot, 4, 5]);
    board.succeeds(1, create(FREE).with_words(one_endpoint));
    board.fails(1, create(FREE + 1).with_words([2 << 32, 0, 0, 0]), Error::QuotaExceeded);
    board.succeeds(1, create(FREE + 1).with_words(one_endpoint));
    board.fails(1, system(Call::EndpointCreate, &[FREE + 2, 0]), Error::QuotaExceeded);
    board.succeeds(1, system(Call::Destroy, &[FREE]));
    board.succeeds(1, system(Call::EndpointCreate, &[FREE + 2, 0]));
    board.succeeds(1, system(Call::Destroy, &[FREE + 1]));
    board.fails(1, system(Call::DomainCreate, &[FREE, 65, 5]), Error::QuotaExceeded);
    board.fails(1, system(Call::DomainCreate, &[FREE, 0, 5]), Error::InvalidArgument);
}

#[test]
fn domains_nest_a_bounded_depth() {
    const DEEPEST: u64 = 8;
    let mut quotas = plenty();
    quotas[Resource::Domains as usize] = 20;
    quotas[Resource::Slots as usize] = 2_000;
    let board: Tight = boot_with(&[(1, 200)], &quotas);
    // Each domain makes one inside itself, and a thread there that goes on.
    let create = |left: u64| {
        let words = [left | left << 16, 0, (left * 64) << 32, 0];
        system(Call::DomainCreate, &[FREE, 62, 255]).with_words(words)
    };
    let mut running = 1;
    for depth in 1..DEEPEST {
        board.succeeds(running, create(2 * (DEEPEST - depth)));
        board.succeeds(running, system(Call::ThreadCreate, &[FREE + 1, FREE, 200, 0, 0]));
        board.does(running, system(Call::ThreadResume, &[FREE + 1]));
        board.does(running, system(Call::Yield, &[FREE + 1]));
        running = board.running().expect("the new thread");
    }
    assert_eq!(board.machine.kernel.usage(Resource::Domains).0 as u64, DEEPEST + 1);
    board.fails(running, create(0), Error::InvalidArgument);
    while board.running() != Some(1) {
        board.call(system(Call::Yield, &[0]));
    }
    board.succeeds(1, system(Call::Destroy, &[FREE]));
    assert_eq!(board.machine.kernel.usage(Resource::Domains).0, 2);
    assert_eq!(board.machine.kernel.usage(Resource::Threads).0, 2);
    board.fails(1, system(Call::Destroy, &[DOMAIN]), Error::WrongState);
}

#[test]
fn priorities_stay_below_those_of_both_domains() {
    let board: Tight = boot_with(&[(1, 200)], &plenty());
    board.fails(1, system(Call::DomainCreate, &[FREE, 4, 256]), Error::InvalidArgument);
    board.succeeds(1, system(Call::DomainCreate, &[FREE, 4, 50]));
    let create = |priority: u64| system(Call::ThreadCreate, &[FREE + 1, FREE, priority, 0, 0]);
    board.fails(1, create(51), Error::PriorityTooHigh);
    board.fails(1, create(256), Error::InvalidArgument);
    board.succeeds(1, create(50));
    let set = |priority: u64| system(Call::ThreadPriority, &[FREE + 1, priority]);
    board.fails(1, set(51), Error::PriorityTooHigh);
    board.fails(1, set(1 << 32), Error::InvalidArgument);
    board.succeeds(1, set(49));
}

#[test]
fn rights_and_slots_are_checked_before_quotas_change() {
    let board = tight();
    let before: Vec<_> =
        Resource::ALL.map(|resource| board.machine.kernel.usage(resource)).to_vec();
    for call in [
        system(Call::EndpointCreate, &[FREE, FREE + 1]),
        system(Call::EndpointCreate, &[NOTIFICATION, 0]),
        system(Call::EndpointCreate, &[SLOTS, 0]),
        system(Call::EndpointCreate, &[0, 0]),
        system(Call::TimerCreate, &[FREE, MEMORY]),
        system(Call::ThreadCreate, &[FREE, 0, 256, 0, 0]),
        system(Call::ThreadCreate, &[FREE, 0, 5, buffer(1), 0]),
        system(Call::ThreadCreate, &[FREE, 0, 5, buffer(1) + 8, 0]),
        system(Call::ThreadCreate, &[FREE, 0, 5, abi::USER_TOP, 0]),
        system(Call::ThreadCreate, &[FREE, MEMORY, 5, 0, 0]),
        system(Call::ThreadCreate, &[FREE, 0, 5, 0, NOTIFICATION]),
        system(Call::Map, &[0, MEMORY, 0x1000, 9, 0, FREE | 1 << 32]),
        system(Call::Map, &[0, MEMORY, 0x1000, 1, 8, FREE | 1 << 32]),
        system(Call::Map, &[0, MEMORY, 0x1000, 1, 0, FREE | 7 << 32]),
        system(Call::Map, &[0, MEMORY, 0x1000, 1, 0, FREE | 2 << 32]),
        system(Call::Map, &[0, MEMORY, 0, 1, 0, FREE | 1 << 32]),
        system(Call::Map, &[0, MEMORY, buffer(1), 1, 0, FREE | 1 << 32]),
    ] {
        board.does(1, call);
        assert!(board.regs.get().status().result().is_err(), "{call:?}");
        let after: Vec<_> =
            Resource::ALL.map(|resource| board.machine.kernel.usage(resource)).to_vec();
        assert_eq!(after, before, "{call:?}");
    }
}
