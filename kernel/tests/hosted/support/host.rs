//! The hardware: memory, time, interrupts, a console.

use super::context::{HostContext, HostKept};
use super::rng::Rng;
use super::space::{self, HostSpace};
use abi::PAGE;
use abi::boot::Cache;
use kernel::arena::Arena;
use kernel::port::{Frame, Port};
use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::ops::Range;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Relaxed;

/// IRQs.
pub const IRQS: usize = 8;
/// Characters that the console's queue takes.
pub const QUEUE: usize = 16;
/// The IRQ on which it interrupts.
pub const CONSOLE: u8 = 4;
/// Physical address of the first frame.
pub const BASE: u64 = 0x100_0000;
/// Pages of memory that the kernel does not get.
pub const SPARE: usize = 16;
/// Where device memory lies.
pub const DEVICES: Range<u64> = 0xfe00_0000..0xff00_0000;
/// I/O ports that programs may have.
pub const PORTS: Range<u64> = 0xfff0..0x1_0000;
/// Frequency of the counter.
pub const HZ: u64 = 1_000_000_000;

/// An IRQ.
#[derive(Debug, Default)]
pub struct Irq {
    /// The core lets it through.
    pub enabled: Cell<bool>,
    /// The device has interrupted.
    pub raised: Cell<bool>,
    /// The CPU that it comes to.
    pub cpu: Cell<u32>,
}

/// An interrupt, as it reaches the core.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// From a device.
    Irq(u8),
    /// The instant that was armed.
    Timer,
    /// The console's queue is empty.
    Sent,
    /// Nothing that concerns the core.
    Spurious,
}

/// The run has ended with this status.
#[derive(Debug, PartialEq, Eq)]
pub struct Shutdown(pub u32);

/// A machine.
pub struct Host {
    /// Where the allocated memory begins, and how it was asked for.
    memory: (*mut u8, Layout),
    /// Not a reference, which Miri would look at whole each time it is passed on.
    frames: *const [Frame],
    time: Cell<u64>,
    /// Time that passes while a frame is looked up.
    pub frame_takes: Cell<u64>,
    armed: Cell<Option<u64>>,
    /// IRQs.
    pub irqs: [Irq; IRQS],
    /// What each of the [`PORTS`] has.
    pub ports: [Cell<u8>; (PORTS.end - PORTS.start) as usize],
    /// What was written to the console.
    pub output: RefCell<Vec<u8>>,
    /// Characters in its queue; `None`: it takes what it is given.
    pub queue: Cell<Option<usize>>,
    /// It interrupts while its queue is empty.
    pub wants: Cell<bool>,
    /// What will be read from it.
    pub input: RefCell<VecDeque<u8>>,
    spurious: Cell<bool>,
    noise: Rng,
    /// Interrupts happen once in so many polls; 0: never.
    pub noise_once_in: Cell<u64>,
    /// An interrupt happens at the poll of this number.
    pub interrupted_at: Cell<u64>,
    /// Polls of [`Port::pending`] so far.
    pub polls: Cell<u64>,
}

impl Host {
    /// An interrupt happens at the poll that comes after so many others.
    pub fn interrupt_after(&self, polls: u64) {
        self.interrupted_at.set(self.polls.get() + polls + 1);
    }

