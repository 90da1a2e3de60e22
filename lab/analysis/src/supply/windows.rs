//! The windows of a partition in a major frame.

use crate::error::require;
use crate::task::Work;
use crate::{AnalysisError, Time};

/// A window, in ns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Window {
    /// From the beginning of the major frame.
    pub offset: Time,
    /// Above zero.
    pub duration: Time,
}

/// The windows that one partition has, sorted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Windows {
    frame: Time,
    windows: Vec<Window>,
    /// The time in the windows before each one.
    before: Vec<Time>,
    total: Time,
    delay: Work,
}

impl Windows {
    /// Refuses windows that are empty, overlap, or leave the frame.
    pub(super) fn new(frame: Time, windows: &[Window]) -> Result<Windows, AnalysisError> {
        const NAME: &str = "windows";
        require(frame > 0, NAME, "major frame", "above zero", frame)?;
        require(!windows.is_empty(), NAME, "number of windows", "above zero", 0)?;
        let mut windows = windows.to_vec();
        windows.sort_unstable();
        let (mut end, mut total, mut before) = (0, 0, Vec::new());
        for Window { offset, duration } in &windows {
            require(*duration > 0, NAME, "duration", "above zero", 0)?;
            require(*offset >= end, NAME, "offset", "behind the window before", *offset)?;
            let fits = frame.checked_sub(*offset).is_some_and(|rest| *duration <= rest);
            require(fits, NAME, "duration", "within the major frame", *duration)?;
            before.push(total);
            total += duration;
            end = offset + duration;
        }
        let mut made = Windows { frame, windows, before, total, delay: 0 };
        made.delay = made.longest_delay();
        Ok(made)
    }

    pub(super) fn frame(&self) -> Time {
        self.frame
    }

    pub(super) fn total(&self) -> Time {
        self.total
    }

    pub(super) fn delay(&self) -> Work {
        self.delay
    }

    pub(super) fn terms(&self) -> usize {
        self.windows.len()
    }

    /// The time in windows from the beginning of a frame to `instant` of it.
    fn until(&self, instant: Time) -> Time {
        let after = self.windows.partition_point(|window| window.offset <= instant);
        after.checked_sub(1).map_or(0, |index| {
            let window = self.windows[index];
            self.before[index] + window.duration.min(instant - window.offset)
        })
    }

    /// An interval with the least supply begins where a window ends.
    fn worst_begins(&self) -> impl Iterator<Item = (Time, Time)> {
        let begin = |(window, before): (&Window, &Time)| {
            (window.offset + window.duration, before + window.duration)
        };
        self.windows.iter().zip(&self.before).map(begin)
    }

    pub(super) fn provided(&self, length: Time) -> Time {
        let (frames, rest) = (length / self.frame, length % self.frame);
        let from = |(begin, supplied): (Time, Time)| {
            let to_end = self.frame - begin;
            match rest.checked_sub(to_end) {
                Some(over) => self.total - supplied + self.until(over),
                None => self.until(begin + rest) - supplied,
            }
        };
        frames * self.total + self.worst_begins().map(from).min().unwrap_or(0)
    }

    /// When the windows of a frame have supplied `work`, above zero and at most their total.
    fn when(&self, work: Time) -> Time {
        let index = self.before.partition_point(|before| *before < work) - 1;
        self.windows[index].offset + (work - self.before[index])
    }

    /// `demand` is above zero.
    pub(super) fn time_for(&self, demand: Time) -> Option<Time> {
        let (frames, rest) = ((demand - 1) / self.total, (demand - 1) % self.total + 1);
        let from = |(begin, supplied): (Time, Time)| match self.total - supplied {
            left if rest <= left => self.when(supplied + rest) - begin,
            left => self.frame - begin + self.when(rest - left),
        };
        let rest = self.worst_begins().map(from).max()?;
        Time::try_from(Work::from(frames) * Work::from(self.frame) + Work::from(rest)).ok()
    }

