//! Kernel objects: one file each.

pub mod activation;
pub mod capability;
pub mod deadlines;
pub mod domain;
pub mod endpoint;
pub mod inherit;
pub mod interrupt;
pub(crate) mod kinds;
pub mod mapping;
pub mod memory;
pub mod notification;
pub mod reservation;
pub mod thread;
pub mod timer;
pub mod train;
pub mod waiter;

pub use activation::Activation;
pub use domain::Domain;
pub use endpoint::Endpoint;
pub use interrupt::Interrupt;
pub use mapping::Mapping;
pub use memory::Memory;
pub use notification::Notification;
pub use reservation::Reservation;
pub use thread::Thread;
pub use timer::Timer;
pub use train::Train;

use crate::access::{Object, Ref};
use crate::port::{Lock, Port};
use abi::object::Resource;
use cells::Cell;

/// A kind of object that lies in a pool.
pub trait Pooled<P: Port>: Object {
    /// Whether there can be any in this image.
    const EXISTS: bool = true;
    /// The pool and quota that it is taken from.
    const RESOURCE: Resource;
    /// The domain whose quota it is charged to; `None`: it is charged to none.
    fn owner(&self) -> &Cell<Option<Ref<Domain<P>>>>;
}

/// A kind of object that messages change, each under its own lock. All others change only while
/// everything is held.
pub trait Lockable<P: Port>: Object {
    /// The lock.
    fn lock(header: &Self::Header) -> &Lock<P>;
}

/// Makes the field `header` of objects their header, which their bodies dereference to.
macro_rules! headers {
    ($($kind:ident in $module:ident),*) => {$(
        impl<P: Port> Object for $kind<P> {
            type Header = $module::Header<P>;
            #[inline(always)]
            fn header(&self) -> &Self::Header {
                &self.header
            }
        }

        impl<P: Port> core::ops::Deref for $kind<P> {
            type Target = $module::Header<P>;
            #[inline(always)]
            fn deref(&self) -> &Self::Target {
                &self.header
            }
        }
    )*};
}

headers! {
    Domain in domain, Thread in thread, Endpoint in endpoint, Notification in notification,
    Interrupt in interrupt, Mapping in mapping, Timer in timer, Reservation in reservation,
    Activation in activation
}

macro_rules! without_headers {
    ($($kind:ident)*) => {$(
        impl<P: Port> Object for $kind<P> {
            type Header = ();
            fn header(&self) -> &() {
                &()
            }
        }
    )*};
}
without_headers!(Memory Train);

macro_rules! lockable {
    ($($kind:ident)*) => {$(
        impl<P: Port> Lockable<P> for $kind<P> {
            #[inline(always)]
            fn lock(header: &Self::Header) -> &Lock<P> {
                &header.lock
            }
        }
    )*};
}
lockable!(Thread Endpoint Notification);

/// A tie that another object keeps and that ends with its target. It is no capability:
/// revocation leaves it alone.
pub struct Weak<T: 'static> {
    at: Ref<T>,
    incarnation: u64,
}

impl<T> Clone for Weak<T> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T> Copy for Weak<T> {}

impl<T> Weak<T> {
    /// Refers to the object as it is now.
    pub fn new(at: Ref<T>) -> Weak<T> {
        Weak { at, incarnation: at.incarnation() }
    }

    /// The target, if it has not been destroyed.
    #[inline(always)]
    pub fn get(self) -> Option<Ref<T>> {
        (self.at.incarnation() == self.incarnation).then_some(self.at)
    }
}
