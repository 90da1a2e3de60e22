//! Page tables: four levels of 512 entries, in frames that the core supplies.

use crate::hardware::Hardware;
use crate::transactions::Refused;
use abi::{PAGE, Rights};
use kernel::port::{self, Frame, Mapped, Port, RemoteTlbs, Taken};
use kernel::tlb::Change;
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

const LEVELS: u32 = 4;
const PRESENT: u64 = 1;
const RIGHTS_SHIFT: u32 = 1;
const ADDRESS: u64 = !(PAGE - 1);

/// The entry of a page is changed or removed: this CPU drops what it holds of it.
fn invalidate(root: u64, address: u64) {
    let hardware = Hardware::current();
    hardware.refuse(Refused::Tables);
    hardware.here().tlb.invalidate(address / PAGE);
    if let Some(window) = &hardware.window {
        window.invalidate(hardware.running.get(), root, address / PAGE);
    }
}

/// Entries of a [`Tlb`] that are found at once.
const RECENT: usize = 64;

/// The translations that a CPU holds: of each page that was used, until it is invalidated or all
/// are flushed. What other CPUs change in the tables shows then and no earlier.
pub struct Tlb {
    recent: [Cell<Option<Entry>>; RECENT],
    all: RefCell<BTreeMap<u64, Entry>>,
}

#[derive(Clone, Copy)]
struct Entry {
    page: u64,
    root: u64,
    frame: &'static Frame,
    rights: Rights,
}

impl Tlb {
    /// Holds nothing.
    pub fn new() -> Tlb {
        let recent = std::array::from_fn(|_| Cell::new(None));
        Tlb { recent, all: RefCell::default() }
    }

    /// Drops all translations.
    pub fn flush(&self) {
        self.recent.iter().for_each(|entry| entry.set(None));
        self.all.borrow_mut().clear();
    }

    /// Drops the translation of one page.
    fn invalidate(&self, page: u64) {
        self.recent[page as usize % RECENT].set(None);
        self.all.borrow_mut().remove(&page);
    }

    /// The word at an address, if it is mapped with these rights; what is readable at all may be
    /// read.
    #[inline]
    pub fn word(
        &self,
        port: &impl Port,
        root: u64,
        address: u64,
        rights: Rights,
    ) -> Option<&'static AtomicU64> {
        let entry = self.entry(port, root, address / PAGE, rights)?;
        address.is_multiple_of(8).then(|| &entry.frame[(address % PAGE / 8) as usize])
    }

    /// The frame of a page that is mapped with these rights, and all rights to it.
    pub fn page(
        &self,
        port: &impl Port,
        root: u64,
        page: u64,
        rights: Rights,
    ) -> Option<(&'static Frame, Rights)> {
        self.entry(port, root, page, rights).map(|entry| (entry.frame, entry.rights))
    }

    #[inline]
    fn entry(&self, port: &impl Port, root: u64, page: u64, rights: Rights) -> Option<Entry> {
        let fits = |entry: &Entry| {
            let allows = rights == Rights::READ || entry.rights.contains(rights);
            (entry.page, entry.root) == (page, root) && allows
        };
        let recent = self.recent[page as usize % RECENT].get().filter(fits);
        recent.map_or_else(|| self.look_up(port, root, page, fits), Some)
    }

    /// The entry of a page that fits: one that is held, else that of the tables. What is held and
    /// allows too little is looked up again: another CPU may have allowed more.
    fn look_up(
        &self,
        port: &impl Port,
        root: u64,
        page: u64,
        fits: impl Fn(&Entry) -> bool,
    ) -> Option<Entry> {
        let mut all = self.all.borrow_mut();
        let held = all.get(&page).copied().filter(&fits);
        let entry = match held {
            Some(entry) => entry,
            None => {
                let (frame, rights) = walk(port, root, page * PAGE)?;
                Entry { page, root, frame: port.frame(frame), rights }
            }
        };
        all.insert(page, entry);
        self.recent[page as usize % RECENT].set(Some(entry));
        fits(&entry).then_some(entry)
    }
}

/// A domain's page tables.
pub struct Space {
    /// The frame of the root table.
    pub root: u64,
}

fn entry(port: &impl Port, table: u64, at: u64, level: u32) -> &'static AtomicU64 {
    &port.frame(table)[(at >> (12 + 9 * level)) as usize & 511]
}

