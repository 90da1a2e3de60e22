//! The guards of a kernel that one CPU enters.

/// A way to guard the kernel that needs no state.
pub trait Locking: 'static {
    /// Name in reports.
    const NAME: &'static str;
    /// Whether at most one CPU is inside the kernel at a time.
    const EXCLUSIVE: bool;
    /// Called on every kernel entry, before any object is touched.
    fn begin();
    /// Called before the hardware part of a switch, after the last object was touched.
    fn end();
}

/// One CPU, interrupts off in the kernel: nothing to guard (S1-02).
pub struct Unlocked;

impl Locking for Unlocked {
    const NAME: &'static str = "none";
    const EXCLUSIVE: bool = true;
    #[inline(always)]
    fn begin() {}
    #[inline(always)]
    fn end() {}
}
