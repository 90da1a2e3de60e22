//! Page tables: the kernel's half, shared by all domains, and each domain's own half.
//!
//! All RAM is mapped once more in the direct map, never executable, and read-only where it holds
//! kernel text or constants. User pages are never both writable and executable.

use crate::machine::{forget_page, load_root};
use crate::port::Local;
use crate::pvh::Stretch;
use crate::segments;
use abi::Rights;
use abi::boot::Cache;
use core::cell::Cell;
use core::ptr;
use core::sync::atomic::AtomicU64;
use core::sync::atomic::Ordering::Relaxed;
use kernel::port::{self, Mapped, RemoteTlbs, Taken};
use kernel::tlb::Change;
use section::init;

/// Bytes in a page.
pub const PAGE: u64 = 4096;
/// The last page of the lower half is never mapped: a system call at its end would return to an
/// address that is none.
pub const USER_TOP: u64 = 0x0000_7fff_ffff_f000;
const _: () = assert!(PAGE == abi::PAGE && USER_TOP == abi::USER_TOP, "programs assume others");

/// Where physical memory begins in the kernel's half.
pub const DIRECT: u64 = 0xffff_8000_0000_0000;
/// Kernel image: virtual minus physical address.
pub const IMAGE: u64 = 0xffff_ffff_8000_0000;
/// RAM above this address is not used.
pub const LIMIT: u64 = 0x1_0000_0000;

const PRESENT: u64 = 1;
const WRITE: u64 = 2;
const USER: u64 = 4;
const WRITE_THROUGH: u64 = 8;
const UNCACHED: u64 = 0x10;
const LARGE: u64 = 0x80;
const NO_EXECUTE: u64 = 1 << 63;
/// The address in an entry, with the attributes of device memory: no table and no RAM has any, so
/// that one mask serves for all.
const ADDRESS: u64 = (ADDRESSES - PAGE) | ATTRIBUTES;
/// End of the physical addresses that a page table can hold.
pub const ADDRESSES: u64 = 1 << 52;
const LARGE_PAGE: u64 = 0x20_0000;
/// A bit that the processor leaves to the kernel: the page is device memory.
const DEVICE: u64 = 1 << 9;
/// What [`device_frame`] adds to an address.
const ATTRIBUTES: u64 = WRITE_THROUGH | UNCACHED | DEVICE;

/// A page table of any level.
pub type Table = [AtomicU64; 512];

/// A physical address in the direct map.
pub fn direct<T>(at: u64) -> *mut T {
    ptr::with_exposed_provenance_mut((DIRECT + at) as usize)
}

/// The page table in a frame.
#[inline(always)]
pub fn table(frame: u64) -> &'static Table {
    // SAFETY: frames are page-aligned RAM in the direct map; tables are atomics, so that sharing
    // is harmless, and their frames are never used for anything else.
    unsafe { &*direct::<Table>(frame) }
}

fn index(at: u64, level: u32) -> usize {
    (at >> (12 + 9 * level)) as usize & 511
}

fn entry(at: u64, level: u32, table_frame: u64) -> &'static AtomicU64 {
    &table(table_frame)[index(at, level)]
}

/// Frames for the kernel's own tables, while it boots.
pub struct Builder<F: FnMut() -> u64> {
    root: u64,
    frame: F,
}

impl<F: FnMut() -> u64> Builder<F> {
    /// An empty root. `frame` supplies zeroed frames.
    #[init]
    pub fn new(mut frame: F) -> Builder<F> {
        Builder { root: frame(), frame }
    }

    #[init]
    fn map(&mut self, at: u64, to: u64, level: u32, flags: u64) {
        let mut below = self.root;
        for upper in (level + 1..4).rev() {
            let entry = entry(at, upper, below);
            if entry.load(Relaxed) & PRESENT == 0 {
                entry.store((self.frame)() | PRESENT | WRITE, Relaxed);
            }
            below = entry.load(Relaxed) & ADDRESS;
        }
        entry(at, level, below).store(to | flags | PRESENT, Relaxed);
    }

