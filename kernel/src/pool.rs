//! Typed pools of objects, carved from RAM at boot.

use crate::access::{Exclusive, Guarded, Life, Ref, Slot};
use crate::arena::Arena;
use crate::assertion::{assert_cold, panic_cold};
use crate::object::{Domain, Pooled};
use crate::port::Port;
use abi::Error;
use abi::object::Resource;
use cells::Cell;
use core::mem::offset_of;
use section::init;

const END: u32 = u32::MAX;

/// A pool of one kind of object.
pub struct Pool<T: 'static> {
    slots: &'static [Guarded<T>],
    list: FreeList,
}

/// The vacant slots of a pool.
struct FreeList {
    first: Cell<u32>,
    used: Cell<u32>,
}

/// The domain that is charged for an object, if any.
type Owner<P> = Option<Ref<Domain<P>>>;

impl FreeList {
    fn link(&self, all: &Exclusive<'_>, slot: &Slot) {
        slot.next_free.set(all, self.first.get());
        self.first.set(slot.index);
    }

    /// Takes the first slot.
    fn take(&self, all: &Exclusive<'_>, slot: &Slot) {
        self.first.set(slot.next_free.get());
        self.used.set(self.used.get() + 1);
        assert_cold!(slot.life.get() == Life::Vacant, "a free slot holds an object");
        slot.life.set(all, Life::Live);
    }

    /// Makes a slot the first. Out of line, once for objects of all kinds.
    #[inline(never)]
    fn give<P: Port>(
        &self,
        all: &Exclusive<'_>,
        slot: &Slot,
        place: &Cell<Owner<P>>,
        resource: Resource,
    ) {
        assert!(slot.life.get() == Life::Dying, "released without being destroyed");
        slot.life.set(all, Life::Vacant);
        if let Some(owner) = place.take() {
            all.open(owner).quotas.refund(resource, 1);
        }
        self.used.set(self.used.get() - 1);
        self.link(all, slot);
    }
}

impl<T> Pool<T> {
    /// Where a debugger finds the slots.
    pub const SLOTS: usize = offset_of!(Self, slots);
    /// Where it finds how many hold an object.
    pub const USED: usize = offset_of!(Self, list) + offset_of!(FreeList, used);

    /// Carves a pool. `make` makes the body for the slot with this index. Generations start at
    /// `generation`.
    #[init]
    pub fn carve(
        arena: &mut Arena,
        size: usize,
        generation: u64,
        mut make: impl FnMut(&mut Arena, usize) -> Option<T>,
    ) -> Option<Pool<T>> {
        let slots = arena.slice(size, |arena, index| {
            Some(Guarded::vacant(make(arena, index)?, index as u32, generation))
        })?;
        let list = FreeList { first: Cell::new(END), used: Cell::new(0) };
        let all = Exclusive::of_boot(arena);
        slots.iter().rev().for_each(|slot| list.link(&all, Ref::new(slot).pool_slot()));
        Some(Pool { slots, list })
    }

    /// How many slots there are.
    pub fn size(&self) -> u32 {
        self.slots.len() as u32
    }

    /// How many slots hold an object.
    pub fn used(&self) -> u32 {
        self.list.used.get()
    }

    /// The first slot.
    pub fn first(&self) -> Option<Ref<T>> {
        self.get(0)
    }

    /// The slot with this index, whatever it holds.
    pub fn get(&self, index: u32) -> Option<Ref<T>> {
        let slots: &'static [Guarded<T>] = self.slots;
        slots.get(index as usize).map(Ref::new)
    }

    /// Whether an object can be made.
    pub fn check(&self) -> Result<(), Error> {
        if self.list.first.get() == END { Err(Error::PoolExhausted) } else { Ok(()) }
    }

    /// The slot that the next object will get.
    pub fn free_slot(&self) -> Option<Ref<T>> {
        self.get(self.list.first.get())
    }

    /// Takes a slot, charged to `owner`, which [`Pool::check`] and the quota have allowed. O(1).
    pub fn take<P: Port>(&self, all: &Exclusive<'_>, owner: Owner<P>) -> Ref<T>
    where
        T: Pooled<P>,
    {
        let Some(at) = self.free_slot() else { panic_cold!("a pool has no slot left") };
        self.list.take(all, at.pool_slot());
        all.open(at).owner().set(owner);
        if let Some(owner) = owner {
            all.open(owner).quotas.charge(T::RESOURCE, 1);
        }
        at
    }

    /// Returns the slot of an object whose destruction is complete. O(1).
    pub fn release<P: Port>(&self, all: &Exclusive<'_>, at: Ref<T>)
    where
        T: Pooled<P>,
    {
        self.list.give(all, at.pool_slot(), all.open(at).owner(), T::RESOURCE);
    }
}
