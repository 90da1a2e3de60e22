//! The machine's RAM: zeroed, and given back when the run is over.

use abi::PAGE;
use kernel::arena::Arena;
use kernel::port::Frame;
use std::alloc::{Layout, alloc_zeroed, dealloc, handle_alloc_error};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::{io, ptr};

/// Physical address of the first frame.
pub const BASE: u64 = 0x100_0000;

/// From here on this process is in its own memory; below there is room for that of programs which
/// are machine code.
pub const HOST: u64 = 1 << 40;

/// Some RAM. It is allocated with a page to spare and aligned here: zeroed memory of a larger
/// alignment would be written to, every page of it.
pub struct Ram {
    start: *mut u8,
    layout: Layout,
    pages: usize,
    /// It is a file, mapped here.
    is_file: bool,
}

impl Ram {
    /// So many zeroed pages.
    pub fn new(pages: usize) -> Ram {
        let bytes = (pages + 1) * PAGE as usize;
        let layout = Layout::from_size_align(bytes, align_of::<u64>())
            .expect("a size that fits into the address space");
        // SAFETY: the layout is not empty.
        let start = unsafe { alloc_zeroed(layout) };
        if start.is_null() {
            handle_alloc_error(layout);
        }
        Ram { start, layout, pages, is_file: false }
    }

    /// So many zeroed pages, in a file, so that they can be mapped elsewhere too.
    pub fn in_file(pages: usize) -> io::Result<(Ram, OwnedFd)> {
        let bytes = pages * PAGE as usize;
        let layout = Layout::from_size_align(bytes, PAGE as usize).map_err(io::Error::other)?;
        let done = |result: i32| match result {
            -1 => Err(io::Error::last_os_error()),
            result => Ok(result),
        };
        // SAFETY: the name is a text; what is opened belongs to its owner alone.
        let file = unsafe {
            let file = done(libc::memfd_create(c"ram".as_ptr(), libc::MFD_CLOEXEC))?;
            OwnedFd::from_raw_fd(file)
        };
        let (access, fd) = (libc::PROT_READ | libc::PROT_WRITE, file.as_raw_fd());
        // SAFETY: it is placed where nothing is.
        let start = unsafe {
            done(libc::ftruncate(fd, bytes as libc::off_t))?;
            libc::mmap(ptr::null_mut(), bytes, access, libc::MAP_SHARED, fd, 0)
        };
        if start == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        Ok((Ram { start: start.cast(), layout, pages, is_file: true }, file))
    }

    /// The frames, and an arena over all of them.
    ///
    /// # Safety
    /// Called once, and neither result is used once the RAM is dropped.
    pub unsafe fn hand_out(&self) -> (&'static [Frame], Arena) {
        // SAFETY: zeroed, aligned, within the allocation and made of atomics; that it lives long
        // enough is up to the caller. What the arena makes objects of is not used as frames.
        unsafe {
            let start = self.start.add(self.start.align_offset(PAGE as usize));
            let frames = std::slice::from_raw_parts(start.cast::<Frame>(), self.pages);
            (frames, Arena::new(start, self.pages * PAGE as usize, BASE))
        }
    }
}

impl Drop for Ram {
    fn drop(&mut self) {
        // SAFETY: mapped or allocated so.
        unsafe {
            match self.is_file {
                true => _ = libc::munmap(self.start.cast(), self.layout.size()),
                false => dealloc(self.start, self.layout),
            }
        }
    }
}
