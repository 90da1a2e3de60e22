//! Building a system from the boot archive.
//!
//! Anything wrong with the archive stops the boot with a message: it was made by the laboratory,
//! not by a program.

mod memory;
mod reservations;

use crate::access::{Exclusive, Ref, Steady};
use crate::arena::Arena;
use crate::console::Console;
use crate::cpu::{Cpu, Settings};
use crate::events::Machine;
use crate::frames::FrameStack;
use crate::kernel::Kernel;
use crate::manage::Manager;
use crate::manage::futex::identity;
use crate::object::capability::{Cap, Capability};
use crate::object::thread::flag;
use crate::object::{
    Activation, Domain, Endpoint, Interrupt, Mapping, Memory, Notification, Reservation, Thread,
    Timer, Train, Weak,
};
use crate::pool::Pool;
use crate::port::{Context, Frame, Port};
use crate::tree::Sizes;
use crate::variant::Variant;
use crate::waits::Waits;
use abi::Rights;
use abi::boot::{
    CONSOLE, HEADER_WORDS, MAGIC, NO_OWNER, NONE, Record, SYSTEM, WORD_CHAINS, WORD_CPUS,
    WORD_INHERITANCE, WORD_LAZY_DEQUEUES, WORD_MAGIC, WORD_RECORDS, WORD_SLICE, WORD_TICK,
};
use abi::object::{MOST_THREADS, Resource};
use abi::reservation::Inheritance;
use abi::trace::Keep;
use cells::Cell;
use core::sync::atomic::AtomicU64;
use core::sync::atomic::Ordering::Relaxed;
use locks::LockPolicy;
use section::init;

/// CPUs that one kernel can have: sets of them are words of bits.
pub const MOST_CPUS: usize = 64;
/// Capability slots that every domain's table has at least.
const TABLE_SLOTS: u32 = 64;

/// The archive, as words.
#[derive(Clone, Copy)]
pub struct Archive {
    words: &'static [AtomicU64],
}

impl Archive {
    /// An archive in memory.
    #[init]
    pub fn new(words: &'static [AtomicU64]) -> Archive {
        let archive = Archive { words };
        assert!(
            words.len() >= HEADER_WORDS && archive.word(WORD_MAGIC) == MAGIC,
            "the boot module is not a Giusto archive"
        );
        archive
    }

    /// Leaves a fact for the host in a header word.
    #[init]
    pub fn note(&self, index: usize, value: u64) {
        if let Some(word) = self.words.get(index) {
            word.store(value, Relaxed);
        }
    }

    #[init]
    fn word(&self, index: usize) -> u64 {
        match self.words.get(index) {
            Some(word) => word.load(Relaxed),
            None => panic!("the boot archive is cut off at word {index}"),
        }
    }

    /// The time slice in nanoseconds.
    #[init]
    fn slice(&self) -> u64 {
        self.word(WORD_TICK).saturating_mul(self.word(WORD_SLICE)).max(1)
    }

    /// The records with the index of their first word.
    #[init]
    fn records(self) -> impl Iterator<Item = (Record, usize)> {
        let mut at = HEADER_WORDS;
        (0..self.word(WORD_RECORDS)).map(move |_| {
            let head = self.word(at);
            let record = Record::from_code(head as u32);
            let (record, first) = match record {
                Some(record) if record.head() == head => (record, at),
                _ => panic!("the boot archive has a malformed record at word {at}"),
            };
            at += record.words();
            (record, first)
        })
    }
}

/// What the records have created so far.
enum Made<P: Port> {
    Domain(Ref<Domain<P>>),
    Thread(Ref<Thread<P>>),
    Endpoint(Ref<Endpoint<P>>),
    Notification(Ref<Notification<P>>),
    Interrupt(Ref<Interrupt<P>>),
    Memory(Ref<Memory<P>>),
    Timer(Ref<Timer<P>>),
    Reservation(Ref<Reservation<P>>),
}

impl<P: Port> Clone for Made<P> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<P: Port> Copy for Made<P> {}