    /// A machine with this much memory in an arena, and [`SPARE`] pages behind it. The core's pools
    /// live as long as that: [`Host::free`] ends it. The seed is for interrupts.
    pub fn new(pages: usize, seed: u64) -> (&'static Host, Arena) {
        // A page to spare, and aligned here: zeroed memory of a larger alignment would be written
        // to, every page of it, and boards are many.
        let bytes = pages * PAGE as usize;
        let all = bytes + SPARE * PAGE as usize;
        let layout = Layout::from_size_align(all + PAGE as usize, align_of::<u64>())
            .expect("a size that fits");
        // SAFETY: the layout is not empty.
        let memory = unsafe { alloc_zeroed(layout) };
        assert!(!memory.is_null(), "out of memory");
        let start = memory.wrapping_add(memory.align_offset(PAGE as usize));
        let frames = std::ptr::slice_from_raw_parts(start.cast::<Frame>(), pages + SPARE);
        let host = Host {
            memory: (memory, layout),
            frames,
            time: Cell::new(0),
            frame_takes: Cell::new(0),
            armed: Cell::new(None),
            irqs: Default::default(),
            ports: Default::default(),
            output: RefCell::default(),
            queue: Cell::new(None),
            wants: Cell::new(false),
            input: RefCell::default(),
            spurious: Cell::new(false),
            noise: Rng::new(seed),
            noise_once_in: Cell::new(0),
            interrupted_at: Cell::new(0),
            polls: Cell::new(0),
        };
        // SAFETY: otherwise the memory is used through its frames alone, which are atomics.
        let arena = unsafe { Arena::new(start, bytes, BASE) };
        (Box::leak(Box::new(host)), arena)
    }

    fn ports_of(&self, port: u16, bytes: u8) -> &[Cell<u8>] {
        let first = (u64::from(port) - PORTS.start) as usize;
        &self.ports[first..first + bytes as usize]
    }

    /// Frees the machine's memory.
    ///
    /// # Safety
    /// Nothing of the machine, of its kernel or of an object in it is used any more.
    pub unsafe fn free(&self) {
        let (memory, layout) = self.memory;
        // SAFETY: `Host::new` has allocated it so, and it is used no more.
        unsafe { dealloc(memory, layout) };
    }

    /// The address of the spare pages.
    pub fn spare(&self) -> u64 {
        BASE + (self.frames.len() - SPARE) as u64 * PAGE
    }

    /// The instant at which the timer will interrupt.
    pub fn armed(&self) -> Option<u64> {
        self.armed.get()
    }

    /// Lets time pass.
    pub fn advance(&self, by: u64) {
        self.time.set(self.time.get() + by);
    }

    /// A device interrupts, or something that does not concern the core does.
    pub fn raise(&self, event: Event) {
        match event {
            Event::Irq(irq) => self.irqs[irq as usize].raised.set(true),
            Event::Spurious => self.spurious.set(true),
            Event::Sent => self.console_flush(),
            Event::Timer => panic!("the timer interrupts when time has passed"),
        }
    }

    /// The next interrupt that waits, if any.
    pub fn waiting(&self) -> Option<Event> {
        let irq = self.irqs.iter().position(|irq| irq.enabled.get() && irq.raised.get());
        if let Some(irq) = irq {
            return Some(Event::Irq(irq as u8));
        }
        if self.armed.get().is_some_and(|at| at <= self.time.get()) {
            return Some(Event::Timer);
        }
        if self.wants.get() && self.queue.get().is_none_or(|taken| taken == 0) {
            return Some(Event::Sent);
        }
        self.spurious.get().then_some(Event::Spurious)
    }

    /// Acknowledges an interrupt, on its way to the core.
    pub fn acknowledge(&self, event: Event) {
        match event {
            Event::Irq(irq) => {
                self.irqs[irq as usize].raised.set(false);
                self.irqs[irq as usize].enabled.set(false);
            }
            Event::Timer => self.armed.set(None),
            Event::Sent => {}
            Event::Spurious => self.spurious.set(false),
        }
    }
}

impl Port for Host {
    type Context = HostContext;
    type Space = HostSpace;
    type Local = ();
    type LockPolicy = kernel::locks::Unlocked;
    type Kept = HostKept;

    const PAGE: u64 = abi::PAGE;
    const USER_TOP: u64 = abi::USER_TOP;

    const TRACE: u64 = abi::trace::Event::EVERY;
    const LENGTHS: bool = true;
    const TREE: bool = true;

    fn now(&self) -> u64 {
        self.time.get()
    }

    fn stamp(&self) -> u64 {
        self.now()
    }

    fn arm(&self, at: Option<u64>) {
        self.armed.set(at);
    }

