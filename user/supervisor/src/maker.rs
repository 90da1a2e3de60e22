//! Making children as the inventory says, and taking them away: the same at the start and later.

use abi::Kind;
use abi::boot::{name_bytes, name_text};
use abi::supervision::{Child, Inventory, MOST_CHILDREN, Map, Owned};
use rt::memory::{self, Range};
use rt::thread::{self, Registers, Spec};
use rt::{At, Env, Error, Mapping, MemoryObject, OwnedSlot, Rights, Slot, SlotPool, Wait, Window};
use rt::{domain, ipc, reservation, signal};

use crate::policy::{Set, each};
use crate::table::{self, Table};

/// What a child consists of that is taken away with it. Its threads and mappings end with the
/// domain.
struct Made {
    domain: OwnedSlot,
    /// The memory that was made for it; dropping it ends it.
    _fresh: Option<MemoryObject>,
}

/// All children, and what they are made of.
pub struct Maker {
    inventory: Inventory<Table>,
    children: [Option<(usize, Child)>; MOST_CHILDREN],
    made: [Option<Made>; MOST_CHILDREN],
    pool: SlotPool,
    window: Window,
}

impl Maker {
    /// No child is made yet.
    pub fn new(env: &Env) -> Maker {
        let inventory = table::open(env);
        let mut children = [None; MOST_CHILDREN];
        for (place, child) in children.iter_mut().zip(inventory.children()) {
            *place = Some(child);
        }
        let made = [const { None }; MOST_CHILDREN];
        Maker { inventory, children, made, pool: SlotPool::new(env), window: Window::new(env) }
    }

    /// The children in order.
    pub fn children(&self) -> impl Iterator<Item = &Child> {
        self.children.iter().flatten().map(|(_, child)| child)
    }

    /// A child, if there are so many.
    pub fn child(&self, number: usize) -> Option<&Child> {
        self.children.get(number)?.as_ref().map(|(_, child)| child)
    }

    /// Makes a child that is not there. If that fails, what was made of it is gone again.
    ///
    /// # Errors
    ///
    /// Those of the system calls; [`Error::InvalidArgument`] if there is no such child.
    pub fn make(&mut self, number: usize) -> Result<(), Error> {
        let Some(&Some(place)) = self.children.get(number) else {
            return Err(Error::InvalidArgument);
        };
        let (_, child) = place;
        let fresh = match child.fresh_pages {
            0 => None,
            pages => Some(MemoryObject::create(&self.pool, pages)?),
        };
        self.fill(&place, fresh.as_ref())?;
        let slot = self.pool.try_take()?;
        let Child { cpus, slots, max_priority, quotas, .. } = child;
        domain::create_on(cpus, slot.slot(), slots, max_priority, quotas)?;
        domain::name(slot.slot(), name_text(&name_bytes(child.name)))?;
        let filled = self.furnish(&place, slot.slot(), fresh.as_ref());
        let made = Made { domain: slot, _fresh: fresh };
        match filled {
            Ok(()) => self.made[number] = Some(made),
            Err(_) => made.take_away(),
        }
        filled
    }

    /// Takes a child away; nothing if it is not there.
    pub fn take_away(&mut self, number: usize) {
        if let Some(made) = self.made[number].take() {
            made.take_away();
        }
    }

    /// What no child that is there holds, but one of these, begins as at boot: timers are disarmed,
    /// then signals taken, then interrupts may come.
    pub fn renew(&self, set: Set) {
        let gone = |owned: &Owned| each(owned.holders).all(|child| self.made[child].is_none());
        let owned = self.inventory.owned().filter(|owned| owned.holders & set != 0);
        for Owned { kind, slot, .. } in owned.filter(gone) {
            // It fails if there is no signal; what no longer exists fails when it is given.
            let _ = match kind {
                Kind::Timer => signal::set_timer(Slot(slot), 0),
                Kind::Interrupt => signal::acknowledge(Slot(slot)),
                _ => ipc::receive(Slot(slot), Wait::ZERO).map(|_| ()),
            };
        }
    }

    /// Writes what fresh memory begins with.
    fn fill(&self, place: &(usize, Child), fresh: Option<&MemoryObject>) -> Result<(), Error> {
        let Some(fresh) = fresh else { return Ok(()) };
        let filled = |map: &Map| map.memory.is_none() && map.bytes > 0;
        if !self.inventory.maps(place).any(|map| filled(&map)) {
            return Ok(());
        }
        let own = Mapping::new(fresh, At::Window(self.window), Rights::READ | Rights::WRITE)?;
        for map in self.inventory.maps(place).filter(filled) {
            let to = (map.first * rt::PAGE / 8) as usize;
            for nth in 0..map.bytes.div_ceil(8) as usize {
                let word = self.inventory.word(map.contents as usize + nth);
                own.set(to + nth, word.unwrap_or(0));
            }
        }
        Ok(())
    }

    /// Fills a new domain, and starts it.
    fn furnish(
        &self,
        place: &(usize, Child),
        domain: Slot,
        fresh: Option<&MemoryObject>,
    ) -> Result<(), Error> {
        let (_, child) = place;
        if let Some(leaf) = child.reservation {
            reservation::run_on(domain, Slot(leaf))?;
        }
        for map in self.inventory.maps(place) {
            let own = fresh.map_or(Slot::NONE, MemoryObject::slot);
            let memory = map.memory.map_or(own, Slot);
            let (first, pages, address) = (map.first, map.pages, map.address);
            // The capability goes at once: the mapping ends with the domain.
            let mapping = self.pool.try_take()?;
            let range = Range { memory, first, pages, address };
            memory::map(mapping.slot(), domain, range, Rights(map.rights))?;
        }
        for grant in self.inventory.grants(place) {
            domain::grant(domain, Slot(grant.from), Slot(grant.to), Rights(grant.rights))?;
        }
        let first = self.pool.try_take()?;
        let (priority, buffer, handler) = (child.priority, child.buffer, Slot(child.faults));
        thread::create(first.slot(), Spec { domain, priority, buffer, handler })?;
        let registers = Registers {
            instruction: Some(child.entry),
            stack: Some(child.stack),
            argument: Some(child.argument),
            ..Registers::default()
        };
        thread::set(first.slot(), registers)?;
        thread::migrate(first.slot(), child.cpu)?;
        thread::resume(first.slot())
    }
}

impl Made {
    /// Ends the domain, and then its memory, which nothing maps any more.
    fn take_away(self) {
        // It cannot fail: no other domain holds a capability to the domain.
        let ended = self.domain.destroy();
        assert!(ended == Ok(()), "a child's domain does not end: {ended:?}");
    }
}
