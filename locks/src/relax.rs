//! What a CPU does while it waits for another one.

/// Called once per round of every spin loop, and never where nothing is waited for.
///
/// An emulator on which all CPUs share one clock must let another one run; a simulation suspends
/// the simulated CPU; a processor is told that it spins.
pub trait Relax: 'static {
    /// Lets others go on.
    fn relax();
}

/// Tells the processor that it spins, for CPUs that run truly in parallel.
pub struct Pause;

impl Relax for Pause {
    #[inline(always)]
    fn relax() {
        core::hint::spin_loop();
    }
}
