//! Kernel objects: one file each.

pub mod domain;
pub mod endpoint;
pub mod interrupt;
pub mod mapping;
pub mod memory;
pub mod notification;
pub mod thread;
pub mod timer;

pub use domain::Domain;
pub use endpoint::Endpoint;
pub use interrupt::Interrupt;
pub use mapping::Mapping;
pub use memory::Memory;
pub use notification::Notification;
pub use thread::Thread;
pub use timer::Timer;

use crate::access::Ref;
use crate::port::{Lock, Port};
use abi::object::Resource;
use cells::Cell;

/// What all kinds of object have in common.
pub trait Object<P: Port>: Sized + 'static {
    /// The pool and quota that it is taken from.
    const RESOURCE: Resource;
    /// The domain whose quota it is charged to; `None`: nobody's.
    fn owner(&self) -> &Cell<Option<Ref<Domain<P>>>>;
    /// The lock that guards it singly; `None`: it changes only while everything is held.
    fn lock(&self) -> Option<&Lock<P>> {
        None
    }
}

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