/// Carves the pools and makes the CPU that boots.
#[init]
pub fn carve<P: Port>(
    port: &'static P,
    variant: Variant<P>,
    archive: Archive,
    arena: &mut Arena,
) -> Machine<P> {
    const {
        assert!(P::PAGE == size_of::<Frame>() as u64, "a page is a message buffer");
        assert!(P::USER_TOP.is_multiple_of(P::PAGE));
    }
    let Some((record, pools)) = archive.records().next() else {
        panic!("the boot archive has no records")
    };
    assert!(record == Record::Pools, "the boot archive does not begin with the pools");
    let size = |resource: Resource| archive.word(pools + 1 + resource as usize) as usize;
    let fits = size(Resource::Threads) <= MOST_THREADS;
    assert!(fits, "the manifest has more threads than a system may have");
    let made = carve_pools(port, variant, archive, arena, &size);
    let Some(made) = made else { panic!("the manifest's pools do not fit into RAM") };
    made.kernel.trees.set_inheritance(inheritance(archive));
    made
}

#[init]
fn inheritance(archive: Archive) -> Inheritance {
    let found = Inheritance::from_code(archive.word(WORD_INHERITANCE));
    let Some(found) = found else { panic!("there is no such inheritance of leaves") };
    found
}

#[init]
fn carve_pools<P: Port>(
    port: &'static P,
    variant: Variant<P>,
    archive: Archive,
    arena: &mut Arena,
    size: &dyn Fn(Resource) -> usize,
) -> Option<Machine<P>> {
    let count = cpu_count::<P>(archive);
    // The kernel's own domain and the idle threads come on top.
    let (domains, threads) = (size(Resource::Domains) + 1, size(Resource::Threads) + count);
    let roots = arena.frames::<P>(domains as u64)?;
    let buffers = arena.frames::<P>(threads as u64)?;
    let frames = arena.frames::<P>(size(Resource::Frames) as u64)?;
    let tables = arena.frames::<P>(size(Resource::Tables) as u64)?;
    let (domains, slots) = carve_domains::<P>(archive, arena, (domains, roots))?;
    let domain = domains.first()?;
    let threads = Pool::carve(arena, threads, 0, |_, index| {
        Some(Thread::new(domain, buffers + index as u64 * P::PAGE))
    })?;
    macro_rules! pool {
        ($resource:ident, $kind:ident) => {
            Pool::carve(arena, size(Resource::$resource), 0, |_, _| Some($kind::new()))?
        };
    }
    let endpoints = pool!(Endpoints, Endpoint);
    let notifications = pool!(Notifications, Notification);
    let interrupts = pool!(Interrupts, Interrupt);
    let memories = pool!(Memories, Memory);
    let mappings = pool!(Mappings, Mapping);
    let timers = pool!(Timers, Timer);
    let roots = if variant.tree { count + 1 } else { 0 };
    let reservations = Pool::carve(arena, roots + size(Resource::Reservations), 0, |_, _| {
        Some(Reservation::new())
    })?;
    let trains = pool!(Trains, Train);
    let activations = pool!(Stacks, Activation);
    let frames = FrameStack::carve::<P>(arena, frames, size(Resource::Frames))?;
    let tables = FrameStack::carve::<P>(arena, tables, size(Resource::Tables))?;
    let sizes = Sizes { cpus: count, reservations: size(Resource::Reservations) };
    let trees = (variant.carve)(arena, sizes, archive.slice())?;
    let console = Console::carve(arena, domains.size() as usize)?;
    let irqs = arena.slice(port.irqs() as usize, |_, _| Some(Cell::new(None)))?;
    let (places, secret) = (threads.size() + activations.size(), port.stamp());
    let kernel = arena.one(Kernel {
        port,
        guards: P::LockPolicy::shared(count),
        variant,
        domains,
        threads,
        endpoints,
        notifications,
        interrupts,
        memories,
        mappings,
        timers,
        reservations,
        trains,
        activations,
        frames,
        tables,
        slots,
        irqs,
        trees,
        waits: Waits::new(),
        console,
        chains: archive.word(WORD_CHAINS) != 0,
        cpus: Cell::new(&[]),
        secret,
        shared_key: identity::shared_key(secret),
        place_bits: identity::place_bits(places),
        shootdowns: Cell::new(0),
    })?;
    kernel.make_roots(&Exclusive::of_boot(arena));
    let first = kernel.domains.take(&Exclusive::of_boot(arena), None);
    assert!(first == domain, "the kernel's domain comes first");
    carve_cpus(kernel, archive, arena, count)
}