    fn pending(&self) -> bool {
        self.polls.set(self.polls.get() + 1);
        let once_in = self.noise_once_in.get();
        let now = self.polls.get() == self.interrupted_at.get();
        if now || (once_in > 0 && self.noise.once_in(once_in)) {
            self.spurious.set(true);
        }
        self.waiting().is_some()
    }

    fn set_irq(&self, irq: u8, enabled: bool) {
        self.irqs[irq as usize].enabled.set(enabled);
    }

    fn route_irq(&self, irq: u8, cpu: u32) {
        self.irqs[irq as usize].cpu.set(cpu);
    }

    fn device_frame(&self, at: u64, pages: u64, cache: Cache) -> Option<u64> {
        let fits = DEVICES.contains(&at) && pages * PAGE <= DEVICES.end - at;
        fits.then(|| space::device_frame(at, cache))
    }

    fn has_ports(&self, first: u64, number: u64) -> bool {
        PORTS.contains(&first) && (1..=PORTS.end - first).contains(&number)
    }

    fn read_port(&self, port: u16, bytes: u8) -> u32 {
        let mut value = [0; 4];
        for (byte, port) in value.iter_mut().zip(self.ports_of(port, bytes)) {
            *byte = port.get();
        }
        u32::from_le_bytes(value)
    }

    fn write_port(&self, port: u16, bytes: u8, value: u32) {
        for (byte, port) in value.to_le_bytes().into_iter().zip(self.ports_of(port, bytes)) {
            port.set(byte);
        }
    }

    fn irqs(&self) -> u8 {
        IRQS as u8
    }

    fn frame(&self, address: u64) -> &'static Frame {
        assert!(address >= BASE && address.is_multiple_of(PAGE), "no frame at {address:#x}");
        let index = ((address - BASE) / PAGE) as usize;
        assert!(index < self.frames.len(), "no frame at {address:#x}");
        self.advance(self.frame_takes.get());
        // SAFETY: within the memory, which is zeroed, aligned, freed with the board that a test
        // has, and made of atomics, so that the arena may hand out parts of it.
        unsafe { &*self.frames.cast::<Frame>().add(index) }
    }

    fn word(&self, address: u64) -> &'static AtomicU32 {
        assert!(address.is_multiple_of(4), "no word at {address:#x}");
        let within = address % PAGE;
        let word = &self.frame(address - within)[(within / 8) as usize];
        let half = word.as_ptr().cast::<AtomicU32>();
        // SAFETY: half of a word of the frame, as an atomic too; a test has one thread.
        unsafe { &*half.add((within % 8 / 4) as usize) }
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

    fn console_room(&self) -> usize {
        match self.queue.get() {
            Some(0) => QUEUE,
            Some(_) => 0,
            None => usize::MAX,
        }
    }

    fn console_put(&self, byte: u8) {
        self.output.borrow_mut().push(byte);
        let taken = self.queue.get().map(|taken| taken + 1 + usize::from(byte == b'\n'));
        assert!(taken.is_none_or(|taken| taken <= QUEUE), "more than the console's queue takes");
        self.queue.set(taken);
    }

    fn console_wants(&self, on: bool) {
        self.wants.set(on);
    }

    fn console_flush(&self) {
        self.queue.set(self.queue.get().map(|_| 0));
    }

    fn console_read(&self) -> Option<u8> {
        self.input.borrow_mut().pop_front()
    }

    fn counter(&self) -> (u64, u64) {
        (HZ, 0)
    }

    fn kernel_facts(&self) -> (u64, u64) {
        (1, 2)
    }

    fn shutdown(&self, status: u32) -> ! {
        std::panic::resume_unwind(Box::new(Shutdown(status)))
    }

    fn forget(&self, _local: &(), _thread: &HostContext) {}

    fn enter(&self, _: &(), thread: &HostContext, kept: &HostKept, entry: u64, stack: u64) {
        thread.enter(kept, entry, stack);
    }

    fn come_back(&self, _: &(), thread: &HostContext, kept: &HostKept) {
        thread.come_back(kept);
    }

    fn give_up(&self, kept: &HostKept) {
        kept.give_up();
    }
}
