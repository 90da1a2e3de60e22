//! Kernel state that is not per CPU: the pools.

use crate::access::{Life, Ref};
use crate::console::Console;
use crate::cpu::Cpu;
use crate::frames::FrameStack;
use crate::hidden::Key;
use crate::object::{
    Activation, Domain, Endpoint, Interrupt, Mapping, Memory, Notification, Reservation, Thread,
    Timer, Train, Weak,
};
use crate::pool::Pool;
use crate::port::Port;
use crate::tree::Trees;
use crate::variant::Variant;
use crate::waits::Waits;
use abi::object::Resource;
use cells::Cell;
use locks::LockPolicy;

/// Everything that is not per CPU.
pub struct Kernel<P: Port> {
    /// The machine.
    pub port: &'static P,
    /// What guards all of this on several CPUs.
    pub guards: <P::LockPolicy as LockPolicy>::Shared,
    /// Which kernel it is.
    pub variant: Variant<P>,
    /// Domains; the first is the kernel's own, which the idle thread runs in.
    pub domains: Pool<Domain<P>>,
    /// Threads; the first is the idle thread.
    pub threads: Pool<Thread<P>>,
    /// Endpoints.
    pub endpoints: Pool<Endpoint<P>>,
    /// Notifications.
    pub notifications: Pool<Notification<P>>,
    /// Interrupts.
    pub interrupts: Pool<Interrupt<P>>,
    /// Memory objects.
    pub memories: Pool<Memory<P>>,
    /// Mappings.
    pub mappings: Pool<Mapping<P>>,
    /// Timers.
    pub timers: Pool<Timer<P>>,
    /// Reservations; the roots of the CPUs come first.
    pub reservations: Pool<Reservation<P>>,
    /// Trains.
    pub trains: Pool<Train<P>>,
    /// Their stacks.
    pub activations: Pool<Activation<P>>,
    /// Free frames for memory objects.
    pub frames: FrameStack,
    /// Free frames for page tables.
    pub tables: FrameStack,
    /// Capability slots in all tables.
    pub slots: u32,
    /// The handler of each IRQ.
    pub irqs: &'static [Cell<Option<Weak<Interrupt<P>>>>],
    /// The scheduling tree, of a kernel that has one.
    pub trees: Trees<P>,
    /// Waits along which threads lend what they have.
    pub waits: Waits<P>,
    /// Text on its way to the console.
    pub console: Console,
    /// Whether a chain of transfers is left when an interrupt waits (S0-41).
    pub chains: bool,
    /// The CPUs.
    pub cpus: Cell<&'static [Cpu<P>]>,
    /// What [ids](crate::manage::futex::identity) are made with, so that they tell programs
    /// nothing.
    pub secret: u64,
    /// The same of ids in shared memory.
    pub shared_key: Key,
    /// Bits of a place in an id.
    pub place_bits: u32,
    /// TLB shootdowns that were requested so far.
    pub shootdowns: Cell<u64>,
}

impl<P: Port> Kernel<P> {
    /// How many of a resource are in use, and how many there are.
    pub fn usage(&'static self, resource: Resource) -> (u32, u32) {
        fn of<T>(pool: &Pool<T>) -> (u32, u32) {
            (pool.used(), pool.size())
        }
        let swap = |(size, used)| (used, size);
        match resource {
            Resource::Domains => of(&self.domains),
            Resource::Threads => of(&self.threads),
            Resource::Endpoints => of(&self.endpoints),
            Resource::Notifications => of(&self.notifications),
            Resource::Interrupts => of(&self.interrupts),
            Resource::Memories => of(&self.memories),
            Resource::Mappings => of(&self.mappings),
            Resource::Timers => of(&self.timers),
            Resource::Frames => swap(self.frames.size_and_used()),
            Resource::Tables => swap(self.tables.size_and_used()),
            Resource::Slots => (self.slots_in_use(), self.slots),
            Resource::Reservations => of(&self.reservations),
            Resource::Trains => of(&self.trains),
            Resource::Stacks => of(&self.activations),
        }
    }

    fn slots_in_use(&'static self) -> u32 {
        (0..self.domains.size())
            .filter_map(|index| self.live_domain(index))
            .map(|domain| domain.limit.get())
            .sum()
    }

    /// The domain with this index, if it exists.
    pub fn live_domain(&'static self, index: u32) -> Option<Ref<Domain<P>>> {
        self.domains.get(index).filter(|domain| domain.life() == Life::Live)
    }
}
