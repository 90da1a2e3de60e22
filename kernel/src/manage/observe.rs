//! Statistics and trace, as programs steer and read them.

use super::{Done, Manager};
use crate::access::Ref;
use crate::object::Domain;
use crate::port::Port;
use crate::statistics::Statistics;
use abi::Error;
use abi::call::Observe;
use abi::statistics::Counter;
use abi::trace::Event;
use locks::LockPolicy;

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
                self.reset_statistics()?;
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

    fn reset_statistics(&self) -> Result<(), Error> {
        let (now, stamp) = (self.kernel.port.now(), self.kernel.port.stamp());
        self.kernel.cpus.get().iter().try_for_each(|cpu| {
            let lock = P::LockPolicy::counts(&cpu.guards);
            let reset = |statistics: &Statistics| statistics.reset(now, stamp, lock);
            self.kernel.port.statistics(cpu.number, reset).ok_or(Error::UnknownCall)
        })
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
        let cpu = self.kernel.cpus.get().get(cpu as usize).ok_or(Error::InvalidArgument)?;
        let counter = *Counter::ALL.get(counter as usize).ok_or(Error::InvalidArgument)?;
        let (now, lock) = (self.kernel.port.now(), P::LockPolicy::counts(&cpu.guards));
        let look = |statistics: &Statistics| statistics.counter(counter, now, lock);
        let value = self.kernel.port.statistics(cpu.number, look);
        Ok(Done::Values(value.ok_or(Error::InvalidArgument)?, 0))
    }

    /// How long a CPU has run a thread.
    pub(super) fn time_row(&self, cpu: u32, thread: u32) -> Result<Done, Error> {
        let cpu = self.kernel.cpus.get().get(cpu as usize).ok_or(Error::InvalidArgument)?;
        let stamp = self.kernel.port.stamp();
        let look = |statistics: &Statistics| statistics.time(thread, stamp);
        let time = self.kernel.port.statistics(cpu.number, look).flatten();
        Ok(Done::Values(time.ok_or(Error::InvalidArgument)?, 0))
    }

    /// A thread is created: its time begins on each CPU.
    pub(super) fn begin_time(&self, thread: u32) {
        for cpu in self.kernel.cpus.get() {
            let begin = |statistics: &Statistics| statistics.begin_thread(thread);
            self.kernel.port.statistics(cpu.number, begin);
        }
    }

    /// How often the ready queue of a CPU had a length.
    pub(super) fn length_row(&self, cpu: u32, length: u32) -> Result<Done, Error> {
        let cpu = self.kernel.cpus.get().get(cpu as usize).ok_or(Error::InvalidArgument)?;
        let look = |statistics: &Statistics| statistics.length(length as usize);
        let times = self.kernel.port.statistics(cpu.number, look).flatten();
        Ok(Done::Values(times.ok_or(Error::InvalidArgument)?, 0))
    }
}
