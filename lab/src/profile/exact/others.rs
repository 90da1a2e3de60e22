//! What other CPUs do while one is looked at: they take turns on one clock.

use serde::Serialize;

/// What other CPUs have executed in a stretch of one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Others {
    /// All of it.
    pub steps: u64,
    /// Of that, what they executed while this CPU waited for the kernel's lock.
    pub while_waiting: u64,
}

impl Others {
    /// In so many steps before the end of a stretch, of which each execution by its CPU is one: how
    /// far before the end, and whether the CPU waited.
    pub fn of(all: u64, executed: impl IntoIterator<Item = (u64, bool)>) -> Others {
        let mut others = Others::default();
        let (mut before, mut waited) = (all + 1, false);
        for (back, waits) in executed.into_iter().chain([(0, false)]) {
            let steps = before - back - 1;
            others.steps += steps;
            others.while_waiting += if waited { steps } else { 0 };
            (before, waited) = (back, waits);
        }
        others
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_steps_are_of_this_cpu_or_of_others() {
        let others = |steps, while_waiting| Others { steps, while_waiting };
        let work = |back| (back, false);
        let waits = |back| (back, true);
        assert_eq!(Others::of(0, []), others(0, 0));
        assert_eq!(Others::of(3, [work(3), work(2), work(1)]), others(0, 0));
        assert_eq!(Others::of(9, []), others(9, 0));
        assert_eq!(Others::of(9, [work(7), waits(6), waits(3), work(2)]), others(5, 2));
        assert_eq!(Others::of(9, [waits(9), work(5)]), others(7, 3));
    }
}
