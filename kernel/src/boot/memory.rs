//! Memory of the boot archive, device memory, I/O ports, and mappings.

use super::{Builder, Made, made};
use crate::access::Ref;
use crate::manage::Range;
use crate::object::memory::Frames;
use crate::object::{Mapping, Memory};
use crate::port::Port;
use abi::Rights;
use abi::boot::Cache;
use abi::message::BUFFER_WORDS;
use core::sync::atomic::Ordering::Relaxed;
use section::init;

impl<P: Port> Builder<'_, '_, P> {
    #[init]
    pub(super) fn memory(&mut self, at: usize) -> Ref<Memory<P>> {
        let memory = self.kernel().memories.take(&self.manager.all, self.owner(at, 1));
        let pages = self.field(at, 2);
        let Some(base) = self.arena.frames::<P>(pages) else {
            panic!("the manifest's memory does not fit into RAM")
        };
        self.fill(at, base, pages);
        let body = self.manager.all.open(memory);
        body.pages.set(pages);
        body.frames.set(Frames::Contiguous(base));
        self.archive.words[at + 5].store(base, Relaxed);
        memory
    }

    #[init]
    pub(super) fn device(&self, at: usize) -> Ref<Memory<P>> {
        let memory = self.kernel().memories.take(&self.manager.all, self.owner(at, 1));
        let (pages, first) = (self.field(at, 2), self.field(at, 4));
        let Some(cache) = Cache::from_code(self.field(at, 3)) else {
            panic!("the boot archive's device memory has no cache attribute")
        };
        let Some(base) = self.kernel().port.device_frame(first, pages, cache) else {
            panic!("this machine has no device memory at {first:#x}")
        };
        let body = self.manager.all.open(memory);
        body.pages.set(pages);
        body.frames.set(Frames::Contiguous(base));
        memory
    }

    #[init]
    pub(super) fn ports(&self, at: usize) -> Ref<Memory<P>> {
        let memory = self.kernel().memories.take(&self.manager.all, self.owner(at, 1));
        let (number, first) = (self.field(at, 2), self.field(at, 3));
        assert!(
            self.kernel().port.has_ports(first, number),
            "this machine has no {number} ports for programs from {first:#x} on"
        );
        self.manager.all.open(memory).set_ports(first as u16, number as u32);
        memory
    }

    #[init]
    fn fill(&self, at: usize, base: u64, pages: u64) {
        let source = self.field(at, 3) as usize / 8;
        let length = (self.field(at, 4) as usize).div_ceil(8);
        let per_page = P::PAGE as usize / 8;
        for page in 0..pages as usize {
            let address = base + page as u64 * P::PAGE;
            let filled = length.saturating_sub(page * per_page).min(per_page);
            if filled < per_page {
                self.kernel().port.clear(address, BUFFER_WORDS);
            }
            if filled == 0 {
                continue;
            }
            let first = source + page * per_page;
            let data = self.archive.words.get(first..first + filled);
            let Some(data) = data else {
                panic!("the boot archive ends within a memory's contents")
            };
            for (word, value) in self.kernel().port.frame(address).iter().zip(data) {
                word.store(value.load(Relaxed), Relaxed);
            }
        }
    }

    #[init]
    pub(super) fn map(&self, at: usize) {
        let (domain, memory) = (made!(self, at, 1, Domain), made!(self, at, 2, Memory));
        let rights = Rights(self.field(at, 6) as u8);
        let (mut first, mut to, mut left) =
            (self.field(at, 3), self.field(at, 4), self.field(at, 5));
        assert!(
            !rights.contains(Rights::WRITE.or(Rights::EXECUTE)),
            "a boot mapping is writable and executable"
        );
        let range = Range { at: to, first, pages: left, rights };
        let mapping: Ref<Mapping<P>> =
            self.manager.make_mapping(None, domain, memory, &range, Rights::ALL);
        while left > 0 {
            let Frames::Contiguous(base) = self.manager.all.open(memory).frames.get() else {
                panic!("boot memory is contiguous");
            };
            let fits = self.manager.check_tables(domain, to, 1);
            assert!(fits.is_ok(), "a boot mapping needs more page tables than the quota");
            let free = self.manager.map_page(domain, to, base + first * P::PAGE, rights);
            assert!(free, "two boot mappings overlap at {to:#x}");
            (first, to, left) = (first + 1, to + P::PAGE, left - 1);
        }
        self.manager.all.open(mapping).done.set(range.pages);
    }

    /// Where a memory begins, and its pages.
    #[init]
    pub(super) fn frames_of(&self, memory: Ref<Memory<P>>) -> (u64, u64) {
        let memory = self.manager.all.open(memory);
        match memory.frames.get() {
            Frames::Contiguous(base) => (base, memory.pages.get()),
            Frames::Indexed(_) => panic!("boot memory is contiguous"),
        }
    }
}
