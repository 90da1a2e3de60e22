//! Memory that is taken away where other CPUs have seen it.

use super::{Cross, Helper, Metric, OWN, listen, spin};
use abi::call::Call;
use abi::object::Resource;
use rt::memory::{self, Range};
use rt::{Error, Rights, Slot, cap, domain, signal, system};

/// CPUs at most.
const MOST: usize = 8;
const ADDRESS: u64 = 0x2_0000_0000;
const RW: Rights = Rights(Rights::READ.0 | Rights::WRITE.0);
/// The case of a domain that no other CPU has seen, while all have seen this one.
const UNSEEN: u16 = 8;
/// Cases from here on: so many other CPUs run a thread of the domain.
const BUSY: u16 = 16;

impl Cross {
    /// A page of a domain that more and more CPUs have seen; then ends of threads and domains.
    pub fn take_away(&mut self) -> Result<(), Error> {
        let (page, mapping, child) = (self.slots.fresh(), self.slots.fresh(), self.slots.fresh());
        memory::create(page, 1)?;
        let own = Page { domain: Slot::NONE, page, mapping };
        self.take_page(0, own, &[])?;
        let mut idle = [None; MOST];
        for cpu in 1..self.cpus {
            idle[cpu as usize] = Some(self.start(cpu, cpu, listen)?);
            self.take_page(cpu as u16, own, &idle)?;
        }
        let mut quotas = [0; Resource::COUNT];
        quotas[Resource::Tables as usize] = 8;
        domain::create(child, 4, OWN, quotas)?;
        self.take_page(UNSEEN, Page { domain: child, ..own }, &idle)?;
        cap::destroy(child)?;
        let mut busy = [None; MOST];
        for cpu in 1..self.cpus {
            busy[cpu as usize] = Some(self.start(self.cpus + cpu, cpu, spin)?);
            self.take_page(BUSY + cpu as u16, own, &[])?;
        }
        busy.into_iter().flatten().try_for_each(|helper| self.end(helper))?;
        self.ends()
    }

    /// Maps a page, takes the right to write, then the page; before each, these threads run in
    /// this program's domain, and wait again.
    fn take_page(
        &mut self,
        case: u16,
        Page { domain, page, mapping }: Page,
        see: &[Option<Helper>],
    ) -> Result<(), Error> {
        let range = Range { memory: page, first: 0, pages: 1, address: ADDRESS };
        let show = || see.iter().flatten().try_for_each(|helper| signal::signal(helper.bell));
        for round in self.rounds() {
            memory::map(mapping, domain, range, RW)?;
            show()?;
            self.time((Metric::Protect, case), round, || {
                system::status(Call::Protect, [mapping.word(), u64::from(Rights::READ.0)])
            })?;
            show()?;
            self.time((Metric::Unmap, case), round, || {
                system::status(Call::Destroy, [mapping.word()])
            })?;
        }
        Ok(())
    }
}

/// A page that is taken away, over and over.
#[derive(Clone, Copy)]
struct Page {
    domain: Slot,
    page: Slot,
    mapping: Slot,
}
