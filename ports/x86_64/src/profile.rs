//! A statistical profiler, for images that are built for it (S0-42): the interval timer comes
//! back as a non-maskable interrupt, so that samples fall inside the kernel too. The laboratory
//! finds them by their symbol.
//!
//! One sample is taken at a random instant inside every block of time. The handler runs on a
//! stack of its own, reads which thread is current, and writes nothing but the samples.

use crate::machine::{counter, in8, out8};
use crate::{apic, state};
use core::arch::naked_asm;
use core::cell::UnsafeCell;
use core::sync::atomic::AtomicU64;
use core::sync::atomic::Ordering::Relaxed;
use section::init;

const PIT_HZ: u64 = 1_193_182;
/// Blocks that the interval timer can span two of, and that are longer than the handler, in
/// nanoseconds.
const PERIODS: core::ops::RangeInclusive<u64> = 10_000..=25_000_000;
/// Samples that there is room for; later ones are only counted.
const ROOM: usize = 1 << 19;

/// In a sample's second word: the kernel was interrupted.
const KERNEL: u64 = 1 << 62;
/// In a sample's second word: the kernel was interrupted while it idled.
const IDLE: u64 = 1 << 63;

/// Interrupts were on: in the kernel while it idles, and for an instant before it resumes a thread.
const INTERRUPTS_ON: u64 = 1 << 9;

/// What the laboratory reads: eight words, then samples of two words.
#[repr(C)]
struct Samples {
    /// Samples written.
    count: AtomicU64,
    /// Samples that found no room.
    dropped: AtomicU64,
    /// Blocks that were over before their sample could be asked for.
    missed: AtomicU64,
    /// Length of a block in counter steps; 0: no samples are taken.
    period: AtomicU64,
    /// Counter steps a second.
    hz: AtomicU64,
    /// Samples that there is room for.
    room: AtomicU64,
    /// Counter steps spent taking samples.
    spent: AtomicU64,
    /// Instants, for the next sample: where its block starts.
    block: AtomicU64,
    /// Interrupted instruction; thread, domain << 32, and flags.
    samples: [[AtomicU64; 2]; ROOM],
}

/// The samples of this machine's one CPU.
// SAFETY: no other symbol has this name.
#[unsafe(no_mangle)]
static PROFILE: Samples = Samples {
    count: AtomicU64::new(0),
    dropped: AtomicU64::new(0),
    missed: AtomicU64::new(0),
    period: AtomicU64::new(0),
    hz: AtomicU64::new(0),
    room: AtomicU64::new(0),
    spent: AtomicU64::new(0),
    block: AtomicU64::new(0),
    samples: [const { [const { AtomicU64::new(0) }; 2] }; ROOM],
};

/// State of the random generator.
static RANDOM: AtomicU64 = AtomicU64::new(0);
/// Steps of the interval timer in a counter step, times 2^32.
static STEPS: AtomicU64 = AtomicU64::new(0);

const STACK: usize = 8192;

#[repr(C, align(16))]
struct Stack(UnsafeCell<[u8; STACK]>);

// SAFETY: only the CPU uses it, by its address.
unsafe impl Sync for Stack {}

static HANDLER_STACK: Stack = Stack(UnsafeCell::new([0; STACK]));

/// The top of the handler's stack.
#[init]
pub fn stack() -> u64 {
    HANDLER_STACK.0.get().expose_provenance() as u64 + STACK as u64
}

/// What lies on the stack when a sample is taken.
#[repr(C)]
struct Frame {
    saved: [u64; 9],
    rip: u64,
    cs: u64,
    rflags: u64,
}

