//! Page tables of a machine without user memory: nothing can be mapped.

use crate::port::Local;
use abi::Rights;
use kernel::port::{self, Mapped, Port, RemoteTlbs, Taken};
use kernel::tlb::Change;

/// A domain's page tables: the root alone, which says where a switch goes.
#[repr(align(64))]
pub struct Space {
    root: u64,
}

impl Space {
    /// The frame of the root table.
    #[inline(always)]
    pub fn root(&self) -> u64 {
        self.root
    }
}

impl port::Space for Space {
    type Local = Local;

    const REMOTE: RemoteTlbs = RemoteTlbs::Interrupted;

    fn new(root: u64) -> Space {
        Space { root }
    }

    fn missing(&self, _port: &impl Port, _at: u64, _pages: u64) -> usize {
        0
    }

    fn frame(&self, _port: &impl Port, _at: u64) -> Option<u64> {
        None
    }

    fn writable(&self, _port: &impl Port, _at: u64) -> Option<u64> {
        None
    }

    fn add_table(&self, _port: &impl Port, at: u64, _table: u64) {
        unreachable!("no table is missing, not even at {at:#x}");
    }

    fn map(&self, _port: &impl Port, at: u64, _frame: u64, _rights: Rights) -> Mapped {
        panic!("the native machine has no user memory to map at {at:#x}");
    }

    fn protect(&self, _port: &impl Port, at: u64, _rights: Rights, _change: Change) {
        unreachable!("nothing is mapped, not even at {at:#x}");
    }

    fn unmap(&self, _port: &impl Port, at: u64, _change: Change) {
        unreachable!("nothing is mapped, not even at {at:#x}");
    }

    fn take_table(&self, _port: &impl Port) -> Taken {
        Taken::Nothing
    }
}