    /// Maps the image and all RAM, and returns the root.
    #[init]
    pub fn build(mut self, image: &Image, ram: impl Iterator<Item = Stretch>) -> u64 {
        for at in (image.init..image.end).step_by(PAGE as usize) {
            if let Some(flags) = image.flags(at) {
                self.map(at, at - IMAGE, 0, flags);
            }
        }
        let (first, last) = (image.init - IMAGE, image.end - IMAGE);
        for stretch in ram {
            let end = (stretch.at + stretch.bytes).min(LIMIT);
            let mut at = stretch.at / LARGE_PAGE * LARGE_PAGE;
            while at < end {
                if at + LARGE_PAGE <= first || at >= last {
                    self.map(DIRECT + at, at, 1, WRITE | NO_EXECUTE | LARGE);
                } else {
                    self.map_around_image(at, image);
                }
                at += LARGE_PAGE;
            }
        }
        for device in [crate::apic::IO_APIC, crate::apic::LOCAL_APIC] {
            let at = device / LARGE_PAGE * LARGE_PAGE;
            self.map(DIRECT + at, at, 1, WRITE | NO_EXECUTE | UNCACHED | LARGE);
        }
        // Every upper entry exists from the start, so that all domains share what is below.
        for at in 256..512 {
            let entry = &table(self.root)[at];
            if entry.load(Relaxed) & PRESENT == 0 {
                entry.store(0, Relaxed);
            }
        }
        self.root
    }

    /// The direct map where it covers the image: constants stay constant there too, and what is
    /// a guard page in the image is absent.
    #[init]
    fn map_around_image(&mut self, from: u64, image: &Image) {
        for at in (from..from + LARGE_PAGE).step_by(PAGE as usize) {
            let flags = if (image.init - IMAGE..image.end - IMAGE).contains(&at) {
                image.flags(at + IMAGE).map(|flags| flags | NO_EXECUTE)
            } else {
                Some(WRITE | NO_EXECUTE)
            };
            if let Some(flags) = flags {
                self.map(DIRECT + at, at, 0, flags);
            }
        }
    }
}

/// Where the kernel image's sections begin and end.
#[derive(Clone, Copy)]
pub struct Image {
    /// First byte of the code that only boot needs.
    pub init: u64,
    /// First byte of text.
    pub text: u64,
    /// End of text.
    pub text_end: u64,
    /// End of constants.
    pub constants_end: u64,
    /// First byte of the stacks.
    pub stacks: u64,
    /// End.
    pub end: u64,
}

impl Image {
    /// Access to an image page; `None` for a guard page.
    #[init]
    fn flags(&self, at: u64) -> Option<u64> {
        if at < self.text_end {
            return Some(0);
        }
        if at < self.constants_end {
            return Some(NO_EXECUTE);
        }
        let guard = at >= self.stacks && segments::is_guard((at - self.stacks) / PAGE);
        (!guard).then_some(WRITE | NO_EXECUTE)
    }
}

/// Makes `root` current.
///
/// # Safety
/// It came from [`Builder::build`].
#[init]
pub unsafe fn activate(root: u64) {
    // SAFETY: the new tables map the image where it is.
    unsafe { load_root(root) };
    KERNEL_ROOT.store(root, Relaxed);
}

/// The root of the kernel's own tables.
pub static KERNEL_ROOT: AtomicU64 = AtomicU64::new(0);

/// Unmaps the code that only boot needs. All domains share the tables that this changes.
pub fn drop_init(image: &Image) {
    let root = KERNEL_ROOT.load(Relaxed);
    for at in (image.init..image.text).step_by(PAGE as usize) {
        let mut below = root;
        for level in (1..4).rev() {
            below = entry(at, level, below).load(Relaxed) & ADDRESS;
        }
        entry(at, 0, below).store(0, Relaxed);
        forget_page(at);
    }
}

