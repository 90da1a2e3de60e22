//! The hardware: memory, CPUs, interrupts, a console.

use crate::attached::Attached;
use crate::barriers;
use crate::costs::Costs;
use crate::functions::Functions;
use crate::lines::{LINE, Lines};
use crate::locking::{ElidedLock, FineLocks};
use crate::memory::BASE;
use crate::meter;
use crate::order::Order;
use crate::processor::Processor;
use crate::transactions::Refused;
use crate::typist::Typist;
use crate::window::Window;
use abi::PAGE;
use cells::{Access, Kind, Watcher};
use devices::Rng;
use kernel::locks::LockPolicy;
use kernel::port::Frame;
use rt::Env;
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::io::Write;
use std::ops::Range;
use std::sync::atomic::{AtomicU32, AtomicU64};
use std::thread_local;
use twin_protocol::{Calls, Doing, Options, Sections, Service};

/// IRQs.
pub const IRQS: usize = 32;
/// The IRQ by which the console interrupts: while there is something to read, for programs, and
/// while its queue is empty, if the kernel wants that.
pub const CONSOLE_LINE: u8 = 4;
/// Characters that the console's queue takes.
pub const QUEUE: usize = 16;
/// Frequency of the counter: a unit of time is a nanosecond.
pub const HZ: u64 = 1_000_000_000;

/// Tells the lengths of sections from what else a seed stands for.
const LENGTHS: u64 = 0x5e1f_1e55;

/// The longest delay that is injected into one CPU, and into one of several: others are not to wait
/// for ever where this one has nothing to wait for.
const LONGEST: [u64; 2] = [HZ, 100_000];

/// A function that a further thread begins with.
pub type Function = fn(&Env, u64);

/// An interrupt, as it reaches the core.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// From a device.
    Irq(u8),
    /// The instant that was armed.
    Timer,
    /// From another CPU.
    Ipi,
    /// The console's queue is empty.
    Sent,
    /// Nothing that concerns the core.
    Spurious,
}

/// The run has ended with this status: how the kernel's last entry is left.
pub struct Shutdown(pub u32);

thread_local! {
    /// The machine that runs on this host thread.
    static CURRENT: Cell<Option<&'static Hardware>> = const { Cell::new(None) };
}

/// The machine.
pub struct Hardware {
    /// RAM.
    pub frames: &'static [Frame],
    /// The CPUs.
    pub processors: Box<[Processor]>,
    /// The one that runs.
    pub running: Cell<u32>,
    /// Which one goes on.
    pub order: Order,
    /// What things cost.
    pub costs: Costs,
    /// Where lines of memory are, if that costs anything.
    pub lines: Option<Lines>,
    /// How long sections take, if not as long as what happens in them.
    pub service: Option<Service>,
    /// Where their lengths come from.
    pub lengths: Rng,
    /// Sections so far.
    pub sections: Cell<Sections>,
    /// Memory barriers that the kernel has executed, where they are priced.
    pub barriers: Cell<u64>,
    /// Whether objects have locks, so that words are looked at while they are not held.
    looks: bool,
    /// Whether there may be transactions.
    pub speculates: bool,
    /// How often transactions asked for what they do not survive, by [`Refused`].
    pub refused: [Cell<u64>; Refused::ALL.len()],
    enabled: Cell<u32>,
    raised: Cell<u32>,
    output: RefCell<Vec<u8>>,
    input: RefCell<VecDeque<u8>>,
    /// The instant at which all is sent that the console has taken, and how long it sends a
    /// character.
    pub sent_at: Cell<u64>,
    character: u64,
    /// There is input.
    typed: Cell<bool>,
    /// Who types because of what is printed, if that is so.
    pub typist: Option<Typist>,
    show: bool,
    chaos: u64,
    /// The places in which that is so, and how many there were.
    chaotic: Range<u64>,
    pub places: Cell<u64>,
    rng: Rng,
    /// Instant of the first user instruction.
    pub booted: Cell<u64>,
    /// Entries into the kernel, and stretches of work.
    pub entries: Cell<u64>,
    /// So many of them end the run.
    pub limit: u64,
    /// Domains whose threads have called `work`.
    pub worked: RefCell<Vec<[u64; 2]>>,
    /// The most threads that were blocked at once, if invariants are checked.
    pub most_blocked: Cell<u32>,
    /// What each thread was doing at the end, if the run did not come to one of its own.
    pub threads: RefCell<Vec<Doing>>,
    /// At the end, how many messages were given up, by the index of an endpoint.
    pub given_up: RefCell<Vec<(u32, u32)>>,
    /// Coroutines of threads that were destroyed or restarted.
    pub dead: RefCell<Vec<u32>>,
    /// Functions that further threads begin with.
    pub functions: Functions<Function>,
    /// What visitors of trains run.
    pub handlers: Functions<rt::train::Handler>,
    /// System calls and how they ended, if they are counted.
    pub calls: Option<RefCell<Calls>>,
    /// The devices, if there are any.
    pub attached: Option<Attached>,
    /// Where pages are mapped for programs that are machine code, if there may be any.
    pub window: Option<Window>,
}

