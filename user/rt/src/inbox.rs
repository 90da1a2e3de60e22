//! Capabilities that come with messages, each into a slot of its own.
//!
//! ```no_run
//! use rt::prelude::*;
//! use rt::{Inbox, MemoryObject, SlotPool, ipc};
//!
//! # fn example(env: &Env) -> Result<(), Error> {
//! let inbox = Inbox::open(SlotPool::new(env), env.buffer(0));
//! let received = ipc::receive(env.cap("door"), Wait::NEVER)?;
//! if received.info.has_capability() {
//!     let memory = inbox.take().map(|slot| MemoryObject::received(slot, 1));
//! }
//! # Ok(())
//! # }
//! ```

use crate::{Buffer, OwnedSlot, Slot, SlotPool, cap};
use abi::Error;

/// Where a thread receives capabilities: its message buffer names a free slot of the pool, which is
/// replaced when what came there is taken. All inboxes of a thread are one.
#[derive(Clone, Copy)]
pub struct Inbox {
    pool: SlotPool,
    buffer: Buffer,
}

impl Inbox {
    /// The inbox of the thread whose message buffer this is. It holds one slot of the pool, which
    /// does not come back.
    ///
    /// # Panics
    ///
    /// If the pool is full.
    #[track_caller]
    pub fn open(pool: SlotPool, buffer: Buffer) -> Inbox {
        if !pool.has(buffer.accepting()) {
            buffer.accept(pool.take().keep());
        }
        Inbox { pool, buffer }
    }

    /// The message buffer.
    pub fn buffer(&self) -> Buffer {
        self.buffer
    }

    /// Takes the capability that has come. None if there is none, or if the pool has no other slot
    /// for the next one: it is deleted then.
    pub fn take(&self) -> Option<OwnedSlot> {
        let slot = self.buffer.accepting();
        if slot == Slot::NONE || cap::inspect(slot) == Err(Error::NoCapability) {
            return None;
        }
        match self.pool.try_take() {
            Ok(next) => {
                self.buffer.accept(next.keep());
                Some(self.pool.held(slot))
            }
            Err(_) => {
                self.discard();
                None
            }
        }
    }

    /// Deletes the capability that has come, unless it was taken: the next one finds an empty slot.
    pub fn discard(&self) {
        // There may be none.
        let _ = cap::delete(self.buffer.accepting());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Slots;
    use crate::machine::{self, BASE, arrives, ends};
    use crate::shared::Words;
    use abi::call::Call;
    use abi::{Info, Kind, Status};
    use std::vec::Vec;

    fn inbox(slots: u32) -> Inbox {
        let state = Words::at(BASE, 4096).part(480, 16);
        Inbox::open(SlotPool::over(Slots::new(40, 40 + slots), state), Buffer::at(BASE))
    }

    #[test]
    fn what_came_is_taken_once_and_the_next_finds_an_empty_slot() {
        let machine = machine::install(1);
        let inbox = inbox(3);
        assert_eq!(inbox.buffer().accepting(), Slot(40));
        // A memory object has come.
        let held = arrives(Kind::Memory as u64, Info(0), [0; 4]);
        machine.answer([held]);
        let first = inbox.take().unwrap();
        assert_eq!((first.slot(), inbox.buffer().accepting()), (Slot(40), Slot(41)));
        machine.answer([ends(Status::failed(Error::NoCapability))]);
        assert!(inbox.take().is_none(), "nothing has come");
        drop(first);
        machine.answer([held]);
        assert_eq!(inbox.take().unwrap().slot(), Slot(41));
        assert_eq!(inbox.buffer().accepting(), Slot(40));
    }

    #[test]
    fn a_full_pool_keeps_its_slot_and_deletes_what_came() {
        let machine = machine::install(1);
        let inbox = inbox(1);
        machine.answer([arrives(Kind::Memory as u64, Info(0), [0; 4])]);
        assert!(inbox.take().is_none());
        let made = machine.made().into_iter().map(|(call, a, _)| (call, a[0]));
        let expected = [(Call::CapInspect as u64, 40), (Call::CapDelete as u64, 40)];
        assert_eq!(made.collect::<Vec<_>>(), expected);
        assert_eq!(inbox.buffer().accepting(), Slot(40));
    }

    #[test]
    fn all_inboxes_of_a_thread_are_one() {
        let _machine = machine::install(1);
        let (one, other) = (inbox(2), inbox(2));
        assert_eq!(one.buffer().accepting(), other.buffer().accepting());
        assert_eq!(other.pool.taken(), 1);
    }
}
