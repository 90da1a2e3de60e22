//! Giusto on x86_64: from the loader to the first program.
#![no_std]
#![no_main]

mod apic;
mod clock;
mod context;
mod entry;
mod fpu;
mod kernels;
mod left;
#[cfg(feature = "log")]
mod log;
mod machine;
mod paging;
mod panic;
mod port;
#[cfg(feature = "profile")]
mod profile;
mod protection;
mod pvh;
#[cfg(feature = "smp")]
mod secondary;
mod segments;
mod state;
#[cfg(feature = "smp")]
mod time_sharing;
mod traps;
mod uart;

use crate::paging::{Builder, DIRECT, IMAGE, Image, LIMIT, PAGE, direct};
use crate::port::X86;
use crate::pvh::{StartInfo, Stretch};
use abi::boot::{WORD_PROTECTION, WORD_ROOTS};
use core::cell::UnsafeCell;
use core::fmt::Write;
use core::sync::atomic::AtomicU64;
use kernel::arena::Arena;
use kernel::boot::{self, Archive};
use kernel::entry::Entry;
use kernel::events::Machine;
use kernel::port::Port;
use kernel::system::System;
use kernel::variant::Variant;
use section::init;

core::arch::global_asm!(include_str!("boot.s"));

unsafe extern "C" {
    static __image: u8;
    static __text: u8;
    static __text_end: u8;
    static __rodata_end: u8;
    static __stacks: u8;
    static __image_end: u8;
}

/// Tables of the kernel's half.
const TABLES: usize = 64;

#[repr(C, align(4096))]
struct BootTables(UnsafeCell<[[u64; 512]; TABLES]>);

// SAFETY: used by the only CPU, while it boots; then the tables belong to the hardware.
unsafe impl Sync for BootTables {}

static BOOT_TABLES: BootTables = BootTables(UnsafeCell::new([[0; 512]; TABLES]));

fn address(symbol: *const u8) -> u64 {
    symbol.expose_provenance() as u64
}

/// Called by the boot code with the loader's information and the counter at entry.
#[unsafe(no_mangle)]
#[init]
extern "sysv64" fn start(info: u64, counter: u64) -> ! {
    uart::set_up();
    let image = Image {
        init: address(&raw const __image),
        text: address(&raw const __text),
        text_end: address(&raw const __text_end).next_multiple_of(PAGE),
        constants_end: address(&raw const __rodata_end),
        stacks: address(&raw const __stacks),
        end: address(&raw const __image_end),
    };
    map_kernel(&image, info);
    protection::set_up();
    fpu::lock();
    // SAFETY: the loader's information is mapped now.
    let info = unsafe { StartInfo::new(info) };
    let port = &state::PORT.0;
    port.info.set(Some(info));
    port.text.set(address(&raw const __text_end) - image.text);
    apic::set_up();
    port.clock.set_up();
    let wanted = info.option("kernel").unwrap_or(kernels::DEFAULT);
    kernels::run(wanted, info, &image, counter)
}

/// Replaces the boot code's tables.
#[init]
fn map_kernel(image: &Image, info: u64) {
    let first = BOOT_TABLES.0.get().cast::<u8>();
    let mut next = address(first) - IMAGE;
    let end = next + (TABLES as u64) * PAGE;
    let frame = || {
        assert!(next < end, "the kernel's page tables do not suffice");
        next += PAGE;
        next - PAGE
    };
    // The boot code's tables map low memory at its own address; `paging` reaches tables through
    // the direct map, so this entry makes the first GiB appear there for now.
    // SAFETY: the boot code's root table, which nothing else uses any more.
    unsafe {
        let root: u64;
        core::arch::asm!("mov {}, cr3", out(reg) root);
        let root = core::ptr::with_exposed_provenance_mut::<u64>(root as usize);
        root.add((DIRECT >> 39) as usize & 511).write(root.read());
    }
    // SAFETY: the loader leaves its information below 1 GiB.
    let info = unsafe { StartInfo::new(info) };
    let root = Builder::new(frame).build(image, info.ram());
    // SAFETY: just built.
    unsafe { paging::activate(root) };
}

