//! What people may see of the machine, row by row.

use super::{Done, Manager};
use crate::access::{Life, Ref};
use crate::object::capability::Capability;
use crate::object::{Domain, Pooled, Thread};
use crate::port::{Context, Port, Space};
use abi::Error;
use abi::call::{BLOCK_WORDS, Table};
use abi::object::Resource;
use core::sync::atomic::Ordering::Relaxed;

/// Rows of a sum between two polls for interrupts.
const ROWS: u32 = 16;

impl<P: Port> Manager<'_, P> {
    pub(super) fn inspect(
        &self,
        me: Ref<Thread<P>>,
        own: Ref<Domain<P>>,
        slot: u32,
        table: u64,
        row: u64,
    ) -> Result<Done, Error> {
        self.machine(own, slot)?;
        let low = row as u32;
        let high = || (row >> 32) as u32;
        match table {
            t if t == Table::Domain as u64 => self.domain_row(me, low),
            t if t == Table::Thread as u64 => self.thread_row(low),
            t if t == Table::Quota as u64 => {
                let quotas = &self.all.open(self.domain_at(low)?).quotas;
                let resource = resource(high())?;
                Ok(pair(quotas.used(resource), quotas.limit(resource)))
            }
            t if t == Table::Pool as u64 && low == Resource::Slots as u32 => self.slots_row(me),
            t if t == Table::Pool as u64 => {
                let (used, size) = self.kernel.usage(resource(low)?);
                Ok(pair(used, size))
            }
            t if t == Table::Slot as u64 => self.slot_row(low, high()),
            t if t == Table::Counter as u64 => self.counter_row(high(), low),
            t if t == Table::Length as u64 => self.length_row(high(), low),
            t if t == Table::Time as u64 => self.time_row(high(), low),
            t if t == Table::Block as u64 => self.block_row(low, high()),
            t if t == Table::ThreadName as u64 => self.name_row(low),
            t if P::TREE && t == Table::Reservation as u64 => self.reservation_row(low),
            t if P::TREE && t == Table::Share as u64 => self.share_row(low),
            _ => Err(Error::InvalidArgument),
        }
    }

    fn domain_at(&self, index: u32) -> Result<Ref<Domain<P>>, Error> {
        self.kernel.live_domain(index).ok_or(Error::InvalidArgument)
    }

    /// A sum over many rows, in steps. How far it came is the caller's own, as the sum so far:
    /// what changes meanwhile may be counted or not. None: not yet, an interrupt is pending.
    fn sum(&self, me: Ref<Thread<P>>, rows: u32, row: impl Fn(u32) -> u32) -> Option<u32> {
        let progress = &self.all.open(me).protected;
        if !self.is_restarted(me) {
            progress.set(0);
        }
        let (mut next, mut sum) = (progress.get() as u32, (progress.get() >> 32) as u32);
        while next < rows {
            let end = rows.min(next.saturating_add(ROWS));
            sum = (next..end).fold(sum, |sum, index| sum.wrapping_add(row(index)));
            next = end;
            if next < rows && self.preempted() {
                progress.set(u64::from(next) | u64::from(sum) << 32);
                return None;
            }
        }
        Some(sum)
    }

    /// How many slots all domains have, and how many there may be.
    fn slots_row(&self, me: Ref<Thread<P>>) -> Result<Done, Error> {
        let limit = |index| self.kernel.live_domain(index).map_or(0, |at| at.limit.get());
        let used = self.sum(me, self.kernel.domains.size(), limit);
        Ok(used.map_or(Done::Preempted, |used| pair(used, self.kernel.slots)))
    }

    fn domain_row(&self, me: Ref<Thread<P>>, index: u32) -> Result<Done, Error> {
        let at = self.kernel.domains.get(index).ok_or(Error::InvalidArgument)?;
        let domain = self.all.open(at);
        let is_used = |slot: u32| {
            let cell = domain.slots.get(slot as usize);
            cell.is_some_and(|cell| !matches!(cell.get(), Capability::Empty)).into()
        };
        let Some(used) = self.sum(me, domain.slots.len() as u32, is_used) else {
            return Ok(Done::Preempted);
        };
        let used = u64::from(used);
        let [low, high] = domain.name.get();
        let alive = u64::from(at.life() == Life::Live);
        let slots = used | u64::from(domain.limit.get()) << 32;
        let owner = domain.owner().get().unwrap_or(at).index();
        let threads = u64::from(domain.threads.get()) | u64::from(owner) << 32;
        let words = [low, high, threads, slots];
        Ok(Done::Words(alive, u64::from(domain.max_priority.get()), words))
    }

    fn thread_row(&self, index: u32) -> Result<Done, Error> {
        let at = self.kernel.threads.get(index).ok_or(Error::InvalidArgument)?;
        if at.life() != Life::Live {
            return Ok(Done::Values(0, 0));
        }
        let thread = self.all.open(at);
        let (instruction, stack) = thread.context.position();
        let reserved = if P::TREE { thread.reservation.get(&self.all).node } else { u32::MAX };
        let reserved = u64::from(reserved.wrapping_add(1));
        let words = [u64::from(thread.domain.get().index()), instruction, stack, reserved];
        let own = &thread.base_priority;
        // Under a tree leaves are lent, and no priorities.
        let effective = if self.kernel.variant.tree { own } else { &thread.priority };
        let [base, effective] = [own, effective].map(|field| field.get().max(0) as u64);
        let state = self.state_of(at) as u64 | self.awaited(at);
        Ok(Done::Words(state, base | effective << 32, words))
    }

    /// Whether a part of a page is mapped, and where it begins to hold anything. A stack's pages
    /// are zeroed, so that tells how far it was used. A whole page would take too long.
    fn block_row(&self, domain: u32, block: u32) -> Result<Done, Error> {
        let domain = self.all.open(self.domain_at(domain)?);
        let at = u64::from(block) * (8 * BLOCK_WORDS as u64);
        let frame = domain.space.frame(self.kernel.port, at);
        let Some(frame) = frame else { return Ok(Done::Values(0, 0)) };
        if self.makes_room() {
            return Ok(Done::Preempted);
        }
        let first = (at % P::PAGE / 8) as usize;
        let words = &self.kernel.port.frame(frame)[first..first + BLOCK_WORDS];
        let zeros = words.iter().take_while(|word| word.load(Relaxed) == 0).count();
        Ok(Done::Values(1, zeros as u64))
    }

    fn slot_row(&self, domain: u32, slot: u32) -> Result<Done, Error> {
        let domain = self.all.open(self.domain_at(domain)?);
        let capability = domain.slots.get(slot as usize).ok_or(Error::InvalidArgument)?.get();
        let Some(kind) = capability.kind() else { return Ok(Done::Values(0, 0)) };
        let (rights, badge) = capability.inspect().unwrap_or_default();
        Ok(Done::Values(kind as u64 | u64::from(rights.0) << 8, badge))
    }
}

fn pair(first: u32, second: u32) -> Done {
    Done::Values(u64::from(first), u64::from(second))
}

fn resource(index: u32) -> Result<Resource, Error> {
    Resource::ALL.get(index as usize).copied().ok_or(Error::InvalidArgument)
}
