//! Capabilities: what a domain can name.

use crate::access::{Exclusive, Life, Ref};
use crate::assertion::panic_cold;
use crate::object::domain::Header;
use crate::object::kinds::kinds;
use crate::object::{
    Domain, Endpoint, Interrupt, Mapping, Memory, Notification, Pooled, Reservation, Thread, Timer,
    Train,
};
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

    /// Rights and badge, if it is not stale.
    #[inline(always)]
    fn look(self) -> Result<(Rights, u64), Error> {
        self.check(Rights::NONE).map(|cap| (cap.rights, cap.badge))
    }

    /// Makes every other capability to the object stale; this one renewed.
    #[inline(always)]
    fn renew(self, all: &Exclusive<'_>) -> Result<Cap<T>, Error> {
        let cap = self.check(Rights::REVOKE)?;
        cap.at.bump(all);
        Ok(Cap::new(cap.at, cap.rights, cap.badge))
    }

    /// Whether it is valid, but its object is not there.
    fn is_vacant(self) -> bool {
        self.check(Rights::NONE).is_ok() && self.at.life() != Life::Live
    }

    /// Whether the object has since begun to be destroyed, through a capability of the same
    /// generation as this one.
    pub fn is_dying(self) -> bool {
        self.at.life() == Life::Dying && self.at.generation() == self.generation + 1
    }
}

macro_rules! capability {
    ($($(#[$doc:meta])* $kind:ident $badge:ident $may:ident $destroy:ident,)*) => {
        /// The content of a slot. A kind's code tells the variant.
        #[repr(u8)]
        pub enum Capability<P: Port> {
            /// Nothing.
            Empty = 0,
            $($(#[$doc])* $kind(Cap<$kind<P>>) = Kind::$kind as u8,)*
            /// The right to answer one call of a thread; the badge is the call's number.
            Reply(Cap<Thread<P>>) = Kind::Reply as u8,
            /// The console.
            Console(Rights) = Kind::Console as u8,
            /// The machine.
            System(Rights) = Kind::System as u8,
        }
    };
}
kinds!(capability);

impl<P: Port> Clone for Capability<P> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}
impl<P: Port> Copy for Capability<P> {}

macro_rules! operations {
    ($($(#[$doc:meta])* $kind:ident $badge:ident $may:ident $destroy:ident,)*) => {
        /// The kind of object; `None` for an empty slot.
        pub fn kind(self) -> Option<Kind> {
            Some(match self {
                Capability::Empty => return None,
                $(Capability::$kind(_) => Kind::$kind,)*
                Capability::Reply(_) => Kind::Reply,
                Capability::Console(_) => Kind::Console,
                Capability::System(_) => Kind::System,
            })
        }

        /// Rights and badge of a capability that is not stale.
        pub fn inspect(self) -> Result<(Rights, u64), Error> {
            match self {
                Capability::Empty => Err(Error::NoCapability),
                $(Capability::$kind(cap) => exists::<P, $kind<P>>().and_then(|()| cap.look()),)*
                Capability::Reply(cap) => cap.look(),
                Capability::Console(rights) | Capability::System(rights) => Ok((rights, 0)),
            }
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
                $(Capability::$kind(cap) => {
                    exists::<P, $kind<P>>()?;
                    Capability::$kind(Cap { rights, badge: copied!($badge, old, badge), ..cap })
                })*
                Capability::Reply(_) => return Err(Error::MissingRight),
                Capability::Console(_) => {
                    copied!(plain, old, badge);
                    Capability::Console(rights)
                }
                Capability::System(_) => {
                    copied!(plain, old, badge);
                    Capability::System(rights)
                }
                Capability::Empty => Capability::Empty,
            })
        }

        /// Makes every other capability to the object stale and returns this one renewed.
        pub fn revoke(self, all: &Exclusive<'_>) -> Result<Capability<P>, Error> {
            match self {
                Capability::Empty => Err(Error::NoCapability),
                $(Capability::$kind(cap) => {
                    exists::<P, $kind<P>>()?;
                    cap.renew(all).map(Capability::$kind)
                })*
                Capability::Reply(_) | Capability::Console(_) | Capability::System(_) => {
                    Err(Error::WrongKind)
                }
            }
        }

        /// Whether it is valid, but its object is not there: for tests.
        pub(crate) fn names_vacant(self) -> bool {
            match self {
                $(Capability::$kind(cap) => cap.is_vacant(),)*
                Capability::Reply(cap) => cap.is_vacant(),
                Capability::Empty | Capability::Console(_) | Capability::System(_) => false,
            }
        }
    };
}

/// An image that cannot have objects of a kind has no code for them.
#[inline(always)]
fn exists<P: Port, T: Pooled<P>>() -> Result<(), Error> {
    if T::EXISTS { Ok(()) } else { Err(Error::Stale) }
}

/// The badge of a copy, for which one may be asked where capabilities of the kind carry a badge.
macro_rules! copied {
    (badge, $old:expr, $badge:expr) => {
        minted($old, $badge)?
    };
    (plain, $old:expr, $badge:expr) => {
        if $badge != 0 { return Err(Error::WrongKind) } else { $old }
    };
}

impl<P: Port> Capability<P> {
    kinds!(operations);
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
    ($($(#[$doc:meta])* $kind:ident $badge:ident $may:ident $destroy:ident,)*) => {$(
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
kinds!(named);

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
        let Some(cell) = self.slots.get(slot as usize) else {
            panic_cold!("a slot beyond the domain's table")
        };
        cell.set(all, capability);
    }

    /// [`Header::put`], out of line.
    #[inline(never)]
    pub fn put_slowly(&self, all: &Exclusive<'_>, slot: u32, capability: Capability<P>) {
        self.put(all, slot, capability);
    }
}
