//! Walks page tables as the processor does, in what a run has left in memory.

use anyhow::{Result, bail};
use std::collections::BTreeSet;

const PRESENT: u64 = 1;
const WRITE: u64 = 2;
const USER: u64 = 4;
const LARGE: u64 = 0x80;
const NO_EXECUTE: u64 = 1 << 63;
const ADDRESS: u64 = 0x000f_ffff_ffff_f000;
const ENTRIES: u64 = 512;

/// The first address above the half that programs have.
pub const USER_END: u64 = 1 << 47;

/// A page as a program or the kernel finds it, with what all levels above it allow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Leaf {
    /// Its virtual address.
    pub at: u64,
    /// Its physical address.
    pub to: u64,
    /// Its size.
    pub bytes: u64,
    /// It can be written.
    pub writable: bool,
    /// It can be executed.
    pub executable: bool,
    /// User mode can reach it.
    pub user: bool,
}

/// What hangs under one root table.
#[derive(Debug, Default)]
pub struct Space {
    /// All pages, by virtual address.
    pub leaves: Vec<Leaf>,
    /// The physical addresses of all tables, the root included.
    pub tables: BTreeSet<u64>,
}

/// Rights that the levels so far allow.
#[derive(Clone, Copy)]
struct Allowed {
    write: bool,
    execute: bool,
    user: bool,
}

/// Walks everything under a root. `table` reads the entries of the table at an address.
pub fn walk(table: &impl Fn(u64) -> Result<Vec<u64>>, root: u64) -> Result<Space> {
    let mut space = Space::default();
    let everything = Allowed { write: true, execute: true, user: true };
    descend(table, &mut space, root, 3, 0, everything)?;
    Ok(space)
}

fn descend(
    table: &impl Fn(u64) -> Result<Vec<u64>>,
    space: &mut Space,
    frame: u64,
    level: u32,
    from: u64,
    above: Allowed,
) -> Result<()> {
    space.tables.insert(frame);
    let bytes = 1 << (12 + 9 * level);
    for (index, entry) in (0..ENTRIES).zip(table(frame)?) {
        if entry & PRESENT == 0 {
            continue;
        }
        let at = sign_extended(from + index * bytes);
        let allowed = Allowed {
            write: above.write && entry & WRITE != 0,
            execute: above.execute && entry & NO_EXECUTE == 0,
            user: above.user && entry & USER != 0,
        };
        let large = level > 0 && entry & LARGE != 0;
        if large && level == 3 {
            bail!("the root table at {frame:#x} has a page that no processor knows, for {at:#x}");
        }
        if level > 0 && !large {
            descend(table, space, entry & ADDRESS, level - 1, at, allowed)?;
        } else {
            // Bit 12 of a large page is an attribute, no address.
            let to = entry & ADDRESS & !(bytes - 1);
            let Allowed { write: writable, execute: executable, user } = allowed;
            space.leaves.push(Leaf { at, to, bytes, writable, executable, user });
        }
    }
    Ok(())
}

/// Bit 47 fills the bits above it.
fn sign_extended(at: u64) -> u64 {
    ((at << 16) as i64 >> 16) as u64
}

#[cfg(test)]
pub mod testing {
    use super::*;
    use std::collections::BTreeMap;

    /// Hand-made tables in a memory of their own.
    pub struct Memory {
        tables: BTreeMap<u64, Vec<u64>>,
        next: u64,
    }

    /// Flags of an entry.
    pub const KERNEL_DATA: u64 = PRESENT | WRITE | NO_EXECUTE;
    pub const KERNEL_TEXT: u64 = PRESENT;
    pub const USER_DATA: u64 = PRESENT | WRITE | USER | NO_EXECUTE;
    pub const USER_TEXT: u64 = PRESENT | USER;
    pub const EVERYTHING: u64 = PRESENT | WRITE | USER;

    impl Memory {
        /// Memory whose tables lie from `first` on.
        pub fn new(first: u64) -> Memory {
            Memory { tables: BTreeMap::new(), next: first }
        }

        /// An empty table.
        pub fn table(&mut self) -> u64 {
            let frame = self.next;
            self.next += 4096;
            self.tables.insert(frame, vec![0; ENTRIES as usize]);
            frame
        }