/// Starts to take samples if the command line asks for them: `profile=NANOSECONDS`, and
/// `profile_seed=NUMBER`.
#[init]
pub fn set_up(option: impl Fn(&str) -> Option<&'static str>) {
    let Some(period) = option("profile") else { return };
    let period = period.parse().unwrap_or(0);
    assert!(PERIODS.contains(&period), "profile= takes 10000 to 25000000 nanoseconds");
    let seed = option("profile_seed").and_then(|seed| seed.parse().ok()).unwrap_or(1u64);
    let hz = state::PORT.0.clock.hz.get();
    RANDOM.store(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1, Relaxed);
    STEPS.store(((u128::from(PIT_HZ) << 32) / u128::from(hz)) as u64, Relaxed);
    PROFILE.hz.store(hz, Relaxed);
    PROFILE.room.store(ROOM as u64, Relaxed);
    PROFILE.block.store(counter(), Relaxed);
    PROFILE.period.store((u128::from(period) * u128::from(hz) / 1_000_000_000) as u64, Relaxed);
    // SAFETY: the interval timer's mode: one interrupt when a count has run down.
    unsafe { out8(0x43, 0x30) };
    apic::route_samples();
    arm();
}

/// Entry of the non-maskable interrupt, which may come at any instruction: it relies on no
/// register and no segment, and needs no stack but its own.
#[unsafe(naked)]
pub extern "sysv64" fn entry() {
    naked_asm!(
        "push r11",
        "push r10",
        "push r9",
        "push r8",
        "push rdi",
        "push rsi",
        "push rdx",
        "push rcx",
        "push rax",
        "cld",
        "mov rdi, rsp",
        "call {sample}",
        "pop rax",
        "pop rcx",
        "pop rdx",
        "pop rsi",
        "pop rdi",
        "pop r8",
        "pop r9",
        "pop r10",
        "pop r11",
        "iretq",
        sample = sym sample,
    )
}

/// Writes a sample down and asks for the next one.
extern "sysv64" fn sample(frame: &Frame) {
    let start = counter();
    if PROFILE.period.load(Relaxed) == 0 || !run_down() {
        panic!("the machine reports an error of its own, exception 2");
    }
    let cpu = state::machine().cpu;
    let current = cpu.current.get();
    // SAFETY: the current thread and its domain lie in pools that stay; one word is read.
    let domain = unsafe { &*current.address() }.domain.get();
    let who = u64::from(current.index()) | u64::from(domain.index()) << 32;
    let idles = current == cpu.idle && frame.rflags & INTERRUPTS_ON != 0;
    let flags = match (frame.cs & 3 == 0, idles) {
        (false, _) => 0,
        (true, false) => KERNEL,
        (true, true) => KERNEL | IDLE,
    };
    let count = PROFILE.count.load(Relaxed);
    if let Some([at, by]) = PROFILE.samples.get(count as usize) {
        at.store(frame.rip, Relaxed);
        by.store(who | flags, Relaxed);
        PROFILE.count.store(count + 1, Relaxed);
    } else {
        PROFILE.dropped.store(PROFILE.dropped.load(Relaxed) + 1, Relaxed);
    }
    arm();
    PROFILE.spent.store(PROFILE.spent.load(Relaxed) + counter() - start, Relaxed);
}

/// Whether the interval timer has run down: the interrupt is its, and not the report of an error.
fn run_down() -> bool {
    // SAFETY: asks the interval timer's first channel for its status, and reads it.
    unsafe {
        out8(0x43, 0xe2);
        in8(0x40) & 0x80 != 0
    }
}

/// Asks for an interrupt at a random instant of the next block.
fn arm() {
    let period = PROFILE.period.load(Relaxed);
    let mut block = PROFILE.block.load(Relaxed);
    let now = counter();
    while block + period <= now {
        block += period;
        PROFILE.missed.store(PROFILE.missed.load(Relaxed) + 1, Relaxed);
    }
    let at = block + ((u128::from(random()) * u128::from(period)) >> 64) as u64;
    PROFILE.block.store(block + period, Relaxed);
    let steps = (u128::from(at.saturating_sub(now)) * u128::from(STEPS.load(Relaxed))) >> 32;
    let [low, high] = (steps.clamp(1, 0xffff) as u16).to_le_bytes();
    // SAFETY: the interval timer's first channel, whose IRQ is the samples' own.
    unsafe {
        out8(0x40, low);
        out8(0x40, high);
    }
}

/// The next number of the generator (xorshift64*).
fn random() -> u64 {
    let mut state = RANDOM.load(Relaxed);
    state ^= state >> 12;
    state ^= state << 25;
    state ^= state >> 27;
    RANDOM.store(state, Relaxed);
    state.wrapping_mul(0x2545_f491_4f6c_dd1d)
}