impl Hardware {
    /// A machine with so many CPUs and this memory.
    pub fn new(
        options: &Options,
        cpus: u32,
        frames: &'static [Frame],
        attached: Option<Attached>,
        window: Option<Window>,
    ) -> Hardware {
        Hardware {
            frames,
            processors: (0..cpus).map(Processor::new).collect(),
            running: Cell::new(0),
            order: Order::new(if cpus > 1 { options.chaos } else { 0 }, options.seed),
            costs: Costs::of(options),
            lines: Lines::of(options, frames.as_ptr().addr(), size_of_val(frames)),
            service: options.service,
            lengths: Rng::new(options.seed ^ LENGTHS),
            sections: Cell::default(),
            barriers: Cell::new(0),
            looks: options.locking.as_deref() == Some(FineLocks::NAME),
            speculates: options.locking.as_deref() == Some(ElidedLock::NAME),
            refused: Default::default(),
            enabled: Cell::new(0),
            raised: Cell::new(0),
            output: RefCell::default(),
            input: RefCell::new(options.input.iter().copied().collect()),
            sent_at: Cell::new(0),
            character: options.character,
            typed: Cell::new(!options.input.is_empty()),
            typist: None,
            show: options.show,
            chaos: options.chaos,
            chaotic: options.chaotic.clone(),
            places: Cell::new(0),
            rng: Rng::new(options.seed),
            booted: Cell::new(0),
            entries: Cell::new(0),
            limit: options.limit,
            worked: RefCell::default(),
            most_blocked: Cell::new(0),
            threads: RefCell::default(),
            given_up: RefCell::default(),
            dead: RefCell::default(),
            functions: Functions::new(b"\0\0\0\0FUNC"),
            handlers: Functions::new(b"\0\0\0\0VISI"),
            calls: options.count.then(RefCell::default),
            attached,
            window,
        }
    }

    /// Makes a machine this host thread's, or none.
    pub fn install(machine: Option<&'static Hardware>) {
        CURRENT.set(machine);
    }

