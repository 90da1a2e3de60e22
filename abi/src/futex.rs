//! Mutexes and conditions in user memory (S2H-10, S2H-11): two 32-bit words, aligned to 8 bytes.
//!
//! | word | mutex | condition |
//! |---|---|---|
//! | first | [`WAITERS`] and the owner's id, or 0 | how many wake-ups there were, modulo 2^32 |
//! | second | id of the first waiter, or 0 | the same |
//!
//! Inheriting ones (S2G-02) have the same words; a condition's helpers are told by each wait.
//! Both words of a new one are 0. Programs change the first word alone, by compare-and-swap, and
//! that of a mutex only while [`WAITERS`] is clear.

use crate::call::{Call, SEND_TIMEOUT_SHIFT, Timeout};

/// Set in a mutex while threads wait for it. The other bits are the owner's id, 1 to 2^31 - 1.
pub const WAITERS: u32 = 1 << 31;

/// The result of a wait for an inheriting mutex whose last owner has ended: what the mutex protects
/// may be halfway through a change.
pub const OWNER_DIED: u64 = 1;

/// No priority that a thread has at least: it gives up its ceiling (priority ceiling protocol). Of
/// several mutexes with ceilings that a thread owns, the highest one counts.
pub const NO_CEILING: u64 = u64::MAX;

/// How many threads may help one inheriting condition (S2G-02).
pub const HELPERS: usize = 4;

/// The arguments that tell the helpers of a condition: two ids in each, the first in its low half,
/// 0 for none.
pub const fn helpers(ids: [u32; HELPERS]) -> [u64; 2] {
    [ids[0] as u64 | (ids[1] as u64) << 32, ids[2] as u64 | (ids[3] as u64) << 32]
}

/// The ids in such arguments.
pub const fn helpers_in(arguments: [u64; 2]) -> [u32; HELPERS] {
    let [first, second] = arguments;
    [first as u32, (first >> 32) as u32, second as u32, (second >> 32) as u32]
}

/// Where the bit of the scope stands in the number word of a futex call: 1 is [`Scope::Shared`].
pub const SCOPE_SHIFT: u32 = 16;

/// Which threads use a mutex or condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Scope {
    /// Those of one domain, at one address.
    Domain = 0,
    /// Those of any domain that has the memory mapped writable, at whatever addresses.
    Shared = 1,
}

/// The number word of a futex call.
pub const fn number(call: Call, scope: Scope, timeout: Timeout) -> u64 {
    call as u64 | (timeout as u64) << SEND_TIMEOUT_SHIFT | (scope as u64) << SCOPE_SHIFT
}
