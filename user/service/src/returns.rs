//! What a method returns: a result, or a value alone.

use crate::Wire;
use core::convert::Infallible;

/// What a method may return.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be answered in a message",
    label = "has no `Wire`, nor is it a `Result` of two types that have it",
    note = "structures and enumerations get it by `#[derive(Wire)]`"
)]
pub trait Returns: Sized {
    /// The value.
    type Value: Wire;
    /// What it fails with.
    type Error: Wire;

    /// The result.
    fn result(self) -> Result<Self::Value, Self::Error>;
}

impl<T: Wire, E: Wire> Returns for Result<T, E> {
    type Value = T;
    type Error = E;

    #[inline(always)]
    fn result(self) -> Result<T, E> {
        self
    }
}

impl<T: Wire> Returns for T {
    type Value = T;
    type Error = Infallible;

    #[inline(always)]
    fn result(self) -> Result<T, Infallible> {
        Ok(self)
    }
}
