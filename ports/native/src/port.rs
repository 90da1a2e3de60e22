//! The port trait for this machine.

use crate::context::Context;
use crate::counter;
use crate::space::Space;
use abi::PAGE;
use abi::message::BUFFER_WORDS;
use kernel::boot::MOST_CPUS;
use kernel::port::{Frame, Port};
use locks::{Line, LockPolicy};
use std::array;
use std::cell::Cell;
use std::io::Write;
use std::marker::PhantomData;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicBool, AtomicU32};

/// The machine, whose kernel is guarded by `G` and may be built for several CPUs.
pub struct Native<G, const SMP: bool> {
    /// The counter at the instant 0, and its frequency.
    start: u64,
    hertz: u64,
    /// Which CPUs have been interrupted by another one.
    interrupted: [Line<AtomicBool>; MOST_CPUS],
    policy: PhantomData<fn() -> G>,
}

/// A machine of this kind, whatever guards its kernel.
pub trait Host: Port<Context = Context, Local = Local, Space = Space> {
    /// A machine whose counter has this frequency.
    fn new(hertz: u64) -> Self;
    /// Whether another CPU has interrupted this one.
    fn is_interrupted(&self, cpu: u32) -> bool;
    /// Takes that interrupt.
    fn take_ipi(&self, cpu: u32);
}

impl<G: LockPolicy, const SMP: bool> Host for Native<G, SMP> {
    fn new(hertz: u64) -> Native<G, SMP> {
        Native {
            start: counter::now(),
            hertz,
            interrupted: array::from_fn(|_| Line::new(AtomicBool::new(false))),
            policy: PhantomData,
        }
    }

    #[inline(always)]
    fn is_interrupted(&self, cpu: u32) -> bool {
        self.interrupted[cpu as usize].load(Relaxed)
    }

    fn take_ipi(&self, cpu: u32) {
        self.interrupted[cpu as usize].swap(false, Acquire);
    }
}

/// A CPU's own state, on lines that no other CPU's touches.
#[derive(Default)]
#[repr(align(64))]
pub struct Local {
    /// Root of the page tables that would be loaded.
    pub root: Cell<u64>,
}

impl<G: LockPolicy, const SMP: bool> Port for Native<G, SMP> {
    type Context = Context;
    type Space = Space;
    type Local = Local;
    type Kept = ();
    type LockPolicy = G;

    const PAGE: u64 = abi::PAGE;
    const USER_TOP: u64 = abi::USER_TOP;

    const SMP: bool = SMP;
    const TRAINS: bool = false;

    fn now(&self) -> u64 {
        let ticks = u128::from(counter::now() - self.start);
        (ticks * 1_000_000_000 / u128::from(self.hertz)) as u64
    }

    fn stamp(&self) -> u64 {
        counter::now()
    }

    /// There is no timer: no thread waits for an instant here, and the tick is set so far away that
    /// it never comes.
    fn arm(&self, _at: Option<u64>) {}

    /// Nothing that a driver asks for takes so long that it polls.
    fn pending(&self) -> bool {
        false
    }

    fn set_irq(&self, irq: u8, _enabled: bool) {
        unreachable!("there is no IRQ {irq}");
    }

    fn irqs(&self) -> u8 {
        0
    }

    fn frame(&self, address: u64) -> &'static Frame {
        assert!(address.is_multiple_of(PAGE), "no frame at {address:#x}");
        // SAFETY: a frame is a page of the machine's memory, which is never freed; physical
        // addresses are the host's, and words are atomics.
        unsafe { &*std::ptr::with_exposed_provenance::<Frame>(address as usize) }
    }

    fn word(&self, address: u64) -> &'static AtomicU32 {
        assert!(address.is_multiple_of(4), "no word at {address:#x}");
        // SAFETY: as for a frame.
        unsafe { &*std::ptr::with_exposed_provenance::<AtomicU32>(address as usize) }
    }

    fn clear(&self, address: u64, words: usize) {
        let first = (address % PAGE / 8) as usize;
        let frame = self.frame(address - address % PAGE);
        frame[first..first + words].iter().for_each(|word| word.store(0, Relaxed));
    }

    fn copy(&self, from: u64, to: u64, first: usize, end: usize) {
        assert!(first <= end && end <= BUFFER_WORDS);
        let (from, to) = (self.frame(from), self.frame(to));
        for (from, to) in from[first..end].iter().zip(&to[first..end]) {
            to.store(from.load(Relaxed), Relaxed);
        }
    }

    fn console_room(&self) -> usize {
        usize::MAX
    }

    fn console_put(&self, byte: u8) {
        // The reader may be gone.
        let _ = std::io::stderr().write_all(&[byte]);
    }

    fn console_wants(&self, _on: bool) {}

    fn console_flush(&self) {}

    fn console_read(&self) -> Option<u8> {
        None
    }

    fn counter(&self) -> (u64, u64) {
        (self.hertz, self.start)
    }

    fn kernel_facts(&self) -> (u64, u64) {
        (0, 0)
    }

    fn shutdown(&self, status: u32) -> ! {
        std::process::exit(status as i32)
    }

    fn forget(&self, _local: &Local, _thread: &Context) {}

    fn enter(&self, _: &Local, _: &Context, (): &(), entry: u64, _: u64) {
        panic!("an entry at {entry:#x}: there are no trains here");
    }

    fn come_back(&self, _: &Local, _: &Context, (): &()) {
        panic!("a thread comes back that has entered nothing");
    }

    fn give_up(&self, (): &()) {
        panic!("nothing is kept of a thread here");
    }

    fn send_ipi(&self, cpu: u32) {
        self.interrupted[cpu as usize].store(true, Release);
    }
}
