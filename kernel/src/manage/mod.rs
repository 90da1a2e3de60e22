//! System calls outside the message path. One copy serves all kernels in an image; such work has
//! the whole kernel open.

mod account;
mod awaited;
mod cancel;
mod capabilities;
mod create;
mod destroy;
mod drivers;
pub mod futex;
pub mod inherit;
mod inspect;
mod memory;
mod naming;
mod observe;
pub(crate) use memory::Range;
mod reservation;
mod schedule;
mod sleepers;
mod threads;
mod train;

use crate::access::{Exclusive, Ref};
use crate::console::ENTRY;
use crate::cpu::Cpu;
use crate::entry::Entry;
use crate::kernel::Kernel;
use crate::object::deadlines::TimerEntry;
use crate::object::{Domain, Interrupt, Thread, Timer};
use crate::port::{Context, Port};
use crate::system::System;
use abi::call::{Call, Fact, RESTARTED};
use abi::futex::Scope;
use abi::message::PANIC_STATUS;
use abi::trace::point;
use abi::{Error, Rights};
use futex::identity;

/// How a call came out.
pub enum Done {
    /// As asked.
    Nothing,
    /// With two results.
    Values(u64, u64),
    /// With two results and four words.
    Words(u64, u64, [u64; 4]),
    /// Not yet: an interrupt is pending, or another CPU waits, and the thread is to issue the call
    /// again.
    Preempted,
}

/// The kernel, all of it open.
pub struct Manager<'s, P: Port> {
    /// Everything that is not per CPU.
    pub kernel: &'static Kernel<P>,
    /// This CPU.
    pub cpu: &'static Cpu<P>,
    /// Proof of access.
    pub all: Exclusive<'s>,
}

