//! A pool slot whose generations are used up is never used again.

use crate::support::archive::{Archive, SLICE, TICK, amounts};
use crate::support::board::{Board, body};
use crate::support::host::Host;
use crate::support::scene::system;
use abi::boot::{NONE, Record};
use abi::call::Call;
use abi::object::Resource;
use abi::{Error, PAGE};
use cells::Cell;
use kernel::arena::Arena;
use kernel::boot;
use kernel::capability::Capability;
use kernel::cpu::{Cpu, Settings};
use kernel::entry::Machine;
use kernel::kernel::{Kernel, Variant};
use kernel::object::thread::attention;
use kernel::object::{Domain, Endpoint, Interrupt, Mapping, Memory, Notification, Thread, Timer};
use kernel::pool::{FrameStack, LAST_GENERATION, Pool};
use kernel::system::DirectLazy;
use kernel::time::Deadlines;

const SLOT: u64 = 5;

/// A kernel whose endpoints, two of them, have so many generations left.
fn carve(host: &'static Host, arena: &mut Arena, left: u32) -> Option<Machine<Host>> {
    let (roots, buffers) = (arena.frames(3)?, arena.frames(3)?);
    let (frames, tables) = (arena.frames(4)?, arena.frames(4)?);
    let domains = Pool::carve(arena, 3, 0, |arena, index| {
        let slots = arena.slice(16, |_, _| Some(Cell::new(Capability::Empty)))?;
        Some(Domain::new(roots + index as u64 * PAGE, slots))
    })?;
    let home = domains.first()?;
    let buffer = |index: usize| buffers + index as u64 * PAGE;
    let threads = Pool::carve(arena, 3, 0, |_, at| Some(Thread::new(home, buffer(at))))?;
    let last = LAST_GENERATION - left;
    let kernel = Kernel {
        port: host,
        variant: Variant::of::<DirectLazy<Host>>(),
        domains,
        threads,
        endpoints: Pool::carve(arena, 2, last, |_, _| Some(Endpoint::new()))?,
        notifications: Pool::carve(arena, 1, 0, |_, _| Some(Notification::new()))?,
        interrupts: Pool::carve(arena, 1, 0, |_, _| Some(Interrupt::new()))?,
        memories: Pool::carve(arena, 1, 0, |_, _| Some(Memory::new()))?,
        mappings: Pool::carve(arena, 1, 0, |_, _| Some(Mapping::new()))?,
        timers: Pool::carve(arena, 1, 0, |_, _| Some(Timer::new()))?,
        frames: FrameStack::carve(arena, frames, 4)?,
        tables: FrameStack::carve(arena, tables, 4)?,
        zeroing: Cell::new((0, 0)),
        slots: 48,
        lines: arena.slice(8, |_, _| Some(Cell::new(None)))?,
        chains: true,
        guards: (),
        cpus: Cell::new(&[]),
        shootdowns: Cell::new(0),
    };
    let kernel = arena.one(kernel)?;
    kernel.domains.take(None);
    let idle = kernel.threads.take(None);
    body(idle).priority.set(-1);
    body(idle).mark(attention::FULL);
    let deadlines = Deadlines::carve(arena, 8)?;
    let settings = Settings { tick: TICK, slice: SLICE as u32, eager: false, purge: 16 };
    let cpu = arena.one(Cpu::new(0, idle, deadlines, host, settings))?;
    kernel.cpus.set(core::slice::from_ref(cpu));
    Some(Machine { kernel, cpu })
}

/// One thread, whose domain may have two endpoints.
fn board(left: u32) -> Board<DirectLazy<Host>> {
    let (host, mut arena) = Host::new(200, 0);
    let machine = carve(host, &mut arena, left).expect("fits");
    let pools = amounts(&[(Resource::Domains, 2), (Resource::Threads, 2)]);
    let mut archive = Archive::new(&pools);
    let quotas =
        amounts(&[(Resource::Threads, 1), (Resource::Endpoints, 2), (Resource::Slots, 16)]);
    let domain = archive.domain("domain", 9, 16, &quotas);
    archive.record(Record::Thread, &[domain, 5, 0x1000, 0, 0, 0, NONE, 0, 0]);
    Board::start(machine, host, &mut arena, boot::Archive::new(archive.finish()))
}

#[test]
fn a_slot_at_its_last_generation_is_retired() {
    for left in 1..5 {
        let board = board(left);
        let endpoints = &board.machine.kernel.endpoints;
        let create = |slot: u64| system(Call::EndpointCreate, &[slot, 0]);
        for retired in 1..=2 {
            // The first slot is used until it is retired, then the second.
            for _ in 1..left {
                board.succeeds(1, create(SLOT));
                board.succeeds(1, system(Call::Destroy, &[SLOT]));
            }
            board.succeeds(1, create(SLOT));
            board.fails(1, system(Call::CapRevoke, &[SLOT]), Error::PoolExhausted);
            board.succeeds(1, system(Call::CapCopy, &[SLOT, SLOT + retired, 63, 0]));
            board.succeeds(1, system(Call::Destroy, &[SLOT]));
            let slot = endpoints.get(retired as u32 - 1).expect("a slot");
            assert_eq!(slot.generation(), LAST_GENERATION);
            assert_eq!(endpoints.free_slot().is_some(), retired == 1);
            board.fails(1, system(Call::CapInspect, &[SLOT + retired]), Error::Stale);
            board.fails(1, system(Call::Destroy, &[SLOT + retired]), Error::Stale);
        }
        // Retired slots stay charged: the quota is used up as the pool is.
        board.fails(1, create(SLOT), Error::QuotaExceeded);
        assert_eq!(endpoints.check(), Err(Error::PoolExhausted));
        assert_eq!(board.machine.kernel.usage(Resource::Endpoints), (2, 2));
    }
}

#[test]
fn revocations_use_generations_up_but_for_the_last() {
    let board = board(4);
    board.succeeds(1, system(Call::EndpointCreate, &[SLOT, 0]));
    for _ in 0..3 {
        board.succeeds(1, system(Call::CapRevoke, &[SLOT]));
    }
    for _ in 0..3 {
        board.fails(1, system(Call::CapRevoke, &[SLOT]), Error::PoolExhausted);
        board.succeeds(1, system(Call::CapInspect, &[SLOT]));
    }
    board.succeeds(1, system(Call::Destroy, &[SLOT]));
    assert_eq!(board.machine.kernel.endpoints.free_slot().map(|slot| slot.index()), Some(1));
}
