//! Time: instants, sleeping, lengths of time as literals.
//!
//! The raw functions ([`system::clock`], [`system::sleep_until`]) count nanoseconds; these say what
//! a number means.
//!
//! ```no_run
//! use rt::prelude::*;
//! use rt::time::{self, Instant};
//!
//! let begun = Instant::now();
//! time::sleep(50.us());
//! assert!(begun.elapsed() >= 50.us());
//! time::sleep_until(begun + 2.ms());
//! ```

use crate::system;
use core::ops::{Add, Sub};
use core::time::Duration;

/// Nanoseconds in a second.
const SECOND: u64 = 1_000_000_000;

/// An instant: nanoseconds since boot, from 0 to `u64::MAX` (584 years), which stands for never.
/// Operators saturate at both ends; the `checked_` functions say when an instant does not exist.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Instant(u64);

impl Instant {
    /// Boot.
    pub const BOOT: Instant = Instant(0);
    /// The last instant. Waiting for it never ends.
    pub const NEVER: Instant = Instant(u64::MAX);

    /// The present: one system call.
    pub fn now() -> Instant {
        Instant(system::clock())
    }

    /// The instant so many nanoseconds after boot.
    pub const fn from_nanos(nanoseconds: u64) -> Instant {
        Instant(nanoseconds)
    }

    /// Nanoseconds since boot, as system calls take it.
    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    /// How long ago this instant was; zero if it is still to come.
    pub fn elapsed(self) -> Duration {
        Instant::now() - self
    }

    /// The instant so much later; none after the last one.
    pub const fn checked_add(self, length: Duration) -> Option<Instant> {
        match nanos_checked(length) {
            Some(length) => match self.0.checked_add(length) {
                Some(sum) => Some(Instant(sum)),
                None => None,
            },
            None => None,
        }
    }

    /// The instant so much earlier; none before boot.
    pub const fn checked_sub(self, length: Duration) -> Option<Instant> {
        match nanos_checked(length) {
            Some(length) => match self.0.checked_sub(length) {
                Some(rest) => Some(Instant(rest)),
                None => None,
            },
            None => None,
        }
    }

    /// The instant so much later, [`Instant::NEVER`] at most: what `+` does.
    pub const fn saturating_add(self, length: Duration) -> Instant {
        Instant(self.0.saturating_add(nanos(length)))
    }

    /// The instant so much earlier, [`Instant::BOOT`] at least: what `-` does.
    pub const fn saturating_sub(self, length: Duration) -> Instant {
        Instant(self.0.saturating_sub(nanos(length)))
    }

    /// How much later this is than `earlier`; none if it is not later or the same.
    pub const fn checked_duration_since(self, earlier: Instant) -> Option<Duration> {
        match self.0.checked_sub(earlier.0) {
            Some(length) => Some(Duration::from_nanos(length)),
            None => None,
        }
    }

    /// How much later this is than `earlier`; zero if it is earlier.
    pub const fn duration_since(self, earlier: Instant) -> Duration {
        Duration::from_nanos(self.0.saturating_sub(earlier.0))
    }
}

impl Add<Duration> for Instant {
    type Output = Instant;

    /// [`Instant::saturating_add`].
    fn add(self, length: Duration) -> Instant {
        self.saturating_add(length)
    }
}

impl Sub<Duration> for Instant {
    type Output = Instant;

    /// [`Instant::saturating_sub`].
    fn sub(self, length: Duration) -> Instant {
        self.saturating_sub(length)
    }
}

impl Sub<Instant> for Instant {
    type Output = Duration;

    /// [`Instant::duration_since`].
    fn sub(self, earlier: Instant) -> Duration {
        self.duration_since(earlier)
    }
}

/// Waits for some time; [`Duration::MAX`] is for ever. No shorter, and as much longer as higher
/// threads need.
pub fn sleep(length: Duration) {
    sleep_until(Instant::now() + length);
}

/// Waits until an instant; at once if it has passed.
pub fn sleep_until(instant: Instant) {
    system::sleep_until(instant.as_nanos());
}

/// A length of time in nanoseconds, `u64::MAX` at most.
pub(crate) const fn nanos(length: Duration) -> u64 {
    match nanos_checked(length) {
        Some(nanoseconds) => nanoseconds,
        None => u64::MAX,
    }
}

const fn nanos_checked(length: Duration) -> Option<u64> {
    match length.as_secs().checked_mul(SECOND) {
        Some(seconds) => seconds.checked_add(length.subsec_nanos() as u64),
        None => None,
    }
}

/// Lengths of time as literals: `50.us()`. Nothing overflows: the longest, `u64::MAX.s()`, is
/// [`Duration::MAX`] but for a fraction of a second.
pub trait Units {
    /// Nanoseconds.
    fn ns(self) -> Duration;
    /// Microseconds.
    fn us(self) -> Duration;
    /// Milliseconds.
    fn ms(self) -> Duration;
    /// Seconds.
    fn s(self) -> Duration;
}

impl Units for u64 {
    #[inline]
    fn ns(self) -> Duration {
        Duration::from_nanos(self)
    }

    #[inline]
    fn us(self) -> Duration {
        Duration::from_micros(self)
    }

    #[inline]
    fn ms(self) -> Duration {
        Duration::from_millis(self)
    }

    #[inline]
    fn s(self) -> Duration {
        Duration::from_secs(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn literals_are_lengths() {
        assert_eq!((1.ms(), 50.us()), (Duration::from_millis(1), Duration::from_micros(50)));
        assert_eq!((2.s(), 7.ns()), (Duration::from_secs(2), Duration::from_nanos(7)));
        assert_eq!(nanos(u64::MAX.s()), u64::MAX);
        assert_eq!(nanos(u64::MAX.ns()), u64::MAX);
    }

    proptest! {
        #[test]
        fn arithmetic_saturates_or_says_so(at: u64, seconds: u64, part in 0u32..1_000_000_000) {
            let (instant, length) = (Instant(at), Duration::new(seconds, part));
            let exact = u128::from(at) + length.as_nanos();
            let sum = u64::try_from(exact).ok().map(Instant);
            prop_assert_eq!(instant.checked_add(length), sum);
            prop_assert_eq!(instant + length, sum.unwrap_or(Instant::NEVER));
            let rest = u128::from(at).checked_sub(length.as_nanos()).map(|rest| rest as u64);
            prop_assert_eq!(instant.checked_sub(length), rest.map(Instant));
            prop_assert_eq!(instant - length, rest.map_or(Instant::BOOT, Instant));
        }

        #[test]
        fn a_difference_leads_back(a: u64, b: u64) {
            let (first, last) = (Instant(a.min(b)), Instant(a.max(b)));
            prop_assert_eq!(first + (last - first), last);
            prop_assert_eq!(first.checked_duration_since(last).is_some(), a == b);
            prop_assert_eq!(first - last, Duration::ZERO);
        }
    }
}
