//! What programs see as their machine.

use crate::context::{Regs, Trap};
use crate::hardware::Twin;
use crate::meter;
use abi::message::FaultKind;
use abi::{Info, Rights, Status};
use rt::Env;
use rt::arch::Outcome;
use rt::arch::hosted::Machine;
use std::cell::Cell;
use std::sync::atomic::AtomicU64;

/// Accesses and counter reads after which a program is taken to wait for time to pass; each
/// further one takes a unit of it.
const PATIENCE: u32 = 4096;

/// Marks the words that stand for functions.
const FUNCTION: u64 = u64::from_le_bytes(*b"\0\0\0\0FUNC");

impl Twin {
    /// Leaves the running coroutine until its thread goes on.
    fn stop(&self, trap: Trap) {
        self.patience.set(0);
        self.trap.set(trap);
        // SAFETY: whoever resumes a coroutine leaves its yielder here, and this is running on it.
        unsafe { (*self.yielder.get()).suspend(()) };
    }

    /// A free access; too many in a row are a loop that waits.
    #[inline]
    fn access(&self) {
        let patience = self.patience.get() + 1;
        self.patience.set(patience);
        if patience > PATIENCE {
            self.trap_in_work(1);
            self.patience.set(PATIENCE);
        }
    }

    fn trap_in_work(&self, n: u64) {
        self.stop(Trap::Work(n));
    }

    fn refuse(&self, trap: Trap) -> bool {
        self.stop(trap);
        self.refused.take()
    }
}

impl Machine for Twin {
    #[inline]
    fn call(&self, number: u64, args: [u64; 6], words: [u64; 4]) -> Outcome {
        self.regs.set(Regs { number, args, words });
        self.stop(Trap::Call);
        let regs = self.regs.get();
        let status = Status(regs.number);
        if let Some(calls) = &self.calls {
            calls.borrow_mut().note(number, status);
        }
        Outcome { status, badge: regs.args[0], info: Info(regs.args[1]), words: regs.words }
    }

    fn counter(&self) -> u64 {
        self.access();
        meter::now()
    }

    fn work(&self, n: u64) {
        let undisturbed = !self.is_chaotic()
            && self.armed().is_none_or(|at| meter::now() + n < at)
            && self.waiting().is_none();
        if undisturbed {
            meter::pass(n);
            self.patience.set(0);
        } else {
            self.trap_in_work(n);
        }
    }

    #[inline]
    fn reach(&self, address: u64, rights: Rights, probing: bool) -> Option<&'static AtomicU64> {
        self.access();
        loop {
            if let Some(word) = self.pages.word(self, self.root.get(), address, rights) {
                return Some(word);
            }
            let (kind, code) = (FaultKind::Memory, u64::from(rights.0));
            if self.refuse(Trap::Fault { kind, detail: address, code, probing, trap: false }) {
                return None;
            }
        }
    }

    fn fault(&self, kind: FaultKind, trap: bool) {
        // Behind a trap the thread goes on in any case; what faults stays there until refused.
        while !self.refuse(Trap::Fault { kind, detail: 0, code: 0, probing: true, trap }) && !trap {
        }
    }

    fn function(&self, function: fn(&Env, u64)) -> u64 {
        let mut functions = self.functions.borrow_mut();
        let same = functions.iter().position(|other| *other as usize == function as usize);
        let index = same.unwrap_or_else(|| {
            functions.push(function);
            functions.len() - 1
        });
        FUNCTION | index as u64
    }

    fn function_of(&self, word: u64) -> Option<fn(&Env, u64)> {
        let index = word.checked_sub(FUNCTION)?;
        self.functions.borrow().get(usize::try_from(index).ok()?).copied()
    }

    fn vector(&self) -> &Cell<u64> {
        &self.vector
    }
}