    /// The host thread's machine.
    pub fn current() -> &'static Hardware {
        CURRENT.get().expect("a machine runs")
    }

    /// The CPU that runs.
    #[inline]
    pub fn here(&self) -> &Processor {
        &self.processors[self.running.get() as usize]
    }

    /// The words of a page frame.
    #[inline]
    pub fn frame(&self, address: u64) -> &'static Frame {
        &self.frames[(address.wrapping_sub(BASE) / PAGE) as usize]
    }

    /// The physical address of the page frame with this index.
    pub fn address_of(&self, index: u64) -> u64 {
        BASE + index * PAGE
    }

    /// The 32-bit word at this address, a multiple of 4 in a page frame.
    pub fn half(&self, address: u64) -> &'static AtomicU32 {
        assert!(address.is_multiple_of(4), "no word at {address:#x}");
        let within = address % PAGE;
        let word = &self.frame(address - within)[(within / 8) as usize];
        // SAFETY: half of a word of the frame, aligned and as an atomic too; all that uses the
        // machine is one host thread.
        unsafe { &*word.as_ptr().cast::<AtomicU32>().add((within % 8 / 4) as usize) }
    }

    /// The next interrupt that waits for the running CPU, if any.
    #[inline]
    pub fn waiting(&self) -> Option<Event> {
        let me = self.here();
        if me.device_at.get().is_some_and(|at| at <= meter::now()) {
            self.look_at_devices();
        }
        let typed = u32::from(self.typed.get()) << CONSOLE_LINE;
        let lines = self.enabled.get() & (self.raised.get() | typed) & me.irqs.get();
        if lines != 0 {
            return Some(Event::Irq(lines.trailing_zeros() as u8));
        }
        if me.armed.get().is_some_and(|at| at <= meter::now()) {
            return Some(Event::Timer);
        }
        if me.ipi_at.get().is_some_and(|at| at <= meter::now()) {
            return Some(Event::Ipi);
        }
        if me.sent_at.get().is_some_and(|at| at <= meter::now()) {
            return Some(Event::Sent);
        }
        me.spurious.get().then_some(Event::Spurious)
    }

    /// Acknowledges an interrupt, on its way to the core.
    pub fn acknowledge(&self, event: Event) {
        self.here().count_passed(event == Event::Spurious);
        match event {
            Event::Irq(irq) => {
                self.raised.set(self.raised.get() & !(1 << irq));
                self.enabled.set(self.enabled.get() & !(1 << irq));
            }
            Event::Timer => self.here().armed.set(None),
            Event::Ipi => {
                let me = self.here();
                me.ipi_at.set(None);
                me.ipis.set(me.ipis.get() + 1);
            }
            // It interrupts on while its queue is empty.
            Event::Sent => {}
            Event::Spurious => self.here().spurious.set(false),
        }
    }

    /// Whether anything may be injected.
    pub fn is_chaotic(&self) -> bool {
        self.chaos > 0
    }

    /// A place where something may happen, by seed: a delay up to the next timer interrupt, a
    /// device's interrupt, one that means nothing.
    pub fn disturb(&self) {
        let happens = self.is_disturbed();
        self.places.set(self.places.get() + 1);
        if !self.rng.once_in(self.chaos) {
            return;
        }
        let kind = self.rng.next() % 4;
        let irq = if kind == 2 { self.rng.next() % IRQS as u64 } else { 0 };
        match (kind, self.here().armed.get()) {
            // Everything is drawn, so that what follows does not depend on the span.
            _ if !happens => {}
            (0 | 1, Some(at)) => {
                let longest = LONGEST[usize::from(self.processors.len() > 1)];
                meter::pass_to(at.min(meter::now() + longest));
            }
            (2, _) => {
                self.raised.set(self.raised.get() | self.enabled.get() & 1 << irq);
                self.rouse_for(1 << irq);
            }
            _ => self.here().spurious.set(true),
        }
    }

    /// Whether chance decides here: within the span in which it does.
    pub fn is_disturbed(&self) -> bool {
        self.chaotic.contains(&self.places.get())
    }

    /// The running CPU brings the lines of some memory that it touches.
    pub fn reach_line(&self, at: usize, bytes: usize, writes: bool) {
        if let Some(lines) = &self.lines {
            meter::pass(lines.access(self.running.get(), at, bytes, writes));
        }
    }

    /// The barriers of an access. Words that are never looked at while they are not held need none.
    fn order_memory(&self, access: &Access) {
        if !access.shared || self.looks {
            let barriers = barriers::of(access);
            self.barriers.set(self.barriers.get() + barriers);
            meter::pass(barriers * u64::from(self.costs.barrier));
        }
    }

    /// The kernel touches some words of a page frame.
    pub fn touch_words(&self, words: &[AtomicU64], kind: Kind) {
        if (self.lines.is_some() || self.speculates) && self.here().inside.get() {
            for line in words.chunks(LINE / 8) {
                let bytes = size_of_val(line);
                let (at, order, shared) = (line.as_ptr().cast(), None, false);
                self.touch(Access { at, bytes, kind, order, shared });
            }
        }
    }

    /// Unmasks an IRQ, or masks it.
    pub fn set_irq(&self, irq: u8, enabled: bool) {
        let others = self.enabled.get() & !(1 << irq);
        self.enabled.set(others | u32::from(enabled) << irq);
        // A device that asks still is not forgotten.
        self.look_at_devices();
        self.rouse_for(1 << irq);
    }

    /// Lets an IRQ come to a CPU from now on.
    pub fn route_irq(&self, irq: u8, cpu: u32) {
        for processor in &self.processors {
            let others = processor.irqs.get() & !(1 << irq);
            processor.irqs.set(others | u32::from(processor.number == cpu) << irq);
        }
        self.rouse_for(1 << irq);
    }

    /// The CPUs to which some IRQs come have something to look at.
    fn rouse_for(&self, irqs: u32) {
        let concerned = |cpu: &&Processor| cpu.irqs.get() & irqs != 0;
        for cpu in self.processors.iter().filter(concerned) {
            self.rouse(cpu, meter::now());
        }
    }

    /// Devices ask for interrupts on these lines. Whether one of them is not masked.
    pub fn request(&self, lines: u32) -> bool {
        let asked = self.enabled.get() & lines;
        self.raised.set(self.raised.get() | asked);
        self.rouse_for(asked);
        asked != 0
    }

    /// Interrupts another CPU.
    pub fn send_ipi(&self, number: u32) {
        let cpu = &self.processors[number as usize];
        let at = meter::now() + u64::from(self.costs.ipi);
        let first = cpu.ipi_at.get().map_or(at, |earlier| earlier.min(at));
        cpu.ipi_at.set(Some(first));
        self.rouse(cpu, first);
    }

    /// Writes to the console.
    pub fn write(&self, text: &[u8]) {
        self.output.borrow_mut().extend_from_slice(text);
        if self.show {
            // The reader may be gone; the text is kept all the same.
            let _ = std::io::stdout().write_all(text);
        }
    }

    /// Sends a character to the console, whose queue has room for it.
    pub fn send(&self, byte: u8) {
        self.write(&[byte]);
        self.hear(byte);
        self.sent_at.set(self.sent_at.get().max(meter::now()) + self.character);
    }

    /// The console interrupts when its queue is empty, or not.
    pub fn wants_sent(&self, on: bool) {
        let first = &self.processors[0];
        first.sent_at.set(on.then_some(self.sent_at.get()));
        if on {
            self.rouse(first, self.sent_at.get());
        }
    }

    /// A text is typed at the console now.
    pub fn type_text(&self, text: &[u8]) {
        if !text.is_empty() {
            self.input.borrow_mut().extend(text);
            self.typed.set(true);
            self.rouse_for(1 << CONSOLE_LINE);
        }
    }

    /// Reads from the console.
    pub fn read(&self) -> Option<u8> {
        let mut input = self.input.borrow_mut();
        let byte = input.pop_front();
        self.typed.set(!input.is_empty());
        byte
    }

    /// What was written to the console.
    pub fn take_output(&self) -> Vec<u8> {
        self.output.take()
    }
}

