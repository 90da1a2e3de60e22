//! Capabilities: what a domain can name.

use crate::access::{Exclusive, Ref};
use crate::object::domain::Header;
use crate::object::{Domain, Endpoint, Interrupt, Mapping, Memory, Notification, Thread, Timer};
use crate::port::Port;
use abi::{Error, Kind, Rights};

/// A capability to an object: which one, since when, and what for.
pub struct Cap<T: 'static> {
    /// The object.
    pub at: Ref<T>,
    /// Passed on by the kernel as the sender's identity, or the bits of a signal.
    pub badge: u64,
    generation: u64,
    /// What it may be used for.
    pub rights: Rights,
}

impl<T> Clone for Cap<T> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}
impl<T> Copy for Cap<T> {}

impl<T> Cap<T> {
    /// A capability to the object as it is now.
    pub fn new(at: Ref<T>, rights: Rights, badge: u64) -> Cap<T> {
        Cap { at, badge, generation: at.generation(), rights }
    }

    /// Checks generation and rights.
    #[inline(always)]
    pub fn check(self, rights: Rights) -> Result<Cap<T>, Error> {
        if self.generation != self.at.generation() {
            return Err(Error::Stale);
        }
        if !self.rights.contains(rights) {
            return Err(Error::MissingRight);
        }
        Ok(self)
    }

    /// Whether the object has since begun to be destroyed, by nobody but a holder of this very
    /// capability's generation.
    pub fn is_dying(self) -> bool {
        self.at.life() == crate::access::Life::Dying && self.at.generation() == self.generation + 1
    }
}

/// The content of a slot.
pub enum Capability<P: Port> {
    /// Nothing.
    Empty,
    /// A domain.
    Domain(Cap<Domain<P>>),
    /// A thread.
    Thread(Cap<Thread<P>>),
    /// An endpoint.
    Endpoint(Cap<Endpoint<P>>),
    /// A notification.
    Notification(Cap<Notification<P>>),
    /// An interrupt.
    Interrupt(Cap<Interrupt<P>>),
    /// Memory.
    Memory(Cap<Memory<P>>),
    /// A mapping.
    Mapping(Cap<Mapping<P>>),
    /// A timer.
    Timer(Cap<Timer<P>>),
    /// The right to answer one call of a thread; the badge is the call's number.
    Reply(Cap<Thread<P>>),
    /// The console.
    Console(Rights),
    /// The machine.
    System(Rights),
}

impl<P: Port> Clone for Capability<P> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}
impl<P: Port> Copy for Capability<P> {}

/// Calls `$body` with the `Cap` of any variant that has one.
macro_rules! with_cap {
    ($capability:expr, $cap:ident => $body:expr, rights $rights:ident => $other:expr) => {
        match $capability {
            Capability::Empty => Err(Error::NoCapability),
            Capability::Domain($cap) => $body,
            Capability::Thread($cap) => $body,
            Capability::Endpoint($cap) => $body,
            Capability::Notification($cap) => $body,
            Capability::Interrupt($cap) => $body,
            Capability::Memory($cap) => $body,
            Capability::Mapping($cap) => $body,
            Capability::Timer($cap) => $body,
            Capability::Reply($cap) => $body,
            Capability::Console($rights) | Capability::System($rights) => $other,
        }
    };
}

impl<P: Port> Capability<P> {
    /// The kind of object; `None` for an empty slot.
    pub fn kind(self) -> Option<Kind> {
        Some(match self {
            Capability::Empty => return None,
            Capability::Domain(_) => Kind::Domain,
            Capability::Thread(_) => Kind::Thread,
            Capability::Endpoint(_) => Kind::Endpoint,
            Capability::Notification(_) => Kind::Notification,
            Capability::Interrupt(_) => Kind::Interrupt,
            Capability::Memory(_) => Kind::Memory,
            Capability::Mapping(_) => Kind::Mapping,
            Capability::Timer(_) => Kind::Timer,
            Capability::Reply(_) => Kind::Reply,
            Capability::Console(_) => Kind::Console,
            Capability::System(_) => Kind::System,
        })
    }

    /// Rights and badge of a capability that is not stale.
    pub fn inspect(self) -> Result<(Rights, u64), Error> {
        with_cap!(self,
            cap => cap.check(Rights::NONE).map(|cap| (cap.rights, cap.badge)),
            rights rights => Ok((rights, 0)))
    }

