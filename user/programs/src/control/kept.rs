//! What was changed and the kernel does not tell: what jobs are like, and windows.

use abi::Error;
use abi::control::{Change, Held, Window};
use abi::reservation::{Timing, Windows};

/// Most reservations of which it is kept what their jobs are like.
const MOST: usize = 64;
/// Most classes of which windows are kept.
const FRAMES: usize = 8;

/// Changes, the last one of each slot.
pub struct Kept {
    jobs: List<Option<Timing>, MOST>,
    windows: List<Windows, FRAMES>,
}

impl Default for Kept {
    fn default() -> Kept {
        Kept { jobs: List([None; MOST]), windows: List([None; FRAMES]) }
    }
}

impl Kept {
    /// Whether a change can be kept, if it is one of these.
    ///
    /// # Errors
    /// [`Error::QuotaExceeded`]: as much is kept as there is room for.
    pub fn fits(&mut self, change: Change) -> Result<(), Error> {
        let fits = match change {
            Change::Timing { slot, .. } => self.jobs.place(slot).is_some(),
            Change::Windows { slot, .. } => self.windows.place(slot).is_some(),
            _ => true,
        };
        if fits { Ok(()) } else { Err(Error::QuotaExceeded) }
    }

    /// Keeps a change, if it is one of these and there is room.
    pub fn note(&mut self, change: Change) {
        match change {
            Change::Timing { slot, timing } => self.jobs.note(slot, timing),
            Change::Windows { slot, windows } => self.windows.note(slot, windows),
            _ => {}
        }
    }

    /// Adds what is kept of a reservation to its row.
    pub fn tell(&self, held: Held) -> Held {
        let Some(timing) = self.jobs.of(held.slot) else { return held };
        let (deadline, separation) = timing.map_or((0, 0), |it| (it.deadline, it.period));
        Held { changed: 1, deadline, separation, ..held }
    }

    /// The windows of a class, if they were changed.
    pub fn windows(&self, slot: u64) -> impl Iterator<Item = Window> {
        let kept =
            self.windows.0.iter().flatten().find(move |(known, _)| u64::from(*known) == slot);
        let list = kept.map(|(_, windows)| windows.list()).unwrap_or_default();
        list.iter().map(move |one| Window { slot, end: one.end, partition: one.partition.into() })
    }
}

/// The last change of each slot.
struct List<T, const N: usize>([Option<(u32, T)>; N]);

impl<T: Copy, const N: usize> List<T, N> {
    fn of(&self, slot: u64) -> Option<T> {
        let mut kept = self.0.iter().flatten();
        kept.find(|(known, _)| u64::from(*known) == slot).map(|(_, change)| *change)
    }

    /// Where a change of a slot belongs.
    fn place(&mut self, slot: u32) -> Option<&mut Option<(u32, T)>> {
        let is_its = |place: &&mut Option<(u32, T)>| place.is_none_or(|(known, _)| known == slot);
        self.0.iter_mut().find(is_its)
    }

    fn note(&mut self, slot: u32, change: T) {
        if let Some(place) = self.place(slot) {
            *place = Some((slot, change));
        }
    }
}
