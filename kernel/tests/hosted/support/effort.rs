//! How often properties are tried: as usual, or in proportion more or fewer times as
//! `PROPTEST_CASES` differs from its default.

use proptest::prelude::ProptestConfig;

/// What `ProptestConfig` has unless the environment says otherwise.
const DEFAULT: u32 = 256;

/// So many cases, at least one.
pub fn cases(usual: u32) -> u32 {
    (u64::from(usual) * u64::from(ProptestConfig::default().cases) / u64::from(DEFAULT)).max(1)
        as u32
}
