//! What a capability of the manifest leads to.

use abi::Kind;

/// The object of a capability.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// The endpoint with this index.
    Endpoint(usize),
    /// The notification with this index.
    Notification(usize),
    /// The interrupt with this index.
    Interrupt(usize),
    /// The timer with this index.
    Timer(usize),
    /// The memory with this index.
    Memory(usize),
    /// The domain with this index.
    Domain(usize),
    /// The first thread of the domain with this index.
    Thread(usize),
    /// What the supervisor maps into the child of this number, and never changes.
    Image(usize),
    /// The reservation with this index.
    Reservation(usize),
    /// The root class of this CPU, or of [`ALL_CPUS`](abi::boot::ALL_CPUS).
    Root(u32),
    /// The text console.
    Console,
    /// The machine.
    System,
}

impl Target {
    /// The kind of the object.
    pub fn kind(self) -> Kind {
        match self {
            Target::Endpoint(_) => Kind::Endpoint,
            Target::Notification(_) => Kind::Notification,
            Target::Interrupt(_) => Kind::Interrupt,
            Target::Timer(_) => Kind::Timer,
            Target::Memory(_) | Target::Image(_) => Kind::Memory,
            Target::Domain(_) => Kind::Domain,
            Target::Thread(_) => Kind::Thread,
            Target::Reservation(_) | Target::Root(_) => Kind::Reservation,
            Target::Console => Kind::Console,
            Target::System => Kind::System,
        }
    }
}
