//! A domain's pages at their own addresses in this process, for programs that are machine code.
//!
//! A page of the host that is mapped here is an entry of a CPU's TLB: it appears at its first use,
//! and goes when the kernel invalidates it. Those of one CPU and one domain are there at a time;
//! what others had comes back when they go on.

use crate::machine_code::Step;
use crate::memory::HOST;
use abi::{PAGE, Rights};
use kernel::port::Frame;
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::io;
use std::ops::Range;
use std::os::fd::{AsRawFd, OwnedFd};
use std::ptr;

/// A page: where it lies in the machine's RAM, and how the host protects it.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Page {
    offset: u64,
    protection: i32,
}

/// A CPU, and the root of the tables that it uses.
type Owner = (u32, u64);

/// Pages of machines' addresses.
pub struct Window {
    ram: OwnedFd,
    /// Where the RAM's first frame is in this process.
    base: usize,
    /// Whose pages are there.
    owner: Cell<Owner>,
    /// The pages that each one has used, by number, and has not dropped since.
    used: RefCell<BTreeMap<Owner, BTreeMap<u64, Page>>>,
    /// The access to a device that is being executed.
    pub step: RefCell<Option<Step>>,
}

impl Window {
    /// No page is there yet. The RAM's first frame is at `base`.
    pub fn new(ram: OwnedFd, base: usize) -> Window {
        let (owner, used, step) = (Cell::default(), RefCell::default(), RefCell::default());
        Window { ram, base, owner, used, step }
    }

    /// A CPU goes on with a program in these tables.
    pub fn open(&self, cpu: u32, root: u64) {
        if self.owner.get() != (cpu, root) {
            self.close();
            self.owner.set((cpu, root));
            let used = self.used.borrow();
            for (first, count, page) in runs(used.get(&(cpu, root))) {
                // What cannot be there now is refused when it is used.
                let _ = self.place(first, count, page, libc::MAP_POPULATE);
            }
        }
    }

    /// Removes the pages that are there.
    fn close(&self) {
        let used = self.used.borrow();
        for (first, count, _) in runs(used.get(&self.owner.get())) {
            remove(first, count);
        }
    }

    /// Lets the owner use a page, which lies in a frame at this address of the process. False: the
    /// host has no room for it there.
    pub fn map(&self, page: u64, frame: usize, rights: Rights) -> bool {
        let mut protection = libc::PROT_READ;
        for (right, bit) in [(Rights::WRITE, libc::PROT_WRITE), (Rights::EXECUTE, libc::PROT_EXEC)]
        {
            protection |= if rights.contains(right) { bit } else { 0 };
        }
        let placed = Page { offset: (frame - self.base) as u64, protection };
        let done = self.place(page, 1, placed, 0).is_ok();
        if done {
            let mut used = self.used.borrow_mut();
            used.entry(self.owner.get()).or_default().insert(page, placed);
        }
        done
    }

    /// A CPU drops what it holds of a page of these tables.
    pub fn invalidate(&self, cpu: u32, root: u64, page: u64) {
        let mut used = self.used.borrow_mut();
        let held = used.get_mut(&(cpu, root)).and_then(|pages| pages.remove(&page));
        if held.is_some() && self.owner.get() == (cpu, root) {
            remove(page, 1);
        }
    }

    /// A CPU drops all.
    pub fn flush(&self, cpu: u32) {
        if self.owner.get().0 == cpu {
            self.close();
        }
        self.used.borrow_mut().retain(|(other, _), _| *other != cpu);
    }

    /// Places pages that lie one behind the other in RAM as well.
    fn place(&self, first: u64, count: u64, page: Page, flags: i32) -> io::Result<()> {
        let (at, bytes) = (first * PAGE, count * PAGE);
        if at + bytes > HOST {
            return Err(io::ErrorKind::AddrInUse.into());
        }
        // SAFETY: below `HOST` there is nothing but what is placed here, and nothing of the process
        // refers to that.
        let placed = unsafe {
            libc::mmap(
                ptr::without_provenance_mut(at as usize),
                bytes as usize,
                page.protection,
                libc::MAP_SHARED | libc::MAP_FIXED | flags,
                self.ram.as_raw_fd(),
                page.offset as libc::off_t,
            )
        };
        if placed == libc::MAP_FAILED { Err(io::Error::last_os_error()) } else { Ok(()) }
    }
}

impl Drop for Window {
    fn drop(&mut self) {
        self.close();
    }
}

/// A page that stands in for one that is not to be mapped.
pub struct StandIn(*mut libc::c_void);