    /// A copy with at most these rights and, where the original has none, a badge. Needs the
    /// right to copy; a reply right cannot be copied.
    #[inline(always)]
    pub fn copy(self, limit: Rights, badge: u64) -> Result<Capability<P>, Error> {
        let (rights, old) = self.inspect()?;
        if !rights.contains(Rights::COPY) {
            return Err(Error::MissingRight);
        }
        let rights = rights.and(limit);
        Ok(match self {
            Capability::Endpoint(cap) => {
                Capability::Endpoint(Cap { rights, badge: minted(old, badge)?, ..cap })
            }
            Capability::Notification(cap) => {
                Capability::Notification(Cap { rights, badge: minted(old, badge)?, ..cap })
            }
            Capability::Reply(_) => return Err(Error::MissingRight),
            _ if badge != 0 => return Err(Error::WrongKind),
            Capability::Console(_) => Capability::Console(rights),
            Capability::System(_) => Capability::System(rights),
            Capability::Domain(cap) => Capability::Domain(Cap { rights, ..cap }),
            Capability::Thread(cap) => Capability::Thread(Cap { rights, ..cap }),
            Capability::Interrupt(cap) => Capability::Interrupt(Cap { rights, ..cap }),
            Capability::Memory(cap) => Capability::Memory(Cap { rights, ..cap }),
            Capability::Mapping(cap) => Capability::Mapping(Cap { rights, ..cap }),
            Capability::Timer(cap) => Capability::Timer(Cap { rights, ..cap }),
            Capability::Empty => Capability::Empty,
        })
    }

    /// Makes every other capability to the object stale and returns this one renewed.
    pub fn revoke(self, all: &Exclusive<'_>) -> Result<Capability<P>, Error> {
        macro_rules! renew {
            ($variant:ident, $cap:ident) => {{
                let cap = $cap.check(Rights::REVOKE)?;
                cap.at.bump(all);
                Ok(Capability::$variant(Cap::new(cap.at, cap.rights, cap.badge)))
            }};
        }
        match self {
            Capability::Empty => Err(Error::NoCapability),
            Capability::Domain(cap) => renew!(Domain, cap),
            Capability::Thread(cap) => renew!(Thread, cap),
            Capability::Endpoint(cap) => renew!(Endpoint, cap),
            Capability::Notification(cap) => renew!(Notification, cap),
            Capability::Interrupt(cap) => renew!(Interrupt, cap),
            Capability::Memory(cap) => renew!(Memory, cap),
            Capability::Mapping(cap) => renew!(Mapping, cap),
            Capability::Timer(cap) => renew!(Timer, cap),
            Capability::Reply(_) | Capability::Console(_) | Capability::System(_) => {
                Err(Error::WrongKind)
            }
        }
    }
}

fn minted(old: u64, badge: u64) -> Result<u64, Error> {
    match (old, badge) {
        (old, 0) => Ok(old),
        (0, badge) => Ok(badge),
        _ => Err(Error::InvalidArgument),
    }
}

/// A kind of object that a capability can name.
pub trait Named<P: Port>: Sized + 'static {
    /// The capability, if it is one to this kind.
    fn named(capability: &Capability<P>) -> Option<&Cap<Self>>;
}

macro_rules! named {
    ($($kind:ident)*) => {$(
        impl<P: Port> Named<P> for $kind<P> {
            #[inline(always)]
            fn named(capability: &Capability<P>) -> Option<&Cap<Self>> {
                match capability {
                    Capability::$kind(cap) => Some(cap),
                    _ => None,
                }
            }
        }
    )*};
}
named!(Domain Thread Endpoint Notification Interrupt Memory Mapping Timer);

impl<P: Port> Header<P> {
    /// The content of a slot; an error where there is none.
    #[inline(always)]
    pub fn slot(&self, slot: u32) -> Result<Capability<P>, Error> {
        match self.slots.get(slot as usize) {
            Some(cell) => match cell.get() {
                Capability::Empty => Err(Error::NoCapability),
                capability => Ok(capability),
            },
            None => Err(Error::NoCapability),
        }
    }

    /// The capability in a slot, checked for kind, generation and rights.
    #[inline(always)]
    pub fn named<T: Named<P>>(&self, slot: u32, rights: Rights) -> Result<Cap<T>, Error> {
        match T::named(&self.slot(slot)?) {
            Some(cap) => cap.check(rights),
            None => Err(Error::WrongKind),
        }
    }

    /// A copy of the capability in a slot, as [`Capability::copy`] makes it.
    #[inline(never)]
    pub fn copied(&self, slot: u32, limit: Rights, badge: u64) -> Result<Capability<P>, Error> {
        self.slot(slot)?.copy(limit, badge)
    }

    /// Checks that a slot exists and is empty.
    pub fn empty(&self, slot: u32) -> Result<(), Error> {
        if slot == 0 || slot >= self.limit.get() {
            return Err(Error::NoCapability);
        }
        match self.slots.get(slot as usize).map(|cell| cell.get()) {
            Some(Capability::Empty) => Ok(()),
            Some(_) => Err(Error::SlotOccupied),
            None => Err(Error::NoCapability),
        }
    }

    /// Fills a slot that [`Header::empty`] has accepted, or changes it.
    pub fn put(&self, all: &Exclusive<'_>, slot: u32, capability: Capability<P>) {
        self.slots[slot as usize].set(all, capability);
    }

    /// [`Header::put`], out of line.
    #[inline(never)]
    pub fn put_slowly(&self, all: &Exclusive<'_>, slot: u32, capability: Capability<P>) {
        self.put(all, slot, capability);
    }
}
