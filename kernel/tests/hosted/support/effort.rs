//! How often properties are tried: as usual, or in proportion more or fewer times as
//! `PROPTEST_CASES` differs from its default. And how long runs are: Miri, which takes a thousand
//! times as long for each step, does few, and checks fewer of them.

use proptest::prelude::ProptestConfig;
use std::ops::Range;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Relaxed;

/// What `ProptestConfig` has unless the environment says otherwise.
const DEFAULT: u32 = 256;

/// So many cases, at least one.
pub fn cases(usual: u32) -> u32 {
    (u64::from(usual) * u64::from(ProptestConfig::default().cases) / u64::from(DEFAULT)).max(1)
        as u32
}

/// Whether Miri interprets the tests: runs are too short then to come upon everything.
pub const INTERPRETED: bool = cfg!(miri);

/// So many steps, or the hundredth part if Miri interprets them.
pub fn steps(usual: u64) -> u64 {
    if INTERPRETED { usual.div_ceil(100) } else { usual }
}

/// All of these, or every fourth if Miri interprets the tests.
pub fn some<T>(usual: &[T]) -> impl Iterator<Item = &T> {
    usual.iter().step_by(if INTERPRETED { 4 } else { 1 })
}

/// All of these seeds, or the first two if Miri interprets the tests.
pub fn seeds(usual: Range<u64>) -> Range<u64> {
    if INTERPRETED { usual.start..usual.end.min(usual.start + 2) } else { usual }
}

/// Whether invariants are checked here: always, or each 16th time if Miri interprets the tests, for
/// which a look at the whole kernel takes seconds.
pub fn checks() -> bool {
    static ASKED: AtomicU32 = AtomicU32::new(0);
    !INTERPRETED || ASKED.fetch_add(1, Relaxed).is_multiple_of(16)
}
