//! Free slots of the capability table, taken and given back.
//!
//! ```no_run
//! use rt::prelude::*;
//! use rt::{SlotPool, signal};
//!
//! # fn example(env: &Env) -> Result<(), Error> {
//! let pool = SlotPool::new(env);
//! let bell = pool.take();
//! signal::create_notification(bell.slot())?;
//! signal::signal(bell.slot())?;
//! bell.destroy()?; // and the slot is free again
//! # Ok(())
//! # }
//! ```

use crate::bitmap::Bitmap;
use crate::shared::Words;
use crate::{Env, Slot, Slots, arch, cap};
use abi::Error;
use core::fmt;

/// First word, in the first thread's message buffer, of those that say which slots are taken.
const STATE: usize = 480;
/// How many words these are.
const STATE_WORDS: usize = 16;

/// The free slots of the program's capability table, 1,024 at most.
///
/// Which are taken stands in the message buffer of the program's first thread, which the manifest
/// gives every program. So all pools of a program are one: each thread makes its own, and none
/// hands out what another has. The first thread must not be destroyed while others use it.
///
/// [`Env::slots`] knows nothing of the pool: a program uses one of them, or gives the pool a part
/// with [`SlotPool::over`].
#[derive(Clone, Copy)]
pub struct SlotPool {
    first: u32,
    map: Bitmap,
}

/// All slots of a pool are taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PoolFull {
    /// How many slots the pool has.
    pub slots: usize,
}

impl fmt::Display for PoolFull {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "all {} capability slots of the pool are taken", self.slots)
    }
}

impl From<PoolFull> for Error {
    /// [`Error::PoolExhausted`].
    fn from(_: PoolFull) -> Error {
        Error::PoolExhausted
    }
}

impl SlotPool {
    /// The pool of the program: all slots that the manifest leaves free.
    pub fn new(env: &Env) -> SlotPool {
        SlotPool::over(env.slots(), env.buffer(0).0.part(STATE, STATE_WORDS))
    }

    /// A pool over some slots, whose state lies in some words: a bit for each, all zero at first
    /// and changed by nothing else. Pools over the same words must be over the same slots.
    pub fn over(slots: Slots, state: Words) -> SlotPool {
        let (left, mut slots) = (slots.left(), slots);
        let first = slots.next().unwrap_or(Slot::NONE).0;
        SlotPool { first, map: Bitmap::new(state, left as usize) }
    }

    /// Takes a slot that is not taken. It is empty, unless the program has filled it by its number.
    ///
    /// # Errors
    ///
    /// [`PoolFull`], which `?` turns into [`Error::PoolExhausted`].
    pub fn try_take(&self) -> Result<OwnedSlot, PoolFull> {
        let place = self.map.take(0, 1).ok_or(PoolFull { slots: self.map.places() })?;
        Ok(OwnedSlot { pool: *self, slot: Slot(self.first + place as u32) })
    }

    /// [`SlotPool::try_take`] for programs that cannot do without.
    ///
    /// # Panics
    ///
    /// If all are taken.
    #[track_caller]
    pub fn take(&self) -> OwnedSlot {
        match self.try_take() {
            Ok(slot) => slot,
            Err(full) => panic!("{full}"),
        }
    }

    /// How many slots the pool has.
    pub fn slots(&self) -> usize {
        self.map.places()
    }

    /// Whether a slot is one of the pool's.
    pub(crate) fn has(&self, slot: Slot) -> bool {
        slot.0.checked_sub(self.first).is_some_and(|at| (at as usize) < self.slots())
    }

    /// A slot of the pool that was kept.
    pub(crate) fn held(&self, slot: Slot) -> OwnedSlot {
        OwnedSlot { pool: *self, slot }
    }

    /// How many are taken just now.
    pub fn taken(&self) -> usize {
        self.map.taken()
    }
}

/// A slot that no other part of the program gets. When this is dropped, the capability in it is
/// deleted and the slot goes back to its pool. The object stays, if there was one: end it with
/// [`OwnedSlot::destroy`].
///
/// A thread that is destroyed drops nothing: its slots stay taken.
#[must_use = "a slot that is not held goes back at once"]
pub struct OwnedSlot {
    pool: SlotPool,
    slot: Slot,
}

