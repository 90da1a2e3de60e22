//! Typed pools of objects, carved from RAM at boot, and stacks of free page frames.

use crate::access::{Guarded, Life, Ref};
use crate::arena::Arena;
use crate::object::{Domain, Object};
use crate::port::Port;
use abi::Error;
use cells::Cell;

const END: u32 = u32::MAX;

/// A pool of one kind of object.
pub struct Pool<T: 'static> {
    slots: &'static [Guarded<T>],
    free: Cell<u32>,
    used: Cell<u32>,
}

impl<T> Pool<T> {
    /// Carves a pool. `make` makes the body for the slot with this index. Generations start at
    /// `generation`.
    pub fn carve(
        arena: &mut Arena,
        size: usize,
        generation: u64,
        mut make: impl FnMut(&mut Arena, usize) -> Option<T>,
    ) -> Option<Pool<T>> {
        let slots = arena.slice(size, |arena, index| {
            Some(Guarded::vacant(make(arena, index)?, index as u32, generation))
        })?;
        let pool = Pool { slots, free: Cell::new(END), used: Cell::new(0) };
        for index in (0..size as u32).rev() {
            pool.link(index);
        }
        Some(pool)
    }

    fn link(&self, index: u32) {
        Ref::new(&self.slots[index as usize]).next_free().set(self.free.get());
        self.free.set(index);
    }

    /// How many slots there are.
    pub fn size(&self) -> u32 {
        self.slots.len() as u32
    }

    /// How many slots hold an object.
    pub fn used(&self) -> u32 {
        self.used.get()
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
        if self.free.get() == END { Err(Error::PoolExhausted) } else { Ok(()) }
    }

    /// The slot that the next object will get.
    pub fn free_slot(&self) -> Option<Ref<T>> {
        self.get(self.free.get())
    }

    /// Takes a slot, charged to `owner`, which [`Pool::check`] and the quota have allowed. O(1).
    pub fn take<P: Port>(&self, owner: Option<Ref<Domain<P>>>) -> Ref<T>
    where
        T: Object<P>,
    {
        let at = Ref::new(&self.slots[self.free.get() as usize]);
        self.free.set(at.next_free().get());
        self.used.set(self.used.get() + 1);
        assert!(at.life() == Life::Vacant, "a free slot holds an object");
        at.set_life(Life::Live);
        at.member().owner().set(owner);
        if let Some(owner) = owner {
            owner.member().quotas.charge(T::RESOURCE, 1);
        }
        at
    }

    /// Returns the slot of an object whose destruction is complete. O(1).
    pub fn release<P: Port>(&self, at: Ref<T>)
    where
        T: Object<P>,
    {
        assert!(at.life() == Life::Dying, "released without being destroyed");
        let owner = at.member().owner().take();
        at.set_life(Life::Vacant);
        if let Some(owner) = owner {
            owner.member().quotas.refund(T::RESOURCE, 1);
        }
        self.used.set(self.used.get() - 1);
        self.link(at.index());
    }
}

/// A stack of free page frames.
pub struct FrameStack {
    frames: &'static [Cell<u64>],
    count: Cell<usize>,
}

impl FrameStack {
    /// Carves a stack that holds these frames.
    pub fn carve(arena: &mut Arena, first: u64, count: usize) -> Option<FrameStack> {
        let frames = arena.slice(count, |_, index| {
            Some(Cell::new(first + (count - 1 - index) as u64 * abi::PAGE))
        })?;
        Some(FrameStack { frames, count: Cell::new(count) })
    }

    /// How many frames there are, and how many of them are in use.
    pub fn size_and_used(&self) -> (u32, u32) {
        (self.frames.len() as u32, (self.frames.len() - self.count.get()) as u32)
    }

    /// Takes a frame that a quota has promised. O(1).
    pub fn take(&self) -> u64 {
        let Some(top) = self.count.get().checked_sub(1) else {
            panic!("a quota promised a frame that is not there")
        };
        self.count.set(top);
        self.frames[top].get()
    }

    /// The frame that will be taken next.
    pub fn top(&self) -> Option<u64> {
        Some(self.frames[self.count.get().checked_sub(1)?].get())
    }

    /// Gives a frame back. O(1).
    pub fn give(&self, frame: u64) {
        self.frames[self.count.get()].set(frame);
        self.count.set(self.count.get() + 1);
    }
}
