//! What goes wrong outside of a device.

use serde::{Deserialize, Serialize};

/// Of a fault that has no beginning, it is an instant before this one, in nanoseconds.
const SOON: u64 = 100_000_000;

/// A fault of a device: what, and when.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fault {
    /// What goes wrong.
    pub what: What,
    /// Since when, in nanoseconds since the start.
    pub after: Option<u64>,
    /// How long, in nanoseconds; `None`: for ever.
    pub lasts: Option<u64>,
}

/// What goes wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum What {
    /// Its wires keep what they have.
    Stuck,
    /// What is put on its wires, and what they measure, comes so many nanoseconds later.
    Late(u64),
    /// What its wires have is wrong by up to so many millionths of their unit, by the seed.
    Noisy(u64),
    /// One in so many of its requests for an interrupt gets lost, by the seed; until the device
    /// asks anew.
    Lost(u64),
}

impl Fault {
    /// Since when it lasts, with a number by the seed: what is stuck without a beginning gets stuck
    /// soon, all else is there from the start.
    pub(crate) fn begins(&self, dice: u64) -> u64 {
        match (self.after, self.what) {
            (Some(after), _) => after,
            (None, What::Stuck) => dice % SOON,
            (None, _) => 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_stuck_gets_so_by_the_seed_unless_it_is_said_when() {
        let begins = |what, after| Fault { what, after, lasts: None }.begins(SOON + 7);
        assert_eq!(begins(What::Stuck, None), 7);
        assert_eq!(begins(What::Stuck, Some(10 * SOON)), 10 * SOON);
        assert_eq!(begins(What::Lost(2), None), 0);
    }
}
