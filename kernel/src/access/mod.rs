//! Proof of access: how the core reaches object state.
//!
//! A [`Ref`] names an object and dereferences to the object's header, each field of which is of a
//! class ([`Peek`], [`Steady`], [`OfCpu`]) that says what an access has to prove. A
//! [`CriticalSection`] stands for one entry into the kernel; holding an object through it gives a
//! [`Guard`], and only that dereferences to the object's body, whose fields are cells. Several
//! shared references to a body are harmless, so no run-time borrow check is needed. Under a locking
//! that guards objects one by one, an entry takes the locks of those that it will hold before it
//! holds the first (`ipc::lock_set`).

mod class;

pub(crate) use class::Sealed;
pub use class::{Look, OfCpu, OfQueue, Owner, Peek, Steady};

use crate::arena::Arena;
use cells::{AtomicU64, SharedPtr};
use core::marker::PhantomData;
use core::mem::offset_of;
use core::ops::Deref;
use core::sync::atomic::Ordering::Relaxed;
use locks::{Holding as _, Kind, LockPolicy, ObjectLock};

/// An object: a header, which can be reached by the object's name, and all around that the body,
/// which a guard opens.
pub trait Object: Sized + 'static {
    /// The part that can be reached by name. Its fields are of classes, or never change.
    type Header: 'static;
    /// The header.
    fn header(&self) -> &Self::Header;
}

/// Whether a pool slot holds an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Life {
    /// The slot is free.
    Vacant,
    /// The object can be named.
    Live,
    /// The object is being destroyed in steps: its capabilities are stale.
    Dying,
}

/// A pool slot: the body of an object, and what outlives it.
#[repr(C)]
pub struct Guarded<T: 'static> {
    body: T,
    slot: Slot,
}

/// What is the same for slots of all kinds.
pub(crate) struct Slot {
    /// Destructions and revocations. 64 bits do not wrap: at one a nanosecond they last for 584
    /// years, 32 bits for 4 seconds.
    generation: AtomicU64,
    /// How many objects the slot has held, or a stack visits: what the kernel's own ties remember.
    incarnation: Steady<u64>,
    pub(crate) life: Steady<Life>,
    /// Index of the next free slot, while this one is vacant.
    pub(crate) next_free: Steady<u32>,
    pub(crate) index: u32,
}

impl Slot {
    /// The destruction of the object begins, unless it has: all capabilities to it are stale.
    #[inline(always)]
    pub(crate) fn begin_end(&self, all: &Exclusive<'_>) {
        if self.life.get() == Life::Live {
            self.generation.store(self.generation.load(Relaxed) + 1, Relaxed);
            self.life.set(all, Life::Dying);
            self.incarnation.set(all, self.incarnation.get() + 1);
        }
    }
}

// SAFETY: the body's cells are reached through a guard, which proves that this CPU alone touches
// them; those of the header through a class, which asks for a proof; and those of the slot change
// only where every object is held.
unsafe impl<T> Sync for Guarded<T> {}

impl<T> Guarded<T> {
    /// Where a debugger finds whether there is an object.
    pub const LIFE: usize = offset_of!(Self, slot) + offset_of!(Slot, life);
    /// Where it finds which of all objects there it is.
    pub const INCARNATION: usize = offset_of!(Self, slot) + offset_of!(Slot, incarnation);
    /// Where it finds the slot's index.
    pub const INDEX: usize = offset_of!(Self, slot) + offset_of!(Slot, index);

    /// A vacant slot.
    pub fn vacant(body: T, index: u32, generation: u64) -> Guarded<T> {
        let slot = Slot {
            generation: AtomicU64::new(generation),
            incarnation: Steady::new(0),
            life: Steady::new(Life::Vacant),
            next_free: Steady::new(0),
            index,
        };
        Guarded { body, slot }
    }
}

/// The name of an object: always valid memory, since pools live for ever. It dereferences to the
/// object's header. The body takes a proof:
///
/// ```compile_fail,E0609
/// # use kernel::{access::Ref, object::Thread, port::Port};
/// fn registers<P: Port>(thread: Ref<Thread<P>>) -> P::Context {
///     thread.context
/// }
/// ```
#[repr(transparent)]
pub struct Ref<T: 'static>(&'static Guarded<T>);

impl<T> Clone for Ref<T> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}
impl<T> Copy for Ref<T> {}
impl<T> PartialEq for Ref<T> {
    #[inline(always)]
    fn eq(&self, other: &Self) -> bool {
        core::ptr::eq(self.0, other.0)
    }
}
impl<T> Eq for Ref<T> {}

impl<T> Ref<T> {
    /// Names a pool slot.
    #[inline(always)]
    pub fn new(slot: &'static Guarded<T>) -> Ref<T> {
        Ref(slot)
    }

    /// The slot's generation; a capability is stale when it remembers another one.
    #[inline(always)]
    pub fn generation(self) -> u64 {
        self.0.slot.generation.load(Relaxed)
    }

    /// Makes all capabilities to the object stale.
    pub(crate) fn bump(self, _all: &Exclusive<'_>) {
        self.0.slot.generation.store(self.generation() + 1, Relaxed);
    }

    /// The slot's index in its pool.
    #[inline]
    pub fn index(self) -> u32 {
        self.0.slot.index
    }

