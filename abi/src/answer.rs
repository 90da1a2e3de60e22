//! Labels of answers to typed calls: what stubs in any language agree on.

/// The label of an answer with a value.
pub const DONE: u32 = 0;
/// The label of an answer with an error of the method's.
pub const REFUSED: u32 = 1;
/// The label of the answer to a request that is no call of the service: its label, its length or
/// one of its words means nothing.
pub const UNKNOWN: u32 = u32::MAX - 1;
/// The label of what a caller gets whose server made an answer that cannot be sent: too long, or
/// without the buffer that it needs, or with a capability that may not be passed on; or whose
/// server finds, when it answers, that its endpoint is gone.
pub const NOT_SENT: u32 = u32::MAX;
