//! Field classes: what an access to a field of an object's header has to prove.
//!
//! A proof is a value that cannot be made without having the right, and of which nothing is left
//! in machine code. A reference to an object's body comes out of a [`Guard`](super::Guard) or of
//! an [`Exclusive`]; so it proves that the object is held.

use super::{Exclusive, Link, Ref};
use cells::{Cell, Shared, Word};
use core::marker::PhantomData;

/// What may be looked at while it is not held. What is seen then is looked at again under the lock.
pub trait Look {
    /// What is seen.
    type Seen;
    /// Looks.
    fn look(&self) -> Self::Seen;
}

impl<T: Word> Look for Shared<T> {
    type Seen = T;
    #[inline(always)]
    fn look(&self) -> T {
        self.get()
    }
}

impl<T> Look for Link<T> {
    type Seen = Option<Ref<T>>;
    #[inline(always)]
    fn look(&self) -> Option<Ref<T>> {
        self.get()
    }
}

/// Looked at by all, changed only while the object is held.
///
/// ```
/// # use kernel::access::{Link, Peek};
/// # struct Endpoint(u64);
/// # let (body, first) = (Endpoint(0), Peek::<Link<Endpoint>, Endpoint>::new(Link::new()));
/// assert!(first.get().is_none());
/// # struct Server { first: Peek<Link<Endpoint>, Server> }
/// # let server = Server { first: Peek::new(Link::new()) };
/// server.first.open(&server).set(None);
/// ```
///
/// Another object is no proof:
///
/// ```compile_fail,E0308
/// # use kernel::access::{Link, Peek};
/// # struct Endpoint(u64);
/// # struct Server { first: Peek<Link<Endpoint>, Server> }
/// # let (server, endpoint) = (Server { first: Peek::new(Link::new()) }, Endpoint(0));
/// server.first.open(&endpoint).set(None);
/// ```
pub struct Peek<V, O>(V, PhantomData<fn(&O)>);

impl<V, O> Peek<V, O> {
    /// A field with this content.
    pub const fn new(content: V) -> Peek<V, O> {
        Peek(content, PhantomData)
    }

    /// Opens the field of an object that is held.
    #[inline(always)]
    pub fn open(&self, object: &O) -> &V {
        debug_assert!(is_part(&self.0, object), "the field of another object");
        &self.0
    }
}

impl<V: Look, O> Peek<V, O> {
    /// Looks at it.
    #[inline(always)]
    pub fn get(&self) -> V::Seen {
        self.0.look()
    }
}

/// Whether a field lies in an object.
fn is_part<V, O>(field: &V, object: &O) -> bool {
    let (at, first) = (core::ptr::from_ref(field).addr(), core::ptr::from_ref(object).addr());
    (first..first + size_of::<O>()).contains(&at)
}

/// Read by all that are inside the kernel, changed only by what has all of it: management and boot.
///
/// ```
/// # use kernel::access::{Exclusive, Steady};
/// fn lower(priority: &Steady<i16>, all: &Exclusive<'_>) {
///     priority.set(all, priority.get() - 1);
/// }
/// ```
///
/// ```compile_fail,E0061
/// # use kernel::access::Steady;
/// fn lower(priority: &Steady<i16>) {
///     priority.set(priority.get() - 1);
/// }
/// ```
pub struct Steady<T>(Cell<T>);

impl<T: Copy> Steady<T> {
    /// A field with this content.
    pub const fn new(content: T) -> Steady<T> {
        Steady(Cell::new(content))
    }

    /// Reads.
    #[inline(always)]
    pub fn get(&self) -> T {
        self.0.get()
    }

    /// Writes.
    #[inline(always)]
    pub fn set(&self, _all: &Exclusive<'_>, content: T) {
        self.0.set(content);
    }
}

/// What stands for the CPU that an object belongs to: a CPU, or all of the kernel.
pub trait Owner: Sealed {}

/// Keeps [`Owner`] to this crate.
pub trait Sealed {}

impl Owner for Exclusive<'_> {}
impl Sealed for Exclusive<'_> {}

/// Touched by the CPU that the object belongs to, and by what has all of the kernel.
///
/// ```compile_fail,E0277
/// # use kernel::access::OfCpu;
/// fn charge<T>(slice: &OfCpu<u32>, thread: &T) {
///     slice.set(thread, 0);
/// }
/// ```
pub struct OfCpu<T>(Cell<T>);

impl<T: Copy> OfCpu<T> {
    /// A field with this content.
    pub const fn new(content: T) -> OfCpu<T> {
        OfCpu(Cell::new(content))
    }

    /// Reads.
    #[inline(always)]
    pub fn get(&self, _cpu: &impl Owner) -> T {
        self.0.get()
    }

    /// Writes.
    #[inline(always)]
    pub fn set(&self, _cpu: &impl Owner, content: T) {
        self.0.set(content);
    }
}

/// Touched only while the queue `Q` that the object waits in is held: neighbours need not be. Which
/// queue that is cannot be told from the field.
///
/// ```compile_fail,E0308
/// # use cells::Cell;
/// # use kernel::access::OfQueue;
/// # struct Endpoint(u64);
/// # struct Thread(OfQueue<Cell<u64>, Endpoint>);
/// fn join(member: &Thread) {
///     member.0.open(member).set(1);
/// }
/// ```
pub struct OfQueue<V, Q>(V, PhantomData<fn(&Q)>);

impl<V, Q> OfQueue<V, Q> {
    /// A field with this content.
    pub const fn new(content: V) -> OfQueue<V, Q> {
        OfQueue(content, PhantomData)
    }

    /// Opens the field of a member of a queue that is held.
    #[inline(always)]
    pub fn open(&self, _queue: &Q) -> &V {
        &self.0
    }
}
