//! The counter that everything is measured with.

use rustix::time::{ClockId, clock_gettime};
use std::arch::asm;
use std::arch::x86_64::__cpuid;
use std::time::{Duration, Instant};

/// The time stamp counter, read in the middle of things.
#[inline(always)]
pub fn now() -> u64 {
    let (low, high): (u64, u64);
    // SAFETY: reads a counter; the upper halves of both registers become zero.
    unsafe { asm!("rdtsc", out("rax") low, out("rdx") high, options(nomem, nostack)) };
    high << 32 | low
}

/// The counter when all that stands before has been done and nothing behind has begun.
#[inline(always)]
pub fn settled() -> u64 {
    let (low, high): (u64, u64);
    // SAFETY: reads a counter between two fences. It may not move across memory accesses, so the
    // compiler is told that it touches memory.
    unsafe {
        asm!("lfence", "rdtsc", "lfence", out("rax") low, out("rdx") high, options(nostack));
    }
    high << 32 | low
}

/// Ticks between two settled reads with nothing in between: the least of many.
pub fn overhead() -> u64 {
    (0..1000).map(|_| (settled(), settled())).map(|(a, b)| b - a).min().unwrap_or(0)
}

/// Ticks of the counter in a second, by the host's clock.
pub fn hertz() -> u64 {
    let pair = || {
        // The closest of several pairs: the host may interrupt between the two reads.
        let pairs = (0..16).map(|_| {
            let before = settled();
            let instant = Instant::now();
            let after = settled();
            (after - before, before + (after - before) / 2, instant)
        });
        let (_, ticks, instant) = pairs.min_by_key(|(gap, ..)| *gap).expect("sixteen pairs");
        (ticks, instant)
    };
    let (first, begun) = pair();
    std::thread::sleep(Duration::from_millis(50));
    let (last, ended) = pair();
    let nanoseconds = (ended - begun).as_nanos();
    (u128::from(last - first) * 1_000_000_000 / nanoseconds) as u64
}

/// What the processor calls itself.
pub fn processor() -> String {
    const NAME: [u32; 3] = [0x8000_0002, 0x8000_0003, 0x8000_0004];
    if __cpuid(0x8000_0000).eax < NAME[2] {
        return "unknown".to_string();
    }
    let words = NAME.map(__cpuid).map(|found| [found.eax, found.ebx, found.ecx, found.edx]);
    let bytes: Vec<u8> = words.iter().flatten().flat_map(|word| word.to_le_bytes()).collect();
    String::from_utf8_lossy(&bytes).trim_matches(['\0', ' ']).to_string()
}

/// An instant of the calling thread: the host's clock, and the thread's own.
pub struct HostTime {
    clock: u64,
    own: u64,
}

impl HostTime {
    /// This instant.
    pub fn now() -> HostTime {
        let read = |clock| {
            let time = clock_gettime(clock);
            time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
        };
        HostTime { clock: read(ClockId::Monotonic), own: read(ClockId::ThreadCPUTime) }
    }

    /// Nanoseconds since then for which the thread did not run.
    pub fn lost(&self) -> u64 {
        let now = HostTime::now();
        (now.clock - self.clock).saturating_sub(now.own - self.own)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_that_sleeps_does_not_run() {
        let begun = HostTime::now();
        std::thread::sleep(Duration::from_millis(5));
        assert!(begun.lost() > 4_000_000);
    }

    #[test]
    fn the_counter_goes_on() {
        let (first, second, third) = (settled(), now(), settled());
        assert!(first <= second && second <= third);
        assert!(hertz() > 100_000_000, "a processor of this century");
    }
}
