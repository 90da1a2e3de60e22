//! One value per cache line.

use core::ops::Deref;

/// A value that shares its cache line with nothing else.
#[derive(Debug, Default)]
#[repr(align(64))]
pub struct Line<T>(T);

impl<T> Line<T> {
    /// Gives `value` a line of its own.
    pub const fn new(value: T) -> Line<T> {
        Line(value)
    }
}

impl<T> Deref for Line<T> {
    type Target = T;
    #[inline(always)]
    fn deref(&self) -> &T {
        &self.0
    }
}
