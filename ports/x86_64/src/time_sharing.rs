//! Time slices for an emulator on which all CPUs share one clock and run one after the other: there
//! a CPU that does not pause keeps all that come behind it from running. The interval timer
//! interrupts all CPUs, and of those that do not idle one at a time goes on.
//!
//! The command line asks for it with `slices=NANOSECONDS`; a machine whose CPUs run truly in
//! parallel needs none of this.

use crate::machine::{counter, out8};
use crate::{apic, state};
use core::sync::atomic::Ordering::Relaxed;
use core::sync::atomic::{AtomicU32, AtomicU64};
use section::init;

const PIT_HZ: u64 = 1_193_182;

/// CPUs that do not idle, a bit each.
static BUSY: AtomicU32 = AtomicU32::new(0);
/// Whose turn it is.
static TURN: AtomicU32 = AtomicU32::new(0);
/// The counter when it became so.
static SINCE: AtomicU64 = AtomicU64::new(0);
/// Counter steps that a slice has at least.
static LEAST: AtomicU64 = AtomicU64::new(0);

/// Starts the slices.
#[init]
pub fn set_up(length: Option<&str>) {
    let Some(ns) = length.and_then(|length| length.parse::<u64>().ok()) else { return };
    let steps = (ns * PIT_HZ / 1_000_000_000).clamp(2, 0xffff) as u16;
    let [low, high] = steps.to_le_bytes();
    // SAFETY: the interval timer's ports; boot has measured with it and needs it no more.
    unsafe {
        out8(0x43, 0x34);
        out8(0x40, low);
        out8(0x40, high);
    }
    LEAST.store(ns * state::PORT.0.clock.hz.get() / 1_000_000_000 / 2, Relaxed);
    apic::route_slices();
}

/// This CPU is going to idle, or to run something.
#[inline(always)]
pub fn note(number: u32, idles: bool) {
    let noted = BUSY.load(Relaxed) >> number & 1 == 0;
    if noted != idles {
        BUSY.fetch_xor(1 << number, Relaxed);
    }
}

/// A slice is over: waits for this CPU's turn, outside the kernel.
pub fn turn() {
    let own = state::machine().cpu.number;
    if BUSY.load(Relaxed) >> own & 1 == 0 {
        return;
    }
    // An interrupt that has waited while this CPU did is not the end of its slice.
    if TURN.load(Relaxed) == own && counter() - SINCE.load(Relaxed) < LEAST.load(Relaxed) {
        return;
    }
    pass(own);
    loop {
        // It pauses in its own turn, too: QEMU goes on to the next CPU then, which may idle and
        // have been sent an interrupt. Without that the first CPU executes all the instructions
        // that there are up to the next timer, and those behind it get none.
        core::hint::spin_loop();
        let turn = TURN.load(Relaxed);
        if turn == own {
            return;
        }
        if BUSY.load(Relaxed) >> turn & 1 == 0 {
            pass(turn);
        }
    }
}

/// Gives the turn to the next CPU that does not idle, if it is that of `from`.
fn pass(from: u32) {
    let busy = BUSY.load(Relaxed);
    let behind = busy & !((2u32 << from).wrapping_sub(1));
    let next = if behind != 0 { behind } else { busy }.trailing_zeros();
    if next < u32::BITS {
        // A CPU that has passed it on has done the same.
        if TURN.compare_exchange(from, next, Relaxed, Relaxed).is_ok() {
            SINCE.store(counter(), Relaxed);
        }
    }
}
