//! Major time frames (S2D-07): windows at fixed offsets, repeated for ever. Nothing that happens
//! in a window moves the next one. Before a frame begins there is the background partition alone.

use super::avl::NIL;
use super::curve::NEVER;
use super::error::TreeError;
use abi::reservation::{LONGEST, SHORTEST_WINDOW, WINDOWS, Window};

/// Partitions of one class: one for each window, and the background partition.
pub const PARTITIONS: usize = WINDOWS + 1;

/// A frame: the storage of one class's windows.
#[derive(Clone, Debug)]
#[cfg_attr(test, derive(PartialEq))]
pub struct Frame {
    windows: [Window; WINDOWS],
    count: usize,
    /// When the first one began, or begins.
    epoch: u64,
    current: usize,
    /// When the current window ends.
    until: u64,
    /// Whether a class has it; if not, the next one that none has.
    pub(super) is_taken: bool,
    pub(super) next_free: u32,
    /// The numbers of the class's children.
    numbers: [Option<u16>; PARTITIONS],
}

impl Frame {
    /// A frame without windows: only the background partition runs.
    pub const EMPTY: Frame = Frame {
        windows: [Window { end: 0, partition: 0 }; WINDOWS],
        count: 0,
        epoch: 0,
        current: WINDOWS,
        until: NEVER,
        is_taken: false,
        next_free: NIL,
        numbers: [None; PARTITIONS],
    };

    /// A frame that no class has, before the next one.
    pub(super) const fn free(next: u32) -> Frame {
        Frame { next_free: next, ..Frame::EMPTY }
    }

    /// These windows, one behind the other without gaps, from an instant on.
    ///
    /// # Errors
    /// [`TreeError::InvalidParameter`]: there are none or more than [`WINDOWS`], one of them is
    /// shorter than [`SHORTEST_WINDOW`], or the frame is longer than [`LONGEST`].
    pub fn new(windows: &[Window], epoch: u64) -> Result<Frame, TreeError> {
        let long =
            |begin: u64, end: u64| end.checked_sub(begin).is_some_and(|l| l >= SHORTEST_WINDOW);
        let first = windows.first().is_some_and(|window| long(0, window.end));
        let others = windows.windows(2).all(|pair| long(pair[0].end, pair[1].end));
        let fits = windows.last().is_some_and(|window| window.end <= LONGEST);
        if !first || !others || !fits || windows.len() > WINDOWS {
            return Err(TreeError::InvalidParameter);
        }
        let mut frame = Frame { count: windows.len(), epoch, until: epoch, ..Frame::EMPTY };
        frame.windows[..windows.len()].copy_from_slice(windows);
        Ok(frame)
    }

    /// No windows yet, the first of which begins at an instant.
    pub const fn from(epoch: u64) -> Frame {
        Frame { epoch, ..Frame::EMPTY }
    }

    /// These windows and one more, behind the last.
    ///
    /// # Errors
    /// As for [`Frame::new`].
    pub(super) fn with(&self, window: Window) -> Result<Frame, TreeError> {
        let mut windows = [window; WINDOWS];
        let (before, behind) = windows.split_at_mut(self.count);
        if behind.is_empty() {
            return Err(TreeError::InvalidParameter);
        }
        before.copy_from_slice(&self.windows[..self.count]);
        Frame::new(&windows[..=self.count], self.epoch)
    }

    /// Takes over another frame's windows.
    pub(super) fn set_windows(&mut self, frame: Frame) {
        *self = Frame { is_taken: self.is_taken, numbers: self.numbers, ..frame };
    }

    /// The partition whose window it is; 0 before the first one, and without any.
    #[inline(always)]
    pub(super) fn partition(&self) -> u16 {
        self.windows.get(self.current).map_or(0, |window| window.partition)
    }

    /// When the window ends.
    #[inline(always)]
    pub(super) fn until(&self) -> u64 {
        self.until
    }

    /// Goes to the window that an instant is in. As many steps as there are windows at most.
    pub(super) fn go_to(&mut self, now: u64) {
        let windows = &self.windows[..self.count];
        let Some(length) = windows.last().map(|window| window.end) else { return };
        if now < self.until {
            return;
        }
        let offset = (now - self.epoch) % length;
        self.current = windows.iter().position(|window| offset < window.end).unwrap_or(0);
        self.until = (now - offset).saturating_add(windows[self.current].end);
    }

    /// The numbers of the class's children.
    pub(super) fn numbers(&self) -> [Option<u16>; PARTITIONS] {
        self.numbers
    }

    pub(super) fn set_numbers(&mut self, numbers: [Option<u16>; PARTITIONS]) {
        self.numbers = numbers;
    }

    /// A child has this number.
    pub(super) fn add(&mut self, number: u16) -> Result<(), TreeError> {
        if self.numbers.contains(&Some(number)) {
            return Err(TreeError::PartitionTaken);
        }
        let free = self.numbers.iter_mut().find(|taken| taken.is_none());
        *free.ok_or(TreeError::Full)? = Some(number);
        Ok(())
    }

    /// No child has this number any more.
    pub(super) fn remove(&mut self, number: u16) {
        for taken in self.numbers.iter_mut().filter(|taken| **taken == Some(number)) {
            *taken = None;
        }
    }
}