fn leaf(port: &impl Port, root: u64, at: u64) -> Option<&'static AtomicU64> {
    let mut table = root;
    for level in (1..LEVELS).rev() {
        let word = entry(port, table, at, level).load(Relaxed);
        if word & PRESENT == 0 {
            return None;
        }
        table = word & ADDRESS;
    }
    Some(entry(port, table, at, 0))
}

/// The frame and the rights of a page, if it is mapped.
pub fn walk(port: &impl Port, root: u64, at: u64) -> Option<(u64, Rights)> {
    let word = leaf(port, root, at)?.load(Relaxed);
    let rights = Rights((word >> RIGHTS_SHIFT) as u8 & 7);
    (word & PRESENT != 0).then_some((word & ADDRESS, rights))
}

fn leaf_word(frame: u64, rights: Rights) -> u64 {
    frame | u64::from(rights.0 & 7) << RIGHTS_SHIFT | PRESENT
}

impl port::Space for Space {
    type Local = ();

    const REMOTE: RemoteTlbs = RemoteTlbs::Interrupted;

    fn new(root: u64) -> Self {
        Space { root }
    }

    fn missing(&self, port: &impl Port, at: u64, pages: u64) -> usize {
        let last = at + (pages - 1) * PAGE;
        let mut missing = 0;
        for level in 1..LEVELS {
            // A table of this level's children covers so many bytes.
            let span = PAGE << (9 * level);
            let mut first = at / span * span;
            while first <= last {
                missing += usize::from(!self.has_table(port, first, level));
                first += span;
            }
        }
        missing
    }

    fn frame(&self, port: &impl Port, at: u64) -> Option<u64> {
        walk(port, self.root, at).map(|(frame, _)| frame)
    }

    fn writable(&self, port: &impl Port, at: u64) -> Option<u64> {
        let (frame, rights) = walk(port, self.root, at)?;
        rights.contains(Rights::WRITE).then_some(frame)
    }

    fn add_table(&self, port: &impl Port, at: u64, new: u64) {
        Hardware::current().refuse(Refused::Tables);
        let mut table = self.root;
        for level in (1..LEVELS).rev() {
            let entry = entry(port, table, at, level);
            if entry.load(Relaxed) & PRESENT == 0 {
                return entry.store(new | PRESENT, Relaxed);
            }
            table = entry.load(Relaxed) & ADDRESS;
        }
        unreachable!("adds a table where none is missing");
    }

    fn map(&self, port: &impl Port, at: u64, frame: u64, rights: Rights) -> Mapped {
        let Some(leaf) = leaf(port, self.root, at) else { return Mapped::NoTable };
        if leaf.load(Relaxed) & PRESENT != 0 {
            return Mapped::InUse;
        }
        Hardware::current().refuse(Refused::Tables);
        leaf.store(leaf_word(frame, rights), Relaxed);
        Mapped::Done
    }

    fn protect(&self, port: &impl Port, at: u64, rights: Rights, _change: Change) {
        invalidate(self.root, at);
        let leaf = leaf(port, self.root, at).expect("protects what is mapped");
        leaf.store(leaf_word(leaf.load(Relaxed) & ADDRESS, rights), Relaxed);
    }

    fn unmap(&self, port: &impl Port, at: u64, _change: Change) {
        invalidate(self.root, at);
        leaf(port, self.root, at).expect("unmaps what is mapped").store(0, Relaxed);
    }

    fn flush(&self, _local: &()) {
        Hardware::current().refuse(Refused::Tables);
        Hardware::current().here().use_tables(self.root);
    }

    fn take_table(&self, port: &impl Port) -> Taken {
        let mut above = None;
        let mut table = self.root;
        for level in (0..LEVELS).rev() {
            let found = port.frame(table).iter().find(|word| word.load(Relaxed) & PRESENT != 0);
            let Some(word) = found else { break };
            assert!(level > 0, "takes tables from a space with mappings");
            above = Some(word);
            table = word.load(Relaxed) & ADDRESS;
        }
        let Some(above) = above else { return Taken::Nothing };
        Hardware::current().refuse(Refused::Tables);
        above.store(0, Relaxed);
        Taken::Table(table)
    }
}

impl Space {
    /// Whether the table that an entry of this level at an address leads to exists.
    fn has_table(&self, port: &impl Port, at: u64, level: u32) -> bool {
        let mut table = self.root;
        for above in (level..LEVELS).rev() {
            let word = entry(port, table, at, above).load(Relaxed);
            if word & PRESENT == 0 {
                return false;
            }
            table = word & ADDRESS;
        }
        true
    }
}
