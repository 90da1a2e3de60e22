//! The hardware: memory, time, interrupts, a console; and the kernel's port to it.

use crate::context::{Context, Regs, Trap};
use crate::memory::BASE;
use crate::meter;
use crate::paging::{Buffer, Space};
use crate::rng::Rng;
use crate::run::{Calls, Options};
use abi::PAGE;
use corosensei::Yielder;
use kernel::port::{Frame, Port};
use kernel::statistics::Statistics;
use kernel::step::Step;
use rt::Env;
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::io::Write;
use std::sync::atomic::Ordering::Relaxed;

/// Interrupt lines.
pub const LINES: usize = 32;
/// The line on which the console interrupts while there is something to read.
const CONSOLE_LINE: u8 = 4;
/// Frequency of the counter: a unit of time is a nanosecond.
pub const HZ: u64 = 1_000_000_000;

/// A function that a further thread begins with.
pub type Function = fn(&Env, u64);

/// An interrupt, as it reaches the core.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// From a device.
    Line(u8),
    /// The instant that was armed.
    Timer,
    /// Nothing that concerns the core.
    Spurious,
}

/// The run has ended with this status: how the kernel's last entry is left.
pub struct Shutdown(pub u32);

/// The machine.
pub struct Twin {
    frames: &'static [Frame],
    armed: Cell<Option<u64>>,
    enabled: Cell<u32>,
    raised: Cell<u32>,
    spurious: Cell<bool>,
    output: RefCell<Vec<u8>>,
    input: RefCell<VecDeque<u8>>,
    /// There is input.
    typed: Cell<bool>,
    show: bool,
    chaos: u64,
    rng: Rng,
    /// Instant of the first user instruction.
    pub booted: Cell<u64>,
    /// Entries into the kernel, and stretches of work.
    pub entries: Cell<u64>,
    /// The most threads that were blocked at once, if invariants are checked.
    pub most_blocked: Cell<u32>,
    /// Coroutines of threads that were destroyed or restarted.
    pub dead: RefCell<Vec<u32>>,
    /// Pages that programs have used.
    pub pages: Buffer,
    /// Root of the page tables in use.
    pub root: Cell<u64>,
    /// The register file.
    pub regs: Cell<Regs>,
    /// What the running thread has stopped with.
    pub trap: Cell<Trap>,
    /// Whether a probe that resumes was refused.
    pub refused: Cell<bool>,
    /// The running coroutine's way out.
    pub yielder: Cell<*const Yielder<(), ()>>,
    /// Vector state of the running thread.
    pub vector: Cell<u64>,
    /// Accesses and counter reads since time last passed.
    pub patience: Cell<u32>,
    /// Functions that further threads begin with.
    pub functions: RefCell<Vec<Function>>,
    /// System calls and how they ended, if they are counted.
    pub calls: Option<RefCell<Calls>>,
}

impl Twin {
    /// A machine with this memory.
    pub fn new(options: &Options, frames: &'static [Frame]) -> Twin {
        Twin {
            frames,
            armed: Cell::new(None),
            enabled: Cell::new(0),
            raised: Cell::new(0),
            spurious: Cell::new(false),
            output: RefCell::default(),
            input: RefCell::new(options.input.iter().copied().collect()),
            typed: Cell::new(!options.input.is_empty()),
            show: options.show,
            chaos: options.chaos,
            rng: Rng::new(options.seed),
            booted: Cell::new(0),
            entries: Cell::new(0),
            most_blocked: Cell::new(0),
            dead: RefCell::default(),
            pages: Buffer::new(),
            root: Cell::new(0),
            regs: Cell::default(),
            trap: Cell::default(),
            refused: Cell::new(false),
            yielder: Cell::new(std::ptr::null()),
            vector: Cell::new(0),
            patience: Cell::new(0),
            functions: RefCell::default(),
            calls: options.count.then(RefCell::default),
        }
    }

    /// The instant at which the timer will interrupt.
    #[inline]
    pub fn armed(&self) -> Option<u64> {
        self.armed.get()
    }

