//! What jobs were made like: the kernel does not tell.

use abi::control::{Change, Held};
use abi::reservation::Timing;

/// Most reservations of which it is kept.
const MOST: usize = 64;

/// Changes of what jobs are like, the last one of each slot.
pub struct Jobs {
    kept: [(u32, Option<Timing>); MOST],
    count: usize,
}

impl Default for Jobs {
    fn default() -> Jobs {
        Jobs { kept: [(0, None); MOST], count: 0 }
    }
}

impl Jobs {
    /// Keeps a change, if it is one of these and there is room.
    pub fn note(&mut self, change: Change) {
        let Change::Timing { slot, timing } = change else { return };
        let known = self.kept[..self.count].iter_mut().find(|(known, _)| *known == slot);
        if let Some((_, kept)) = known {
            *kept = timing;
        } else if self.count < MOST {
            self.kept[self.count] = (slot, timing);
            self.count += 1;
        }
    }

    /// Adds what is kept of a reservation to its row.
    pub fn tell(&self, held: Held) -> Held {
        let known = self.kept[..self.count].iter().find(|(slot, _)| u64::from(*slot) == held.slot);
        let Some((_, timing)) = known else { return held };
        let (deadline, separation) = timing.map_or((0, 0), |it| (it.deadline, it.period));
        Held { changed: 1, deadline, separation, ..held }
    }
}
