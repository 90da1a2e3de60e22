//! The kernel's port to the hardware.

use crate::context::{Context, Kept};
use crate::hardware::{HZ, Hardware, IRQS, QUEUE, Shutdown};
use crate::locking::Locking;
use crate::meter;
use crate::order::NEVER;
use crate::paging::Space;
use crate::transactions::Refused;
use abi::PAGE;
use cells::Kind;
use kernel::cost::CostEvent;
use kernel::port::{Frame, Port};
use kernel::statistics::Statistics;
use std::marker::PhantomData;
use std::ops::Deref;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicU32, AtomicU64};

/// The machine under a lock policy.
#[repr(transparent)]
pub struct Twin<G> {
    hardware: Hardware,
    policy: PhantomData<fn() -> G>,
}

impl<G> Twin<G> {
    /// A machine, as a kernel under this lock policy sees it.
    pub fn of(hardware: &Hardware) -> &Twin<G> {
        // SAFETY: one is the other, with a type beside it.
        unsafe { &*std::ptr::from_ref(hardware).cast() }
    }
}

impl<G> Deref for Twin<G> {
    type Target = Hardware;
    #[inline(always)]
    fn deref(&self) -> &Hardware {
        &self.hardware
    }
}

impl<G: Locking> Port for Twin<G> {
    type Context = Context;
    type Space = Space;
    type Local = ();
    type LockPolicy = G;
    type Kept = Kept;

    const PAGE: u64 = abi::PAGE;
    const USER_TOP: u64 = abi::USER_TOP;

    const SMP: bool = G::SMP;

    const TRACE: u64 = abi::trace::Event::EVERY;
    const LENGTHS: bool = true;
    const TREE: bool = true;

    #[inline]
    fn now(&self) -> u64 {
        meter::now()
    }

    fn arrival(&self) -> u64 {
        meter::arrival()
    }

    #[inline]
    fn records(&self) -> bool {
        self.here().records.get()
    }

    #[inline]
    fn stamp(&self) -> u64 {
        meter::now()
    }

    fn arm(&self, at: Option<u64>) {
        self.refuse(Refused::Arm);
        // A thread that sleeps for ever has a deadline too, at the end of time, which never comes.
        self.here().armed.set(at.filter(|at| *at != NEVER));
    }

    fn pending(&self) -> bool {
        self.refuse(Refused::Pending);
        if self.is_chaotic() {
            self.disturb();
        }
        self.waiting().is_some()
    }

    fn set_irq(&self, irq: u8, enabled: bool) {
        self.refuse(Refused::Line);
        self.hardware.set_irq(irq, enabled);
    }

    fn route_irq(&self, irq: u8, cpu: u32) {
        self.refuse(Refused::Line);
        self.hardware.route_irq(irq, cpu);
    }

    fn irqs(&self) -> u8 {
        IRQS as u8
    }

    #[inline]
    fn frame(&self, address: u64) -> &'static Frame {
        self.hardware.frame(address)
    }

    #[inline]
    fn word(&self, address: u64) -> &'static AtomicU32 {
        self.hardware.half(address)
    }

    #[inline]
    fn overwrites(&self, word: &AtomicU64) {
        if G::SPECULATIVE {
            self.hardware.remember(word);
        }
    }

    fn clear(&self, address: u64, words: usize) {
        let first = (address % PAGE / 8) as usize;
        let frame = self.frame(address - address % PAGE);
        self.touch_words(&frame[first..first + words], Kind::Write);
        frame[first..first + words].iter().for_each(|word| word.store(0, Relaxed));
    }

    fn copy(&self, from: u64, to: u64, first: usize, end: usize) {
        let (from, to) = (self.frame(from), self.frame(to));
        self.touch_words(&from[first..end], Kind::Read);
        self.touch_words(&to[first..end], Kind::Write);
        for (from, to) in from[first..end].iter().zip(&to[first..end]) {
            to.store(from.load(Relaxed), Relaxed);
        }
    }

    fn console_room(&self) -> usize {
        self.refuse(Refused::Console);
        if self.sent_at.get() <= meter::now() { QUEUE } else { 0 }
    }

    fn console_put(&self, byte: u8) {
        self.send(byte);
    }

    fn console_wants(&self, on: bool) {
        self.refuse(Refused::Console);
        self.wants_sent(on);
    }

    fn console_flush(&self) {
        meter::pass_to(self.sent_at.get());
    }

    fn console_read(&self) -> Option<u8> {
        self.refuse(Refused::Console);
        self.read()
    }

    fn counter(&self) -> (u64, u64) {
        (HZ, 0)
    }

    fn statistics<R>(&self, cpu: u32, look: impl FnOnce(&Statistics) -> R) -> Option<R> {
        Some(meter::statistics(cpu, look))
    }

    fn kernel_facts(&self) -> (u64, u64) {
        (0, self.booted.get())
    }

    fn shutdown(&self, status: u32) -> ! {
        self.refuse(Refused::Shutdown);
        std::panic::resume_unwind(Box::new(Shutdown(status)))
    }

    fn forget(&self, _local: &(), thread: &Context) {
        self.refuse(Refused::Forget);
        let fiber = thread.fiber.take();
        if fiber != 0 {
            self.dead.borrow_mut().push(fiber);
        }
    }

    fn enter(&self, _local: &(), thread: &Context, kept: &Kept, entry: u64, stack: u64) {
        thread.enter(kept, (entry, stack));
    }

    fn come_back(&self, _local: &(), thread: &Context, kept: &Kept) {
        let fiber = thread.come_back(kept);
        if fiber != 0 {
            self.dead.borrow_mut().push(fiber);
        }
    }

    fn give_up(&self, kept: &Kept) {
        let fiber = kept.give_up();
        if fiber != 0 {
            self.dead.borrow_mut().push(fiber);
        }
    }

    fn send_ipi(&self, cpu: u32) {
        self.refuse(Refused::Ipi);
        self.hardware.send_ipi(cpu);
    }

    #[inline(always)]
    fn cost(event: CostEvent) {
        Self::cost_at(meter::cpu(), event);
    }

    #[inline(always)]
    fn cost_at(cpu: u32, step: CostEvent) {
        if G::SPECULATIVE {
            let transaction = &Hardware::current().here().transaction;
            if transaction.is_active() {
                meter::charge(step);
                return transaction.note(cpu, step);
            }
        }
        meter::cost_at(cpu, step);
    }
}
