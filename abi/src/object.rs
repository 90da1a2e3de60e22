//! Kinds of kernel object.

use crate::Rights;

/// What a capability names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Kind {
    /// A protection domain: address space, capability table and quotas.
    Domain = 1,
    /// A thread.
    Thread = 2,
    /// A meeting point of senders and receivers.
    Endpoint = 3,
    /// A word of signal bits that threads wait for.
    Notification = 4,
    /// A hardware interrupt (IRQ), delivered as a signal.
    Interrupt = 5,
    /// Page frames that can be mapped.
    Memory = 6,
    /// A range of one domain's addresses backed by memory.
    Mapping = 7,
    /// A one-shot timer, delivered as a signal.
    Timer = 8,
    /// The right to answer one call.
    Reply = 9,
    /// The text console.
    Console = 10,
    /// The machine: statistics of all domains, and ending the run.
    System = 11,
    /// A right to CPU time, or a class of such rights.
    Reservation = 12,
    /// An entry into a domain, with stacks for those who enter.
    Train = 13,
}

impl Kind {
    /// All kinds, in the order of their codes.
    pub const ALL: [Kind; 13] = [
        Kind::Domain,
        Kind::Thread,
        Kind::Endpoint,
        Kind::Notification,
        Kind::Interrupt,
        Kind::Memory,
        Kind::Mapping,
        Kind::Timer,
        Kind::Reply,
        Kind::Console,
        Kind::System,
        Kind::Reservation,
        Kind::Train,
    ];

    /// The kind with this code.
    pub fn from_code(code: u64) -> Option<Kind> {
        Kind::ALL.get((code as usize).wrapping_sub(1)).copied()
    }

    /// The rights that are its own, with their names, as manifests and the shell spell them. Those
    /// of all kinds are [`Rights::COMMON`].
    pub fn own_rights(self) -> &'static [(&'static str, Rights)] {
        match self {
            Kind::Endpoint | Kind::Reply => {
                &[("send", Rights::SEND), ("receive", Rights::RECEIVE), ("grant", Rights::GRANT)]
            }
            Kind::Notification => &[("signal", Rights::SEND), ("receive", Rights::RECEIVE)],
            Kind::Memory => &[
                ("read", Rights::READ),
                ("write", Rights::WRITE),
                ("execute", Rights::EXECUTE),
                ("physical", Rights::PHYSICAL),
            ],
            Kind::Reservation => &[
                ("control", Rights::CONTROL),
                ("reserve", Rights::RESERVE),
                ("divide", Rights::DIVIDE),
            ],
            Kind::Train => &[("send", Rights::SEND)],
            _ => &[("control", Rights::CONTROL)],
        }
    }

    /// The kind's name in lower case, as manifests and the shell spell it.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Domain => "domain",
            Kind::Thread => "thread",
            Kind::Endpoint => "endpoint",
            Kind::Notification => "notification",
            Kind::Interrupt => "interrupt",
            Kind::Memory => "memory",
            Kind::Mapping => "mapping",
            Kind::Timer => "timer",
            Kind::Reply => "reply",
            Kind::Console => "console",
            Kind::System => "system",
            Kind::Reservation => "reservation",
            Kind::Train => "train",
        }
    }
}

/// Resources that have a pool and a quota, in the order of the quota arrays of [`crate::boot`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Resource {
    /// Domains.
    Domains = 0,
    /// Threads; each brings one page frame for its message buffer.
    Threads = 1,
    /// Endpoints.
    Endpoints = 2,
    /// Notifications.
    Notifications = 3,
    /// Interrupts.
    Interrupts = 4,
    /// Memory objects.
    Memories = 5,
    /// Mappings.
    Mappings = 6,
    /// Timers.
    Timers = 7,
    /// Page frames of memory objects that programs create; each object takes one more than it
    /// has pages, for its index.
    Frames = 8,
    /// Page-table frames.
    Tables = 9,
    /// Capability slots.
    Slots = 10,
    /// Reservations of CPU time.
    Reservations = 11,
    /// Trains.
    Trains = 12,
    /// Stacks of trains, each with what the kernel keeps of the thread on it.
    Stacks = 13,
}

/// The most threads of a system: traces name one in 16 bits, the idle ones included.
pub const MOST_THREADS: usize = 65_000;

impl Resource {
    /// How many resources there are.
    pub const COUNT: usize = 14;

    /// All resources, in order.
    pub const ALL: [Resource; Resource::COUNT] = [
        Resource::Domains,
        Resource::Threads,
        Resource::Endpoints,
        Resource::Notifications,
        Resource::Interrupts,
        Resource::Memories,
        Resource::Mappings,
        Resource::Timers,
        Resource::Frames,
        Resource::Tables,
        Resource::Slots,
        Resource::Reservations,
        Resource::Trains,
        Resource::Stacks,
    ];

    /// The resource's name, as manifests and the shell spell it.
    pub fn name(self) -> &'static str {
        match self {
            Resource::Domains => "domains",
            Resource::Threads => "threads",
            Resource::Endpoints => "endpoints",
            Resource::Notifications => "notifications",
            Resource::Interrupts => "interrupts",
            Resource::Memories => "memories",
            Resource::Mappings => "mappings",
            Resource::Timers => "timers",
            Resource::Frames => "frames",
            Resource::Tables => "tables",
            Resource::Slots => "slots",
            Resource::Reservations => "reservations",
            Resource::Trains => "trains",
            Resource::Stacks => "stacks",
        }
    }
}
