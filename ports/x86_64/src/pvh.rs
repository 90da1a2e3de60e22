//! What the loader says: memory, modules and the command line (PVH `hvm_start_info`).

use crate::paging::direct;
use section::init;

const MAGIC: u32 = 0x336e_c578;

/// A stretch of physical memory.
#[derive(Clone, Copy, Debug)]
pub struct Stretch {
    /// First address.
    pub at: u64,
    /// Bytes.
    pub bytes: u64,
}

/// The loader's information, at its place in memory.
#[derive(Clone, Copy)]
pub struct StartInfo(u64);

impl StartInfo {
    /// The information at this physical address.
    ///
    /// # Safety
    /// The loader has left it there, and the direct map covers it and what it names.
    #[init]
    pub unsafe fn new(at: u64) -> StartInfo {
        let info = StartInfo(at);
        assert!(info.word32(0) == MAGIC, "not started by a PVH loader");
        info
    }

    #[init]
    fn word32(self, offset: u64) -> u32 {
        // SAFETY: promised to `new`; the loader's structures are aligned to their words.
        unsafe { direct::<u32>(self.0 + offset).read() }
    }

    #[init]
    fn word(at: u64) -> u64 {
        // SAFETY: promised to `new`.
        unsafe { direct::<u64>(at).read_unaligned() }
    }

    /// The first module.
    #[init]
    pub fn module(self) -> Option<Stretch> {
        let list = StartInfo::word(self.0 + 16);
        (self.word32(12) > 0)
            .then(|| Stretch { at: StartInfo::word(list), bytes: StartInfo::word(list + 8) })
    }

    /// The stretches of RAM.
    #[init]
    pub fn ram(self) -> impl Iterator<Item = Stretch> {
        let (map, entries) = (StartInfo::word(self.0 + 40), u64::from(self.word32(48)));
        (0..entries).filter_map(move |index| {
            let entry = map + index * 24;
            let ram = StartInfo::word(entry + 16) as u32 == 1;
            let stretch = Stretch { at: StartInfo::word(entry), bytes: StartInfo::word(entry + 8) };
            ram.then_some(stretch)
        })
    }

    /// The value of `key=` on the command line.
    #[init]
    pub fn option(self, key: &str) -> Option<&'static str> {
        let at = StartInfo::word(self.0 + 24);
        if at == 0 {
            return None;
        }
        // SAFETY: promised to `new`; the command line ends with a zero byte.
        let line = unsafe { core::ffi::CStr::from_ptr(direct(at)) };
        line.to_str().ok()?.split(' ').find_map(|word| word.strip_prefix(key)?.strip_prefix('='))
    }
}
