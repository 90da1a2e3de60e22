//! What programs see as their machine.

use crate::attached::REGISTER;
use crate::context::{Regs, Trap};
use crate::hardware::Hardware;
use crate::meter;
use crate::port::Twin;
use crate::signals::{Inside, Refusal};
use abi::message::FaultKind;
use abi::{Info, Rights, Status};
use kernel::locks::Unlocked;
use rt::Env;
use rt::arch::Outcome;
use rt::arch::hosted::{Handler, Machine};
use std::cell::Cell;
use std::sync::atomic::AtomicU64;

/// Accesses and counter reads after which a program is taken to wait for time to pass; each
/// further one takes a unit of it.
const PATIENCE: u32 = 4096;

impl Hardware {
    /// A program has called a function of the machine, on its own stack: if that has no room for
    /// the function, it has overflowed.
    #[inline]
    fn enter(&self) -> Inside {
        match Inside::enter() {
            Some(inside) => inside,
            None => self.overflow(),
        }
    }

    #[cold]
    fn overflow(&self) -> ! {
        let refusal = Refusal { kind: FaultKind::Memory, address: None, at: 0 };
        loop {
            self.stop(Trap::Refused(refusal));
        }
    }

    /// Leaves the running coroutine until its thread goes on.
    pub fn stop(&self, trap: Trap) {
        let me = self.here();
        me.trap.set(trap);
        // SAFETY: what resumes a coroutine leaves its yielder here, and this is running on it.
        unsafe { (*me.yielder.get()).suspend(()) };
    }

    /// A call with this number word has come back.
    #[inline]
    pub fn count_call(&self, number: u64) {
        if let Some(calls) = &self.calls {
            calls.borrow_mut().note(number, Status(self.here().regs.get().number));
        }
    }

    /// A free access; too many in a row are a loop that waits.
    #[inline]
    fn access(&self) {
        let me = self.here();
        let patience = me.patience.get() + 1;
        me.patience.set(patience);
        if patience > PATIENCE {
            self.lose_patience();
        }
    }

    #[cold]
    fn lose_patience(&self) {
        self.compute(1);
        self.here().patience.set(PATIENCE);
    }

    /// The running thread computes for `n` units: a step of the run, be it within the program.
    #[inline]
    pub fn compute(&self, n: u64) {
        let entries = self.entries.get();
        if entries < self.limit && self.is_undisturbed(n) {
            self.entries.set(entries + 1);
            meter::pass(n);
            self.here().patience.set(0);
        } else {
            self.trap_in_work(n);
        }
    }

    /// Whether nothing happens until the running thread has computed for `n` units.
    fn is_undisturbed(&self, n: u64) -> bool {
        let until = meter::now() + n;
        !self.is_chaotic()
            && self.is_first_until(until)
            && self.here().due().is_none_or(|at| until < at)
            && self.waiting().is_none()
    }

    fn trap_in_work(&self, n: u64) {
        self.stop(Trap::Work(n));
    }

    /// The word at an address that the running thread may use so.
    #[inline]
    pub fn word(&self, address: u64, rights: Rights) -> Option<&'static AtomicU64> {
        let me = self.here();
        me.tlb.word(Twin::<Unlocked>::of(self), me.root.get(), address, rights)
    }

    /// The word of a register. A handler that refuses sends the thread elsewhere.
    fn reach_register(&self, address: u64, rights: Rights) -> &'static AtomicU64 {
        loop {
            if let Some(word) = self.word(address, rights) {
                return word;
            }
            let (kind, code) = (FaultKind::Memory, u64::from(rights.0));
            self.is_refused(Trap::Fault {
                kind,
                detail: address,
                code,
                probing: false,
                trap: false,
            });
        }
    }

    fn is_refused(&self, trap: Trap) -> bool {
        self.stop(trap);
        self.here().refused.take()
    }
}

impl Machine for Hardware {
    #[inline]
    fn call(&self, number: u64, args: [u64; 6], words: [u64; 4]) -> Outcome {
        let _inside = self.enter();
        self.here().regs.set(Regs { number, args, words });
        self.stop(Trap::Call);
        self.count_call(number);
        let regs = self.here().regs.get();
        let status = Status(regs.number);
        Outcome { status, badge: regs.args[0], info: Info(regs.args[1]), words: regs.words }
    }

    fn counter(&self) -> u64 {
        let _inside = self.enter();
        self.access();
        meter::now()
    }

    fn work(&self, n: u64) {
        let _inside = self.enter();
        self.here().worked.set(true);
        self.compute(n);
    }

    #[inline]
    fn reach(&self, address: u64, rights: Rights, probing: bool) -> Option<&'static AtomicU64> {
        let _inside = self.enter();
        self.access();
        loop {
            if let Some(word) = self.word(address, rights) {
                return Some(word);
            }
            let (kind, code) = (FaultKind::Memory, u64::from(rights.0));
            if self.is_refused(Trap::Fault { kind, detail: address, code, probing, trap: false }) {
                return None;
            }
        }
    }

    fn read_register(&self, address: u64) -> u64 {
        let _inside = self.enter();
        self.compute(REGISTER);
        self.read_word(self.reach_register(address, Rights::READ))
    }

    fn write_register(&self, address: u64, value: u64) {
        let _inside = self.enter();
        self.compute(REGISTER);
        self.write_word(self.reach_register(address, Rights::WRITE), value);
    }

    fn fault(&self, kind: FaultKind, trap: bool) {
        let _inside = self.enter();
        // Behind a trap the thread goes on in any case; what faults stays there until refused.
        while !self.is_refused(Trap::Fault { kind, detail: 0, code: 0, probing: true, trap })
            && !trap
        {}
    }

    fn say(&self, line: &str) {
        let _inside = self.enter();
        self.write(line.as_bytes());
        self.write(b"\n");
    }

    fn function(&self, function: fn(&Env, u64)) -> u64 {
        let _inside = self.enter();
        self.functions.word(function)
    }

    fn function_of(&self, word: u64) -> Option<fn(&Env, u64)> {
        let _inside = self.enter();
        self.functions.of(word)
    }

    fn handler(&self, handler: Handler) -> u64 {
        let _inside = self.enter();
        self.handlers.word(handler)
    }

    fn handler_of(&self, word: u64) -> Option<Handler> {
        let _inside = self.enter();
        self.handlers.of(word)
    }

    fn vector(&self) -> &Cell<u64> {
        &self.here().vector
    }

    fn thread_pointer(&self) -> u64 {
        self.here().pointer.get()
    }
}
