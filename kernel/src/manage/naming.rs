//! Names, which are for people: of threads, and of domains that programs make.

use super::{Done, Manager};
use crate::access::Ref;
use crate::object::capability::Capability;
use crate::object::{Domain, Pooled, Thread};
use crate::port::Port;
use abi::Error;
use abi::boot::{is_name, name_bytes};
use abi::trace::{Event, NAME_PART, name_part};

impl<P: Port> Manager<'_, P> {
    /// Names what a slot holds. A domain of the manifest keeps its name: what people are told of a
    /// fault is told by it.
    pub(super) fn name(
        &self,
        own: Ref<Domain<P>>,
        slot: u32,
        name: [u64; 2],
    ) -> Result<Done, Error> {
        let admitted = if is_name(name) { Ok(()) } else { Err(Error::InvalidArgument) };
        match self.all.open(own).slot(slot)? {
            Capability::Domain(_) => {
                let at = self.domain_or_own(own, slot.into())?;
                admitted?;
                let domain = self.all.open(at);
                domain.owner().get().ok_or(Error::WrongState)?;
                domain.name.set(name);
                self.note_name(at.index(), true, name);
            }
            _ => {
                let at = self.thread(own, slot)?;
                admitted?;
                self.all.open(at).name.set((at.incarnation(), name));
                self.note_name(at.index(), false, name);
            }
        }
        Ok(Done::Nothing)
    }

    /// The name of a thread, or zeros.
    pub(crate) fn name_of(&self, at: Ref<Thread<P>>) -> [u64; 2] {
        match self.all.open(at).name.get() {
            (incarnation, name) if incarnation == at.incarnation() => name,
            _ => [0; 2],
        }
    }

    pub(super) fn name_row(&self, index: u32) -> Result<Done, Error> {
        let at = self.kernel.threads.get(index).ok_or(Error::InvalidArgument)?;
        let [low, high] = self.name_of(at);
        Ok(Done::Values(low, high))
    }

    fn note_name(&self, index: u32, of_domain: bool, name: [u64; 2]) {
        for (part, bytes) in (0..).zip(name_bytes(name).chunks_exact(NAME_PART)) {
            let word = bytes.iter().rev().fold(0, |word, byte| word << 8 | u32::from(*byte));
            if part == 0 || word != 0 {
                self.cpu.note_of(index as u16, Event::Name, word, name_part(part, of_domain));
            }
        }
    }
}
