//! A periodic release, for loops that do something at a rate.

use crate::time::{Instant, nanos, sleep_until};
use core::time::Duration;

/// Releases on a grid: the start plus 1, 2, 3... periods. What the loop does between two of them,
/// and how late it wakes, moves none of them.
///
/// ```no_run
/// use rt::prelude::*;
///
/// let mut ticker = Ticker::every(1.ms());
/// loop {
///     let missed = ticker.wait();
///     assert!(missed < 10, "the work takes too long");
/// }
/// ```
///
/// A release is missed if the loop does not wait for it: it is at work, or does not run, until
/// after that instant. A missed release is counted and left out, so a late loop does not catch up
/// with several rounds at once. Behind [`Instant::NEVER`] there are no releases: waiting never ends
/// then.
#[derive(Clone, Debug)]
pub struct Ticker {
    grid: Grid,
    missed: u64,
}

impl Ticker {
    /// A ticker whose first release is one period from now.
    ///
    /// # Panics
    ///
    /// If the period is zero. The longest is `u64::MAX` nanoseconds; longer ones are that long.
    #[track_caller]
    pub fn every(period: Duration) -> Ticker {
        Ticker::starting(Instant::now() + period, period)
    }

    /// A ticker whose first release is at an instant, which may have passed.
    ///
    /// # Panics
    ///
    /// If the period is zero.
    #[track_caller]
    pub fn starting(first: Instant, period: Duration) -> Ticker {
        let period = nanos(period);
        assert!(period > 0, "a ticker's period is longer than nothing");
        Ticker { grid: Grid { next: first.as_nanos(), period }, missed: 0 }
    }

    /// Sleeps until the next release, at least as late as now; returns how many were missed since
    /// the last wait. Two system calls.
    pub fn wait(&mut self) -> u64 {
        let missed = self.skip_to(Instant::now());
        sleep_until(self.pass());
        missed
    }

    /// The release that the next wait is for, unless it is missed.
    pub fn due(&self) -> Instant {
        Instant::from_nanos(self.grid.next)
    }

    /// Counts a release as done whose instant was waited for in another way, for instance as the
    /// deadline of a receive; returns its instant.
    pub fn pass(&mut self) -> Instant {
        Instant::from_nanos(self.grid.pass())
    }

    /// Leaves out the releases before an instant, and returns how many that were.
    pub fn skip_to(&mut self, now: Instant) -> u64 {
        let missed = self.grid.skip_to(now.as_nanos());
        self.missed = self.missed.saturating_add(missed);
        missed
    }

    /// All releases that were missed.
    pub fn missed(&self) -> u64 {
        self.missed
    }

    /// The distance of two releases.
    pub fn period(&self) -> Duration {
        Duration::from_nanos(self.grid.period)
    }
}

/// Instants at one distance, in nanoseconds; the last one is the end of time.
#[derive(Clone, Copy, Debug)]
struct Grid {
    next: u64,
    period: u64,
}

impl Grid {
    /// The next instant; the grid goes on behind it.
    fn pass(&mut self) -> u64 {
        let passed = self.next;
        self.next = passed.saturating_add(self.period);
        passed
    }

    /// Goes on at the first instant that is not before `now`; how many were.
    fn skip_to(&mut self, now: u64) -> u64 {
        let skipped = now.saturating_sub(self.next).div_ceil(self.period);
        self.next = self.next.saturating_add(skipped.saturating_mul(self.period));
        skipped
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::Units;
    use proptest::prelude::*;

    /// The instants that a loop waits for whose rounds take these times.
    fn releases(grid: &mut Grid, begin: u64, rounds: &[u64]) -> Vec<(u64, u64, u64)> {
        let mut now = begin;
        let round = |work: &u64| {
            let missed = grid.skip_to(now);
            let release = grid.pass();
            let asked = now;
            now = now.max(release).saturating_add(*work);
            (asked, release, missed)
        };
        rounds.iter().map(round).collect()
    }

    use std::vec::Vec;

    proptest! {
        #[test]
        fn never_drifts(
            start in 0..1u64 << 40,
            period in 1..1u64 << 30,
            rounds in prop::collection::vec(0..1u64 << 32, 1..50),
        ) {
            let mut grid = Grid { next: start, period };
            let mut count = 0;
            for (asked, release, missed) in releases(&mut grid, start, &rounds) {
                count += missed;
                prop_assert_eq!(release, start + count * period, "on the grid, all accounted for");
                prop_assert!(release >= asked && release - asked < period, "the next one");
                count += 1;
            }
        }

        #[test]
        fn saturates_and_never_goes_back(
            start: u64,
            period in 1u64..,
            begin: u64,
            rounds in prop::collection::vec(any::<u64>(), 1..50),
        ) {
            let mut grid = Grid { next: start, period };
            let mut before = 0;
            for (asked, release, _) in releases(&mut grid, begin, &rounds) {
                prop_assert!(release >= before && (release >= asked || release == u64::MAX));
                before = release;
            }
        }
    }

    #[test]
    fn the_present_is_not_missed() {
        let mut grid = Grid { next: 100, period: 10 };
        assert_eq!((grid.skip_to(99), grid.next), (0, 100));
        assert_eq!((grid.skip_to(100), grid.next), (0, 100));
        assert_eq!((grid.skip_to(101), grid.next), (1, 110));
        assert_eq!((grid.skip_to(140), grid.next), (3, 140));
        let mut longest = Grid { next: u64::MAX, period: u64::MAX };
        assert_eq!(
            (longest.pass(), longest.skip_to(u64::MAX), longest.next),
            (u64::MAX, 0, u64::MAX)
        );
    }

    #[test]
    fn skipped_releases_are_counted() {
        let at = |n: u64| Instant::BOOT + n.us();
        let mut ticker = Ticker::starting(at(10), 5.us());
        assert_eq!((ticker.skip_to(at(21)), ticker.due()), (3, at(25)));
        assert_eq!((ticker.pass(), ticker.skip_to(at(31)), ticker.missed()), (at(25), 1, 4));
        assert_eq!(ticker.period(), 5.us());
    }

    #[test]
    #[should_panic(expected = "longer than nothing")]
    fn no_period_is_refused() {
        Ticker::starting(Instant::BOOT, Duration::ZERO);
    }
}