/// The pool of so many domains, whose root tables are in frames from an address on. Those of the
/// archive have the capability tables that it says. With the slots of all.
#[init]
fn carve_domains<P: Port>(
    archive: Archive,
    arena: &mut Arena,
    (count, roots): (usize, u64),
) -> Option<(Pool<Domain<P>>, u32)> {
    let mut slots = 0;
    let table_sizes = || archive.records().filter(|(record, _)| *record == Record::Domain);
    let domains = Pool::carve(arena, count, 0, |arena, index| {
        let boot = index.checked_sub(1).and_then(|nth| table_sizes().nth(nth));
        let length = match boot {
            Some((_, at)) => (archive.word(at + 4) as u32).max(TABLE_SLOTS),
            None if index == 0 => 0,
            None => TABLE_SLOTS,
        };
        slots += length;
        let table = arena.slice(length as usize, |_, _| Some(Steady::new(Capability::Empty)))?;
        Some(Domain::new(roots + index as u64 * P::PAGE, table))
    })?;
    Some((domains, slots))
}

#[init]
fn cpu_count<P: Port>(archive: Archive) -> usize {
    let count = archive.word(WORD_CPUS) as usize;
    let most = if P::SMP { MOST_CPUS } else { 1 };
    assert!((1..=most).contains(&count), "this kernel cannot have {count} CPUs");
    count
}

/// So many CPUs. The first one boots.
#[init]
fn carve_cpus<P: Port>(
    kernel: &'static Kernel<P>,
    archive: Archive,
    arena: &mut Arena,
    count: usize,
) -> Option<Machine<P>> {
    let cpus = arena.slice(count, |arena, number| {
        Some(cpu(kernel, archive, &Exclusive::of_boot(arena), number as u32))
    })?;
    kernel.cpus.set(cpus);
    Some(Machine { kernel, cpu: cpus.first()? })
}

/// A CPU with its idle thread.
#[init]
fn cpu<P: Port>(
    kernel: &'static Kernel<P>,
    archive: Archive,
    all: &Exclusive<'_>,
    number: u32,
) -> Cpu<P> {
    let idle = kernel.threads.take(all, None);
    let thread = all.open(idle);
    thread.base_priority.set(all, -1);
    thread.own_priority.set(all, -1);
    thread.priority.set(all, -1);
    thread.mark(flag::FULL);
    thread.cpu.set(all, number);
    let settings = Settings {
        tick: archive.word(WORD_TICK),
        slice: archive.word(WORD_SLICE) as u32,
        eager: kernel.variant.eager,
        lazy_dequeues: archive.word(WORD_LAZY_DEQUEUES) as u32,
    };
    let Settings { tick, slice, .. } = settings;
    assert!(tick > 0 && slice > 0, "the tick and the time slice must not be zero");
    Cpu::new(number, idle, (kernel.port, &kernel.trees, &kernel.waits), settings)
}

/// Builds what the archive describes; threads become ready in the order of their records.
#[init]
pub fn build<P: Port>(manager: &Manager<'_, P>, archive: Archive, arena: &mut Arena) {
    let count = archive.records().count();
    let Some(objects) = arena.slice(count, |_, _| Some(Cell::new(None))) else {
        panic!("the manifest's objects do not fit into RAM")
    };
    let mut builder = Builder { manager, archive, arena, objects, made: 0 };
    for (record, at) in archive.records() {
        builder.execute(record, at);
    }
}

struct Builder<'a, 'm, P: Port> {
    manager: &'a Manager<'m, P>,
    archive: Archive,
    arena: &'a mut Arena,
    objects: &'static [Cell<Option<Made<P>>>],
    made: usize,
}

macro_rules! made {
    ($builder:expr, $at:expr, $field:expr, $kind:ident) => {
        match $builder.object($at, $field) {
            Made::$kind(object) => object,
            _ => panic!("the boot archive names another kind of object at word {}", $at),
        }
    };
}
use made;

