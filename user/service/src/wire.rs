//! Values as words of a message.

mod groups;
mod simple;

use crate::{Incoming, Outgoing};

/// A value that travels in a message, as a number of words that its type says.
///
/// `#[derive(Wire)]` writes it for structures whose fields have it, and for enumerations whose
/// variants have no fields; these travel as their discriminants. By hand:
///
/// ```
/// use service::{Incoming, Outgoing, Wire};
///
/// /// A share of a whole, 0 to 100.
/// struct Percent(u8);
///
/// impl Wire for Percent {
///     const WORDS: usize = 1;
///
///     fn put(self, to: &mut Outgoing) {
///         self.0.put(to);
///     }
///
///     fn take(from: &mut Incoming) -> Option<Percent> {
///         u8::take(from).filter(|share| *share <= 100).map(Percent)
///     }
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot travel in a message",
    label = "has no `Wire`",
    note = "structures and enumerations get it by `#[derive(Wire)]`"
)]
pub trait Wire: Sized {
    /// Length in words: as many as `put` appends and `take` takes.
    const WORDS: usize;
    /// How many capabilities it may have; a message has one at most.
    const CAPABILITIES: usize = 0;

    /// Appends its words.
    fn put(self, to: &mut Outgoing);

    /// Takes its words; none if they are no value of the type. The other side chooses them.
    fn take(from: &mut Incoming) -> Option<Self>;
}
