//! Time: the time stamp counter and the APIC timer, both measured against the interval timer.

use crate::apic;
use crate::machine::{counter, in8, out8};
use core::cell::Cell;
use section::init;

const PIT_HZ: u64 = 1_193_182;
/// Interval over which counters are measured, in steps of the interval timer: about a
/// millisecond.
const STEPS: u16 = 1193;
/// The longest wait that the timer is asked for, in nanoseconds.
const LONGEST: u64 = 1_000_000_000;
/// How often is measured at most.
const TRIES: usize = 16;
/// Polls after which the interval timer is given up; a poll takes at least a nanosecond.
const MOST_POLLS: u32 = 1 << 30;

/// Relates counters to nanoseconds.
pub struct Clock {
    /// Counter value at instant 0.
    pub start: Cell<u64>,
    /// Counter frequency in Hz.
    pub hz: Cell<u64>,
    /// Nanoseconds a counter step, times 2^32.
    ns: Cell<u64>,
    /// Timer steps a nanosecond, times 2^32.
    steps: Cell<u64>,
}

impl Clock {
    /// A clock that stands still.
    pub const fn new() -> Clock {
        let zero = Cell::new(0);
        Clock { start: zero, hz: Cell::new(0), ns: Cell::new(0), steps: Cell::new(0) }
    }

    /// Measures and starts.
    #[init]
    pub fn set_up(&self) {
        let (hz, timer_hz) = agreed();
        self.hz.set(hz);
        self.ns.set(((1_000_000_000u128 << 32) / u128::from(hz)) as u64);
        self.steps.set(((u128::from(timer_hz) << 32) / 1_000_000_000) as u64);
        self.start.set(counter());
    }

    /// Nanoseconds since boot.
    #[inline(always)]
    pub fn now(&self) -> u64 {
        let steps = counter() - self.start.get();
        ((u128::from(steps) * u128::from(self.ns.get())) >> 32) as u64
    }

    /// Asks for the timer interrupt. An instant beyond the timer's range interrupts early, and
    /// the core asks again.
    pub fn arm(&self, at: Option<u64>) {
        let Some(at) = at else { return apic::start_timer(0) };
        let wait = at.saturating_sub(self.now()).min(LONGEST);
        let steps = (u128::from(wait) * u128::from(self.steps.get())) >> 32;
        // Zero would stop it.
        apic::start_timer(steps as u32 | 1);
    }
}

/// The frequencies of counter and timer that two measurements agree on within a percent: a host
/// that stops the machine in the middle of one spoils it.
#[init]
fn agreed() -> (u64, u64) {
    let near = |a: u64, b: u64| a.abs_diff(b) * 100 <= b;
    let mut found = [(0, 0); TRIES];
    for tries in 0..TRIES {
        let (counted, timed) = measure();
        let hz = |steps: u64| rounded(steps * PIT_HZ / u64::from(STEPS));
        let (counter, timer) = (hz(counted), hz(timed));
        let same = |before: &(u64, u64)| near(before.0, counter) && near(before.1, timer);
        // A timer that counts too fast for its register was not measured well either.
        if timer >> 32 == 0 && found[..tries].iter().any(same) {
            return (counter, timer);
        }
        found[tries] = (counter, timer);
    }
    panic!("no two measurements of the clocks agree")
}

/// To the nearest megahertz, if that is within what the measurement can tell: such clocks come
/// in whole megahertz.
#[init]
fn rounded(hz: u64) -> u64 {
    let whole = (hz + 500_000) / 1_000_000 * 1_000_000;
    if whole.abs_diff(hz) * 500 < hz { whole.max(1_000_000) } else { hz }
}

/// Counter and timer steps in [`STEPS`] of the interval timer's first channel.
#[init]
fn measure() -> (u64, u64) {
    // SAFETY: the interval timer's ports; its IRQ is masked.
    unsafe {
        out8(0x43, 0x30);
        out8(0x40, 0xff);
        out8(0x40, 0xff);
    }
    apic::start_timer(u32::MAX);
    let first = interval_timer();
    let (start, timer) = (counter(), apic::timer_count());
    let mut polls = 0u32;
    while first.wrapping_sub(interval_timer()) < STEPS {
        polls += 1;
        assert!(polls < MOST_POLLS, "the interval timer does not count");
        core::hint::spin_loop();
    }
    let counted = counter() - start;
    let timed = timer - apic::timer_count();
    apic::start_timer(0);
    (counted, u64::from(timed))
}

/// The interval timer's count, which goes down.
#[init]
fn interval_timer() -> u16 {
    // SAFETY: as in `measure`.
    unsafe {
        out8(0x43, 0);
        let low = in8(0x40);
        u16::from_le_bytes([low, in8(0x40)])
    }
}
