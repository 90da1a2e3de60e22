//! Threads and domains that end, here and on another CPU.

use super::{Cross, Helper, Metric, OWN, listen, rest, spin};
use abi::call::Call;
use abi::object::Resource;
use rt::memory::{self, Range};
use rt::thread::{self, Registers, Spec};
use rt::{Env, Error, Rights, Slot, arch, cap, domain, signal, system};

/// Where a domain that is to end has its code.
const CODE: u64 = 0x20_0000;

/// A thread that is to end: what it does, and on which CPU.
type Victim = (fn(&Env, u64), u64);

impl Cross {
    /// With all other threads at rest.
    pub fn ends(&mut self) -> Result<(), Error> {
        let victims: [Victim; 3] = [(listen, 0), (listen, 1), (spin, 1)];
        let (slot, bell) = (self.slots.fresh(), self.slots.fresh());
        signal::create_notification(bell)?;
        for (case, (work, cpu)) in victims.into_iter().enumerate() {
            for round in self.rounds() {
                let n = self.cpus;
                self.begin(Helper { slot, bell }, n, cpu, work)?;
                self.time((Metric::DestroyThread, case as u16), round, || {
                    system::status(Call::Destroy, [slot.word()])
                })?;
            }
        }
        self.domains()
    }

    /// A domain whose only thread waits, here or on another CPU.
    fn domains(&mut self) -> Result<(), Error> {
        let slots = Child {
            domain: self.slots.fresh(),
            door: self.slots.fresh(),
            mapping: self.slots.fresh(),
            thread: self.slots.fresh(),
        };
        signal::create_endpoint(slots.door, Slot::NONE)?;
        let words = self.env.mem("code");
        for (i, bytes) in arch::tiny_server().chunks(8).enumerate() {
            words.set(i, bytes.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte)));
        }
        for cpu in [0, 1] {
            for round in self.rounds() {
                self.begin_domain(&slots, cpu)?;
                self.time((Metric::DestroyDomain, cpu as u16), round, || {
                    system::status(Call::Destroy, [slots.domain.word()])
                })?;
                // Capabilities to what it held are stale.
                [slots.mapping, slots.thread].into_iter().try_for_each(cap::delete)?;
            }
        }
        Ok(())
    }

    /// A domain with one page of code, and a thread that has run on a CPU and waits.
    fn begin_domain(&self, child: &Child, cpu: u64) -> Result<(), Error> {
        let mut quotas = [0; Resource::COUNT];
        quotas[Resource::Tables as usize] = 8;
        domain::create(child.domain, 4, OWN - 1, quotas)?;
        domain::grant(child.domain, child.door, Slot(1), Rights::RECEIVE)?;
        let page = Range { memory: self.env.cap("code"), first: 0, pages: 1, address: CODE };
        memory::map(child.mapping, child.domain, page, Rights::READ.or(Rights::EXECUTE))?;
        let spec = Spec { domain: child.domain, priority: OWN - 1, buffer: 0, handler: Slot::NONE };
        thread::create(child.thread, spec)?;
        let instruction = Some(CODE);
        thread::set(child.thread, Registers { instruction, ..Registers::default() })?;
        thread::migrate(child.thread, cpu)?;
        thread::resume(child.thread)?;
        rest();
        Ok(())
    }
}

/// Slots of a domain that is to end, and of what it consists of.
struct Child {
    domain: Slot,
    /// What its thread waits for.
    door: Slot,
    mapping: Slot,
    thread: Slot,
}
