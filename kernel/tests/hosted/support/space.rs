//! Page tables: four levels of 512 entries, in frames that the core supplies.

use abi::boot::Cache;
use abi::{PAGE, Rights};
use kernel::port::{Mapped, Port, RemoteTlbs, Space, Taken};
use kernel::tlb::Change;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

const LEVELS: u32 = 4;
const PRESENT: u64 = 1;
const RIGHTS_SHIFT: u32 = 1;
const ADDRESS: u64 = !(PAGE - 1);
/// In the low bits of a frame: it is device memory, and with which attribute.
const DEVICE: u64 = 1 << 4;
const CACHE_SHIFT: u32 = 5;
const ATTRIBUTES: u64 = DEVICE | 3 << CACHE_SHIFT;

/// An address of device memory as [`HostSpace`] maps it.
pub fn device_frame(at: u64, cache: Cache) -> u64 {
    at | DEVICE | (cache as u64) << CACHE_SHIFT
}

/// A domain's page tables.
pub struct HostSpace {
    root: u64,
}

fn index(at: u64, level: u32) -> usize {
    (at >> (12 + 9 * level)) as usize & 511
}

fn entry(port: &impl Port, table: u64, at: u64, level: u32) -> &'static AtomicU64 {
    &port.frame(table)[index(at, level)]
}

/// A page that is mapped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Page {
    /// Its address.
    pub at: u64,
    /// The frame behind it, with its attributes if it is device memory.
    pub frame: u64,
    /// What may be done with it.
    pub rights: u8,
}

impl HostSpace {
    fn leaf(&self, port: &impl Port, at: u64) -> Option<&'static AtomicU64> {
        let mut table = self.root;
        for level in (1..LEVELS).rev() {
            let word = entry(port, table, at, level).load(Relaxed);
            if word & PRESENT == 0 {
                return None;
            }
            table = word & ADDRESS;
        }
        Some(entry(port, table, at, 0))
    }

    /// Calls `table` for each table but the root, and `page` for each page.
    pub fn walk(&self, port: &impl Port, table: &mut impl FnMut(u64), page: &mut impl FnMut(Page)) {
        walk(port, self.root, LEVELS - 1, 0, table, page);
    }
}

fn walk(
    port: &impl Port,
    frame: u64,
    level: u32,
    at: u64,
    table: &mut impl FnMut(u64),
    page: &mut impl FnMut(Page),
) {
    for (index, entry) in port.frame(frame).iter().enumerate() {
        let word = entry.load(Relaxed);
        if word & PRESENT == 0 {
            continue;
        }
        let at = at | (index as u64) << (12 + 9 * level);
        let below = word & ADDRESS;
        if level == 0 {
            let frame = below | word & ATTRIBUTES;
            page(Page { at, frame, rights: (word >> RIGHTS_SHIFT) as u8 & 7 });
        } else {
            table(below);
            walk(port, below, level - 1, at, table, page);
        }
    }
}

fn leaf_word(frame: u64, rights: Rights) -> u64 {
    frame | u64::from(rights.0 & 7) << RIGHTS_SHIFT | PRESENT
}

impl Space for HostSpace {
    type Local = ();

    const REMOTE: RemoteTlbs = RemoteTlbs::None;

    fn new(root: u64) -> Self {
        HostSpace { root }
    }

    fn missing(&self, port: &impl Port, at: u64, pages: u64) -> usize {
        // The distinct tables on the way to all pages, less those that exist.
        let mut seen = std::collections::BTreeSet::new();
        let last = at + (pages - 1) * PAGE;
        let mut page = at;
        loop {
            let mut table = Some(self.root);
            for level in (1..LEVELS).rev() {
                let word = table.map(|table| entry(port, table, page, level).load(Relaxed));
                table = word.filter(|word| word & PRESENT != 0).map(|word| word & ADDRESS);
                if table.is_none() {
                    seen.insert((level, page >> (12 + 9 * level)));
                }
            }
            if page == last {
                return seen.len();
            }
            page = (page + 512 * PAGE).min(last);
        }
    }

    fn frame(&self, port: &impl Port, at: u64) -> Option<u64> {
        let word = self.leaf(port, at)?.load(Relaxed);
        (word & (PRESENT | DEVICE) == PRESENT).then_some(word & ADDRESS)
    }

    fn is_mapped(&self, port: &impl Port, at: u64) -> bool {
        self.leaf(port, at).is_some_and(|leaf| leaf.load(Relaxed) & PRESENT != 0)
    }

    fn writable(&self, port: &impl Port, at: u64) -> Option<u64> {
        let word = self.leaf(port, at)?.load(Relaxed);
        let rights = Rights((word >> RIGHTS_SHIFT) as u8 & 7);
        let is_ram = word & (PRESENT | DEVICE) == PRESENT;
        (is_ram && rights.contains(Rights::WRITE)).then_some(word & ADDRESS)
    }

    fn add_table(&self, port: &impl Port, at: u64, new: u64) {
        let mut table = self.root;
        for level in (1..LEVELS).rev() {
            let entry = entry(port, table, at, level);
            if entry.load(Relaxed) & PRESENT == 0 {
                let empty = port.frame(new).iter().all(|word| word.load(Relaxed) == 0);
                assert!(empty, "a table that is not zeroed");
                return entry.store(new | PRESENT, Relaxed);
            }
            table = entry.load(Relaxed) & ADDRESS;
        }
        unreachable!("adds a table where none is missing");
    }

    fn map(&self, port: &impl Port, at: u64, frame: u64, rights: Rights) -> Mapped {
        let Some(leaf) = self.leaf(port, at) else { return Mapped::NoTable };
        if leaf.load(Relaxed) & PRESENT != 0 {
            return Mapped::InUse;
        }
        leaf.store(leaf_word(frame, rights), Relaxed);
        Mapped::Done
    }

    fn protect(&self, port: &impl Port, at: u64, rights: Rights, _change: Change) {
        let leaf = self.leaf(port, at).expect("protects what is mapped");
        let word = leaf.load(Relaxed);
        assert!(word & PRESENT != 0, "protects what is mapped");
        leaf.store(leaf_word(word & (ADDRESS | ATTRIBUTES), rights), Relaxed);
    }

    fn unmap(&self, port: &impl Port, at: u64, _change: Change) {
        let leaf = self.leaf(port, at).expect("unmaps what is mapped");
        assert!(leaf.load(Relaxed) & PRESENT != 0, "unmaps what is mapped");
        leaf.store(0, Relaxed);
    }

    fn take_table(&self, port: &impl Port) -> Taken {
        let mut above = None;
        let mut table = self.root;
        for level in (0..LEVELS).rev() {
            let words = port.frame(table);
            let found = words.iter().find(|word| word.load(Relaxed) & PRESENT != 0);
            let Some(word) = found else { break };
            assert!(level > 0, "takes tables from a space with mappings");
            above = Some(word);
            table = word.load(Relaxed) & ADDRESS;
        }
        let Some(above) = above else { return Taken::Nothing };
        above.store(0, Relaxed);
        Taken::Table(table)
    }
}
