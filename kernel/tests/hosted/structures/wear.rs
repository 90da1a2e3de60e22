//! Pool slots do not wear out: the generation of one goes on where 32 bits would end.

use crate::support::archive::{Archive, SLICE, TICK, amounts};
use crate::support::board::{Board, body, whole};
use crate::support::host::Host;
use crate::support::scene::system;
use abi::boot::{NONE, Record};
use abi::call::Call;
use abi::object::Resource;
use abi::{Error, PAGE};
use cells::Cell;
use kernel::access::Steady;
use kernel::arena::Arena;
use kernel::boot;
use kernel::console::Console;
use kernel::cpu::{Cpu, Settings};
use kernel::events::Machine;
use kernel::frames::FrameStack;
use kernel::hidden::Key;
use kernel::kernel::Kernel;
use kernel::object::capability::Capability;
use kernel::object::thread::flag;
use kernel::object::{
    Activation, Domain, Endpoint, Interrupt, Mapping, Memory, Notification, Reservation, Thread,
    Timer, Train,
};
use kernel::pool::Pool;
use kernel::system::DirectLazy;
use kernel::tree::{Sizes, Trees};
use kernel::variant::Variant;
use kernel::waits::Waits;

const SLOT: u64 = 5;

/// Where the generations of endpoints start.
const START: u64 = u32::MAX as u64 - 3;

/// A kernel with two endpoints.
fn carve(host: &'static Host, arena: &mut Arena) -> Option<Machine<Host>> {
    let (roots, buffers) = (arena.frames::<Host>(3)?, arena.frames::<Host>(3)?);
    let (frames, tables) = (arena.frames::<Host>(4)?, arena.frames::<Host>(4)?);
    let domains = Pool::carve(arena, 3, 0, |arena, index| {
        let slots = arena.slice(16, |_, _| Some(Steady::new(Capability::Empty)))?;
        Some(Domain::new(roots + index as u64 * PAGE, slots))
    })?;
    let domain = domains.first()?;
    let buffer = |index: usize| buffers + index as u64 * PAGE;
    let threads = Pool::carve(arena, 3, 0, |_, at| Some(Thread::new(domain, buffer(at))))?;
    let kernel = Kernel {
        trees: Trees::none(arena, Sizes { cpus: 1, reservations: 0 }, SLICE)?,
        port: host,
        variant: Variant::of::<DirectLazy<Host>>(),
        domains,
        threads,
        endpoints: Pool::carve(arena, 2, START, |_, _| Some(Endpoint::new()))?,
        notifications: Pool::carve(arena, 1, 0, |_, _| Some(Notification::new()))?,
        interrupts: Pool::carve(arena, 1, 0, |_, _| Some(Interrupt::new()))?,
        memories: Pool::carve(arena, 1, 0, |_, _| Some(Memory::new()))?,
        mappings: Pool::carve(arena, 1, 0, |_, _| Some(Mapping::new()))?,
        timers: Pool::carve(arena, 1, 0, |_, _| Some(Timer::new()))?,
        reservations: Pool::carve(arena, 0, 0, |_, _| Some(Reservation::new()))?,
        trains: Pool::carve(arena, 0, 0, |_, _| Some(Train::new()))?,
        activations: Pool::carve(arena, 0, 0, |_, _| Some(Activation::new()))?,
        frames: FrameStack::carve::<Host>(arena, frames, 4)?,
        tables: FrameStack::carve::<Host>(arena, tables, 4)?,
        slots: 48,
        irqs: arena.slice(8, |_, _| Some(Cell::new(None)))?,
        waits: Waits::new(),
        console: Console::carve(arena, 3)?,
        chains: true,
        guards: (),
        cpus: Cell::new(&[]),
        secret: 0,
        shared_key: Key::default(),
        place_bits: 8,
        shootdowns: Cell::new(0),
    };
    let kernel = arena.one(kernel)?;
    kernel.domains.take(&whole(), None);
    let idle = kernel.threads.take(&whole(), None);
    body(idle).priority.set(&whole(), -1);
    body(idle).base_priority.set(&whole(), -1);
    body(idle).mark(flag::FULL);
    let settings = Settings { tick: TICK, slice: SLICE as u32, eager: false, lazy_dequeues: 16 };
    let cpu = arena.one(Cpu::new(0, idle, (host, &kernel.trees, &kernel.waits), settings))?;
    kernel.cpus.set(core::slice::from_ref(cpu));
    Some(Machine { kernel, cpu })
}

/// One thread, whose domain may have two endpoints.
fn board() -> Board<DirectLazy<Host>> {
    let (host, mut arena) = Host::new(200, 0);
    let machine = carve(host, &mut arena).expect("fits");
    let pools = amounts(&[(Resource::Domains, 2), (Resource::Threads, 3)]);
    let mut archive = Archive::new(&pools);
    let quotas = amounts(&[
        (Resource::Domains, 1),
        (Resource::Threads, 2),
        (Resource::Endpoints, 2),
        (Resource::Slots, 32),
    ]);
    let domain = archive.domain("domain", 9, 16, &quotas);
    archive.record(Record::Thread, &[domain, 5, 0x1000, 0, 0, 0, NONE, 0, 0]);
    Board::start(machine, host, &mut arena, boot::Archive::new(archive.finish()))
}

#[test]
fn generations_go_on_past_32_bits() {
    let board = board();
    let slot = board.machine.kernel.endpoints.get(0).expect("a slot");
    let mut expected = START;
    let mut stale = SLOT + 1;
    while expected < START + 8 {
        board.succeeds(1, system(Call::EndpointCreate, &[SLOT, 0]));
        board.succeeds(1, system(Call::CapCopy, &[SLOT, stale, 63, 0]));
        board.succeeds(1, system(Call::CapRevoke, &[SLOT]));
        board.succeeds(1, system(Call::CapInspect, &[SLOT]));
        board.succeeds(1, system(Call::Destroy, &[SLOT]));
        expected += 2;
        assert_eq!(slot.generation(), expected);
        for old in SLOT + 1..=stale {
            board.fails(1, system(Call::CapInspect, &[old]), Error::Stale);
            board.fails(1, system(Call::Destroy, &[old]), Error::Stale);
        }
        stale += 1;
    }
}

#[test]
fn a_destroyed_domain_leaves_the_pool_as_it_was() {
    const INNER: u64 = 6;
    const THREAD: u64 = 7;
    let board = board();
    let quotas = [2 << 32, 0, 0, 0];
    board.succeeds(1, system(Call::DomainCreate, &[INNER, 8, 5]).with_words(quotas));
    board.succeeds(1, system(Call::ThreadCreate, &[THREAD, INNER, 5, 0, 0]));
    board.does(1, system(Call::ThreadResume, &[THREAD]));
    board.does(1, system(Call::Yield, &[THREAD]));
    for _ in 0..6 {
        board.succeeds(2, system(Call::EndpointCreate, &[1, 0]));
        board.succeeds(2, system(Call::Destroy, &[1]));
    }
    board.does(2, system(Call::Yield, &[0]));
    board.succeeds(1, system(Call::Destroy, &[INNER]));
    board.succeeds(1, system(Call::EndpointCreate, &[SLOT, 0]));
}
