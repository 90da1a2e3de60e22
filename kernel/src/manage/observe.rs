//! Statistics and trace, as programs steer and read them.

use super::{Done, Manager};
use crate::access::Ref;
use crate::object::Domain;
use crate::port::Port;
use abi::Error;
use abi::call::Observe;
use abi::statistics::Counter;
use abi::trace::Event;

impl<P: Port> Manager<'_, P> {
    pub(super) fn observe(
        &self,
        own: Ref<Domain<P>>,
        slot: u32,
        what: u64,
        value: u64,
    ) -> Result<Done, Error> {
        self.machine(own, slot)?;
        match what {
            w if w == Observe::Reset as u64 => {
                let now = self.kernel.port.now();
                let done = self.kernel.port.statistics(|statistics| statistics.reset(now));
                done.ok_or(Error::UnknownCall)?;
            }
            _ if P::TRACE == 0 => return Err(Error::UnknownCall),
            w if w == Observe::Freeze as u64 => self.trace(false)?,
            w if w == Observe::Record as u64 => self.trace(true)?,
            w if w == Observe::Mark as u64 => self.remark(Event::Mark, value),
            w if w == Observe::UserBefore as u64 => self.remark(Event::UserBefore, value),
            w if w == Observe::UserAfter as u64 => self.remark(Event::UserAfter, value),
            _ => return Err(Error::InvalidArgument),
        }
        Ok(Done::Nothing)
    }

    fn trace(&self, on: bool) -> Result<(), Error> {
        if !self.cpu.ring.exists() {
            return Err(Error::WrongState);
        }
        self.kernel.cpus.get().iter().for_each(|cpu| cpu.trace(on));
        Ok(())
    }

    fn remark(&self, event: Event, value: u64) {
        self.cpu.note(event, self.cpu.current.get(), value as u32, 0);
    }

    /// A counter of a CPU.
    pub(super) fn counter_row(&self, cpu: u32, counter: u32) -> Result<Done, Error> {
        let counter = Counter::ALL.get(counter as usize).filter(|_| cpu == 0);
        let counter = *counter.ok_or(Error::InvalidArgument)?;
        let now = self.kernel.port.now();
        let value = self.kernel.port.statistics(|statistics| statistics.counter(counter, now));
        Ok(Done::Values(value.ok_or(Error::InvalidArgument)?, 0))
    }

    /// How often the ready queue of a CPU had a length.
    pub(super) fn length_row(&self, cpu: u32, length: u32) -> Result<Done, Error> {
        let times = self.kernel.port.statistics(|statistics| statistics.length(length as usize));
        let times = times.flatten().filter(|_| cpu == 0);
        Ok(Done::Values(times.ok_or(Error::InvalidArgument)?, 0))
    }
}
