//! Capabilities that come with messages, each into a slot of its own.
//!
//! ```no_run
//! use rt::prelude::*;
//! use rt::{Inbox, MemoryObject, SlotPool, ipc};
//!
//! # fn example(env: &Env) -> Result<(), Error> {
//! let inbox = Inbox::new(SlotPool::new(env), env.buffer(0));
//! inbox.open();
//! let received = ipc::receive(env.cap("door"), Wait::NEVER)?;
//! let capability = inbox.close(received.info);
//! let memory = capability.map(|slot| MemoryObject::received(slot, 1));
//! # Ok(())
//! # }
//! ```

use crate::shared::Words;
use crate::{Buffer, OwnedSlot, Slot, SlotPool, cap};
use abi::{Error, Info};

/// The word of a thread's message buffer with the slot of its inbox.
const SLOT: usize = 478;

/// Where a thread receives capabilities: a free slot of the pool, which its message buffer names
/// while the inbox is open. What came is taken at once, and another slot takes its place. All
/// inboxes of a thread are one.
#[derive(Clone, Copy)]
pub struct Inbox {
    pool: SlotPool,
    buffer: Buffer,
    slot: Words,
}

impl Inbox {
    /// The inbox of the thread whose message buffer this is, closed. It holds one slot of the pool,
    /// which does not come back.
    ///
    /// # Panics
    ///
    /// If the pool is full.
    #[track_caller]
    pub fn new(pool: SlotPool, buffer: Buffer) -> Inbox {
        let inbox = Inbox { pool, buffer, slot: buffer.0.part(SLOT, 1) };
        if !pool.has(inbox.slot()) {
            inbox.set(pool.take());
        }
        inbox
    }

    /// The message buffer.
    pub fn buffer(&self) -> Buffer {
        self.buffer
    }

    /// Lets the next message bring a capability.
    #[inline]
    pub fn open(&self) {
        self.buffer.accept(self.slot());
    }

    /// A message with this descriptor has come, or none: lets no other bring a capability, and
    /// takes the one that came. If no other slot is free for the next one, it is deleted.
    #[inline]
    pub fn close(&self, info: Info) -> Option<OwnedSlot> {
        self.buffer.accept(Slot::NONE);
        if info.has_capability() { self.take() } else { None }
    }

    #[cold]
    fn take(&self) -> Option<OwnedSlot> {
        let slot = self.slot();
        // The sender says that it sends one, and may have changed its mind.
        if cap::inspect(slot) == Err(Error::NoCapability) {
            return None;
        }
        match self.pool.try_take() {
            Ok(next) if self.pool.has(slot) => {
                self.set(next);
                Some(self.pool.held(slot))
            }
            _ => {
                let _ = cap::delete(slot);
                None
            }
        }
    }

    fn slot(&self) -> Slot {
        Slot(self.slot.get(0) as u32)
    }

    fn set(&self, slot: OwnedSlot) {
        self.slot.set(0, slot.keep().word());
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
        Inbox::new(SlotPool::over(Slots::new(40, 40 + slots), state), Buffer::at(BASE))
    }

    /// A message with a capability.
    const GIFT: Info = Info::new(1, 0).with_capability();

    #[test]
    fn what_came_is_taken_and_the_next_finds_an_empty_slot() {
        let machine = machine::install(1);
        let inbox = inbox(3);
        let accepting = || inbox.buffer().accepting();
        assert_eq!(accepting(), Slot::NONE);
        inbox.open();
        assert_eq!(accepting(), Slot(40));
        assert!(inbox.close(Info::new(1, 0)).is_none(), "a message without one");
        assert_eq!((accepting(), machine.made().len()), (Slot::NONE, 0));
        // A memory object has come.
        let held = arrives(Kind::Memory as u64, Info(0), [0; 4]);
        machine.answer([held]);
        let first = inbox.close(GIFT).unwrap();
        inbox.open();
        assert_eq!((first.slot(), accepting()), (Slot(40), Slot(41)));
        machine.answer([ends(Status::failed(Error::NoCapability))]);
        assert!(inbox.close(GIFT).is_none(), "what was said to come has not come");
        drop(first);
        machine.answer([held]);
        assert_eq!(inbox.close(GIFT).unwrap().slot(), Slot(41));
        inbox.open();
        assert_eq!(accepting(), Slot(40));
    }

    #[test]
    fn a_full_pool_keeps_its_slot_and_deletes_what_came() {
        let machine = machine::install(1);
        let inbox = inbox(1);
        machine.answer([arrives(Kind::Memory as u64, Info(0), [0; 4])]);
        assert!(inbox.close(GIFT).is_none());
        let made = machine.made().into_iter().map(|(call, a, _)| (call, a[0]));
        let expected = [(Call::CapInspect as u64, 40), (Call::CapDelete as u64, 40)];
        assert_eq!(made.collect::<Vec<_>>(), expected);
        inbox.open();
        assert_eq!(inbox.buffer().accepting(), Slot(40));
    }

    #[test]
    fn all_inboxes_of_a_thread_are_one() {
        let _machine = machine::install(1);
        let (one, other) = (inbox(2), inbox(2));
        assert_eq!((one.slot(), other.pool.taken()), (other.slot(), 1));
    }
}