        /// Maps a page of level 0, or a large one of level 1 or 2.
        pub fn map(&mut self, root: u64, at: u64, to: u64, level: u32, flags: u64) {
            let mut frame = root;
            let index = |level: u32| (at >> (12 + 9 * level)) as usize & 511;
            for upper in (level + 1..4).rev() {
                let entry = self.tables[&frame][index(upper)];
                let below = if entry & PRESENT != 0 { entry & ADDRESS } else { self.table() };
                let user = if at < USER_END { USER } else { 0 };
                self.tables.get_mut(&frame).unwrap()[index(upper)] = below | PRESENT | WRITE | user;
                frame = below;
            }
            let large = if level > 0 { LARGE } else { 0 };
            self.tables.get_mut(&frame).unwrap()[index(level)] = to | flags | large;
        }

        /// Changes the root's entry for an address.
        pub fn set_root_flags(&mut self, root: u64, at: u64, flags: u64) {
            let entry = &mut self.tables.get_mut(&root).unwrap()[(at >> 39) as usize & 511];
            *entry = *entry & ADDRESS | flags;
        }

        /// Lets user mode through all tables on the way to an address.
        pub fn set_user_to(&mut self, root: u64, at: u64) {
            let mut frame = root;
            for level in (1..4).rev() {
                let index = (at >> (12 + 9 * level)) as usize & 511;
                let entry = &mut self.tables.get_mut(&frame).unwrap()[index];
                *entry |= USER;
                frame = *entry & ADDRESS;
            }
        }

        /// Walks what is under a root.
        pub fn walk(&self, root: u64) -> Result<Space> {
            let table = |frame: u64| match self.tables.get(&frame) {
                Some(entries) => Ok(entries.clone()),
                None => bail!("no table at {frame:#x}"),
            };
            walk(&table, root)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::testing::*;
    use super::*;

    const UPPER: u64 = 0xffff_8000_0000_0000;

    #[test]
    fn pages_of_every_size_are_found_with_their_rights() {
        let mut memory = Memory::new(0x10_0000);
        let root = memory.table();
        memory.map(root, 0x20_1000, 0x5000, 0, USER_TEXT);
        memory.map(root, UPPER + 0x40_0000, 0x40_0000, 1, KERNEL_DATA | 1 << 12);
        memory.map(root, UPPER + 0x4000_0000, 0x8000_0000, 2, KERNEL_TEXT);
        let space = memory.walk(root).unwrap();
        let page =
            |at, to, bytes| Leaf { at, to, bytes, writable: false, executable: true, user: false };
        assert_eq!(
            space.leaves,
            [
                Leaf { user: true, ..page(0x20_1000, 0x5000, 0x1000) },
                Leaf {
                    writable: true,
                    executable: false,
                    ..page(UPPER + 0x40_0000, 0x40_0000, 0x20_0000)
                },
                page(UPPER + 0x4000_0000, 0x8000_0000, 0x4000_0000),
            ]
        );
        assert_eq!(space.tables.len(), 6);
    }

    #[test]
    fn every_level_can_take_a_right_away() {
        let mut memory = Memory::new(0x10_0000);
        let root = memory.table();
        memory.map(root, 0x20_1000, 0x5000, 0, EVERYTHING);
        let leaf = |memory: &Memory| memory.walk(root).unwrap().leaves[0];
        assert!(leaf(&memory).writable && leaf(&memory).executable && leaf(&memory).user);
        memory.set_root_flags(root, 0x20_1000, PRESENT | USER);
        assert!(!leaf(&memory).writable && leaf(&memory).user);
        memory.set_root_flags(root, 0x20_1000, PRESENT | WRITE | NO_EXECUTE);
        assert!(leaf(&memory).writable && !leaf(&memory).user && !leaf(&memory).executable);
        memory.set_root_flags(root, 0x20_1000, WRITE | USER);
        assert!(memory.walk(root).unwrap().leaves.is_empty());
    }

    #[test]
    fn tables_outside_of_memory_are_an_error() {
        let mut memory = Memory::new(0x10_0000);
        let root = memory.table();
        memory.map(root, 0x20_1000, 0x5000, 0, USER_TEXT);
        assert!(memory.walk(0x9000).is_err());
        memory.set_root_flags(root, 0x20_1000, PRESENT | LARGE);
        assert!(memory.walk(root).unwrap_err().to_string().contains("no processor knows"));
    }
}
