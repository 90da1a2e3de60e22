//! The log of the kernel's primitive steps, for images that are built to be compared with the
//! simulation. The laboratory finds it by its symbol.

use core::sync::atomic::AtomicU64;
use core::sync::atomic::Ordering::Relaxed;
use kernel::cost::CostEvent;

/// Steps that the log has room for; later ones are only counted.
const STEPS: usize = 1 << 18;

/// A log.
#[repr(C)]
pub struct Log {
    count: AtomicU64,
    steps: [AtomicU64; STEPS],
}

/// The log of this machine's one CPU.
// SAFETY: no other symbol has this name.
#[unsafe(no_mangle)]
static STEP_LOG: Log =
    Log { count: AtomicU64::new(0), steps: [const { AtomicU64::new(0) }; STEPS] };

/// Writes a step down.
pub fn write(step: CostEvent) {
    let count = STEP_LOG.count.load(Relaxed);
    if let Some(word) = STEP_LOG.steps.get(count as usize) {
        word.store(step.word(), Relaxed);
    }
    STEP_LOG.count.store(count + 1, Relaxed);
}
