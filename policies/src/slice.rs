//! Time slices: round robin among equals, in ticks (S0-05).

/// What is left of a time slice behind a tick.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Charged {
    /// Ticks that the thread may still run: of the next slice if this one is over.
    pub left: u32,
    /// Whether the slice is over, so that equals go first.
    pub expired: bool,
}

/// Takes a tick from a slice of which `left` ticks are left; the next slice has `slice` ticks.
#[inline(always)]
pub const fn charge(left: u32, slice: u32) -> Charged {
    let left = left.saturating_sub(1);
    let expired = left == 0;
    Charged { left: if expired { slice } else { left }, expired }
}

/// The first point of a grid of `tick` nanoseconds behind an instant.
#[inline(always)]
pub const fn next_tick(now: u64, tick: u64) -> u64 {
    (now / tick + 1) * tick
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_slice_of_n_ticks_ends_with_the_nth(slice in 1u32..50) {
            let mut left = slice;
            for tick in 1..=3 * slice {
                let charged = charge(left, slice);
                prop_assert_eq!(charged.expired, tick.is_multiple_of(slice));
                left = charged.left;
            }
        }

        #[test]
        fn the_next_tick_is_the_first_point_behind(now in 0u64..1 << 60, tick in 1u64..1 << 32) {
            let next = next_tick(now, tick);
            prop_assert!(next > now && next - now <= tick && next.is_multiple_of(tick));
        }
    }
}