impl<P: Port> Builder<'_, '_, P> {
    /// Field `index` of the record at `at`, from 1.
    #[init]
    fn field(&self, at: usize, index: usize) -> u64 {
        self.archive.word(at + index)
    }

    #[init]
    fn object(&self, at: usize, index: usize) -> Made<P> {
        let number = self.field(at, index) as usize;
        match self.objects.get(number).and_then(Cell::get) {
            Some(made) => made,
            None => panic!("the boot archive names object {number} before it exists"),
        }
    }

    #[init]
    fn owner(&self, at: usize, index: usize) -> Option<Ref<Domain<P>>> {
        (self.field(at, index) != NO_OWNER).then(|| made!(self, at, index, Domain))
    }

    #[init]
    pub(super) fn notification(&self, at: usize, index: usize) -> Option<Weak<Notification<P>>> {
        let present = self.field(at, index) != NONE;
        present.then(|| Weak::new(made!(self, at, index, Notification)))
    }

    #[init]
    fn execute(&mut self, record: Record, at: usize) {
        let made = match record {
            Record::Pools => return,
            Record::Domain => Made::Domain(self.domain(at)),
            Record::Thread => Made::Thread(self.thread(at)),
            Record::Endpoint => {
                let endpoint = self.kernel().endpoints.take(&self.manager.all, self.owner(at, 1));
                let attached = self.notification(at, 2).and_then(|weak| weak.get());
                self.manager.attach(endpoint, attached);
                Made::Endpoint(endpoint)
            }
            Record::Notification => Made::Notification(
                self.kernel().notifications.take(&self.manager.all, self.owner(at, 1)),
            ),
            Record::Interrupt => Made::Interrupt(self.interrupt(at)),
            Record::Timer => {
                let timer = self.kernel().timers.take(&self.manager.all, self.owner(at, 1));
                let body = self.manager.all.open(timer);
                body.target.set(&self.manager.all, self.notification(at, 2));
                body.badge.set(&self.manager.all, self.field(at, 3));
                Made::Timer(timer)
            }
            Record::Memory => Made::Memory(self.memory(at)),
            Record::Device => Made::Memory(self.device(at)),
            Record::Ports => Made::Memory(self.ports(at)),
            Record::Trace => return self.trace(at),
            Record::Root => Made::Reservation(self.root(at)),
            Record::Reservation => Made::Reservation(self.reservation(at)),
            Record::Window => return self.window(at),
            Record::Reserve => return self.reserve(at),
            Record::Monitor => return self.monitor(at),
            Record::Background => return self.background(at),
            Record::Accounts => return self.accounts(at),
            Record::Map => return self.map(at),
            Record::Capability => return self.capability(at),
        };
        self.objects[self.made].set(Some(made));
        self.made += 1;
    }