/// A domain's page tables.
pub struct Space {
    root: u64,
    /// Where the search for tables to detach goes on, per level.
    cursor: [Cell<u16>; 4],
    /// Which large page was looked up last, and the frame of its table.
    last: Cell<u64>,
    last_table: Cell<u64>,
}

/// No large page of a domain has this number.
const NONE: u64 = u64::MAX;

impl Space {
    /// The frame of the root table.
    #[inline(always)]
    pub fn root(&self) -> u64 {
        self.root
    }

    /// The entry for a page, if all tables above it exist.
    fn leaf(&self, at: u64) -> Option<&'static AtomicU64> {
        Some(entry(at, 0, self.lowest_table(at)?))
    }

    /// The frame of the lowest table on the way to a page, if that and all above it exist.
    #[inline(always)]
    fn lowest_table(&self, at: u64) -> Option<u64> {
        let mut below = self.root;
        for level in (1..4).rev() {
            let entry = entry(at, level, below).load(Relaxed);
            if entry & PRESENT == 0 {
                return None;
            }
            below = entry & ADDRESS;
        }
        Some(below)
    }

    /// How many tables on the way to a page are missing.
    fn missing_above(&self, at: u64) -> usize {
        let mut below = self.root;
        for level in (1..4).rev() {
            let entry = entry(at, level, below).load(Relaxed);
            if entry & PRESENT == 0 {
                return level as usize;
            }
            below = entry & ADDRESS;
        }
        0
    }
}

/// An address of device memory with the bits that the pages of its mappings have. Which type of
/// memory the two bits select is in the register that `protection` writes.
#[init]
pub fn device_frame(at: u64, cache: Cache) -> u64 {
    let kind = match cache {
        Cache::Uncached => WRITE_THROUGH | UNCACHED,
        Cache::WriteCombining => WRITE_THROUGH,
        Cache::WriteBack => 0,
    };
    at | kind | DEVICE
}

fn user_flags(rights: Rights) -> u64 {
    let mut flags = PRESENT | USER;
    if rights.contains(Rights::WRITE) {
        flags |= WRITE;
    }
    if !rights.contains(Rights::EXECUTE) {
        flags |= NO_EXECUTE;
    }
    flags
}

/// The frame of a page with this entry, if user mode may write to it.
#[inline(always)]
fn writable_frame(entry: &AtomicU64) -> Option<u64> {
    let word = entry.load(Relaxed);
    (word & (PRESENT | WRITE | DEVICE) == PRESENT | WRITE).then_some(word & ADDRESS)
}

impl port::Space for Space {
    type Local = Local;

    const REMOTE: RemoteTlbs =
        if cfg!(feature = "smp") { RemoteTlbs::Interrupted } else { RemoteTlbs::None };

    fn new(root: u64) -> Space {
        let kernel = table(KERNEL_ROOT.load(Relaxed));
        for (index, (own, shared)) in table(root).iter().zip(kernel).enumerate() {
            let value = if index < 256 { 0 } else { shared.load(Relaxed) };
            own.store(value, Relaxed);
        }
        let [last, last_table] = [NONE, 0].map(Cell::new);
        Space { root, cursor: [const { Cell::new(0) }; 4], last, last_table }
    }

    fn missing(&self, _port: &impl port::Port, at: u64, pages: u64) -> usize {
        let last = at + (pages - 1) * PAGE;
        let first_missing = self.missing_above(at);
        if at >> 21 == last >> 21 {
            return first_missing;
        }
        // At most 512 pages: the last page shares tables with the first down to some level.
        let shared = (1..4).filter(|level| at >> (12 + 9 * level) == last >> (12 + 9 * level));
        let shared = 4 - shared.min().unwrap_or(4) as usize;
        first_missing + self.missing_above(last).min(3 - shared)
    }

    fn frame(&self, _port: &impl port::Port, at: u64) -> Option<u64> {
        let word = self.leaf(at)?.load(Relaxed);
        (word & (PRESENT | DEVICE) == PRESENT).then_some(word & ADDRESS)
    }

