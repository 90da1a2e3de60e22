//! Devices' registers for machine code. No page of them is mapped: each access is one step of the
//! host's processor on a page that stands in for theirs, before which a register is read, or behind
//! which it is written.

use crate::hardware::Hardware;
use crate::window::StandIn;
use abi::{PAGE, Rights};
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

/// An access that the host executes next.
pub struct Step {
    page: StandIn,
    /// The word that it accesses, and its number in the page.
    register: &'static AtomicU64,
    index: usize,
    writes: bool,
}

impl Hardware {
    /// The register at an address that the running thread may use so; none: it is no register.
    pub fn register_at(&self, address: u64, rights: Rights) -> Option<&'static AtomicU64> {
        let register = self.word(address & !7, rights)?;
        self.is_register(register).then_some(register)
    }

    /// The running thread is about to access a register, and reads it or not: time has passed, and
    /// it waits for nothing. False: there is no room for the page that stands in.
    pub fn begin_step(
        &self,
        register: &'static AtomicU64,
        address: u64,
        rights: Rights,
        reads: bool,
    ) -> bool {
        let window = self.window.as_ref().expect("machine code runs");
        let Some(page) = StandIn::at(address / PAGE) else { return false };
        let (index, writes) = ((address % PAGE / 8) as usize, rights == Rights::WRITE);
        if reads {
            page.words()[index].store(self.read_word(register), Relaxed);
        }
        window.step.replace(Some(Step { page, register, index, writes }));
        true
    }

    /// The host has stopped it: the access is done, or is to begin anew. Whether there was one.
    pub fn end_step(&self, done: bool) -> bool {
        let window = self.window.as_ref().expect("machine code runs");
        let Some(step) = window.step.take() else { return false };
        let value = step.page.words()[step.index].load(Relaxed);
        drop(step.page);
        if done && step.writes {
            self.write_word(step.register, value);
        }
        true
    }
}
