//! Devices' registers for machine code. No page of them is mapped: each access is one step of the
//! host's processor on a page that stands in for theirs, before which a register is read, or behind
//! which it is written.
//!
//! Registers are words of 64 bits, and are written whole. Which bytes a store has written is seen
//! by what the page was filled with; where a byte has that value, the step is repeated with another
//! filling.

use crate::hardware::Hardware;
use crate::window::StandIn;
use abi::{PAGE, Rights};
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

/// The registers of a program that the host has stopped, as its processor has them.
pub type Registers = [i64; 23];

/// What the page is filled with at first. Few programs write its bytes.
const FILLING: u64 = 0x5a3c_a596_695a_c35a;

/// An access that the host executes next.
pub struct Step {
    page: StandIn,
    /// The word that it accesses, and its number in the page.
    register: &'static AtomicU64,
    index: usize,
    access: Access,
    /// What the other words of the page have, and that one before a store.
    filling: u64,
    /// What the program has before it.
    before: Registers,
}

#[derive(Clone, Copy)]
enum Access {
    Load,
    /// What is written depends on what was read.
    Change,
    /// These bytes were written, as ones, with another filling.
    Store(u64),
}

/// What has become of an access.
#[derive(Debug, PartialEq, Eq)]
pub enum Ended {
    /// It is done, or begins anew.
    Done,
    /// It is executed once more, from these registers on.
    Again(Registers),
    /// It writes something else than one register, and has changed nothing: the program is at it
    /// still, with these registers.
    Refused(Registers),
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
        (address, rights): (u64, Rights),
        reads: bool,
        before: &Registers,
    ) -> bool {
        let window = self.window.as_ref().expect("machine code runs");
        let Some(page) = StandIn::at(address / PAGE) else { return false };
        let access = match reads {
            _ if rights != Rights::WRITE => Access::Load,
            true => Access::Change,
            false => Access::Store(0),
        };
        let index = (address % PAGE / 8) as usize;
        let step = Step { page, register, index, access, filling: FILLING, before: *before };
        step.fill();
        if reads {
            step.page.words()[index].store(self.read_word(register), Relaxed);
        }
        window.step.replace(Some(step));
        true
    }

    /// The host has stopped it: the access is done, or is to begin anew. None: there was no access.
    pub fn end_step(&self, done: bool) -> Option<Ended> {
        let window = self.window.as_ref().expect("machine code runs");
        let mut step = window.step.take()?;
        if !done || matches!(step.access, Access::Load) {
            return Some(Ended::Done);
        }
        let (value, before) = (step.page.words()[step.index].load(Relaxed), step.before);
        if !step.leaves_others() {
            return Some(Ended::Refused(before));
        }
        let written = step.written(value);
        Some(match written {
            u64::MAX => {
                let Step { page, register, .. } = step;
                drop(page);
                self.write_word(register, value);
                Ended::Done
            }
            _ if step.filling == FILLING => {
                (step.access, step.filling) = (Access::Store(written), !FILLING);
                step.fill();
                window.step.replace(Some(step));
                Ended::Again(before)
            }
            _ => Ended::Refused(before),
        })
    }
}

impl Step {
    fn fill(&self) {
        self.page.words().iter().for_each(|word| word.store(self.filling, Relaxed));
    }

    /// The bytes of the register that were written, as far as that is known, as ones.
    fn written(&self, value: u64) -> u64 {
        let Access::Store(before) = self.access else { return u64::MAX };
        let changed = (value ^ self.filling).to_le_bytes();
        before | u64::from_le_bytes(changed.map(|byte| if byte == 0 { 0 } else { u8::MAX }))
    }

    /// Whether nothing was written beside the register.
    fn leaves_others(&self) -> bool {
        let mut others = self.page.words().iter().enumerate().filter(|(at, _)| *at != self.index);
        others.all(|(_, word)| word.load(Relaxed) == self.filling)
    }
}