    fn is_mapped(&self, _port: &impl port::Port, at: u64) -> bool {
        self.leaf(at).is_some_and(|leaf| leaf.load(Relaxed) & PRESENT != 0)
    }

    fn writable(&self, _port: &impl port::Port, at: u64) -> Option<u64> {
        let table = self.lowest_table(at)?;
        // It stays where it is until all are taken back.
        self.last_table.set(table);
        self.last.set(at / LARGE_PAGE);
        writable_frame(entry(at, 0, table))
    }

    #[inline(always)]
    fn writable_again(&self, at: u64) -> Option<u64> {
        if at / LARGE_PAGE != self.last.get() {
            return None;
        }
        writable_frame(entry(at, 0, self.last_table.get()))
    }

    fn add_table(&self, _port: &impl port::Port, at: u64, new: u64) {
        let mut below = self.root;
        for level in (1..4).rev() {
            let entry = entry(at, level, below);
            if entry.load(Relaxed) & PRESENT == 0 {
                return entry.store(new | PRESENT | WRITE | USER, Relaxed);
            }
            below = entry.load(Relaxed) & ADDRESS;
        }
        unreachable!("adds a table where none is missing");
    }

    fn map(&self, _port: &impl port::Port, at: u64, frame: u64, rights: Rights) -> Mapped {
        let Some(leaf) = self.leaf(at) else { return Mapped::NoTable };
        if leaf.load(Relaxed) & PRESENT != 0 {
            return Mapped::InUse;
        }
        leaf.store(frame | user_flags(rights), Relaxed);
        Mapped::Done
    }

    fn protect(&self, _port: &impl port::Port, at: u64, rights: Rights, _change: Change) {
        if let Some(leaf) = self.leaf(at) {
            leaf.store(leaf.load(Relaxed) & ADDRESS | user_flags(rights), Relaxed);
            forget_page(at);
        }
    }

    fn unmap(&self, _port: &impl port::Port, at: u64, _change: Change) {
        if let Some(leaf) = self.leaf(at) {
            leaf.store(0, Relaxed);
            forget_page(at);
        }
    }

    #[cfg(feature = "smp")]
    fn flush(&self, local: &Local) {
        local.root.set(self.root);
        // SAFETY: every domain's tables share the kernel's half.
        unsafe { load_root(self.root) };
    }

    fn take_table(&self, _port: &impl port::Port) -> Taken {
        self.last.set(NONE);
        // Descend along the first entries that are present; the lowest table has no tables below
        // it and is detached from the one above.
        let mut above = None;
        let (mut frame, mut level) = (self.root, 3);
        loop {
            let end = if level == 3 { 256 } else { 512 };
            let cursor = &self.cursor[level as usize];
            let search = if level == 0 { Search::Empty } else { first_present(frame, cursor, end) };
            match search {
                Search::Unfinished => return Taken::Searching,
                Search::Found(index) => {
                    above = Some((frame, index));
                    frame = table(frame)[index].load(Relaxed) & ADDRESS;
                    level -= 1;
                }
                Search::Empty => {
                    cursor.set(0);
                    let Some((parent, index)) = above else { return Taken::Nothing };
                    table(parent)[index].store(0, Relaxed);
                    return Taken::Table(frame);
                }
            }
        }
    }
}

/// Entries that one search looks at.
const SEARCHED: usize = 24;

/// How a search for a present entry came out.
enum Search {
    Found(usize),
    /// There is none.
    Empty,
    /// None so far.
    Unfinished,
}

/// The first present entry from the cursor on, where the cursor then stands.
fn first_present(frame: u64, cursor: &Cell<u16>, end: usize) -> Search {
    let from = cursor.get() as usize;
    let to = end.min(from + SEARCHED);
    let found = (from..to).find(|index| table(frame)[*index].load(Relaxed) & PRESENT != 0);
    cursor.set(found.unwrap_or(to) as u16);
    match found {
        Some(index) => Search::Found(index),
        None if to == end => Search::Empty,
        None => Search::Unfinished,
    }
}
