//! The port trait for this machine.

use crate::apic;
use crate::clock::Clock;
use crate::context::{Context, Kept};
use crate::fpu::Special;
use crate::machine::{counter, halt, in8, in16, in32, out8, out16, out32};
use crate::paging::{self, PAGE, Space, direct};
use crate::pvh::StartInfo;
use crate::{protection, uart};
use abi::boot::Cache;
use abi::message::BUFFER_WORDS;
use core::arch::asm;
use core::cell::Cell;
use core::ops::Range;
use core::sync::atomic::AtomicU32;
#[cfg(feature = "smp")]
use kernel::cpu::Cpu;
use kernel::port::{Frame, Port};
#[cfg(feature = "statistics")]
use kernel::statistics::Statistics;
use section::init;

/// Port of the device that ends a run under QEMU.
const EXIT: u16 = 0xf4;
/// I/O ports that programs never have: of the interrupt controllers and the interval timer, with
/// where else chipsets show them, of the device that ends a run, of the console, and of what makes
/// interrupts of the legacy controllers level-triggered.
const RESERVED_PORTS: [Range<u64>; 5] =
    [0x20..0x60, 0xa0..0xc0, EXIT as u64..EXIT as u64 + 4, uart::PORTS, 0x4d0..0x4d2];
/// How many I/O ports there are.
const PORTS: u64 = 1 << 16;

/// The machine.
pub struct X86 {
    /// Time.
    pub clock: Clock,
    /// What the loader says, while the machine boots.
    pub info: Cell<Option<StartInfo>>,
    /// Bytes of kernel text.
    pub text: Cell<u64>,
    /// Counter at kernel entry, then steps from there to the first user instruction.
    pub boot: Cell<u64>,
    /// The statistics of each CPU, on lines of its own: others' sections are not to meet there.
    #[cfg(feature = "statistics")]
    pub statistics: [locks::Line<Statistics>; crate::segments::CPUS],
}

/// What entry code finds in GS behind the core's own fields.
#[derive(Default)]
#[repr(C)]
pub struct Local {
    /// Top of the kernel stack.
    pub stack: Cell<u64>,
    /// Root of the page tables that are loaded.
    pub root: Cell<u64>,
    /// x87, SSE and thread pointers.
    pub special: Special,
    /// The structure that this is in, for entry code.
    #[cfg(feature = "smp")]
    pub myself: Cell<Option<&'static Cpu<X86>>>,
}

/// What guards the kernel in this image; queue locks need a node more than there are CPUs.
#[cfg(any(not(feature = "smp"), feature = "unguarded"))]
type Guards = locks::Unlocked;
#[cfg(all(feature = "smp", not(any(feature = "fine", feature = "elided", feature = "unguarded"))))]
type Guards = locks::Big<locks::Pause, 16>;
#[cfg(all(feature = "fine", not(feature = "elided")))]
type Guards = locks::Fine<locks::Pause, 8>;
#[cfg(feature = "elided")]
type Guards = locks::Elision<rtm::Rtm, locks::Pause, 16>;

impl Port for X86 {
    type Context = Context;
    type Space = Space;
    type Local = Local;
    type LockPolicy = Guards;
    type Kept = Kept;

    const PAGE: u64 = paging::PAGE;
    const USER_TOP: u64 = paging::USER_TOP;

    const SMP: bool = cfg!(feature = "smp");
    const TREE: bool = cfg!(feature = "tree");
    const FUTEXES: bool = cfg!(feature = "futexes");
    const TRAINS: bool = cfg!(feature = "trains");

    const TRACE: u64 = if cfg!(feature = "trace") { abi::trace::Event::EVERY } else { 0 };
    const LENGTHS: bool = cfg!(any(feature = "trace", feature = "statistics", feature = "log"));

    #[inline(always)]
    fn now(&self) -> u64 {
        self.clock.now()
    }

    #[inline(always)]
    fn stamp(&self) -> u64 {
        counter()
    }

    fn arm(&self, at: Option<u64>) {
        self.clock.arm(at);
    }

    #[inline(always)]
    fn pending(&self) -> bool {
        apic::pending()
    }

    fn set_irq(&self, irq: u8, enabled: bool) {
        uart::set_irq(irq, enabled);
    }

    fn route_irq(&self, irq: u8, cpu: u32) {
        apic::route_irq(irq, cpu);
    }

    #[init]
    fn is_own_irq(&self, irq: u8) -> bool {
        irq == apic::INTERVAL_TIMER
    }

    #[init]
    fn device_frame(&self, at: u64, pages: u64, cache: Cache) -> Option<u64> {
        let end = pages.checked_mul(PAGE)?.checked_add(at)?;
        let is_whole = at.is_multiple_of(PAGE) && at < end && end <= protection::addresses();
        let mut taken = self.info.get()?.ram().chain(apic::RESERVED);
        let is_free = !taken.any(|taken| at < taken.at + taken.bytes && taken.at < end);
        (is_whole && is_free).then(|| paging::device_frame(at, cache))
    }

    #[init]
    fn has_ports(&self, first: u64, number: u64) -> bool {
        let Some(end) = first.checked_add(number).filter(|end| first < *end && *end <= PORTS)
        else {
            return false;
        };
        !RESERVED_PORTS.iter().any(|taken| first < taken.end && taken.start < end)
    }

    #[inline(never)]
    fn read_port(&self, port: u16, bytes: u8) -> u32 {
        // SAFETY: the kernel uses no such port. What the device behind one does to memory is the
        // manifest's to answer for, which gives the port to a program, as for device memory.
        unsafe {
            match bytes {
                1 => in8(port).into(),
                2 => in16(port).into(),
                _ => in32(port),
            }
        }
    }

