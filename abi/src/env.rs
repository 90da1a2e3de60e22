//! The environment that a program starts with: a read-only text of `key=value` lines.
//!
//! The keys are `name` (the domain's), `cap.NAME` (a slot), `mem.NAME` (address and bytes, both
//! hexadecimal, separated by a colon), `log` (the same, of the domain's log), `arg.NAME` (free
//! text), `adaptive.NAME` (how the budget of a reservation follows demand,
//! [`Adaptive`](crate::adaptive::Adaptive)), `threads` (for how many threads there is room),
//! `stacks` (the top address of the first thread's stack and how far below the next one's lies,
//! hexadecimal), `buffers` (the address of the first thread's message buffer and how far above the
//! next one's lies, hexadecimal), `heap` (address and bytes of the memory for a heap, hexadecimal;
//! left out if there is none), `slots` (the first slot that the program may use for itself and the
//! first beyond its table, decimal) and `priority` (the first thread's). A colon separates two
//! numbers.

/// Looks the value of `key` up in an environment text.
pub fn get<'a>(text: &'a str, key: &str) -> Option<&'a str> {
    text.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix('='))
}

/// Looks up `prefix` followed by `name`, for instance `cap.` and `server`.
pub fn get_in<'a>(text: &'a str, prefix: &str, name: &str) -> Option<&'a str> {
    text.lines().find_map(|line| line.strip_prefix(prefix)?.strip_prefix(name)?.strip_prefix('='))
}

/// Parses two numbers in the given radix, separated by a colon.
pub fn pair(value: &str, radix: u32) -> Option<(u64, u64)> {
    let (a, b) = value.split_once(':')?;
    Some((u64::from_str_radix(a, radix).ok()?, u64::from_str_radix(b, radix).ok()?))
}