impl OwnedSlot {
    /// Its number, which is not to be used any more once this is dropped.
    pub fn slot(&self) -> Slot {
        self.slot
    }

    /// The pool that it comes from.
    pub fn pool(&self) -> SlotPool {
        self.pool
    }

    /// Destroys the object that the slot names, and gives the slot back.
    ///
    /// # Errors
    ///
    /// Those of [`cap::destroy`]. The capability is deleted and the slot goes back all the same;
    /// the object stays if it was not gone.
    pub fn destroy(self) -> Result<(), Error> {
        cap::destroy(self.slot)
    }

    /// Keeps the slot and what it holds for as long as the program lives.
    pub fn keep(self) -> Slot {
        let slot = self.slot;
        core::mem::forget(self);
        slot
    }
}

impl fmt::Debug for OwnedSlot {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "OwnedSlot({})", self.slot.0)
    }
}

impl Drop for OwnedSlot {
    fn drop(&mut self) {
        // A slot that could not be emptied is not handed out again.
        if !arch::panics() && matches!(cap::delete(self.slot), Ok(()) | Err(Error::NoCapability)) {
            self.pool.map.give((self.slot.0 - self.pool.first) as usize, 1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::{self, BASE, ends};
    use abi::Status;
    use abi::call::Call;
    use std::collections::BTreeSet;
    use std::format;
    use std::vec::Vec;

    fn pool(slots: u32) -> SlotPool {
        SlotPool::over(Slots::new(40, 40 + slots), Words::at(BASE, 8 * 16))
    }

    #[test]
    fn a_held_slot_is_not_handed_out_and_comes_back() {
        let machine = machine::install(1);
        let (pool, other) = (pool(100), pool(100));
        let held: Vec<OwnedSlot> = (0..50).flat_map(|_| [pool.take(), other.take()]).collect();
        let numbers: BTreeSet<u32> = held.iter().map(|owned| owned.slot().0).collect();
        assert_eq!((numbers.len(), numbers.first(), numbers.last()), (100, Some(&40), Some(&139)));
        assert_eq!(pool.try_take().err(), Some(PoolFull { slots: 100 }));
        assert_eq!(machine.made(), [], "taking asks no kernel");
        drop(held);
        let deleted = machine.made().into_iter().map(|(number, a, _)| (number, a[0] as u32));
        let expected = (0..100).map(|n| (Call::CapDelete as u64, 40 + n));
        assert_eq!(deleted.collect::<BTreeSet<_>>(), expected.collect());
        assert_eq!((pool.taken(), pool.take().slot()), (0, Slot(40)));
    }

    #[test]
    fn a_slot_that_stays_filled_stays_taken() {
        let machine = machine::install(1);
        let pool = pool(3);
        machine.answer([ends(Status::failed(Error::NoCapability))]);
        drop(pool.take());
        assert_eq!(pool.taken(), 0, "an empty slot is free");
        machine.answer([ends(Status::failed(Error::WrongState))]);
        drop(pool.take());
        assert_eq!((pool.taken(), pool.take().keep()), (1, Slot(41)));
        assert_eq!(pool.taken(), 2, "as is one that is kept");
        machine.answer([ends(Status::failed(Error::Stale))]);
        assert_eq!(pool.take().destroy(), Err(Error::Stale));
        assert_eq!(pool.taken(), 2, "and one whose object was gone is free");
    }

    #[test]
    #[should_panic(expected = "all 2 capability slots of the pool are taken")]
    fn an_empty_pool_says_so() {
        let _machine = machine::install(1);
        let pool = pool(2);
        let _held = [pool.take(), pool.take()];
        assert_eq!(Error::from(pool.try_take().unwrap_err()), Error::PoolExhausted);
        assert_eq!(format!("{:?}", pool.take()), "");
    }

    #[test]
    fn a_table_without_free_slots_has_an_empty_pool() {
        let _machine = machine::install(1);
        assert_eq!(pool(0).try_take().err(), Some(PoolFull { slots: 0 }));
    }
}