    /// The next interrupt that waits, if any.
    #[inline]
    pub fn waiting(&self) -> Option<Event> {
        let typed = u32::from(self.typed.get()) << CONSOLE_LINE;
        let lines = self.enabled.get() & (self.raised.get() | typed);
        if lines != 0 {
            return Some(Event::Line(lines.trailing_zeros() as u8));
        }
        if self.armed.get().is_some_and(|at| at <= meter::now()) {
            return Some(Event::Timer);
        }
        self.spurious.get().then_some(Event::Spurious)
    }

    /// Acknowledges an interrupt, on its way to the core.
    pub fn acknowledge(&self, event: Event) {
        match event {
            Event::Line(line) => {
                self.raised.set(self.raised.get() & !(1 << line));
                self.enabled.set(self.enabled.get() & !(1 << line));
            }
            Event::Timer => self.armed.set(None),
            Event::Spurious => self.spurious.set(false),
        }
    }

    /// Whether anything may be injected.
    pub fn is_chaotic(&self) -> bool {
        self.chaos > 0
    }

    /// A place where something may happen, by seed: a delay up to the next timer interrupt, a
    /// device's interrupt, one that means nothing.
    pub fn disturb(&self) {
        if !self.rng.once_in(self.chaos) {
            return;
        }
        match (self.rng.next() % 4, self.armed.get()) {
            (0 | 1, Some(at)) => meter::pass_to(at),
            (2, _) => {
                let line = self.rng.next() % LINES as u64;
                self.raised.set(self.raised.get() | self.enabled.get() & 1 << line);
            }
            _ => self.spurious.set(true),
        }
    }

    /// What was written to the console.
    pub fn take_output(&self) -> Vec<u8> {
        self.output.take()
    }
}

impl Port for Twin {
    type Context = Context;
    type Space = Space;
    type Local = ();
    type Guarding = kernel::locks::Unlocked;

    const TRACE: u64 = abi::trace::Event::EVERY;
    const LENGTHS: bool = true;

    #[inline]
    fn now(&self) -> u64 {
        meter::now()
    }

    #[inline]
    fn stamp(&self) -> u64 {
        meter::now()
    }

    fn arm(&self, at: Option<u64>) {
        self.armed.set(at);
    }

    fn pending(&self) -> bool {
        if self.is_chaotic() {
            self.disturb();
        }
        self.waiting().is_some()
    }

    fn set_line(&self, line: u8, enabled: bool) {
        let others = self.enabled.get() & !(1 << line);
        self.enabled.set(others | u32::from(enabled) << line);
    }

    fn lines(&self) -> u8 {
        LINES as u8
    }

    #[inline]
    fn frame(&self, address: u64) -> &'static Frame {
        &self.frames[(address.wrapping_sub(BASE) / PAGE) as usize]
    }

    fn clear(&self, address: u64, words: usize) {
        let first = (address % PAGE / 8) as usize;
        let frame = self.frame(address - address % PAGE);
        frame[first..first + words].iter().for_each(|word| word.store(0, Relaxed));
    }

    fn copy(&self, from: u64, to: u64, first: usize, end: usize) {
        let (from, to) = (self.frame(from), self.frame(to));
        for (from, to) in from[first..end].iter().zip(&to[first..end]) {
            to.store(from.load(Relaxed), Relaxed);
        }
    }

    fn console_write(&self, text: &[u8]) {
        self.output.borrow_mut().extend_from_slice(text);
        if self.show {
            // Whoever reads may be gone; the text is kept all the same.
            let _ = std::io::stdout().write_all(text);
        }
    }

    fn console_read(&self) -> Option<u8> {
        let mut input = self.input.borrow_mut();
        let byte = input.pop_front();
        self.typed.set(!input.is_empty());
        byte
    }

    fn counter(&self) -> (u64, u64) {
        (HZ, 0)
    }

    fn statistics<R>(&self, look: impl FnOnce(&Statistics) -> R) -> Option<R> {
        Some(meter::statistics(look))
    }

    fn kernel_facts(&self) -> (u64, u64) {
        (0, self.booted.get())
    }

    fn shutdown(&self, status: u32) -> ! {
        std::panic::resume_unwind(Box::new(Shutdown(status)))
    }

    fn forget(&self, _local: &(), thread: &Context) {
        let fiber = thread.fiber.take();
        if fiber != 0 {
            self.dead.borrow_mut().push(fiber);
        }
    }

    #[inline(always)]
    fn step(step: Step) {
        meter::step(step);
    }
}
