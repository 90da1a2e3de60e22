//! Capabilities, and memory, that travel with a call.

use crate::{Incoming, Outgoing, Wire};
use rt::{MemoryObject, OwnedSlot, Rights, Slot};

/// A capability as an argument or a value. A message has one at most.
///
/// Who sends makes it by [`Capability::grant`]; the endpoint that the message goes through needs
/// the right `grant`. Who receives takes it by [`Capability::into_slot`]; it is deleted if that is
/// not done. One that was received cannot be sent as it is: grant the slot it was put into.
#[derive(Debug)]
pub struct Capability(Way);

#[derive(Debug)]
enum Way {
    Out(Slot, Rights),
    In(OwnedSlot),
}

impl Capability {
    /// What a slot holds, with these rights at most. The sender keeps its own.
    pub const fn grant(slot: Slot, rights: Rights) -> Capability {
        Capability(Way::Out(slot, rights))
    }

    /// The slot in which it was received; none if it was not.
    pub fn into_slot(self) -> Option<OwnedSlot> {
        match self.0 {
            Way::In(slot) => Some(slot),
            Way::Out(..) => None,
        }
    }
}

impl Wire for Capability {
    const WORDS: usize = 0;
    const CAPABILITIES: usize = 1;

    #[inline(always)]
    fn put(self, to: &mut Outgoing) {
        if let Way::Out(slot, rights) = self.0 {
            to.grant(slot, rights);
        }
    }

    #[inline(always)]
    fn take(from: &mut Incoming) -> Option<Capability> {
        Some(Capability(Way::In(from.capability()?)))
    }
}

/// Memory that is lent for a call: a capability to a memory object, and its length.
///
/// The server maps it, and gives it back by dropping it. That it does is the server's word alone: a
/// client that does not trust it lends memory that it destroys behind the call. The other way
/// round, a client can destroy what it has lent while the server reads, which is a fault of the
/// server's thread: a server that does not trust its clients reads through a
/// [`Guard`](rt::Guard), or lends its own memory to them.
#[derive(Debug)]
pub struct Lent {
    memory: Capability,
    pages: u64,
}

impl Lent {
    /// Lends memory with these rights.
    pub fn new(memory: &MemoryObject, rights: Rights) -> Lent {
        Lent { memory: Capability::grant(memory.slot(), rights), pages: memory.pages() }
    }

    /// The memory, for [`Mapping`](rt::Mapping); none if it was not received. How many pages it has
    /// is what the client says: mapping more than there are fails.
    pub fn into_memory(self) -> Option<MemoryObject> {
        Some(MemoryObject::received(self.memory.into_slot()?, self.pages))
    }
}

impl Wire for Lent {
    const WORDS: usize = 1;
    const CAPABILITIES: usize = 1;

    #[inline(always)]
    fn put(self, to: &mut Outgoing) {
        self.memory.put(to);
        self.pages.put(to);
    }

    #[inline(always)]
    fn take(from: &mut Incoming) -> Option<Lent> {
        Some(Lent { memory: Capability::take(from)?, pages: u64::take(from)? })
    }
}