    /// Whether the slot holds an object.
    pub fn life(self) -> Life {
        self.0.slot.life.get()
    }

    /// Which object of the slot's life this is. It changes when destruction begins, and with
    /// each visit of a stack.
    #[inline(always)]
    pub fn incarnation(self) -> u64 {
        self.0.slot.incarnation.get()
    }

    /// What was known by its incarnation is another thing from now on.
    #[inline(always)]
    pub(crate) fn renew(self, all: &Exclusive<'_>) {
        self.0.slot.incarnation.set(all, self.incarnation() + 1);
    }

    pub(crate) fn pool_slot(self) -> &'static Slot {
        &self.0.slot
    }

    /// Address of the body, for a port's entry code.
    #[inline(always)]
    pub fn address(self) -> *const T {
        &raw const self.0.body
    }
}

impl<T: Object> Ref<T> {
    /// The object's header.
    #[inline(always)]
    pub fn header(self) -> &'static T::Header {
        self.0.body.header()
    }
}

impl<T: Object> Deref for Ref<T> {
    type Target = T::Header;
    #[inline(always)]
    fn deref(&self) -> &T::Header {
        self.header()
    }
}

/// A tie to another object that may be looked at before its holder is held: what is seen then is
/// looked at again once it is.
pub struct Link<T: 'static>(SharedPtr<Guarded<T>>);

impl<T> Link<T> {
    /// A tie to nothing.
    pub const fn new() -> Link<T> {
        Link(SharedPtr::null())
    }

    /// The other object.
    #[inline(always)]
    pub fn get(&self) -> Option<Ref<T>> {
        // SAFETY: only references to slots are stored, and slots live for ever.
        unsafe { self.0.get().as_ref() }.map(Ref)
    }

    /// Ties to another object.
    #[inline(always)]
    pub fn set(&self, to: Option<Ref<T>>) {
        let slot = to.map_or(core::ptr::null(), |to| core::ptr::from_ref(to.0));
        self.0.set(slot.cast_mut());
    }

    /// Unties, and returns the other object.
    #[inline(always)]
    pub fn take(&self) -> Option<Ref<T>> {
        let before = self.get();
        self.set(None);
        before
    }
}

impl<T> Default for Link<T> {
    fn default() -> Self {
        Link::new()
    }
}

/// What the locks of objects are under `L`.
type Holding<L> = <<L as LockPolicy>::Object as ObjectLock>::Holding<'static>;

/// Proof of being inside the kernel, for one entry.
pub struct CriticalSection<L: LockPolicy> {
    holding: Holding<L>,
    local: PhantomData<*mut ()>,
}

impl<L: LockPolicy> CriticalSection<L> {
    /// Stands for a section that has begun.
    ///
    /// # Safety
    /// [`LockPolicy::begin`] has returned on this CPU with this kind, and [`LockPolicy::end`] is
    /// called when this proof is gone.
    #[inline(always)]
    pub unsafe fn begun(kind: Kind) -> CriticalSection<L> {
        CriticalSection { holding: locks::Holding::new(kind), local: PhantomData }
    }

    /// What it may do, and the locks that it has.
    #[inline(always)]
    pub(crate) fn holding(&self) -> &Holding<L> {
        &self.holding
    }

    /// Whether it may touch everything.
    #[inline(always)]
    pub fn is_exclusive(&self) -> bool {
        L::EXCLUSIVE || self.holding.kind() == Kind::Writer
    }

    /// Opens an object.
    #[inline(always)]
    pub(crate) fn hold<T>(&self, at: Ref<T>) -> Guard<'_, T, L> {
        Guard { at, section: PhantomData }
    }

    /// Opens everything at once.
    #[inline(always)]
    pub fn exclusive(&self) -> Exclusive<'_> {
        assert!(self.is_exclusive(), "a reader of the kernel needs all of it");
        Exclusive(PhantomData)
    }
}

/// Proof that this CPU alone may touch any object.
pub struct Exclusive<'s>(PhantomData<&'s *mut ()>);

impl<'a> Exclusive<'a> {
    /// Proof of boot, while RAM is handed out: the CPU that does so is alone.
    pub(crate) fn of_boot(_arena: &'a Arena) -> Exclusive<'a> {
        Exclusive(PhantomData)
    }

    /// Proof outside of sections.
    ///
    /// # Safety
    /// No CPU is inside the kernel as long as the proof is there.
    pub unsafe fn sole() -> Exclusive<'a> {
        Exclusive(PhantomData)
    }

    /// Opens an object.
    #[inline(always)]
    pub fn open<T>(&self, at: Ref<T>) -> &T {
        &at.0.body
    }
}

/// An object that this CPU alone may touch.
pub struct Guard<'s, T: 'static, L: LockPolicy> {
    at: Ref<T>,
    section: PhantomData<&'s CriticalSection<L>>,
}

impl<T, L: LockPolicy> Guard<'_, T, L> {
    /// The object's name.
    #[inline(always)]
    pub fn name(&self) -> Ref<T> {
        self.at
    }
}

impl<T, L: LockPolicy> Deref for Guard<'_, T, L> {
    type Target = T;
    #[inline(always)]
    fn deref(&self) -> &T {
        &self.at.0.body
    }
}