impl StandIn {
    /// At this page, full of zeros; none: the host has no room there, or something is there.
    pub fn at(page: u64) -> Option<StandIn> {
        let at = ptr::without_provenance_mut((page * PAGE) as usize);
        let access = libc::PROT_READ | libc::PROT_WRITE;
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED_NOREPLACE;
        // SAFETY: it is placed only where nothing is.
        let placed = unsafe { libc::mmap(at, PAGE as usize, access, flags, -1, 0) };
        (placed == at).then(|| StandIn(placed))
    }

    /// What is in it.
    pub fn words(&self) -> &Frame {
        // SAFETY: it is there until this is dropped, and made of atomics.
        unsafe { &*self.0.cast::<Frame>() }
    }
}

impl Drop for StandIn {
    fn drop(&mut self) {
        remove(self.0.addr() as u64 / PAGE, 1);
    }
}

/// Pages that follow each other here and in RAM: the first one's number, how many, the first one.
fn runs(pages: Option<&BTreeMap<u64, Page>>) -> Vec<(u64, u64, Page)> {
    let mut runs: Vec<(u64, u64, Page)> = Vec::new();
    for (&number, &page) in pages.into_iter().flatten() {
        let follows = |(first, count, begin): &(u64, u64, Page)| {
            let next = Page { offset: begin.offset + count * PAGE, ..*begin };
            number == first + count && page == next
        };
        match runs.last_mut() {
            Some(run) if follows(run) => run.1 += 1,
            _ => runs.push((number, 1, page)),
        }
    }
    runs
}

fn remove(first: u64, count: u64) {
    let (at, bytes) = ((first * PAGE) as usize, (count * PAGE) as usize);
    // SAFETY: as where they were placed.
    let removed = unsafe { libc::munmap(ptr::without_provenance_mut(at), bytes) };
    assert_eq!(removed, 0, "{}", io::Error::last_os_error());
}

/// Keeps addresses free that programs use to say something, so that nothing of this process is
/// there. False: something is.
pub fn keep_free(range: Range<u64>) -> bool {
    let at = ptr::without_provenance_mut(range.start as usize);
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
    let bytes = (range.end - range.start) as usize;
    // SAFETY: it is placed only where nothing is.
    let kept =
        unsafe { libc::mmap(at, bytes, libc::PROT_NONE, flags | libc::MAP_FIXED_NOREPLACE, -1, 0) };
    kept == at
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::Ram;
    use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

    /// A page that no other test uses.
    const AT: u64 = 0x4000_0000 / PAGE;
    const BOTH: Rights = Rights(Rights::READ.0 | Rights::WRITE.0);

    fn is_there(page: u64) -> bool {
        StandIn::at(page).is_none()
    }

    #[test]
    fn pages_are_there_while_their_owner_goes_on_and_the_kernel_leaves_them() {
        let (ram, file) = Ram::in_file(4).unwrap();
        // SAFETY: both are gone when the RAM is.
        let (frames, _) = unsafe { ram.hand_out() };
        let window = Window::new(file, frames.as_ptr().addr());
        window.open(0, 1);
        for (page, frame) in (AT..).zip(&frames[2..]) {
            assert!(window.map(page, frame.as_ptr().addr(), BOTH));
        }
        frames[2][0].store(7, Relaxed);
        // SAFETY: it was mapped, and is made of atomics.
        let word: &AtomicU64 = unsafe { &*ptr::without_provenance((AT * PAGE) as usize) };
        assert_eq!(word.load(Relaxed), 7, "it is the frame");
        window.open(0, 2);
        assert!(!is_there(AT) && !is_there(AT + 1), "another domain goes on");
        window.open(0, 1);
        assert_eq!(word.load(Relaxed), 7);
        window.invalidate(0, 2, AT);
        window.invalidate(1, 1, AT);
        assert!(is_there(AT), "other tables, and another CPU");
        window.invalidate(0, 1, AT);
        assert!(!is_there(AT) && is_there(AT + 1));
        window.open(0, 2);
        window.open(0, 1);
        assert!(!is_there(AT) && is_there(AT + 1), "what was dropped does not come back");
        window.flush(1);
        assert!(is_there(AT + 1));
        window.flush(0);
        assert!(!is_there(AT + 1));
        assert!(!window.map(HOST / PAGE, frames[0].as_ptr().addr(), BOTH), "the process is there");
    }

    #[test]
    fn pages_that_follow_each_other_everywhere_are_one_run() {
        let page = |offset, protection| Page { offset: offset * PAGE, protection };
        let pages = [(5, 1, 1), (6, 2, 1), (7, 3, 3), (8, 5, 3), (10, 6, 3)];
        let pages = pages.map(|(at, offset, rights)| (at, page(offset, rights)));
        let found = runs(Some(&BTreeMap::from(pages)));
        let lengths: Vec<_> = found.iter().map(|(first, count, _)| (*first, *count)).collect();
        assert_eq!(lengths, [(5, 2), (7, 1), (8, 1), (10, 1)]);
    }
}