impl Watcher for Hardware {
    fn touch(&self, access: Access) {
        let me = self.here();
        if !me.inside.get() || std::thread::panicking() {
            return;
        }
        let writes = access.kind != Kind::Read;
        if access.kind == Kind::Exchange && access.is_atomic() {
            meter::pass(u64::from(self.costs.exchange));
        }
        if self.costs.barrier > 0 {
            self.order_memory(&access);
        }
        self.before_access(me, access.at.addr(), access.is_atomic(), writes);
        self.reach_line(access.at.addr(), access.bytes, writes);
        if self.speculates {
            self.speculate(access);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// In which of so many places an interrupt is injected.
    fn injected(chaotic: Range<u64>) -> Vec<bool> {
        let options = Options { chaos: 3, chaotic, ..Options::default() };
        let hardware = Hardware::new(&options, 1, &[], None, None);
        let place = |_| {
            hardware.disturb();
            hardware.here().spurious.take()
        };
        (0..1_000).map(place).collect()
    }

    #[test]
    fn a_span_leaves_choices_within_as_they_are_and_makes_none_elsewhere() {
        let all = injected(0..u64::MAX);
        assert!(all.iter().filter(|it| **it).count() > 100);
        let part = injected(300..700);
        for (place, (whole, part)) in all.into_iter().zip(part).enumerate() {
            assert_eq!(part, whole && (300..700).contains(&place), "place {place}");
        }
    }
}