    #[inline(never)]
    fn write_port(&self, port: u16, bytes: u8, value: u32) {
        // SAFETY: as in `read_port`.
        unsafe {
            match bytes {
                1 => out8(port, value as u8),
                2 => out16(port, value as u16),
                _ => out32(port, value),
            }
        }
    }

    fn irqs(&self) -> u8 {
        apic::IRQS
    }

    #[inline(always)]
    fn frame(&self, address: u64) -> &'static Frame {
        // SAFETY: frames come from RAM that `boot` handed out, in the direct map; words are
        // atomics, so that programs may write them meanwhile.
        unsafe { &*direct::<Frame>(address) }
    }

    #[inline(always)]
    fn word(&self, address: u64) -> &'static AtomicU32 {
        // SAFETY: the address lies in a frame, which is RAM in the direct map, and is aligned; the
        // word is an atomic, so that programs may write it meanwhile.
        unsafe { &*direct::<AtomicU32>(address) }
    }

    #[inline(always)]
    fn clear(&self, address: u64, words: usize) {
        // SAFETY: a frame that nothing else uses, in the direct map.
        unsafe {
            asm!(
                "rep stosq",
                inout("rcx") words => _, inout("rdi") direct::<u64>(address) => _,
                in("rax") 0u64, options(nostack),
            );
        }
    }

    #[inline(always)]
    fn copy(&self, from: u64, to: u64, first: usize, end: usize) {
        assert!(first <= end && end <= BUFFER_WORDS);
        let at = 8 * first as u64;
        // SAFETY: two frames in the direct map, and words within them; programs may write them
        // meanwhile, and nothing depends on what arrives.
        unsafe {
            asm!(
                "rep movsq",
                inout("rcx") end - first => _, inout("rsi") direct::<u64>(from + at) => _,
                inout("rdi") direct::<u64>(to + at) => _, options(nostack),
            );
        }
    }

    #[inline(always)]
    fn console_room(&self) -> usize {
        uart::room()
    }

    #[inline(always)]
    fn console_put(&self, byte: u8) {
        uart::put(byte);
    }

    #[inline(always)]
    fn console_wants(&self, on: bool) {
        uart::set_source(uart::SENT, on);
    }

    fn console_flush(&self) {
        uart::flush();
    }

    fn console_read(&self) -> Option<u8> {
        uart::read()
    }

    fn counter(&self) -> (u64, u64) {
        (self.clock.hz.get(), self.clock.start.get())
    }

    fn kernel_facts(&self) -> (u64, u64) {
        (self.text.get(), self.boot.get())
    }

    fn shutdown(&self, status: u32) -> ! {
        exit(status)
    }

    fn forget(&self, local: &Local, thread: &Context) {
        local.special.forget(thread);
    }

    #[inline(always)]
    fn enter(&self, local: &Local, thread: &Context, kept: &Kept, entry: u64, stack: u64) {
        if thread.special.get() != 0 {
            local.special.put_aside(thread, kept);
        }
        thread.enter(kept, entry, stack);
    }

    #[inline(always)]
    fn come_back(&self, local: &Local, thread: &Context, kept: &Kept) {
        if thread.special.get() | kept.special.get() != 0 {
            local.special.take_back(thread, kept);
        }
        thread.come_back(kept);
    }

    #[inline(always)]
    fn is_plain(&self, local: &Local, thread: &Context, kept: &Kept) -> bool {
        thread.special.get() == 0 && kept.special.get() == 0 && local.special.live.get() == 0
    }

    fn give_up(&self, kept: &Kept) {
        kept.special.set(0);
        kept.pointer.set(0);
    }

    #[cfg(feature = "smp")]
    fn save_lazy_state(&self, local: &Local, thread: &Context) {
        local.special.save_lazy_state(thread);
    }

    #[cfg(feature = "smp")]
    fn send_ipi(&self, cpu: u32) {
        apic::send_ipi(cpu);
    }

    #[cfg(feature = "statistics")]
    fn statistics<R>(&self, cpu: u32, look: impl FnOnce(&Statistics) -> R) -> Option<R> {
        Some(look(&self.statistics[cpu as usize]))
    }

    #[cfg(any(feature = "log", feature = "statistics"))]
    #[inline(always)]
    fn cost(step: kernel::cost::CostEvent) {
        #[cfg(feature = "log")]
        crate::log::write(step);
        #[cfg(feature = "statistics")]
        crate::state::PORT.0.count(crate::state::number(), step);
    }

    #[cfg(all(feature = "smp", feature = "statistics"))]
    fn cost_at(cpu: u32, step: kernel::cost::CostEvent) {
        #[cfg(feature = "log")]
        crate::log::write(step);
        crate::state::PORT.0.count(cpu, step);
    }
}

#[cfg(feature = "statistics")]
impl X86 {
    /// Counts a step of a CPU.
    #[inline(always)]
    fn count(&self, cpu: u32, step: kernel::cost::CostEvent) {
        // There are no more of them; the mask saves the check.
        self.statistics[cpu as usize & (crate::segments::CPUS - 1)]
            .step(cpu, step, || self.stamp());
    }
}

/// Ends the run.
pub fn exit(status: u32) -> ! {
    uart::flush();
    // SAFETY: QEMU's exit device; elsewhere the write goes nowhere.
    unsafe { out32(EXIT, status) };
    halt()
}
