//! Major time frames (S2D-07): windows at fixed offsets, repeated for ever. Nothing that happens
//! in a window moves the next one.

use super::curve::NEVER;
use super::error::TreeError;

/// Windows that one frame can have, gaps included.
pub const WINDOWS: usize = 32;

/// A window of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// Where it ends, from the frame's begin, in nanoseconds.
    pub end: u64,
    /// Whose it is; 0: only the background partition may run.
    pub partition: u16,
}

/// A frame.
#[derive(Clone, Debug)]
pub struct Frame {
    windows: [Window; WINDOWS],
    count: usize,
    /// When the first one began.
    epoch: u64,
    current: usize,
    /// When the current window ends.
    until: u64,
}

impl Frame {
    /// A frame without windows: only the background partition runs.
    pub const EMPTY: Frame = Frame {
        windows: [Window { end: 0, partition: 0 }; WINDOWS],
        count: 0,
        epoch: 0,
        current: 0,
        until: NEVER,
    };

    /// These windows, one behind the other without gaps, from an instant on.
    ///
    /// # Errors
    /// There are none or too many, or one does not end behind the one before.
    pub fn new(windows: &[Window], epoch: u64) -> Result<Frame, TreeError> {
        let ascends = windows.is_sorted_by(|a, b| a.end < b.end);
        let starts = windows.first().is_some_and(|window| window.end > 0);
        if !starts || !ascends || windows.len() > WINDOWS {
            return Err(TreeError::InvalidParameter);
        }
        let mut frame = Frame { count: windows.len(), epoch, ..Frame::EMPTY };
        frame.windows[..windows.len()].copy_from_slice(windows);
        frame.until = epoch.saturating_add(windows[0].end);
        Ok(frame)
    }

    /// The partition whose window it is.
    #[inline(always)]
    pub(super) fn partition(&self) -> u16 {
        self.windows[self.current].partition
    }

    /// When the window ends.
    #[inline(always)]
    pub(super) fn until(&self) -> u64 {
        self.until
    }

    /// Goes to the window that an instant is in. As many steps as there are windows at most.
    pub(super) fn go_to(&mut self, now: u64) {
        if now < self.until || self.count == 0 {
            return;
        }
        let length = self.windows[self.count - 1].end;
        let passed = now - self.epoch;
        let offset = passed % length;
        let windows = &self.windows[..self.count];
        self.current = windows.iter().position(|window| offset < window.end).unwrap_or(0);
        let begin = now - offset;
        self.until = begin.saturating_add(self.windows[self.current].end);
    }
}