    /// sbf is nearest to the line where a window begins.
    fn longest_delay(&self) -> Work {
        let at = |window: &Window| {
            let delay = |(begin, supplied): (Time, Time)| {
                let (length, work) = match window.offset.checked_sub(begin) {
                    Some(length) => (length, self.until(window.offset) - supplied),
                    None => (
                        self.frame - begin + window.offset,
                        self.total - supplied + self.until(window.offset),
                    ),
                };
                let covered = Work::from(work) * Work::from(self.frame) / Work::from(self.total);
                Work::from(length).saturating_sub(covered)
            };
            self.worst_begins().map(delay).max().unwrap_or(0)
        };
        self.windows.iter().map(at).max().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The supply of each instant of a frame.
    fn on(frame: Time, windows: &[Window]) -> Vec<bool> {
        let within = |instant: Time, window: &Window| {
            (window.offset..window.offset + window.duration).contains(&instant)
        };
        (0..frame).map(|instant| windows.iter().any(|window| within(instant, window))).collect()
    }

    /// The least supply over all beginnings, counted tick by tick.
    fn counted(on: &[bool], length: Time) -> Time {
        let from = |begin: usize| {
            let ticks = on.iter().cycle().skip(begin).take(length as usize);
            ticks.filter(|on| **on).count() as Time
        };
        (0..on.len()).map(from).min().unwrap()
    }

    prop_compose! {
        fn tables()(
            gaps in prop::collection::vec((0..5u64, 1..5u64), 1..5), rest in 0..5u64,
        ) -> (Time, Vec<Window>) {
            let mut end = 0;
            let window = |(gap, duration): &(Time, Time)| {
                let offset = end + gap;
                end = offset + duration;
                Window { offset, duration: *duration }
            };
            let windows = gaps.iter().map(window).collect();
            (end + rest, windows)
        }
    }

    proptest! {
        #[test]
        fn supply_is_what_counting_says((frame, table) in tables()) {
            let windows = Windows::new(frame, &table).unwrap();
            let on = on(frame, &table);
            let ticks: Vec<Time> = (0..3 * frame + 2).map(|length| counted(&on, length)).collect();
            for (length, counted) in (0..).zip(&ticks) {
                prop_assert_eq!(windows.provided(length), *counted, "{}", length);
            }
            for demand in 1..=2 * windows.total() {
                let first = ticks.iter().position(|supply| *supply >= demand).unwrap() as Time;
                prop_assert_eq!(windows.time_for(demand), Some(first), "{}", demand);
            }
        }

        #[test]
        fn the_line_after_the_delay_touches_the_supply((frame, table) in tables()) {
            let windows = Windows::new(frame, &table).unwrap();
            let ahead = |delay: Work| (0..2 * frame).any(|length| {
                let line = Work::from(length).saturating_sub(delay) * Work::from(windows.total);
                line > Work::from(windows.provided(length)) * Work::from(frame)
            });
            prop_assert!(!ahead(windows.delay()));
            prop_assert!(windows.delay() == 0 || ahead(windows.delay() - 1));
        }
    }

    #[test]
    fn tables_that_mean_nothing_are_refused() {
        let window = |offset, duration| Window { offset, duration };
        let refused =
            |frame, windows: &[Window]| Windows::new(frame, windows).unwrap_err().to_string();
        assert!(refused(0, &[window(0, 1)]).contains("major frame"));
        assert!(refused(9, &[]).contains("number"));
        assert!(refused(9, &[window(1, 0)]).contains("duration"));
        assert!(refused(9, &[window(0, 5), window(4, 2)]).contains("offset"));
        assert!(refused(9, &[window(5, 5)]).contains("within"));
        assert!(refused(9, &[window(u64::MAX, u64::MAX)]).contains("within"));
        let most = Windows::new(u64::MAX, &[window(u64::MAX - 1, 1)]).unwrap();
        assert_eq!((most.provided(u64::MAX), most.time_for(2)), (1, None));
    }
}