    #[init]
    fn kernel(&self) -> &'static Kernel<P> {
        self.manager.kernel
    }

    #[init]
    fn domain(&self, at: usize) -> Ref<Domain<P>> {
        let domain = self.kernel().domains.take(&self.manager.all, None);
        let quotas = core::array::from_fn(|index| self.field(at, 6 + index) as u32);
        let (max_priority, slots) = (self.field(at, 3) as u8, self.field(at, 4) as u32);
        assert!(
            slots <= quotas[Resource::Slots as usize],
            "a domain's quota of slots does not cover its table"
        );
        let cpus = self.field(at, 5) & self.manager.all_cpus();
        assert!(cpus != 0, "a domain may use no CPU that exists");
        self.manager.set_up_domain(domain, max_priority, (slots, cpus), &quotas);
        let body = self.manager.all.open(domain);
        body.name.set([self.field(at, 1), self.field(at, 2)]);
        domain
    }

    #[init]
    fn thread(&self, at: usize) -> Ref<Thread<P>> {
        let domain = made!(self, at, 1, Domain);
        let buffer = self.field(at, 6);
        let fits = self.manager.check_buffer(domain, buffer);
        assert!(fits.is_ok(), "a boot thread's buffer cannot be mapped");
        let thread = self.kernel().threads.take(&self.manager.all, Some(domain));
        self.manager.set_up_thread(thread, domain, self.field(at, 2) as u8, buffer);
        let body = self.manager.all.open(thread);
        body.context.set_instruction(self.field(at, 3));
        body.context.set_stack(self.field(at, 4));
        body.context.set_argument(self.field(at, 5));
        if self.field(at, 7) != NONE {
            body.handler.set(Some(Weak::new(made!(self, at, 7, Endpoint))));
            body.handler_badge.set(self.field(at, 8));
        }
        let cpu = self.field(at, 9);
        assert!(cpu < self.kernel().cpus.get().len() as u64, "a boot thread's CPU does not exist");
        let allowed = self.manager.all.open(domain).cpus.get();
        assert!(allowed >> cpu & 1 != 0, "a boot thread's CPU is not among its domain's");
        let fits = self.can_run_on(domain, cpu as u32);
        assert!(fits, "a boot thread's reservation belongs to another CPU");
        body.cpu.set(&self.manager.all, cpu as u32);
        body.clear(flag::SUSPENDED);
        self.manager.make_ready(thread);
        thread
    }

    #[init]
    fn interrupt(&self, at: usize) -> Ref<Interrupt<P>> {
        let interrupt = self.kernel().interrupts.take(&self.manager.all, self.owner(at, 1));
        let irq = self.field(at, 2);
        let body = self.manager.all.open(interrupt);
        body.irq.set(irq as u8);
        body.target.set(&self.manager.all, self.notification(at, 3));
        body.badge.set(&self.manager.all, self.field(at, 4));
        match self.kernel().irqs.get(irq as usize) {
            Some(cell) => cell.set(Some(Weak::new(interrupt))),
            None => panic!("this machine has no IRQ {irq}"),
        }
        assert!(!self.kernel().port.is_own_irq(irq as u8), "IRQ {irq} is the machine's own");
        let cpu = self.field(at, 5);
        assert!(cpu < self.kernel().cpus.get().len() as u64, "an interrupt's CPU does not exist");
        self.kernel().port.route_irq(irq as u8, cpu as u32);
        self.kernel().port.set_irq(irq as u8, true);
        interrupt
    }

    #[init]
    fn trace(&self, at: usize) {
        assert!(P::TRACE != 0, "this kernel was built without a trace");
        let (base, pages) = self.frames_of(made!(self, at, 1, Memory));
        let keep = match self.field(at, 2) {
            k if k == Keep::First as u64 => Keep::First,
            k if k == Keep::Last as u64 => Keep::Last,
            _ => panic!("the boot archive's trace keeps neither the first nor the last"),
        };
        let mask = self.field(at, 3);
        let (name, cpus) = (self.kernel().variant.name, self.kernel().cpus.get());
        for cpu in cpus {
            cpu.begin_trace(name, cpus.len() as u64, [base, pages], keep, mask);
        }
    }

    #[init]
    fn capability(&self, at: usize) {
        let domain = self.manager.all.open(made!(self, at, 1, Domain));
        let slot = self.field(at, 2) as u32;
        let (rights, badge) = (Rights(self.field(at, 4) as u8), self.field(at, 5));
        let capability = match self.field(at, 3) {
            CONSOLE => Capability::Console(rights),
            SYSTEM => Capability::System(rights),
            _ => match self.object(at, 3) {
                Made::Domain(object) => Capability::Domain(Cap::new(object, rights, badge)),
                Made::Thread(object) => Capability::Thread(Cap::new(object, rights, badge)),
                Made::Endpoint(object) => Capability::Endpoint(Cap::new(object, rights, badge)),
                Made::Notification(object) => {
                    Capability::Notification(Cap::new(object, rights, badge))
                }
                Made::Interrupt(object) => Capability::Interrupt(Cap::new(object, rights, badge)),
                Made::Memory(object) => Capability::Memory(Cap::new(object, rights, badge)),
                Made::Timer(object) => Capability::Timer(Cap::new(object, rights, badge)),
                Made::Reservation(object) => {
                    Capability::Reservation(Cap::new(object, rights, badge))
                }
            },
        };
        let free = domain.empty(slot);
        assert!(free.is_ok(), "a boot capability's slot {} is not free", slot as usize);
        domain.put(&self.manager.all, slot, capability);
    }
}
