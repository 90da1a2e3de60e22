//! Copying, deleting, revoking and inspecting capabilities.

use super::{Done, Manager};
use crate::access::Ref;
use crate::object::capability::{Cap, Capability};
use crate::object::thread::State;
use crate::object::{Domain, Thread};
use crate::port::Port;
use abi::{Error, Rights};

impl<P: Port> Manager<'_, P> {
    pub(super) fn copy(&self, own: Ref<Domain<P>>, args: &[u64; 6]) -> Result<Done, Error> {
        let (from, to) = (slot(args[0])?, slot(args[1])?);
        let domain = self.all.open(own);
        let copy = domain.copied(from, Rights(args[2] as u8), args[3])?;
        domain.empty(to)?;
        domain.put(&self.all, to, copy);
        Ok(Done::Nothing)
    }

    pub(super) fn grant(&self, own: Ref<Domain<P>>, args: &[u64; 6]) -> Result<Done, Error> {
        let domain = self.all.open(own);
        let target = domain.named::<Domain<P>>(slot(args[0])?, Rights::CONTROL)?;
        let (from, to) = (slot(args[1])?, slot(args[2])?);
        let copy = domain.copied(from, Rights(args[3] as u8), 0)?;
        let target = self.all.open(target.at);
        target.empty(to)?;
        target.put_slowly(&self.all, to, copy);
        Ok(Done::Nothing)
    }

    pub(super) fn delete(&self, own: Ref<Domain<P>>, slot: u32) -> Result<Done, Error> {
        let domain = self.all.open(own);
        let capability = domain.slot(slot)?;
        self.drop_capability(capability);
        domain.put_slowly(&self.all, slot, Capability::Empty);
        Ok(Done::Nothing)
    }

    /// A capability goes away: if it is the only way to answer a caller, the caller is told.
    pub(super) fn drop_capability(&self, capability: Capability<P>) {
        if let Capability::Reply(cap) = capability {
            let caller = self.all.open(cap.at);
            let waiting = caller.state.get() == State::Calling && caller.server.get().is_none();
            if waiting && caller.calls.get() == cap.badge {
                self.cancel(cap.at, Error::Abandoned);
            }
        }
    }

    pub(super) fn revoke(&self, own: Ref<Domain<P>>, slot: u32) -> Result<Done, Error> {
        let domain = self.all.open(own);
        let renewed = domain.slot(slot)?.revoke(&self.all)?;
        domain.put(&self.all, slot, renewed);
        if let Capability::Endpoint(cap) = renewed
            && P::FUTEXES
            && !self.dismiss_servers(cap.at)
        {
            return Ok(Done::Preempted);
        }
        Ok(Done::Nothing)
    }

    pub(super) fn save_reply(&self, me: Ref<Thread<P>>, slot: u32) -> Result<Done, Error> {
        let thread = self.all.open(me);
        let caller_at = thread.caller.get().ok_or(Error::NoReply)?;
        let domain = self.all.open(thread.domain.get());
        domain.empty(slot)?;
        let caller = self.all.open(caller_at);
        let number = caller.calls.get() + 1;
        caller.calls.set(number);
        caller.server.set(None);
        thread.set_caller(None);
        self.caller_changed(me);
        domain.put(&self.all, slot, Capability::Reply(Cap::new(caller_at, Rights::NONE, number)));
        Ok(Done::Nothing)
    }

    pub(super) fn inspect_slot(&self, own: Ref<Domain<P>>, slot: u32) -> Result<Done, Error> {
        let capability = self.all.open(own).slot(slot)?;
        let (rights, badge) = capability.inspect()?;
        let kind = capability.kind().map_or(0, |kind| kind as u64);
        Ok(Done::Values(kind | u64::from(rights.0) << 8, badge))
    }

    pub(super) fn console(&self, own: Ref<Domain<P>>, slot: u32) -> Result<(), Error> {
        match self.all.open(own).slot(slot)? {
            Capability::Console(rights) => needs_control(rights),
            _ => Err(Error::WrongKind),
        }
    }

    pub(super) fn machine(&self, own: Ref<Domain<P>>, slot: u32) -> Result<(), Error> {
        match self.all.open(own).slot(slot)? {
            Capability::System(rights) => needs_control(rights),
            _ => Err(Error::WrongKind),
        }
    }

    /// The caller's domain for slot 0, else the named thread's or domain's target.
    #[inline(never)]
    pub(super) fn domain_or_own(
        &self,
        own: Ref<Domain<P>>,
        slot_word: u64,
    ) -> Result<Ref<Domain<P>>, Error> {
        if slot_word == 0 {
            return Ok(own);
        }
        let cap = self.all.open(own).named::<Domain<P>>(slot(slot_word)?, Rights::CONTROL)?;
        Ok(cap.at)
    }

    #[inline(never)]
    pub(super) fn thread(&self, own: Ref<Domain<P>>, slot: u32) -> Result<Ref<Thread<P>>, Error> {
        Ok(self.all.open(own).named::<Thread<P>>(slot, Rights::CONTROL)?.at)
    }
}

/// A slot number in an argument.
pub(super) fn slot(word: u64) -> Result<u32, Error> {
    u32::try_from(word).map_err(|_| Error::NoCapability)
}

fn needs_control(rights: Rights) -> Result<(), Error> {
    if rights.contains(Rights::CONTROL) { Ok(()) } else { Err(Error::MissingRight) }
}