impl<P: Port> Manager<'_, P> {
    /// Executes a system call of `me`.
    pub fn call(&self, me: Ref<Thread<P>>, call: Call, args: &[u64; 6]) -> Result<Done, Error> {
        let own = self.domain_of(me);
        if P::SMP {
            self.cpu.steps.set(0);
        }
        let slot = u32::try_from(args[0]).map_err(|_| Error::NoCapability);
        match call {
            Call::Clock => Ok(Done::Values(self.kernel.port.now(), 0)),
            Call::Fact => self.fact(me, args[0]),
            Call::CapCopy => self.copy(own, args),
            Call::CapDelete => self.delete(own, slot?),
            Call::CapRevoke => self.revoke(own, slot?),
            Call::CapSaveReply => self.save_reply(me, slot?),
            Call::CapInspect => self.inspect_slot(own, slot?),
            Call::Destroy => self.destroy(me, own, slot?),
            Call::EndpointCreate => self.create_endpoint(own, slot?, args[1]),
            Call::NotificationCreate => self.create_notification(own, slot?),
            Call::TimerCreate => self.create_timer(own, slot?, args[1]),
            Call::TimerSet => self.set_timer(own, slot?, args[1]),
            Call::InterruptAck => self.acknowledge(own, slot?),
            Call::MemoryCreate => self.create_memory(own, slot?, args[1]),
            Call::Map => self.map(me, own, args),
            Call::Protect => self.protect(me, own, slot?, Rights(args[1] as u8)),
            Call::MemoryAddress | Call::PortRead | Call::PortWrite | Call::InterruptRoute => {
                self.call_of_drivers(own, call, args)
            }
            Call::DomainCreate => self.create_domain(me, own, slot?, args),
            Call::DomainGrant => self.grant(own, args),
            Call::ThreadCreate => self.create_thread(own, args),
            Call::ThreadExchange => self.exchange(own, args),
            Call::ThreadResume => self.resume(own, slot?),
            Call::ThreadSuspend => self.suspend(own, slot?),
            Call::ThreadPriority => self.set_priority(own, slot?, args[1]),
            Call::ThreadMigrate => self.migrate(own, slot?, args[1]),
            Call::ThreadInspect => self.inspect_thread(own, slot?),
            Call::Name => self.name(own, slot?, [args[1], args[2]]),
            Call::ConsoleWrite => self.console_write(me, own, slot?, args[1]),
            Call::ConsoleRead => self.console_read(own, slot?),
            Call::Shutdown => {
                self.machine(own, slot?)?;
                let status = args[1] as u32;
                self.kernel.console.empty(self.kernel.port);
                if u64::from(status) == PANIC_STATUS {
                    self.tell_of_panic(me, args[1] >> 32);
                }
                if P::TREE {
                    self.leave_accounts();
                }
                self.kernel.console.empty(self.kernel.port);
                self.kernel.port.shutdown(status)
            }
            Call::Inspect => self.inspect(me, own, slot?, args[1], args[2]),
            Call::Observe => self.observe(own, slot?, args[1], args[2]),
            _ => self.call_of_reservations(me, own, call, args),
        }
    }

    /// The domain that a thread runs in.
    pub(crate) fn domain_of(&self, thread: Ref<Thread<P>>) -> Ref<Domain<P>> {
        self.all.open(thread).domain.get()
    }

    /// Whether a thread issues its call again, since that was preempted.
    fn is_restarted(&self, me: Ref<Thread<P>>) -> bool {
        let (number, _) = self.all.open(me).context.call();
        number & RESTARTED != 0
    }

    /// Whether a long operation should make room for an interrupt, or for another CPU.
    fn preempted(&self) -> bool {
        self.cpu.poll(point::CALL) || (P::SMP && self.cpu.takes_a_step(self.kernel))
    }

    /// Whether a call makes room for an interrupt between its checks and its work: it begins anew.
    pub(crate) fn makes_room(&self) -> bool {
        self.cpu.poll(point::CALL)
    }

    fn fact(&self, me: Ref<Thread<P>>, fact: u64) -> Result<Done, Error> {
        let (first, second) = match fact {
            f if f == Fact::KernelName as u64 => {
                let [low, high] = self.kernel.variant.name;
                (low, high)
            }
            f if f == Fact::CounterHz as u64 => self.kernel.port.counter(),
            f if f == Fact::Tick as u64 => self.cpu.tick_and_slice(),
            f if f == Fact::Cpus as u64 && P::SMP => {
                (self.kernel.cpus.get().len() as u64, self.cpu.number.into())
            }
            f if f == Fact::Cpus as u64 => (1, 0),
            f if f == Fact::Kernel as u64 => self.kernel.port.kernel_facts(),
            f if P::FUTEXES && f == Fact::Identity as u64 => {
                let domain = self.domain_of(me);
                let number = identity::where_it_is(self.kernel, &self.all, me);
                let id = |scope| u64::from(identity::id_told(self.kernel, scope, domain, number));
                let [low, high] = self.all.open(domain).name.get();
                // Names are few: what mixes their letters is enough.
                let mixed = (low ^ high.rotate_left(32)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
                (mixed >> 32 << 32 | id(Scope::Domain), id(Scope::Shared))
            }
            _ => return Err(Error::InvalidArgument),
        };
        Ok(Done::Values(first, second))
    }

    fn set_timer(&self, own: Ref<Domain<P>>, slot: u32, at: u64) -> Result<Done, Error> {
        let cap = self.all.open(own).named::<Timer<P>>(slot, Rights::CONTROL)?;
        if self.makes_room() {
            return Ok(Done::Preempted);
        }
        self.cpu_of_timer(cap.at).deadlines.remove(TimerEntry::Timer(cap.at));
        if P::SMP {
            self.all.open(cap.at).cpu.set(self.cpu.number);
        }
        if at == 0 {
            self.cpu.rearm();
        } else {
            // Nothing was due before that was said.
            let at = if P::TREE { at.max(self.kernel.port.now()) } else { at };
            self.cpu.sleep(at, TimerEntry::Timer(cap.at));
        }
        Ok(Done::Nothing)
    }

    fn acknowledge(&self, own: Ref<Domain<P>>, slot: u32) -> Result<Done, Error> {
        let cap = self.all.open(own).named::<Interrupt<P>>(slot, Rights::CONTROL)?;
        self.kernel.port.set_irq(self.all.open(cap.at).irq.get(), true);
        Ok(Done::Nothing)
    }

    /// Checks that there is a CPU of this number.
    fn check_cpu(&self, number: u64) -> Result<(), Error> {
        let count = if P::SMP { self.kernel.cpus.get().len() as u64 } else { 1 };
        if number < count { Ok(()) } else { Err(Error::InvalidArgument) }
    }

    fn console_write(
        &self,
        me: Ref<Thread<P>>,
        own: Ref<Domain<P>>,
        slot: u32,
        length: u64,
    ) -> Result<Done, Error> {
        self.console(own, slot)?;
        if length > ENTRY as u64 {
            return Err(Error::InvalidArgument);
        }
        let mut text = [0; ENTRY];
        let words = self.all.open(me).context.words();
        for (bytes, word) in text.chunks_exact_mut(8).zip(words) {
            bytes.copy_from_slice(&word.to_le_bytes());
        }
        self.kernel.console.write(self.kernel.port, own.index(), text, length as u8)?;
        Ok(Done::Nothing)
    }

    fn console_read(&self, own: Ref<Domain<P>>, slot: u32) -> Result<Done, Error> {
        self.console(own, slot)?;
        let byte = self.kernel.port.console_read().ok_or(Error::Timeout)?;
        Ok(Done::Values(u64::from(byte), 0))
    }
}

impl<S: System> Entry<S> {
    /// Opens everything, for work outside the message path.
    pub fn manage(&self) -> Manager<'_, S::Port> {
        Manager { kernel: self.kernel, cpu: self.cpu, all: self.section.exclusive() }
    }
}