/// Builds the system for one kernel and starts it.
#[init]
fn run<S: System<Port = X86>>(info: StartInfo, image: &Image, counter: u64) -> ! {
    let mut out = uart::Uart;
    // Writing to the port cannot fail.
    uart::write(concat!("giusto ", env!("CARGO_PKG_VERSION"), ", kernel ").as_bytes());
    uart::write(S::NAME.as_bytes());
    uart::write(b"\n");
    #[cfg(feature = "elided")]
    if !<rtm::Rtm as locks::Transactions>::is_usable() {
        uart::write(b"locks: this processor has no transactions; the lock is always taken\n");
    }
    let (mut arena, archive) = memory(info, image);
    let machine = boot::carve(&state::PORT.0, Variant::of::<S>(), archive, &mut arena);
    state::set_machine(machine);
    #[cfg(feature = "chaos")]
    decide_by_chance(machine, info.option("decisions"));
    // The words at the top stay zero: the end of every chain of frames.
    machine.cpu.local.stack.set(segments::stacks(0).kernel - 16);
    #[cfg(feature = "smp")]
    machine.cpu.local.myself.set(Some(machine.cpu));
    #[cfg(feature = "profile")]
    let sample_stack = profile::stack();
    #[cfg(not(feature = "profile"))]
    let sample_stack = 0;
    // SAFETY: called once, interrupts off; stacks and entries are those of this image.
    unsafe {
        segments::load(0, sample_stack, traps::vectors::<S>());
        segments::set_entry(entry::address::<S>(), &raw const *machine.cpu as u64);
    }
    // Threads are released as they are built: all CPUs are there by then.
    #[cfg(feature = "smp")]
    {
        secondary::start::<S>(machine);
        time_sharing::set_up(info.option("slices"));
    }
    // SAFETY: interrupts are off and nothing else has entered the core.
    let core = unsafe { Entry::<S>::enter(machine.kernel, machine.cpu) };
    boot::build(&core.manage(), archive, &mut arena);
    drop(core);
    if let Some(first) = machine.kernel.domains.first() {
        // SAFETY: interrupts are off and nothing else has entered the core.
        let root = unsafe { (*first.address()).space.root() };
        archive.note(WORD_ROOTS, root);
    }
    archive.note(WORD_PROTECTION, protection::found());
    let steps = machine::counter() - counter;
    let _ = writeln!(out, "boot: {steps} counter steps to the first user instruction");
    state::PORT.0.boot.set(machine::counter() - counter);
    #[cfg(feature = "profile")]
    profile::set_up(|key| info.option(key));
    if X86::TRACE != 0 && machine.cpu.traced.get() {
        begin::<S::Observed>(machine, image)
    }
    begin::<S>(machine, image)
}

/// With `decisions=SEED` the scheduling tree decides by chance.
#[cfg(feature = "chaos")]
#[init]
fn decide_by_chance(machine: Machine<X86>, seed: Option<&str>) {
    let Some(seed) = seed.and_then(|seed| seed.parse().ok()) else { return };
    machine.kernel.trees.with(|tree| tree.set_chaos(seed));
    let _ = writeln!(uart::Uart, "decisions: by chance, seed {seed}");
}

/// Makes the first decision and leaves for the first program.
#[inline(always)]
fn begin<S: System<Port = X86>>(machine: Machine<X86>, image: &Image) -> ! {
    // SAFETY: interrupts are off and nothing else has entered the core.
    let next = unsafe { kernel::events::start::<S>(machine) };
    entry::begin::<S>(next, image)
}

/// The RAM that nothing uses yet, and the boot module.
#[init]
fn memory(info: StartInfo, image: &Image) -> (Arena, Archive) {
    let Some(module) = info.module() else { panic!("no boot module: start with -initrd ARCHIVE") };
    // SAFETY: the loader has left the module there; words are atomics, since the host may look.
    let words = unsafe {
        core::slice::from_raw_parts(direct::<AtomicU64>(module.at), module.bytes as usize / 8)
    };
    let kernel_end = image.end - IMAGE;
    let holds = |ram: &Stretch| ram.at < kernel_end && kernel_end < ram.at + ram.bytes;
    let Some(ram) = info.ram().find(holds) else { panic!("the kernel does not lie in RAM") };
    let mut end = (ram.at + ram.bytes).min(LIMIT);
    if (kernel_end..end).contains(&module.at) {
        end = module.at;
    }
    let end = end / PAGE * PAGE;
    // SAFETY: between the image's end and the module there is RAM that nothing uses, in the
    // direct map.
    let arena = unsafe {
        let bytes = (end - kernel_end) as usize;
        Arena::new(direct(kernel_end), bytes, kernel_end)
    };
    (arena, Archive::new(words))
}
