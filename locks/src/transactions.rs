//! Hardware transactions, as a port offers them.

/// The instructions. A port implements them `#[inline(always)]`: when a transaction aborts, the
/// CPU goes on behind [`Transactions::begin`] with all registers and memory as they were there.
pub trait Transactions: 'static {
    /// Whether the port has such instructions at all.
    const AVAILABLE: bool;

    /// Whether the processor at hand has them; asked once, when a lock is made.
    fn is_usable() -> bool;

    /// Begins a transaction. Called only where the processor has them.
    fn begin() -> Attempt;

    /// Makes everything since [`Transactions::begin`] happen at once.
    fn commit();

    /// Gives the transaction up with a code. On a processor control goes on behind
    /// [`Transactions::begin`]; a model that cannot go back returns what `begin` would have.
    fn abort<const CODE: u8>() -> Abort;

    /// Whether this CPU is in a transaction.
    fn is_active() -> bool;

    /// Whether [`Transactions::begin`] has told of its last abort before: a model that goes back to
    /// where the section began tells of all of them again.
    #[inline(always)]
    fn is_told_again() -> bool {
        false
    }
}

/// What [`Transactions::begin`] comes back with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Attempt {
    /// The CPU is in a transaction.
    Started,
    /// A transaction was begun and has been undone.
    Aborted(Abort),
}

/// Why a transaction was undone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Abort {
    /// Another CPU touched a line that the transaction had touched.
    Conflict,
    /// The transaction touched more lines than the processor follows.
    Capacity,
    /// [`Transactions::abort`], with its code.
    Explicit(u8),
    /// The processor gives no reason: an interrupt, a fault, an instruction that it refuses.
    Unexplained,
    /// Another reason, such as a breakpoint or too deep a nesting.
    Other,
}

/// A port without transactions.
pub struct NoTransactions;

impl Transactions for NoTransactions {
    const AVAILABLE: bool = false;
    fn is_usable() -> bool {
        false
    }
    #[inline(always)]
    fn begin() -> Attempt {
        Attempt::Aborted(Abort::Other)
    }
    #[inline(always)]
    fn commit() {}
    #[inline(always)]
    fn abort<const CODE: u8>() -> Abort {
        Abort::Explicit(CODE)
    }
    #[inline(always)]
    fn is_active() -> bool {
        false
    }
}
