//! What drivers alone ask for: where memory lies, I/O ports, and interrupts of a CPU.

use super::capabilities::slot;
use super::{Done, Manager};
use crate::access::Ref;
use crate::object::memory::Frames;
use crate::object::{Domain, Interrupt, Memory};
use crate::port::Port;
use abi::call::Call;
use abi::{Error, Rights};

impl<P: Port> Manager<'_, P> {
    /// Executes such a call. Apart, so that other calls keep their registers.
    #[inline(never)]
    pub(super) fn call_of_drivers(
        &self,
        own: Ref<Domain<P>>,
        call: Call,
        args: &[u64; 6],
    ) -> Result<Done, Error> {
        let slot = slot(args[0])?;
        match call {
            Call::MemoryAddress => self.memory_address(own, slot),
            Call::PortRead => {
                let (port, bytes) = self.port(own, slot, Rights::READ, args)?;
                Ok(Done::Values(self.kernel.port.read_port(port, bytes).into(), 0))
            }
            Call::PortWrite => {
                let (port, bytes) = self.port(own, slot, Rights::WRITE, args)?;
                self.kernel.port.write_port(port, bytes, args[3] as u32);
                Ok(Done::Nothing)
            }
            _ => self.route(own, slot, args[1]),
        }
    }

    /// Where a memory lies. What a program has made lies in no row, and no capability to it has the
    /// right: its frames will be another's.
    fn memory_address(&self, own: Ref<Domain<P>>, slot: u32) -> Result<Done, Error> {
        let cap = self.all.open(own).named::<Memory<P>>(slot, Rights::PHYSICAL)?;
        let memory = self.all.open(cap.at);
        match (memory.frames.get(), memory.pages.get()) {
            (_, 0) => Err(Error::InvalidArgument),
            (Frames::Indexed(_), _) => Err(Error::MissingRight),
            (Frames::Contiguous(base), pages) => {
                Ok(Done::Values(base / P::PAGE * P::PAGE, pages * P::PAGE))
            }
        }
    }

    /// The I/O port that a call is for, and how many bytes it asks for: all of them are of ports in
    /// the range.
    fn port(
        &self,
        own: Ref<Domain<P>>,
        slot: u32,
        right: Rights,
        args: &[u64; 6],
    ) -> Result<(u16, u8), Error> {
        let cap = self.all.open(own).named::<Memory<P>>(slot, right)?;
        let ports = self.all.open(cap.at).ports();
        let (first, number) = ports.ok_or(Error::InvalidArgument)?;
        let (offset, bytes, number) = (args[1], args[2], u64::from(number));
        if !matches!(bytes, 1 | 2 | 4) || offset >= number || bytes > number - offset {
            return Err(Error::InvalidArgument);
        }
        Ok((first + offset as u16, bytes as u8))
    }

    /// Lets an interrupt come to another CPU, which the domain may use, and on which its threads
    /// run, if its reservation is of one CPU.
    fn route(&self, own: Ref<Domain<P>>, slot: u32, number: u64) -> Result<Done, Error> {
        let domain = self.all.open(own);
        let cap = domain.named::<Interrupt<P>>(slot, Rights::CONTROL)?;
        self.check_cpu(number)?;
        let home = self.kernel.trees.home_of(domain.reservation.get());
        let is_elsewhere = home.is_some_and(|home| !home.is_of(number as u32));
        if is_elsewhere || domain.cpus.get() & 1 << number == 0 {
            return Err(Error::CpuNotAllowed);
        }
        self.kernel.port.route_irq(self.all.open(cap.at).irq.get(), number as u32);
        Ok(Done::Nothing)
    }
}
