//! What an instruction does, as far as profiles ask.

/// Where the CPU goes on behind an instruction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Flow {
    /// Behind it, or where it jumps.
    #[default]
    On,
    /// In a function, which returns.
    Calls,
    /// Where the function was called.
    Returns,
    /// Nowhere, until it is interrupted.
    Halts,
}

/// What one execution of an instruction does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Does {
    /// Where the CPU goes on.
    pub flow: Flow,
    /// Whether it may go on elsewhere than behind it.
    pub branches: bool,
    /// How many operands it loads from memory, the stack's included; a repeated one counts once.
    pub loads: u64,
    /// How many it stores.
    pub stores: u64,
    /// Whether it reads the counter.
    pub reads_counter: bool,
}
